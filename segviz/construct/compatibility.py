"""Compatibility models, which choose where a new unit joins the frontier.

``calibrated``  ours, the offline default: like the unit just before or like a higher
                annotation, first candidate from below that reaches its own threshold
``cosine``      the most similar frontier annotation, if it is similar enough
``pointwise``   a chat model judges one candidate at a time
``batch``       a chat model sees all candidates at once

All see only the frontier, calibrated the units before as well, so they keep construction
online.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from segviz.construct.parameter import Declared, param
from segviz.construct.protocols import (
    LOOK_BACK,
    Arrival,
    Candidate,
    Services,
    Verdict,
    require_chat,
)
from segviz.embedding import background_mean
from segviz.handover import calling
from segviz.llm import Chat, LabelError, Prompt
from segviz.llm.prompts import CONTINUE, MERGE, SPLIT, batch_prompt, pointwise_prompt, score_prompt
from segviz.tree import NOT_ASKED, Judgement, Vector, told_apart

__all__ = ["COMPATIBILITY", "Batch", "Calibrated", "Cosine", "Pointwise", "cosines", "judge"]

# Ties are decided by level or age, not by the last bits of a product: those of a matrix product
# (BLAS) differ between equal rows, by where a row stands; einsum adds every row up alike. Rounding
# does the same for rows of equal direction: vectors are float32, exact to about seven digits.
_DIGITS = 6


def cosines(vector: NDArray[np.floating], matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    """Cosine of ``vector`` (d,) with each row of ``matrix`` (n, d), float64 (n,), rounded to
    six digits, so that equal rows have equal cosines; 0 for zero vectors."""
    norms = np.sqrt(np.add.reduce(matrix * matrix, axis=1)) * np.sqrt(vector.dot(vector))
    dots = np.einsum("ij,j->i", matrix, vector).astype(np.float64)
    ratios = np.divide(dots, norms, out=np.zeros(len(dots)), where=norms > 0)
    return np.asarray(ratios.round(_DIGITS))


class Judging:
    """A compatibility model that says why; a subclass defines ``_judge`` for at least one
    candidate."""

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position of the chosen candidate, or None."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """Returns the choice with how every candidate fared. ValueError where the model asks a
        chat model and none is bound."""
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        return self._judge(unit, candidates)

    def _judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        raise NotImplementedError


@dataclass(frozen=True)
class Cosine(Judging, Declared):
    """Joins the frontier node whose annotation is most similar to the unit.

    NONE below ``threshold``; a tie goes to the lower level. Source: SegTreeMem §4.2 (i),
    which does not state a threshold. With one threshold the literal reading either puts
    everything under one node or opens a new root at almost every unit; the tree view
    makes that visible.
    """

    name: ClassVar[str] = "cosine"

    threshold: float = param(
        0.3,
        "Least similarity at which a unit may join.",
        (-1, 1),
        source="SegTreeMem §4.2 (i) without a value; .3 is ours",
    )

    def _judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        scores = cosines(unit.vector, np.stack([c.vector for c in candidates])).tolist()
        judgements = tuple(
            Judgement(c.node, score, self.threshold)
            for c, score in zip(candidates, scores, strict=True)
        )
        best = max(range(len(scores)), key=lambda i: (scores[i], -i))
        place = candidates[best].place
        score, needed = told_apart(scores[best], self.threshold)
        if scores[best] >= self.threshold:
            why = f"Most similar: {place} at {score}, which reaches {needed}."
            return Verdict(best, judgements, why)
        why = f"Even the most similar, {place} at {score}, stays below {needed}."
        return Verdict(None, judgements, why)


_EVERYDAY = 10
"""How many units the background mean counts for."""

_SET = "ours, set on five LoCoMo conversations"


@dataclass(frozen=True)
class Calibrated(Judging, Declared):
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
    random cut .12. ``tests/benchmarks/results/shape.md`` has other data, and thresholds set on some
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

    def _judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        rows = np.array([c.vector for c in candidates])
        centre = self.background if self.background is not None else np.zeros_like(rows[0])
        if self.window and unit.before is not None and len(unit.before):
            recent = unit.before[-self.window :]
            rows[0] = recent[-1]
            weight = len(recent) / (len(recent) + _EVERYDAY)
            mean = np.add.reduce(recent, axis=0) / len(recent)
            centre = weight * mean + (1 - weight) * centre
        scores = cosines(unit.vector - centre, rows - centre).tolist()
        limits = self.thresholds(unit, candidates)
        judgements = tuple(map(Judgement, [c.node for c in candidates], scores, limits))
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


# --- by a chat model -------------------------------------------------------------------------

_SHOWN = 60


class ModelReply(NamedTuple):
    """One of the prompt's labels; or "", then ``instead`` is what came in its place and
    ``why`` says so as the beginning of a sentence. Model output is quoted literally."""

    label: str
    instead: str = ""
    why: str = ""


@dataclass(frozen=True)
class ChatCompatibility(Judging):
    """Binding to the build's chat model, and ``calibrated`` where it gives no label.

    A subclass uses ``_answer`` to ask for a label and ``_offline`` where there is none.
    """

    name: ClassVar[str]
    needs_chat: ClassVar[bool] = True

    chat: Chat | None = field(default=None, compare=False, repr=False)
    fallback: Calibrated = field(default_factory=Calibrated, compare=False, repr=False)
    services: Services | None = field(default=None, compare=False, repr=False)

    def prepare(self, services: Services) -> Self:
        """Returns the same model bound to the build's chat model."""
        chat = require_chat(services, self.name)
        return replace(self, chat=chat, services=services)

    def _answer(self, prompt: Prompt) -> ModelReply:
        """Returns the label the model gives, or what it does instead."""
        if self.chat is None:
            raise ValueError(f"{self.name} has no chat model; build with chat=…")
        try:
            reply = self.chat.reply(prompt)
        except LabelError as error:
            said = " ".join(error.answer.split())
            quoted = repr(said if len(said) <= _SHOWN else said[:_SHOWN] + "…")
            return ModelReply(
                "", quoted, f"The model answered {quoted}, which is none of the labels, so"
            )
        if reply.waived:
            return ModelReply(
                "", "no answer", f"The model was passed over ({reply.waived}), as agreed, so"
            )
        return ModelReply(reply.text)

    def _offline(
        self,
        answer: ModelReply,
        labels: Sequence[str],
        unit: Arrival,
        candidates: Sequence[Candidate],
    ) -> Verdict:
        """Returns the offline model's verdict, with what was said about each candidate before."""
        # Prepared only where it is needed: it embeds the background, which may be paid for.
        ready = self.fallback.prepare(self.services) if self.services else self.fallback
        verdict = ready.judge(unit, candidates)
        judgements = tuple(
            replace(judgement, label=label)
            for judgement, label in zip(verdict.judgements, labels, strict=True)
        )
        why = f"{answer.why} the offline calibrated model decided. {verdict.why}"
        return replace(verdict, judgements=judgements, why=why)


