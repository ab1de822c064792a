"""Compatibility models, which choose where a new unit joins the frontier.

``calibrated``  ours, the offline default: similar to the previous unit or to a higher
                annotation; the lowest candidate that reaches its own threshold
``cosine``      the most similar frontier annotation, if it is similar enough
``pointwise``   a chat model judges one candidate at a time
``batch``       a chat model sees all candidates at once

All see only the frontier, calibrated the previous units as well, so they keep construction online.
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
from segviz.embedding import background_mean, known_scripts
from segviz.handover import calling
from segviz.llm import Chat, LabelError, Prompt, Reply
from segviz.llm.prompts import CONTINUE, MERGE, SPLIT, batch_prompt, pointwise_prompt, score_prompt
from segviz.text.words import other_script
from segviz.tree import NOT_ASKED, Judgement, Vector, told_apart

# Ties are decided by level or age, not by the last bits of a product. In a matrix product (BLAS)
# those depend on the position of a row; einsum sums every row in the same way. Rounding makes rows
# of equal direction tie: vectors are float32, exact to about seven digits.
_DIGITS = 6


def cosines(vector: NDArray[np.floating], matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    """Returns the cosine of ``vector`` (d,) with each row of ``matrix`` (n, d), float64 (n,).

    Cosines are rounded to six digits, so that equal rows have equal cosines; 0 for zero vectors.
    """
    norms = np.sqrt(np.add.reduce(matrix * matrix, axis=1)) * np.sqrt(vector.dot(vector))
    dots = np.einsum("ij,j->i", matrix, vector).astype(np.float64)
    ratios = np.divide(dots, norms, out=np.zeros(len(dots)), where=norms > 0)
    return np.asarray(ratios.round(_DIGITS))


class Judging:
    """Base of compatibility models that explain themselves; ``_judge`` always has a candidate."""

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Returns the position of the chosen candidate, or None."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """Returns the choice with the judgement of every candidate.

        Raises:
            ValueError: the model needs a chat model and none is bound.
        """
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        return self._judge(unit, candidates)

    def _judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        raise NotImplementedError


@dataclass(frozen=True)
class Cosine(Judging, Declared):
    """Joins the frontier node whose annotation is most similar to the unit.

    NONE below ``threshold``; a tie goes to the lower level.

    Source: SegTreeMem §4.2 (i), which does not state a threshold. Means of LoCoMo conversations,
        texts refreshed as ``joined``, wordllama; .175 was chosen on the first three:

        ====================  =========  ==============  ==========  ========
        threshold             on         nodes per leaf  mean depth  children
        ====================  =========  ==============  ==========  ========
        paper, Table 5                   1.25            3.46        5.1
        .150                  26 30 43   1.11            3.2         12.7
        **.175**              26 30 43   1.14            3.3         9.2
        **.175**              47 49      1.19            3.1         6.6
        .200                  26 30 43   1.15            4.6         8.9
        .300                  26 30 43   1.29            14.8        4.9
        ====================  =========  ==============  ==========  ========

        No threshold gives the whole printed row.
    """

    name: ClassVar[str] = "cosine"

    threshold: float = param(
        0.175,
        "Least similarity at which a unit may join.",
        (-1, 1),
        source="SegTreeMem §4.2 (i) without a value; .175 is ours",
    )

    def _judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        scores = cosines(unit.vector, np.stack([c.vector for c in candidates])).tolist()
        judgements = tuple(
            Judgement(c.node, score, self.threshold)
            for c, score in zip(candidates, scores, strict=True)
        )
        # §4.2 (i): the arg-max over the frontier, NONE below the threshold.
        best = max(range(len(scores)), key=lambda i: (scores[i], -i))
        place = candidates[best].place
        score, needed = told_apart(scores[best], self.threshold)
        if scores[best] >= self.threshold:
            why = f"Most similar: {place} at {score}, which reaches {needed}."
            return Verdict(best, judgements, why)
        why = f"Even the most similar, {place} at {score}, stays below {needed}."
        return Verdict(None, judgements, why)


_EVERYDAY = 10
"""Weight of the background mean, in units."""

_SET = "ours, set on five LoCoMo conversations"


@dataclass(frozen=True)
class Calibrated(Judging, Declared):
    """Joins the lowest frontier node that the unit continues.

    Level 1 is represented by its newest unit: is the new one similar to the unit just before it?
    Higher levels are represented by their annotation. Similarity is the cosine after a centre has
    been subtracted from both sides. The centre is the mean of the last ``window`` units and of
    everyday language with the weight of ten units (``background``, by
    ``segviz.embedding.background_mean``). So the topic of the whole conversation, or the style of
    its speakers, does not count as continuation. Everyday language, which is English, is left out
    of the centre for a unit in none of the ``scripts`` that the embedder was made for. Candidates
    are judged from low to high; each has its own threshold, which grows by
    ``crowding``·ln(1 + children/3). NONE when no candidate reaches its threshold. With ``window``
    0, or without previous units, level 1 is represented by its annotation too and only everyday
    language is subtracted.

    Source: ours; comparing each unit with the one just before is TextTiling (Hearst, Computational
        Linguistics 23, 1997), here with embeddings and without its look ahead. Departs from
        SegTreeMem §4.2 (i), whose C(x, F) sees the utterance and annotations only: previous units
        are seen, the first sufficient candidate is taken in place of the arg-max, thresholds differ
        by level. ``session_break`` and ``session_chapters``, off by default, add session metadata,
        which the paper's C does not see either; a tree built with it cannot be measured against
        sessions.

    The defaults were set on five LoCoMo conversations (exchange units, wordllama): nodes per leaf
    1.23, depth 4.0 at most and 3.5 on average, branching 5.4 (paper, Table 5: 1.25, 4.0, 3.5, 5.1).
    Level-1 nodes begin where sessions begin with F1 .45; plain cosine has .24, a random cut .12.
    ``tests/benchmarks/README.md`` has other data, and thresholds set on some of the conversations
    and tried on the others. Between single turns, in place of exchanges, similarity says little.
    Many equal texts in a row end up below one node.
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
        "C(x, F) does not see: with it the tree knows where sessions begin. With 4, and -2 as "
        "threshold on level 1, the nodes of level 1 are the sessions.",
        (0, 4),
        source="ours",
    )
    session_chapters: float = param(
        0.0,
        "Above 0, nodes of level 3 begin where sessions begin: level 3 takes every unit of a "
        "session that no lower level takes, but its first, for which this is added to the "
        "threshold. Where sessions are short (about five units) few nodes of level 3 are left. "
        "This is session metadata, which the paper's C(x, F) does not see. Measured with .2.",
        (0, 1),
        source="ours",
    )
    window: int = param(
        100,
        "Number of previous units whose mean is subtracted; level 1 is then represented by its "
        "newest unit. 0: no previous units, level 1 by its annotation.",
        (0, LOOK_BACK),
        source=_SET,
    )
    background: Vector | None = field(default=None, compare=False, repr=False)
    scripts: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    def prepare(self, services: Services) -> Calibrated:
        """Returns a copy with the background mean and the scripts of the build's embedder."""
        embedder = services.embedder
        return replace(self, background=background_mean(embedder), scripts=known_scripts(embedder))

    def thresholds(self, unit: Arrival, candidates: Sequence[Candidate]) -> list[float]:
        """Returns the similarity that each candidate must reach, so that the unit may join it."""
        by_level = (self.level_1, self.level_2, self.level_3, self.above)
        limits = [
            by_level[min(c.level, 4) - 1] + self.crowding * math.log1p(c.children / 3)
            for c in candidates
        ]
        if limits and unit.opens_session:
            limits[0] += self.session_break
        if len(limits) > 2 and self.session_chapters:
            # A new child of level 4, or a new root, would begin a node of level 3.
            limits[2] = limits[2] + self.session_chapters if unit.opens_session else -2.0
        return limits

    def _judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """Joins the lowest candidate whose similarity reaches the threshold of its level."""
        rows = np.array([c.vector for c in candidates])
        centre = self.background if self.background is not None else np.zeros_like(rows[0])
        # The centre of the conversation so far; the background steadies it while it is short.
        if self.window and unit.before is not None and len(unit.before):
            recent = unit.before[-self.window :]
            rows[0] = recent[-1]  # level 1 by its newest unit, as in TextTiling
            foreign = self.scripts and other_script(unit.text, self.scripts)
            weight = len(recent) / (len(recent) + (0 if foreign else _EVERYDAY))
            mean = np.add.reduce(recent, axis=0) / len(recent)
            centre = weight * mean + (1 - weight) * centre
        scores = cosines(unit.vector - centre, rows - centre).tolist()
        limits = self.thresholds(unit, candidates)
        judgements = tuple(map(Judgement, [c.node for c in candidates], scores, limits))
        # From low to high: a unit joins the narrowest node that it continues.
        for position, candidate in enumerate(candidates):
            if scores[position] >= limits[position]:
                score, needed = told_apart(scores[position], limits[position])
                why = (
                    f"The lowest node that is close enough is on {candidate.place}: "
                    f"similarity {score}, needed {needed}."
                )
                return Verdict(position, judgements, why)
        near = max(range(len(scores)), key=lambda i: scores[i] - limits[i])  # for the reason only
        score, needed = told_apart(scores[near], limits[near])
        why = (
            f"No open node is close enough. The nearest is on {candidates[near].place}: "
            f"similarity {score}, needed {needed}."
        )
        return Verdict(None, judgements, why)


