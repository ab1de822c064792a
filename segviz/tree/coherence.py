"""Stage: how close in meaning a node is to what it holds."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from segviz.tree.structure import Structure

# A structure never changes, so what was computed holds as long as the structure lives.
_known: WeakKeyDictionary[Structure, NDArray[np.float64]] = WeakKeyDictionary()


def coherence(structure: Structure) -> NDArray[np.float64]:
    """Mean cosine of each node with its children, of a leaf with its parents; shape (n,).

    A node with a single child repeats its child's text: the two count as one, so that a
    chain of copies is as coherent as the node it copies, not perfect. NaN for what has
    nothing to be compared with: retired nodes, a lone leaf, nodes without a vector. O(n d)
    the first time, read-only; in float32 as the vectors are, so exact to about six digits.
    """
    if structure not in _known:
        value = _coherence(structure)
        value.flags.writeable = False
        _known[structure] = value
    return _known[structure]


def _coherence(structure: Structure) -> NDArray[np.float64]:
    n, carrier = len(structure), structure.carrier
    value = np.full(n, np.nan)
    if not structure.vector.shape[1]:
        return value
    length = np.sqrt(np.einsum("ij,ij->i", structure.vector, structure.vector))
    parent, child = carrier[structure.edges[:, 0]], carrier[structure.edges[:, 1]]
    known = (parent != child) & (length[parent] > 0) & (length[child] > 0)
    parent, child = parent[known], child[known]
    dot = np.einsum("ij,ij->i", structure.vector[parent], structure.vector[child])
    cosine = np.clip(dot / (length[parent] * length[child]), -1.0, 1.0)
    for ends, leaf in ((parent, False), (child, True)):
        count = np.bincount(ends, minlength=n)
        told = (count > 0) & ((structure.level == 0) == leaf)
        value[told] = np.bincount(ends, weights=cosine, minlength=n)[told] / count[told]
    value = value[carrier]
    value[~structure.active] = np.nan
    return value


MANY = 20_000
"""Nodes for which coherence is computed unasked."""


def known_coherence(structure: Structure, asked: bool) -> NDArray[np.float64] | None:
    """Coherence as a view needs it: the values, if they are ``asked`` for or cheap; an empty
    array, if there will be some once asked; None, if there are none at all."""
    if not structure.vector.shape[1] or not len(structure.edges):
        return None
    if not asked and len(structure) > MANY:
        return np.zeros(0)
    value = coherence(structure)
    return value if np.isfinite(value).any() else None
