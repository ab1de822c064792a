"""Memories without structure, one leaf per unit: BM25, cosine, and any function of a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from segviz.construct import Arrival, Declared, MemoryView, Retrieval, Scorer, Services, param
from segviz.retrieval import over_active
from segviz.retrieval.relevance import Lexical
from segviz.systems.common.departures import departures_of
from segviz.systems.common.retrieval import as_retrieval, best_first, question_cosines, stage
from segviz.tree import Add, Cost, Step, Structure
from segviz.tree.invariants import Invariant, leaves_are_units, nothing_above_units

_WORD = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True)
class _Flat(Declared):
    """Base of memories that are a list of units."""

    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (
        leaves_are_units,
        nothing_above_units,
    )
    fidelity: ClassVar[str] = "faithful"
    relevance: ClassVar[str] = "dense"
    departures: ClassVar[tuple[str, ...]] = ()

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
        "Names of speakers and captions are indexed with what was said.",
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
        "Names of speakers and captions are embedded with what was said.",
        "Cosines are rounded to six digits, and a tie goes to the older unit.",
        *departures_of("segviz.systems", "dense"),
    )

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Returns every unit, best first."""
        scores = question_cosines(question, view)
        ranked = best_first(view.structure.leaves, scores)
        note = f"{len(ranked)} units are compared with the question."
        stages = (stage("cosine", note, ranked, scores, ranked[: view.k]),)
        return as_retrieval(ranked, scores, stages)


Found = Iterable[tuple[int | str, float]]
"""Pairs of a unit (its index, the id of a turn, or a text) and its score; higher is better."""


def retriever(find: Callable[[str], Found], name: str, label: str = "") -> type[Any]:
    """Creates a system from any function of a question, to be compared with the others.

    ::

        segviz.SYSTEMS["mine"] = segviz.retriever(find, "mine", "My retriever")

    Args:
        find: takes a question and returns pairs of a unit and its score. A unit is named by its
            index, by the id of a turn, or by a text: its own, or a part of it. Negative scores
            become 0.
        name: the key of the system.
        label: its name for display.

    Returns:
        A class for ``SYSTEMS``. With a question it raises ValueError if ``find`` names no unit of
        the memory, or gives a score that is no number.
    """

    @dataclass(frozen=True)
    class FunctionRetriever(_Flat):
        """Units as a function of the question ranks them. Source: the author of the function."""

        def retrieve(self, question: str, view: MemoryView) -> Retrieval:
            """Returns the units that the function finds, best first."""
            # Units that the function does not name are not returned, unlike those of score 0.
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


def _unit_of(key: int | str, view: MemoryView, name: str) -> int:
    """Returns the index of the unit that a retriever names."""
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
