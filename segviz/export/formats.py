"""The files a view can be had as; a row here puts one into the app and the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from segviz import store
from segviz.export.graphs import graphml, newick, newick_problem
from segviz.export.page import html_page
from segviz.export.snippet import python_snippet
from segviz.export.svg import tree_svg
from segviz.export.tables import nodes_csv, ranks_csv
from segviz.export.view import View
from segviz.structure import Structure


@dataclass(frozen=True)
class Format:
    """One kind of file: part and ending of its name, what it is, and how it is made.

    ``asks`` where the view must answer a question; ``problem`` says why a structure cannot
    be written, "" where it can.
    """

    part: str
    ending: str
    label: str
    about: str
    make: Callable[[View], str | bytes]
    mime: str
    asks: bool = False
    problem: Callable[[Structure], str] | None = None


FORMATS: dict[str, Format] = {
    "html": Format(
        "view",
        "html",
        "Interactive page (HTML)",
        "One file that works offline: the tree with its controls, texts and evidence. It also "
        "saves PNG and prints to PDF.",
        html_page,
        "text/html",
    ),
    "svg": Format(
        "view",
        "svg",
        "Picture (SVG)",
        "The view as a vector picture, with legend.",
        tree_svg,
        "image/svg+xml",
    ),
    "python": Format(
        "view",
        "py",
        "Python that reproduces it",
        "A script that brings back this memory and, on Ask, these scores.",
        python_snippet,
        "text/x-python",
    ),
    "json": Format(
        "memory",
        "json",
        "Memory (JSON)",
        "The whole memory: conversation, every construction step, vectors. segviz.open() reads "
        "it; its JSON Schema comes with segviz.",
        lambda view: store.dump(view.memory.saved),
        "application/json",
    ),
    "graphml": Format(
        "graph",
        "graphml",
        "Graph (GraphML)",
        "Every column but the vectors, typed edges and relations.",
        lambda view: graphml(view.structure, view.memory.conversation.id),
        "application/xml",
    ),
    "newick": Format(
        "tree",
        "nwk",
        "Tree (Newick)",
        "For programs that draw trees; one line per root.",
        lambda view: newick(view.structure),
        "text/plain",
        problem=newick_problem,
    ),
    "nodes": Format(
        "nodes",
        "csv",
        "Nodes (CSV)",
        "A row for each node.",
        nodes_csv,
        "text/csv",
    ),
    "ranks": Format(
        "ranks",
        "csv",
        "Ranks (CSV)",
        "Initial and propagated rank and score of every admissible node.",
        ranks_csv,
        "text/csv",
        asks=True,
    ),
}
"""Name to format."""
