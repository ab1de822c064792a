"""Explains why a node was retrieved or not: ledger, rank shifts, near misses, scores by hop."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import streamlit as st

from segviz.figures.ranks import rank_figure, rank_rows, rank_sentence
from segviz.retrieval import Result, ranks
from segviz.retrieval.near_miss import near_misses
from segviz.systems.levels import level_name
from segviz.ui import keys
from segviz.ui.state import Session
from segviz.ui.widgets.captions import level_names, place
from segviz.ui.widgets.charts import chart, colours
from segviz.ui.widgets.tables import table

# The ledger lists this many contributions; the rest is summed in one row.
LISTED = 12

# So many rows of it are seen without scrolling.
_LEDGER_SEEN = 6
_MISSES_SEEN = 12


def ledger_panel(session: Session, result: Result, node: int) -> None:
    """Draws the ledger: own score plus every contribution equals the propagated score, exactly."""
    ledger = result.explain(node)
    st.markdown("**Where the score comes from**")
    entries: list[tuple[int | None, float, str, int | None]] = [
        (0, ledger.own, "itself", node),
        *(
            (entry.hop, entry.amount, place(session, result.structure, entry.source), entry.source)
            for entry in ledger.received[:LISTED]
        ),
    ]
    rest = ledger.received[LISTED:]
    if rest:
        entries.append((None, sum(entry.amount for entry in rest), f"{len(rest):,} more", None))
    table(
        [
            {
                "hop": hop,
                "from": source,
                "node": giver,
                "gave": amount,
                "share": f"{amount / ledger.total if ledger.total else 0:.1%}",
            }
            for hop, amount, source, giver in entries
        ],
        about=f"Contributions to the score of node {node}",
        digits={"gave": 6},
        height=230 if len(entries) > _LEDGER_SEEN else "content",
    )
    received, gap = ledger.total - ledger.own, abs(ledger.total - float(result.final[node]))
    st.caption(
        f"own {ledger.own:.6f} + received {received:.6f} = propagated "
        f"{result.final[node]:.6f}{f'; rounding leaves {gap:.0e}' if gap else ', exactly'}"
    )


def rank_panel(result: Result, gold: Collection[int]) -> None:
    """Draws the initial against the propagated rank of every node in either top."""
    before, after = _ranks(result)
    k = len(result.after)
    if not k:
        return
    own = result.own
    figure = rank_figure(
        before,
        after,
        k,
        gold=list(gold),
        sides=result.score_names,
        **colours(),
    )
    chart(
        figure,
        rank_sentence(before, after, k, "the system" if own else "propagation"),
        keys.RANK_CHART,
        "Diamonds are gold evidence; below the dashed line is outside the top.",
        rows=lambda: rank_rows(before, after, k, gold),
    )


def _ranks(result: Result) -> tuple[dict[int, int], dict[int, int]]:
    """Returns both ranks of the nodes in either top."""
    shown = tuple(dict.fromkeys((*result.before, *result.after)))

    def positions(scores: Any) -> dict[int, int]:
        found = ranks(shown, scores, result.structure, result.settings.levels)
        return dict(zip(shown, found, strict=True))

    return positions(result.initial), positions(result.final)


def miss_panel(session: Session, result: Result, gold: Collection[int]) -> None:
    """Lists the next nodes and every missed gold leaf, each with the reason it lost."""
    rows = near_misses(result, wanted=gold)
    if not rows:
        st.caption("Nothing was left out.")
        return
    table(
        [
            {
                "rank": row.rank_after or None,
                "was": row.rank_before or None,
                "node": row.node,
                "place": place(session, result.structure, row.node),
                "gold": "gold" if row.node in gold else None,
                "short by": row.short_by,
                "why": row.reason,
            }
            for row in rows
        ],
        about="The next nodes and every missed gold leaf",
        digits={"short by": 5},
        height=420 if len(rows) > _MISSES_SEEN else "content",
    )
    st.caption(
        f"Short by: what the node lacks to the propagated score of rank {len(result.after)}."
    )


def hop_panel(session: Session, result: Result) -> None:
    """Draws the sums of scores after each hop, by level."""
    levels = result.structure.level
    names = level_names(session.memory)
    rows = []
    for hop, scores in enumerate(result.hops):
        row: dict[str, Any] = {"hop": hop, "sum": float(scores.sum())}
        for level in range(int(levels.max(initial=0)) + 1):
            label = level_name(level, names) if names or level else "leaves"
            row[label] = float(scores[levels == level].sum())
        rows.append(row)
    digits = dict.fromkeys(rows[0], 4)
    table(rows, about="Sums of the scores after each hop, by level", digits=digits)
    st.caption(
        "The sum of all scores after each hop, and how it lies on the levels. What is lost "
        "sat on nodes without a target."
    )
