"""MemForest's side table: its trees, with the nodes that the last step wrote."""

from __future__ import annotations

from collections.abc import Sequence

from segviz.construct import Row
from segviz.systems.common.side_tables import dated, moment
from segviz.tree import Add, Revise, Step, Structure, as_number
from segviz.tree.structure import above_items


def tree_rows(structure: Structure, steps: Sequence[Step]) -> list[Row]:
    """Returns a row for each tree, by family and age.

    The column ``refreshed`` counts the nodes that the last step created or rewrote; the next column
    lists them from the root down. ``waiting`` counts the nodes that are rewritten when the session
    ends. ``rebuild`` is the number of texts that a new build of the tree would write: one for each
    node with several children.
    """
    # Nodes that the last step wrote.
    touched = {
        event.node
        for event in (steps[-1].events if steps else ())
        if isinstance(event, Add | Revise)
    }
    calendar, level = dated(structure), structure.level.tolist()
    trees: list[Row] = []
    for root in structure.roots:
        facts = structure.facts[root]
        if level[root] < 2:
            continue
        # Dirty nodes wait for the end of the session: their text is still the old one.
        nodes = above_items(structure.children, level, root)
        waiting = {node for node in nodes if structure.facts[node].get("dirty")}
        path = [node for node in nodes if node in touched and node not in waiting]
        trees.append(
            {
                "family": structure.kind[root],
                "tree": str(facts.get("label") or ""),
                "start": moment(as_number(facts, "from"), calendar),
                "stop": moment(as_number(facts, "to"), calendar),
                "items": round(as_number(facts, "items")),
                "nodes": len(nodes),
                "refreshed": len(path),
                "from the root down": " › ".join(map(str, path)),
                "waiting": len(waiting),
                "rebuild": sum(len(structure.children[node]) > 1 for node in nodes),
            }
        )
    return sorted(trees, key=lambda tree: tree["family"])
