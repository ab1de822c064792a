"""Taking a unit out of a tree of topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from segviz.construct import Annotate, View
from segviz.systems.common.annotation import write
from segviz.systems.common.flat import leaf_to_delete
from segviz.tree import Cost, Event, Link, Retire, Revise, Unlink, Vector


@dataclass(slots=True)
class _Row:
    """What is known of a node while the nodes above a deletion are rewritten."""

    level: int
    start: int
    stop: int
    text: str
    vector: Vector


def prune(arguments: Mapping[str, int], view: View, annotate: Annotate) -> tuple[list[Event], Cost]:
    """The events that delete a unit's leaf from a forest with one parent each.

    A topic left with one child gives its place to it. Texts, spans and levels above are
    made anew from the children, from below upwards. ValueError when no leaf holds the unit.
    """
    s = view.structure
    leaf = leaf_to_delete(arguments, view)
    above = [leaf]
    while s.parents[above[-1]]:
        above.append(s.parents[above[-1]][0])
    if len(above) == 1:
        return [Retire(leaf)], Cost(modified=1)
    parent = above[1]
    events: list[Event] = [Unlink(parent, leaf), Retire(leaf)]
    children = {node: [c for c in s.children[node] if c != leaf] for node in above[1:]}
    retired = 1
    if len(children[parent]) == 1:
        (only,) = children[parent]
        events.append(Unlink(parent, only))
        if len(above) > 2:
            upper = above[2]
            events.append(Unlink(upper, parent))
            children[upper] = [c for c in children[upper] if c != parent] + [only]
            events.append(Link(upper, only))
        events.append(Retire(parent))
        retired += 1
        above.pop(1)
    rows = {
        node: _Row(
            int(s.level[node]), int(s.start[node]), int(s.stop[node]), s.text[node], s.vector[node]
        )
        for lower in above[1:]
        for node in children[lower]
    }
    for node in above[1:]:
        below = sorted((rows[child] for child in children[node]), key=lambda row: row.start)
        text = write(annotate, [[row.text for row in below]])[0]
        vector = view.services.embedder.embed([text])[0]
        span = (below[0].start, max(row.stop for row in below))
        level = 1 + max(row.level for row in below)
        rows[node] = _Row(level, *span, text, vector)
        events.append(Revise(node, span, text, vector, level))
    rewritten = len(above) - 1
    return events, Cost(annotated=rewritten, modified=retired + rewritten)
