"""Finds the gold leaves of questions and scores all questions at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Question
from segviz.retrieval import RetrievalSettings, combine, initial_scores, spread
from segviz.tree import Structure

if TYPE_CHECKING:
    from segviz.memory import Memory


@dataclass(frozen=True, eq=False)
class Gold:
    """Gold evidence of q questions in a structure of n nodes.

    ``counted`` bool (q,): at least one evidence id is a turn of the conversation.
    ``leaves`` bool (q, n): the active leaves holding an evidence turn. ``units``: the
    units of those leaves that hold one, per question. A counted question whose turns no
    leaf holds (the unit rule dropped them) has neither and scores 0 everywhere.
    """

    counted: NDArray[np.bool_]
    leaves: NDArray[np.bool_]
    units: tuple[frozenset[int], ...]


def gold_of(memory: Memory, questions: Sequence[Question], structure: Structure) -> Gold:
    """The gold leaves of questions in a structure of the memory."""
    leaves_of: dict[int, list[int]] = defaultdict(list)
    for leaf in structure.leaves:
        for index in range(int(structure.start[leaf]), int(structure.stop[leaf])):
            leaves_of[index].append(leaf)
    units_of: dict[str, list[int]] = defaultdict(list)
    for unit in memory.units:
        if unit.index in leaves_of:
            for turn_id in unit.turn_ids:
                units_of[turn_id].append(unit.index)
    known = {turn.id for turn in memory.conversation.turns}

    counted = np.array([not known.isdisjoint(q.evidence) for q in questions], dtype=np.bool_)
    leaves = np.zeros((len(questions), len(structure)), dtype=np.bool_)
    units = []
    for row, question in zip(leaves, questions, strict=True):
        held = frozenset(u for turn_id in question.evidence for u in units_of.get(turn_id, ()))
        row[[leaf for u in held for leaf in leaves_of[u]]] = True
        units.append(held)
    return Gold(counted, leaves, tuple(units))


def first_scores(
    memory: Memory, questions: Sequence[Question], relevance: str, structure: Structure
) -> NDArray[np.float64]:
    """s⁽⁰⁾ of all questions, float64 (q, n). ValueError for an unknown relevance."""
    raw = memory.scorer(relevance, structure)([question.text for question in questions])
    return initial_scores(raw, structure.active)


def final_scores(
    memory: Memory, questions: Sequence[Question], settings: RetrievalSettings
) -> NDArray[np.float64]:
    """s̃ of all questions, float64 (q, n), as ``segviz.ask`` gives it under propagation."""
    structure = memory.structure if settings.literal else memory.structure.collapsed
    initial = first_scores(memory, questions, settings.relevance_for(), structure)
    policy, alpha, horizon = settings.propagation
    return combine(spread(initial, structure.edges, policy, horizon, structure), policy, alpha)


def measured_settings(
    settings: RetrievalSettings | None, changes: Mapping[str, Any]
) -> RetrievalSettings:
    """The settings with ``changes``. ValueError for settings that evaluation does not support:
    levels, step and a system's own method."""
    wanted, usual = replace(settings or RetrievalSettings(), **changes), RetrievalSettings()
    for name in ("levels", "method", "step"):
        if getattr(wanted, name) != getattr(usual, name):
            raise ValueError(
                f"{name} is {getattr(wanted, name)!r}; questions are measured by propagation "
                f"over all levels of the final structure, so leave {name} out"
            )
    return wanted
