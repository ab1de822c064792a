"""Compatibility models that ask a chat model: one candidate at a time, or all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self

from segviz.construct.compatibility.calibrated import Calibrated
from segviz.construct.parameter import Declared, param
from segviz.construct.protocols import Arrival, Candidate, Services, Verdict, require_chat
from segviz.llm import Chat, LabelError, Prompt
from segviz.llm.prompts import CONTINUE, MERGE, SPLIT, batch_prompt, pointwise_prompt, score_prompt
from segviz.tree import NOT_ASKED, Judgement

_SHOWN = 60


class Answer(NamedTuple):
    """One of the prompt's labels; or "", then ``instead`` is what came in its place and
    ``why`` says so as the beginning of a sentence. Model output is quoted literally."""

    label: str
    instead: str = ""
    why: str = ""


@dataclass(frozen=True)
class ChatCompatibility:
    """Binding to the build's chat model, and ``calibrated`` where it gives no label.

    A subclass defines ``_ask``; it uses ``_answer`` to ask for a label and ``_offline`` where
    there is none.
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

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position of the candidate the model chose, or None."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """Returns the choice with the model's labels; ValueError where no chat model is bound."""
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        if self.chat is None:
            raise ValueError(f"{self.name} has no chat model; build with chat=…")
        return self._ask(self.chat, unit, candidates)

    def _answer(self, chat: Chat, prompt: Prompt) -> Answer:
        """Returns the label the model gives, or what it does instead."""
        try:
            reply = chat.reply(prompt)
        except LabelError as error:
            said = " ".join(error.answer.split())
            quoted = repr(said if len(said) <= _SHOWN else said[:_SHOWN] + "…")
            return Answer(
                "", quoted, f"The model answered {quoted}, which is none of the labels, so"
            )
        if reply.waived:
            return Answer(
                "", "no answer", f"The model was passed over ({reply.waived}), as agreed, so"
            )
        return Answer(reply.text)

    def _offline(
        self, answer: Answer, labels: Sequence[str], unit: Arrival, candidates: Sequence[Candidate]
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

    def _ask(self, chat: Chat, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        raise TypeError(f"{type(self).__name__} does not say how it asks")


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

    def _ask(self, chat: Chat, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        prompt = score_prompt if self.asks == "all" else pointwise_prompt
        labels = [NOT_ASKED] * len(candidates)
        for position, candidate in enumerate(candidates):
            answer = self._answer(chat, prompt(unit.text, candidate.level, candidate.text))
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

    def _ask(self, chat: Chat, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        prompt = batch_prompt(unit.text, [(c.level, c.text) for c in candidates])
        answer = self._answer(chat, prompt)
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
