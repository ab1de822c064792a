"""The page's address: it always names the view, and an opened link restores it.

A link is read when a browser session begins, and when it carries ``go`` (links inside the
app). Otherwise the address is only written: Streamlit may hand back an older one than the
last written, and following it would undo what the user has just done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from segviz import store
from segviz.construct import parameters
from segviz.memory import COMPONENTS
from segviz.systems import SYSTEMS
from segviz.ui.inspector.pins import pinned
from segviz.ui.settings import read_settings, write_moment, write_settings
from segviz.ui.state import Session, shown_keys
from segviz.ui.widgets.tree import VIEWS
from segviz.view.bookmark import MADE, Bookmark, decode, differing, encode, looks

GO = "go"

_VIEW_KEYS = ("grow-view", "ask-view")

# Fields that are kept under their own names, whatever is open: how a memory is made, and how
# it is looked at.
_MADE = ("unit", "system")
_SHARED = ("colour", "labels")


def arrive() -> None:
    """Follow the link this run came with, if there is one to follow; call it first."""
    link = {name: st.query_params[name] for name in st.query_params}
    first = "address" not in st.session_state
    st.session_state.setdefault("address", {})
    st.session_state.setdefault("arriving", None)
    if not link or not (first or GO in link):
        return
    link.pop(GO, None)
    bookmark, problems = decode(link)
    _open(bookmark)
    for key in _MADE:
        st.session_state[key] = getattr(bookmark, key)
    _set_parameters(bookmark)
    _look(bookmark, problems)


def opened(key: str, saved: store.Saved | None) -> None:
    """Take up the view of a session file when it has just been opened.

    ``key`` is the open file's; call it before what is looked at is drawn. A link that says
    more than which file to open goes before the file's own view.
    """
    if st.session_state.get("opened") == key:
        return
    st.session_state["opened"] = key
    arriving: Bookmark | None = st.session_state.get("arriving")
    linked = arriving is not None and looks(encode(arriving))
    if saved is None or saved.shown is None or linked:
        return
    # What is open stays open, whatever the file says of others.
    link = {name: saved.shown.link[name] for name in saved.shown.link if name not in MADE}
    if saved.system in SYSTEMS:
        link["system"] = saved.system
    _look(*decode(link))
    st.session_state["page-wanted"] = saved.shown.page


def wanted_page() -> str | None:
    """The page of a session file that has just been opened; asked for once."""
    page: str | None = st.session_state.pop("page-wanted", None)
    if page is not None:
        st.session_state["address"] = {}  # another page begins without one
    return page


def _look(bookmark: Bookmark, problems: list[str]) -> None:
    """Set what is looked at and how; the rest is for when the memory is there."""
    st.session_state["link-problems"] = problems
    st.session_state["arriving"] = bookmark
    for key in _SHARED:
        st.session_state[key] = getattr(bookmark, key)
    write_settings(bookmark.retrieval, bookmark.system)
    view = bookmark.view if bookmark.view in VIEWS else VIEWS[0]
    st.session_state.update(dict.fromkeys(_VIEW_KEYS, view))


def _open(bookmark: Bookmark) -> None:
    if bookmark.path is not None:
        st.session_state["source"], st.session_state["path"] = "Path", bookmark.path
    elif bookmark.upload is not None:
        st.session_state["source"] = "Upload"
    elif bookmark.sample is not None:
        st.session_state["source"], st.session_state["sample"] = "Sample", bookmark.sample


def _set_parameters(bookmark: Bookmark) -> None:
    """Every parameter of the system: as the link says, or its default."""

    def walk(kind: type, path: str, key: str) -> None:
        for parameter in parameters(kind):
            at, widget = path + parameter.name, f"{key}.{parameter.name}"
            registry = parameter.spec.registry
            default = parameter.default if registry is None else parameter.default.name
            value = bookmark.settings.get(at, default)
            st.session_state[widget] = value
            component = COMPONENTS[registry].get(value) if registry else None
            if isinstance(component, type):
                walk(component, f"{at}.", f"{widget}.{value}")

    walk(SYSTEMS[bookmark.system], "", bookmark.system)


def wanted_conversation() -> str | None:
    """Id of the conversation a link asks for, until it is open."""
    arriving: Bookmark | None = st.session_state.get("arriving")
    return arriving.conversation if arriving else None


def _open_now(arriving: Bookmark, session: Session) -> bool:
    """Whether the conversation of a link is open."""
    return arriving.conversation in (None, session.conversation.id)


def refuse(problem: str) -> None:
    """Say that a part of the link could not be followed."""
    st.session_state["link-problems"] = [*st.session_state.get("link-problems", []), problem]


def settle(session: Session) -> None:
    """What a link says about the memory that is now open."""
    arriving: Bookmark | None = st.session_state.get("arriving")
    here = arriving is not None and _open_now(arriving, session)
    if arriving is not None and here:
        _pin(arriving, session)
    _complain(arriving, session)
    if arriving is None or not here:
        return  # nothing to follow, or the file it belongs to is still to be opened
    st.session_state["arriving"] = None
    keys, total = shown_keys(session), len(session.memory.steps)
    state: dict[str, Any] = {}
    # What a link does not name is as usual, whatever was looked at before.
    if arriving.step is not None or keys["step"] in st.session_state:
        state[keys["step"]] = total if arriving.step is None else min(arriving.step, total)
    write_moment(arriving.retrieval, session)
    if arriving.text is not None:
        state |= {"origin": "Own question", keys["text"]: arriving.text}
    elif session.conversation.questions:
        last = len(session.conversation.questions) - 1
        asked = min(arriving.question or 0, last)
        state |= {"origin": "Dataset question", keys["question"]: asked}
    st.session_state.update(state)
    there = arriving.node is not None and arriving.node < len(session.memory.structure)
    session.select(arriving.node if there else None)


def _pin(arriving: Bookmark, session: Session) -> None:
    """Pin what the link pins, and nothing else."""
    there = [node for node in arriving.pins if node < len(session.memory.structure)]
    for node in arriving.pins:
        if node not in there:
            refuse(f"pins: there is no node {node} in this memory")
    if there or pinned(session):
        pinned(session)[:] = there


def _complain(arriving: Bookmark | None, session: Session) -> None:
    """Say what of a link could not be followed, literally."""
    problems = list(st.session_state.get("link-problems", []))
    if arriving is not None and arriving.conversation and not _open_now(arriving, session):
        problems.append(
            f"the conversation {arriving.conversation[:80]!r} is not in the open file; open the "
            "file that holds it and the rest of the link will apply"
        )
    if not problems:
        return
    with st.container(border=True, key="link-problems-shown"):
        st.markdown(":material/link_off: **Part of the link could not be followed.**")
        for problem in problems[:8]:
            st.text(problem)

        def dismiss() -> None:
            st.session_state["link-problems"] = []
            st.session_state["arriving"] = None

        st.button("Dismiss", key="dismiss-link", on_click=dismiss)


def current(session: Session) -> Bookmark:
    """The view as it is."""
    state, keys = st.session_state, shown_keys(session)
    origin = {"Sample": "sample", "Path": "path"}.get(state.get("source", "Sample"), "upload")
    named: dict[str, Any] = {name: state[name] for name in (*_MADE, *_SHARED) if name in state} | {
        origin: session.source if origin == "upload" else state.get(origin)
    }
    own = state.get("origin") == "Own question" or not session.conversation.questions
    total = len(session.memory.steps)
    step = state.get(keys["step"], total)
    return Bookmark(
        **named,
        conversation=_conversation(session),
        settings=_settings(session),
        text=(state.get(keys["text"]) or None) if own else None,
        question=None if own else (state.get(keys["question"]) or None),
        retrieval=read_settings(session),
        step=None if step == total else step,
        node=session.selected,
        view=next((state[key] for key in _VIEW_KEYS if state.get(key, VIEWS[0]) != VIEWS[0]), ""),
        pins=tuple(pinned(session)),
    )


def _conversation(session: Session) -> str | None:
    """Which of the file's conversations is open; one that another has joined goes by the
    first."""
    entries = session.corpus.entries
    if len(entries) < 2:
        return None
    if any(entry.id == session.conversation.id for entry in entries):
        return session.conversation.id
    chosen: int = st.session_state.get("conversation", 0)
    return entries[chosen].id


def _settings(session: Session) -> dict[str, Any]:
    kind = SYSTEMS.get(session.memory.system)
    return {} if kind is None else differing(kind, session.memory.settings)


def write(session: Session) -> None:
    """Let the address name the view; nothing is sent where it already does."""
    if st.session_state.get("arriving") is not None:
        return
    link = encode(current(session))
    if link != st.session_state["address"]:
        st.session_state["address"] = link
        st.query_params.from_dict(link)


def in_app(bookmark: Bookmark) -> Mapping[str, str]:
    """Parameters of a link inside the app, which is followed at once."""
    return {**encode(bookmark), GO: "1"}
