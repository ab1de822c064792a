"""Measures one memory as the papers' tables and figures do.

Every function is called as ``f(memory, questions, seed=0, …)`` and returns a row, several, or the
outcomes of the questions; an array in a row has a value for each question. Questions are not asked
where only the structure counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import UNANSWERABLE, Question
from segviz.evaluation import (
    MEASURES,
    NATIVE,
    Outcomes,
    Sweep,
    covering,
    evaluate,
    evaluate_answers,
    gradable,
    native_settings,
    retrievals,
)
from segviz.evaluation.measures import TOKENS
from segviz.evaluation.sweep import sweep
from segviz.llm import ChatByRole
from segviz.memory import Memory, Rehearsal, build, declared
from segviz.retrieval import RetrievalSettings, estimated_tokens
from segviz.systems import SYSTEMS
from segviz.systems.xmemory.themes import reassigned
from segviz.text.words import content_tokens
from segviz.tree import Add, Link, Unlink, costs_of, total_cost
from segviz.tree.shape import shape

Ints = NDArray[np.int64]


def answers(
    memory: Memory, questions: Sequence[Question], *, seed: int = 0, **settings: Any
) -> Outcomes:
    """Asks all questions by these settings of retrieval and returns the measures of what came back.

    No model writes answers. ``seed`` draws the resamples of the intervals.
    """
    return evaluate(memory, questions, seed=seed, **settings).outcomes


def quality(
    memory: Memory,
    questions: Sequence[Question],
    *,
    seed: int = 0,
    names: Sequence[str] = ("recall", "answer_words", "words"),
    budget: int = TOKENS,
    **settings: Any,
) -> dict[str, Any]:
    """Returns the measures called ``names``, by label; each has a value per question.

    Answer words and words are of the same reading: the first ``budget`` tokens that come back.
    """
    outcomes = answers(memory, questions, seed=seed, budget=budget, tokens=budget, **settings)
    return {MEASURES[name].label: outcomes.column(name) for name in names}


def form(memory: Memory, questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Returns the columns of SegTreeMem Table 5.

    MemTree's root without content is counted, as in the paper, though it is no node here.
    """
    measured, cost, leaves = shape(memory.structure), total_cost(memory.steps), len(memory.units)
    root, inner = int(memory.system == "memtree"), measured.nodes - measured.leaves
    return {
        "nodes per leaf": (measured.nodes + root) / max(leaves, 1),
        "greatest depth": measured.max_depth + root,
        "mean depth": measured.mean_depth + root,
        "depth deviation": measured.depth_std,
        "children": (measured.branching * inner + root * measured.trees) / max(inner + root, 1),
        "summaries per leaf": cost.annotated / max(leaves, 1),
        "model calls per leaf": cost.calls / max(leaves, 1),
        "candidates per leaf": cost.inspected / max(leaves, 1),
    }


def graded(
    memory: Memory,
    questions: Sequence[Question],
    *,
    chat: ChatByRole | Rehearsal,
    seed: int = 0,
    name: str = NATIVE,
    **settings: Any,
) -> Outcomes:
    """Has a model answer the questions and another grade them; returns the measures of answers.

    Questions without a gold answer are left out. ``name`` is ``native``, for the retrieval of the
    system's paper, or ``none``; see :func:`retrievals`.
    """
    (way,) = retrievals(memory, [name], RetrievalSettings(**settings)).values()
    return _grades(memory, gradable(questions), way, chat, seed)


def graded_sweep(
    memory: Memory,
    questions: Sequence[Question],
    *,
    chat: ChatByRole | Rehearsal,
    seed: int = 0,
    **grid: Any,
) -> Sweep:
    """Returns the :func:`sweep` over ``grid`` with the grades of answers in its outcomes, too.

    Questions without a gold answer are left out. Evidence that several settings share is sent once.
    """
    asked = gradable(questions)
    swept = sweep(memory, asked, seed=seed, **grid)
    cells = []
    for cell in (swept.baseline, *swept.cells):
        policy, alpha, horizon = cell.setting
        way = replace(swept.settings, policy=policy, alpha=alpha, horizon=horizon)
        grades = _grades(memory, asked, way, chat, seed)
        values = {**cell.outcomes.values, **grades.values}
        cells.append(replace(cell, outcomes=replace(cell.outcomes, values=values)))
    return replace(swept, baseline=cells[0], cells=tuple(cells[1:]))


def _grades(
    memory: Memory,
    asked: Sequence[Question],
    way: RetrievalSettings,
    chat: ChatByRole | Rehearsal,
    seed: int,
) -> Outcomes:
    """Returns the grades of answers from what ``way`` retrieves, by the models of their roles."""
    answerer, judge = chat.of("answer"), chat.of("grade")
    return evaluate_answers(
        memory, asked, answerer, judge, way, retriever_chat=chat, seed=seed
    ).outcomes


