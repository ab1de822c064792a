"""Where an icicle's boxes lie: a pure function of spans and levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from segviz.tree import Structure

FINEST = 0.5
"""Pixels; of the boxes narrower than this in one column, the weightiest is drawn."""

_ROW, _LEAF, _LANE = 30.0, 40.0, 9.0
_TALLEST = 900.0


@dataclass(frozen=True, slots=True)
class Box:
    """A node's rectangle in pixels: ``x`` from the left of the plot, ``away`` from the axis."""

    node: int
    x: float
    width: float
    away: float
    height: float


@dataclass(frozen=True)
class Rows:
    """Levels stacked upon the axis, leaves nearest to it.

    ``nodes`` are the active nodes of each level by start. Nodes of one level whose spans
    overlap stand in different lanes: ``lane`` holds every node's, ``lanes`` how many a
    level has. ``offset`` are the levels' distances from the axis in pixels, and last the
    height of them all.
    """

    nodes: tuple[tuple[int, ...], ...]
    lane: tuple[int, ...]
    lanes: tuple[int, ...]
    offset: tuple[float, ...]


def rows(structure: Structure) -> Rows:
    """The rows of a structure; together never higher than a page can show."""
    levels = int(structure.level[structure.active].max(initial=-1)) + 1
    nodes: list[list[int]] = [[] for _ in range(levels)]
    for node in np.lexsort((-structure.stop, structure.start)).tolist():
        if structure.active[node]:
            nodes[int(structure.level[node])].append(node)
    lane = [0] * len(structure)
    counts = [_assign(structure, members, lane) for members in nodes]
    wanted = [max(_ROW if level else _LEAF, _LANE * n) for level, n in enumerate(counts)]
    shrink = min(1.0, _TALLEST / (sum(wanted) or 1.0))
    offset = np.concatenate([[0.0], np.cumsum(wanted) * shrink]).tolist()
    return Rows(tuple(map(tuple, nodes)), tuple(lane), tuple(counts), tuple(offset))


def _assign(structure: Structure, nodes: Sequence[int], lane: list[int]) -> int:
    """Give each node, by start, the lowest lane that is free; how many lanes it takes."""
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    count = 0
    for node in nodes:
        while busy and busy[0][0] <= structure.start[node]:
            heappush(free, heappop(busy)[1])
        if not free:
            heappush(free, count)
            count += 1
        lane[node] = heappop(free)
        heappush(busy, (int(structure.stop[node]), lane[node]))
    return max(1, count)


def boxes(
    structure: Structure, stacked: Rows, units: int, width: float, weight: Sequence[float]
) -> list[Box]:
    """The boxes of all active nodes over ``units`` units in a plot ``width`` pixels wide.

    Where boxes are finer than ``FINEST``, one of a column stands for the others: the one
    with the highest ``weight`` (one number per node).
    """
    scale = width / max(1, units)
    drawn: list[Box] = []
    for level, nodes in enumerate(stacked.nodes):
        height = (stacked.offset[level + 1] - stacked.offset[level]) / stacked.lanes[level]
        columns: dict[tuple[int, int], int] = {}
        for node in nodes:
            lane = stacked.lane[node]
            x = int(structure.start[node]) * scale
            wide = (int(structure.stop[node]) - int(structure.start[node])) * scale
            away = stacked.offset[level] + lane * height
            if wide >= FINEST:
                drawn.append(Box(node, x, wide, away, height))
                continue
            place = (lane, int(x / FINEST))
            kept = columns.get(place)
            if kept is None:
                columns[place] = len(drawn)
                drawn.append(Box(node, place[1] * FINEST, FINEST, away, height))
            elif weight[node] > weight[drawn[kept].node]:
                drawn[kept] = Box(node, place[1] * FINEST, FINEST, away, height)
    return drawn
