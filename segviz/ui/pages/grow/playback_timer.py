"""Ticks that keep a page playing: the browser asks for the next one when the last is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from segviz.frontend.bundles import script

_TIMER = st.components.v2.component("segviz_playback_timer", js=script("playback_timer"))


def playback_timer(
    *, key: str, tick: int, seconds: float | None, on_tick: Callable[[], None]
) -> None:
    """Call ``on_tick`` ``seconds`` after the last tick, before the next run of the script.

    None stands still. ``tick`` must be another number after every tick; one that comes
    for an older number is ignored.
    """

    def ticked() -> None:
        state = st.session_state.get(key)
        if isinstance(state, Mapping) and state.get("tick") == tick:
            on_tick()

    _TIMER(
        key=key,
        data={"tick": tick, "milliseconds": round(1000 * seconds) if seconds else 0},
        on_tick_change=ticked,
    )
