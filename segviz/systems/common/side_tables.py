"""Cells of side tables: times, and short names of nodes."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from segviz.conversation import as_time
from segviz.tree import Structure

_LONGEST = 60


def dated(structure: Structure) -> bool:
    """Returns True if some node has the fact ``dated`` as True and none as False."""
    active = np.flatnonzero(structure.active).tolist()
    known = [structure.facts[node].get("dated") for node in active]
    return any(known) and False not in known


def moment(seconds: float, calendar: bool) -> datetime | float:
    """Returns the cell of a time: a date, or without ``calendar`` the number of a unit."""
    return as_time(seconds) if calendar else seconds


def first_line(structure: Structure, node: int) -> str:
    """Returns the fact ``name`` of a node, else the first line of its text, clipped."""
    name = structure.facts[node].get("name")
    first = structure.text[node].split("\n", 1)[0]
    return " ".join(str(first if name is None else name).split())[:_LONGEST]
