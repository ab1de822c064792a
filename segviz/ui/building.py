"""Build the chosen memory: at once when it is cheap, on request when it is not.

A build with a chat model starts only when asked for, shows how far it is, can be cancelled
and, when the model gives up, keeps what is done and can be resumed: every answer is in the
cache before it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import streamlit as st

from segviz.assemble import make_system, needs_chat
from segviz.conversation import Conversation
from segviz.pipeline import BuildPaused, Memory, build
from segviz.protocols import System
from segviz.ui.models import Models
from segviz.ui.state import MEMORIES_KEPT, fingerprint, forget, known, remember

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

    def approval(self, base: str) -> str:
        """What somebody agrees to who presses Build: the conversation, typed turns aside,
        the settings and the models."""
        return self.key(base)

    def key(self, source: str) -> str:
        """Content key of the finished memory."""
        chat = self.models.chat.name if self.models.chat else ""
        return fingerprint(
            source, self.unit, self.system, self.settings, self.models.embedder.name, chat
        )


def obtain(order: Order, source: str, base: str, typed: bool) -> tuple[str, Memory] | None:
    """The memory of an order, built now or kept; None when there is nothing to show yet
    (the page then says why).

    ``source`` identifies the conversation with the turns ``typed`` after it, ``base`` the
    conversation without: typing goes on with a build that was once agreed to.
    """
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
    if order.models.remote_embeddings:
        callers = [*callers, "embeddings"]
    key = order.key(source)
    if st.session_state.get("building") != key:
        _stop()  # a build asked for with other settings is no longer wanted
    if known("memories", key):
        memory: Memory = remember("memories", key, MEMORIES_KEPT, _impossible)
        if memory.embedder is not order.models.embedder:
            # The client may hold another key by now.
            memory = replace(memory, embedder=order.models.embedder)
            forget("memories", key)
            remember("memories", key, MEMORIES_KEPT, lambda: memory)
        return key, memory
    if typed and callers and order.approval(base) in _approved():
        st.session_state["building"] = key
    if (callers or len(units) > AUTOMATIC_UNITS) and not _requested(
        key, order.approval(base), callers, len(units)
    ):
        return _partial(key)
    return _run(key, order, system)


def _impossible() -> Memory:
    raise RuntimeError("a memory that was just there is gone")


def _requested(key: str, approval: str, callers: list[str], count: int) -> bool:
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
            _start("Resume", key, approval)
        return False
    what = f"{count} leaves"
    if callers:
        parts = " and ".join(callers)
        what += f", with model calls for {parts} (answers already in the cache cost nothing)"
    st.info(
        f"{what}. Nothing is sent before you press Build."
        if callers
        else f"{what}: this takes a while."
    )
    _start("Build the memory", key, approval)
    return False


def _approved() -> set[str]:
    """Conversations and settings a build with calls was agreed to for."""
    approved: set[str] = st.session_state.setdefault("approved", set())
    return approved


def _start(label: str, key: str, approval: str) -> None:
    def start() -> None:
        st.session_state["building"] = key
        _approved().add(approval)

    st.button(label, key="build", on_click=start)


def _stop() -> None:
    st.session_state["building"] = None


def _cancel() -> None:
    _stop()
    _approved().clear()


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
        st.button("Cancel", key="cancel", on_click=_cancel)
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
        _approved().clear()
        st.rerun()
    place.empty()
    _stop()
    return key, remember("memories", key, MEMORIES_KEPT, lambda: memory)
