"""H-Mem's side tables: windows of time, forgetting, entities and relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from segviz.construct import Row
from segviz.conversation import DAY
from segviz.systems.common.side_tables import dated, first_line, moment
from segviz.systems.h_mem.graph import ENTITY
from segviz.tree import Facts, Structure, as_number

Retention = Callable[[Facts, Sequence[float]], list[float]]


def window_rows(structure: Structure, level_names: Sequence[str]) -> list[Row]:
    """Returns a row for each time window that has events or summaries, by level and time."""
    calendar = dated(structure)
    windows: dict[tuple[int, float, float], list[Facts]] = {}
    for node in np.flatnonzero(structure.active).tolist():
        facts = structure.facts[node]
        if "window_from" in facts:
            bounds = as_number(facts, "window_from"), as_number(facts, "window_to")
            windows.setdefault((int(structure.level[node]), *bounds), []).append(facts)
    return [
        {
            "level": level_names[level],
            "nodes": len(inside),
            "start": moment(start, calendar),
            "stop": moment(stop, calendar),
            "content from": moment(min(as_number(f, "from") for f in inside), calendar),
            "content to": moment(max(as_number(f, "to") for f in inside), calendar),
            "met again": round(sum(as_number(f, "n") for f in inside)),
        }
        for (level, start, stop), inside in sorted(windows.items())
    ]


def forgetting_rows(structure: Structure, retention: Retention) -> list[Row]:
    """Returns the nodes and their retention (equation 2) by age and number of times met again."""
    active = np.flatnonzero(structure.active).tolist()
    met = [f for f in (structure.facts[node] for node in active) if "last" in f and "n" in f]
    now = max((as_number(facts, "last") for facts in met), default=0.0)
    groups = Counter((now - as_number(f, "last"), int(as_number(f, "n"))) for f in met)
    rows: list[Row] = []
    for (age, n), nodes in sorted(groups.items()):
        today, in_a_year = retention({"n": n}, [age, age + 365 * DAY])
        rows.append(
            {
                "days since last met": round(age / DAY, 1),
                "met again": n,
                "nodes": nodes,
                "retention": round(today, 4),
                "retention in a year": round(in_a_year, 4),
            }
        )
    return rows


def entity_rows(structure: Structure) -> list[Row]:
    """Returns a row for each entity, those with most mentions first."""
    joined = Counter(node for r in structure.relations for node in (r.source, r.target))
    rows: list[Row] = [
        {
            "entity": first_line(structure, node),
            "type": str(structure.facts[node].get("type") or ""),
            "mentions": round(as_number(structure.facts[node], "mentions")),
            "relations": joined[node],
            "node": node,
        }
        for node in structure.of_kind(ENTITY)
    ]
    return sorted(rows, key=lambda row: -row["mentions"])


def relation_rows(structure: Structure) -> list[Row]:
    """Returns a row for each relation of two entities, those of greatest weight first."""
    return [
        {
            "from": first_line(structure, relation.source),
            "relation": relation.label,
            "to": first_line(structure, relation.target),
            "weight": relation.weight,
            "units": relation.facts.get("units"),
            "confidence": relation.facts.get("confidence"),
        }
        for relation in sorted(structure.relations, key=lambda relation: -relation.weight)
    ]
