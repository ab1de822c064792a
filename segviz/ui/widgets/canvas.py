"""Mounts the browser components: the only module that passes their messages to Streamlit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeVar

import streamlit as st

from segviz.frontend import script, stylesheet
from segviz.frontend.message import pack
from segviz.frontend.search import BY_WORDS, find_text, found, read_query
from segviz.view.coloring import Live, Look, read_look, read_selected, read_setting

T = TypeVar("T")

_SHEETS: Final = {
    **dict.fromkeys(("transcript", "nodes", "diff"), "lists"),
    **{name: name for name in ("canvas", "outline", "welcome", "atlas")},
    **dict.fromkeys(("playback_timer", "theme_watch", "address")),
}
"""The style sheet of each kind of part, if it has one."""

_PARTS: Final = {
    kind: st.components.v2.component(
        f"segviz_{kind}", js=script(kind), css=None if sheet is None else stylesheet(sheet)
    )
    for kind, sheet in _SHEETS.items()
}


def part(
    kind: str,
    *,
    key: str,
    data: Mapping[str, Any],
    height: int | Literal["content"] = "content",
    select: Callable[[int | None], None] | None = None,
    **hears: Callable[[Any], None],
) -> Any:
    """Mounts a browser component of this kind.

    ``hears`` maps names to functions; before the script runs, each gets what the browser sent under
    its name, which may be anything. ``select`` gets the selected node, None for none; the browser
    is told which click was heard last. ``data`` travels as bytes, because Streamlit imports pandas
    to look for frames in anything else.
    """
    if select is not None:
        clicks = f"{key}-clicks"

        def choose(sent: tuple[int | None, int]) -> None:
            st.session_state[clicks] = sent[1]
            select(sent[0])

        hears["selected"] = partial(_legal, read_selected, choose)
        data = {**data, "clicks": st.session_state.get(clicks, 0)}

    def hear(name: str) -> None:
        hears[name]((st.session_state.get(key) or {}).get(name))

    on: dict[str, Any] = {f"on_{name}_change": partial(hear, name) for name in hears}
    return _PARTS[kind](key=key, data=pack(data), height=height, **on)


@dataclass(frozen=True)
class CanvasActions:
    """Functions that the user's actions on a canvas call.

    Attributes:
        select: called with the node after each click that changes the selection, None for a click
            outside the tree; the next payload says whether it is selected.
        session: called with the session that is shown alone, None if that ends.
        setting: called with the setting when a control of the header has come to rest.
        look: called when another colour or label has been chosen.
        asked: called with the number of units up to which the "now" line was moved.
    """

    select: Callable[[int | None], None] | None = None
    session: Callable[[int | None], None] | None = None
    setting: Callable[[Live], None] | None = None
    look: Callable[[Look], None] | None = None
    asked: Callable[[int | None], None] | None = None


def tree_canvas(
    payload: Mapping[str, Any],
    *,
    key: str,
    height: int | str,
    texts: Sequence[str] | None = None,
    similar: Callable[[str], Sequence[int]] | None = None,
    actions: CanvasActions | None = None,
) -> None:
    """Draws a payload of ``tree_payload``.

    Args:
        payload: what to draw.
        key: Streamlit key; zoom and keyboard focus live as long as it does.
        height: pixels or a length of CSS, legend, axis and overview included, or "content" for the
            height of the content.
        texts: full text of every node, for the search; without it the browser searches the labels
            of the payload, which may be shortened or absent.
        similar: returns the nodes most relevant to a query, best first; without it text is found by
            its words only.
        actions: what the user's actions call.
    """
    actions, asked = actions or CanvasActions(), f"{key}-query"

    def seek(sent: object) -> None:
        st.session_state[asked] = (payload["identity"], read_query(sent))

    if texts is not None:
        about, sought = st.session_state.get(asked, (None, None))
        by, query = sought or (BY_WORDS, "")
        answer = None
        if query and about == payload["identity"] and by == BY_WORDS:
            answer = find_text(payload, texts, query)
        elif query and about == payload["identity"] and similar is not None:
            answer = found(by, query, similar(query), texts)
        payload = {**payload, "found": answer, "by_meaning": similar is not None}
    if isinstance(height, str) and height != "content":
        payload = {**payload, "height": height}
    part(
        "canvas",
        key=key,
        data=payload,
        height=height if isinstance(height, int) else "content",
        select=actions.select,
        session=partial(_node, actions.session),
        setting=partial(_legal, read_setting, actions.setting),
        look=partial(_legal, read_look, actions.look),
        asked=partial(_node, actions.asked),
        query=seek,
    )


def _node(act: Callable[[int | None], None] | None, sent: object) -> None:
    """Calls ``act`` with the node or session that the component sent; -1 becomes None."""
    if act is not None and isinstance(sent, int):
        act(sent if sent >= 0 else None)


def _legal(
    read: Callable[[object], T | None], act: Callable[[T], None] | None, sent: object
) -> None:
    """Calls ``act`` with what ``read`` makes of a message; ignores an illegal message."""
    value = read(sent)
    if act is not None and value is not None:
        act(value)
