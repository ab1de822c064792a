"""Shared parts of the systems' own retrievals: scores, rankings, top-down traversal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from segviz.construct.compatibility import cosines
from segviz.construct.tasks import Tasks
from segviz.retrieval import MemoryView, Retrieval, Stage
from segviz.tree import Structure

Scores = NDArray[np.float64]

# Ties are decided by age; a sum's last bits must not decide them instead.
_DIGITS = 9  # ours


def question_cosines(question: str, view: MemoryView) -> Scores:
    """Returns the cosine of the question with every node's text, float64 (n,)."""
    if not len(view.structure):
        return np.zeros(0)
    return cosines(view.services.embedder.embed([question])[0], view.structure.vector)


def chosen_relevance(question: str, view: MemoryView) -> Scores:
    """Scores every node by the relevance model that the caller chose, float64 (n,), rounded."""
    return np.asarray(np.round(view.relevance([question])[0], _DIGITS))


def best_first(nodes: Sequence[int], scores: Scores) -> list[int]:
    """Sorts ``nodes`` by score; a tie goes to the older (smaller id)."""
    return sorted(nodes, key=lambda node: (-scores[node], node))


def stage(
    name: str,
    note: str,
    nodes: Sequence[int],
    scores: Scores | Mapping[int, float],
    kept: Sequence[int],
) -> Stage:
    """Returns a stage of a retrieval that inspected ``nodes`` and kept some of them."""
    return Stage(name, note, tuple(nodes), tuple(float(scores[n]) for n in nodes), tuple(kept))


@dataclass(slots=True)
class Search:
    """Base of a system's retrieval of one question on one memory, with its stages so far."""

    view: MemoryView
    tasks: Tasks
    stages: list[Stage] = field(default_factory=list, init=False)

    def tell(
        self,
        name: str,
        note: str,
        nodes: Sequence[int] = (),
        scores: Scores | Mapping[int, float] | None = None,
        kept: Sequence[int] = (),
    ) -> None:
        """Appends a stage: inspected nodes, their scores, the nodes kept."""
        self.stages.append(stage(name, note, nodes, {} if scores is None else scores, kept))

    @property
    def who(self) -> str:
        """Beginning of a stage's note that says if a chat model or rules judged."""
        asked = getattr(self.tasks, "needs_chat", False)
        return "By the model" if asked else "By rules, as no model is set"


def as_retrieval(ranked: Sequence[int], scores: Scores, stages: Sequence[Stage]) -> Retrieval:
    """Returns a retrieval of the ``ranked`` nodes; scores of others, and negative ones, are 0."""
    given = np.zeros(len(scores))
    given[list(ranked)] = np.clip(scores[list(ranked)], 0.0, None)
    return Retrieval(given, tuple(ranked), tuple(stages))


def from_the_top(structure: Structure, scores: Scores, width: int) -> Retrieval:
    """Traverses a structure top down, keeping the ``width`` best nodes of each layer.

    The first layer are the roots, the next the children of the kept nodes, each inspected once.
    """
    layer: list[int] = list(structure.roots)
    seen = set(layer)
    kept_all: list[int] = []
    stages: list[Stage] = []
    while layer:
        order = best_first(layer, scores)
        kept = order[:width]
        kept_all += kept
        what = "roots" if not stages else "children of what was kept"
        note = f"{len(kept)} of {len(order)} {what} are kept."
        stages.append(stage(f"depth {len(stages)}", note, order, scores, kept))
        below = dict.fromkeys(child for node in kept for child in structure.children[node])
        layer = [child for child in below if child not in seen]
        seen.update(layer)
    return as_retrieval(best_first(kept_all, scores), scores, stages)


def question_similarity(question: str, view: MemoryView) -> Scores:
    """Returns the chosen relevance of every node in [0, 1], float64 (n,).

    Negative scores become 0. If no score exceeds 1 (cosines; hybrid and softmax, whose best node
    has 1), the rest is unchanged. Others (BM25) become ln(1 + score), divided by the largest;
    otherwise a single strong match would outweigh every other term of a system's formula.
    """
    raw = np.clip(view.relevance([question])[0], 0.0, None)
    highest = float(raw.max(initial=0.0))
    scaled = raw if highest <= 1 else np.log1p(raw) / np.log1p(highest)
    return np.asarray(np.round(scaled, _DIGITS))


def with_units(
    structure: Structure,
    ranked: Sequence[int],
    scores: Scores,
    stages: Sequence[Stage],
    units: Iterable[int] | None = None,
) -> Retrieval:
    """Returns a retrieval with ``units`` appended to a ranking, so that units can be evaluated.

    By default these are the units below the ranked nodes, in the order of the best node above each.
    Units that are ranked already are not repeated. The i-th appended unit has the lowest score of a
    ranked node divided by 1 + i (i from 1), so that scores fall with rank.
    """
    given = np.zeros(len(structure))
    given[list(ranked)] = scores[list(ranked)]
    floor = min((float(scores[node]) for node in ranked), default=0.0)
    leaf_of = {int(structure.start[leaf]): leaf for leaf in structure.leaves}
    if units is None:
        units = (unit for node in ranked for unit in structure.coverage(node))
    own = set(ranked)
    added = dict.fromkeys(leaf_of[unit] for unit in units if leaf_of[unit] not in own)
    for place, leaf in enumerate(added, start=1):
        given[leaf] = floor / (1 + place)
    return Retrieval(given, (*ranked, *added), tuple(stages))
