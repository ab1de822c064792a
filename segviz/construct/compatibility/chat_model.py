"""What the compatibility models that ask a chat model share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self

from segviz.construct.compatibility.calibrated import Calibrated
from segviz.construct.protocols import Arrival, Candidate, Services, Verdict, require_chat
from segviz.llm import Chat, LabelError, Prompt

_SHOWN = 60


class Answer(NamedTuple):
    """One of the prompt's labels; or "", then ``instead`` is what came in its place and
    ``why`` says so as the beginning of a sentence. Model output is quoted literally."""

    label: str
    instead: str = ""
    why: str = ""


@dataclass(frozen=True)
class Asked:
    """Binding to the build's chat model, and ``calibrated`` where it gives no label.

    A model defines ``_ask``, with ``_answer`` for its questions and ``_offline`` for a
    question without an answer.
    """

    name: ClassVar[str]
    needs_chat: ClassVar[bool] = True

    chat: Chat | None = field(default=None, compare=False, repr=False)
    fallback: Calibrated = field(default_factory=Calibrated, compare=False, repr=False)
    services: Services | None = field(default=None, compare=False, repr=False)

    def prepare(self, services: Services) -> Self:
        """The same model bound to the build's chat model."""
        chat = require_chat(services, self.name)
        return replace(self, chat=chat, services=services)

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position of the candidate the model chose, or None."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """The choice with the model's labels; ValueError where no chat model is bound."""
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        if self.chat is None:
            raise ValueError(f"{self.name} has no chat model; build with chat=…")
        return self._ask(self.chat, unit, candidates)

    def _answer(self, chat: Chat, prompt: Prompt) -> Answer:
        """The label the model gives, or what it does instead."""
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
        """The offline model's verdict, with what was said about each candidate before."""
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
