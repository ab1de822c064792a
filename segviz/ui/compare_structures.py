"""Compare: structures side by side, and their shapes in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from segviz.frontend.payload import tree_payload
from segviz.pipeline import Memory
from segviz.published import SHAPES
from segviz.shape import Shape, shape
from segviz.systems import SYSTEMS
from segviz.ui.canvas import clicked, tree_canvas
from segviz.ui.compared import Built, built_key
from segviz.ui.state import Session

PER_ROW = 3


def structures_panel(session: Session, ready: Mapping[str, Built]) -> None:
    """One small canvas per system, selections linked through source turns."""
    st.caption(
        "Every memory coloured by session, oldest violet to newest gold. A tree that follows "
        "time lies on the time axis; the others are drawn in the order of their own branches, "
        "so mixed colours in a node are sessions it mixes. Click a node: the other structures "
        "show the smallest node that holds the same turns."
    )
    names = list(ready)
    for row in range(0, len(names), PER_ROW):
        columns = st.columns(min(PER_ROW, len(names)), gap="medium")
        for column, name in zip(columns, names[row : row + PER_ROW], strict=False):
            with column:
                _structure(session, name, ready)


def _structure(session: Session, name: str, ready: Mapping[str, Built]) -> None:
    kind, found = SYSTEMS[name], ready[name]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{kind.label}**")
        with st.popover(kind.fidelity, type="tertiary"):
            st.markdown("\n".join(f"- {d}" for d in kind.departures) or "No departures.")
    structure = found.memory.structure
    st.caption(
        f"{int(structure.active.sum())} nodes, {len(structure.roots)} "
        f"{'root' if len(structure.roots) == 1 else 'roots'}, built in {found.seconds:.1f} s"
        + ("" if found.drawn is None else "; not in order of time")
    )
    _draw(session, name, ready, key=f"compare-{name}", mode="grow")


def _draw(
    session: Session, name: str, ready: Mapping[str, Built], *, key: str, mode: str, **marks: Any
) -> None:
    """One small canvas; a click selects the node's turns in all of them."""
    found = ready[name]
    drawn = found.drawn
    structure = found.memory.structure if drawn is None else drawn.structure
    units = found.memory.units
    order = range(len(units)) if drawn is None else drawn.unit.tolist()
    node = holder(found.memory, _selected_turns(session))
    shown = node if drawn is None or node is None else next(iter(drawn.copies(node)), None)
    sessions = session.conversation.sessions
    payload = tree_payload(
        structure,
        unit_sessions=[units[index].session for index in order],
        session_labels=[f"S{i + 1}" for i in range(len(sessions))],
        session_dates=[s.start or s.raw_date for s in sessions],
        identity=built_key(session, name),
        mode="grow" if mode == "grow" else "scores",
        selected=shown,
        frontier=(),
        gutter=False,
        legend=False,
        title=f"{session.conversation.id}, {SYSTEMS[name].label}",
        **marks,
    )

    def select() -> None:
        here = clicked(key, None)
        if here is None:
            st.session_state["compare-turns"] = (session.source, ())
            return
        original = here if drawn is None else int(drawn.node[here])
        st.session_state["compare-turns"] = (session.source, found.memory.turn_ids(original))

    tree_canvas(payload, key=key, height=300, on_select=select)


def _selected_turns(session: Session) -> tuple[str, ...]:
    source, turns = st.session_state.get("compare-turns", (None, ()))
    return turns if source == session.source else ()


def holder(memory: Memory, turns: tuple[str, ...]) -> int | None:
    """The node with the fewest units among those that hold all these turns."""
    if not turns:
        return None
    unit_of = {turn: unit.index for unit in memory.units for turn in unit.turn_ids}
    wanted = {unit_of[turn] for turn in turns if turn in unit_of}
    structure = memory.structure
    active = np.flatnonzero(structure.active)
    wide = active[(structure.start[active] <= min(wanted)) & (structure.stop[active] > max(wanted))]
    best = None
    for node in wide[np.lexsort((wide, structure.level[wide]))].tolist():
        covered = structure.coverage(node)
        if wanted.issubset(covered) and (best is None or len(covered) < best[0]):
            best = (len(covered), node)
    return None if best is None else best[1]


def shapes_panel(session: Session, ready: Mapping[str, Built]) -> None:
    """The shape of every structure beside the published ones."""
    rows: list[dict[str, object]] = []
    for name, found in ready.items():
        rows.append(_shape_row(SYSTEMS[name].label, shape(found.memory.structure)))
    known_data = {row.data for row in SHAPES}
    data = session.conversation.source_format
    for row in (row for row in SHAPES if row.data == data or data not in known_data):
        rows.append(
            {
                "tree": f"{row.method}, {row.data} (published)",
                "leaves": row.leaves,
                "nodes": row.nodes,
                "nodes/leaf": row.nodes / row.leaves,
                "max depth": row.max_depth,
                "mean depth": row.mean_depth,
                "depth std": row.depth_std,
                "branching": row.branching,
            }
        )
    two = st.column_config.NumberColumn(format="%.2f")
    names = ("nodes/leaf", "max depth", "mean depth", "depth std", "branching")
    st.dataframe(rows, hide_index=True, column_config=dict.fromkeys(names, two))
    st.caption(
        "Single-child nodes are counted once. Published rows are SegTreeMem's Table 5: averages "
        "over whole data sets with other embeddings and models, for the shape only."
    )


def _shape_row(name: str, measured: Shape) -> dict[str, object]:
    return {
        "tree": name,
        "leaves": measured.leaves,
        "nodes": measured.nodes,
        "nodes/leaf": measured.nodes_per_leaf,
        "max depth": float(measured.max_depth),
        "mean depth": measured.mean_depth,
        "depth std": measured.depth_std,
        "branching": measured.branching,
    }
