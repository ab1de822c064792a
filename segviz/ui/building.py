"""Build the chosen memory: at once when it is cheap, on request when it is not.

A build with a chat model starts only when asked for, shows how far it is, can be cancelled
and, when the model gives up, keeps what is done and can be resumed: every answer is in the
cache before it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

import streamlit as st

from segviz.assemble import make_system, needs_chat
from segviz.conversation import Conversation
from segviz.pipeline import BuildPaused, Memory, build
from segviz.protocols import System
from segviz.ui.models import Models
from segviz.ui.state import MEMORIES_KEPT, fingerprint, known, remember

# A build this small takes a moment; anything larger starts when the user says so.
AUTOMATIC_UNITS = 2_000


@dataclass(frozen=True)
class Order:
    """What is to be built."""

    conversation: Conversation
    unit: str
    system: str
    settings: dict[str, Any]
    models: Models

    def key(self, source: str) -> str:
        """Content key of the finished memory."""
        chat = self.models.chat.name if self.models.chat else ""
        return fingerprint(
            source, self.unit, self.system, self.settings, self.models.embedder.name, chat
        )


def obtain(order: Order, source: str) -> tuple[str, Memory] | None:
    """The memory of an order, built now or kept; None when there is nothing to show yet
    (the page then says why)."""
    units = order.conversation.units(order.unit)
    if not units:
        st.info(
            f"The rule '{order.unit}' makes no leaf from this conversation. "
            "Choose another rule under Leaves."
        )
        return None
    try:
        system = make_system(order.system, **order.settings)
    except ValueError as error:
        st.error("These parameters cannot be used.")
        st.text(str(error))
        return None
    callers = needs_chat(system)
    if callers and order.models.chat is None:
        st.info(
            f"{' and '.join(callers)} needs a chat model. Choose one under Models in the "
            "sidebar, or take calibrated and extractive to stay offline.",
            icon=":material/cloud_off:",
        )
        return None
    key = order.key(source)
    if known("memories", key):
        return key, remember("memories", key, MEMORIES_KEPT, _impossible)
    if (callers or len(units) > AUTOMATIC_UNITS) and not _requested(key, callers, len(units)):
        return _partial(key)
    return _run(key, order, system)


def _impossible() -> Memory:
    raise RuntimeError("a memory that was just there is gone")


def _requested(key: str, callers: list[str], count: int) -> bool:
    """Offer to start; whether this memory has been asked for."""
    if st.session_state.get("building") == key:
        return True
    paused = st.session_state.get("paused", (None, None, ""))
    if paused[0] == key:
        with st.container(border=True, key="paused"):
            done = len(paused[1].steps)
            st.markdown(
                f":material/pause_circle: **Paused after {done} of {count} leaves.** What is "
                "done is kept; resuming asks only for the rest."
            )
            st.text(paused[2])
            _start("Resume", key)
        return False
    what = f"{count} leaves"
    if callers:
        what += f", with model calls for {' and '.join(callers)}: at least one per leaf"
    st.info(f"{what}. Nothing has been sent yet." if callers else f"{what}: this takes a while.")
    _start("Build the memory", key)
    return False


def _start(label: str, key: str) -> None:
    def start() -> None:
        st.session_state["building"] = key

    st.button(label, key="build", on_click=start)


def _stop() -> None:
    st.session_state["building"] = None


def _partial(key: str) -> tuple[str, Memory] | None:
    """The finished part of a paused build, to look at meanwhile."""
    paused = st.session_state.get("paused", (None, None, ""))
    if paused[0] == key and paused[1].steps:
        return f"{key}-{len(paused[1].steps)}", paused[1]
    return None


def _run(key: str, order: Order, system: System) -> tuple[str, Memory] | None:
    place = st.empty()
    with place.container():
        bar = st.progress(0.0, "Building the memory")
        # Any click ends this run at the next progress report; finished answers are cached.
        st.button("Cancel", key="cancel", on_click=_stop)
    began = monotonic()
    shown = began

    def progress(done: int, total: int) -> None:
        nonlocal shown
        now = monotonic()
        if done < total and now - shown < 0.2:
            return
        shown = now
        left = (now - began) / done * (total - done)
        wait = f", about {left:.0f} s left" if left >= 1 else ""
        bar.progress(done / total, f"Building the memory: {done} of {total} leaves{wait}")

    try:
        memory = build(
            order.conversation,
            system,
            order.unit,
            embedder=order.models.embedder,
            chat=order.models.chat,
            progress=progress,
        )
    except BuildPaused as pause:
        _stop()
        st.session_state["paused"] = (key, pause.memory, str(pause))
        st.rerun()
    place.empty()
    _stop()
    return key, remember("memories", key, MEMORIES_KEPT, lambda: memory)
