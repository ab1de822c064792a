"""Mounts the canvas component: the one place where the tree view meets Streamlit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Literal, TypeVar

import streamlit as st

from segviz.frontend import script, stylesheet
from segviz.frontend.found import find_text, read_query
from segviz.frontend.message import checksum, pack
from segviz.frontend.payload import digest, pack_parts
from segviz.ui import keys
from segviz.view.look import Live, Look, read_look, read_setting

T = TypeVar("T")

_CODE = st.components.v2.component("segviz_code", js=script("code"))
_PART = st.components.v2.component("segviz_part", js=script("part"))

_APART = "apart"  # whether the browser has come to other scores than Python

_KEPT = 64_000_000
"""Bytes of bases that a page keeps; it asks for one that it has let go (parts.js)."""


_SHEETS = {
    **dict.fromkeys(("transcript", "nodes", "diff"), "lists"),
    **{name: name for name in ("canvas", "outline", "welcome")},
    **dict.fromkeys(("playback_timer", "theme_watch"), ""),
}
"""The style sheet of each kind of part, "" for none."""


@cache
def _code() -> tuple[str, int, dict[str, tuple[str, str]]]:
    """Digest and size of the code of all parts; script and style sheet of each kind of them."""
    codes = {kind: (script(kind), stylesheet(css) if css else "") for kind, css in _SHEETS.items()}
    pieces = [piece for code in codes.values() for piece in code]
    return digest(*pieces), sum(map(len, pieces)), codes


def canvas_code() -> None:
    """Sends the page the code of all its parts, once."""
    version, size, codes = _code()
    data = {"version": version, "codes": None if page_has(version, size) else codes}
    _CODE(key="canvas-code", data=pack(data), on_missing_change=resend)


def part(
    kind: str,
    *,
    key: str,
    data: Mapping[str, Any] | bytes,
    height: int | Literal["content"] = "content",
    **hears: Callable[[Any], None],
) -> Any:
    """Mounts a part of this kind. What the browser tells by a name is handed to the function
    ``hears`` has for it, before the script runs; what it tells may be anything.

    ``data`` travels as bytes, because Streamlit imports pandas to look for frames in anything
    else.
    """

    def hear(name: str) -> None:
        hears[name]((st.session_state.get(key) or {}).get(name))

    on: dict[str, Any] = {f"on_{name}_change": partial(hear, name) for name in hears}
    message = data if isinstance(data, bytes) else pack({"kind": kind, **data})
    return _PART(key=key, data=message, height=height, **on)


def page_has(name: str, size: int) -> bool:
    """Whether the part ``name`` of ``size`` bytes was sent and the page keeps it; from now on it
    does."""
    sent: dict[str, int] = st.session_state.setdefault(keys.SENT, {})
    before = sent.pop(name, None)
    sent[name] = size
    while sum(sent.values()) > _KEPT and len(sent) > 1:
        del sent[next(iter(sent))]
    return before is not None


def resend(_: Any = None) -> None:
    """Forgets what the page has, because it asks for something."""
    st.session_state.get(keys.SENT, {}).clear()


def tree_canvas(
    payload: Mapping[str, Any],
    *,
    key: str,
    height: int | str,
    texts: Sequence[str] | None = None,
    on_select: Callable[[int | None], None] | None = None,
    on_setting: Callable[[Live], None] | None = None,
    on_look: Callable[[Look], None] | None = None,
    passing: bool = False,
) -> None:
    """Draw a payload of ``tree_payload``.

    Args:
        payload: what to draw.
        key: Streamlit key; zoom and keyboard focus live as long as it does.
        height: pixels or a length of CSS, legend, axis and overview included, or "content" for
            what the content needs.
        texts: full text of every node, for the search; without it the browser searches
            the labels of the payload, which may be cut or absent.
        on_select: called with the node after each click that changes the selection, None for a
            click beside the tree; the next payload says whether it is selected.
        on_setting: called with the setting when a control of the header has come to rest.
        on_look: called when another colour or label has been chosen.
        passing: whether the next base will take the place of this one, which then is let go.
    """
    asked = f"{key}-query"

    def seek(sent: object) -> None:
        st.session_state[asked] = (payload["identity"], read_query(sent))

    if texts is not None:
        about, query = st.session_state.get(asked, (None, None))
        wanted = bool(query) and about == payload["identity"]
        payload = {**payload, "found": find_text(payload, texts, query) if wanted else None}
    former = st.session_state.get(keys.former_base(key)) if passing else None
    if former:
        payload = {**payload, "replaces": former}
    in_window = isinstance(height, str) and height != "content"
    if len(payload["initial"]):  # no setting changes the scores before they spread
        first = digest(payload["initial"].tobytes())
        left_out = {"initial"} if page_has(first, payload["initial"].nbytes) else set()
        if payload["live"] and not st.session_state.get(_APART):
            left_out.add("final")  # the browser comes to the same bits
            payload = {**payload, "proof": checksum(payload["final"])}
        payload = {key: value for key, value in payload.items() if key not in left_out}
        payload["first"] = first
    name, base, rest = pack_parts({**payload, "height": height} if in_window else payload)
    known = page_has(name, len(base))
    part(
        "canvas",
        key=f"base-of-{key}",
        data=pack({"digest": name}) if known else base,
        missing=resend,
    )
    if passing:
        if former and former != name:
            st.session_state.get(keys.SENT, {}).pop(former, None)
        st.session_state[keys.former_base(key)] = name
    part(
        "canvas",
        key=key,
        data=rest,
        height=height if isinstance(height, int) else "content",
        selected=partial(_node, on_select),
        setting=partial(_legal, read_setting, on_setting),
        look=partial(_legal, read_look, on_look),
        query=seek,
        missing=resend,
        apart=lambda _: st.session_state.update({_APART: True}),
    )


def _node(act: Callable[[int | None], None] | None, sent: object) -> None:
    """The component sends a node, -1 for "nothing"."""
    if act is not None and isinstance(sent, int):
        act(sent if sent >= 0 else None)


def _legal(
    read: Callable[[object], T | None], act: Callable[[T], None] | None, sent: object
) -> None:
    """Hands on what was sent if it can be read."""
    value = read(sent)
    if act is not None and value is not None:
        act(value)