# --- by a chat model -------------------------------------------------------------------------

_SHOWN = 60


class ModelReply(NamedTuple):
    """Reply of a chat model to a question with fixed labels.

    ``label`` is one of them; "" if the model gave none. Then ``instead`` quotes what it answered,
    and ``why`` is the beginning of a sentence about it.
    """

    label: str
    instead: str = ""
    why: str = ""


def _reply_of(outcome: Reply | LabelError) -> ModelReply:
    """Returns a model's reply; after a failure, the words that explain it in the verdict."""
    if isinstance(outcome, LabelError):
        if not outcome.answer:
            return ModelReply("", "no answer", "The model gave no answer, so")
        answer = " ".join(outcome.answer.split())
        quoted = repr(answer if len(answer) <= _SHOWN else answer[:_SHOWN] + "…")
        why = f"The model answered {quoted}, which is none of the labels, so"
        return ModelReply("", quoted, why)
    return ModelReply(outcome.text)


@dataclass(frozen=True)
class ChatCompatibility(Judging):
    """Base of compatibility models that ask a chat model.

    A subclass requests labels with ``_answer``; if the model gives none, it returns ``_offline``,
    the decision of ``calibrated``.
    """

    name: ClassVar[str]
    needs_chat: ClassVar[bool] = True

    chat: Chat | None = field(default=None, compare=False, repr=False)
    fallback: Calibrated = field(default_factory=Calibrated, compare=False, repr=False)
    services: Services | None = field(default=None, compare=False, repr=False)

    def prepare(self, services: Services) -> Self:
        """Returns a copy that uses the build's chat model."""
        chat = require_chat(services, self.name)
        return replace(self, chat=chat, services=services)

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """Returns the choice, and counts who made it: the model, or a rule in its place."""
        verdict = super().judge(unit, candidates)
        if candidates:
            self._bound().count_made(text=False, by_model=not verdict.fallback)
        return verdict

    def _bound(self) -> Chat:
        if self.chat is None:
            raise ValueError(f"{self.name} has no chat model; build with chat=…")
        return self.chat

    def _answer(self, prompt: Prompt) -> ModelReply:
        return self._answers([prompt])[0]

    def _answers(self, prompts: Sequence[Prompt]) -> list[ModelReply]:
        """Returns the replies to independent prompts, which are sent together."""
        return [_reply_of(outcome) for outcome in self._bound().outcomes(prompts)]

    def _offline(
        self,
        answer: ModelReply,
        labels: Sequence[str],
        unit: Arrival,
        candidates: Sequence[Candidate],
    ) -> Verdict:
        """Returns the choice of ``calibrated``, made where the chat model's answer cannot be used.

        The candidates keep the labels that the model gave them.
        """
        # Prepared only on use: it embeds the background, which a paid model charges for.
        ready = self.fallback.prepare(self.services) if self.services else self.fallback
        verdict = ready.judge(unit, candidates)
        judgements = tuple(
            replace(judgement, label=label)
            for judgement, label in zip(verdict.judgements, labels, strict=True)
        )
        why = f"{answer.why} the offline calibrated model decided. {verdict.why}"
        return replace(verdict, judgements=judgements, why=why, fallback=True)


