"""MemForest's trees: items in the order of time under nodes of at most k children.

A tree is identified by its root, which stays the same node while the tree grows below it. Items
(cells, facts) lie on level 1 and may be in several trees. A node's state is in its facts: its
content is ``from`` … ``to`` (seconds; ``dated`` if those are dates) and counts ``items``; ``dirty``
nodes wait for a refresh.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

import numpy as np

from segviz.construct import Annotate, Row
from segviz.construct.annotate import Annotation
from segviz.conversation import as_time
from segviz.systems.common.annotation import write
from segviz.systems.common.side_tables import dated, moment
from segviz.systems.common.structure_editor import Draft
from segviz.tree import Add, Facts, Revise, Scalar, Step, Structure, as_number
from segviz.tree.invariants import Violation, fact
from segviz.tree.structure import above_items


class Summaries:
    """Times, counts and texts of the trees' nodes, with the set of dirty nodes."""

    def __init__(self, draft: Draft, annotate: Annotate, leaves: str) -> None:
        """Continues with the dirty nodes in ``draft``; ``leaves`` as in ``MemForestComponents``."""
        self._draft = draft
        self._annotate = annotate
        self._leaves = leaves
        self._dirty: dict[int, None] = {
            n: None for n in range(len(draft)) if draft.active[n] and draft.facts[n].get("dirty")
        }

    @property
    def dirty(self) -> int:
        """Number of nodes above the items that wait for a refresh."""
        return sum(self._draft.level[node] > 1 for node in self._dirty)

    def touch(self, node: int) -> None:
        """Marks a node as dirty: its summary is out of date."""
        self._dirty[node] = None

    def forget(self, node: int) -> None:
        """Drops a removed node from the dirty ones."""
        self._dirty.pop(node, None)

    def mend(self, nodes: Iterable[int]) -> None:
        """Updates times and counts, bottom up; marks the nodes dirty (Algorithm 1, line 10)."""
        draft = self._draft
        for node in sorted(set(nodes), key=lambda n: (draft.level[n], n)):
            draft.note(node, **totals(draft, draft.children[node]))
            self.touch(node)

    def refresh(self) -> tuple[int, int]:
        """Writes the dirty nodes level by level, low to high (Algorithm 1, lines 17 to 31).

        Returns the numbers of nodes refreshed above the items, and of texts the annotator wrote.
        """
        draft, waiting = self._draft, self.dirty
        dirty = list(self._dirty)
        self._dirty = {}
        written = 0
        for level in sorted({draft.level[n] for n in dirty}):
            row = sorted(n for n in dirty if draft.level[n] == level)
            # Algorithm 1, lines 18 to 26: nodes of one level are independent.
            groups = [self._parts(n) for n in row]
            written += sum(len(group) > 1 for group in groups)
            texts = write(self._annotate, groups)
            heads = [heading(draft.facts[n]) if level > 1 else "" for n in row]
            draft.rewrite(
                row, [replace(t, text=h + t.text) for h, t in zip(heads, texts, strict=True)]
            )
        for node in dirty:
            if draft.facts[node].get("dirty"):
                draft.note(node, dirty=False)
        return waiting, written

    def _parts(self, node: int) -> list[Annotation]:
        """Returns the texts from which a node is written: its children's, or a cell's turns."""
        draft = self._draft
        if draft.level[node] > 1:
            return [
                Annotation(
                    _body(draft, child),
                    draft.annotation(child).facts,
                    days=_days(draft.facts[child]),
                )
                for child in draft.children[node]
            ]
        dialogue, days = payload(draft, node), _days(draft.facts[node])
        lines = dialogue.split("\n") if self._leaves == "summarised" else [dialogue]
        return [Annotation(line, days=days) for line in lines]

    def mark(self) -> None:
        """Records in the facts which nodes are dirty, so that a saved memory knows them, too."""
        for node in self._dirty:
            if not self._draft.facts[node].get("dirty"):
                self._draft.note(node, dirty=True)


def payload(draft: Draft, cell: int) -> str:
    """Returns the dialogue of a cell, a line for each turn."""
    return "\n".join(draft.text[unit] for unit in draft.children[cell])


