"""Builds the memories of a comparison on request and keeps them for the browser session."""

from __future__ import annotations

from functools import partial

import streamlit as st

from segviz.memory import Memory, build, paid
from segviz.systems import SYSTEMS
from segviz.ui import keys
from segviz.ui.state import Session, fingerprint, peek, remember, typed_turns
from segviz.ui.widgets.captions import counted

COMPARED_KEPT = 12

# Over so few leaves a system is built in a second or two.
_AUTOMATIC_UNITS = 400


def built_key(session: Session, name: str) -> str:
    """Returns the content key of a system's memory over the leaves of this session."""
    memory = session.memory
    typed = typed_turns(session.source)
    if name == memory.system:
        return session.key
    return fingerprint(session.source, typed, memory.unit, name, memory.embedder.name)


def cached(session: Session, name: str) -> Memory | None:
    """Returns the memory of a system if it has been built; the open one always is."""
    if name == session.memory.system:
        return session.memory
    found: Memory | None = peek(keys.COMPARED, built_key(session, name))
    return found


def offer(session: Session, missing: list[str]) -> None:
    """Builds what is missing, with progress: at once where that is quick and free, else behind a
    button."""
    labels = ", ".join(SYSTEMS[name].label for name in missing)
    quick = len(session.memory.units) <= _AUTOMATIC_UNITS
    if not (quick and paid(session.memory.embedder) is None) and not st.button(
        f"Build {labels}", key="build-compared", icon=":material/play_arrow:"
    ):
        leaves = counted(len(session.memory.units), "leaf", "leaves")
        st.caption(f"Built offline: a few hundred leaves take seconds, {leaves} may take minutes.")
        return
    bar = st.progress(0.0, "Building")
    for number, name in enumerate(missing):
        label = SYSTEMS[name].label

        def progress(done: int, total: int, number: int = number, label: str = label) -> None:
            if done % 20 == 0 or done == total:
                share = (number + done / total) / len(missing)
                bar.progress(share, f"Building {label}: {done} of {total} leaves")

        make = partial(
            build,
            session.conversation,
            name,
            session.memory.unit,
            embedder=session.memory.embedder,
            progress=progress,
        )
        remember(keys.COMPARED, built_key(session, name), COMPARED_KEPT, make)
    st.rerun()
