"""Assembly: what the papers report, to be shown beside our own numbers.

Every number carries its source, its metric and the reasons why it may not compare, with
ours or with another paper's. Nothing here is computed or used in a computation.

``reports`` says what a reported number is and names the sources and metrics; the numbers
are in ``segtreemem`` and ``rivals``.
"""

from __future__ import annotations

from segviz.evaluate.published import rivals, segtreemem
from segviz.evaluate.published.reports import METRICS, SOURCES, Metric, Reported, Source
from segviz.evaluate.published.segtreemem import SHAPES, TABLE_1, Desiderata

__all__ = [
    "METRICS",
    "REPORTED",
    "SHAPES",
    "SOURCES",
    "TABLE_1",
    "Desiderata",
    "Metric",
    "Reported",
    "Source",
    "reported",
]

REPORTED: tuple[Reported, ...] = (*segtreemem.ROWS, *rivals.ROWS)
"""All scalar results, paper by paper."""


def reported(data: str = "", metric: str = "", system: str = "") -> tuple[Reported, ...]:
    """The rows of ``REPORTED`` that agree with everything named; empty names match all."""
    wanted = {"data": data, "metric": metric, "system": system}
    return tuple(
        row
        for row in REPORTED
        if all(not value or getattr(row, name) == value for name, value in wanted.items())
    )
