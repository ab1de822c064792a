"""State of a browser session: the open memory, the selected node, bounded caches, widget values.

All of it is in ``st.session_state``, so sessions never see each other's data. The process shares
the embedder (vectors by hashes of texts, and the words read last), the cache of model replies and
the keepers of watched files. On a public server, words and replies are forgotten after a visit
(``segviz.ui.visit``).
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any, TypeVar

import streamlit as st

from segviz.conversation import Conversation, Corpus
from segviz.llm import ChatByRole
from segviz.loaders import JOINED
from segviz.memory import Memory
from segviz.retrieval import Result, RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.tree import Structure
from segviz.ui import keys
from segviz.view.bookmark import Bookmark, as_text, differing

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

# Limits per browser session; the least recently used entry is dropped.
CORPORA_KEPT = 3
MEMORIES_KEPT = 4

_LINKED = "linked"  # default of every linked widget that was drawn, and the page if it is shown
_GIVEN = "linked-given"  # texts of a link for widgets not drawn yet, by key; None: the default


def id_in_link(corpus: Corpus, conversation: Conversation) -> str | None:
    """Returns the id by which a link names a conversation; None if the file has no other."""
    several = len(corpus.entries) > 1 or conversation.id == JOINED
    return conversation.id if several else None


def _remembered(name: str) -> OrderedDict[str, Any]:
    store: OrderedDict[str, Any] = st.session_state.setdefault(name, OrderedDict())
    return store


def keep(name: str, key: str, kept: int, value: T) -> T:
    """Stores a value under ``key`` in the cache ``name`` and returns it.

    Only the ``kept`` values used last stay in this cache.
    """
    store = _remembered(name)
    store[key] = value
    store.move_to_end(key)
    while len(store) > kept:
        store.popitem(last=False)
    return value


def remember(name: str, key: str, kept: int, make: Callable[[], T]) -> T:
    """Returns the value under ``key`` in the cache ``name``, made if missing; see :func:`keep`."""
    store = _remembered(name)
    if key not in store:
        return keep(name, key, kept, make())
    store.move_to_end(key)
    value: T = store[key]
    return value


def starts(key: str, value: Any) -> dict[str, Any]:
    """Returns the arguments of a widget with the initial ``value`` that persists across pages.

    A default argument instead would cause a warning in the log after a link has set the state.
    """
    st.session_state.setdefault(key, value)
    return {"key": key, "persist_state": "session"}


def linked(key: str, default: Any, options: Collection[Any] | None = None) -> dict[str, Any]:
    """Returns the arguments of a widget whose value the address of its page names.

    The value persists across pages. One that is no option any more gives way to the default.

    Args:
        key: of the widget, and its name in a link; one of ``bookmark.CONTROLS``.
        default: the initial value, which the address leaves out; a list if several options can be
            chosen. An untouched widget follows a default that changes.
        options: the values that can be chosen; None means any text.
    """
    state, page = st.session_state, st.session_state.get(keys.PAGE_OPEN)
    drawn, given = state.setdefault(_LINKED, {}), state.setdefault(_GIVEN, {})
    former, at = drawn.get(key, (default, None))
    value = state.get(key, default)
    if key in given:
        value = _read_option(given.pop(key), default, options)
    elif value == former:
        value = default
    if isinstance(default, list):
        value = [one for one in value if options is None or one in options]
    elif options is not None and value not in options:
        value = default
    # Another page has another widget of this key, which begins with a value of its own.
    if key not in state or state[key] != value or at != page:
        state[key] = value
    drawn[key] = default, page
    return {"key": key, "persist_state": "session"}


def _read_option(text: str | None, default: Any, options: Collection[Any] | None) -> Any:
    """Reads what a link says of a widget; the default if it says nothing or no option."""
    if text is None or options is None:
        return default if text is None else text
    known = {as_text(one): one for one in options}
    if isinstance(default, list):
        chosen = [known[part] for part in text.split(",") if part in known]
        return chosen if chosen or text == as_text(()) else default
    return known.get(text, default)


def write_linked(texts: Mapping[str, str]) -> None:
    """Sets linked widgets to what a link says of them, others to their defaults."""
    st.session_state[_GIVEN] = {**dict.fromkeys(st.session_state.get(_LINKED, {})), **texts}


def read_linked() -> dict[str, str]:
    """Returns the texts for a link of the widgets of this page, and of those not drawn yet."""
    state, page = st.session_state, st.session_state.get(keys.PAGE_OPEN)
    texts = {key: text for key, text in state.get(_GIVEN, {}).items() if text is not None}
    for key, (default, at) in state.get(_LINKED, {}).items():
        if at == page and key in state and state[key] != default:
            texts[key] = as_text(tuple(state[key]) if isinstance(default, list) else state[key])
    return texts


def turn_to(page: str) -> bool:
    """Records which page is shown, by its path; returns True if another was shown before."""
    state = st.session_state
    turned = state.get(keys.PAGE_OPEN) != page
    if turned:
        state[keys.PAGE_OPEN] = page
        drawn = state.get(_LINKED, {})
        drawn.update({key: (default, None) for key, (default, _) in drawn.items()})
    return turned


def shows(entry: str, value: Any, write: Callable[[Any], None]) -> dict[str, Any]:
    """Returns the arguments of a widget for an ``entry`` that the app changes, too.

    The widget shows ``value`` and calls ``write`` with the user's choice.

    The page sends the values of all widgets with every event. An event sent before a change
    arrives would bring the old value back, as if the user had chosen it. So after a change of the
    entry the widget gets a new key, and only the newest key writes. Four keys rotate, because
    Streamlit never forgets the state of a key. If a run is cut short, its value may not reach the
    page, which would then send its own default; a persistent widget gets the value again.
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


