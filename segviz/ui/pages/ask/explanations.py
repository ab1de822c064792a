"""Explains a score by the ledger of a node, and a system's own retrieval by its stages."""

from __future__ import annotations

import streamlit as st

from segviz.evaluation.aggregate import Row
from segviz.evaluation.compare import Chart
from segviz.figures.charts import rows_figure
from segviz.retrieval import Result, Stage
from segviz.systems import level_name, level_names
from segviz.ui.state import AppSession
from segviz.ui.widgets.captions import node_row, place, short
from segviz.ui.widgets.charts import chart, ink, table
from segviz.ui.widgets.lists import node_list
from segviz.view.palette import LEVEL_COLOURS

# The ledger lists this many contributions; the rest is summed in one row.
LISTED = 12

# So many rows of it are seen without scrolling.
_LEDGER_SEEN = 6

# So much of the long list of a stage is shown at first.
_STAGE_LISTED = 40
_STAGE_HEIGHT = 260


def ledger_panel(session: AppSession, result: Result, node: int) -> None:
    """Draws the ledger: own score plus every contribution equals the propagated score, exactly."""
    ledger = result.explain(node)
    structure = result.structure

    def giver(source: int) -> str:
        if source == node:
            return "itself, there and back"
        return f"{place(session, structure, source)}: {short(structure.text[source])[:60]}"

    parts = ledger.ingredients.items() or [("its relevance", ledger.own)]
    entries: list[tuple[int | None, float, str]] = [
        *((0, amount, f"itself: {name}") for name, amount in parts),
        *((entry.hop, entry.amount, giver(entry.source)) for entry in ledger.received[:LISTED]),
    ]
    rest = ledger.received[LISTED:]
    if rest:
        entries.append((None, sum(entry.amount for entry in rest), f"{len(rest):,} more"))
    table(
        [
            {
                "hop": hop,
                "from": source,
                "share": f"{amount / ledger.total if ledger.total else 0:.1%}",
            }
            for hop, amount, source in entries
        ],
        about=f"Contributions to the score of node {node}",
        height=230 if len(entries) > _LEDGER_SEEN else "content",
    )
    count = int(structure.active.sum())
    own, received = ledger.own * count, (ledger.total - ledger.own) * count
    st.caption(
        f"In even shares: own {own:.3f} + received {received:.3f} = propagated "
        f"{float(result.final[node]) * count:.3f}",
        help=f"An even share is 1 / {count:,}, the score of each node if all scores were equal.",
    )


def stages_panel(session: AppSession, result: Result) -> None:
    """Draws the stages in order, each with the nodes it examined and those it kept.

    Propagation has no stages and draws nothing.
    """
    if not result.stages:
        return
    st.markdown("**How the system retrieves, stage by stage**")
    told, seen = st.columns([11, 10], gap="medium")
    with told, st.container(border=True, key="stages"):
        for number, stage in enumerate(result.stages, start=1):
            _stage(session, result, number, stage)
    with seen:
        _levels(session, result)


def _stage(session: AppSession, result: Result, number: int, stage: Stage) -> None:
    st.markdown(f"{number}. **{stage.name}**")
    st.text(stage.note)
    if not stage.nodes:
        return
    title = f"{len(stage.nodes):,} examined, {len(stage.kept):,} kept"
    if stage.scores:
        title += f" · best score: {stage.scores[0]:.3f} (node {stage.nodes[0]})"
    with st.expander(title, key=f"stage-{number}", on_change="rerun") as listed:
        if listed.open:
            _stage_list(session, result, number, stage)


def _stage_list(session: AppSession, result: Result, number: int, stage: Stage) -> None:
    """Lists the nodes of a stage, kept ones first; a click selects one."""
    kept = set(stage.kept)
    order = sorted(range(len(stage.nodes)), key=lambda place: stage.nodes[place] not in kept)
    if len(order) > _STAGE_LISTED and not st.toggle(
        f"Show all {len(order):,}", key=f"stage-all-{number}"
    ):
        st.caption(f"Showing {_STAGE_LISTED} of {len(order):,}.")
        order = order[:_STAGE_LISTED]
    rows = [
        node_row(session, result.structure, stage.nodes[place])
        | {"note": f"{stage.scores[place]:.4f}" if stage.scores else ""}
        for place in order
    ]
    node_list(
        [
            ("Kept", [row for row in rows if row["node"] in kept]),
            ("Not kept", [row for row in rows if row["node"] not in kept]),
        ],
        key=f"stage-nodes-{number}",
        height=_STAGE_HEIGHT,
        label=f"Nodes of the stage {stage.name}",
        about=f"{number} {result.question}",
        on_pick=session.select,
    )


def _levels(session: AppSession, result: Result) -> None:
    """Draws a stacked column of shares by level for the nodes examined and those returned."""
    title, names = "Levels of the nodes examined and returned", level_names(session.memory.system)
    st.markdown(f"**{title}**")
    rows: list[Row] = []
    for name, counts in (("examined", result.visited), ("returned", result.levels())):
        total = sum(counts.values())
        shares = {level_name(at, names): round(n / (total or 1), 4) for at, n in counts.items()}
        rows.append({"shares of": f"{total} {name}", **shares})
    levels = tuple(rows[0])[1:]
    told = "; ".join(
        f"{row['shares of']}: " + ", ".join(f"{level} {row[level]:.0%}" for level in levels)
        for row in rows
    )
    chart(
        rows_figure(
            rows,
            Chart("shares of", levels, kind="stack"),
            colours=LEVEL_COLOURS,
            neutral=ink(),
        ),
        f"{title}. {told}.",
        "visited-chart",
        rows=lambda: rows,
    )
