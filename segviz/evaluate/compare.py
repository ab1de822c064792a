"""Compares several memories of one conversation on the same questions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Retriever
from segviz.conversation import Question
from segviz.evaluate import measures
from segviz.evaluate.aggregate import Mean, mean_ci
from segviz.evaluate.scores import first_scores, gold_of, measured_settings
from segviz.evaluate.text_metrics import all_tokens, content_tokens
from segviz.retrieval import RetrievalSettings, check_count, estimated_tokens, ranking, taken
from segviz.tree.shape import Shape, shape

if TYPE_CHECKING:
    from segviz.memory import Memory

COLLAPSED, OWN = "collapsed", "own"


@dataclass(frozen=True, slots=True)
class Standing:
    """Measures of one memory by one retrieval: ``collapsed`` (no propagation) or
    the system's ``own``.

    ``recall``: gold leaves among the K best leaves. ``budget_recall``: gold units reached
    within so many units, whatever the level. ``coverage``: answer words in what is read,
    the K best nodes of all levels or what the token budget pays for. ``units``, ``words`` and
    ``tokens`` of that reading, per question. ``short``: share of questions for which fewer
    than K leaves came back. Seconds where the caller measured them.
    """

    name: str
    system: str
    method: str
    shape: Shape
    recall: Mean
    budget_recall: Mean
    coverage: Mean
    units: Mean
    words: Mean
    tokens: Mean
    short: float
    build_seconds: float | None = None
    query_seconds: float | None = None


@dataclass(frozen=True)
class Comparison:
    """Rows in the order of the memories, collapsed retrieval before the system's own, and
    the settings they share; ``relevance`` None is the usual one of each retrieval."""

    k: int
    units: int
    budget: int | None
    relevance: str | None
    questions: int
    rows: tuple[Standing, ...]


def compare(
    memories: Mapping[str, Memory],
    questions: Sequence[Question],
    settings: RetrievalSettings | None = None,
    *,
    units: int = 20,
    seed: int = 0,
    build_seconds: Mapping[str, float] | None = None,
    query_seconds: Mapping[tuple[str, str], float] | None = None,
    **changes: Any,
) -> Comparison:
    """Measure ``memories`` (by any name) on the same ``questions``; one row per memory and
    retrieval.

    Of ``settings`` with their ``changes`` count ``relevance`` and what is read: ``k`` nodes,
    or what a ``budget`` of tokens pays for. ``units`` bound ``budget_recall``. Definitions
    are those of :func:`evaluate`; intervals are 95 % and
    drawn in pairs from ``seed``, so that rows compare. Memories must hold the same units
    (ValueError names the first that does not), or their numbers would not.
    ``build_seconds`` by name and ``query_seconds`` by (name, method) are passed through.
    """
    settings = measured_settings(settings, changes)
    check_count("units", units)
    names = list(memories)
    for name in names[1:]:
        if memories[name].units != memories[names[0]].units:
            raise ValueError(
                f"{name} does not hold the units of {names[0]}; build both from one "
                "conversation with one unit rule"
            )
    rows = []
    for name, memory in memories.items():
        methods = (COLLAPSED, OWN) if isinstance(memory.model, Retriever) else (COLLAPSED,)
        for method in methods:
            own = method == OWN
            asked = replace(settings, method="own" if own else "propagate")
            relevance = asked.relevance_for(memory.model)
            found = (
                _own_rankings(memory, questions, relevance, settings.k)
                if own
                else _collapsed_rankings(memory, questions, relevance)
            )
            rows.append(
                _standing(
                    (name, method),
                    memory,
                    questions,
                    found,
                    (settings.k, units, settings.budget, seed),
                    (build_seconds or {}).get(name),
                    (query_seconds or {}).get((name, method)),
                )
            )
    return Comparison(
        settings.k, units, settings.budget, settings.relevance, len(questions), tuple(rows)
    )


def compare_one(memory: Memory, questions: Sequence[Question], **settings: Any) -> Comparison:
    """:func:`compare` of one memory, named by its system: one part of a comparison over many
    conversations."""
    return compare({memory.system: memory}, questions, **settings)


@dataclass(frozen=True, slots=True)
class _Rankings:
    """The rankings of one question, best first: leaves alone, and nodes of all levels."""

    leaves: Sequence[int]
    mixed: Sequence[int]


def _collapsed_rankings(
    memory: Memory, questions: Sequence[Question], relevance: str
) -> list[_Rankings]:
    s = memory.structure.collapsed
    initial = first_scores(memory, questions, relevance, s)
    return [_Rankings(ranking(row, s, (0,)).tolist(), ranking(row, s).tolist()) for row in initial]


def _own_rankings(
    memory: Memory, questions: Sequence[Question], relevance: str, k: int
) -> list[_Rankings]:
    model, level = memory.model, memory.structure.level
    if not isinstance(model, Retriever):
        return []
    view = memory.view(relevance, k)
    ranked = [model.retrieve(question.text, view).ranked for question in questions]
    return [_Rankings([node for node in row if level[node] == 0], row) for row in ranked]


def _standing(
    key: tuple[str, str],
    memory: Memory,
    questions: Sequence[Question],
    found: Sequence[_Rankings],
    settings: tuple[int, int, int | None, int],
    build_seconds: float | None,
    query_seconds: float | None,
) -> Standing:
    k, units, budget, seed = settings
    structure = memory.structure
    gold = gold_of(memory, questions, structure)
    held = cache(lambda node: frozenset(structure.coverage(node)))
    said = cache(lambda node: all_tokens(structure.text[node]))
    columns: dict[str, NDArray[np.float64]] = {
        column: np.full(len(questions), np.nan)
        for column in ("recall", "budget_recall", "coverage", "units", "words", "tokens")
    }
    short = 0
    for i, (question, ranked) in enumerate(zip(questions, found, strict=True)):
        leaves = list(ranked.leaves[:k])
        short += len(leaves) < min(k, len(structure.leaves))
        if gold.counted[i]:
            wanted = int(gold.leaves[i].sum())
            hits = int(gold.leaves[i, leaves].sum())
            columns["recall"][i] = hits / wanted if wanted else 0.0
            row = np.array([ranked.mixed], dtype=np.int64)
            columns["budget_recall"][i] = measures.budget_recall(row, held, [gold.units[i]], units)[
                0
            ]
        top = taken(ranked.mixed, structure.text, k, budget)
        columns["units"][i] = len(frozenset[int]().union(*map(held, top)))
        columns["words"][i] = sum(len(structure.text[node].split()) for node in top)
        columns["tokens"][i] = sum(estimated_tokens(structure.text[node]) for node in top)
        sought = content_tokens(question.answer or "")
        if sought:
            columns["coverage"][i] = len(sought & frozenset[str]().union(*map(said, top))) / len(
                sought
            )
    name, method = key
    means = {column: mean_ci(values[~np.isnan(values)], seed) for column, values in columns.items()}
    return Standing(
        name,
        memory.system,
        method,
        shape(structure),
        **means,
        short=short / len(questions) if questions else 0.0,
        build_seconds=build_seconds,
        query_seconds=query_seconds,
    )


@dataclass(frozen=True, eq=False)
class Overlap:
    """What several systems retrieved for one question.

    ``turns``: every turn any of them returned, in the order asked for; ``returned`` bool
    (systems, turns); ``jaccard`` float64 (systems, systems): shared turns / turns of both,
    1 for two that returned nothing.
    """

    names: tuple[str, ...]
    turns: tuple[str, ...]
    returned: NDArray[np.bool_]
    jaccard: NDArray[np.float64]


def overlap(retrieved: Mapping[str, Collection[str]], order: Sequence[str]) -> Overlap:
    """Compare the turns retrieved by several systems; ``order`` lists all turns of the
    conversation, in which the turns returned are given. ValueError for a turn not in it."""
    names = tuple(retrieved)
    anything = set().union(*retrieved.values()) if retrieved else set()
    strange = anything.difference(order)
    if strange:
        raise ValueError(f"turn {min(strange)!r} is not in the conversation's order")
    turns = tuple(turn for turn in order if turn in anything)
    sets = [set(retrieved[name]) for name in names]
    returned = np.array([[turn in held for turn in turns] for held in sets], dtype=np.bool_)
    jaccard = np.array([[len(a & b) / len(a | b) if a | b else 1.0 for b in sets] for a in sets])
    size = len(names)
    return Overlap(names, turns, returned.reshape(size, len(turns)), jaccard.reshape(size, size))
