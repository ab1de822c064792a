"""Memories without structure, one leaf per unit: BM25 and cosine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from segviz.construct import Arrival, Declared, Services, param
from segviz.retrieval import MemoryView, Retrieval, Scorer, over_active
from segviz.retrieval.relevance import Lexical
from segviz.systems.common.published import departures_of
from segviz.systems.common.retrieval import as_retrieval, best_first, question_cosines, stage
from segviz.text.words import tokens
from segviz.tree import Add, Cost, Step, Structure
from segviz.tree.invariants import Invariant, leaves_are_units, nothing_above_units


@dataclass(frozen=True)
class _Flat(Declared):
    """Base of memories that are a list of units."""

    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (leaves_are_units, nothing_above_units)
    fidelity: ClassVar[str] = "faithful"
    relevance: ClassVar[str] = "dense"

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """Yields one leaf per unit, lazily, and nothing above."""
        for node, arrival in enumerate(arrivals):
            span, note = (arrival.index, arrival.index + 1), f"Unit {arrival.index} is kept."
            events = (Add(node, 0, span, arrival.text, arrival.vector),)
            yield Step(arrival.unit, note, None, events, Cost(modified=1))


@dataclass(frozen=True)
class BM25(_Flat):
    """A list of units, ranked by the words they share with the question.

    Nothing is summarised or arranged. Its own retrieval scores every unit by BM25 and shows the
    contribution of each word of the question. Units that share no word are not returned.

    Source: Robertson and Zaragoza 2009; k1 1.5 and b 0.75 as in SegTreeMem (arXiv 2606.04555), App.
        E. Departs from the source as listed in ``departures``.
    """

    name: ClassVar[str] = "bm25"
    label: ClassVar[str] = "BM25 (flat)"
    relevance: ClassVar[str] = "lexical"
    departures: ClassVar[tuple[str, ...]] = (
        "Words are stemmed and the commonest left out, as in the lexical relevance (the paper does "
        "not say how it cuts words); idf after Lucene, which is never negative, without the factor "
        "k1 + 1 of Robertson and Zaragoza 2009 (same ranks). A unit's length counts what is left.",
        "Units that share no word with the question are not returned: there may be fewer than K.",
        "The index holds the speaker's name and the image caption along with the words of a turn.",
        "Frequencies are those of the units heard so far; the paper does not say of which.",
        *departures_of("segviz.systems", "bm25"),
    )

    k1: float = param(
        1.5, "How fast repeated words stop counting.", (0, 5), source="SegTreeMem, App. E, 1.5"
    )
    b: float = param(
        0.75, "How much length lowers the score.", (0, 1), source="SegTreeMem, App. E, 0.75"
    )

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Returns every unit with a score above 0, best first; one stage per word, then the sum."""
        embedder: Any = view.services.embedder
        score = _indexed(self.k1, self.b, view.structure, embedder)
        words = list(dict.fromkeys(tokens(question)))
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


@lru_cache(maxsize=2)
def _indexed(k1: float, b: float, structure: Structure, embedder: Any) -> Scorer:
    """Returns the word index of a structure, cached while the same memory is asked again."""
    return over_active(Lexical(k1, b), structure, embedder)


@dataclass(frozen=True)
class DenseRetrieval(_Flat):
    """A list of units, ranked by the cosine of their embedding with the question's.

    Nothing is summarised or arranged.

    Source: Karpukhin et al. 2020 as used in SegTreeMem (arXiv 2606.04555), App. E. Departs from the
        source as listed in ``departures``.
    """

    name: ClassVar[str] = "dense"
    label: ClassVar[str] = "Dense (flat)"
    departures: ClassVar[tuple[str, ...]] = (
        "The offline embedder in place of text-embedding-3-small, unless a model is configured.",
        "One embedder for questions and units, and their cosine, as in SegTreeMem's App. E; "
        "Karpukhin et al. 2020, §3, train two encoders and take the inner product.",
        "Negative cosines are given out as 0, which leaves the ranks as they are.",
        "Texts are cut at 20,000 characters before they are embedded.",
        "The embedding covers speaker's name, image caption and words of a turn.",
        "Cosines are rounded to six digits, and a tie goes to the older unit.",
        *departures_of("segviz.systems", "dense"),
    )

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Ranks all units by the cosine of their embedding with the question's."""
        scores = question_cosines(question, view)
        ranked = best_first(view.structure.leaves, scores)
        note = f"{len(ranked)} units are compared with the question."
        stages = (stage("cosine", note, ranked, scores, ranked[: view.k]),)
        return as_retrieval(ranked, scores, stages)