def order(memory: Memory, questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Measures how far a memory keeps temporal order.

    Returns two percentages: of the nodes over several units, those whose units are consecutive; of
    the leaves, those that got another parent later.
    """
    s = memory.structure
    # Nodes over several units, and those of them whose units are consecutive.
    spans = [s.coverage(n) for n in np.flatnonzero(s.active).tolist() if s.children[n]]
    wide = [units for units in spans if len(units) > 1]
    whole = sum(units[-1] - units[0] + 1 == len(units) for units in wide)
    # A leaf moves when a link to it is taken away, or, in MemTree, when one comes at a later step.
    moved, came = set[int](), dict[int, int]()
    for number, step in enumerate(memory.steps):
        for event in step.events:
            if isinstance(event, Add) and not event.level:
                came[event.node] = number
            elif isinstance(event, Unlink) or (
                isinstance(event, Link)
                and memory.system == "memtree"
                and came.get(event.child, number) < number
            ):
                moved.add(event.child)
    moved = {node for node in moved if s.level[node] == 0}
    return {
        "nodes without a gap, %": 100 * whole / max(len(wide), 1),
        "leaves put elsewhere, %": 100 * len(moved) / max(len(s.leaves), 1),
    }


def mixing(memory: Memory, questions: Sequence[Question], *, seed: int = 0) -> dict[str, float]:
    """Counts a tree's leaves and inner nodes, and how many sessions an inner node has units of.

    A same-text chain counts as one node.
    """
    s = memory.structure.collapsed
    inner = [node for node in np.flatnonzero(s.active).tolist() if s.children[node]]
    sessions = [len({memory.units[unit].session for unit in s.coverage(n)}) for n in inner]
    return {
        "leaves": len(s.leaves),
        "inner nodes": len(inner),
        "of one session, %": 100 * sessions.count(1) / max(len(inner), 1),
        "sessions of an inner node": float(np.mean(sessions)) if inner else 0.0,
    }


def growth(
    memory: Memory,
    questions: Sequence[Question],
    *,
    seed: int = 0,
    clock: Callable[[], float] | None = None,
    parts: int = 5,
) -> list[dict[str, float]]:
    """Divides the history into ``parts``; returns for each the cost of building and of asking.

    Building costs are means per unit of the part: of a memory that models built as they were, of
    another the time of its build and the tokens of a build with models that is rehearsed. Questions
    are asked at the end of the part by the retrieval of the system's paper (for a segment tree,
    preset "paper, top-down"). Their time is the median of five questions, after the scorer is
    prepared.
    """
    counted = memory
    if not total_cost(memory.steps).calls:
        settings = {**memory.settings, **by_models(memory.system)}
        how: dict[str, Any] = {"unit": memory.unit, "embedder": memory.embedder, **settings}
        counted = build(memory.conversation, memory.system, chat=Rehearsal(), **how)
    tokens_of, costs = costs_of(counted.steps), costs_of(memory.steps)
    plain = RetrievalSettings(policy="none", relevance="dense")
    asked = native_settings(memory, plain) or plain
    rows = []
    ends = [len(memory.steps) * (part + 1) // parts for part in range(parts)]
    texts = [question.text for question in questions[:5]]
    for first, last in zip([0, *ends], ends, strict=False):
        size = max(last - first, 1)
        # A first question prepares the scorer that all of them use; it is not timed.
        at = replace(asked, step=last)
        seconds, tokens = [], 0
        for text in texts[:1]:
            memory.ask(text, at)
        for text in texts:
            began = clock() if clock else 0.0
            result = memory.ask(text, at)
            seconds.append(clock() - began if clock else 0.0)
            tokens += sum(estimated_tokens(item.text) for item in result.evidence)
        # Means per unit of this part and per question.
        both, written = (int(tokens_of[name][first:last].sum()) for name in ("tokens", "output"))
        rows.append(
            {
                "units": float(last),
                "build, ms per unit": 1000 * float(costs["seconds"][first:last].sum()) / size,
                "question, ms": 1000 * float(np.median(seconds)) if seconds else 0.0,
                "tokens of prompts per unit": (both - written) / size,
                "tokens written per unit": written / size,
                "tokens read per question": tokens / max(len(texts), 1),
            }
        )
    return rows


def by_models(system: str) -> dict[str, str]:
    """Returns the settings by which models extract, judge and write wherever a system lets them.

    They leave out what decides where the units of a segment tree join.
    """
    known = declared(SYSTEMS[system])
    return {name: "llm" for name in ("tasks", "annotate") if name in known}


def themes(
    memory: Memory, questions: Sequence[Question], *, seed: int = 0, **settings: Any
) -> dict[str, Any]:
    """Counts xMemory's themes and statements, and the percentage of statements that moved.

    With ``settings`` of retrieval, adds the measures of :func:`quality`.
    """
    s = memory.structure
    kinds = Counter(s.kind[node] for node in np.flatnonzero(s.active).tolist())
    return {
        "themes": kinds["theme"],
        "statements": kinds["semantic"],
        "statements per theme": kinds["semantic"] / max(kinds["theme"], 1),
        "moved, %": 100 * reassigned(s),
        **(quality(memory, questions, seed=seed, **settings) if settings else {}),
    }


def density(
    memory: Memory, questions: Sequence[Question], *, seed: int = 0, **settings: Any
) -> dict[str, Any]:
    """Returns how much is read until the answer is covered; see ``QuestionBatch.covering``."""
    return covering(memory, questions, **settings)


def layers(memory: Memory, questions: Sequence[Question], *, seed: int = 0) -> dict[str, float]:
    """Counts relations and, for each layer of H-Mem's index, nodes and nodes per node below it."""
    counts: dict[str, float] = {"relations": len(memory.structure.relations)}
    graph = shape(memory.structure).facts
    for layer in graph.layers if graph else ():
        name = f"{layer.level} {layer.kind}".strip()
        counts |= {name: layer.nodes, f"{name} per node below": layer.ratio or 0.0}
    return counts


