"""Draws transcript, node list and diffs as literal text in small components."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from segviz.ui.state import AppSession
from segviz.ui.widgets.canvas import part
from segviz.view.palette import session_colours
from segviz.view.word_diff import Piece, word_diff

# Turns per block, and blocks around the focus that are sent at first. Scrolling loads the rest.
_BLOCK, _BLOCKS = 6, 3

# Characters of a text that are sent at every click; the whole text is sent on request.
SENT = 20_000
NAME_SENT = 200


@dataclass(frozen=True)
class Passage:
    """Part of a transcript that is shown first.

    Attributes:
        focus: turn in its middle; None for the beginning.
        marked: turns with the style ``mark``.
        mark: "covered" or "new".
        flags: turn ids to a short word next to them, such as "gold".
        until: last turn of the transcript; None for all turns.
    """

    focus: str | None = None
    marked: Collection[str] = ()
    mark: str = "covered"
    flags: Mapping[str, str] = field(default_factory=dict)
    until: str | None = None


def transcript(session: AppSession, passage: Passage, *, key: str, height: int) -> None:
    """Draws the turns of a passage, and more of them as the user scrolls on.

    Hovering highlights the same part in the canvases of this memory, and the reverse.
    """
    about, conversation = session.identity, session.conversation
    focus, flags = passage.focus, passage.flags
    turns = [
        (i, turn, time and f"{time.date()}")
        for i, part in enumerate(conversation.sessions)
        for turn, time in zip(part.turns, part.times, strict=True)
    ]
    ids = [turn.id for _, turn, _ in turns]
    end = ids.index(passage.until) + 1 if passage.until is not None else len(ids)
    middle = ids.index(focus) if focus is not None else 0
    begin = max(0, min(middle // _BLOCK - _BLOCKS // 2, -(-end // _BLOCK) - _BLOCKS))
    reached = f"reach-{key}"  # conversation and focus, and the range of blocks scrolled to
    asked, wider = st.session_state.get(reached, (None, None))
    low, high = wider if asked == (about, focus) else (begin, begin + _BLOCKS)
    first, last = low * _BLOCK, min(end, high * _BLOCK)
    unit_of = {known: unit.index for unit in session.memory.units for known in unit.turn_ids}
    colours = session_colours(len(conversation.sessions))
    rows: list[dict[str, Any]] = []
    for place in range(first, last):
        at, turn, day = turns[place]
        begins = place == 0 or turns[place - 1][0] != at
        if place == first or begins or turns[place - 1][2] != day:
            of = conversation.sessions[at]
            when = (begins and of.raw_date) or day or "no date"
            heading = " · ".join(filter(None, (f"Session {at + 1}", of.chat, when)))
            rows.append({"heading": heading, "colour": colours[at]})
        row = {
            "id": turn.id,
            "speaker": _beginning(turn.speaker, NAME_SENT),
            "marks": [passage.mark] * (turn.id in passage.marked) + ["gold"] * (turn.id in flags),
            "flag": flags.get(turn.id, ""),
            **_part(key, turn.id, turn.text),
        }
        if turn.caption:
            row["caption"] = _beginning(turn.caption, SENT)
        if turn.id in unit_of:
            row["unit"] = unit_of[turn.id]
        rows.append(row)

    def reach(side: object) -> None:
        wider = (max(0, low - _BLOCKS), high) if side == "before" else (low, high + _BLOCKS)
        st.session_state[reached] = ((about, focus), wider)

    part(
        "transcript",
        key=key,
        data={
            "rows": rows,
            "more": {"before": first > 0, "after": last < end},
            "focus": focus or "",
            "height": height,
            "about": about,
        },
        more=reach,
        whole=partial(_open, key),
    )
    if last - first < end:
        st.caption(f"Turns {first + 1} to {last} of {len(ids)}")


def node_list(
    groups: Sequence[tuple[str, Sequence[Mapping[str, Any]]]],
    *,
    key: str,
    height: int,
    label: str,
    about: str,
    on_pick: Callable[[int], None],
) -> None:
    """Draws rows in titled groups, scrolling above ``height`` pixels.

    A row has ``head`` and ``text``. ``matches`` are words to mark in the text, each with a cosine,
    dotted below 1. A row with a ``node``, and perhaps a ``note`` at the right, calls
    ``on_pick(node)`` on a click. ``label`` names the list for screen readers; another ``about``
    scrolls to its top.
    """
    shown = [
        {
            "title": title,
            "items": [
                {**item, **_part(key, f"{about} {title} {row}", item["text"])}
                for row, item in enumerate(items)
            ],
        }
        for title, items in groups
        if items
    ]
    part(
        "nodes",
        key=key,
        data={"groups": shown, "height": height, "label": label, "about": about},
        node=partial(_number, on_pick),
        whole=partial(_open, key),
    )


def diffs(
    changes: Sequence[tuple[str, str, str]],
    *,
    key: str,
    steps: Sequence[int] = (),
    on_step: Callable[[int], None] | None = None,
) -> int | None:
    """Draws (title, before, after) rows as word diffs.

    With ``steps``, one per row, each row has a button to its step. A click calls ``on_step(step)``;
    the next run returns the step.
    """
    items: list[dict[str, Any]] = []
    for title, old, new in changes:
        cut = f" · first {SENT:,} characters" if max(len(old), len(new)) > SENT else ""
        items.append({"title": title + cut, "pieces": word_diff(old[:SENT], new[:SENT])})
    for item, step in zip(items, steps, strict=False):
        item["step"] = step
    result = part("diff", key=key, data={"items": items}, step=partial(_number, on_step))
    sent = result.get("step")
    return sent if isinstance(sent, int) else None


def struck(items: Sequence[tuple[str, Sequence[Piece]]], *, key: str) -> None:
    """Draws titled texts, with pieces struck through if they are ``gone``."""
    shown = [{"title": title, "pieces": list(pieces)} for title, pieces in items]
    part("diff", key=key, data={"items": shown}, step=partial(_number, None))


def _part(key: str, name: str, text: str) -> dict[str, Any]:
    """Returns the text of a list item for the browser, shortened until the user opens it."""
    if len(text) <= SENT:
        return {"text": text}
    long: dict[str, Any] = {"length": len(text), "name": name}
    if st.session_state.get(f"whole-{key}") == name:
        return long | {"text": text}
    return long | {"text": text[:SENT], "cut": True}


def _open(key: str, name: object) -> None:
    """Stores the name of the text that is shown whole; "" for none."""
    if isinstance(name, str):
        st.session_state[f"whole-{key}"] = name


def _beginning(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _number(act: Callable[[int], None] | None, sent: object) -> None:
    """Calls ``act`` with the whole number that a component sent; ignores anything else."""
    if isinstance(sent, int) and act is not None:
        act(sent)
