"""MemForest's trees: items in the order of time under nodes of at most k children.

A tree is known by its root, which stays the same node while the tree grows and shrinks
under it. Items (cells, facts) lie on level 1 and may be in several trees; everything a tree
must remember is in its nodes' facts. This module keeps the shape of the trees; what their
nodes say is kept by ``memforest_summaries``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise

from segviz.construct import Annotate
from segviz.systems.common.draft import Draft
from segviz.systems.memforest.summaries import Summaries, heading, summed
from segviz.tree import Scalar, as_number

FAMILIES = ("session", "entity", "scene")
INTERVAL = "interval"


class Forest:
    """The trees of a draft and their edits; ``summaries`` knows what an edit left out of date."""

    def __init__(self, draft: Draft, annotate: Annotate) -> None:
        """Take up the trees as they stand in ``draft``."""
        self.summaries = Summaries(draft, annotate)
        self._draft = draft
        self._roots: dict[tuple[str, str], int] = {}
        self._family: dict[str, dict[int, None]] = {family: {} for family in FAMILIES}
        for node in range(len(draft)):
            if draft.active[node] and draft.kind[node] in FAMILIES:
                self.settle(node)

    def root(self, family: str, scope: str) -> int | None:
        """The tree of this scope, if there is one."""
        return self._roots.get((family, scope))

    def trees(self, family: str) -> list[int]:
        """Roots of a family, oldest first."""
        return list(self._family[family])

    def items(self, root: int) -> list[int]:
        """The items of a tree in the order of time."""
        layer = [root]
        while layer and self._draft.level[layer[0]] > 1:
            layer = [child for node in layer for child in self._draft.children[node]]
        return layer

    def holds(self, root: int, item: int) -> bool:
        """Whether an item is in a tree."""
        return any(self._above(parent) == root for parent in self._draft.parents[item])

    def _above(self, node: int) -> int:
        while self._draft.parents[node]:
            node = self._draft.parents[node][0]
        return node

    def homes(self, item: int) -> list[int]:
        """Roots of the trees an item is in."""
        return [self._above(parent) for parent in self._draft.parents[item]]

    def plant(self, family: str, scope: str, label: str, k: int, item: int, **more: Scalar) -> int:
        """A new tree over its first item."""
        facts: dict[str, Scalar] = {
            "scope": scope,
            "label": label,
            "k": k,
            **more,
            **summed(self._draft, [item]),
        }
        draft = self._draft
        root = draft.add(2, [item], heading(facts) + draft.text[item], family, facts)
        self.settle(root)
        self.summaries.touch(root)
        return root

    def insert(self, root: int, item: int) -> None:
        """Put an item in its place in time; nodes that grow beyond k are cut in the middle."""
        draft = self._draft
        k = int(draft.facts[root]["k"] or 2)
        when = as_number(draft.facts[item], "from")
        path = [root]
        while draft.level[path[-1]] > 2:
            path.append(self._toward(path[-1], when))
        node = path[-1]
        children = list(draft.children[node])
        place = bisect_right([as_number(draft.facts[c], "from") for c in children], when)
        draft.arrange(node, [*children[:place], item, *children[place:]])
        while len(draft.children[path[-1]]) > k:
            node = path.pop()
            if not path:
                self._deepen(node)
                break
            self._split(path[-1], node)
        self.summaries.mend(self._path(item, root))

    def _toward(self, node: int, when: float) -> int:
        children = self._draft.children[node]
        starts = [as_number(self._draft.facts[c], "from") for c in children]
        return children[max(0, bisect_right(starts, when) - 1)]

    def _split(self, parent: int, node: int) -> None:
        """Move the later half of a node's children to a new node behind it."""
        draft = self._draft
        children = list(draft.children[node])
        half = len(children) // 2
        draft.arrange(node, children[:half])
        later = self._interval(draft.level[node], children[half:])
        siblings = list(draft.children[parent])
        place = siblings.index(node) + 1
        draft.arrange(parent, [*siblings[:place], later, *siblings[place:]])
        self.summaries.mend([node, later])

    def _deepen(self, root: int) -> None:
        """The root keeps its name and gets two nodes between itself and its children."""
        draft = self._draft
        children = list(draft.children[root])
        half = len(children) // 2
        draft.arrange(root, [])
        level = draft.level[root]
        draft.raise_to(root, level + 1)
        parts = [self._interval(level, part) for part in (children[:half], children[half:])]
        draft.arrange(root, parts)
        self.summaries.mend([*parts, root])

    def _interval(self, level: int, children: Sequence[int]) -> int:
        first = self._draft.text[children[0]]
        node = self._draft.add(level, children, first, INTERVAL, summed(self._draft, children))
        self.summaries.touch(node)
        return node

    def remove(self, root: int, item: int) -> None:
        """Take an item out; nodes below half of k borrow from or join a neighbour, and an
        empty tree goes."""
        draft = self._draft
        k = int(draft.facts[root]["k"] or 2)
        path = self._path(item, root)
        draft.unlink(path[0], item)
        for place, node in enumerate(path):
            if node == root:
                break
            if not draft.active[node] or len(draft.children[node]) >= (k + 1) // 2:
                continue
            self._refill(path[place + 1], node, k)
        while draft.level[root] > 2 and len(draft.children[root]) == 1:
            only = draft.children[root][0]
            below = list(draft.children[only])
            self._drop(only)
            draft.raise_to(root, draft.level[root] - 1)
            draft.arrange(root, below)
        if not draft.children[root]:
            self.fell(root)
        else:
            self.summaries.mend([n for n in path if draft.active[n]])

    def _refill(self, parent: int, node: int, k: int) -> None:
        draft = self._draft
        siblings = list(draft.children[parent])
        place = siblings.index(node)
        if len(siblings) == 1:
            return  # the root collapses onto it
        left, right = siblings[place - 1 : place + 1] if place else siblings[:2]
        together = [*draft.children[left], *draft.children[right]]
        draft.arrange(right, [])
        if len(together) <= k:
            self._drop(right)
            draft.arrange(left, together)
            self.summaries.mend([left])
            return
        draft.arrange(left, together[: len(together) // 2])
        draft.arrange(right, together[len(together) // 2 :])
        self.summaries.mend([left, right])

    def _drop(self, node: int) -> None:
        self.summaries.forget(node)
        self._draft.remove(node)

    def fell(self, root: int) -> list[int]:
        """Take a tree away; the items it held, in order."""
        draft = self._draft
        held = self.items(root) if draft.children[root] else []
        for node in self._inner(root):
            self._drop(node)
        del self._roots[draft.kind[root], str(draft.facts[root]["scope"])]
        del self._family[draft.kind[root]][root]
        return held

    def settle(self, root: int) -> None:
        """Know a tree whose nodes are in the draft already."""
        family = self._draft.kind[root]
        self._roots[family, str(self._draft.facts[root]["scope"])] = root
        self._family[family][root] = None

    def replant(self, root: int, k: int, items: Iterable[int]) -> None:
        """Build a tree anew under its root, level by level, with at most k children."""
        draft = self._draft
        for node in self._inner(root)[1:]:
            self._drop(node)
        layer = list(items)
        draft.arrange(root, [])
        draft.note(root, k=k)
        level = 1
        while len(layer) > k:
            level += 1
            layer = [self._interval(level, part) for part in _even(layer, k)]
        draft.raise_to(root, level + 1)
        draft.arrange(root, layer)
        self.summaries.mend([root])

    def _inner(self, root: int) -> list[int]:
        """The nodes of a tree above its items, from the root down."""
        inner = [root]
        for node in inner:
            inner += [c for c in self._draft.children[node] if self._draft.level[c] > 1]
        return inner

    def _path(self, item: int, root: int) -> list[int]:
        """Nodes from an item's parent in this tree up to the root."""
        draft = self._draft
        for parent in draft.parents[item]:
            path = [parent]
            while draft.parents[path[-1]]:
                path.append(draft.parents[path[-1]][0])
            if path[-1] == root:
                return path
        raise ValueError(f"item {item} is not in tree {root}")

    def touch_item(self, item: int) -> None:
        """An item's text or time changed: everything above it is out of date."""
        for root in self.homes(item):
            self.summaries.mend(self._path(item, root))


def _even(layer: Sequence[int], k: int) -> list[Sequence[int]]:
    """Consecutive parts of at most k, as equal in size as can be."""
    count = -(-len(layer) // k)
    cuts = [round(i * len(layer) / count) for i in range(count + 1)]
    return [layer[a:b] for a, b in pairwise(cuts)]
