"""The Export menu: the view as files, and its link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

from segviz import store
from segviz.bookmark import encode
from segviz.evaluate import Sweep
from segviz.export import (
    View,
    file_name,
    graphml,
    html_page,
    newick,
    newick_problem,
    nodes_csv,
    python_snippet,
    ranks_csv,
    sweep_csv,
    tree_svg,
)
from segviz.result import Result
from segviz.structure import Structure
from segviz.ui.address import current
from segviz.ui.state import Session, typed_turns


@dataclass(frozen=True)
class Offer:
    """One file: its name's part and ending, what it is, and how it is made on demand."""

    part: str
    ending: str
    label: str
    about: str
    make: Callable[[View], str | bytes]
    mime: str
    asks: bool = False
    problem: Callable[[Structure], str] | None = None


OFFERS: tuple[Offer, ...] = (
    Offer(
        "view",
        "html",
        "Interactive page (HTML)",
        "One file that works offline: the tree with its controls, texts and evidence. It also "
        "saves PNG and prints to PDF.",
        html_page,
        "text/html",
    ),
    Offer(
        "view",
        "svg",
        "Picture (SVG)",
        "The view as a vector picture, with legend.",
        tree_svg,
        "image/svg+xml",
    ),
    Offer(
        "view",
        "py",
        "Python that reproduces it",
        "A script that brings back this memory and, on Ask, these scores.",
        python_snippet,
        "text/x-python",
    ),
    Offer(
        "memory",
        "json",
        "Memory (JSON)",
        "The whole memory: conversation, every construction step, vectors. segviz.open() reads "
        "it; its JSON Schema comes with segviz.",
        lambda view: store.dump(view.memory.saved),
        "application/json",
    ),
    Offer(
        "graph",
        "graphml",
        "Graph (GraphML)",
        "Every column but the vectors, typed edges and relations.",
        lambda view: graphml(view.structure, view.memory.conversation.id),
        "application/xml",
    ),
    Offer(
        "tree",
        "nwk",
        "Tree (Newick)",
        "For programs that draw trees; one line per root.",
        lambda view: newick(view.structure),
        "text/plain",
        problem=newick_problem,
    ),
    Offer(
        "nodes",
        "csv",
        "Nodes (CSV)",
        "A row for each node.",
        nodes_csv,
        "text/csv",
    ),
    Offer(
        "ranks",
        "csv",
        "Ranks (CSV)",
        "Initial and propagated rank and score of every admissible node.",
        ranks_csv,
        "text/csv",
        asks=True,
    ),
)


def exports_panel(
    session: Session,
    structure: Structure,
    result: Result | None = None,
    budget: int | None = None,
) -> None:
    """A menu that offers the view as files, each made when it is asked for, and its link.

    ``structure`` is what the page shows, ``result`` the answered question on Ask and
    ``budget`` the tokens it was to fill in place of K.
    """
    with st.popover("Export", icon=":material/download:", key="exports", on_change="rerun") as menu:
        if not menu.open:
            return
        typed = tuple(typed_turns(session.source))
        view = View(session.memory, structure, current(session), result, typed, budget)
        for offer, problem in offered(view):
            _button(view, offer, problem)
        _link(view)


def offered(view: View) -> list[tuple[Offer, str]]:
    """The files a view can be had as, and why one cannot, "" where it can."""
    return [
        (offer, offer.problem(view.structure) if offer.problem else "")
        for offer in OFFERS
        if view.result is not None or not offer.asks
    ]


def sweep_export(session: Session, found: Sweep) -> None:
    """A button that offers a sweep as CSV."""
    st.download_button(
        "Sweep (CSV)",
        lambda: sweep_csv(found),
        file_name=file_name(session.conversation.id, "sweep", "csv"),
        mime="text/csv",
        key="export-sweep",
        help="A row for each setting: recall with its interval, categories, retrieved levels.",
        icon=":material/download:",
        on_click="ignore",
    )


def _button(view: View, offer: Offer, problem: str) -> None:
    st.download_button(
        offer.label,
        lambda: offer.make(view),
        file_name=file_name(view.memory.conversation.id, offer.part, offer.ending),
        mime=offer.mime,
        key=f"export-{offer.part}-{offer.ending}",
        help=f"Not possible here: {problem}." if problem else offer.about,
        on_click="ignore",
        disabled=bool(problem),
        width="stretch",
    )


def _link(view: View) -> None:
    st.caption("Link to this view")
    address = (st.context.url or "").partition("?")[0]
    link = urlencode(encode(view.bookmark))
    st.code(f"{address}?{link}" if link else address, language=None, wrap_lines=True)
    if view.typed:
        st.caption("A link does not hold turns you typed; the files above do.")
    elif view.bookmark.upload is not None:
        st.caption("Whoever opens the link must upload the same file first.")
