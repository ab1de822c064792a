"""The offline default: like the unit just before, or like a higher node, by level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from segviz.construct.compatibility.cosine import cosines
from segviz.construct.parameter import Declared, param
from segviz.construct.protocols import LOOK_BACK, Arrival, Candidate, Services, Verdict
from segviz.embedding import background_mean
from segviz.tree import Judgement, Vector, told_apart

_EVERYDAY = 10
"""How many units the background mean counts for."""

_SET = "ours, set on five LoCoMo conversations"


@dataclass(frozen=True)
class Calibrated(Declared):
    """Joins the lowest frontier node that goes on with what the unit says.

    Level 1 is asked by its newest unit: is the new one like the unit just before it? Higher
    levels are asked by their annotation. Similarity is the cosine after a centre has been
    subtracted from both sides: the mean of the last ``window`` units and of ten more that say
    what everyday language says (``background``, by ``segviz.embedding.background_mean``), so
    that what the whole conversation is about, or how its speakers talk, does not count as going
    on. Candidates are asked from low to high; each has its own threshold, which grows
    by ``crowding``·ln(1 + children/3). NONE when no candidate reaches its threshold. With
    ``window`` 0, or where nothing is known of earlier units, level 1 is asked by its annotation
    too and only everyday language is subtracted.

    Source: ours; comparing what is said now with what was said just before is TextTiling
    (Hearst, Computational Linguistics 23, 1997), here with embeddings and without its look
    ahead. Departs from SegTreeMem §4.2 (i), whose C(x, F) sees the utterance and annotations
    only: earlier units are seen, the first sufficient candidate is taken in place of the
    arg-max, thresholds differ by level. ``session_break``, off by default, adds session
    metadata, which the paper's C does not see either; a tree built with it cannot be measured
    against sessions.

    The defaults were set on five LoCoMo conversations (exchange units, wordllama): nodes per
    leaf 1.23, depth 4.0 at most and 3.5 on average, branching 5.4 (paper, Table 5: 1.25, 4.0,
    3.5, 5.1). Level-1 nodes begin where sessions begin with F1 .45; plain cosine has .24, a
    random cut .12. ``tests/benchmarks/README.md`` has other data, and thresholds set on some
    of the conversations and tried on the others. On single turns the cue is weak. Many equal
    texts in a row end up below one node.
    """

    name: ClassVar[str] = "calibrated"

    level_1: float = param(-0.03, "Threshold on level 1.", (-2, 2), source=_SET)
    level_2: float = param(0.0, "Threshold on level 2.", (-2, 2), source=_SET)
    level_3: float = param(-0.16, "Threshold on level 3.", (-2, 2), source=_SET)
    above: float = param(-0.60, "Threshold on level 4 and higher.", (-2, 2), source=_SET)
    crowding: float = param(
        0.10, "How fast a node with many children gets harder to join.", (0, 2), source=_SET
    )
    session_break: float = param(
        0.0,
        "Added on level 1 when a session opens. This is session metadata, which the paper's "
        "C(x, F) does not see: with it the tree is told where sessions begin.",
        (0, 2),
        source="ours",
    )
    window: int = param(
        100,
        "How many units back the conversation's own mean is taken, to be subtracted; level 1 "
        "is then asked by its newest unit. 0: nothing of the past, level 1 by its annotation.",
        (0, LOOK_BACK),
        source=_SET,
    )
    background: Vector | None = field(default=None, compare=False, repr=False)

    def prepare(self, services: Services) -> Calibrated:
        """Returns the same model with the background mean of this embedder."""
        return replace(self, background=background_mean(services.embedder))

    def thresholds(self, unit: Arrival, candidates: Sequence[Candidate]) -> list[float]:
        """Returns the similarity each candidate must reach for this unit."""
        by_level = (self.level_1, self.level_2, self.level_3, self.above)
        limits = [
            by_level[min(c.level, 4) - 1] + self.crowding * math.log1p(c.children / 3)
            for c in candidates
        ]
        if limits and unit.opens_session:
            limits[0] += self.session_break
        return limits

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position of the lowest sufficient candidate, or None."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """Returns the choice with every candidate's similarity and threshold."""
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        rows = np.stack([c.vector for c in candidates])
        centre = self.background if self.background is not None else np.zeros_like(rows[0])
        if self.window and unit.before is not None and len(unit.before):
            recent = unit.before[-self.window :]
            rows[0] = recent[-1]
            weight = len(recent) / (len(recent) + _EVERYDAY)
            centre = weight * recent.mean(axis=0) + (1 - weight) * centre
        scores = cosines(unit.vector - centre, rows - centre).tolist()
        limits = self.thresholds(unit, candidates)
        judgements = tuple(
            Judgement(c.node, score, limit)
            for c, score, limit in zip(candidates, scores, limits, strict=True)
        )
        for position, candidate in enumerate(candidates):
            if scores[position] >= limits[position]:
                score, needed = told_apart(scores[position], limits[position])
                why = (
                    f"{candidate.place.capitalize()} is the lowest node close enough: "
                    f"{score} reaches {needed}."
                )
                return Verdict(position, judgements, why)
        near = max(range(len(scores)), key=lambda i: scores[i] - limits[i])
        score, needed = told_apart(scores[near], limits[near])
        why = (
            f"No open node is close enough; the nearest miss is {candidates[near].place} "
            f"with {score} against {needed}."
        )
        return Verdict(None, judgements, why)
