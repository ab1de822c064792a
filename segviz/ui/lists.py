"""Transcript, evidence list, node list and diffs: literal text in small components."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from segviz.conversation import Conversation
from segviz.frontend.lists import (
    diff_script,
    evidence_script,
    list_styles,
    nodes_script,
    transcript_script,
)
from segviz.frontend.palette import session_colours
from segviz.worddiff import word_diff

_TRANSCRIPT = st.components.v2.component(
    "segviz_transcript", js=transcript_script(), css=list_styles()
)
_EVIDENCE = st.components.v2.component("segviz_evidence", js=evidence_script(), css=list_styles())

_NODES = st.components.v2.component("segviz_nodes", js=nodes_script(), css=list_styles())

_DIFF = st.components.v2.component("segviz_diff", js=diff_script(), css=list_styles())

# A transcript longer than this is shown around its focus.
TURNS_SHOWN = 80


def transcript(
    conversation: Conversation,
    *,
    key: str,
    height: int,
    focus: str | None = None,
    marked: Collection[str] = (),
    mark: str = "covered",
    flags: Mapping[str, str] | None = None,
    until: str | None = None,
) -> None:
    """Show turns around ``focus``.

    ``marked`` turns carry the style ``mark``; ``flags`` maps turn ids to a short word
    shown beside them (gold evidence); ``until`` ends the transcript after that turn.
    """
    flags = flags or {}
    turns = [(i, t) for i, s in enumerate(conversation.sessions) for t in s.turns]
    ids = [turn.id for _, turn in turns]
    end = ids.index(until) + 1 if until is not None else len(ids)
    middle = ids.index(focus) if focus is not None else 0
    first = max(0, min(middle - TURNS_SHOWN // 2, end - TURNS_SHOWN))
    last = min(end, first + TURNS_SHOWN)
    colours = session_colours(len(conversation.sessions))
    rows: list[dict[str, Any]] = []
    current = None
    for position, turn in turns[first:last]:
        if position != current:
            current = position
            session = conversation.sessions[position]
            rows.append(
                {
                    "kind": "session",
                    "text": f"Session {position + 1} · {session.raw_date or 'no date'}",
                    "colour": colours[position],
                }
            )
        marks = [mark] if turn.id in marked else []
        if turn.id in flags:
            marks.append("gold")
        rows.append(
            {
                "kind": "turn",
                "id": turn.id,
                "speaker": turn.speaker,
                "text": turn.text,
                "caption": turn.caption or "",
                "marks": marks,
                "flag": flags.get(turn.id, ""),
            }
        )
    _TRANSCRIPT(key=key, data={"rows": rows, "focus": focus or "", "height": height})
    if end - first > last - first or first:
        st.caption(f"Turns {first + 1} to {last} of {len(ids)}")


def evidence_list(
    items: Sequence[Mapping[str, Any]], *, key: str, height: int, on_pick: Callable[[int], None]
) -> None:
    """Show retrieved nodes; ``on_pick(node)`` runs when one is clicked."""
    _EVIDENCE(
        key=key,
        data={"items": list(items), "height": height},
        on_node_change=lambda: _sent(key, "node", on_pick),
    )


def node_list(
    groups: Sequence[tuple[str, Sequence[Mapping[str, Any]]]],
    *,
    key: str,
    height: int,
    label: str,
    about: str,
    on_pick: Callable[[int], None],
) -> None:
    """Show rows in titled groups, scrolling above ``height`` pixels.

    A row has ``head`` and ``text``; one with a ``node`` (and perhaps a ``note`` at the
    right) can be clicked, upon which ``on_pick(node)`` runs. ``label`` names the list for
    screen readers; with another ``about`` the list starts at its top again.
    """
    shown = [{"title": title, "items": list(items)} for title, items in groups if items]
    _NODES(
        key=key,
        data={"groups": shown, "height": height, "label": label, "about": about},
        on_node_change=lambda: _sent(key, "node", on_pick),
    )


def diffs(
    changes: Sequence[tuple[str, str, str]],
    *,
    key: str,
    steps: Sequence[int] = (),
    on_step: Callable[[int], None] | None = None,
) -> int | None:
    """Show (title, before, after) rows as word diffs.

    With ``steps``, one per row, each row has a button that goes to its step:
    ``on_step(step)`` runs, and in the run that follows the step is returned.
    """
    items: list[dict[str, Any]] = [
        {"title": title, "pieces": word_diff(old, new)} for title, old, new in changes
    ]
    for item, step in zip(items, steps, strict=False):
        item["step"] = step
    result = _DIFF(
        key=key,
        data={"items": items},
        on_step_change=lambda: _sent(key, "step", on_step) if on_step else None,
    )
    sent = result.get("step")
    return sent if isinstance(sent, int) else None


def _sent(key: str, name: str, act: Callable[[int], None]) -> None:
    """Hand on the number a component has just sent."""
    value = (st.session_state.get(key) or {}).get(name)
    if isinstance(value, int):
        act(value)
