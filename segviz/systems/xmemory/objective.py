"""xMemory's themes: the objective of a partition, and the splits and merges it guides."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from segviz.tree import Vector

Group = tuple[int, ...]

_SPREAD_FLOOR = 0.05


def sparsity(sizes: Sequence[int]) -> float:
    """N² / (K·Σ n²), in (0, 1]; 1 where all themes are equal in size.

    Source: xMemory §3.2, equation 2."""
    total = sum(sizes)
    return total * total / (len(sizes) * sum(n * n for n in sizes))


def cohesion(vectors: Vector) -> float:
    """Mean cosine of a theme's members with their centroid."""
    return float(np.mean(_unit(vectors) @ centroid(vectors)))


def centroid(vectors: Vector) -> Vector:
    """Direction of the members' mean, unit length (zero where they cancel out)."""
    mean = vectors.mean(axis=0)
    norm = float(np.linalg.norm(mean))
    return np.asarray(mean / norm if norm else mean)


def closeness(nearest: NDArray[np.float64]) -> NDArray[np.float64]:
    """g: how usual each theme's likeness to its nearest theme is, in (0, 1].

    exp(-(s - m)² / 2σ²) with median m and σ the median deviation, at least .05: two themes
    that are each other's nearest share s, so that with up to three of them the deviation
    is 0 and g would be all or nothing.
    """
    middle = float(np.median(nearest))
    spread = max(float(np.median(np.abs(nearest - middle))), _SPREAD_FLOOR)
    return np.asarray(np.exp(-((nearest - middle) ** 2) / (2 * spread**2)))


def objective(groups: Sequence[Vector]) -> float:
    """F = sparsity + mean of cohesion · closeness, in (0, 2]; 0 without themes.

    ``groups`` are the member vectors of each theme. Source: xMemory §3.2, equations 1 to 3.
    A single theme has no nearest one; its closeness is 1.
    """
    if not groups:
        return 0.0
    whole = sparsity([len(group) for group in groups])
    tight = np.array([cohesion(group) for group in groups])
    if len(groups) == 1:
        return whole + float(tight[0])
    centres = np.stack([centroid(group) for group in groups]).astype(np.float64)
    alike = centres @ centres.T
    np.fill_diagonal(alike, -np.inf)
    return whole + float(np.mean(tight * closeness(alike.max(axis=1))))


def splits(vectors: Vector, likeness: float, most: int) -> dict[str, list[Group]]:
    """Ways to cut members 0 … n-1 into parts of at most ``most``, by name; only real cuts.

    ``components``: what hangs together at a cosine of ``likeness``, larger ones chunked;
    ``principal axis``: chunks along the first principal component.
    """
    found = {
        "components": [
            part for group in _components(vectors, likeness) for part in chunks(group, most)
        ],
        "principal axis": chunks(_along_axis(vectors), most),
    }
    return {name: parts for name, parts in found.items() if len(parts) > 1}


def chunks(members: Sequence[int], most: int) -> list[Group]:
    """Consecutive parts of at most ``most``, as equal in size as can be."""
    count = -(-len(members) // most)
    cuts = [round(i * len(members) / count) for i in range(count + 1)]
    return [tuple(members[a:b]) for a, b in pairwise(cuts)]


def _components(vectors: Vector, likeness: float) -> list[Group]:
    unit = _unit(vectors)
    joined = np.round(unit @ unit.T, 9) >= likeness
    free = set(range(len(vectors)))
    groups = []
    while free:
        group = [min(free)]
        free.discard(group[0])
        for member in group:
            near = sorted(m for m in free if joined[member, m])
            group += near
            free.difference_update(near)
        groups.append(tuple(sorted(group)))
    return groups


def _along_axis(vectors: Vector) -> list[int]:
    centred = (vectors - vectors.mean(axis=0)).astype(np.float64)
    axis = np.linalg.svd(centred, full_matrices=False)[2][0]
    # A principal axis has no direction of its own; its largest part decides.
    axis = axis * np.sign(axis[np.argmax(np.abs(np.round(axis, 9)))] or 1.0)
    place = np.round(centred @ axis, 9)
    return sorted(range(len(vectors)), key=lambda i: (place[i], i))


def _unit(vectors: Vector) -> Vector:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0))
