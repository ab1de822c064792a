"""Maintenance of a segment tree: compressing, rebuilding, merging repeated leaves.

SegTreeMem names incremental maintenance as future work (local subtree rebuilding, periodic
compression, duplicate cleanup); how it is done here is ours. Every operation keeps time:
spans stay contiguous, children consecutive, and no unit is lost. What it gives up is that
all leaves lie equally deep, so the invariants afterwards are ``maintained-segment-tree``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from segviz.construct import Annotate, Compatibility
from segviz.construct.protocols import arriving
from segviz.conversation import Unit
from segviz.systems.common.annotation import write
from segviz.systems.common.draft import Draft
from segviz.systems.segment_tree.builder import SegmentTreeBuilder
from segviz.tree import Structure, replay
from segviz.tree.structure import reachable


def compress(draft: Draft) -> int:
    """Removes every node with a single child, whose text it repeats; returns their number."""
    inner = sorted(
        (n for n in range(len(draft)) if draft.active[n] and draft.children[n]),
        key=draft.level.__getitem__,
    )
    single = [node for node in inner if len(draft.children[node]) == 1]
    end = list(range(len(draft)))  # where the chain that begins at a node ends
    for node in single:
        end[node] = end[draft.children[node][0]]
    children = {n: [end[c] for c in draft.children[n]] for n in inner if end[n] == n}
    for node in single:
        draft.remove(node)
    for node, below in children.items():
        draft.arrange(node, below)
    return len(single)


def rebuild(
    draft: Draft, node: int, units: Sequence[Unit], model: Compatibility, annotate: Annotate
) -> tuple[int, int]:
    """Inserts the units below ``node`` anew, as if the conversation held only them.

    The node and its leaves stay, everything between them is made again by Algorithm 1;
    ancestors are written again, and lifted where the new subtree is higher than the old.
    Returns the nodes taken out and the texts written. ValueError without two leaves.
    """
    leaves = sorted(draft.coverage(node), key=draft.span.__getitem__)
    if len(leaves) < 2:
        raise ValueError(f"node {node} holds {len(leaves)} leaf; choose one above two or more")
    tree = SegmentTreeBuilder(annotate, draft.embedder, lazy=False)
    spoken = [replace(units[draft.span[leaf][0]], text=draft.text[leaf]) for leaf in leaves]
    steps = [
        tree.insert(arrival, model, closes_session=False)
        for arrival in arriving(spoken, draft.vectors(leaves))
    ]
    gone = _replant(draft, node, leaves, replay(steps))
    written = sum(step.cost.annotated for step in steps)
    return gone, written + refresh(draft, draft.parents[node], annotate)


def _replant(draft: Draft, node: int, leaves: Sequence[int], local: Structure) -> int:
    """Puts the inner nodes of ``local`` between ``node`` and its leaves in place of what is
    there; how many nodes that took out."""
    # Clear what stands between the node and its leaves, add the new inner nodes without edges,
    # then link all in the order of ``local``, whose root is ``node`` and whose leaves are kept.
    old = [n for n in draft.below(node) if n != node and draft.level[n] > 0]
    for gone in old:
        draft.remove(gone)
    draft.arrange(node, ())
    here = dict(zip(local.leaves, leaves, strict=True))
    root = local.roots[0]
    here[root] = node
    for made in range(len(local)):
        if made not in here:
            level, text, vector = int(local.level[made]), local.text[made], local.vector[made]
            here[made] = draft.add(level, (), text, vector=vector)
    for made in range(len(local)):
        for child in local.children[made]:
            draft.link(here[made], here[child])
    _lift(draft, node, int(local.level[root]))
    draft.rewrite([node], [local.text[root]])
    return len(old)


def merge_duplicates(draft: Draft, percent: int, annotate: Annotate) -> tuple[int, int]:
    """Makes one leaf of sibling leaves that follow each other and say the same.

    ``percent``: at 100 texts must agree but for case and spaces, below that the cosine of
    their vectors must reach it. The merged leaf covers the units of all and keeps
    every different line once. Returns the leaves taken out and the texts written.
    ValueError for a value outside 50 … 100.
    """
    if not 50 <= percent <= 100:
        raise ValueError(f"percent is {percent}; it must lie between 50 and 100")
    gone, changed = 0, []
    for parent in [n for n in range(len(draft)) if draft.active[n] and draft.children[n]]:
        for run in _runs(draft, parent, percent):
            texts = (draft.text[leaf] for leaf in run)
            lines = dict.fromkeys(line for text in texts for line in text.split("\n"))
            draft.span[run[0]] = (draft.span[run[0]][0], draft.span[run[-1]][1])
            for leaf in run[1:]:
                draft.remove(leaf)
            draft.rewrite([run[0]], ["\n".join(lines)])
            gone += len(run) - 1
            changed.append(parent)
    return gone, refresh(draft, changed, annotate)


def _runs(draft: Draft, parent: int, percent: int) -> list[list[int]]:
    """Runs of two or more similar leaves among the children of a node."""
    runs: list[list[int]] = []
    for child in draft.children[parent]:
        if draft.level[child] > 0:
            runs.append([])
        elif runs and runs[-1] and _similar(draft, runs[-1][0], child, percent):
            runs[-1].append(child)
        else:
            runs.append([child])
    return [run for run in runs if len(run) > 1]


def _similar(draft: Draft, first: int, second: int, percent: int) -> bool:
    one, other = (" ".join(draft.text[leaf].casefold().split()) for leaf in (first, second))
    if one == other or percent == 100:
        return one == other
    return draft.cosines(draft.vectors([first])[0], [second])[0] >= percent / 100


def refresh(draft: Draft, nodes: Iterable[int], annotate: Annotate) -> int:
    """Writes these nodes and all above them again, from low to high; texts written."""
    written = 0
    for node in sorted(reachable(draft.parents, nodes), key=lambda n: (draft.level[n], n)):
        group = [draft.text[child] for child in draft.children[node]]
        text = write(annotate, [group])[0]
        written += len(group) > 1
        if text != draft.text[node]:
            draft.rewrite([node], [text])
    return written


def _lift(draft: Draft, node: int, level: int) -> None:
    """Puts a node on at least this level, and its ancestors above it."""
    while draft.level[node] < level:
        draft.raise_to(node, level)
        if not draft.parents[node]:
            return
        node, level = draft.parents[node][0], level + 1
