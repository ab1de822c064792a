"""What a browser session holds: loaded files, built memories, the selected node.

Everything lives in ``st.session_state``, so sessions never see each other's data. Only the
embedder, which holds no user data but content hashes, is shared by the process.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import streamlit as st

from segviz.conversation import Conversation, Corpus
from segviz.llm import ChatByRole
from segviz.memory import Labels, Memory
from segviz.retrieval import RetrievalSettings
from segviz.tree import Structure
from segviz.ui import keys

T = TypeVar("T")

# Bounds per browser session; the least recently used is forgotten.
CORPORA_KEPT = 3
MEMORIES_KEPT = 4


def _remembered(name: str) -> OrderedDict[str, Any]:
    store: OrderedDict[str, Any] = st.session_state.setdefault(name, OrderedDict())
    return store


def keep(name: str, key: str, kept: int, value: T) -> T:
    """Keeps and returns the value, in place of an older one; at most ``kept`` values stay."""
    store = _remembered(name)
    store[key] = value
    store.move_to_end(key)
    while len(store) > kept:
        store.popitem(last=False)
    return value


def remember(name: str, key: str, kept: int, make: Callable[[], T]) -> T:
    """Returns the value kept under ``key``, or makes it; at most ``kept`` values stay."""
    store = _remembered(name)
    if key not in store:
        return keep(name, key, kept, make())
    store.move_to_end(key)
    value: T = store[key]
    return value


def starts(key: str, value: Any) -> dict[str, Any]:
    """Returns what a widget is called with that starts from ``value`` and is kept from page to
    page. A widget that is given a default besides would be warned about in the log where a link
    has set its state."""
    st.session_state.setdefault(key, value)
    return {"key": key, "persist_state": "session"}


def shows(entry: str, value: Any, write: Callable[[Any], None]) -> dict[str, Any]:
    """Returns what a widget is called with that shows ``value`` of an entry and hands ``write``
    what is chosen, where the app changes the entry, too.

    The page sends what all its widgets show with each thing it sends. An answer that is still
    on its way would let the old value come back as if it had been chosen, and undo the change.
    So a widget whose entry was changed is drawn as another one, and only the newest writes.
    A few take turns: Streamlit never forgets what it was told of a widget. What a run that is cut
    short sets may not reach the page, which would send its own default; Streamlit says it again
    where it persists.
    """
    state, numbers = st.session_state, f"{entry}-number"
    number: int = state.get(numbers, 0)
    if state.get(f"{entry}-{number}", value) != value:
        state[numbers] = number = (number + 1) % 4
    name = f"{entry}-{number}"
    if state.get(name) != value:
        state[name] = value

    def changed() -> None:
        if state.get(numbers, 0) == number:
            write(state[name])

    return {"key": name, "on_change": changed, "persist_state": "session"}


def peek(name: str, key: str) -> Any:
    """Returns the value kept under ``key``, None where there is none; it is then the last to be
    forgotten."""
    store = _remembered(name)
    if key in store:
        store.move_to_end(key)
    return store.get(key)


def forget(name: str, key: str) -> None:
    """Drops the value kept under ``key``."""
    _remembered(name).pop(key, None)


def fingerprint(*parts: Any) -> str:
    """Returns a short content key of JSON-able settings and bytes."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        digest.update(hashlib.sha256(raw).digest())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class AppSession:
    """What the sidebar hands to a page: the open file, conversation and memory.

    ``key`` identifies the memory, ``source`` the conversation as loaded, before typing;
    ``chat`` is the model chosen under Models, None offline; ``live`` tells that
    the conversation is watched and goes on, ``saved`` that the memory was opened as it is: neither
    takes turns that somebody types. ``how`` are the options of ``load`` its file was read with.
    """

    key: str
    source: str
    corpus: Corpus
    conversation: Conversation
    memory: Memory
    chat: ChatByRole | None = None
    live: bool = False
    saved: bool = False
    how: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def sessions(self) -> list[int]:
        """Session position of every unit."""
        return [unit.session for unit in self.memory.units]

    @property
    def labels(self) -> Labels | None:
        """The labels of the file that was opened beside this conversation."""
        source, labels = st.session_state.get(keys.OWN_LABELS, ("", None))
        return labels if source == self.source else None

    @property
    def selected(self) -> int | None:
        """The selected node of this memory."""
        key, node = st.session_state.get("selected", (None, None))
        return node if key == self.key else None

    def shown(self, structure: Structure) -> Structure:
        """The structure as pages show it: same-text chains as one node, unless the switch for
        the literal tree is on."""
        _, _, settings = st.session_state.get(keys.SETTINGS, ("", "", RetrievalSettings()))
        return structure if settings.literal else structure.collapsed

    def selected_in(self, structure: Structure) -> int | None:
        """The node of a structure as shown that stands for the selected one; None where nothing
        is selected, or not there yet."""
        node = self.selected
        return None if node is None or node >= len(structure) else int(structure.chain[node])

    def select(self, node: int | None) -> None:
        """Selects a node, or none."""
        st.session_state["selected"] = (self.key, node)


def typed_turns(source: str) -> list[tuple[str, str]]:
    """Returns the (speaker, text) turns typed after this conversation, oldest first; editable."""
    everything: dict[str, list[tuple[str, str]]] = st.session_state.setdefault("typed", {})
    return everything.setdefault(source, [])
