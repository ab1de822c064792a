"""Mounts the canvas component: the one place where the tree view meets Streamlit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import streamlit as st

from segviz.frontend.bundles import Script, Sheet, script, stylesheet
from segviz.frontend.found import find_text, read_query
from segviz.frontend.message import checksum, packed
from segviz.frontend.payload import digest, pack_parts
from segviz.ui import keys
from segviz.view.live import LiveSetting, read_setting
from segviz.view.look import Look, read_look

_CODE = st.components.v2.component("segviz_code", js=script("code"))
PART = st.components.v2.component("segviz_part", js=script("part"))

_APART = "apart"  # whether the browser has come to other scores than Python

_KEPT = 64_000_000
"""Bytes of bases that a page keeps; it asks for one that it has let go (parts.js)."""


@cache
def _code() -> tuple[str, int, dict[str, tuple[str, str]]]:
    """Digest and size of the code of all parts; script and style sheet of each kind of them."""
    kinds: tuple[tuple[Script, Sheet | None], ...] = (
        *(("canvas", "canvas"), ("outline", "outline"), ("welcome", "welcome")),
        *(("transcript", "lists"), ("nodes", "lists"), ("diff", "lists")),
        *(("playback_timer", None), ("theme_watch", None)),
    )
    codes = {str(kind): (script(kind), stylesheet(css) if css else "") for kind, css in kinds}
    pieces = [piece for code in codes.values() for piece in code]
    return digest(*pieces), sum(map(len, pieces)), codes


def canvas_code() -> None:
    """Sends the page the code of all its parts, once."""
    version, size, codes = _code()
    data = {"version": version, "codes": None if page_has(version, size) else codes}
    _CODE(key="canvas-code", data=packed(data, {}), on_missing_change=resend)


def part(kind: Script, *, key: str, data: Mapping[str, Any], **on: Any) -> Any:
    """Mounts a part of this kind; ``on`` are its callbacks. It gets bytes, because Streamlit
    imports pandas to look for frames in anything else."""
    return PART(key=key, data=packed({"kind": kind, **data}, {}), **on)


def page_has(name: str, size: int) -> bool:
    """Whether the part ``name`` of ``size`` bytes was sent and the page keeps it; from now on it
    does."""
    sent: dict[str, int] = st.session_state.setdefault(keys.SENT, {})
    before = sent.pop(name, None)
    sent[name] = size
    while sum(sent.values()) > _KEPT and len(sent) > 1:
        del sent[next(iter(sent))]
    return before is not None


def resend() -> None:
    """Forgets what the page has, because it asks for something."""
    st.session_state.get(keys.SENT, {}).clear()


def tree_canvas(
    payload: Mapping[str, Any],
    *,
    key: str,
    height: int | str,
    texts: Sequence[str] | None = None,
    on_select: Callable[[], None] | None = None,
    on_setting: Callable[[], None] | None = None,
    on_look: Callable[[], None] | None = None,
    passing: bool = False,
) -> int | None:
    """Draw a payload of ``tree_payload`` and return the selected node.

    A click is an event of one run: in that run the clicked node is returned (None for a
    click beside the tree), in every other run ``payload["selected"]``. A page therefore
    stores the result and hands it back with the next payload; it may set another node
    at any time. ``on_select`` runs before the script does; there ``clicked(key, before)``
    tells the node.

    Args:
        payload: what to draw.
        key: Streamlit key; zoom and keyboard focus live as long as it does.
        height: pixels or a length of CSS, legend, axis and overview included, or "content" for
            what the content needs.
        texts: full text of every node, for the search; without it the browser searches
            the labels of the payload, which may be cut or absent.
        on_select: called after each click that changes the selection.
        on_setting: called when a control of the header has come to rest; there
            ``sent_setting(key)`` tells the setting.
        on_look: called when another colour or label has been chosen; there
            ``sent_look(key)`` tells which.
        passing: whether the next base will take the place of this one, which then is let go.
    """
    asked = f"{key}-query"

    def seek() -> None:
        state = st.session_state.get(key)
        sent = state.get("query") if isinstance(state, Mapping) else None
        st.session_state[asked] = (payload["identity"], read_query(sent))

    if texts is not None:
        about, query = st.session_state.get(asked, (None, None))
        wanted = bool(query) and about == payload["identity"]
        payload = {**payload, "found": find_text(payload, texts, query) if wanted else None}
    former = st.session_state.get(keys.former_base(key)) if passing else None
    if former:
        payload = {**payload, "replaces": former}
    in_window = isinstance(height, str) and height != "content"
    if payload["initial"]:  # no setting changes the scores before they spread
        first = digest(payload["initial"])
        left_out = {"initial"} if page_has(first, len(payload["initial"])) else set()
        if payload["live"] and not st.session_state.get(_APART):
            left_out.add("final")  # the browser comes to the same bits
            payload = {**payload, "proof": checksum(payload["final"])}
        payload = {key: value for key, value in payload.items() if key not in left_out}
        payload["first"] = first
    name, base, rest = pack_parts({**payload, "height": height} if in_window else payload)
    known = page_has(name, len(base))
    PART(
        key=f"base-of-{key}",
        data=packed({"digest": name}, {}) if known else base,
        on_missing_change=resend,
    )
    if passing:
        if former and former != name:
            st.session_state.get(keys.SENT, {}).pop(former, None)
        st.session_state[keys.former_base(key)] = name
    result = PART(
        key=key,
        data=rest,
        height=height if isinstance(height, int) else "content",
        on_selected_change=on_select or _nothing,
        on_setting_change=on_setting or _nothing,
        on_look_change=on_look or _nothing,
        on_query_change=seek,
        on_missing_change=resend,
        on_apart_change=lambda: st.session_state.update({_APART: True}),
    )
    return _node(result.get("selected"), payload["selected"])


def clicked(key: str, before: int | None = None) -> int | None:
    """The node just clicked in the canvas ``key``, for use in ``on_select``; ``before``
    if there was no click."""
    state = st.session_state.get(key)
    return _node(state.get("selected") if isinstance(state, Mapping) else None, before)


def sent_setting(key: str) -> LiveSetting | None:
    """The setting just made in the header of the canvas ``key``, for use in
    ``on_setting``; None if there is none, or if it is not a legal one."""
    state = st.session_state.get(key)
    return read_setting(state.get("setting") if isinstance(state, Mapping) else None)


def sent_look(key: str) -> Look | None:
    """The colour and label just chosen in the canvas ``key``, for use in ``on_look``; None if
    there is no choice, or if it is not a legal one."""
    state = st.session_state.get(key)
    return read_look(state.get("look") if isinstance(state, Mapping) else None)


def _node(sent: object, before: int | None) -> int | None:
    """The component sends a node, -1 for "nothing", or no event at all (None)."""
    if not isinstance(sent, int):
        return before
    return sent if sent >= 0 else None


def _nothing() -> None:
    """Streamlit reports an event only where a callback is registered."""
