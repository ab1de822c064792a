"""Cells of side tables: times, and short names of nodes."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from segviz.conversation import as_time
from segviz.tree import Structure

_LONGEST = 60


def dated(structure: Structure) -> bool:
    """Returns True if nodes have a fact ``dated`` and it is never false."""
    active = np.flatnonzero(structure.active).tolist()
    known = [structure.facts[node].get("dated") for node in active]
    return any(known) and False not in known


def moment(seconds: float, calendar: bool) -> datetime | float:
    """Returns a time as a date; without a ``calendar`` as the number of its unit.

    ``Clock`` counts units without dates one second apart.
    """
    return as_time(seconds) if calendar else seconds


def first_line(structure: Structure, node: int) -> str:
    """Returns the name of a node: its fact ``name``, else the first line of its text."""
    name = structure.facts[node].get("name")
    first = structure.text[node].split("\n", 1)[0]
    return " ".join(str(first if name is None else name).split())[:_LONGEST]
