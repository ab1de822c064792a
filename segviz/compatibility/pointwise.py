"""A chat model judges one frontier candidate at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from segviz.compatibility.asked import Asked
from segviz.compatibility.similarity import describe
from segviz.prompts import CONTINUE, MERGE, pointwise_prompt
from segviz.protocols import Arrival, Candidate, Chat, Verdict
from segviz.steps import Judgement


@dataclass(frozen=True)
class Pointwise(Asked):
    """Asks a chat model about each open node, from the lowest up, until one fits.

    For every candidate the model answers MERGE or CONTINUE; the first MERGE is where the
    unit joins, and NONE when even the root is answered with CONTINUE. Needs a chat model;
    one call per candidate asked.

    Source: SegTreeMem §4.2 (ii) and App. G (the labels; the wording is ours).
    Departs from the source: when the model keeps answering something else, the offline
    ``calibrated`` model decides this one unit and the step says so.
    """

    name: ClassVar[str] = "pointwise"

    def _ask(self, chat: Chat, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        judgements = [Judgement(c.node, label="not asked") for c in candidates]
        for position, candidate in enumerate(candidates):
            label = chat.reply(pointwise_prompt(unit, candidate)).text
            judgements[position] = Judgement(candidate.node, label=label)
            if label == MERGE:
                why = f"The model answered {MERGE} for {describe(candidate)}."
                return Verdict(position, tuple(judgements), why)
        why = f"The model answered {CONTINUE} for every open node."
        return Verdict(None, tuple(judgements), why)
