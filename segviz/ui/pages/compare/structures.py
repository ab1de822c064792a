"""Draws the structures of all systems on small canvases, and builds missing memories.

Built memories are kept for the browser session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from inspect import cleandoc
from typing import Literal

import numpy as np
import streamlit as st

from segviz.frontend.payload import tree_payload
from segviz.handover import HandoverError
from segviz.memory import Memory, build, paid
from segviz.plugins import foreign
from segviz.retrieval import Result
from segviz.systems import SYSTEMS
from segviz.tree import costs_of
from segviz.ui.settings import asked_question
from segviz.ui.state import AppSession, fingerprint, keep, peek, typed_turns
from segviz.ui.visit import building
from segviz.ui.widgets.canvas import tree_canvas
from segviz.ui.widgets.captions import cited, counted, trouble
from segviz.ui.widgets.charts import sentence_of
from segviz.view.coloring import Look
from segviz.view.scene import answered, keeps_time, scene_of
from segviz.waiting import check_cancelled, heartbeat, waited_for

PER_ROW = 3


def structures_panel(
    session: AppSession, ready: Mapping[str, Memory], results: Mapping[str, Result]
) -> None:
    """Draws one small canvas per system with its retrieved nodes; a selection shows in all."""
    gold = ", diamonds gold evidence" if asked_question(session).evidence else ""
    marked = f"Frames and ranks mark what was retrieved{gold}. " if results else ""
    # Aligned at the bottom, so that canvases below headings of different heights line up.
    side_by_side(
        ready,
        lambda name: _structure(session, name, ready, results.get(name)),
        "beside-structures",
        "bottom",
    )
    st.caption(
        f"Colours are sessions. {marked}A tree whose nodes are intervals of time lies on the time "
        "axis. Other trees are drawn in the order of their branches. Click a node to see the "
        "smallest node with the same turns in every structure."
    )


def side_by_side(
    ready: Mapping[str, Memory],
    draw: Callable[[str], None],
    what: str,
    align: Literal["top", "bottom"] = "top",
) -> None:
    """Draws one panel for each system, at most ``PER_ROW`` in a row, fewer on a narrow page.

    ``draw(name)`` draws the panel of a system. ``what`` begins the keys of the rows.
    """
    names = list(ready)
    for first in range(0, len(names), PER_ROW):
        row = names[first : first + PER_ROW]
        with st.container(key=f"{what}-{first}"):
            columns = st.columns(len(row), gap="medium", vertical_alignment=align)
        for column, name in zip(columns, row, strict=True):
            with column:
                draw(name)


def _structure(
    session: AppSession, name: str, ready: Mapping[str, Memory], result: Result | None
) -> None:
    kind, found = SYSTEMS[name], ready[name]
    structure = found.structure.collapsed
    st.markdown(f"**{sentence_of(kind.label)}**")
    nodes = counted(int(structure.active.sum()), "node")
    roots = counted(len(structure.roots), "root")
    with st.container(horizontal=True, wrap=False, gap="small"):
        seconds = float(costs_of(found.steps)["seconds"].sum())
        st.caption(f"{nodes}, {roots}", width="stretch")
        fidelity = foreign("systems", name) or kind.fidelity
        with st.popover(
            f"Fidelity: {fidelity}",
            type="tertiary",
            key=f"twin-{name}",
        ):
            if seconds:  # 0: opened, not built
                st.markdown(f"Built in {seconds:.2f} s.")
            if not keeps_time(found, structure):
                st.markdown("Its nodes are no intervals of time, so it is drawn by its branches.")
            st.markdown(cited(cleandoc(kind.__doc__ or "").partition("\n\n")[0]))
            st.markdown(f"Departures from the source of {sentence_of(kind.label)}:")
            st.markdown("\n".join(f"- {d}" for d in kind.departures) or "None.")
    _draw(session, name, ready, result)


def _draw(
    session: AppSession, name: str, ready: Mapping[str, Memory], result: Result | None
) -> None:
    """Draws one small canvas; a click selects the turns of a node in all of them."""
    memory, key = ready[name], f"compare-{name}"
    shown = scene_of(
        memory,
        memory.structure.collapsed,
        identity=built_key(session, name),
        look=Look("session", "none"),
        selected=holder(memory, _selected_turns(session)),
    )
    title = f"{session.conversation.id}, {SYSTEMS[name].label}"
    shown = replace(shown, title=title, measures={})
    if result is not None and len(result.structure) == len(shown.structure):
        gold = memory.gold(asked_question(session).evidence, result.structure)
        marked = answered(shown, result, gold).scored
        shown = replace(shown, scored=marked and replace(marked, before=result.after))
    drawn = shown.drawn()

    def select(box: int | None) -> None:
        here = drawn.node(box)
        select_turns(session, () if here is None else memory.turn_ids(here))

    # All canvases have the height of the tallest.
    levels = 1 + max(int(m.structure.level.max(initial=0)) for m in ready.values())
    height = min(164 + 48 * levels, 334)
    tree_canvas(tree_payload(drawn, legend=False), key=key, height=height, on_select=select)


def select_turns(session: AppSession, turns: tuple[str, ...]) -> None:
    """Selects these turns in every structure."""
    wanted, entry = set(turns), f"compare-turns-{session.source}"
    places = [at for at, turn in enumerate(session.conversation.turns) if turn.id in wanted]
    st.session_state[entry] = tuple(places) or None


def _selected_turns(session: AppSession) -> tuple[str, ...]:
    """Returns the ids of the selected turns that exist."""
    places = st.session_state.get(f"compare-turns-{session.source}") or ()
    turns = session.conversation.turns
    return tuple(turns[at].id for at in places if at < len(turns))


def holder(memory: Memory, turns: tuple[str, ...]) -> int | None:
    """Returns the node with the fewest units that covers all these turns; None without one."""
    if not turns:
        return None
    unit_of = {turn: unit.index for unit in memory.units for turn in unit.turn_ids}
    wanted = {unit_of[turn] for turn in turns if turn in unit_of}
    structure = memory.structure.collapsed
    active = np.flatnonzero(structure.active)
    wide = active[(structure.start[active] <= min(wanted)) & (structure.stop[active] > max(wanted))]
    best = None
    for node in wide[np.lexsort((wide, structure.level[wide]))].tolist():
        covered = structure.coverage(node)
        if wanted.issubset(covered) and (best is None or len(covered) < best[0]):
            best = (len(covered), node)
    return None if best is None else best[1]


COMPARED_KEPT = 12

# True after building was stopped; it then waits for a click.
_STOPPED = "compare-building-stopped"

# Most leaves that are built without a click: a second or two for each system.
_AUTOMATIC_UNITS = 400


def built_key(session: AppSession, name: str) -> str:
    """Returns the content key of a system's memory over the leaves of this session."""
    memory = session.memory
    typed = typed_turns(session.source)
    if name == memory.system:
        return session.key
    return fingerprint(session.source, typed, memory.unit, name, memory.embedder.name)


