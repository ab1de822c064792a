"""Audits a memory: what it wrote, how far the evidence comes, what it keeps beside newer texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from segviz.conversation import category_label
from segviz.evaluation.aggregate import Row
from segviz.evaluation.compare import native_settings
from segviz.evaluation.stages import (
    NEVER_WRITTEN,
    STAGES,
    EvidenceStage,
    evidence_stages,
    stage_rows,
    with_answers,
)
from segviz.memory import AGAINST_TIME, Memory, Superseded, superseded
from segviz.retrieval import RetrievalSettings
from segviz.tree import SOURCE_TURNS, UNSURE_TURNS


@dataclass(frozen=True)
class Audit:
    """The audit of a memory on the questions of its conversation, by ``settings``."""

    memory: Memory
    settings: RetrievalSettings
    stages: tuple[EvidenceStage, ...]

    def __repr__(self) -> str:
        """Returns the system, its retrieval and the share of gold turns in each stage."""
        shares = [
            f"{stage} {row[stage]:.3f}" for row in stage_rows(self.stages) for stage in STAGES
        ]
        summary = ", ".join(shares) or "no question with evidence"
        return f"Audit({self.memory.system} by {self.settings.in_words}: {summary})"

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Counts by name.

        ``texts`` are stored; ``attributed`` ones name no turn and were compared with all. Of these,
        ``unsure`` ones have a source with a confidence below 0.5, which gets no credit, and
        ``no source`` ones have none. ``against time`` are texts with the words of a turn that was
        said after they were written. ``turns`` are all turns of the conversation, ``written`` those
        that are the source of a text. ``questions`` are those with gold turns.
        """
        memory, structure = self.memory, self.memory.structure
        nodes = np.flatnonzero(structure.retrievable).tolist()
        extras = [structure.facts[node] for node in nodes]
        attributed = [each for each in extras if "confidence" in each]
        turns = {turn for node in nodes for turn in memory.turn_ids(node)}
        return {
            "texts": len(nodes),
            "attributed": len(attributed),
            "unsure": sum(UNSURE_TURNS in each for each in attributed),
            "no source": sum(
                not each.get(SOURCE_TURNS) and UNSURE_TURNS not in each for each in attributed
            ),
            "against time": sum(AGAINST_TIME in each for each in attributed),
            "turns": len(memory.conversation.turns),
            "written": len(turns),
            "questions": len({each.question for each in self.stages}),
        }

    @cached_property
    def stale(self) -> tuple[Superseded, ...]:
        """Stored texts that may be out of date; see :func:`superseded`."""
        return superseded(self.memory)

    def rows(self) -> list[Row]:
        """Returns a row for each gold turn of each question.

        A row has the texts of question and turn, the stage, and the best node with the turn. For a
        turn that was never written, ``unsure`` is a text that may come from it.
        """
        conversation, structure = self.memory.conversation, self.memory.structure
        unsure: dict[str, str] = {}  # a text that may come from a turn
        for node in np.flatnonzero(structure.retrievable).tolist():
            turns = str(structure.facts[node].get(UNSURE_TURNS, "")).split("\n")
            unsure |= dict.fromkeys(turns, structure.text[node])
        asked = {question.index: question.text for question in conversation.questions}
        return [
            {
                "question": asked[one.question],
                "number": one.question,
                "category": category_label(one.category),
                "turn": one.turn,
                "said": conversation.turn(one.turn).spoken,
                "stage": one.stage,
                "rank": "" if one.rank is None else one.rank,
                "score": "" if one.score is None else one.score,
                "needed": "" if one.needed is None else one.needed,
                "memory": "" if one.node is None else structure.text[one.node],
                "unsure": unsure.get(one.turn, "") if one.stage == NEVER_WRITTEN else "",
            }
            for one in self.stages
        ]

    def tables(self) -> dict[str, list[Row]]:
        """Returns three tables with the shares of the stages among the gold turns.

        They are ``all`` (one row), ``category`` and ``session`` (a row for each).
        """
        return {by or "all": stage_rows(self.stages, by) for by in ("", "category", "session")}


def audit(
    memory: Memory,
    settings: RetrievalSettings | None = None,
    *,
    right: Mapping[int, bool] | None = None,
    **changes: Any,
) -> Audit:
    """Audits a memory on the questions of its conversation.

    The memory is asked by the retrieval of its system's paper (``native_settings``), if there is
    one, else without propagation.

    Args:
        memory: any memory, also one of stored texts (``memory_from``, ``provider``).
        settings: of the retrieval; policy, alpha, horizon and method have no effect. ``budget``
            as in ``evidence_stages``.
        right: graded answers, as in ``with_answers``.
        **changes: fields of the settings that differ.

    Raises:
        ValueError: For a setting out of range.
    """
    still = {"policy": "none", "alpha": 0.0, "horizon": 0, "method": "propagate"}
    asked = replace(settings or RetrievalSettings(), **{**changes, **still})
    asked = (native_settings(memory, asked) or asked).resolved(memory.model)
    stages = evidence_stages(memory, memory.conversation.questions, asked)
    return Audit(memory, asked, with_answers(stages, right or {}))
