"""The context of ``contextual``: what a node hears of the nodes beside it, the question that a
leaf answers, and the openings of sessions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.tree import Structure

Floats = NDArray[np.float64]
REACH = 100.0  # words; half of what is said so far away counts
_AROUND = 2  # nodes before and after that count
_ASKS = re.compile(r"[?？؟]\s*(?:\[image: [^]]*\])?$")  # a line, perhaps with an image's caption


def sparse(entries: Any, shape: tuple[int, int]) -> Any:
    """Returns a sparse matrix of values at rows and columns."""
    from scipy.sparse import csr_array  # takes a while to import, which the first page need not

    return csr_array(entries, shape=shape)


def questions_answered(structure: Structure, session: Sequence[int]) -> dict[int, str]:
    """Maps each leaf to the question it answers: the last line of the previous leaf of its session,
    if that asks. ``session`` is that of every unit."""
    text, start = structure.text, structure.start
    leaves = sorted(structure.leaves, key=lambda leaf: int(start[leaf]))
    return {
        leaf: f"{line}\n"
        for before, leaf in pairwise(leaves)
        if session[start[before]] == session[start[leaf]]
        and _ASKS.search(line := text[before].rsplit("\n", 1)[-1])
    }


class Context:
    """What each node hears of the two nodes before and after it on its level: ``beside`` · 100 /
    (100 + distance in words) of what they say, as a sparse matrix (n, n)."""

    def __init__(self, structure: Structure, lengths: Floats, beside: float) -> None:
        """``lengths`` are the words of every node, float64 (n,)."""
        n = len(structure)
        order = np.lexsort((np.arange(n), structure.start, structure.level)).astype(np.int32)
        places = np.cumsum(lengths[order]) - lengths[order] / 2
        near = sparse((n, n), (n, n))
        for step in range(1, min(_AROUND + 1, n)) if beside else ():
            same = np.flatnonzero(structure.level[order[:-step]] == structure.level[order[step:]])
            share = beside * REACH / (REACH + places[same + step] - places[same])
            after = sparse((share, (order[same], order[same + step])), (n, n))
            near += after + after.T
        self._near = near.astype(np.float32)

    def heard(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns what each node hears of ``values`` of the nodes, float32 (n,) or (n, d)."""
        return np.asarray(self._near @ values)

    def with_neighbours(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns ``values`` of the nodes plus what each hears of the others'."""
        return values + self.heard(values)


class Openings:
    """The units that open a session.

    Source: ours. It exploits how data sets are made: the evidence opens its session in .62 of the
    questions of LongMemEval-S, where .19 of the leaves do (RealMem .55 and .31, LoCoMo .21 and
    .09); people who talk have no such habit.
    """

    def __init__(self, starts: NDArray[np.int64], session: Sequence[int]) -> None:
        """``starts`` are the first units of the leaves, ``session`` that of every unit."""
        self._units = len(session)
        _, self._of_leaf = np.unique(np.array(session)[starts], return_inverse=True)
        self._first = np.full(self._of_leaf.max(initial=-1) + 1, self._units)
        np.minimum.at(self._first, self._of_leaf, starts)

    def weights(self, of_leaves: Floats) -> Floats:
        """Returns (1 - 1 / s) · log(1 + exp(mean score of the session)) for the unit that opens one
        of s sessions, 0 for others; float64 (units,)."""
        mean = np.bincount(self._of_leaf, of_leaves) / np.bincount(self._of_leaf)
        units = np.zeros(self._units)
        units[self._first] = (1 - 1 / len(self._first)) * np.logaddexp(0.0, mean)
        return units
