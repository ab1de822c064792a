"""Panel that compares two pinned nodes: kinship, similarity, scores, texts."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.retrieval import Result, ranks
from segviz.tree import Structure
from segviz.tree.inspect import kinship, shared_units, similarity
from segviz.ui.address import pinned
from segviz.ui.state import AppSession, PageState
from segviz.ui.widgets.captions import SIMILARITY, counted, coverage, named, unmarked
from segviz.ui.widgets.charts import table
from segviz.ui.widgets.lists import diffs, node_list

HEIGHT = 190
TURNS_NAMED = 12
VIEWS = ("Side by side", "Word by word")

KINSHIP = {
    "same": "The same node twice.",
    "above": "Node {a} lies above node {b}.",
    "below": "Node {a} lies below node {b}.",
    "siblings": "Both have the same parent.",
    "apart": "Neither lies above the other.",
}


def pin_button(session: AppSession, node: int) -> None:
    """Draws the button that pins or unpins a node; a third pin replaces the oldest."""
    pins = pinned(session)

    def toggle() -> None:
        if node in pins:  # a second click may come before the first is drawn
            pins.remove(node)
        else:
            pins.append(node)
            del pins[:-2]

    st.button(
        "Unpin" if node in pins else "Pin",
        icon=":material/keep_off:" if node in pins else ":material/keep:",
        help="Two pinned nodes are compared below. A third pin replaces the first.",
        type="tertiary",
        key="pin",
        on_click=toggle,
    )


def pins_panel(shown: PageState) -> None:
    """Draws the comparison of the pinned nodes of this memory, of which there is at least one."""
    pins = pinned(shown.session)
    with st.container(border=True, key="pins-panel"):
        names = " and ".join(str(node) for node in pins)
        with st.container(horizontal=True, vertical_alignment="center"):
            what = "Pinned: node" if len(pins) == 1 else "Pinned: nodes"
            st.markdown(f"**{what} {names}**", width="stretch")
            st.button("Clear", key="clear-pins", type="tertiary", on_click=pins.clear)
        absent = [node for node in pins if node >= len(shown.structure)]
        if absent:
            st.caption(f"Node {absent[0]} does not exist yet at this step.")
        elif len(pins) == 1:
            st.caption("Pin another node to see both side by side.")
        else:
            _compare(shown, pins[0], pins[1])


def _compare(shown: PageState, a: int, b: int) -> None:
    session, structure = shown.session, shown.structure
    _in_common(session, structure, a, b)
    if shown.result is not None:
        _scores(shown.result, a, b)
    view = st.segmented_control(
        "Comparison",
        VIEWS,
        default=VIEWS[0],
        required=True,
        key="pins-view",
        label_visibility="collapsed",
    )
    if view == VIEWS[0]:
        for node, column in zip((a, b), st.columns(2), strict=True):
            with column:
                _one(session, structure, node)
    elif structure.text[a] == structure.text[b]:
        st.caption("Both have the same text.")
    else:
        st.caption(f"Struck through: only in node {a}. Underlined: only in node {b}.")
        with st.container(height=HEIGHT + 60, key="pins-words"):
            diffs([("", structure.text[a], structure.text[b])], key="pins-diff")


def _in_common(session: AppSession, structure: Structure, a: int, b: int) -> None:
    """Draws how two nodes are related, their similarity and the turns they share."""
    cosine = similarity(structure, a, b)
    units = session.memory.units
    turns = [turn for unit in shared_units(structure, a, b) for turn in units[unit].turn_ids]
    more = f" and {len(turns) - TURNS_NAMED:,} more" if len(turns) > TURNS_NAMED else ""
    ids = f" ({', '.join(turns[:TURNS_NAMED])}{more})" if turns else ""
    alike = (
        "At least one has no vector, so there is no similarity"
        if cosine is None
        else (f"Similarity {cosine:.3f}")
    )
    st.caption(
        unmarked(
            f"{KINSHIP[kinship(structure, a, b)].format(a=a, b=b)} {alike}; "
            f"{counted(len(turns), 'turn')} in common{ids}."
        ),
        help=f"{SIMILARITY} Turns in common are below both nodes.",
    )


def _one(session: AppSession, structure: Structure, node: int) -> None:
    """Draws a pinned node: a button that selects it, its place and its text."""
    st.button(
        f"Node {node}",
        key=f"show-pin-{node}",
        help="Select this node",
        type="tertiary",
        on_click=session.select,
        args=(node,),
    )
    # Without its number, which the button shows.
    where = named(session, structure, node).rsplit(" · ", 1)[0]
    st.caption(unmarked(f"{where} · {coverage(session, structure, node)}"))
    node_list(
        [("", [{"head": "", "text": structure.text[node]}])],
        key=f"pin-text-{node}",
        height=HEIGHT,
        label=f"Text of node {node}",
        about=str(node),
        on_pick=session.select,
    )


def _scores(result: Result, a: int, b: int) -> None:
    """Draws scores and ranks of two nodes, before and after propagation."""
    count = int(result.structure.active.sum())
    rows = [
        {
            "node": node,
            "initial": f"×{result.initial[node] * count:.3f}",
            "rank": _rank(result, result.initial, node),
            "propagated": f"×{result.final[node] * count:.3f}",
            "new rank": _rank(result, result.final, node),
            "retrieved": "yes" if node in result.after else "no",
        }
        for node in (a, b)
    ]
    table(rows, about="Scores of the pinned nodes")
    st.caption(f"×1: the average of {count:,} nodes.")


def _rank(result: Result, scores: Any, node: int) -> int | None:
    """Returns the 1-based rank of a node by ``scores``; None if the node is not ranked."""
    return ranks([node], scores, result.structure, result.settings.levels)[0] or None
