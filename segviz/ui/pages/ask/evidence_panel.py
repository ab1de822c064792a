"""The list of retrieved nodes."""

from __future__ import annotations

import streamlit as st

from segviz.retrieval import Evidence, Result, estimated_tokens
from segviz.ui.state import Session
from segviz.ui.widgets.captions import place
from segviz.ui.widgets.lists import evidence_list

HEIGHT = 620
ORDERS = ("Best first", "In reading order")


def _move(item: Evidence, k: int) -> str:
    if item.rank_before == item.rank_after:
        return ""
    if item.rank_before > k:
        return f"entered, was {item.rank_before}"
    return f"was {item.rank_before}"


def retrieved_panel(session: Session, result: Result, status: dict[str, str]) -> None:
    """The list, best first or in reading order; ``status`` marks gold turns."""
    words = sum(len(item.text.split()) for item in result.evidence)
    tokens = sum(estimated_tokens(item.text) for item in result.evidence)
    st.markdown(
        f"**Retrieved**: {words} words, about {tokens} tokens",
        help=(
            "Initial scores are shares of one whole: over all nodes they add up to 1. "
            "Propagated scores add up to less: a node without a target (under top-down a "
            "leaf, under bottom-up the root) keeps what it has but passes nothing on, and the "
            "sum is divided by Σ αᵏ. Only the order within each column matters."
        ),
    )
    order = st.segmented_control(
        "Order",
        ORDERS,
        default=ORDERS[0],
        required=True,
        key="order",
        label_visibility="collapsed",
        persist_state="session",
    )
    listed = result.evidence
    if order == ORDERS[1]:
        listed = result.reading_order
    top = max([*result.initial[list(result.before)], *result.final[list(result.after)], 1e-12])
    items = []
    for item in listed:
        gold = sorted(t for t in item.turn_ids if t in status)
        narrow = item.span[1] - item.span[0] == 1
        note = f"{'gold' if narrow else 'covers gold'} {', '.join(gold[:4])}" if gold else ""
        items.append(
            {
                "node": item.node,
                "rank": item.rank_after,
                "place": place(session, result.structure, item.node),
                "move": _move(item, len(result.before)),
                "gold": note,
                "initial": f"{item.initial:.5f}",
                "final": f"{item.final:.5f}",
                "initialShare": item.initial / top,
                "finalShare": item.final / top,
                "text": item.text,
                "selected": item.node == session.selected,
            }
        )
    evidence_list(
        items,
        names=result.score_names,
        key="evidence",
        height=HEIGHT,
        on_pick=session.select,
    )
    left = [node for node in result.before if node not in result.after]
    if left:
        names = (f"node {node} ({place(session, result.structure, node)})" for node in left)
        st.caption(f"Pushed out of the top {len(result.before)}: " + "; ".join(names))
