"""Operations on finished MemForest memories: deletion, other fan-outs, and merging two.

Merging reads no unit again: trees only one memory has are copied as they are, summaries
included. Facts both state become one; the items of trees both have go into the larger
forest's tree, and only the nodes above them are written anew.

Source of merging: MemForest §4.4 and §5.6. Departs from the source: two facts are one when
their words are equal; near duplicates are not judged again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from segviz.construct import Operation
from segviz.construct.tasks.words import normalised
from segviz.conversation import Unit
from segviz.systems.common.draft import Draft, centroid, leaf_of
from segviz.systems.memforest.facts import FACT, Ingest, entities, said_again
from segviz.systems.memforest.trees import CELL, FAMILIES, heading
from segviz.tree import Facts, Structure, Vector, as_number
from segviz.tree.structure import above_items

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


def merge_memory(ingest: Ingest, other: Structure, units: Sequence[Unit]) -> tuple[int, int]:
    """Takes ``other`` into the memory that ``ingest`` took up.

    ``units`` are the other memory's, numbered and with sessions as they shall be in the
    whole. The number of trees copied and of trees grown; refreshing is left to the caller.
    """
    draft, forest = ingest.draft, ingest.forest
    node_of: dict[int, int] = {}
    shared: set[int] = set()
    for leaf in other.leaves:
        unit = units[int(other.start[leaf])]
        node_of[leaf] = draft.leaf(replace(unit, text=other.text[leaf]), other.vector[leaf])
    known = {normalised(draft.text[fact]): fact for fact in draft.of_kind(FACT)}
    for node in np.flatnonzero(other.active).tolist():
        if other.kind[node] not in (CELL, FACT):
            continue
        below = [node_of[child] for child in other.children[node]]
        same = known.get(normalised(other.text[node])) if other.kind[node] == FACT else None
        if same is None:
            facts = dict(other.facts[node])
            if other.kind[node] == CELL:
                facts["session"] = units[int(other.start[node])].session
            vector = other.vector[node]
            node_of[node] = draft.add(1, below, other.text[node], other.kind[node], facts, vector)
            continue
        node_of[node] = same
        shared.add(node)
        for child in below:
            draft.link(same, child)
        more = other.facts[node]
        said_again(draft, same, as_number(more, "to"), int(as_number(more, "occurrences")))
        forest.touch_item(same)
    return _trees(ingest, other, units, node_of, shared)


def _trees(
    ingest: Ingest,
    other: Structure,
    units: Sequence[Unit],
    node_of: dict[int, int],
    shared: set[int],
) -> tuple[int, int]:
    draft, forest = ingest.draft, ingest.forest
    copied = grown = 0
    for root in np.flatnonzero(other.active).tolist():
        family = other.kind[root]
        if family not in FAMILIES:
            continue
        inner = above_items(other.children, other.level.tolist(), root)
        held = [c for n in inner for c in other.children[n] if other.level[c] == 1]
        facts = dict(other.facts[root])
        if family == "session":
            number = units[int(other.start[held[0]])].session
            facts |= {"scope": str(number), "label": f"session {number + 1}"}
        elif family == "scene":
            facts["scope"] = f"{facts['domain']} {node_of[held[0]]}"
        target = forest.root(family, str(facts["scope"]))
        if family == "scene":
            target = _nearest_scene(ingest, centroid(other.vector[held]), facts)
        if target is None and not shared.intersection(held):
            forest.settle(_copy(draft, other, inner, facts, node_of))
            copied += 1
            continue
        grown += 1
        for item in held:
            if target is None:
                more = {n: facts[n] for n in ("domain",) if n in facts}
                k, scope = int(facts["k"] or 3), str(facts["scope"])
                target = forest.plant(family, scope, str(facts["label"]), k, node_of[item], **more)
            elif not forest.holds(target, node_of[item]):
                forest.insert(target, node_of[item])
    return copied, grown


def _copy(
    draft: Draft, other: Structure, inner: list[int], facts: Facts, node_of: dict[int, int]
) -> int:
    """Copies a tree over the same items; returns its root. Only a changed heading is embedded
    again."""
    root = inner[0]
    for node in reversed(inner):
        own = facts if node == root else other.facts[node]
        text = other.text[node].removeprefix(heading(other.facts[node]))
        text = heading(own) + text
        vector = other.vector[node] if text == other.text[node] else None
        children = [node_of[child] for child in other.children[node]]
        level = int(other.level[node])
        node_of[node] = draft.add(level, children, text, other.kind[node], own, vector)
    return node_of[root]


def _nearest_scene(ingest: Ingest, centre: Vector, facts: Facts) -> int | None:
    """Returns the scene of the same domain whose centroid is most like ``centre``, if it is like
    enough (``merge``) and has room (``full``)."""
    draft, forest, routing = ingest.draft, ingest.forest, ingest.routing
    found: list[tuple[float, int]] = []
    for root in forest.trees("scene"):
        if draft.facts[root]["domain"] != facts["domain"]:
            continue
        total = int(draft.facts[root]["items"] or 0) + int(facts["items"] or 0)
        score = float(centroid(draft.vectors(forest.items(root))) @ centre)
        if score >= routing.merge and total <= routing.full:
            found.append((score, -root))
    return -max(found)[1] if found else None
