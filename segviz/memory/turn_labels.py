"""Reads labels of turns and nodes from a table with their ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from segviz.conversation import Unit
from segviz.memory.from_table import id_of, table_of
from segviz.tree import IntArray, Structure

MOST_LABELS: Final = 8
"""Most different labels; rarer ones are merged as ``other``."""

_IDS: Final = ("turn", "turn_id", "id", "node")


@dataclass(frozen=True, eq=False)
class Labels:
    """Column of labels for turns and nodes.

    ``names`` are the different labels, the most frequent first; if there are too many, the last is
    "other". ``turns`` and ``nodes`` map an id to a position in ``names``. ``unknown`` counts the
    ids that the memory does not have.
    """

    names: tuple[str, ...]
    turns: Mapping[str, int]
    nodes: Mapping[int, int]
    unknown: int = 0

    def of(self, structure: Structure, units: Sequence[Unit]) -> IntArray:
        """Returns the label of every node as a position in ``names``, int32 (n,); -1 for none.

        A node that the table does not label gets the most frequent label of the turns below it; in
        a tie, the first of ``names``. O(n + m + turns).
        """
        width = max(1, len(self.names))
        per_unit = np.zeros((len(units) + 1, width), dtype=np.int64)
        for unit in units:
            for turn in unit.turn_ids:
                if turn in self.turns:
                    per_unit[unit.index + 1, self.turns[turn]] += 1
        before = per_unit.cumsum(axis=0)
        counts = np.zeros((len(structure), width), dtype=np.int64)
        leaf = structure.active & (structure.level == 0)
        counts[leaf] = before[structure.stop[leaf]] - before[structure.start[leaf]]
        parent, child = structure.edges[:, 0], structure.edges[:, 1]
        if len(np.unique(child)) < len(child):  # nodes with several parents: count each unit once
            for node in np.unique(parent).tolist():
                covered = np.array(structure.coverage(node), dtype=np.int64)
                counts[node] = per_unit[covered + 1].sum(0)
        else:  # bottom-up, so that the level below is complete
            for level in np.unique(structure.level[child]).tolist():
                here = structure.level[child] == level
                np.add.at(counts, parent[here], counts[child[here]])
        found = np.where(counts.any(axis=1), counts.argmax(axis=1), -1).astype(np.int32)
        for node, label in self.nodes.items():
            if node < len(structure):
                found[structure.chain[node]] = label
        return found


def label_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the columns of a table that can be labels: with texts or numbers, but no ids."""
    plain = [name for row in rows[:100] for name, value in row.items() if _label(value)]
    return [name for name in dict.fromkeys(plain) if name.strip().casefold() not in _IDS]


def read_labels(table: Any, memory: Any, column: str) -> Labels:
    """Reads the labels in a column of a table.

    Args:
        table: path of CSV, TSV, JSON, JSON Lines or Parquet, a DataFrame, or rows. The columns
            ``turn``, ``turn_id`` and ``id`` have ids of turns, ``node`` those of nodes. If an id
            occurs in several rows the last one counts.
        memory: the memory with these turns.
        column: the column of the labels.

    Raises:
        ValueError: The column, or a column of ids, is missing.
    """
    rows = table_of(table)
    headers = list(dict.fromkeys(name for row in rows for name in row))
    ids = [name for name in headers if name.strip().casefold() in _IDS]
    if not ids or column not in headers:
        found = ", ".join(repr(name)[:30] for name in headers[:12]) or "no column"
        what = f"the column {column!r:.40} and a column turn or node"
        raise ValueError(f"the table has {found}; expected {what}, with an id in every row")
    turns: dict[str, str] = {}
    nodes: dict[int, str] = {}
    known = {turn.id for turn in memory.conversation.turns}
    unknown = 0
    for row in rows:
        label = _label(row.get(column))
        for name in ids:
            key = id_of(row.get(name))
            if key is None or not label:
                continue
            if name.strip().casefold() != "node":
                if key in known:
                    turns[key] = label
                unknown += key not in known
            elif key.isdecimal() and int(key) < len(memory.structure):
                nodes[int(key)] = label
            else:
                unknown += 1
    often = Counter([*turns.values(), *nodes.values()])
    names = sorted(often, key=lambda name: (-often[name], name))
    if len(names) > MOST_LABELS:
        names = [*names[: MOST_LABELS - 1], "other"]
    place = {name: number for number, name in enumerate(names)}
    last = len(names) - 1
    return Labels(
        tuple(names),
        {key: place.get(label, last) for key, label in turns.items()},
        {key: place.get(label, last) for key, label in nodes.items()},
        unknown,
    )


def _label(value: Any) -> str:
    """Returns a text or number as a label on one line; "" for any other value."""
    return " ".join(str(value).split())[:60] if isinstance(value, str | int | float) else ""