def totals(draft: Draft, children: Sequence[int]) -> dict[str, Scalar]:
    """Returns the times and the item count of a node over ``children``, as facts."""
    facts = [draft.facts[child] for child in children]
    return {
        "from": min(as_number(f, "from") for f in facts),
        "to": max(as_number(f, "to") for f in facts),
        "items": sum(int(f.get("items") or 1) for f in facts),
        "dated": all(bool(f.get("dated")) for f in facts),
    }


def heading(facts: Facts) -> str:
    """Returns the first line of a summary: ``[dates | label]``, "" if neither is known."""
    parts = [str(facts.get("label") or "")]
    if days := [day.isoformat() for day in _days(facts)]:
        parts.insert(0, " to ".join(dict.fromkeys(days)))
    head = " | ".join(filter(None, parts))
    return f"[{head}]\n" if head else ""


def _days(facts: Facts) -> tuple[date, ...]:
    """Returns the first and the last day of a node; () if unknown."""
    if not facts.get("dated"):
        return ()
    return tuple(as_time(as_number(facts, end)).date() for end in ("from", "to"))


def _body(draft: Draft, node: int) -> str:
    text = draft.text[node]
    return text.removeprefix(heading(draft.facts[node])) if draft.level[node] > 1 else text


def beside(memory: Draft | Structure, item: int, kind: str) -> list[int]:
    """Returns the items of a kind that share a unit with ``item``, once for each shared unit."""
    units = memory.children[item]
    return [p for unit in units for p in memory.parents[unit] if memory.kind[p] == kind]


FAMILIES = ("session", "entity", "scene")
CELL, INTERVAL = "cell", "interval"


class Forest:
    """Trees of a draft and their edits; ``summaries`` has the nodes an edit left dirty."""

    def __init__(self, draft: Draft, annotate: Annotate, leaves: str) -> None:
        """Starts without trees; ``leaves`` as in ``Summaries``."""
        self.summaries = Summaries(draft, annotate, leaves)
        self._draft = draft
        self._roots: dict[tuple[str, str], int] = {}

    def root(self, family: str, scope: str) -> int | None:
        """Returns the root of a family's tree with the name ``scope``; None without one."""
        return self._roots.get((family, scope))

    def trees(self, family: str) -> list[int]:
        """Returns the roots of a family's trees, oldest first."""
        return [root for (of, _), root in self._roots.items() if of == family]

    def items(self, root: int) -> list[int]:
        """Returns the items of a tree in the order of time."""
        layer = [root]
        while layer and self._draft.level[layer[0]] > 1:
            layer = [child for node in layer for child in self._draft.children[node]]
        return layer

    def holds(self, root: int, item: int) -> bool:
        """Returns True if an item is in the tree of ``root``."""
        return root in self.homes(item)

    def homes(self, item: int) -> list[int]:
        """Returns the roots of the trees an item is in."""
        return [self._draft.upwards(parent)[-1] for parent in self._draft.parents[item]]

    def plant(self, family: str, scope: str, label: str, k: int, item: int, **more: Scalar) -> int:
        """Starts a tree over its first item, with ``more`` facts of its root; returns the root."""
        draft = self._draft
        facts: Facts = {"scope": scope, "label": label, "k": k, **more, **totals(draft, [item])}
        root = draft.add(2, [item], heading(facts) + draft.text[item], family, facts)
        self._roots[family, scope] = root
        self.summaries.touch(root)
        return root

    def insert(self, root: int, item: int) -> None:
        """Inserts an item by time and splits nodes of over k children (Algorithm 1, lines 7-10)."""
        draft = self._draft
        k = int(draft.facts[root]["k"] or 2)
        # Down to the last inner node whose interval begins no later than the item.
        path = [root]
        while draft.level[path[-1]] > 2:
            place = self._place(path[-1], item)
            path.append(draft.children[path[-1]][max(0, place - 1)])
        node, place = path[-1], self._place(path[-1], item)
        children = draft.children[node]
        draft.arrange(node, [*children[:place], item, *children[place:]])
        # As in a B-tree, a split may overflow the parent, up to the root.
        while len(draft.children[path[-1]]) > k:
            node = path.pop()
            if not path:
                self._deepen(node)
                break
            self._split(path[-1], node)
        self.summaries.mend(self._path(item, root))

    def _place(self, node: int, item: int) -> int:
        """Returns the number of a node's children that begin no later than an item."""
        facts = self._draft.facts
        starts = [as_number(facts[child], "from") for child in self._draft.children[node]]
        return bisect_right(starts, as_number(facts[item], "from"))

    def _split(self, parent: int, node: int) -> None:
        """Moves the later half of a node's children to a new node behind it."""
        draft = self._draft
        children = list(draft.children[node])
        # Both halves are contiguous in time, so the children's order survives the split.
        half = len(children) // 2
        draft.arrange(node, children[:half])
        later = self._interval(draft.level[node], children[half:])
        siblings = list(draft.children[parent])
        place = siblings.index(node) + 1
        draft.arrange(parent, [*siblings[:place], later, *siblings[place:]])
        self.summaries.mend([node, later])

    def _deepen(self, root: int) -> None:
        """Splits the root's children over two new nodes below it; the root stays the same node."""
        draft = self._draft
        children = list(draft.children[root])
        half = len(children) // 2
        draft.arrange(root, [])
        level = draft.level[root]
        # Trees are looked up by the root's id, so the root stays and its children move down.
        draft.raise_to(root, level + 1)
        parts = [self._interval(level, part) for part in (children[:half], children[half:])]
        draft.arrange(root, parts)
        self.summaries.mend([*parts, root])

    def _interval(self, level: int, children: Sequence[int]) -> int:
        """Adds an inner node over consecutive children; it is dirty at first."""
        first = self._draft.text[children[0]]
        node = self._draft.add(level, children, first, INTERVAL, totals(self._draft, children))
        self.summaries.touch(node)
        return node

    def fell(self, root: int) -> list[int]:
        """Removes a tree and returns its items in the order of time."""
        draft = self._draft
        items = self.items(root)
        # The root is removed, too; a removed node keeps its kind and facts.
        for node in above_items(draft.children, draft.level, root):
            self.summaries.forget(node)
            draft.remove(node)
        del self._roots[draft.kind[root], str(draft.facts[root]["scope"])]
        return items

    def _path(self, item: int, root: int) -> list[int]:
        """Returns the nodes from the parent of an item up to ``root``, in this order."""
        for path in map(self._draft.upwards, self._draft.parents[item]):
            if path[-1] == root:
                return path
        raise ValueError(f"item {item} is not in tree {root}")

    def touch_item(self, item: int) -> None:
        """Marks all ancestors of a changed item as dirty; a cell itself, too."""
        if self._draft.kind[item] == CELL:
            self.summaries.touch(item)
        for root in self.homes(item):
            self.summaries.mend(self._path(item, root))


