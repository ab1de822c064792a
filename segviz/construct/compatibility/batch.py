"""A chat model sees all frontier candidates at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from segviz.construct.compatibility.chat_model import Asked
from segviz.construct.compatibility.similarity import describe
from segviz.construct.protocols import Arrival, Candidate, Verdict
from segviz.llm import Chat
from segviz.llm.prompts import SPLIT, batch_prompt
from segviz.tree import Judgement


@dataclass(frozen=True)
class Batch(Asked):
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
        why = f"The model answered {label}: {describe(candidates[position])}."
        return Verdict(position, judgements, why)
