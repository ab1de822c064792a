"""What can be done to a finished xMemory: themes split, merged and tidied, units deleted."""

from __future__ import annotations

from collections.abc import Mapping

from segviz.construct import Annotate, Operation
from segviz.systems.common.draft import Draft
from segviz.systems.xmemory.episodes import forget
from segviz.systems.xmemory.themes import SEMANTIC, THEME, Themes

OPERATIONS: dict[str, Operation] = {
    "split": Operation(
        "Split a theme",
        "A theme is cut into parts of at most half its size, the way f is highest.",
        {"theme": "node"},
    ),
    "merge": Operation(
        "Merge two themes",
        "Two themes become one, if they fit; what f gains or loses is told.",
        {"theme": "node", "other": "node"},
    ),
    "reassign": Operation(
        "Reassign a statement",
        "A statement is attached to another theme; a theme left empty goes.",
        {"statement": "node", "theme": "node"},
    ),
    "upkeep": Operation(
        "Tidy up",
        "Every theme is looked at again: split where too large, merged where f gains.",
        {},
    ),
    "delete": Operation(
        "Delete a unit",
        "A unit leaves with the statements only it supports.",
        {"unit": "unit"},
    ),
}

_KINDS = {"theme": THEME, "other": THEME, "statement": SEMANTIC}


def operated(
    name: str,
    arguments: Mapping[str, int],
    draft: Draft,
    themes: Themes,
    annotate: Annotate,
    most: int,
) -> str:
    """Do one of ``OPERATIONS`` to ``draft``, whose ``themes`` hold at most ``most``
    statements each; what happened as one sentence. ValueError says why it cannot be done."""
    for argument, kind in _KINDS.items():
        if argument in arguments:
            _require(draft, arguments[argument], kind)
    match name:
        case "split":
            _split(arguments["theme"], draft, themes)
        case "merge":
            _merge(arguments["theme"], arguments["other"], draft, themes, most)
        case "reassign":
            _reassign(arguments["statement"], arguments["theme"], draft, themes, most)
        case "upkeep":
            themes.all_touched()
            themes.upkeep()
        case "delete":
            themes.told.append(forget(arguments["unit"], draft, themes, annotate))
        case _:
            raise ValueError(f"unknown operation {name!r}; choose one of {', '.join(OPERATIONS)}")
    told = "; ".join(themes.told) or "nothing had to change"
    return f"{told[0].upper()}{told[1:]}."


def _require(draft: Draft, node: int, kind: str) -> None:
    if not (0 <= node < len(draft) and draft.active[node] and draft.kind[node] == kind):
        what = "statement" if kind == SEMANTIC else kind
        raise ValueError(f"node {node} is not a {what} of this memory")


def _split(theme: int, draft: Draft, themes: Themes) -> None:
    size = len(draft.children[theme])
    if size < 2:
        raise ValueError(f"theme {theme} has one statement; there is nothing to split")
    themes.split(theme, -(-size // 2))


def _merge(theme: int, other: int, draft: Draft, themes: Themes, most: int) -> None:
    size = len(draft.children[theme]) + len(draft.children[other])
    if theme == other or size > most:
        raise ValueError(
            f"themes {theme} and {other} would hold {size} statements; give two themes "
            f"that together hold at most {most}"
        )
    themes.merge(theme, other)


def _reassign(statement: int, theme: int, draft: Draft, themes: Themes, most: int) -> None:
    if theme in draft.parents[statement] or len(draft.children[theme]) >= most:
        raise ValueError(f"statement {statement} is in theme {theme}, or no room is left")
    themes.move(statement, theme)
    themes.told.append(f"statement {statement} moved to theme {theme}")
