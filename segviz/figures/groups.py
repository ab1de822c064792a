"""Groups that are split and merged by an objective, step by step.

A group keeps its ``size`` among its facts, the ``most`` it may hold, and in ``changes`` how
it was split and merged when that last happened: a line each with the kind of change, the
objective before and after, and the other groups' nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from segviz.tree import Add, Retire, Revise, Step, Structure, as_number

Rows = list[dict[str, Any]]


def grouped(structure: Structure) -> bool:
    """Whether any node carries the facts ``size`` and ``most``."""
    return any("size" in facts and "most" in facts for facts in structure.facts)


def change_rows(steps: Sequence[Step]) -> Rows:
    """A row for every split and merge, in order of the steps: the objective among the group's
    neighbours after it, and the one before it, which is drawn hollow; ``others`` are the groups
    created or absorbed. The gain is negative where a limit forced the change."""
    rows: Rows = []
    known: dict[int, str] = {}
    for number, step in enumerate(steps, start=1):
        for event in step.events:
            if not isinstance(event, Add | Revise) or not event.facts:
                continue
            told = str(event.facts.get("changes") or "")
            if told and known.get(event.node) != told:
                known[event.node] = told
                for line in told.split("\n"):
                    kind, before, after, *others = line.split()
                    rows.append(
                        {
                            "step": number,
                            "change": kind,
                            "group": event.node,
                            "others": ", ".join(others),
                            "objective": float(after),
                            "objective, before": float(before),
                            "gain": float(after) - float(before),
                        }
                    )
    return rows


def size_rows(steps: Sequence[Step]) -> Rows:
    """The sizes of the groups after the first step, the last, and each at which one changed.
    ``at most`` is the size limit of a group so far (0: none)."""
    rows: Rows = []
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
            row = {"groups": len(size), "middle size": float(np.median(values))}
            rows.append({"step": number, **row, "largest": max(values), "at most": most})
    return rows


def groups_sentence(changed: Rows, sized: Rows) -> str:
    """The number of groups, and of splits and merges with their gain."""
    last = sized[-1] if sized else {"groups": 0, "largest": 0, "at most": 0}
    parts = []
    for kind in dict.fromkeys(row["change"] for row in changed):
        gains = [row["gain"] for row in changed if row["change"] == kind]
        parts.append(f"{len(gains)} × {kind}, {float(np.mean(gains)):+.3f} on average")
    told = "; ".join(parts) if parts else "no split or merge"
    limit = f" of at most {last['at most']}" if last["at most"] else ""
    return f"{last['groups']:,} groups, the largest of {last['largest']}{limit}. So far: {told}."
