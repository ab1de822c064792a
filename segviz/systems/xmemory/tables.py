"""xMemory's side tables: episodes, themes, their sizes step by step, splits and merges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from segviz.construct import Row
from segviz.systems.common.side_tables import dated, first_line, moment
from segviz.systems.xmemory.retrieval import EPISODE
from segviz.systems.xmemory.themes import THEME
from segviz.tree import Add, Retire, Revise, Step, Structure, as_number


def episode_rows(structure: Structure) -> list[Row]:
    """Returns a row for each episode, in the order of time."""
    calendar = dated(structure)
    rows: list[Row] = []
    for node in structure.of_kind(EPISODE):
        facts, children = structure.facts[node], structure.children[node]
        below = [int(structure.level[child]) for child in children]
        rows.append(
            {
                "state": "closed" if facts.get("closed") else "open",
                "episode": first_line(structure, node),
                "start": moment(as_number(facts, "from"), calendar),
                "stop": moment(as_number(facts, "to"), calendar),
                "messages": below.count(0),
                "node": node,
            }
        )
    return rows


def theme_rows(structure: Structure) -> list[Row]:
    """Returns a row for each theme, the largest first. ``at most`` is its size limit (0: none)."""
    rows: list[Row] = [
        {
            "theme": first_line(structure, node),
            "statements": round(as_number(structure.facts[node], "size")),
            "at most": round(as_number(structure.facts[node], "most")),
            "first unit": int(structure.start[node]),
            "last unit": int(structure.stop[node]) - 1,
            "node": node,
        }
        for node in structure.of_kind(THEME)
    ]
    return sorted(rows, key=lambda row: -row["statements"])


def size_rows(steps: Sequence[Step]) -> list[Row]:
    """Returns the sizes of all themes after each step that changed one, the first and the last."""
    rows: list[Row] = []
    size: dict[int, int] = {}
    most = 0
    for number, step in enumerate(steps, start=1):
        touched = number in (1, len(steps))
        for event in step.events:
            if isinstance(event, Retire):
                touched |= size.pop(event.node, None) is not None
            elif isinstance(event, Add | Revise) and event.facts and "size" in event.facts:
                size[event.node] = round(as_number(event.facts, "size"))
                most = max(most, round(as_number(event.facts, "most")))
                touched = True
        if touched:
            values = list(size.values()) or [0]
            row = {"themes": len(size), "median size": float(np.median(values))}
            rows.append({"step": number, **row, "largest": max(values), "at most": most})
    return rows


def change_rows(steps: Sequence[Step]) -> list[Row]:
    """Returns a row for each split and merge, in the order of the steps.

    ``objective`` is f of all themes after and before the change. ``gain`` is negative where a
    limit forced the change; ``others`` are the themes created or absorbed.
    """
    rows: list[Row] = []
    known: dict[int, str] = {}
    for number, step in enumerate(steps, start=1):
        for event in step.events:
            if not isinstance(event, Add | Revise) or not event.facts:
                continue
            # The fact stays until the next change, so an equal one is no change of this step.
            changes = str(event.facts.get("changes") or "")
            if not changes or known.get(event.node) == changes:
                continue
            known[event.node] = changes
            for line in changes.split("\n"):
                kind, before, after, *others = line.split()
                rows.append(
                    {
                        "step": number,
                        "change": kind,
                        "theme": event.node,
                        "others": ", ".join(others),
                        "objective": float(after),
                        "objective, before": float(before),
                        "gain": float(after) - float(before),
                    }
                )
    return rows
