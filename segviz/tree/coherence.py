"""Measures how close in meaning a node is to its children."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from segviz.tree.structure import Structure, sealed

# Structures are immutable, so a value is cached as long as its structure lives.
_CACHE: WeakKeyDictionary[Structure, NDArray[np.float64]] = WeakKeyDictionary()


def coherence(structure: Structure) -> NDArray[np.float64]:
    """Mean cosine of each node with its children, of a leaf with its parents; shape (n,).

    A same-text chain counts as one node, so that a chain of copies is as coherent as the node
    it copies, not perfect. NaN where there is nothing to compare with: retired nodes, a lone
    leaf, nodes without a vector. O(n d) the first time, then cached; read-only. Computed in
    float32 like the vectors, so exact to about six digits. Source: ours.
    """
    if structure not in _CACHE:
        _CACHE[structure] = sealed(_coherence(structure))
    return _CACHE[structure]


def _coherence(structure: Structure) -> NDArray[np.float64]:
    n, whole = len(structure), structure
    structure = structure.collapsed
    value = np.full(n, np.nan)
    length = np.sqrt(np.einsum("ij,ij->i", structure.vector, structure.vector))
    parent, child = structure.edges[:, 0], structure.edges[:, 1]
    known = (length[parent] > 0) & (length[child] > 0)
    parent, child = parent[known], child[known]
    dot = np.einsum("ij,ij->i", structure.vector[parent], structure.vector[child])
    cosine = np.clip(dot / (length[parent] * length[child]), -1.0, 1.0)
    # Every edge has one cosine. Inner nodes average it over the edges below them (grouped by
    # parent), leaves over the edges above (grouped by child); `bincount` sums the groups.
    for ends, leaf in ((parent, False), (child, True)):
        count = np.bincount(ends, minlength=n)
        counted = (count > 0) & ((structure.level == 0) == leaf)
        value[counted] = np.bincount(ends, weights=cosine, minlength=n)[counted] / count[counted]
    value = value[structure.chain]
    value[~whole.active] = np.nan
    return value


MANY = 20_000
"""Up to this many nodes coherence is computed before anyone asks for it."""


def known_coherence(structure: Structure, asked: bool) -> NDArray[np.float64] | None:
    """Coherence for a view: the values where they are ``asked`` for or cheap, an empty array
    where they are postponed until asked for, None where no node has one."""
    if not structure.vector.shape[1] or not len(structure.edges):
        return None
    if not asked and len(structure) > MANY:
        return np.zeros(0)
    value = coherence(structure)
    return value if np.isfinite(value).any() else None
