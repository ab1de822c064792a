"""Beats that keep a page playing: the browser asks for the next one when the last is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files

import streamlit as st

_METRONOME = st.components.v2.component(
    "segviz_metronome",
    js=files("segviz.frontend").joinpath("metronome.js").read_text(encoding="utf-8"),
)


def metronome(*, key: str, beat: int, seconds: float | None, on_beat: Callable[[], None]) -> None:
    """Call ``on_beat`` ``seconds`` after the last beat, before the next run of the script.

    None stands still. ``beat`` must be another number after every beat; one that comes
    for an older number is ignored.
    """

    def beaten() -> None:
        state = st.session_state.get(key)
        if isinstance(state, Mapping) and state.get("beat") == beat:
            on_beat()

    _METRONOME(
        key=key,
        data={"beat": beat, "milliseconds": round(1000 * seconds) if seconds else 0},
        on_beat_change=beaten,
    )