# Streamlit 1.62 has no keys of fragments.
_KEYED = "key" in signature(st.fragment).parameters


def keyed_fragment(draw: F, key: str) -> F:
    """Makes a function a fragment that ``redraw`` finds by its key."""
    return st.fragment(draw, key=key) if _KEYED else st.fragment(draw)


def redraw(*fragments: str) -> None:
    """Runs the fragments with these keys again, not the rest of the page if Streamlit can."""
    st.rerun(list(fragments) if _KEYED else "app")


def peek(name: str, key: str) -> Any:
    """Returns the value under ``key`` in the cache ``name`` and marks it as used; else None."""
    store = _remembered(name)
    if key in store:
        store.move_to_end(key)
    return store.get(key)


def forget(name: str, key: str) -> None:
    """Drops the value under ``key`` from the cache ``name``."""
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
    """Open file, conversation and memory, as the sidebar passes them to a page.

    ``key`` identifies the memory, ``source`` the conversation as loaded, without typed turns.
    ``chat`` is the model chosen under Models, None offline. ``live`` is True for a watched
    conversation that still grows, ``saved`` for an opened memory file; neither accepts typed turns.
    ``how`` has the options of ``load`` for the file. ``axis`` identifies the units of the memory,
    which all builds by one unit rule share; ``build`` says how it is built; ``second`` has another
    build, drawn beside this one.
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
    axis: str = ""
    build: Bookmark = Bookmark()
    second: AppSession | None = None

    @property
    def identity(self) -> str:
        """Identifies the memory for the browser; two builds beside each other are as one."""
        return self.axis if self.second else self.key

    @property
    def grow_step(self) -> str:
        """Key of the step shown on Grow, which another build of the same units keeps."""
        return f"step-{self.axis or self.key}-{len(self.memory.steps)}"

    @cached_property
    def sessions(self) -> list[int]:
        """Session position of every unit."""
        return [unit.session for unit in self.memory.units]

    @cached_property
    def moments(self) -> list[int | None]:
        """Step of each question's moment; None for the end of the conversation."""
        return [self.memory.moment(question) for question in self.conversation.questions]

    @cached_property
    def in_link(self) -> Mapping[str, Any]:
        """Parts of a link about this memory: its conversation, if one of several, and settings."""
        kind = SYSTEMS.get(self.memory.system)
        return {
            "conversation": id_in_link(self.corpus, self.conversation),
            "settings": {} if kind is None else differing(kind, self.memory.settings),
        }

    @property
    def selected(self) -> int | None:
        """Selected node of this memory; None without one."""
        key, node = st.session_state.get("selected", (None, None))
        return node if key == self.key else None

    def shown(self, structure: Structure) -> Structure:
        """Returns the structure for pages: collapsed, unless the literal tree is switched on."""
        _, _, settings = st.session_state.get(keys.SETTINGS, ("", "", RetrievalSettings()))
        return structure if settings.literal else structure.collapsed

    def selected_in(self, structure: Structure) -> int | None:
        """Returns the node of a shown structure that represents the selected one.

        None without a selection, or if the node does not exist yet.
        """
        node = self.selected
        return None if node is None or node >= len(structure) else int(structure.chain[node])

    def select(self, node: int | None) -> None:
        """Selects a node; None clears the selection. The transcript then follows the node again."""
        st.session_state["selected"] = (self.key, node)
        self.show_session(None)

    def show_session(self, place: int | None) -> None:
        """Sets the session that the tree shows alone, and the transcript follows; None for none."""
        st.session_state["shown-session"] = (self.key, place)

    @property
    def shown_session(self) -> int | None:
        """The session that the tree shows alone; None for none."""
        key, place = st.session_state.get("shown-session", (None, None))
        known = key == self.key and place is not None and place < len(self.conversation.sessions)
        return place if known else None


@dataclass(frozen=True)
class PageState:
    """Memory on a page: its structure after ``step`` steps, and on Ask the result."""

    session: AppSession
    structure: Structure
    step: int
    result: Result | None = None

    @property
    def node(self) -> int | None:
        """Selected node, as in ``AppSession.selected_in``."""
        return self.session.selected_in(self.structure)


def typed_turns(source: str) -> list[tuple[str, str]]:
    """Returns the list of typed (speaker, text) turns, oldest first, for callers to change."""
    everything: dict[str, list[tuple[str, str]]] = st.session_state.setdefault("typed", {})
    return everything.setdefault(source, [])
