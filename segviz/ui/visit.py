"""Limits of a public server, for one visitor and for all, and cleaning up after a visit.

A server that is not public has no limits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock

import streamlit as st

from segviz import store
from segviz.conversation import Conversation
from segviz.embedding import get_embedder
from segviz.files import NoRoom, check_room
from segviz.loaders import Budget, LoadError
from segviz.ui import security

TURNS = 5_000
"""Most turns of a conversation; its memory takes about 100 MB."""

UNPACKED = security.UPLOAD_MB * 1_000_000
"""Most bytes that an upload unpacks to."""

_UPLOAD_MB = 200  # Streamlit's own limit

PARTS = 200_000
"""Most lines of a text, or objects of JSON, in a file; counted before they are read."""

LEAVES = 200_000
"""Most leaves of all memories that a visitor builds."""

VISITORS = 40
BUILDS_AT_ONCE = 4
PATIENCE = 20.0
"""Longest wait of a build for other builds, in seconds."""

REMEDY = "take a part, or install segviz, which has no such limit on your own machine"


@dataclass(eq=False)
class Visit:
    """Usage of one visitor; ``admitted`` is True once there was room for the visitor."""

    leaves: int = 0
    admitted: bool = False


_here: set[Visit] = set()
_lock = Lock()
_builds = BoundedSemaphore(BUILDS_AT_ONCE)


def _leave(visit: Visit) -> None:
    with _lock:
        _here.discard(visit)
    forget_texts()


@st.cache_resource(scope="session", show_spinner=False, on_release=_leave)
def _visit() -> Visit:
    """Returns the visit of this browser session. Streamlit releases it when the session ends."""
    return Visit()


def arrive() -> None:
    """Admits a visitor to a public server; if it is full, draws a note and ends the run."""
    if not security.public():
        return
    visit = _visit()
    with _lock:
        if not visit.admitted and len(_here) < VISITORS and security.has_room():
            visit.admitted = True
            _here.add(visit)
    if not visit.admitted:
        st.info("Too many people use this server now. Load the page again in some minutes.")
        st.stop()


def upload_budget() -> Budget:
    """Returns the limit on what an upload unpacks to, which is the usual one if not public."""
    return Budget(UNPACKED, PARTS) if security.public() else Budget()


def upload_mb() -> int:
    """Returns the size of the largest upload in megabytes; a larger file is opened by its path."""
    return security.UPLOAD_MB if security.public() else _UPLOAD_MB


def saved_memory(data: bytes) -> store.Saved:
    """Reads an uploaded memory; StoreError if it is damaged or too large for a public server."""
    return store.parse(data, UNPACKED) if security.public() else store.parse(data)


def check_turns(conversation: Conversation) -> None:
    """Raises LoadError for a conversation with more turns than a public server takes."""
    count = len(conversation.turns)
    if security.public() and count > TURNS:
        raise LoadError(f"{count:,} turns; this public server takes {TURNS:,}", remedy=REMEDY)


@contextmanager
def building(leaves: int) -> Iterator[None]:
    """Reserves one of the slots for builds while ``leaves`` are built, on a public server.

    Raises:
        NoRoom: the visitor has reached the limit, the machine has no memory left, or all slots
            were taken for ``PATIENCE`` seconds.
    """
    if not security.public():
        yield
        return
    visit = _visit()
    if visit.leaves + leaves > LEAVES:
        raise NoRoom(
            f"this visit has built {visit.leaves:,} of at most {LEAVES:,} leaves; {REMEDY}"
        )
    check_room(security.RESERVE, "building on this public server", "try again in some minutes")
    if not _builds.acquire(timeout=PATIENCE):
        raise NoRoom("other visitors are building memories; try again in a moment")
    try:
        visit.leaves += leaves
        yield
    finally:
        _builds.release()


def forget_texts() -> None:
    """Empties the caches that contain texts: bounded ones of functions, and the embedder's.

    Unbounded caches contain tables that do not depend on a visitor.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("segviz."):
            for value in list(vars(module).values()):
                limits = getattr(value, "cache_parameters", None)
                if callable(limits) and limits()["maxsize"] is not None:
                    value.cache_clear()
    get_embedder().forget_texts()
