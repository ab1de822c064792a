"""Shows the stages of a system's own retrieval."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.construct import Stage
from segviz.retrieval import Result
from segviz.ui.pages.ask.explanations import level_chart
from segviz.ui.state import Session
from segviz.ui.widgets.captions import named, short
from segviz.ui.widgets.lists import node_list

# So much of a long list is shown at first.
LISTED = 40
_STAGE_HEIGHT = 260


def stages_panel(session: Session, result: Result) -> None:
    """Draws the stages in their order, each with the nodes it looked at and those it kept; nothing
    for propagation, which has no stages."""
    if not result.stages:
        return
    st.markdown("**How the system went about it**")
    told, seen = st.columns([11, 10], gap="medium")
    with told, st.container(border=True, key="stages"):
        for number, stage in enumerate(result.stages, start=1):
            _stage(session, result, number, stage)
    with seen:
        _levels(session, result)


def _stage(session: Session, result: Result, number: int, stage: Stage) -> None:
    st.markdown(f"{number}. **{stage.name}**")
    st.text(stage.note)
    if not stage.nodes:
        return
    title = f"{len(stage.nodes):,} looked at, {len(stage.kept):,} kept"
    if stage.scores:
        title += f" · best: node {stage.nodes[0]} at {stage.scores[0]:.3f}"
    with st.expander(title, key=f"stage-{number}", on_change="rerun") as listed:
        if listed.open:
            _stage_list(session, result, number, stage)


def _stage_list(session: Session, result: Result, number: int, stage: Stage) -> None:
    """Lists the nodes of a stage, kept ones first; a click selects one."""
    kept = set(stage.kept)
    order = sorted(range(len(stage.nodes)), key=lambda place: stage.nodes[place] not in kept)
    if len(order) > LISTED and not st.toggle(f"All {len(order):,}", key=f"stage-all-{number}"):
        st.caption(f"Showing {LISTED} of {len(order):,}.")
        order = order[:LISTED]
    rows = [(stage.nodes[place], _stage_row(session, result, stage, place)) for place in order]
    node_list(
        [
            ("Kept", [row for node, row in rows if node in kept]),
            ("Not kept", [row for node, row in rows if node not in kept]),
        ],
        key=f"stage-nodes-{number}",
        height=_STAGE_HEIGHT,
        label=f"Nodes of the stage {stage.name}",
        about=f"{number} {result.question}",
        on_pick=session.select,
    )


def _stage_row(session: Session, result: Result, stage: Stage, place: int) -> dict[str, Any]:
    node = stage.nodes[place]
    return {
        "node": node,
        "head": named(session, result.structure, node),
        "text": short(result.structure.text[node]),
        "note": f"{stage.scores[place]:.4f}" if stage.scores else "",
    }


def _levels(session: Session, result: Result) -> None:
    """Draws the shares of the nodes looked at and of those returned."""
    shares = {}
    for name, counts in (("looked at", result.visited), ("returned", result.levels())):
        total = sum(counts.values())
        shares[f"{total} {name}"] = {at: count / (total or 1) for at, count in counts.items()}
    title = "Levels it looked at, and those it returned"
    st.markdown(f"**{title}**")
    level_chart(session, shares, title, "visited-chart")
