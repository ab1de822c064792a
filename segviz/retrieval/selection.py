"""Ranks nodes by score and takes the best (SegTreeMem Algorithm 2, line 14)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from segviz.construct import check_number
from segviz.text.words import QUOTED, all_tokens, content_tokens
from segviz.tree import Structure
from segviz.tree.structure import once_per_structure


def admissible(structure: Structure, levels: Collection[int] | None = None) -> NDArray[np.bool_]:
    """Returns the paper's admissible set 𝒢 as bool (n,): active nodes on the given levels.

    Ghosts (leaves of messages that the memory does not store) are excluded.

    Args:
        structure: the memory at one moment.
        levels: level numbers; None for all.

    Raises:
        ValueError: ``levels`` is no collection.
    """
    if levels is None:
        return structure.retrievable
    return structure.retrievable & np.isin(structure.level, ascending(levels))


def ascending(levels: Collection[int]) -> tuple[int, ...]:
    """Returns level numbers in ascending order, each once; ValueError for other collections."""
    if isinstance(levels, str) or not isinstance(levels, Collection):
        raise ValueError(f"levels is {levels!r}; it must be a collection of level numbers or None")
    expected = "be a whole number, 0 or more"
    return tuple(sorted({check_number("a level", each, expected, whole=True) for each in levels}))


def ranking(
    scores: NDArray[np.float64], structure: Structure, levels: Collection[int] | None = None
) -> NDArray[np.int64]:
    """Returns the admissible nodes from best to worst, int64; a tie goes to the smaller id.

    On a collapsed structure a same-text chain is one node; on the literal structure this is
    Algorithm 2 as printed.

    Args:
        scores: float64 (n,).
        structure: the memory at one moment, n nodes.
        levels: admissible levels; None for all.
    """
    # Algorithm 2, line 14: TopK over 𝒢. The stable sort gives a tie to the smaller id.
    order = np.argsort(-scores, kind="stable")
    return np.asarray(order[admissible(structure, levels)[order]])


def top_k(scores: NDArray[np.float64], structure: Structure, k: int) -> list[int]:
    """Returns the first ``k`` nodes of :func:`ranking`; for more see ``RetrievalSettings.read``."""
    return select(ranking(scores, structure), structure.text, k)


def expanded(
    ranked: Iterable[int], structure: Structure, count: int, every: Sequence[int]
) -> dict[int, int]:
    """Replaces each inner node of a ranking by its best leaves.

    Args:
        ranked: nodes, best first.
        structure: the memory at one moment.
        count: leaves for each inner node, ≥ 1. A node above no retrievable leaf stays.
        every: ranking of all levels, which orders the leaves; those that it lacks come last, the
            older first.

    Returns:
        The new ranking: each leaf once, with the best ranked node through which it comes.
    """
    place = np.full(len(structure), len(structure))
    place[list(every)] = np.arange(len(every))
    below = leaves_below(structure)
    through: dict[int, int] = {}
    for node in map(int, ranked):
        leaves = below[node]
        # The leaves are in the order of their ids, so that a stable sort gives ties to the older.
        best = leaves[np.argsort(place[leaves], kind="stable")[:count]].tolist() or [node]
        for leaf in best:
            through.setdefault(leaf, node)
    return through


@once_per_structure(lambda: ())
def leaves_below(structure: Structure) -> list[NDArray[np.int64]]:
    """Returns each node's retrievable leaves, ascending; of a leaf, itself. O(n · depth), once."""
    below = [np.zeros(0, dtype=np.int64) for _ in range(len(structure))]
    # From low to high levels, so that the leaves of all children are known.
    for node in np.argsort(structure.level, kind="stable").tolist():
        if structure.level[node] == 0:
            below[node] = np.flatnonzero([structure.retrievable[node]]) + node
        elif structure.children[node]:
            below[node] = np.unique(np.concatenate([below[c] for c in structure.children[node]]))
    return below


@dataclass(frozen=True, eq=False)
class Repeats:
    """Nodes of a structure whose texts repeat each other.

    ``first`` int32 (n,) has for each node the first with the same text. ``pairs`` int32 (m, 2) are
    a node and an ancestor that quotes it, both replaced by their ``first``; ``quoted_by`` maps the
    first nodes of the pairs to the second.
    """

    first: NDArray[np.int32]
    pairs: NDArray[np.int32]
    quoted_by: dict[int, set[int]]


