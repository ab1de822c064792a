"""Page Grow: watch the memory being built, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from segviz.pipeline import Memory
from segviz.steps import Add, Decision, Judgement, Revise, Step
from segviz.structure import Structure
from segviz.ui.address import write
from segviz.ui.exports import exports_panel
from segviz.ui.inspector import node_details, node_transcript
from segviz.ui.lists import diffs, transcript
from segviz.ui.metronome import metronome
from segviz.ui.operating import operations_panel
from segviz.ui.pins import pins_panel
from segviz.ui.places import level_label, named
from segviz.ui.shape import shape_panel, warnings
from segviz.ui.special import special_panel
from segviz.ui.state import Session, shown_keys
from segviz.ui.timeline import VIEWS, canvas_height, draw_canvas, draw_node_link, view_choice
from segviz.ui.typing import typing_panel
from segviz.ui.words import counted

# Seconds between steps and steps per beat. A beat repaints the whole panel, which takes
# Streamlit a quarter of a second, so faster play takes larger strides.
SPEEDS: dict[str, tuple[float, int]] = {"1×": (0.8, 1), "2×": (0.4, 1), "10×": (0.4, 5)}

PANEL = 340


def render(session: Session) -> None:
    """Draw the page."""
    st.session_state.setdefault(_position(session), len(session.memory.steps))
    if not _playing(session):
        st.session_state["playing"] = None  # another memory came between
    _panel(session)


def _position(session: Session) -> str:
    """Key of the step shown."""
    return shown_keys(session)["step"]


def _playing(session: Session) -> bool:
    return bool(st.session_state.get("playing") == session.key)


@st.fragment
def _panel(session: Session) -> None:
    key, total = _position(session), len(session.memory.steps)
    _transport(session, key, total)
    now: int = st.session_state[key]
    step = session.memory.steps[now - 1]
    structure = session.memory.at(now)
    if session.memory.laws == "segment-tree":  # what is too deep or wide is told of these
        warnings(structure, step.decision)
    if st.session_state.get("grow-view", VIEWS[0]) == VIEWS[0]:
        _tree(session, structure, step, now)
    else:
        draw_node_link(session, structure)
    special_panel(session, structure, now)
    left, right = st.columns([11, 10], gap="medium")
    with left:
        _heard(session, structure, step, now)
    with right:
        _decision(session, structure, step, now)
    pins_panel(session, structure)
    shape_panel(session, structure, now)
    _keep_playing(session, key, total)
    if not _playing(session):
        write(session)


def _keep_playing(session: Session, key: str, total: int) -> None:
    seconds, stride = SPEEDS[st.session_state.get("speed", "2×")]

    def advance() -> None:
        if _playing(session):
            st.session_state[key] = min(total, st.session_state[key] + stride)
            if st.session_state[key] == total:
                st.session_state["playing"] = None

    metronome(
        key="metronome",
        beat=st.session_state[key],
        seconds=seconds if _playing(session) else None,
        on_beat=advance,
    )


def _transport(session: Session, key: str, total: int) -> None:
    """Step, play and jump controls, and the slider."""

    def go(step: int) -> None:
        st.session_state["playing"] = None
        st.session_state[key] = min(max(step, 1), total)

    def move(by: int) -> None:
        # Relative to what holds when the click arrives: a fast second click may come
        # before the page has been drawn again.
        go(st.session_state[key] + by)

    now: int = st.session_state[key]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _step_button("First step", "skip_previous", go, 1, now == 1)
        _step_button("Back one step", "chevron_left", move, -1, now == 1)
        _play_button(session, key, total)
        _step_button("Forward one step", "chevron_right", move, 1, now == total)
        _step_button("Last step", "skip_next", go, total, now == total)
        _speed()
        _jump(session, go)
        view_choice("grow-view")
        typing_panel(session)
        operations_panel(session)
        exports_panel(session, session.memory.at(now))
    if total > 1:
        st.slider(
            f"Step of {total}",
            1,
            total,
            key=key,
            help="One step is one unit joining as a leaf. Steps count from 1, units from 0.",
            persist_state="session",
        )
    else:
        st.caption("This conversation makes a single leaf: there is one step.")


def _step_button(
    meaning: str, icon: str, action: Callable[[int], None], argument: int, disabled: bool
) -> None:
    st.button(
        meaning,  # for screen readers: style.py leaves only the icon to be seen
        icon=f":material/{icon}:",
        key=f"go-{icon}",
        help=meaning,
        on_click=action,
        args=(argument,),
        disabled=disabled,
    )


def _play_button(session: Session, key: str, total: int) -> None:
    def toggle() -> None:
        if _playing(session):
            st.session_state["playing"] = None
            return
        if st.session_state[key] == total:
            st.session_state[key] = 1
        st.session_state["playing"] = session.key

    playing = _playing(session)
    st.button(
        "Pause" if playing else "Play",
        icon=":material/pause:" if playing else ":material/play_arrow:",
        key="play",
        on_click=toggle,
        disabled=total == 1,
        help="Play from here; from the start when at the end",
    )


def _speed() -> None:
    st.segmented_control(
        "Speed",
        list(SPEEDS),
        default="2×",
        required=True,
        key="speed",
        label_visibility="collapsed",
        persist_state="session",
    )


def _jump(session: Session, go: Callable[[int], None]) -> None:
    """Jump to the first leaf of a session."""
    first: dict[int, int] = {}
    for unit in session.memory.units:
        first.setdefault(unit.session, unit.index)

    def jump() -> None:
        chosen = st.session_state.get("jump")
        if chosen is not None:
            go(first[chosen] + 1)
            st.session_state["jump"] = None

    def title(position: int) -> str:
        start = session.conversation.sessions[position].start
        return f"Session {position + 1}" + (f" · {start:%d %b %Y}" if start else "")

    st.selectbox(
        "Jump to",
        list(first),
        index=None,
        format_func=title,
        placeholder="Jump to session",
        key="jump",
        on_change=jump,
        label_visibility="collapsed",
        width=190,
    )


def _tree(session: Session, structure: Structure, step: Step, now: int) -> None:
    total = len(session.memory.steps)
    levels = int(session.memory.structure.level.max()) + 1
    # The axis grows in doublings: between two of them nothing on the canvas moves.
    axis = 40
    while axis < now:
        axis *= 2
    draw_canvas(
        session,
        structure,
        key="grow-tree",
        height=canvas_height(levels),
        mode="grow",
        step=now,
        decision=step.decision,
        added=[e.node for e in step.events if isinstance(e, Add)],
        revised=[e.node for e in step.events if isinstance(e, Revise)],
        total_units=min(axis, total),
        levels_total=levels,
        gutter=True,
    )


def _heard(session: Session, structure: Structure, step: Step, now: int) -> None:
    node = session.selected
    if node is not None and node < len(structure):
        node_details(session, structure, node, now)
        node_transcript(session, structure, node, key="grow-transcript", height=PANEL - 130)
        return
    if node is not None:
        st.caption(f"The selected node {node} has not appeared yet at this step.")
    st.markdown("**Transcript**, up to the leaf that has just joined")
    transcript(
        session.conversation,
        key="grow-transcript",
        height=PANEL,
        focus=step.unit.turn_ids[0],
        marked=set(step.unit.turn_ids),
        mark="new",
        until=step.unit.turn_ids[-1],
    )


def _decision(session: Session, structure: Structure, step: Step, now: int) -> None:
    st.markdown(f"**Step {now}**")
    st.text(step.note)
    decision = step.decision
    if decision is not None:
        st.text(decision.why)
        if decision.candidates:
            _candidates(session.memory, session.memory.at(now - 1), structure, decision)
    _changes(session, step, now)
    _figures(session, structure, step, now)


def _figures(session: Session, structure: Structure, step: Step, now: int) -> None:
    """The running cost in a row of numbers."""
    leaves = len(structure.leaves)
    distinct = len(np.unique(structure.carrier[structure.active]))
    written = sum(s.cost.annotated for s in session.memory.steps[:now])
    st.caption(
        f"{counted(len(structure), 'node')} · {distinct / leaves:.2f} per leaf · "
        f"{step.cost.modified} touched · {written / leaves:.2f} texts per leaf · "
        f"{1000 * step.cost.seconds:.1f} ms",
        help=(
            "**Nodes per leaf** counts single-child nodes once; the paper reports 1.25 on "
            "LoCoMo. **Touched**: nodes added or rewritten in this step. **Texts per leaf**: "
            "annotations written so far, each of which would be one model call. **ms**: time "
            "this step took when it was built."
        ),
    )


def _candidates(memory: Memory, before: Structure, after: Structure, decision: Decision) -> None:
    """The candidates from low to high, as they stood before the leaf joined (those that the
    step itself made, as they stand after it): the table twin of the marks beside the tree.
    Models that score fill other columns than models that answer with a word; empty ones
    are left out."""
    rows: list[dict[str, Any]] = []
    for item in decision.candidates:
        structure = before if item.node < len(before) else after
        start, stop = int(structure.start[item.node]), int(structure.stop[item.node])
        rows.append(
            {
                "level": level_label(memory, int(structure.level[item.node])),
                "outcome": _outcome(item, decision.chosen),
                "label": item.label or None,
                "similarity": item.score,
                "needed": item.threshold,
                "units": f"{start}–{stop - 1}" if stop - start > 1 else f"{start}",
                "node": item.node,
            }
        )
    # Only where the candidates are the whole frontier does none of them mean a new root.
    if decision.chosen is None and memory.laws == "segment-tree":
        above = 1 + max(int(before.level[item.node]) for item in decision.candidates)
        row = {"level": level_label(memory, above), "outcome": "new root", "units": "all"}
        rows.append(row)
    filled = [name for name in _WIDTHS if any(row.get(name) is not None for row in rows)]
    st.dataframe(
        [{name: row.get(name) for name in filled} for row in rows],
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(format="%.2f", width=_WIDTHS[name])
            if name in ("similarity", "needed")
            else st.column_config.Column(width=_WIDTHS[name])
            for name in filled
        },
        height=min(38 + 35 * len(rows), 190),
    )


_WIDTHS = {
    "level": 75,
    "outcome": 120,
    "label": 110,
    "similarity": 70,
    "needed": 70,
    "units": 75,
    "node": 55,
}


def _outcome(item: Judgement, chosen: int | None) -> str:
    if item.node == chosen:
        return "joined"
    if item.score is None:
        return "not joined"
    if item.threshold is not None and item.score < item.threshold:
        return "too far"
    return "enough, not taken"


def _changes(session: Session, step: Step, now: int) -> None:
    """What the step did to existing annotations, word by word."""
    before = session.memory.at(now - 1)
    changes = [
        (named(session, before, e.node), before.text[e.node], e.text)
        for e in step.events
        if isinstance(e, Revise) and e.text != before.text[e.node]
    ]
    if not changes:
        return
    with st.expander(f"Rewritten annotations ({len(changes)})"):
        diffs(changes, key="grow-diff")
