"""Operations on finished MemForest memories: deletion, other fan-outs, and merging two.

Merging reads no unit again: trees only one memory has are copied as they are, summaries
included. Facts both state become one; the items of trees both have go into the larger
forest's tree, and only the nodes above them are written anew.

Source of merging: MemForest §4.4 and §5.6. Departs from the source: two facts are one when
their words are equal; near duplicates are not judged again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from segviz.construct import Operation
from segviz.conversation import Unit
from segviz.systems.common.draft import leaf_of
from segviz.systems.memforest.facts import FACT, Ingest, entities
from segviz.systems.memforest.trees import FAMILIES

OPERATIONS: dict[str, Operation] = {
    "delete": Operation(
        "Delete a unit",
        "A unit leaves with the facts only it states; what stood above is written anew.",
        {"unit": "unit"},
    ),
    "delete_session": Operation(
        "Delete a session",
        "All units of a session leave, its tree and the facts only they state.",
        {"session": "session"},
    ),
    "migrate": Operation(
        "Change the fan-out",
        "All trees are built again over the same items with at most k children a node.",
        {"k": "number"},
    ),
    "entity": Operation(
        "Entity tree on or off",
        "The root of an entity's tree: the tree goes, its facts stay in their others. "
        "A fact: the entities in it get trees over all facts that name them.",
        {"node": "node"},
    ),
}


def apply_operation(
    name: str, arguments: Mapping[str, int], units: Sequence[Unit], ingest: Ingest
) -> str:
    """Does one of ``OPERATIONS`` to the memory of these units that ``ingest`` took up; returns the
    note as one sentence. ValueError says why it cannot be done."""
    draft, forest = ingest.draft, ingest.forest
    match name:
        case "delete":
            unit = arguments["unit"]
            gone = ingest.forget(leaf_of(unit, draft))
            return f"Unit {unit} was deleted with {gone} facts."
        case "delete_session":
            session = arguments["session"]
            leaves = (n for n in range(len(draft)) if draft.active[n] and draft.level[n] == 0)
            held = [n for n in leaves if units[draft.span[n][0]].session == session]
            if not held:
                raise ValueError(
                    f"session {session} has no units in this memory; give one that has"
                )
            gone = sum([ingest.forget(leaf) for leaf in held])
            return f"Session {session} was deleted: {len(held)} units and {gone} facts."
        case "migrate":
            k = arguments["k"]
            if not 3 <= k <= 32:
                raise ValueError(f"k is {k}; it must lie between 3 and 32")
            roots = [root for family in FAMILIES for root in forest.trees(family)]
            for root in roots:
                forest.replant(root, k, forest.items(root))
            return f"{len(roots)} trees were built again with at most {k} children a node."
    return _switch(arguments["node"], ingest)


def _switch(node: int, ingest: Ingest) -> str:
    """Removes an entity's tree, or gives the entities of a fact their trees."""
    draft, forest = ingest.draft, ingest.forest
    if node in forest.trees("entity"):
        forest.fell(node)
        return f"The tree of “{draft.facts[node]['label']}” was taken away."
    if not draft.has(node, FACT):
        raise ValueError(f"node {node} is neither a fact nor the root of an entity's tree")
    treeless = [n for n in entities(draft, node) if forest.root("entity", n) is None]
    if not treeless:
        raise ValueError(f"every entity of fact {node} has its tree already")
    for entity in treeless:
        ingest.activate(entity)
    return f"{', '.join(f'“{n}”' for n in treeless)} got a tree."
