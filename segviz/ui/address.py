"""Address of the page: it always names the view, and an opened link restores the view.

It names conversation, unit rule, system, question, settings, step, node, view, colours and pins,
and what the widgets of Sweep and Compare are set to (``state.linked``). Streamlit can keep a widget
in the address by itself, but forgets it where a later run draws the widget at another place, and
adds an entry to the history when its page is left.

A link is read when a browser session begins, when a page opens with one, and after Back or
Forward. Otherwise the address is only written: Streamlit may return an older one than the last
written, and following it would undo the user's last change. :func:`arrive` chooses the file and
the system before the sidebar is drawn. The bookmark then waits under ``_ARRIVING`` until its
conversation is open, and :func:`settle` shows the rest.

The script ``address`` of the frontend writes the address. Streamlit itself would add an entry to
the history with every change, and Back would pass through every setting.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qs

import streamlit as st

from segviz import store
from segviz.construct import parameters
from segviz.memory import COMPONENTS
from segviz.retrieval import RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.ui import keys
from segviz.ui.settings import (
    read_question,
    read_settings,
    write_beside,
    write_question,
    write_settings,
)
from segviz.ui.state import MEMORIES_KEPT, AppSession, read_linked, remember, turn_to, write_linked
from segviz.view.bookmark import MADE, Bookmark, build_name, decode, differing, encode, looks
from segviz.view.coloring import Look

_LINK_PROBLEMS = "link-problems"

_WRITTEN = "address-written"

_ARRIVING = "arriving"  # the bookmark that is being followed

_KEPT = ("embed", "embed_options")  # parameters that Streamlit reads itself

_WENT = "went"  # the link after Back or Forward, until it has been followed

VIEWS = ("Time axis", "Node-link", "Outline")
"""Ways to draw a structure on Grow and Ask."""

_MEMORIES_PINNED = 8


# --- links -----------------------------------------------------------------------------


def arrive(page: str) -> None:
    """Reads the address and chooses its file and system; call it before the sidebar.

    A link counts when a browser session begins, on another page, and after Back or Forward.
    """
    state = st.session_state
    given = {name: st.query_params.get_all(name) for name in st.query_params}
    first, turned = _ARRIVING not in state, turn_to(page)
    state.setdefault(_ARRIVING, None)
    link = state.get(_WENT, given if first or turned else {})
    link = {name: link[name] for name in link if name not in _KEPT}
    if not link:
        return
    bookmark, problems = decode({name: values[-1] for name, values in link.items()})
    problems += [
        f"{name[:80]!r} is given {len(values)} times; the last counts"
        for name, values in link.items()
        if len(values) > 1
    ]
    _write_file(bookmark)
    _write_memory(bookmark)
    write_beside(bookmark.beside)
    state[_ARRIVING], state[_LINK_PROBLEMS] = bookmark, problems


def went(sent: object) -> None:
    """Stores the link after Back or Forward, as the browser sent it; the next run follows it."""
    match sent:
        case {"at": int(at), "search": str(search)}:
            _written()["went"] = at
            st.session_state[_WENT] = parse_qs(search.removeprefix("?"))


def opened(key: str, saved: store.Saved | None) -> None:
    """Restores the view of a session file that has just been opened; call it before the page.

    ``key`` identifies the open file. A link that has parts about the display has priority over
    the view of the file.
    """
    if st.session_state.get("opened") == key:
        return
    st.session_state["opened"] = key
    arriving: Bookmark | None = st.session_state.get(_ARRIVING)
    linked = arriving is not None and looks(encode(arriving))
    if saved is None or saved.shown is None or linked:
        return
    link = {name: saved.shown.link[name] for name in saved.shown.link if name not in MADE}
    own = {"system": saved.system} if saved.system in SYSTEMS else {}
    st.session_state[_ARRIVING], st.session_state[_LINK_PROBLEMS] = decode(link | own)
    st.session_state[keys.PAGE_WANTED] = saved.shown.page


def wanted_conversation() -> str | None:
    """Returns the id of the conversation that a link names, until it is open."""
    arriving: Bookmark | None = st.session_state.get(_ARRIVING)
    return arriving.conversation if arriving else None


def settle(session: AppSession | None) -> None:
    """Shows the remaining parts of a link in the open memory; call it after the sidebar.

    A run that ends earlier leaves a link of Back or Forward to the next run. The browser then sends
    old values of the sidebar, which the link must replace.
    """
    st.session_state.pop(_WENT, None)
    if session is None:
        return
    arriving: Bookmark | None = st.session_state.get(_ARRIVING)
    here = arriving is not None and arriving.conversation in (None, session.conversation.id)
    if arriving is not None and here:
        st.session_state[_ARRIVING] = None
        show(session, arriving)
        nodes, questions = len(session.memory.structure), len(session.conversation.questions)
        named = [
            ("question", "question", arriving.question, questions),
            ("node", "node", arriving.node, nodes),
            *(("pins", "node", node, nodes) for node in arriving.pins),
        ]
        st.session_state[_LINK_PROBLEMS] += [
            f"{name}: there is no {what} {number} here"
            for name, what, number, count in named
            if number is not None and number >= count
        ]
    _show_problems(None if here else arriving)


def show(session: AppSession, bookmark: Bookmark) -> None:
    """Shows the view of a bookmark in the open memory; fields it does not name get defaults."""
    count = len(session.memory.structure)
    write_look(Look(bookmark.colour, bookmark.labels, bookmark.axis))
    write_view(bookmark.view)
    st.session_state[keys.SWEEP_CELL] = bookmark.sweep_cell
    write_beside(bookmark.beside)
    write_step(session, bookmark.step)
    write_question(session, bookmark.question, bookmark.text)
    write_settings(session, bookmark.retrieval)
    write_linked(bookmark.controls)
    pinned(session)[:] = [node for node in bookmark.pins if node < count]
    there = bookmark.node is not None and bookmark.node < count
    session.select(bookmark.node if there else None)


def current(session: AppSession, settings: RetrievalSettings | None = None) -> Bookmark:
    """Returns the current view; ``settings`` are the current ones, read if they are missing."""
    question, text = read_question(session)
    look, view = read_look(), read_view()
    system = session.memory.system
    return Bookmark(
        **_read_file(session.source),
        **session.in_link,
        unit=st.session_state.get(keys.UNIT, Bookmark.unit),
        texts=st.session_state.get(keys.TEXTS, Bookmark.texts),
        # A memory file has its own system, perhaps one that is not installed.
        system=system if system in SYSTEMS else st.session_state.get(keys.SYSTEM, Bookmark.system),
        question=question,
        text=text,
        retrieval=settings or read_settings(session),
        step=read_step(session),
        node=session.selected,
        view="" if view == VIEWS[0] else view,
        **asdict(look),
        pins=tuple(pinned(session)),
        sweep_cell=st.session_state.get(keys.SWEEP_CELL),
        beside=st.session_state.get(keys.BESIDE),
        controls=read_linked(),
    )


def message(view: Callable[[], Bookmark]) -> Mapping[str, Any]:
    """Returns the message for the browser script ``address``, which writes a new link.

    The message has the link of a ``view``, such as ``current``, and a number. While a link is
    followed it is the last message.
    """
    written = _written()
    if st.session_state.get(_ARRIVING) is None:
        written["number"] += 1
        written["link"] = encode(view())
    return written


def ordered(
    source: str, conversation: str | None, system: str, settings: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Returns the :func:`message` of a memory that waits to be built.

    So a page that is loaded again during a long build, or after the server was killed, offers the
    same build. ``source`` identifies the conversation, ``conversation`` is its id, if the file has
    several. ``settings`` are the parameters of the system, as in ``Memory.settings``.
    """
    return message(
        lambda: Bookmark(
            **_read_file(source),
            conversation=conversation,
            unit=st.session_state.get(keys.UNIT, Bookmark.unit),
            texts=st.session_state.get(keys.TEXTS, Bookmark.texts),
            system=system,
            settings=differing(SYSTEMS[system], settings),
        )
    )


