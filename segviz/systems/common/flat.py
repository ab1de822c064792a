"""Steps and deletion of the flat baselines, one leaf per unit; retrievers made of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from segviz.construct import Arrival, Operation, Retrieval, Services, View
from segviz.systems.common.draft import Draft, cost_of, leaf_of
from segviz.systems.common.retrieval import as_retrieval, best_first, stage
from segviz.tree import Add, Cost, Step

DELETE = Operation("Delete a unit", "Takes a unit out of the memory.", {"unit": "unit"})


def flat_steps(arrivals: Sequence[Arrival]) -> Iterator[Step]:
    """One leaf per unit and nothing above."""
    for node, arrival in enumerate(arrivals):
        span = (arrival.index, arrival.index + 1)
        events = (Add(node, 0, span, arrival.text, arrival.vector),)
        yield Step(arrival.unit, f"Unit {arrival.index} is kept.", None, events, Cost(modified=1))


def deletion(
    arguments: Mapping[str, int], view: View, take_out: Callable[[Draft, int], int]
) -> Step:
    """Returns the step in which ``take_out`` removes the leaf of the unit in ``arguments``; it
    returns the number of texts it wrote. ValueError where no leaf holds the unit."""
    draft = Draft.of(view.structure, view.services.embedder)
    unit = arguments["unit"]
    written = take_out(draft, leaf_of(unit, draft))
    events = draft.take()
    cost = cost_of(events, written, 0)
    return Step(view.units[-1], f"Unit {unit} is deleted.", None, events, cost, "delete")


def delete_from_flat(arguments: Mapping[str, int], view: View) -> Step:
    """Retires one leaf."""

    def take_out(draft: Draft, leaf: int) -> int:
        draft.remove(leaf)
        return 0

    return deletion(arguments, view, take_out)


Found = Iterable[tuple[int | str, float]]
"""Index of a unit, id of a turn or a text, each with its score, higher is better."""


def retriever(find: Callable[[str], Found], name: str, label: str = "") -> type[Any]:
    """Makes a system of any function of a question, to be set beside the others.

    ::

        segviz.SYSTEMS["mine"] = segviz.retriever(find, "mine", "My retriever")

    ``name`` is its key, ``label`` what people read. ``find`` names units by their index, by the
    id of a turn, or by a text: a unit's own, or part of one. Its scores are kept, negative ones
    as 0. ValueError, when a question is asked, for an answer that names no unit of the memory or
    has no score.
    """

    @dataclass(frozen=True)
    class FunctionRetriever:
        """Units as a function of the question finds them. Source: whoever wrote the function."""

        online: ClassVar[bool] = True
        invariants: ClassVar[str] = "flat"
        fidelity: ClassVar[str] = "faithful"
        relevance: ClassVar[str] = "dense"
        departures: ClassVar[tuple[str, ...]] = ()

        def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
            """One leaf per unit, lazily."""
            return flat_steps(arrivals)

        def retrieve(self, question: str, view: View) -> Retrieval:
            """What the function finds, best first."""
            scores = np.full(len(view.structure), -np.inf)
            leaf_of = {int(view.structure.start[leaf]): leaf for leaf in view.structure.leaves}
            for key, score in find(question):
                if not np.isfinite(score):
                    raise ValueError(f"{name} scores {key!r:.60} {score!r}; expected a number")
                leaf = leaf_of.get(_unit_of(key, view, name))
                if leaf is not None:
                    scores[leaf] = max(scores[leaf], score)
            found = np.flatnonzero(np.isfinite(scores)).tolist()
            ranked = best_first(found, scores)
            note = f"{len(ranked)} units are found."
            stages = (stage("function", note, ranked, scores, ranked[: view.k]),)
            return as_retrieval(ranked, scores, stages)

    kind: Any = FunctionRetriever
    kind.name, kind.label = name, label or name
    return FunctionRetriever


def _unit_of(key: int | str, view: View, name: str) -> int:
    """The index of the unit that a retriever names."""
    if isinstance(key, int | np.integer):
        if 0 <= key < len(view.units):
            return int(key)
    else:
        for fits in (
            lambda unit: key in unit.turn_ids,
            lambda unit: unit.text.strip() == key.strip(),
            lambda unit: key.strip() and key.strip() in unit.text,
        ):
            if (found := next(filter(fits, view.units), None)) is not None:
                return found.index
    raise ValueError(
        f"{name} names {key!r:.60}, which is no unit, turn or text of this memory; expected an "
        f"index from 0 to {len(view.units) - 1}, the id of a turn, or words of a unit"
    )