@dataclass(frozen=True)
class Pointwise(ChatCompatibility, Declared):
    """Asks a chat model about one open node at a time.

    ``all``: the model scores every candidate on its own, from 0 to 10. The unit joins the one with
    the highest score (a tie goes to the lower), or none if that is below ``least``. One call per
    candidate. ``upwards``: from the lowest up the model answers MERGE or CONTINUE; the unit joins
    at the first MERGE, and NONE if even the root gets CONTINUE. One call per candidate asked. Needs
    a chat model.

    Source: SegTreeMem §4.2 (ii) for ``all``, App. G for ``upwards`` (the labels; the wording is
        ours). The paper has both; the calls of its Table 5 are those of asking about every open
        node, so ``all`` is the default. Departs from the source: points and ``least`` are ours, the
        paper states neither scale nor limit; if the model keeps answering something else, or not at
        all, the offline ``calibrated`` model decides and the step says so.
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
        """Asks for each candidate by itself; if an answer fails, the offline model decides."""
        prompt = score_prompt if self.asks == "all" else pointwise_prompt
        prompts = [prompt(unit.text, each.level, each.text) for each in candidates]
        labels = [NOT_ASKED] * len(candidates)
        # Points do not depend on each other, so all are asked for at once.
        answers = self._answers(prompts) if self.asks == "all" else map(self._answer, prompts)
        failed: ModelReply | None = None
        for position, answer in enumerate(answers):
            labels[position] = answer.label or answer.instead
            failed = failed or (None if answer.label else answer)
            # App. G: the first MERGE ends the walk; scores never do.
            if self.asks != "all" and (failed or answer.label == MERGE):
                break
        if failed:
            return self._offline(failed, labels, unit, candidates)
        return (self._best if self.asks == "all" else self._first)(candidates, labels)

    def _best(self, candidates: Sequence[Candidate], points: Sequence[str]) -> Verdict:
        """Chooses the candidate with most points, the lowest on a tie, or none below ``least``."""
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
        """Chooses the first candidate whose label is MERGE; none if there is no such label."""
        judgements = tuple(
            Judgement(c.node, label=label) for c, label in zip(candidates, labels, strict=True)
        )
        if MERGE not in labels:
            return Verdict(None, judgements, f"The model answered {CONTINUE} for every open node.")
        position = labels.index(MERGE)
        why = f"The model answered {MERGE} for {candidates[position].place}."
        return Verdict(position, judgements, why)


@dataclass(frozen=True)
class Batch(ChatCompatibility):
    """Shows a chat model all open nodes and requests exactly one label.

    The labels MERGE_1 … MERGE_m (low to high) and SPLIT are generated for each call and enforced by
    structured output. Needs a chat model; one call per unit.

    Source: SegTreeMem §4.2 (iii) and App. G (the labels; the wording is ours). Departs from the
        source: if the model keeps answering something else, or not at all, the offline
        ``calibrated`` model decides and the step says so.
    """

    name: ClassVar[str] = "batch"

    def _judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """Asks once for all candidates; if the answer fails, the offline model decides."""
        prompt = batch_prompt(unit.text, [(c.level, c.text) for c in candidates])
        answer = self._answer(prompt)
        label = answer.label
        if not label:
            labels = [f"{offered}: {answer.instead}" for offered in prompt.labels[:-1]]
            return self._offline(answer, labels, unit, candidates)
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
    """Returns the verdict of any compatibility model, also of one that only has ``choose``.

    Raises:
        ValueError: the model returned neither a Verdict (``judge``) nor None or a position among
            the candidates (``choose``). The message names what it returned and what is legal.
    """
    with calling(model):
        return _judged(model, unit, candidates)


def _judged(model: Any, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
    """Returns the verdict of a user's model by its ``judge``, else ``choose``."""
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
    """Checks the choice of ``source``: None or an integer in 0..count-1; a boolean is refused."""
    if chosen is None:
        return None
    if isinstance(chosen, Integral) and not isinstance(chosen, bool) and 0 <= int(chosen) < count:
        return int(chosen)
    legal = f"None or a position in 0..{count - 1}" if count else "None"
    raise ValueError(f"{source} chose {chosen!r:.80}; expected {legal} ({count} candidates)")