def planning(memory: Memory, questions: Sequence[Question], *, seed: int = 0) -> Counter[str]:
    """Counts the parts into which H-Mem divides questions, in all and by scope.

    Also counts the parts that got a follow-up question. Questions that the conversation does not
    answer are left out.
    """
    questions = [one for one in questions if one.category not in UNANSWERABLE]
    counts = Counter(questions=len(questions))
    view = memory.view("dense")
    for question in questions:
        stages = memory.model.retrieve(question.text, view).stages  # type: ignore[union-attr]
        for before, stage in pairwise(stages):
            if stage.name == "follow-up":
                counts["parts"] += 1
                counts["followed up"] += "lacks" in stage.note
                counts[f"scope {before.note.split()[1]}"] += 1
    return counts


def depths(memory: Memory, questions: Sequence[Question], *, seed: int = 0) -> Ints:
    """Returns the depth of each of MemTree's nodes and the tokens of its text, int64 (n, 2).

    Depth 0 is the root without content, which is no node here.
    """
    s, nodes = memory.structure, np.flatnonzero(memory.structure.active)
    return np.stack([s.depth[nodes] + 1, [estimated_tokens(s.text[n]) for n in nodes]], axis=1)


def upkeep(memory: Memory, questions: Sequence[Question], *, seed: int = 0) -> list[dict[str, int]]:
    """Counts MemForest's facts, and summaries written so far, after each fifth of the history."""
    ends = [len(memory.steps) * part // 5 for part in range(1, 6)]
    return [
        {
            "facts": memory.at(last).kind.count("fact"),
            "summaries written": total_cost(memory.steps[:last]).annotated,
        }
        for last in ends
    ]


def kept(memory: Memory, questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Returns the percentage of content words that MemForest's summaries keep.

    For every summary, the words of its children's texts are looked for; for roots, also the words
    of all items below. Words of all nodes are pooled. The number of summaries written is added.
    """
    s = memory.structure
    inner = [n for n in np.flatnonzero(s.active).tolist() if s.level[n] > 1 and s.children[n]]
    items: dict[int, set[int]] = {}
    for node in sorted(inner, key=lambda node: int(s.level[node])):
        items[node] = set().union(*(items.get(child, {child}) for child in s.children[node]))
    roots = set(s.roots).intersection(inner)
    return {
        "kept of the children, %": _shared([(s.text[n], s.children[n]) for n in inner], s.text),
        "kept in the root, %": _shared([(s.text[n], items[n]) for n in roots], s.text),
        "summaries written": total_cost(memory.steps).annotated,
    }


def _shared(summaries: Iterable[tuple[str, Iterable[int]]], texts: Sequence[str]) -> float:
    """Returns the percentage of the content words of nodes that the summaries over them have."""
    shared = wanted = 0
    for text, nodes in summaries:
        words = set().union(*(content_tokens(texts[node]) for node in nodes))
        shared += len(words & content_tokens(text))
        wanted += len(words)
    return 100 * shared / max(wanted, 1)


def asked(
    memory: Memory,
    questions: Sequence[Question],
    *,
    by: Callable[..., dict[str, Any]],
    changed: Mapping[str, dict[str, Any]],
    **how: Any,
) -> list[dict[str, Any]]:
    """Measures one memory under several parameters of its system; returns a row for each.

    ``changed`` has the parameters by label, only such as do not change the build. ``by`` measures:
    it is called with memory, questions and ``how``.
    """
    return [
        by(replace(memory, settings=memory.settings | settings), questions, **how)
        for settings in changed.values()
    ]
