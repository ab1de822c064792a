"""Registry of export formats; the app and the command line offer every row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from segviz import store
from segviz.export.graphs import graphml
from segviz.export.html import html_page
from segviz.export.sheet import Sheet, film, sheet
from segviz.export.snippet import python_snippet
from segviz.export.tables import nodes_csv, ranks_csv


@dataclass(frozen=True)
class Format:
    """Kind of file that a view can be exported as.

    Attributes:
        part, ending: parts of the file's name, see :func:`segviz.export.text.file_name`.
        label, about: name and description in menus.
        make: returns the file's content for a view. With ``needs_browser`` it also takes ``dark``
            and returns a sheet, which a browser draws (``segviz.export.pictures``).
        mime: media type.
        asks: True if the view must have a question.
        needs_browser: True for a picture.
        bare: False if the file makes no sense without texts (``segviz.export.bare``).
    """

    part: str
    ending: str
    label: str
    about: str
    make: Callable[..., str | bytes | Sheet]
    mime: str
    asks: bool = False
    needs_browser: bool = False
    bare: bool = True


FORMATS: dict[str, Format] = {
    "html": Format(
        "view",
        "html",
        "Interactive page (HTML)",
        "One file that works offline: the tree with its controls, texts and evidence. It also "
        "saves PNG and SVG and prints to PDF.",
        html_page,
        "text/html",
    ),
    "png": Format(
        "view",
        "png",
        "Picture (PNG)",
        "The picture in dots, for slides and messages; drawn by an installed browser.",
        partial(sheet, "png"),
        "image/png",
        needs_browser=True,
    ),
    "svg": Format(
        "view",
        "svg",
        "Picture (SVG)",
        "The view as a vector picture, with legend; drawn by an installed browser.",
        partial(sheet, "svg"),
        "image/svg+xml",
        needs_browser=True,
    ),
    "animation": Format(
        "alpha",
        "webp",
        "Animation of α (WebP)",
        "The picture while α moves from 0 to .95, again and again; drawn by an installed browser.",
        film,
        "image/webp",
        asks=True,
        needs_browser=True,
    ),
    "session": Format(
        "session",
        "npz",
        "Session",
        "The memory and what you look at: opened in segviz, by upload or path, it shows this view "
        "again. Nothing else is needed.",
        lambda view: store.pack(view.session),
        "application/octet-stream",
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
        lambda view: graphml(view.structure, view.memory.conversation.id, view.labels),
        "application/xml",
    ),
    "nodes": Format("nodes", "csv", "Nodes (CSV)", "A row for each node.", nodes_csv, "text/csv"),
    "ranks": Format(
        "ranks",
        "csv",
        "Ranks (CSV)",
        "Initial and propagated rank and score of every admissible node.",
        ranks_csv,
        "text/csv",
        asks=True,
    ),
    "python": Format(
        "view",
        "py",
        "Python that reproduces it",
        "A script that brings back this memory and, on Ask, these scores.",
        python_snippet,
        "text/x-python",
        bare=False,
    ),
}
"""Name to format."""
