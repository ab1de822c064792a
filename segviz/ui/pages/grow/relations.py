"""The relations between nodes, drawn and as a table."""

from __future__ import annotations

import streamlit as st

from segviz.figures.relation_graph import around, node_name, related, relation_html, ties, types
from segviz.tree import Structure
from segviz.ui.state import Session
from segviz.ui.widgets.charts import colours, dark, ink
from segviz.ui.widgets.formatting import counted
from segviz.view.palette import session_colours

_DRAWN = 40
_MOST_DRAWN = 200


def has_relations(session: Session, structure: Structure) -> bool:
    """Whether any two nodes are related."""
    return bool(structure.relations)


def draw_relations(session: Session, structure: Structure, step: int) -> None:
    """The nodes with the heaviest relations, or one with those around it; a table twin."""
    everyone = related(structure)
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    centre = left.selectbox(
        "Around",
        everyone,
        index=None,
        format_func=lambda node: f"{node_name(structure, node)} · node {node}",
        placeholder="Everything; choose a node to see what it is related to",
        key=f"relations-{session.key}",
    )
    nodes = everyone if centre is None else around(structure, centre)
    shown = len(nodes)
    if shown > 2:
        most = min(shown, _MOST_DRAWN)
        shown = right.slider("Nodes", 2, most, min(_DRAWN, most), key=f"related-{most}")
    marks = types(structure, nodes[:shown])
    html = relation_html(
        structure,
        nodes[:shown],
        palette=session_colours(len(marks)),
        background="#171614" if dark() else "#ffffff",
        foreground=ink(),
        accent=colours()["accent"],
        selected=session.selected if centre is None else centre,
    )
    st.iframe(html, height=560, alt="Nodes and the relations between them")
    st.text(", ".join(f"{mark} {name}" for name, mark in marks.items()))
    found = [tie for tie in ties(structure) if {tie.source, tie.target} <= set(nodes[:shown])]
    st.caption(
        f"{shown} of {counted(len(everyone), 'node')} with relations, those with most first; "
        f"{counted(len(found), 'pair')} between them. The heaviest carry their label. Size "
        "follows mentions, width the weight. "
        "Drag to pan, scroll to zoom, rest the pointer on a line for all its labels."
    )
    with st.expander(f"As a table ({len(found)})"):
        st.dataframe(
            [
                {
                    "from": node_name(structure, tie.source),
                    "to": node_name(structure, tie.target),
                    "relation": label,
                    "weight": weight,
                }
                for tie in found
                for label, weight in tie.labels
            ],
            hide_index=True,
            height=300,
        )
