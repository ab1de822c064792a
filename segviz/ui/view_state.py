"""What a browser session looks at: the open file, the step, the question, the drawing, its
colours, the pinned nodes, and what is chosen on Sweep and Compare. Each is read and written here
alone.

Widgets of the sidebar and the pages hold most of it, under ``ui.keys``; links, session files
and other pages set it with these functions. How a question is asked is in ``ui.settings``.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import streamlit as st

from segviz.conversation import Question
from segviz.ui import keys
from segviz.ui.state import Session, remember, shows, starts
from segviz.view.bookmark import CHOICES, Bookmark
from segviz.view.look import Look
from segviz.view.story import Stop

VIEWS = ("Time axis", "Node-link", "Outline")
"""How a structure is drawn."""

_VIEW_KEYS = (keys.GROW_VIEW, keys.ASK_VIEW)
_MEMORIES_PINNED = 8


def read_file(session: Session) -> dict[str, Any]:
    """Returns the open file as fields of a bookmark: a sample's name, a path, or the key of what
    was uploaded or pasted."""
    state = st.session_state
    match state.get(keys.SOURCE, "Sample"):
        case "Sample":
            return {"sample": state.get(keys.SAMPLE)}
        case "Path":
            return {"path": state.get(keys.PATH)}
    return {"upload": session.source}


def write_file(bookmark: Bookmark) -> None:
    """Chooses the file a bookmark names; an upload is left to its owner."""
    state = st.session_state
    if bookmark.path is not None:
        state[keys.SOURCE], state[keys.PATH] = "Path", bookmark.path
    elif bookmark.upload is not None:
        state[keys.SOURCE] = "Upload"
    elif bookmark.sample is not None:
        state[keys.SOURCE], state[keys.SAMPLE] = "Sample", bookmark.sample


def read_step(session: Session) -> int | None:
    """Returns the step shown on Grow; None for the last."""
    total = len(session.memory.steps)
    step: int = st.session_state.get(keys.grow_step(session.key), total)
    return None if step == total else step


def write_step(session: Session, step: int | None) -> None:
    """Shows the memory after a step, None for the last."""
    key, total = keys.grow_step(session.key), len(session.memory.steps)
    if step is not None or key in st.session_state:
        st.session_state[key] = total if step is None else min(max(step, 1), total)


def go_to_step(session: Session, step: int) -> None:
    """Stops playing and show the memory after the nearest step there is."""
    st.session_state[keys.PLAYING] = None
    write_step(session, step)


def read_question(session: Session) -> tuple[int | None, str | None]:
    """Returns the index of the data set's question that was chosen, or one's own text. Both belong
    to the conversation, whatever memory is built of it."""
    text: str | None = st.session_state.get(keys.own_question(session.source))
    text = text if text and text.strip() else None
    if text is not None or not session.conversation.questions:
        return None, text
    return st.session_state.get(keys.question(session.source)), None


def picked_question(session: Session) -> Question | None:
    """Returns the data set's question that is asked; None for one's own."""
    index, text = read_question(session)
    questions = session.conversation.questions
    return None if text is not None or not questions else questions[index or 0]


def asked_question(session: Session) -> Question:
    """Returns the question that is asked: the data set's, or one's own with index -1, without text
    where none is typed."""
    _, text = read_question(session)
    return picked_question(session) or Question(-1, text or "", None, None, ())


def write_question(session: Session, index: int | None, text: str | None = None) -> None:
    """Asks a question of one's own where there is a ``text``, else one of the data set's; without
    either none has been chosen."""
    state, last = st.session_state, len(session.conversation.questions) - 1
    for key in (keys.own_question(session.source), keys.question(session.source), keys.RESCUED):
        state.pop(key, None)
    if text is not None:
        state[keys.own_question(session.source)] = text
    elif last >= 0 and index is not None:
        state[keys.question(session.source)] = min(index, last)


def chooses(
    name: str, default: Any, offered: Container[Any] = (), *, entry: str = "", page: str = ""
) -> dict[str, Any]:
    """Returns what a widget is called with that holds one of ``bookmark.CHOICES``, under its name
    or another ``entry``. A list keeps what of it is on offer; another value that is not ``offered``
    here, of a link or an earlier conversation, gives way to the default. ``()`` offers all.

    A choice of several pages names the ``page``, which then has a widget of its own: on another
    page Streamlit begins a widget of the same key at its first option, and that is sent back."""
    state, entry = st.session_state, entry or name
    state.setdefault(keys.USUAL, {})[entry] = default
    if entry in state and offered != ():
        value = state[entry]
        if isinstance(default, list):
            fits: Any = [one for one in value if one in offered]
        else:
            fits = value if value in offered else default
        if fits != value:
            state[entry] = fits
    if not page:
        return starts(entry, default)

    def write(value: Any) -> None:
        state[entry] = value

    return shows(f"{entry}-{page}", state.setdefault(entry, default), write)


def read_choices(session: Session) -> dict[str, Any]:
    """Returns what is chosen on Sweep and Compare, by the names of ``bookmark.CHOICES``, but for
    what is at its default."""
    state, usual, found = st.session_state, st.session_state.get(keys.USUAL, {}), {}
    for name in CHOICES:
        entry = _entry(name, session)
        value = state.get(entry)
        if value is not None and value != usual.get(entry):
            found[name] = tuple(value) if isinstance(value, list) else value
    return found


def write_choices(session: Session, choices: Mapping[str, Any]) -> None:
    """Sets what is chosen on Sweep and Compare; the rest is as by default. Call it before a page is
    drawn."""
    state = st.session_state
    for name in CHOICES:
        state.pop(_entry(name, session), None)
        if name in choices:
            state[_entry(name, session)] = choices[name]


def _entry(name: str, session: Session) -> str:
    """Returns the entry that holds a choice: its name, or one that belongs to the conversation or
    to other choices."""
    state = st.session_state
    system = state.get("varied-system", session.memory.system)
    parameter = keys.varied_parameter(system)
    others = {
        "compare-turns": keys.compare_turns(session.source),
        "varied-parameter": parameter,
        "varied-values": keys.varied_values(system, state.get(parameter)),
    }
    return others.get(name, name)


def view_shown(key: str) -> str:
    """Returns the drawing chosen by the widget with this key."""
    view: str = st.session_state.get(key, VIEWS[0])
    return view


def read_view() -> str:
    """Returns the drawing of the first page that does not show the time axis, "" for none."""
    return next((view for view in map(view_shown, _VIEW_KEYS) if view != VIEWS[0]), "")


def write_view(view: str) -> None:
    """Draws structures so on Grow and Ask; an unknown view means the time axis."""
    for key in _VIEW_KEYS:
        st.session_state[key] = view if view in VIEWS else VIEWS[0]


def read_story() -> tuple[tuple[Stop, ...], int]:
    """Returns the stops of the story that is told, and the number of the one shown, from 1."""
    story: tuple[tuple[Stop, ...], int] = st.session_state.get(keys.STORY, ((), 0))
    return story


def write_story(stops: Sequence[Stop], stop: int) -> None:
    """Tells a story, at one of its stops; none ends it."""
    st.session_state[keys.STORY] = tuple(stops), min(stop, len(stops))


def read_look() -> Look:
    """Returns the colours and labels of trees."""
    state = st.session_state
    return Look(state.get(keys.COLOUR, ""), state.get(keys.LABELS, ""))


def write_look(look: Look) -> None:
    """Sets the colours and labels of trees."""
    st.session_state[keys.COLOUR], st.session_state[keys.LABELS] = look.colour, look.labels


def pinned(session: Session) -> list[int]:
    """Returns the pinned nodes of this memory, at most two, oldest first; editable."""
    nodes: list[int] = remember("pins", session.key, _MEMORIES_PINNED, list)
    return nodes


def write_pins(session: Session, nodes: Sequence[int]) -> list[int]:
    """Pins these nodes and nothing else; returns those that the memory does not have."""
    there = [node for node in nodes if node < len(session.memory.structure)]
    if there or pinned(session):
        pinned(session)[:] = there
    return [node for node in nodes if node not in there]
