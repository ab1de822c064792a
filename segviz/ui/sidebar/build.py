"""Builds the chosen memory: at once if it is small and offline, otherwise on request.

A build with a chat model, or with remote embeddings, first starts on request and
shows progress. If the user cancels it or the model fails, it can be resumed: every answer is in the
cache before it is used. A prompt the model never answers can be skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from math import log2
from statistics import median_low
from time import monotonic, thread_time
from typing import Any

import streamlit as st

from segviz.conversation import Conversation
from segviz.embedding import Cached
from segviz.files import NoRoom
from segviz.handover import HandoverError
from segviz.llm import Pace, RequestError
from segviz.memory import (
    Building,
    BuildPaused,
    CallEstimate,
    Memory,
    check_leaves,
    make_system,
    needs_chat,
    rehearse,
)
from segviz.memory.written import instead_of_extracts
from segviz.text.captions import duration
from segviz.tree import Span
from segviz.ui import keys, security, visit
from segviz.ui.sidebar.models import ChosenModels, expected_calls, point_here
from segviz.ui.state import MEMORIES_KEPT, fingerprint, forget, keep, peek
from segviz.ui.widgets import captions, tree, waiting
from segviz.waiting import heartbeat

PAUSES_KEPT = 4

# A build this small takes a moment; anything larger starts when the user says so.
AUTOMATIC_UNITS = 2_000

_FIRST_TRIED = 32
_TRIED, _STEEP = 0.8, 2.4
"""Leaves of the first trial build, least duration of the last one in seconds, and least growth by
a doubling that is not noise. Trial builds estimate the duration of a long build."""

_PICTURE = 2.0
"""Least seconds between pictures of the growing tree; they take at most 1/8 of the time."""

# Key of the build that was cancelled last. It waits for a click, even if it is small.
_CANCELLED_KEY = "cancelled-build"

_CANCELLED = "Cancelled."
_MAY_BE_CHARGED = (
    "Cancelled. All answers so far are saved; a request in progress may still be charged."
)


@dataclass(frozen=True, eq=False)
class Pause:
    """Stopped build, with the reason."""

    building: Building
    why: str

    @cached_property
    def memory(self) -> Memory:
        """Memory of the finished leaves, computed at the first access."""
        return self.building.memory


@dataclass(frozen=True)
class Order:
    """Conversation, system and settings to build, and written texts to put on the memory."""

    conversation: Conversation
    unit: str
    system: str
    settings: dict[str, Any]
    models: ChosenModels
    texts: Mapping[Span, tuple[str, str]] = field(default_factory=dict)

    def key(self, source: str) -> str:
        """Returns the content key of the finished memory.

        The key of the conversation without typed turns also marks that the user has agreed to the
        build.
        """
        chat, embedder = self.models.chat, self.models.embedder.name
        asked: list[Any] = []
        if chat is not None:
            asked = [chat.name, chat.prompts, chat.usual.endpoint.prompt_tokens]
        if self.texts:
            asked.append("written")
        return fingerprint(source, self.unit, self.system, self.settings, embedder, asked)

    def finished(self, memory: Memory) -> Memory:
        """Returns the built memory with the written texts of the stretches that it has."""
        return instead_of_extracts(memory, self.texts)


def obtain(order: Order, source: str, base: str, typed: bool) -> tuple[str, Memory] | None:
    """Returns the key and the memory of an order, built now or cached.

    It returns the finished part of a paused build. Without any memory it returns None and draws
    the reason.

    Args:
        order: the memory to build.
        source: identifies the conversation with typed turns.
        base: identifies it without them. Consent to a build covers turns typed later.
        typed: True if there are typed turns.
    """
    units = order.conversation.units(order.unit)
    if not units:
        st.info(
            f"The rule '{order.unit}' makes no leaf from this conversation. "
            "Choose another rule under One leaf per."
        )
        return None
    try:
        callers = needs_chat(make_system(order.system, **order.settings))
    except ValueError as error:
        captions.trouble("These parameters cannot be used.", error)
        return None
    if callers and order.models.chat is None:
        st.info(
            f"This build needs a chat model for {' and '.join(callers)}. Choose one under Models "
            "in the sidebar; or stay offline with compatibility “calibrated” and annotate "
            "“extractive”.",
            icon=":material/cloud_off:",
        )
        return None
    if order.models.remote_embeddings:
        callers = [*callers, "embeddings"]
    # A memory that was built before is returned, whatever the models now are.
    key = order.key(source)
    if st.session_state.get(keys.BUILDING) != key:
        _stop()  # the settings have changed, so a pending build is obsolete
    memory: Memory | None = peek(keys.MEMORIES, key)
    if memory is not None:
        if memory.embedder is not order.models.embedder:
            # The client may have another key by now.
            memory = replace(memory, embedder=order.models.embedder)
            keep(keys.MEMORIES, key, MEMORIES_KEPT, memory)
        return key, memory
    if typed and callers and order.key(base) in _approved():
        st.session_state[keys.BUILDING] = key
    # Else it is built: at once, or after a click with its finished part meanwhile.
    asks = callers or len(units) > AUTOMATIC_UNITS or st.session_state.get(_CANCELLED_KEY) == key
    if asks and not _requested(key, order, base, callers, len(units)):
        return _partial(key)
    expected: dict[str, CallEstimate] = peek("rehearsals", order.key(base)) or {}
    replies = sum(each.replies for each in expected.values())
    return _run_within_limits(key, order, bool(callers), replies)


def at_once(order: Order, source: str) -> tuple[str, Memory] | None:
    """Returns the key and the memory of an order if it is cached, or needs neither click nor wait.

    ``source`` is as in :func:`obtain`.
    """
    key, leaves = order.key(source), len(order.conversation.units(order.unit))
    memory: Memory | None = peek(keys.MEMORIES, key)
    if memory is not None:
        return key, memory
    calls = needs_chat(make_system(order.system, **order.settings))
    if calls or order.models.remote_embeddings or leaves > AUTOMATIC_UNITS:
        return None

    def work() -> Memory:
        building = _building(order)
        for _ in building:
            pass
        return order.finished(building.memory)

    try:
        with visit.building(leaves):
            what = "Build the second tree"
            memory = waiting.computed(keys.MEMORIES, key, MEMORIES_KEPT, what, work)
    except (NoRoom, HandoverError) as error:
        captions.trouble("The second tree cannot be built.", error)
    return None if memory is None else (key, memory)


def _building(order: Order) -> Building:
    """Returns the build of an order, which has not begun."""
    return Building(
        order.conversation,
        make_system(order.system, **order.settings),
        order.unit,
        embedder=order.models.embedder,
        chat=order.models.chat,
    )


def _requested(key: str, order: Order, base: str, callers: list[str], count: int) -> bool:
    """Returns True if the user has started this build; else draws the offer to start."""
    if st.session_state.get(keys.BUILDING) == key:
        return True
    try:
        check_leaves(count)
    except NoRoom as error:
        st.error(captions.unmarked(f"{error}."))
        return False
    approval = order.key(base)
    # A paused build offers to resume, a new one to begin, with what it takes.
    pause: Pause | None = peek(keys.PAUSED, key)
    if pause is not None:
        with st.container(border=True, key=keys.PAUSED):
            st.markdown(
                f":material/pause_circle: **Paused after {len(pause.memory.steps):,} of {count:,} "
                "leaves.** Finished leaves are saved; resuming requests only the rest."
            )
            st.text(pause.why)
            _start("Resume", key, approval)
        return False
    what = captions.counted(count, "leaf", "leaves")
    with st.container():
        with st.empty():  # one element, even while the estimate is waited for
            expected = _calls(order, base) if callers else _estimate(order, base)
        if callers:
            parts = " and ".join(callers)
            st.info(
                f"{what}, with model calls for {parts}{expected} (answers already in "
                "the cache cost nothing). Nothing is sent before you press Build."
            )
        else:
            st.info(f"{what}{expected}.")
        with st.container(horizontal=True):
            _start("Build the memory", key, approval)
    return False


def _calls(order: Order, source: str) -> str:
    """Returns a phrase with the expected calls of a build; "" if it needs no model."""
    chat, system = order.models.chat, make_system(order.system, **order.settings)
    if chat is None or not needs_chat(system):
        return ""
    talk, unit, embedder = order.conversation, order.unit, order.models.embedder
    work = partial(rehearse, talk, system, unit, embedder, chat)
    calls: dict[str, CallEstimate] | None = waiting.computed(
        "rehearsals", order.key(source), MEMORIES_KEPT, "Count the calls", lambda: work()[0]
    )
    if calls is None:
        return ""
    phrases = []  # each model has a price and a speed of its own
    for client in chat.clients:
        if own := [needed for role, needed in calls.items() if chat.of(role) is client]:
            phrase = expected_calls(sum(own, CallEstimate()), client)
            phrases.append((client.endpoint.model, phrase))
    named = len(phrases) > 1
    return ": " + "; ".join(f"{name} {each}" if named else each for name, each in phrases)


def _estimate(order: Order, source: str) -> str:
    """Returns a phrase with the time of an offline build; "" if the estimate was stopped."""

    def begun() -> Building:
        system, embedder = make_system(order.system, **order.settings), order.models.embedder
        fresh = Cached(embedder.inner) if isinstance(embedder, Cached) else embedder
        return Building(order.conversation, system, order.unit, embedder=fresh)

    key, work = order.key(source), partial(expected_seconds, begun)
    seconds = waiting.computed("estimates", key, MEMORIES_KEPT, "Estimate the time", work)
    return "" if seconds is None else f": about {duration(seconds)} on this machine"


def expected_seconds(begun: Callable[[], Building]) -> float:
    """Returns the expected seconds of a build.

    It times builds of the first leaves, twice as many each time, and extrapolates: twice the leaves
    take twice as long, or up to four times if all are compared with all. Other work on the machine
    lengthens single trials, so the growth is the median of the last three doublings, in time of the
    processor, and the least of what these trials predict is returned. The first build loads
    resources and does not count. ``begun`` returns a build that has embedded nothing yet. Each
    first forgets the texts of the one before, because to a whole build most of its texts are new.
    """
    units, tried = begun().units, [(_FIRST_TRIED // 2, 0.0, 0.0)]
    while tried[-1][0] < len(units) and (len(tried) < 6 or tried[-1][1] < _TRIED):
        part = min(2 * tried[-1][0], len(units))
        visit.forget_texts()
        building = begun()
        building.units, began, worked = units[:part], monotonic(), thread_time()
        for _ in building:
            pass
        tried.append((part, monotonic() - began, thread_time() - worked))
    counted = tried[2:][-4:] or tried[1:]
    steps = [(t / s) ** (1 / log2(n / m)) for (m, _, s), (n, _, t) in pairwise(counted) if s]
    growth = min(median_low(steps or [2.0]), 4.0)
    growth = growth if growth > _STEEP else 2.0
    return min(float(seconds * growth ** log2(len(units) / part)) for part, seconds, _ in counted)


def _approved() -> set[str]:
    """Returns the keys of builds with model calls that the user has agreed to."""
    approved: set[str] = st.session_state.setdefault("approved", set())
    return approved


def _start(label: str, key: str, approval: str) -> None:
    st.button(label, key="build", on_click=_approve, args=(key, approval))


def _approve(key: str, approval: str) -> None:
    st.session_state[keys.BUILDING] = key
    _approved().add(approval)


def _stop() -> None:
    st.session_state[keys.BUILDING] = None


def _cancel(key: str) -> None:
    _stop()
    _approved().clear()
    st.session_state[_CANCELLED_KEY] = key


def _partial(key: str) -> tuple[str, Memory] | None:
    """Returns the finished part of a paused build, to display meanwhile."""
    pause: Pause | None = peek(keys.PAUSED, key)
    if pause is not None and pause.memory.steps:
        return f"{key}-{len(pause.memory.steps)}", pause.memory
    return None


def _run_within_limits(
    key: str, order: Order, calls: bool, replies: float
) -> tuple[str, Memory] | None:
    """Builds the memory; after an error draws it and returns the finished part."""
    try:
        with visit.building(len(order.conversation.units(order.unit))):
            return _run(key, order, calls, replies)
    except NoRoom as error:
        captions.trouble("There is no room for this now.", error)
    except HandoverError as error:
        captions.trouble("This memory cannot be built. Choose another system or part.", error)
    st.button("Try again", key="retry")
    _stop()
    return _partial(key)


def _run(key: str, order: Order, calls: bool, replies: float) -> tuple[str, Memory] | None:
    """Builds the memory with progress; ``calls`` is True if models are called for ``replies``."""
    place = st.empty()
    # As many elements as the offer to resume has, so that Streamlit replaces all of them.
    with place.container(border=True):
        bar = st.progress(0.0, "Building the memory")
        what = "Replies are saved at once" if calls else "Finished leaves are saved"
        st.caption(f"{what}, even if you cancel.")
        st.button("Cancel", key="cancel", on_click=_cancel, args=(key,))
    building = _building(order)
    # A click on Cancel starts the next run before this one ends; that run must find the build.
    stopped = _MAY_BE_CHARGED if calls else _CANCELLED
    keep(keys.PAUSED, key, PAUSES_KEPT, Pause(building, stopped))
    total = len(building.units)
    shown = drawn = monotonic()
    done, pictures, cost, pictured = 0, 0, 0.0, 0
    picture = st.empty()
    pace = Pace(order.models.chat if calls else None, replies)

    def show() -> None:
        # Any click aborts this run: Streamlit raises StopException here.
        nonlocal shown, pictures, pictured, drawn, cost
        shown = monotonic()
        left = pace.phrase(done, total, shown) or "; their texts are embedded first" * (not done)
        bar.progress(done / total, f"Building the memory: {done:,} of {total:,} leaves{left}")
        if done > pictured and shown - drawn >= max(_PICTURE, 8 * cost):
            pictures, pictured = pictures + 1, done
            tree.draw_growing(picture, building.memory, total, pictures)
            drawn = monotonic()
            cost = drawn - shown

    try:
        with heartbeat(show):
            for _ in building:
                done += 1
                if done == total or monotonic() - shown >= 0.2:
                    show()
    except BuildPaused as pause:
        keep(keys.PAUSED, key, PAUSES_KEPT, Pause(building, security.shown_error(pause.fault)))
        _stop()
        _approved().clear()
        if isinstance(pause.fault, RequestError) and pause.fault.settable:
            point_here()
        st.rerun()
    place.empty()
    picture.empty()
    _stop()
    forget(keys.PAUSED, key)
    return key, keep(keys.MEMORIES, key, MEMORIES_KEPT, order.finished(building.memory))
