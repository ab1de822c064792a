"""What can be done to a finished MemForest: units and sessions leave, trees are rebuilt."""

from __future__ import annotations

from collections.abc import Mapping

from segviz.construct import Operation, View
from segviz.systems.common.draft import Draft
from segviz.systems.common.draft_helpers import leaf_of
from segviz.systems.memforest.facts import FACT, Ingest
from segviz.systems.memforest.trees import FAMILIES, Forest

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


def operated(
    name: str,
    arguments: Mapping[str, int],
    view: View,
    draft: Draft,
    forest: Forest,
    ingest: Ingest,
) -> str:
    """Do one of ``OPERATIONS`` to ``draft``, the memory in ``view``; what happened as one
    sentence. ValueError says why it cannot be done."""
    match name:
        case "delete":
            unit = arguments["unit"]
            gone = ingest.forget(leaf_of(unit, draft))
            return f"Unit {unit} was deleted with {gone} facts."
        case "delete_session":
            return _delete_session(arguments["session"], view, draft, ingest)
        case "migrate":
            return _migrate(arguments["k"], forest)
        case "entity":
            return _switch(arguments["node"], draft, forest, ingest)
    raise ValueError(f"unknown operation {name!r}; choose one of {', '.join(OPERATIONS)}")


def _delete_session(session: int, view: View, draft: Draft, ingest: Ingest) -> str:
    units = [
        n
        for n in range(len(draft))
        if draft.active[n]
        and draft.level[n] == 0
        and view.units[draft.span[n][0]].session == session
    ]
    if not units:
        raise ValueError(f"session {session} has no units in this memory; give one that has")
    gone = sum([ingest.forget(unit) for unit in units])
    return f"Session {session} was deleted: {len(units)} units and {gone} facts."


def _migrate(k: int, forest: Forest) -> str:
    if not 3 <= k <= 32:
        raise ValueError(f"k is {k}; it must lie between 3 and 32")
    roots = [root for family in FAMILIES for root in forest.trees(family)]
    for root in roots:
        forest.replant(root, k, forest.items(root))
    return f"{len(roots)} trees were built again with at most {k} children a node."


def _switch(node: int, draft: Draft, forest: Forest, ingest: Ingest) -> str:
    """The entity's tree goes, or the entities of a fact get theirs."""
    if node in forest.trees("entity"):
        forest.fell(node)
        return f"The tree of “{draft.facts[node]['label']}” was taken away."
    if not (0 <= node < len(draft) and draft.active[node] and draft.kind[node] == FACT):
        raise ValueError(f"node {node} is neither a fact nor the root of an entity's tree")
    names = [n for n in str(draft.facts[node]["entities"]).split("\n") if n]
    treeless = [n for n in names if forest.root("entity", n) is None]
    if not treeless:
        raise ValueError(f"every entity of fact {node} has its tree already")
    for entity in treeless:
        ingest.activate(entity)
    return f"{', '.join(f'“{n}”' for n in treeless)} got a tree."
