"""Context of the ``contextual`` relevance: neighbours, answered questions, session openings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.tree import Structure

Floats = NDArray[np.float64]
REACH = 100.0  # words; at this distance a neighbour counts half
_AROUND = 2  # number of nodes that count on either side
_ASKS = re.compile(r"[?？؟]\s*(?:\[image: [^]]*\])?$")  # an image's caption may follow the question


def sparse(entries: Any, shape: tuple[int, int]) -> Any:
    """Returns the SciPy sparse matrix of ``entries``, as ``csr_array`` takes them."""
    from scipy.sparse import csr_array  # slow to import, and the first page does not need it

    return csr_array(entries, shape=shape)


def questions_answered(structure: Structure, session: Sequence[int]) -> dict[int, str]:
    """Maps each leaf to the question it answers: the previous leaf's last line, if it ends in "?".

    Both leaves must belong to one session. ``session`` is the session number of every unit.
    """
    text, start = structure.text, structure.start
    leaves = sorted(structure.leaves, key=lambda leaf: int(start[leaf]))
    asking: dict[int, str] = {}
    for before, leaf in pairwise(leaves):
        *_, last_line = text[before].rsplit("\n", 1)
        if session[start[before]] == session[start[leaf]] and _ASKS.search(last_line):
            asking[leaf] = f"{last_line}\n"
    return asking


class Context:
    """Weights of each node's neighbours: the two previous and the two next nodes of its level.

    A neighbour has the weight ``beside`` · 100 / (100 + distance in words). The weights form a
    sparse matrix (n, n).
    """

    def __init__(self, structure: Structure, lengths: Floats, beside: float) -> None:
        """Computes the weights; ``lengths`` is the number of words of every node, float64 (n,)."""
        n = len(structure)
        order = np.lexsort((np.arange(n), structure.start, structure.level)).astype(np.int32)
        # The position of a node is its middle, in words from the start of its level.
        places = np.cumsum(lengths[order]) - lengths[order] / 2
        near = sparse((n, n), (n, n))
        for step in range(1, min(_AROUND + 1, n)) if beside else ():
            same = np.flatnonzero(structure.level[order[:-step]] == structure.level[order[step:]])
            share = beside * REACH / (REACH + places[same + step] - places[same])
            # Distance is symmetric, so one product serves the previous and the next node.
            after = sparse((share, (order[same], order[same + step])), (n, n))
            near += after + after.T
        self._near = near.astype(np.float32)

    def of_neighbours(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Sums the neighbours' ``values`` of each node by weight, float32 (n,) or (n, d)."""
        return np.asarray(self._near @ values)

    def with_neighbours(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns each node's value plus the weighted sum of its neighbours' ``values``."""
        return values + self.of_neighbours(values)


class Openings:
    """First units of sessions, which get a share of their session's mean score.

    Source: ours. It exploits how data sets are made: the evidence opens its session in .62 of the
        questions of LongMemEval-S, where .19 of the leaves do (RealMem .55 and .31, LoCoMo .21 and
        .09). Real conversations have no such regularity.
    """

    def __init__(self, starts: NDArray[np.int64], session: Sequence[int]) -> None:
        """Finds the openings from each leaf's first unit and the session of each unit."""
        self._units = len(session)
        _, self._of_leaf = np.unique(np.array(session)[starts], return_inverse=True)
        # The opening of a session is its earliest unit that has a leaf.
        self._first = np.full(self._of_leaf.max(initial=-1) + 1, self._units)
        np.minimum.at(self._first, self._of_leaf, starts)

    def weights(self, of_leaves: Floats) -> Floats:
        """Returns the weight of each unit, float64 (units,): 0 unless it opens one of s sessions.

        An opening has the weight (1 - 1 / s) · log(1 + exp(mean score of the session's leaves)).
        """
        # One session (s = 1) has nothing to choose between, so its weight is 0. The soft maximum
        # log(1 + eˣ) keeps a bad session from going below 0.
        mean = np.bincount(self._of_leaf, of_leaves) / np.bincount(self._of_leaf)
        units = np.zeros(self._units)
        units[self._first] = (1 - 1 / len(self._first)) * np.logaddexp(0.0, mean)
        return units
