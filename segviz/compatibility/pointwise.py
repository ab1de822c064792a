"""A chat model judges one frontier candidate at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from segviz.compatibility.calibrated import Calibrated
from segviz.compatibility.similarity import describe
from segviz.prompts import CONTINUE, MERGE, pointwise_prompt
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
class Pointwise:
    """Asks a chat model about each open node, from the lowest up, until one fits.

    For every candidate the model answers MERGE or CONTINUE; the first MERGE is where the
    unit joins, and NONE when even the root is answered with CONTINUE. Needs a chat model;
    one call per candidate asked.

    Source: SegTreeMem §4.2 (ii) and App. G (the labels; the wording is ours).
    Departs from the source: when the model keeps answering something else, the offline
    ``calibrated`` model decides this one unit and the step says so.
    """

    name: ClassVar[str] = "pointwise"
    needs_chat: ClassVar[bool] = True

    chat: Chat | None = field(default=None, compare=False, repr=False)
    fallback: Calibrated = field(default_factory=Calibrated, compare=False, repr=False)

    def prepare(self, services: Services) -> Pointwise:
        """The same model bound to the build's chat model."""
        chat = require_chat(services, self.name)
        return replace(self, chat=chat, fallback=self.fallback.prepare(services))

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position of the first candidate answered with MERGE, or None."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """The choice with the model's label for each candidate it was asked about."""
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        if self.chat is None:
            raise ValueError("pointwise has no chat model; build with chat=…")
        judgements = [Judgement(c.node, label="not asked") for c in candidates]
        for position, candidate in enumerate(candidates):
            try:
                label = self.chat.reply(pointwise_prompt(unit, candidate)).text
            except LabelError as error:
                return self.fallback.instead_of(error, unit, candidates)
            judgements[position] = Judgement(candidate.node, label=label)
            if label == MERGE:
                why = f"The model answered {MERGE} for {describe(candidate)}."
                return Verdict(position, tuple(judgements), why)
        why = f"The model answered {CONTINUE} for every open node."
        return Verdict(None, tuple(judgements), why)
