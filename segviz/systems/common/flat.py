"""Steps and deletion of the flat baselines: one leaf per unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from segviz.construct import Arrival, Operation, View
from segviz.tree import Add, Cost, Event, Retire, Step

DELETE = Operation("Delete a unit", "Takes a unit out of the memory.", {"unit": "unit"})


def flat_steps(arrivals: Sequence[Arrival]) -> Iterator[Step]:
    """One leaf per unit and nothing above."""
    for node, arrival in enumerate(arrivals):
        span = (arrival.index, arrival.index + 1)
        events = (Add(node, 0, span, arrival.text, arrival.vector),)
        yield Step(arrival.unit, f"Unit {arrival.index} is kept.", None, events, Cost(modified=1))


def leaf_to_delete(arguments: Mapping[str, int], view: View) -> int:
    """Returns the leaf that holds the unit named in ``arguments``; ValueError when none does."""
    unit = arguments["unit"]
    for leaf in view.structure.leaves:
        if int(view.structure.start[leaf]) == unit:
            return leaf
    raise ValueError(f"the memory holds no unit {unit!r}; nothing to delete")


def deletion(arguments: Mapping[str, int], view: View, events: Sequence[Event], cost: Cost) -> Step:
    """Returns the step of a deletion."""
    note = f"Unit {arguments['unit']} is deleted."
    return Step(view.units[-1], note, None, tuple(events), cost, "delete")


def delete_from_flat(arguments: Mapping[str, int], view: View) -> Step:
    """Retires one leaf."""
    leaf = leaf_to_delete(arguments, view)
    return deletion(arguments, view, (Retire(leaf),), Cost(modified=1))