@once_per_structure(lambda: ())
def repeats(structure: Structure) -> Repeats:
    """Finds the nodes whose text repeats another's; computed once per structure.

    They have the same text, or one is an ancestor that quotes the other: its text, and those
    between, have 60 % of the content words.
    """
    nodes = np.flatnonzero(structure.retrievable).tolist()
    # Equal texts, apart from blanks and case: each node points to the first with its text.
    first = np.arange(len(structure), dtype=np.int32)
    known: dict[str, int] = {}
    for node in nodes:
        text = " ".join(structure.text[node].split()).casefold()
        first[node] = known.setdefault(text, node) if text else node
    # Quotations: each node is compared with its ancestors, from its parents upwards.
    words = {node: all_tokens(structure.text[node]) for node in nodes}
    quoted_by: dict[int, set[int]] = defaultdict(set)
    pairs: dict[tuple[int, int], None] = {}
    for node in nodes:
        wanted = content_tokens(structure.text[node])
        above = list(structure.parents[node]) if wanted else []
        seen = {node}
        while above:
            parent = above.pop()
            if parent in seen or parent not in words:
                continue
            seen.add(parent)
            if len(wanted & words[parent]) < QUOTED * len(wanted) - 1e-9:
                continue  # words missing in the parent are missing above it, too
            above += structure.parents[parent]
            one, other = int(first[node]), int(first[parent])
            if one != other:
                pairs[one, other] = None
                quoted_by[one].add(other)
    return Repeats(first, np.array(list(pairs), dtype=np.int32).reshape(-1, 2), dict(quoted_by))


def distinct(ranked: Iterable[int], structure: Structure) -> Iterator[int]:
    """Yields the nodes of a ranking whose text no better one has or quotes (:func:`repeats`).

    A node that quotes a better one stays, because it says more.
    """
    repeated = repeats(structure)
    texts: set[int] = set()
    for node in ranked:
        text = int(repeated.first[node])
        if text not in texts and texts.isdisjoint(repeated.quoted_by.get(text, ())):
            texts.add(text)
            yield int(node)


def ranks(
    nodes: Sequence[int],
    scores: NDArray[np.float64],
    structure: Structure,
    levels: Collection[int] | None = None,
) -> list[int]:
    """Returns the nodes' 1-based places in :func:`ranking`, O(n) each; 0 for inadmissible nodes."""
    allowed = admissible(structure, levels)
    rows = np.flatnonzero(allowed)
    competing = scores[rows]
    places = []
    for node in nodes:
        if not allowed[node]:
            places.append(0)
            continue
        # A tie goes to the smaller id, as in :func:`ranking`.
        older = competing[: np.searchsorted(rows, node)] == scores[node]
        better = competing > scores[node]
        places.append(1 + int(np.count_nonzero(better)) + int(np.count_nonzero(older)))
    return places


def select(
    ranked: Iterable[int], texts: Sequence[str], k: int, budget: int | None = None
) -> list[int]:
    """Returns the first ``k`` ranked nodes, or those of which a token budget reads some.

    Texts are read in order of rank until the budget is used up. The last one may be longer than
    what is left, and is then cut (:func:`cut`). No node is skipped.

    Args:
        ranked: nodes, best first.
        texts: text of every node.
        k: number of nodes, ≥ 1; ignored with a budget.
        budget: number of :func:`estimated_tokens`, ≥ 1.

    Raises:
        ValueError: ``k`` or ``budget`` is not a whole number of at least 1.
    """
    check_count("k", k)
    if budget is None:
        return [int(node) for node in islice(ranked, k)]
    check_count("budget", budget)
    chosen: list[int] = []
    left = budget
    for node in ranked:
        # No node is skipped: a shorter one further down must not jump the queue.
        chosen.append(int(node))
        left -= estimated_tokens(texts[node])
        if left <= 0:
            break
    return chosen


def cut(text: str, tokens: int) -> str:
    """Returns so many :func:`estimated_tokens` of a text, up to a whole word if there is one."""
    part = text[: 4 * tokens]
    # The last word is whole if the text or the word ends here.
    if len(part) == len(text) or text[len(part)].isspace() or part[-1:].isspace():
        return part
    words = part.rsplit(maxsplit=1)
    return words[0] if len(words) > 1 else part


def cut_texts(texts: Iterable[str], budget: int | None) -> list[str]:
    """Returns selected texts as they are read: the last one is cut at the budget, if there is one.

    Args:
        texts: texts of the nodes that :func:`select` returned for this budget.
        budget: number of tokens; None for none.
    """
    read = list(texts)
    if read and budget is not None:
        left = budget - sum(map(estimated_tokens, read[:-1]))
        read[-1] = cut(read[-1], left)
    return read


def estimated_tokens(text: str) -> int:
    """Estimates tokens for every system alike: a quarter of the characters, rounded up."""
    return (len(text) + 3) // 4


_MOST = 1_000_000_000


def check_count(name: str, value: int) -> int:
    """Returns the value of a setting; ValueError unless it is a whole number of at least 1."""
    expected = f"be a whole number, at least 1, at most {_MOST:,}"
    return int(check_number(name, value, expected, 1, _MOST, whole=True))


def level_distribution(structure: Structure, nodes: Collection[int]) -> dict[int, int]:
    """Counts ``nodes`` on each level, for every level of the structure."""
    counts = Counter(int(structure.level[node]) for node in nodes)
    highest = int(structure.level.max(initial=0))
    return {level: counts.get(level, 0) for level in range(highest + 1)}
