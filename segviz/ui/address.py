"""The page's address: it always names the view, and an opened link restores it.

A link is read when a browser session begins, and when it carries ``go`` (links inside the
app). Otherwise the address is only written: Streamlit may hand back an older one than the
last written, and following it would undo what the user has just done.

A link is followed in two parts. What does not depend on the open memory (file, system,
parameters, retrieval settings, drawing) is set before the sidebar is drawn, by
:func:`arrive`. The bookmark then waits under ``keys.ARRIVING`` until its conversation is
open, and :func:`settle` sets the rest (step, question, node, pins, choices of Sweep and Compare).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from segviz import store
from segviz.construct import parameters
from segviz.memory import COMPONENTS
from segviz.systems import SYSTEMS
from segviz.ui import keys, view_state
from segviz.ui.settings import read_settings, write_moment, write_settings
from segviz.ui.state import Session
from segviz.view.bookmark import MADE, Bookmark, decode, differing, encode, looks
from segviz.view.look import Look
from segviz.view.story import Stop

GO = "go"


def arrive() -> None:
    """Follows the link this run came with, if there is one to follow; call it first."""
    link = {name: st.query_params[name] for name in st.query_params}
    first = keys.ARRIVING not in st.session_state
    st.session_state.setdefault(keys.ARRIVING, None)
    if not link or not (first or GO in link):
        return
    link.pop(GO, None)
    bookmark, problems = decode(link)
    view_state.write_file(bookmark)
    _write_memory(bookmark)
    _write_view(bookmark, problems)
    view_state.write_story(bookmark.story, bookmark.stop)
    if bookmark.story and not bookmark.stop:
        tell(bookmark.story, 1, bookmark.system)
        arriving = replace(st.session_state[keys.ARRIVING], conversation=bookmark.conversation)
        st.session_state[keys.ARRIVING] = arriving


def opened(key: str, saved: store.Saved | None) -> None:
    """Takes up the view of a session file when it has just been opened.

    ``key`` is the open file's; call it before what is looked at is drawn. A link that says
    more than which file to open goes before the file's own view.
    """
    if st.session_state.get(keys.OPENED) == key:
        return
    st.session_state[keys.OPENED] = key
    arriving = _arriving()
    linked = arriving is not None and looks(encode(arriving))
    if saved is None or saved.shown is None or linked:
        return
    shown = _follow(saved.shown.page, saved.shown.link, saved.system)
    view_state.write_story(shown.story, shown.stop)


def tell(stops: Sequence[Stop], stop: int, system: str) -> None:
    """Tells a story of the memory that is open, of this ``system``, from one of its stops."""
    view_state.write_story(stops, stop)
    if stops:
        _follow(stops[stop - 1].page, stops[stop - 1].link, system)


def _follow(page: str, link: Mapping[str, str], system: str) -> Bookmark:
    """Looks at what a link says, on that page. What is open stays open, whatever the link says of
    others."""
    looked = {name: link[name] for name in link if name not in MADE}
    if system in SYSTEMS:
        looked["system"] = system
    bookmark, problems = decode(looked)
    _write_view(bookmark, problems)
    st.session_state[keys.PAGE_WANTED] = page
    return bookmark


def wanted_page() -> str | None:
    """Returns, once, the page of a session file that has just been opened."""
    page: str | None = st.session_state.pop(keys.PAGE_WANTED, None)
    return page


def wanted_conversation() -> str | None:
    """Returns the id of the conversation a link asks for, until it is open."""
    arriving = _arriving()
    return arriving.conversation if arriving else None


def settle(session: Session) -> None:
    """Sets what a link says about the memory that is now open. What it does not name is as
    usual, whatever was looked at before."""
    arriving = _arriving()
    here = arriving is not None and arriving.conversation in (None, session.conversation.id)
    if arriving is not None and here:
        st.session_state[keys.LINK_PROBLEMS] += [
            f"pins: there is no node {node} in this memory"
            for node in view_state.write_pins(session, arriving.pins)
        ]
    _show_problems(None if here else arriving)
    if arriving is None or not here:
        return  # nothing to follow, or the file it belongs to is still to be opened
    st.session_state[keys.ARRIVING] = None
    view_state.write_step(session, arriving.step)
    view_state.write_question(session, arriving.question, arriving.text)
    view_state.write_choices(session, arriving.choices)
    write_moment(arriving.retrieval, session)
    there = arriving.node is not None and arriving.node < len(session.memory.structure)
    session.select(arriving.node if there else None)


def current(session: Session) -> Bookmark:
    """Returns the view as it is."""
    question, text = view_state.read_question(session)
    look = view_state.read_look()
    stops, stop = view_state.read_story()
    kind = SYSTEMS.get(session.memory.system)
    return Bookmark(
        **_read_memory(session),
        **view_state.read_file(session),
        conversation=_conversation(session),
        settings={} if kind is None else differing(kind, session.memory.settings),
        question=question,
        text=text,
        retrieval=read_settings(session),
        step=view_state.read_step(session),
        node=session.selected,
        view=view_state.read_view(),
        colour=look.colour,
        labels=look.labels,
        pins=tuple(view_state.pinned(session)),
        story=stops,
        stop=stop,
        choices=view_state.read_choices(session),
    )


def write(session: Session) -> None:
    """Lets the address name the view; nothing is sent where it already does."""
    if _arriving() is not None:
        return
    link = encode(current(session))
    # Opening another page clears the address: what it says now counts, not what was written.
    if link != st.query_params.to_dict():
        st.query_params.from_dict(link)


def in_app(bookmark: Bookmark) -> Mapping[str, str]:
    """Returns the parameters of a link inside the app, which is followed at once."""
    return {**encode(bookmark), GO: "1"}


def _arriving() -> Bookmark | None:
    arriving: Bookmark | None = st.session_state.get(keys.ARRIVING)
    return arriving


def _write_view(bookmark: Bookmark, problems: list[str]) -> None:
    """Sets what is looked at and how; the rest is for when the memory is there."""
    st.session_state[keys.LINK_PROBLEMS] = problems
    st.session_state[keys.ARRIVING] = bookmark
    view_state.write_look(Look(bookmark.colour, bookmark.labels))
    write_settings(bookmark.retrieval, bookmark.system)
    view_state.write_view(bookmark.view)


_MEMORY = {"unit": keys.UNIT, "system": keys.SYSTEM}


def _read_memory(session: Session) -> dict[str, Any]:
    """Reads unit rule and system, as chosen in the sidebar; a memory file has its own system."""
    state, system = st.session_state, session.memory.system
    chosen = {name: state[key] for name, key in _MEMORY.items() if key in state}
    return chosen | ({"system": system} if system in SYSTEMS else {})


def _write_memory(bookmark: Bookmark) -> None:
    """Chooses unit rule, system, and every parameter of the system: as the link says, or its
    default."""

    def walk(kind: type, path: str, owner: str) -> None:
        for parameter in parameters(kind):
            at, key = path + parameter.name, keys.parameter(owner, parameter.name)
            registry = parameter.spec.registry
            default = parameter.default if registry is None else parameter.default.name
            value = bookmark.settings.get(at, default)
            st.session_state[key] = value
            component = COMPONENTS[registry].get(value) if registry else None
            if isinstance(component, type):
                walk(component, f"{at}.", keys.parameter(key, value))

    for name, key in _MEMORY.items():
        st.session_state[key] = getattr(bookmark, name)
    walk(SYSTEMS[bookmark.system], "", bookmark.system)


def _conversation(session: Session) -> str | None:
    """Returns the id of the open conversation where the file holds several. One that another has
    joined goes by the first."""
    entries = session.corpus.entries
    if len(entries) < 2:
        return None
    if any(entry.id == session.conversation.id for entry in entries):
        return session.conversation.id
    chosen: int = st.session_state.get(keys.CONVERSATION, 0)
    return entries[chosen].id


def _show_problems(elsewhere: Bookmark | None) -> None:
    """Says what of a link could not be followed, literally; all of one whose conversation is not
    open."""
    problems = list(st.session_state.get(keys.LINK_PROBLEMS, []))
    if elsewhere is not None and elsewhere.conversation:
        problems.append(
            f"the conversation {elsewhere.conversation[:80]!r} is not in the open file; open the "
            "file that holds it and the rest of the link will apply"
        )
    if not problems:
        return
    with st.container(border=True, key="link-problems-shown"):
        st.markdown(":material/link_off: **Part of the link could not be followed.**")
        for problem in problems[:8]:
            st.text(problem)

        def dismiss() -> None:
            st.session_state[keys.LINK_PROBLEMS] = []
            st.session_state[keys.ARRIVING] = None

        st.button("Dismiss", key="dismiss-link", on_click=dismiss)
