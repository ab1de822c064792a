"""Notes of loaders -> findings of the report, in the order of the file."""

from __future__ import annotations

from collections.abc import Sequence

from segviz.conversation import Finding
from segviz.loaders.document import JsonLines
from segviz.loaders.notes import Line, Note, Place, shown


def in_file_order(document: object, notes: Sequence[Note]) -> tuple[Finding, ...]:
    """The notes as findings, sorted by where their place stands in the document.

    A missing key counts as standing after the keys there are; notes about one place keep
    the order in which they were made.
    """
    rows: dict[int, dict[str, int]] = {}

    def position(note: Note) -> list[int]:
        node: object = document
        ranks: list[int] = []
        for step in note.place:
            if isinstance(step, Line):
                ranks.append(step)
                node = None
            elif isinstance(node, dict) and isinstance(step, str):
                order = rows.setdefault(id(node), {})
                if not order:
                    order.update((key, row) for row, key in enumerate(node))
                ranks.append(order.get(step, len(node)))
                node = node.get(step)
            elif isinstance(node, list) and isinstance(step, int):
                ranks.append(node.lines[step] if isinstance(node, JsonLines) else step)
                node = node[step] if step < len(node) else None
            else:
                ranks.append(0)
                node = None
        return ranks

    return tuple(
        Finding(note.kind, shown(_with_line(document, note.place)), note.what)
        for note in sorted(notes, key=position)
    )


def _with_line(document: object, place: Place) -> Place:
    """The place with the line where a document of JSON Lines begins instead of its position."""
    if not isinstance(document, JsonLines) or not place or not isinstance(place[0], int):
        return place
    first = place[0]
    return place if isinstance(first, Line) else (Line(document.lines[first]), *place[1:])
