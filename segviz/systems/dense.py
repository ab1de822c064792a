"""Cosine over the units alone: the dense baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from segviz.construct import Arrival, Operation, Retrieval, Services, View
from segviz.systems.common.flat import DELETE, delete_from_flat, flat_steps
from segviz.systems.common.retrieval import as_retrieval, best_first, question_cosines, stage
from segviz.tree import Step


@dataclass(frozen=True)
class DenseRetrieval:
    """A list of units, ranked by the cosine of their embedding with the question's.

    Nothing is written or arranged.

    Source: Karpukhin et al. 2020 as used in SegTreeMem (arXiv 2606.04555), App. E.
    Departs from the source: the offline embedder in place of text-embedding-3-small,
    unless a model is configured. Deleting a unit is ours.
    """

    name: ClassVar[str] = "dense"
    label: ClassVar[str] = "Dense (flat)"
    online: ClassVar[bool] = True
    invariants: ClassVar[str] = "flat"
    fidelity: ClassVar[str] = "faithful"
    relevance: ClassVar[str] = "dense"
    departures: ClassVar[tuple[str, ...]] = ("Deleting a unit is ours.",)

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One leaf per unit, lazily."""
        return flat_steps(arrivals)

    def retrieve(self, question: str, view: View) -> Retrieval:
        """Every unit, best first."""
        scores = question_cosines(question, view)
        ranked = best_first(view.structure.leaves, scores)
        note = f"{len(ranked)} units are compared with the question."
        stages = (stage("cosine", note, ranked, scores, ranked[: view.k]),)
        return as_retrieval(ranked, scores, stages)

    def operations(self) -> Mapping[str, Operation]:
        """Deleting a unit."""
        return {"delete": DELETE}

    def operate(self, name: str, arguments: Mapping[str, int], view: View) -> Step:
        """Returns the step of a deletion."""
        return delete_from_flat(arguments, view)
