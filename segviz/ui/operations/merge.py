"""Taking a second conversation into the memory, where its system can join two."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from segviz.construct import Joins
from segviz.conversation import TITLES, Conversation, sample_path
from segviz.loaders import LoadError, load
from segviz.memory import Memory, build, merge, needs_chat, paid
from segviz.ui.sidebar.build import AUTOMATIC_UNITS
from segviz.ui.sidebar.open_file import refusal
from segviz.ui.state import Session


def join_choice(session: Session) -> Memory | None:
    """Offer the other conversations; the joined memory where one was just taken in."""
    memory, system = session.memory, session.memory.model
    if not isinstance(system, Joins):
        return None
    if needs_chat(memory.model) or paid(memory.embedder) is not None:
        return None  # a second build would send and cost without being asked about
    offered = _others(session)
    st.divider()
    name = st.selectbox(
        "Join another conversation",
        list(offered),
        index=None,
        placeholder="Choose a conversation",
        key="join",
        help="It is built with the same settings and taken in behind this one: trees only one "
        "of them has are copied, facts both state become one.",
    )
    if not st.button("Take it in", key="take-in", disabled=name is None) or name is None:
        return None
    try:
        conversation = offered[name]()
    except LoadError as error:  # of a large file it is read only now
        refusal(error, "This memory stays as it is.")
        return None
    count = len(conversation.units(memory.unit))
    if not 0 < count <= AUTOMATIC_UNITS:
        st.warning(
            f"It has {count:,} leaves; 1 to {AUTOMATIC_UNITS:,} can be taken in here. "
            "segviz.merge joins memories of any size."
        )
        return None
    bar = st.progress(0.0, "Building")

    def progress(done: int, total: int) -> None:
        if done % 20 == 0 or done == total:
            bar.progress(done / total, f"Building: {done} of {total} leaves")

    second = build(
        conversation,
        memory.system,
        memory.unit,
        embedder=memory.embedder,
        progress=progress,
        **memory.settings,
    )
    try:
        return merge(memory, second)
    except ValueError as error:
        st.warning("These two cannot be joined.")
        st.text(str(error))
        return None


def _others(session: Session) -> dict[str, Callable[[], Conversation]]:
    """The other conversations of the open file, then the bundled ones, read when chosen."""
    found: dict[str, Callable[[], Conversation]] = {}
    for position, entry in enumerate(session.corpus.entries):
        if entry.id != session.conversation.id:
            found[entry.id] = partial(session.corpus.__getitem__, position)
    for name, title in TITLES.items():
        if name != session.conversation.id:
            found[title] = partial(_sample, name)
    return found


def _sample(name: str) -> Conversation:
    return load(sample_path(name))[0]
