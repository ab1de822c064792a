"""A chat model sees all frontier candidates at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from segviz.compatibility.calibrated import Calibrated
from segviz.compatibility.similarity import describe
from segviz.prompts import SPLIT, batch_prompt
from segviz.protocols import (
    Arrival,
    Candidate,
    Chat,
    LabelError,
    Services,
    Verdict,
    require_chat,
)
from segviz.steps import Judgement


@dataclass(frozen=True)
class Batch:
    """Shows a chat model all open nodes and asks for exactly one label.

    The labels MERGE_1 … MERGE_m (low to high) and SPLIT are generated for each call and
    enforced by structured output. Needs a chat model; one call per unit.

    Source: SegTreeMem §4.2 (iii) and App. G (the labels; the wording is ours).
    Departs from the source: when the model keeps answering something else, the offline
    ``calibrated`` model decides this one unit and the step says so.
    """

    name: ClassVar[str] = "batch"
    needs_chat: ClassVar[bool] = True

    chat: Chat | None = field(default=None, compare=False, repr=False)
    fallback: Calibrated = field(default_factory=Calibrated, compare=False, repr=False)

    def prepare(self, services: Services) -> Batch:
        """The same model bound to the build's chat model."""
        chat = require_chat(services, self.name)
        return replace(self, chat=chat, fallback=self.fallback.prepare(services))

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position of the candidate the model named, or None for SPLIT."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """The choice with the label offered for each candidate."""
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        if self.chat is None:
            raise ValueError("batch has no chat model; build with chat=…")
        prompt = batch_prompt(unit, candidates)
        try:
            label = self.chat.reply(prompt).text
        except LabelError as error:
            return self.fallback.instead_of(error, unit, candidates)
        judgements = tuple(
            Judgement(c.node, label=offered)
            for c, offered in zip(candidates, prompt.labels, strict=False)
        )
        if label == SPLIT:
            return Verdict(None, judgements, f"The model answered {SPLIT}.")
        position = prompt.labels.index(label)
        why = f"The model answered {label}: {describe(candidates[position])}."
        return Verdict(position, judgements, why)