@dataclass(frozen=True)
class Pointwise(ChatCompatibility, Declared):
    """Asks a chat model about one open node at a time.

    ``all``: the model scores every candidate on its own, from 0 to 10; the unit joins the
    one with the highest score, the lower of two, or none where that is below ``least``. One
    call per candidate. ``upwards``: from the lowest up the model answers MERGE or CONTINUE;
    the first MERGE is where the unit joins, and NONE when even the root is answered with
    CONTINUE. One call per candidate asked. Needs a chat model.

    Source: SegTreeMem §4.2 (ii) for ``all``, App. G for ``upwards`` (the labels; the wording is
    ours). The paper has both; the calls of its Table 5 are those of asking about every
    open node, so ``all`` is the default.
    Departs from the source: points and ``least`` are ours, the paper states neither scale nor
    limit; when the model keeps answering something else, or was waived for this unit, the
    offline ``calibrated`` model decides it and the step says so.
    """

    name: ClassVar[str] = "pointwise"

    asks: str = param(
        "all",
        "Score every open node and take the best, or stop at the first that fits.",
        choices=("all", "upwards"),
        source="SegTreeMem §4.2 (ii) and Table 5's calls, all; App. G, upwards",
    )
    least: int = param(
        5, "Points of ten at which a unit may join, where all are asked.", (0, 10), source="ours"
    )

    def _judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        prompt = score_prompt if self.asks == "all" else pointwise_prompt
        labels = [NOT_ASKED] * len(candidates)
        for position, candidate in enumerate(candidates):
            answer = self._answer(prompt(unit.text, candidate.level, candidate.text))
            labels[position] = answer.label or answer.instead
            if not answer.label:
                return self._offline(answer, labels, unit, candidates)
            if answer.label == MERGE:
                break
        return (self._best if self.asks == "all" else self._first)(candidates, labels)

    def _best(self, candidates: Sequence[Candidate], points: Sequence[str]) -> Verdict:
        """The candidate with the most points, of these the lowest."""
        scores = [int(label) / 10 for label in points]
        least = self.least / 10
        judgements = tuple(
            Judgement(c.node, score, least) for c, score in zip(candidates, scores, strict=True)
        )
        best = max(range(len(scores)), key=lambda i: (scores[i], -i))
        place, most = candidates[best].place, points[best]
        if scores[best] < least:
            why = (
                f"The model gave no open node {self.least} of 10 points; {place} has most, {most}."
            )
            return Verdict(None, judgements, why)
        return Verdict(best, judgements, f"The model gave most points, {most} of 10, to {place}.")

    def _first(self, candidates: Sequence[Candidate], labels: Sequence[str]) -> Verdict:
        """The candidate answered with MERGE."""
        judgements = tuple(
            Judgement(c.node, label=said) for c, said in zip(candidates, labels, strict=True)
        )
        if MERGE not in labels:
            return Verdict(None, judgements, f"The model answered {CONTINUE} for every open node.")
        found = labels.index(MERGE)
        why = f"The model answered {MERGE} for {candidates[found].place}."
        return Verdict(found, judgements, why)