def forest_is_balanced(s: Structure) -> Iterator[Violation]:
    """Checks that nodes have at most k children one level below, in the order of time.

    A node other than the root has at least 2. Its times span those of its children, and its item
    count is the sum of theirs.
    """
    for node in np.flatnonzero(s.active & (s.level > 1)).tolist():
        children, root = s.children[node], node
        # Levels must rise, so that the loop also ends in a corrupt file with a cycle.
        while above := [p for p in s.parents[root] if s.level[p] > s.level[root]]:
            root = above[0]
        if len(s.parents[node]) > 1:
            yield Violation("forest", node, "one parent", str(s.parents[node]))
        # Shape: at most k children, one level below, ordered by their beginning.
        k, least = fact(s, root, "k"), 1 if root == node else 2
        if not least <= len(children) <= k:
            yield Violation("forest", node, f"{least} to {k:g} children", str(len(children)))
        if {int(s.level[c]) for c in children} - {int(s.level[node]) - 1}:
            yield Violation("forest", node, "children one level below", str(children))
        starts = [fact(s, c, "from") for c in children]
        if starts != sorted(starts):
            yield Violation("forest", node, "children in the order of time", str(starts))
        # Times and counts are totals of the children's.
        for name, expected in (
            ("from", min(starts, default=0.0)),
            ("to", max((fact(s, c, "to") for c in children), default=0.0)),
            ("items", sum(fact(s, c, "items") for c in children)),
        ):
            if fact(s, node, name) != expected:
                yield Violation("forest", node, f"{name} {expected}", str(s.facts[node].get(name)))


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