def _written() -> dict[str, Any]:
    """Returns the last message to the browser.

    It has the link and its number, the id of the server session, and the number of the last Back
    or Forward.
    """
    visit = secrets.token_hex(8)
    new = {"visit": visit, "number": 0, "went": 0, "link": {}, "kept": _KEPT}
    written: dict[str, Any] = st.session_state.setdefault(_WRITTEN, new)
    return written


def _read_file(source: str) -> dict[str, Any]:
    """Returns the open file as fields of a bookmark: sample name, path, or key of an upload."""
    state = st.session_state
    match state.get(keys.SOURCE, "Sample"):
        case "Sample":
            return {"sample": state.get(keys.SAMPLE)}
        case "Path":
            return {"path": state.get(keys.PATH)}
    return {"upload": source}


def _write_file(bookmark: Bookmark) -> None:
    """Chooses the file of a bookmark in the sidebar. The user must upload an upload again."""
    state = st.session_state
    if bookmark.path is not None:
        state[keys.SOURCE], state[keys.PATH] = "Path", bookmark.path
    elif bookmark.upload is not None:
        state[keys.SOURCE] = "Upload"
    elif bookmark.sample is not None:
        state[keys.SOURCE], state[keys.SAMPLE] = "Sample", bookmark.sample


def _write_memory(bookmark: Bookmark) -> None:
    """Sets unit rule, texts, system and all parameters to those of a link, or to defaults."""

    def walk(kind: type, path: str, owner: str) -> None:
        """Sets the parameters of a system or part, whose keys begin with ``owner``."""
        for parameter in parameters(kind):
            at, key = path + parameter.name, keys.parameter(owner, parameter.name)
            registry = parameter.spec.registry
            default = parameter.default if registry is None else parameter.default.name
            value = bookmark.settings.get(at, default)
            st.session_state[key] = value
            component = COMPONENTS[registry].get(value) if registry else None
            if isinstance(component, type):
                walk(component, f"{at}.", keys.parameter(key, value))

    st.session_state[keys.UNIT], st.session_state[keys.SYSTEM] = bookmark.unit, bookmark.system
    st.session_state[keys.TEXTS] = bookmark.texts
    walk(SYSTEMS[bookmark.system], "", bookmark.system)


