"""Compatibility models that ask a chat model: one candidate at a time, or all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self

from segviz.construct.compatibility.calibrated import Calibrated
from segviz.construct.protocols import Arrival, Candidate, Services, Verdict, require_chat
from segviz.llm import Chat, LabelError, Prompt
from segviz.llm.prompts import CONTINUE, MERGE, SPLIT, batch_prompt, pointwise_prompt
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
class Pointwise(ChatCompatibility):
    """Asks a chat model about each open node, from the lowest up, until one fits.

    For every candidate the model answers MERGE or CONTINUE; the first MERGE is where the
    unit joins, and NONE when even the root is answered with CONTINUE. Needs a chat model;
    one call per candidate asked.

    Source: SegTreeMem §4.2 (ii) and App. G (the labels; the wording is ours).
    Departs from the source: when the model keeps answering something else, or was waived
    for this unit, the offline ``calibrated`` model decides it and the step says so.
    """

    name: ClassVar[str] = "pointwise"

    def _ask(self, chat: Chat, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        labels = [NOT_ASKED] * len(candidates)

        def verdict(chosen: int | None, why: str) -> Verdict:
            pairs = zip(candidates, labels, strict=True)
            return Verdict(chosen, tuple(Judgement(c.node, label=said) for c, said in pairs), why)

        for position, candidate in enumerate(candidates):
            prompt = pointwise_prompt(unit.text, candidate.level, candidate.text)
            answer = self._answer(chat, prompt)
            labels[position] = answer.label or answer.instead
            if not answer.label:
                return self._offline(answer, labels, unit, candidates)
            if answer.label == MERGE:
                return verdict(position, f"The model answered {MERGE} for {candidate.place}.")
        return verdict(None, f"The model answered {CONTINUE} for every open node.")


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
