"""BM25 over the units alone: the lexical baseline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from segviz.construct import (
    Arrival,
    Declared,
    Operation,
    Retrieval,
    Scorer,
    Services,
    View,
    param,
)
from segviz.retrieval import over_active
from segviz.retrieval.relevance import Lexical
from segviz.systems.common.flat import DELETE, delete_from_flat, flat_steps
from segviz.systems.common.retrieval import as_retrieval, best_first, stage
from segviz.tree import Step, Structure

_WORD = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True)
class BM25(Declared):
    """A list of units, ranked by the words they share with the question.

    Nothing is written or arranged. Its own retrieval scores every unit by BM25 and shows
    what each word of the question contributes; units that share no word are not returned.

    Source: Robertson and Zaragoza 2009; k1 1.5 and b 0.75 as in SegTreeMem (arXiv
    2606.04555), App. E.
    Departs from the source: words are stemmed and the commonest left out, as in the
    ``lexical`` relevance (the paper does not say how it cuts words); Lucene's idf, which
    is never negative. Deleting a unit is ours.
    """

    name: ClassVar[str] = "bm25"
    label: ClassVar[str] = "BM25 (flat)"
    online: ClassVar[bool] = True
    invariants: ClassVar[str] = "flat"
    fidelity: ClassVar[str] = "faithful"
    relevance: ClassVar[str] = "lexical"
    departures: ClassVar[tuple[str, ...]] = (
        "Words are stemmed and the commonest left out; idf after Lucene.",
        "Deleting a unit is ours.",
    )

    k1: float = param(
        1.5, "How fast repeated words stop counting.", (0, 5), source="SegTreeMem, App. E, 1.5"
    )
    b: float = param(
        0.75, "How much long units are held back.", (0, 1), source="SegTreeMem, App. E, 0.75"
    )

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One leaf per unit, lazily."""
        return flat_steps(arrivals)

    def retrieve(self, question: str, view: View) -> Retrieval:
        """Every unit with a score above 0, best first; one stage per word, then the sum."""
        embedder: Any = view.services.embedder
        score = _indexed(self.k1, self.b, view.structure, embedder)
        words = list(dict.fromkeys(_WORD.findall(question.lower())))
        stages = []
        for word, row in zip(words, np.round(score(words), 9), strict=True):
            holding = best_first(np.flatnonzero(row > 0).tolist(), row)
            if holding:
                what = "1 unit holds" if len(holding) == 1 else f"{len(holding)} units hold"
                stages.append(stage(f"word “{word}”", f"{what} it.", holding, row, holding))
        total = np.round(score([question])[0], 9)
        ranked = best_first(np.flatnonzero(total > 0).tolist(), total)
        note = f"{len(ranked)} of {len(view.structure.leaves)} units share a word."
        stages.append(stage("sum over words", note, ranked, total, ranked[: view.k]))
        return as_retrieval(ranked, total, stages)

    def operations(self) -> Mapping[str, Operation]:
        """Deleting a unit."""
        return {"delete": DELETE}

    def operate(self, name: str, arguments: Mapping[str, int], view: View) -> Step:
        """Returns the step of a deletion."""
        return delete_from_flat(arguments, view)


@lru_cache(maxsize=2)
def _indexed(k1: float, b: float, structure: Structure, embedder: Any) -> Scorer:
    """Returns the word index of a structure, kept while the same memory is asked again."""
    return over_active(Lexical(k1, b), structure, embedder)
