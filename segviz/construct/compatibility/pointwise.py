"""A chat model judges one frontier candidate at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from segviz.construct.compatibility.chat_model import Asked
from segviz.construct.compatibility.similarity import describe
from segviz.construct.protocols import Arrival, Candidate, Verdict
from segviz.llm import Chat
from segviz.llm.prompts import CONTINUE, MERGE, pointwise_prompt
from segviz.tree import NOT_ASKED, Judgement


@dataclass(frozen=True)
class Pointwise(Asked):
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
                return verdict(position, f"The model answered {MERGE} for {describe(candidate)}.")
        return verdict(None, f"The model answered {CONTINUE} for every open node.")
