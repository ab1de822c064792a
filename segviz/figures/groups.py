"""Groups that are split and merged by an objective, step by step.

A group keeps its ``size`` among its facts, the ``most`` it may hold, and in ``changes`` how
it was split and merged when that last happened: a line each with the kind of change, the
objective before and after, and the other groups' nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.tree import Add, Retire, Revise, Step, Structure, as_number


@dataclass(frozen=True, slots=True)
class GroupChange:
    """A split or merge: the step (from 1), the group, the kind of change, the objective among
    its neighbours before and after, and the groups created or absorbed."""

    step: int
    node: int
    kind: str
    before: float
    after: float
    others: tuple[int, ...]

    @property
    def gain(self) -> float:
        """Gain of the objective; negative where a limit forced the change."""
        return self.after - self.before


@dataclass(frozen=True, eq=False)
class Sizes:
    """After every step: number of groups, median and largest size, int64 and float64 (steps,);
    and the size limit of a group (0: none)."""

    count: NDArray[np.int64]
    middle: NDArray[np.float64]
    largest: NDArray[np.int64]
    most: int


def grouped(structure: Structure) -> bool:
    """Whether any node carries the facts ``size`` and ``most``."""
    return any("size" in facts and "most" in facts for facts in structure.facts)


def changes(steps: Sequence[Step]) -> tuple[GroupChange, ...]:
    """Every split and merge, in order of the steps."""
    found: list[GroupChange] = []
    known: dict[int, str] = {}
    for number, step in enumerate(steps, start=1):
        for event in step.events:
            if not isinstance(event, Add | Revise) or not event.facts:
                continue
            told = str(event.facts.get("changes") or "")
            if told and known.get(event.node) != told:
                known[event.node] = told
                found += [_parse_change(number, event.node, line) for line in told.split("\n")]
    return tuple(found)


def _parse_change(step: int, node: int, line: str) -> GroupChange:
    kind, before, after, *others = line.split()
    return GroupChange(step, node, kind, float(before), float(after), tuple(map(int, others)))


def sizes(steps: Sequence[Step]) -> Sizes:
    """The sizes of the groups after each step."""
    size: dict[int, int] = {}
    rows: list[tuple[int, float, int]] = []
    row, most = (0, 0.0, 0), 0
    for step in steps:
        touched = False
        for event in step.events:
            if isinstance(event, Retire):
                touched |= size.pop(event.node, None) is not None
            elif isinstance(event, Add | Revise) and event.facts and "size" in event.facts:
                size[event.node] = round(as_number(event.facts, "size"))
                most = max(most, round(as_number(event.facts, "most")))
                touched = True
        if touched:
            values = list(size.values())
            row = (len(values), float(np.median(values)), max(values)) if values else (0, 0.0, 0)
        rows.append(row)
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return Sizes(table[:, 0].astype(np.int64), table[:, 1], table[:, 2].astype(np.int64), most)


def change_rows(found: Sequence[GroupChange]) -> list[dict[str, Any]]:
    """A row for each change: the objective after it, and the one before it, drawn hollow."""
    return [
        {
            "step": change.step,
            "change": change.kind,
            "group": change.node,
            "others": ", ".join(map(str, change.others)),
            "objective": change.after,
            "objective, before": change.before,
            "gain": change.gain,
        }
        for change in found
    ]


def size_rows(grown: Sizes) -> list[dict[str, Any]]:
    """A row for the first step, the last, and each at which a size changed."""
    # A size in the middle there is not before the first group.
    middles = [None if value != value else value for value in grown.middle.tolist()]
    columns = list(zip(grown.count.tolist(), middles, grown.largest.tolist(), strict=True))
    return [
        {"step": step, "groups": count, "middle size": middle, "largest": largest}
        for step, (count, middle, largest) in enumerate(columns, start=1)
        if step in (1, len(columns)) or columns[step - 2] != columns[step - 1]
    ]


def groups_sentence(found: Sequence[GroupChange], grown: Sizes) -> str:
    """The number of splits and merges, and their gain."""
    count = int(grown.count[-1]) if len(grown.count) else 0
    parts = []
    for kind in dict.fromkeys(change.kind for change in found):
        gains = [change.gain for change in found if change.kind == kind]
        mean = float(np.mean(gains))
        parts.append(f"{len(gains)} × {kind}, {mean:+.3f} on average")
    told = "; ".join(parts) if parts else "no split or merge"
    largest = int(grown.largest[-1]) if count else 0
    limit = f" of at most {grown.most}" if grown.most else ""
    return f"{count:,} groups, the largest of {largest}{limit}. So far: {told}."