@dataclass(frozen=True)
class Batch(ChatCompatibility):
    """Shows a chat model all open nodes and asks for exactly one label.

    The labels MERGE_1 … MERGE_m (low to high) and SPLIT are generated for each call and
    enforced by structured output. Needs a chat model; one call per unit.

    Source: SegTreeMem §4.2 (iii) and App. G (the labels; the wording is ours).
    Departs from the source: when the model keeps answering something else, or was waived
    for this unit, the offline ``calibrated`` model decides it and the step says so.
    """

    name: ClassVar[str] = "batch"

    def _judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        prompt = batch_prompt(unit.text, [(c.level, c.text) for c in candidates])
        answer = self._answer(prompt)
        label = answer.label
        if not label:
            said = [f"{offered}: {answer.instead}" for offered in prompt.labels[:-1]]
            return self._offline(answer, said, unit, candidates)
        judgements = tuple(
            Judgement(c.node, label=offered)
            for c, offered in zip(candidates, prompt.labels, strict=False)
        )
        if label == SPLIT:
            return Verdict(None, judgements, f"The model answered {SPLIT}.")
        position = prompt.labels.index(label)
        why = f"The model answered {label}: {candidates[position].place}."
        return Verdict(position, judgements, why)


# --- by name ---------------------------------------------------------------------------------

COMPATIBILITY: dict[str, Callable[..., Any]] = {
    "calibrated": Calibrated,
    "cosine": Cosine,
    "pointwise": Pointwise,
    "batch": Batch,
}
"""Name to frozen dataclass; adding a row is all it takes."""


def judge(model: Any, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
    """Asks any compatibility model; a bare ``choose`` is wrapped into a Verdict.

    Raises ValueError, naming the answer and what was expected, when the model answers
    with something else or points outside the candidates.
    """
    with calling(model):
        return _judged(model, unit, candidates)


def _judged(model: Any, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
    name = type(model).__name__
    explained = getattr(model, "judge", None)
    if explained is not None:
        verdict = explained(unit, candidates)
        if not isinstance(verdict, Verdict):
            raise ValueError(
                f"{name}.judge returned {verdict!r:.80} ({type(verdict).__name__}); "
                "expected a segviz.construct.Verdict(chosen, judgements, why)"
            )
        chosen = _position(f"{name}.judge", verdict.chosen, len(candidates))
        return verdict if chosen is verdict.chosen else replace(verdict, chosen=chosen)
    chosen = _position(f"{name}.choose", model.choose(unit, candidates), len(candidates))
    judgements = tuple(Judgement(c.node) for c in candidates)
    if chosen is None:
        return Verdict(None, judgements, "The model found no compatible node.")
    return Verdict(chosen, judgements, f"The model chose {candidates[chosen].place}.")


def _position(source: str, chosen: Any, count: int) -> int | None:
    """None or a position in 0..count-1. Numpy's integers count, booleans do not."""
    if chosen is None:
        return None
    if isinstance(chosen, Integral) and not isinstance(chosen, bool) and 0 <= int(chosen) < count:
        return int(chosen)
    legal = f"None or a position in 0..{count - 1}" if count else "None"
    raise ValueError(f"{source} chose {chosen!r:.80}; expected {legal} ({count} candidates)")