def cached(session: AppSession, name: str) -> Memory | None:
    """Returns the memory of a system if it is built, as the open one always is; else None."""
    if name == session.memory.system:
        return session.memory
    found: Memory | None = peek("compared", built_key(session, name))
    return found


def offer(session: AppSession, missing: list[str]) -> None:
    """Builds missing memories: immediately if that is quick and free, else on a click."""
    place = st.empty()
    with place.container():
        if _built(session, missing):
            place.empty()


def _built(session: AppSession, missing: list[str]) -> bool:
    labels = ", ".join(SYSTEMS[name].label for name in missing)
    quick = len(session.memory.units) <= _AUTOMATIC_UNITS and not st.session_state.get(_STOPPED)
    if not (quick and not paid(session.memory.embedder)) and not st.button(
        f"Build {sentence_of(labels)}", key="build-compared", icon=":material/play_arrow:"
    ):
        leaves = counted(len(session.memory.units), "leaf", "leaves")
        st.caption(f"Offline, a few hundred leaves take seconds; {leaves} may take minutes.")
        return False
    so_far = 0.0, "Building"
    bar = st.progress(*so_far)

    def beat() -> None:
        bar.progress(*so_far)

    st.button("Stop", icon=":material/stop:", key="stop-building", on_click=_stop)
    for number, name in enumerate(missing):
        label = sentence_of(SYSTEMS[name].label)

        def progress(done: int, total: int, number: int = number, label: str = label) -> None:
            nonlocal so_far
            check_cancelled()
            share = (number + done / total) / len(missing)
            so_far = share, f"Building {label}: {done} of {total} leaves"

        make = partial(
            build,
            session.conversation,
            name,
            session.memory.unit,
            embedder=session.memory.embedder,
            progress=progress,
        )
        try:
            with building(len(session.memory.units)), heartbeat(beat):
                keep("compared", built_key(session, name), COMPARED_KEPT, waited_for(make))
        except HandoverError as error:
            failed(name, error)
    bar.empty()
    st.session_state[_STOPPED] = False
    return all(cached(session, name) is not None for name in missing)


def _stop() -> None:
    st.session_state[_STOPPED] = True


def failed(name: str, error: HandoverError) -> None:
    """Says that code from outside segviz failed in this system; the others are compared."""
    trouble(f"Left out: {sentence_of(SYSTEMS[name].label)}.", error, st.warning)
