"""Windows of time that gather nodes, for memories whose nodes carry them as facts.

The facts ``window_from`` and ``window_to`` are the window of a node, ``from`` … ``to`` the time of
its content. All are moments in seconds since 1970; without dates (``dated`` False) they
are counted on from 0, a second per unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from segviz.conversation import as_time
from segviz.figures.lanes import Bar, lanes_figure
from segviz.loaders.captions import counted
from segviz.systems import level_name
from segviz.tree import Facts, Structure, as_number

_LEAST = 6 * 3600.0
"""Seconds of the shortest bar, so that it is seen."""


@dataclass(frozen=True, slots=True)
class Window:
    """One window of a level: its bounds, its number of nodes, the time of their content, and
    how often they were met again in all."""

    level: int
    start: float
    stop: float
    nodes: int
    first: float
    last: float
    met: int


def windows(structure: Structure) -> tuple[Window, ...]:
    """The windows in use, by level and time; none for a memory without them."""
    held: dict[tuple[int, float, float], list[Facts]] = {}
    for node in np.flatnonzero(structure.active).tolist():
        facts = structure.facts[node]
        if "window_from" in facts and "window_to" in facts:
            bounds = as_number(facts, "window_from"), as_number(facts, "window_to")
            held.setdefault((int(structure.level[node]), *bounds), []).append(facts)
    return tuple(
        Window(
            *place,
            len(rows),
            min(as_number(f, "from") for f in rows),
            max(as_number(f, "to") for f in rows),
            round(sum(as_number(f, "n") for f in rows)),
        )
        for place, rows in sorted(held.items())
    )


def dated(structure: Structure) -> bool:
    """Whether there are facts ``dated`` and all are true."""
    known = [f["dated"] for f in structure.facts if "dated" in f]
    return bool(known) and all(known)


def windows_figure(
    found: Sequence[Window],
    now: float,
    *,
    names: Sequence[str],
    calendar: bool,
    accent: str,
    neutral: str,
    ink: str,
) -> go.Figure:
    """A lane per level over time: every window as a frame with the number of its nodes.

    ``names`` are the names of the levels, ``calendar`` whether moments are dates; ``now`` is
    marked by a line in ``accent``, numbers are written in ``ink``.
    """
    bars = []
    for one, row in zip(found, window_rows(found, names, calendar), strict=True):
        length = max(one.stop - one.start, _LEAST) * 1000 if calendar else one.stop - one.start
        about = ", ".join(f"{name} {value}" for name, value in row.items())
        start = as_time(one.start) if calendar else one.start
        bars.append(Bar(level_name(one.level, names), start, length, str(one.nodes), about))
    axis = {"type": "date"} if calendar else {"title": "seconds, one per unit without a date"}
    figure = lanes_figure(bars, accent=accent, neutral=neutral, ink=ink, **axis)
    line = {"color": accent, "width": 2}
    figure.add_vline(x=as_time(now) if calendar else now, line=line)
    return figure


def window_rows(
    found: Sequence[Window], names: Sequence[str], calendar: bool
) -> list[dict[str, str | int]]:
    """The chart as a table, a row for each window."""

    def moment(seconds: float) -> str:
        return f"{as_time(seconds):%d %b %Y}" if calendar else f"{seconds:g} s"

    return [
        {
            "level": level_name(window.level, names),
            "window from": moment(window.start),
            "to": moment(window.stop),
            "nodes": window.nodes,
            "they hold from": moment(window.first),
            "until": moment(window.last),
            "met again": window.met,
        }
        for window in found
    ]


def windows_sentence(found: Sequence[Window], names: Sequence[str]) -> str:
    """The number of windows of each level, and the fullest."""
    parts = []
    for level in dict.fromkeys(window.level for window in found):
        row = [window.nodes for window in found if window.level == level]
        name, count = level_name(level, names), counted(len(row), "window")
        parts.append(f"{name}: {count} for {sum(row)} nodes, at most {max(row)}")
    return "; ".join(parts) + "."
