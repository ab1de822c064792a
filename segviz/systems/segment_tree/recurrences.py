"""Semantic cross-links between distant leaves on one topic.

SegTreeMem names long-range recurrence as a limit of a purely temporal tree and suggests
such links as an extension (App. C.3.2); how they are found is ours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segviz.embedding import Embedder, background_mean
from segviz.systems.common.draft import Draft
from segviz.tree import Vector

RECURS = "recurs"
_BLOCK = 1_024


def link_recurrences(
    draft: Draft, embedder: Embedder, *, percent: int, apart: int, most: int
) -> tuple[int, int]:
    """Relate leaves that are alike though ``apart`` or more units lie between their starts.

    Likeness is the cosine after subtracting everyday language (``segviz.embedding.background``);
    pairs of at least ``percent`` are taken from the best down, none beyond ``most`` at one
    leaf. Each becomes a relation ``recurs`` from the earlier leaf to the later with the
    cosine as its weight; such relations from before go or are weighed again. Returns the
    pairs now and those that went. O(n²) products in blocks, O(n · most) memory.

    ValueError names an argument outside its range.
    """
    for name, value, low, high in (
        ("percent", percent, 1, 100),
        ("apart", apart, 1, 10**9),
        ("most", most, 1, 64),
    ):
        if not low <= value <= high:
            raise ValueError(f"{name} is {value}; it must lie between {low} and {high}")
    leaves = sorted(
        (n for n in range(len(draft)) if draft.active[n] and draft.level[n] == 0),
        key=draft.span.__getitem__,
    )
    if not leaves:
        return 0, 0
    rows = draft.vectors(leaves) - background_mean(embedder)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    starts = np.array([draft.span[leaf][0] for leaf in leaves])
    found = {
        (leaves[one], leaves[other], RECURS): weight
        for one, other, weight in _pairs(rows, starts, percent / 100, apart, most)
    }
    before = [key for key in draft.relations if key[2] == RECURS]
    gone = [key for key in before if key not in found]
    for key in gone:
        draft.relate(*key, 0.0)
    for key, weight in found.items():
        if draft.relations.get(key) != weight:
            draft.relate(*key, weight)
    return len(found), len(gone)


def _pairs(
    rows: Vector, starts: NDArray[np.int64], least: float, apart: int, most: int
) -> list[tuple[int, int, float]]:
    """Positions of the pairs, earlier first, with their cosine; in the order of time."""
    candidates: list[tuple[float, int, int]] = []
    n = len(rows)
    for begin in range(0, n, _BLOCK):
        here = np.arange(begin, min(begin + _BLOCK, n))
        best = np.full((len(here), most), -np.inf, dtype=np.float32)
        which = np.full((len(here), most), -1, dtype=np.int64)
        for other in range(0, begin + len(here), _BLOCK):  # pairs with what came before
            there = np.arange(other, min(other + _BLOCK, n))
            likeness = np.round(rows[here] @ rows[there].T, 6)
            likeness[starts[here][:, None] - starts[there][None, :] < apart] = -np.inf
            both = np.concatenate([best, likeness], axis=1)
            names = np.concatenate([which, np.broadcast_to(there, likeness.shape)], axis=1)
            order = np.argsort(-both, axis=1, kind="stable")[:, :most]
            best = np.take_along_axis(both, order, axis=1)
            which = np.take_along_axis(names, order, axis=1)
        for place, rank in np.argwhere(best >= least).tolist():
            weight = round(float(best[place, rank]), 6)
            candidates.append((-weight, int(which[place, rank]), int(here[place])))
    taken = np.zeros(n, dtype=np.int64)
    pairs = []
    for lowered, one, other in sorted(candidates):
        if taken[one] < most and taken[other] < most:
            taken[[one, other]] += 1
            pairs.append((one, other, -lowered))
    return sorted(pairs)
