"""Why was this recalled, and why was that not: ledger, rank shifts, near misses."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import streamlit as st

from segviz.figures.levels import level_name
from segviz.figures.ranks import rank_figure, rank_sentence
from segviz.frontend.palette import ACCENT
from segviz.nearmiss import near_misses
from segviz.result import Result
from segviz.retrieve import ranking
from segviz.ui.places import level_names, place
from segviz.ui.state import Session

# The ledger lists this many contributions; the rest is summed in one row.
LISTED = 12


def ledger_panel(session: Session, result: Result, node: int) -> None:
    """Own score plus every contribution equals the propagated score, exactly."""
    ledger = result.explain(node)
    st.markdown("**Where the score comes from**")
    rows: list[dict[str, Any]] = [
        {"hop": 0, "gave": ledger.own, "share": 0.0, "from": "itself", "node": node},
        *(
            {
                "hop": entry.hop,
                "gave": entry.amount,
                "share": 0.0,
                "from": place(session, result.structure, entry.source),
                "node": entry.source,
            }
            for entry in ledger.received[:LISTED]
        ),
    ]
    rest = ledger.received[LISTED:]
    if rest:
        amount = sum(entry.amount for entry in rest)
        rows.append(
            {"hop": None, "gave": amount, "share": 0.0, "from": f"{len(rest)} more", "node": None}
        )
    for row in rows:
        row["share"] = row["gave"] / ledger.total if ledger.total else 0.0
    st.dataframe(
        rows,
        hide_index=True,
        height=min(38 + 35 * len(rows), 260),
        column_config={
            "hop": st.column_config.NumberColumn(width=45),
            "node": st.column_config.NumberColumn(width=55),
            "gave": st.column_config.NumberColumn(format="%.6f", width=90),
            "share": st.column_config.ProgressColumn(
                format="percent", min_value=0, max_value=1, width=90
            ),
        },
    )
    received = ledger.total - ledger.own
    st.caption(
        f"own {ledger.own:.6f} + received {received:.6f} = propagated "
        f"{result.final[node]:.6f}; the difference is "
        f"{abs(ledger.total - float(result.final[node])):.0e}"
    )


def rank_panel(
    result: Result, levels: Collection[int] | None, distinct: bool, gold: Collection[int]
) -> None:
    """Rank by initial against rank by propagated score, for every node in either top."""
    before, after = _ranks(result, levels, distinct)
    k = len(result.after)
    if not k:
        return
    dark = st.context.theme.type == "dark"
    sentence = rank_sentence(before, after, k)
    figure = rank_figure(
        before,
        after,
        k,
        accent=ACCENT["dark" if dark else "light"],
        neutral="#9a9690" if dark else "#77736d",
        gold=list(gold),
    )
    st.plotly_chart(figure, key="rank-chart", config={"displayModeBar": False}, alt=sentence)
    st.caption(f"{sentence} Diamonds are gold evidence; below the dashed line is outside the top.")


def _ranks(
    result: Result, levels: Collection[int] | None, distinct: bool
) -> tuple[dict[int, int], dict[int, int]]:
    """Both ranks of the nodes in either top, one node per text under ``distinct``."""
    structure = result.structure
    key = structure.carrier if distinct else np.arange(len(structure))
    shown = {int(key[node]): node for node in (*result.before, *result.after)}

    def positions(scores: Any) -> dict[int, int]:
        order = ranking(scores, structure, levels, distinct)
        rank = {int(key[node]): place for place, node in enumerate(order, start=1)}
        return {node: rank[carrier] for carrier, node in shown.items()}

    return positions(result.initial), positions(result.final)


def miss_panel(
    session: Session,
    result: Result,
    levels: Collection[int] | None,
    distinct: bool,
    gold: Collection[int],
) -> None:
    """The next nodes and every missed gold leaf, each with the reason it lost."""
    rows = near_misses(result, wanted=gold, levels=levels, distinct=distinct)
    if not rows:
        st.caption("Nothing was left out.")
        return
    st.dataframe(
        [
            {
                "rank": row.rank_after or None,
                "was": row.rank_before or None,
                "node": row.node,
                "place": place(session, result.structure, row.node),
                "gold": "gold" if row.node in gold else "",
                "short by": row.short_by,
                "why": row.reason,
            }
            for row in rows
        ],
        hide_index=True,
        column_config={"short by": st.column_config.NumberColumn(format="%.5f")},
    )
    st.caption(
        f"Short by: what the node lacks to the propagated score of rank {len(result.after)}."
    )


def hop_panel(session: Session, result: Result) -> None:
    """How much score is where after each hop."""
    levels = result.structure.level
    names = level_names(session.memory)
    rows = []
    for hop, scores in enumerate(result.hops):
        row: dict[str, Any] = {"hop": hop, "sum": float(scores.sum())}
        for level in range(int(levels.max(initial=0)) + 1):
            label = level_name(level, names) if names or level else "leaves"
            row[label] = float(scores[levels == level].sum())
        rows.append(row)
    number = st.column_config.NumberColumn(format="%.4f")
    columns = [name for name in rows[0] if name != "hop"]
    st.dataframe(rows, hide_index=True, column_config=dict.fromkeys(columns, number))
    st.caption(
        "The sum of all scores after each hop, and how it lies on the levels. What is lost "
        "sat on nodes without a target."
    )