def _show_problems(elsewhere: Bookmark | None) -> None:
    """Draws the unusable parts of a link as plain text.

    ``elsewhere`` is the bookmark of a link to another conversation.
    """
    problems = list(st.session_state.get(_LINK_PROBLEMS, []))
    if elsewhere is not None and elsewhere.conversation:
        problems.append(
            f"the conversation {elsewhere.conversation[:80]!r} is not in the open file; open its "
            "file to apply the rest of the link"
        )
    if not problems:
        return
    with st.container(border=True, key="link-problems-shown"):
        st.markdown(":material/link_off: **Part of the link does not apply here.**")
        for problem in problems[:8]:
            st.text(problem)

        def dismiss() -> None:
            st.session_state[_LINK_PROBLEMS] = []
            st.session_state[_ARRIVING] = None

        st.button("Dismiss", key="dismiss-link", on_click=dismiss)


# --- the view --------------------------------------------------------------------------


def read_step(session: AppSession) -> int | None:
    """Returns the step shown on Grow; None for the last."""
    total = len(session.memory.steps)
    step: int = st.session_state.get(session.grow_step, total)
    return None if step == total else step


def write_step(session: AppSession, step: int | None) -> None:
    """Shows the memory after the nearest existing step (None: the last), and stops playing."""
    total = len(session.memory.steps)
    st.session_state[keys.PLAYING] = None
    nearest = total if step is None else min(max(step, 1), total)
    st.session_state[session.grow_step] = nearest


def read_view() -> str:
    """Returns the drawing of structures, one of ``VIEWS``."""
    view: str = st.session_state.get("view", VIEWS[0])
    return view


def write_view(view: str) -> None:
    """Sets the drawing of structures on Grow and Ask; an unknown one means the time axis."""
    st.session_state["view"] = view if view in VIEWS else VIEWS[0]


def read_look() -> Look:
    """Returns the colours, labels and axis of trees."""
    look: Look = st.session_state.get("look", Look())
    return look


def write_look(look: Look) -> None:
    """Sets the colours, labels and axis of trees."""
    st.session_state["look"] = look


def other_builds(session: AppSession) -> dict[str, Bookmark]:
    """Returns the builds of the same units that a second tree may show, by name, newest first."""
    known: list[Bookmark] = remember(keys.BUILDS, session.axis, MEMORIES_KEPT, list)
    return {build_name(b, session.build): b for b in reversed(known) if b != session.build}


def pinned(session: AppSession) -> list[int]:
    """Returns the list of pinned nodes of this memory, at most two, oldest first.

    The caller may change the list.
    """
    nodes: list[int] = remember("pins", session.key, _MEMORIES_PINNED, list)
    return nodes
