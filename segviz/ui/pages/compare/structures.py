"""Draws the structures of all systems on small canvases, and builds missing memories.

Built memories are kept for the browser session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from inspect import cleandoc

import numpy as np
import streamlit as st

from segviz.frontend.payload import tree_payload
from segviz.memory import Memory, build, paid
from segviz.plugins import foreign
from segviz.systems import SYSTEMS
from segviz.tree import costs_of
from segviz.ui.pages.compare import Comparing, built_key
from segviz.ui.state import AppSession
from segviz.ui.widgets.canvas import CanvasActions, tree_canvas
from segviz.ui.widgets.captions import cited, counted
from segviz.ui.widgets.charts import sentence_of
from segviz.ui.widgets.waiting import PLAY, Job, JobPart, Progress, labels
from segviz.view import coloring, scene


def structures_panel(compared: Comparing) -> None:
    """Draws one small canvas per system with its retrieved nodes; a selection shows in all."""
    gold = ", diamonds gold evidence" if compared.question.evidence else ""
    marked = f"Frames and ranks mark what was retrieved{gold}. " if compared.results else ""
    side_by_side([*compared.memories], partial(_structure, compared), "structures")
    st.caption(
        f"Colours are sessions. {marked}A tree whose nodes are intervals of time lies on the time "
        "axis, others in the order of their branches. Click a node to see the smallest node with "
        "the same turns in every structure."
    )


def side_by_side(names: Sequence[str], draw: Callable[[str], None], what: str) -> None:
    """Draws equally wide panels of systems; a row has four, or fewer on a narrow page.

    ``draw(name)`` draws the panel of a system. ``what`` is unique on the page.
    """
    with st.container(key=f"each-{min(len(names), 5)}-{what}"):
        columns = st.columns(len(names), gap="medium")
    for column, name in zip(columns, names, strict=True):
        with column:
            draw(name)


def _structure(compared: Comparing, name: str) -> None:
    """Draws counts, fidelity and canvas of one system."""
    kind, memory = SYSTEMS[name], compared.memories[name]
    structure = memory.structure.collapsed
    st.markdown(f"**{sentence_of(kind.label)}**")
    nodes = counted(int(structure.active.sum()), "node")
    roots = counted(len(structure.roots), "root")
    with st.container(horizontal=True, wrap=False, gap="small"):
        seconds = float(costs_of(memory.steps)["seconds"].sum())
        st.caption(f"{nodes}, {roots}", width="stretch")
        # The details of a system are one click away, so that canvases stay beside each other.
        fidelity = foreign("systems", name) or kind.fidelity
        with st.popover(f"Fidelity: {fidelity}", type="tertiary", key=f"twin-{name}"):
            if seconds:  # 0: opened, not built
                st.markdown(f"Built in {seconds:.2f} s.")
            if not scene.keeps_time(memory, structure):
                st.markdown("Its nodes are no intervals of time, so it is drawn by its branches.")
            st.markdown(cited(cleandoc(kind.__doc__ or "").partition("\n\n")[0]))
            st.markdown(f"Departures from the source of {sentence_of(kind.label)}:")
            st.markdown("\n".join(f"- {d}" for d in kind.departures) or "None.")
    _draw(compared, name)


def _draw(compared: Comparing, name: str) -> None:
    """Draws one small canvas; a click selects the turns of a node in all of them."""
    session, memory = compared.session, compared.memories[name]
    turns = session.conversation.turns
    places = st.session_state.get(f"compare-turns-{session.source}") or ()
    selected = tuple(turns[at].id for at in places if at < len(turns))
    # A result of an earlier state of the memory cannot be marked in the whole structure.
    result = compared.results.get(name)
    marks = result is not None and len(result.structure) == len(memory.structure)
    structure = result.structure if result and marks else memory.structure.collapsed
    labels(memory, structure)
    shown = scene.scene_of(
        memory,
        structure,
        identity=compared.key(name),
        look=coloring.Look("session", "none"),
        selected=holder(memory, selected),
    )
    title = f"{session.conversation.id}, {compared.label(name)}"
    shown = replace(shown, title=title, measures={})
    if result and marks:
        gold = memory.gold(compared.question, result.structure)
        marked = scene.answered(shown, result, gold).scored
        shown = replace(shown, scored=marked and replace(marked, before=result.after))
    drawn = shown.drawn()

    def select(box: int | None) -> None:
        node = drawn.node(box)
        select_turns(session, () if node is None else memory.turn_ids(node))

    # All canvases have the height of the tallest.
    memories = compared.memories.values()
    levels = 1 + max(int(one.structure.level.max(initial=0)) for one in memories)
    height = min(102 + 48 * levels, 290)
    payload = tree_payload(drawn, legend=False)
    actions = CanvasActions(select=select)
    tree_canvas(payload, key=f"compare-{name}", height=height, actions=actions)


def select_turns(session: AppSession, turns: tuple[str, ...]) -> None:
    """Selects these turns in every structure."""
    wanted, entry = set(turns), f"compare-turns-{session.source}"
    places = [at for at, turn in enumerate(session.conversation.turns) if turn.id in wanted]
    st.session_state[entry] = tuple(places) or None


def holder(memory: Memory, turns: tuple[str, ...]) -> int | None:
    """Returns the node with the fewest units that covers all these turns; None without one.

    Turns that the unit rule drops do not count.
    """
    unit_of = {turn: unit.index for unit in memory.units for turn in unit.turn_ids}
    wanted = {unit_of[turn] for turn in turns if turn in unit_of}
    if not wanted:
        return None
    structure = memory.structure.collapsed
    # Only nodes whose span includes all wanted units can cover them; lower levels come first.
    active = np.flatnonzero(structure.active)
    wide = active[(structure.start[active] <= min(wanted)) & (structure.stop[active] > max(wanted))]
    best = None
    for node in wide[np.lexsort((wide, structure.level[wide]))].tolist():
        covered = structure.coverage(node)
        if wanted.issubset(covered) and (best is None or len(covered) < best[0]):
            best = (len(covered), node)
    return None if best is None else best[1]


COMPARED_KEPT = 12

# Most leaves that are built without a click: a second or two for each system.
_AUTOMATIC_UNITS = 400


def build_missing(session: AppSession, missing: Sequence[str]) -> dict[str, Memory]:
    """Builds missing memories: immediately if that is quick and free, else on a click.

    Returns:
        The built memories by system.
    """
    memory, labels = session.memory, {name: sentence_of(SYSTEMS[name].label) for name in missing}
    leaves = len(memory.units)

    def part(name: str) -> JobPart[Memory]:
        def make(progress: Progress) -> Memory:
            # The open system has its parameters; it is built anew where its texts are written.
            settings = memory.settings if name == memory.system else {}
            return build(
                session.conversation,
                name,
                memory.unit,
                embedder=memory.embedder,
                progress=progress,
                **settings,
            )

        def text(done: int, total: int) -> str:
            return f"Building {labels[name]}: {done} of {total} leaves" if total else "Building"

        return JobPart(built_key(session, name), make, text)

    # After Stop nothing is built without a click, whichever systems are chosen next.
    job = Job(
        "compared",
        COMPARED_KEPT,
        ", ".join(missing),
        f"Build {sentence_of(', '.join(SYSTEMS[name].label for name in missing))}",
        "build-compared",
        PLAY,
        note=lambda: (
            f"Offline, a few hundred leaves take seconds; {counted(leaves, 'leaf', 'leaves')} "
            "may take minutes."
        ),
        automatic=lambda: leaves <= _AUTOMATIC_UNITS and not paid(memory.embedder),
        scope="every system",
        stop="stop-building",
        leaves=leaves,
        label_of=labels.__getitem__,
    )
    return job.values({name: part(name) for name in missing}) or {}
