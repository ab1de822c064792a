"""Draws windows of time that gather nodes, for memories whose nodes carry them as facts.

The facts ``window_from`` and ``window_to`` are the window of a node, ``from`` … ``to`` the time of
its content. All are moments in seconds since 1970; without dates (``dated`` False) they
are counted on from 0, a second per unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import plotly.graph_objects as go

from segviz.conversation import as_time
from segviz.figures.layout import framed
from segviz.systems.levels import level_name
from segviz.tree import Facts, Structure, as_number

_LANE = 62
_CLEAR = "rgba(0,0,0,0)"


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
    ramp: Sequence[str],
) -> go.Figure:
    """A lane per level over time: every window as a frame with the number of its nodes, and
    in it a bar over the time of their content, darker for more nodes.

    ``names`` are the names of the levels, ``calendar`` whether moments are dates; ``now`` is
    marked by a line in ``accent``, numbers are written in ``ink``.
    """
    most = max((window.nodes for window in found), default=1)
    lanes = [level_name(window.level, names) for window in found]
    shades = [ramp[1 + round((len(ramp) - 2) * (w.nodes / most) ** 0.5)] for w in found]
    frames = [(w.start, w.stop) for w in found]
    figure = go.Figure(
        [
            _bars(
                [(w.first, w.last) for w in found],
                lanes,
                calendar,
                name="what its nodes hold",
                width=0.34,
                offset=-0.40,
                marker={"color": shades, "line": {"width": 0}},
                hoverinfo="skip",
            ),
            _bars(
                frames,
                lanes,
                calendar,
                name="window, with the number of its nodes",
                width=0.8,
                offset=-0.4,
                marker={"color": _CLEAR, "line": {"width": 1, "color": neutral}},
                customdata=[_hover_text(window, calendar) for window in found],
                hovertemplate="%{customdata}<extra></extra>",
            ),
            _bars(  # only the numbers, above the inner bars
                frames,
                lanes,
                calendar,
                showlegend=False,
                width=0.44,
                offset=-0.04,
                marker={"color": _CLEAR, "line": {"width": 0}},
                hoverinfo="skip",
                text=[f"{w.nodes}" for w in found],
                textposition="inside",
                insidetextfont={"color": ink},
                insidetextanchor="middle",
                textangle=0,
            ),
        ]
    )
    figure.add_vline(x=_axis_value(now, calendar), line={"color": accent, "width": 2})
    framed(figure, 70 + _LANE * len(set(lanes)), barmode="overlay")
    figure.update_layout(uniformtext={"minsize": 9, "mode": "hide"})
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=_lane_order(lanes))
    figure.update_xaxes(
        **({"type": "date"} if calendar else {"title": "seconds, one per unit without a date"})
    )
    return figure


def _bars(
    times: Sequence[tuple[float, float]], lanes: Sequence[str], calendar: bool, **look: Any
) -> go.Bar:
    """A bar from start to stop in the lane of each."""
    return go.Bar(
        orientation="h",
        y=lanes,
        base=[_axis_value(start, calendar) for start, _ in times],
        x=[_bar_length(start, stop, calendar) for start, stop in times],
        **look,
    )


def window_rows(
    found: Sequence[Window], names: Sequence[str], calendar: bool
) -> list[dict[str, str | int]]:
    """The chart as a table, a row for each window."""
    return [
        {
            "level": level_name(window.level, names),
            "window from": _moment_text(window.start, calendar),
            "to": _moment_text(window.stop, calendar),
            "nodes": window.nodes,
            "they hold from": _moment_text(window.first, calendar),
            "until": _moment_text(window.last, calendar),
            "met again": window.met,
        }
        for window in found
    ]


def windows_sentence(found: Sequence[Window], names: Sequence[str]) -> str:
    """The number of windows of each level, and the fullest."""
    parts = []
    for level in dict.fromkeys(window.level for window in found):
        row = [window.nodes for window in found if window.level == level]
        count = f"{len(row)} window" + "s" * (len(row) > 1)
        parts.append(
            f"{level_name(level, names)}: {count} for {sum(row)} nodes, at most {max(row)}"
        )
    return "; ".join(parts) + "."


def _lane_order(lanes: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(lanes))


def _axis_value(moment: float, calendar: bool) -> datetime | float:
    return as_time(moment) if calendar else moment


def _bar_length(start: float, stop: float, calendar: bool) -> float:
    """A bar's length on its axis (milliseconds on one of dates), wide enough to be seen."""
    return max(stop - start, 6 * 3600.0) * 1000 if calendar else max(stop - start, 0.5)


def _moment_text(moment: float, calendar: bool) -> str:
    return f"{as_time(moment):%d %b %Y}" if calendar else f"{moment:g} s"


def _hover_text(window: Window, calendar: bool) -> str:
    start, stop, first, last = (
        _moment_text(moment, calendar)
        for moment in (window.start, window.stop, window.first, window.last)
    )
    return (
        f"{start} to {stop}<br>{window.nodes} nodes over {first} to {last}<br>"
        f"met again {window.met} times"
    )
