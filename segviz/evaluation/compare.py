"""Compares several memories of one conversation on the same questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Retriever
from segviz.conversation import Conversation, Question
from segviz.evaluation.aggregate import Row
from segviz.evaluation.evaluation import Outcomes, evaluate, pooled
from segviz.evaluation.measures import MEASURES, TOKENS, UNITS
from segviz.evaluation.node_texts import contentless_share
from segviz.evaluation.question_batch import measured_settings
from segviz.memory import Memory, build, declared, make_system, nested
from segviz.retrieval import RetrievalSettings
from segviz.tree import Cost, costs_of, total_cost
from segviz.tree.shape import Shape, shape


@dataclass(frozen=True)
class Chart:
    """How rows are drawn over a column ``x``: a panel for each of the columns ``y`` (all that begin
    so, where one ends in a blank) or each value of ``panel``, a series for each value of ``by``.
    ``stack`` puts columns on each other, means become a line. ``only`` is a column and its values
    in the rows that are drawn, ``level`` a column whose number is drawn as a line across; dots
    always have their ``intervals``."""

    x: str
    y: Sequence[str]
    by: str = ""
    panel: str = ""
    kind: Literal["lines", "dots", "stack"] = "lines"
    only: Sequence[str] = ("",)
    level: str = ""
    intervals: bool = False


COLLAPSED, OWN = "collapsed", "own"

COMPARED = ("recall", "reached", "quoted", "answer_words", "words")
"""The measures of a comparison's table."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One memory by one retrieval: ``collapsed`` (no propagation) or its paper's ``own``, with
    the ``relevance`` behind it and the ``outcomes`` of all questions. ``cost`` is that of the build
    but for its time; seconds where they were measured. ``contentless`` is the share of contentless
    lines in all inner nodes, None without such lines. Several memories as one have outcomes
    alone."""

    name: str
    system: str
    method: str
    relevance: str
    outcomes: Outcomes
    shape: Shape | None = None
    cost: Cost = Cost()
    build_seconds: float | None = None
    query_seconds: float | None = None
    contentless: float | None = None

    def row(self, measures: Sequence[str] = COMPARED, *, adversarial: bool = True) -> Row:
        """Shape, ``measures`` and cost of the build for each leaf; of a graph of facts the nodes
        of each layer, of another structure the depth, breadth and share of contentless lines."""
        found: Row = {"retrieved by": self.method}
        if self.shape:
            found["nodes per leaf"] = self.shape.nodes_per_leaf
            if self.shape.facts:
                for layer in self.shape.facts.layers[1:]:
                    found[f"{layer.kind or 'nodes'} on level {layer.level}"] = layer.nodes
            else:
                found["mean depth"] = self.shape.mean_depth
                found["greatest depth"] = self.shape.max_depth
                found["children"] = self.shape.branching
                if self.contentless is not None:
                    found["contentless lines"] = self.contentless
        for name in measures:
            found[MEASURES[name].label] = self.outcomes.mean(name, adversarial=adversarial)
        if self.shape:
            leaves = max(self.shape.leaves, 1)
            found["texts written per leaf"] = self.cost.annotated / leaves
            found["nodes compared per leaf"] = self.cost.inspected / leaves
            if self.cost.calls:
                found["model calls per leaf"] = self.cost.calls / leaves
                found |= {
                    f"{noun} by the model": made / (made + instead)
                    for noun, made, instead in (
                        ("decisions", self.cost.decided, self.cost.decided_instead),
                        ("texts", self.cost.written, self.cost.written_instead),
                    )
                    if made + instead
                }
        if self.build_seconds is not None:
            found["build, s"] = self.build_seconds
        if self.query_seconds is not None:
            found["question, ms"] = 1000 * self.query_seconds
        return found


@dataclass(frozen=True)
class Comparison:
    """Rows in the order of the memories, collapsed retrieval before the system's own, and
    what they share: the ``settings`` (relevance None: the usual one of each retrieval) and the
    limits of two measures."""

    settings: RetrievalSettings
    units: int
    tokens: int
    rows: tuple[Standing, ...]

    @property
    def questions(self) -> int:
        """Number of questions, counted or not."""
        return len(self.rows[0].outcomes) if self.rows else 0

    def table(self, measures: Sequence[str] = COMPARED, *, adversarial: bool = True) -> list[Row]:
        """What :meth:`Standing.row` tells of every row, behind its name."""
        return [
            {"name": one.name, **one.row(measures, adversarial=adversarial)} for one in self.rows
        ]

    def frame(self) -> Any:
        """A pandas DataFrame of :meth:`table`, of measures the mean."""
        import pandas as pd

        return pd.DataFrame(
            {name: getattr(cell, "value", cell) for name, cell in row.items()}
            for row in self.table()
        )


def compare(
    memories: Mapping[str, Memory],
    questions: Sequence[Question],
    settings: RetrievalSettings | None = None,
    *,
    units: int = UNITS,
    tokens: int = TOKENS,
    seed: int = 0,
    clock: Callable[[], float] | None = None,
    **changes: Any,
) -> Comparison:
    """Measure ``memories`` (by any name) on the same ``questions``; one row per memory and
    retrieval.

    Of ``settings`` with their ``changes`` count ``relevance`` and what is read: ``k`` nodes,
    or what a ``budget`` of tokens pays for. ``units``, ``tokens`` and ``seed`` are
    as in :func:`evaluate`; a seed draws the same questions for all, so that rows compare in pairs
    (``Outcomes.gain``). Memories
    must hold the same units (ValueError names the first that does not), or their numbers would
    not. With a ``clock`` that tells seconds, rows say how long a build took that was made now, and
    a question, in the mean of the first five, the scorer prepared.
    """
    still = {"policy": "none", "alpha": 0.0, "horizon": 0, "method": "propagate"}
    settings = measured_settings(settings, {**changes, **still})
    check_units(memories)
    rows = []
    for name, memory in memories.items():
        ways = {COLLAPSED: settings, OWN: own_settings(memory, settings)}
        for method, asked in ways.items():
            if asked is None:
                continue
            found = evaluate(memory, questions, asked, units=units, tokens=tokens, seed=seed)
            rows.append(
                Standing(
                    name,
                    memory.system,
                    method,
                    found.settings.relevance_for(memory.model),
                    found.outcomes,
                    shape(memory.structure),
                    total_cost(memory.steps),
                    (clock and float(costs_of(memory.steps)["seconds"].sum())) or None,
                    clock and _seconds(memory, questions, found.settings, clock),
                    contentless_share(memory.structure, memory.conversation.speakers),
                )
            )
    return Comparison(settings, units, tokens, tuple(rows))


def own_settings(memory: Memory, settings: RetrievalSettings) -> RetrievalSettings | None:
    """Returns how the paper of a memory's system asks, None for a system that does not say.

    That is the system's own retrieval, or propagation with its ``paper_retrieval``. What is read,
    and a relevance that is named, are those of ``settings``.
    """
    if isinstance(memory.model, Retriever):
        return replace(settings, method="own")
    paper: RetrievalSettings | None = getattr(memory.model, "paper_retrieval", None)
    if paper is None:
        return None
    relevance = settings.relevance or paper.relevance
    return replace(
        paper, relevance=relevance, k=settings.k, budget=settings.budget, step=settings.step
    )


def check_units(memories: Mapping[str, Memory]) -> None:
    """ValueError names the first memory that does not hold the units of the first."""
    first = next(iter(memories), "")
    for name, memory in memories.items():
        if memory.units != memories[first].units:
            raise ValueError(
                f"{name} does not hold the units of {first}; build both from one "
                "conversation with one unit rule"
            )


_TIMED = 5
"""Questions over which the seconds of a question are averaged."""


def _seconds(
    memory: Memory,
    questions: Sequence[Question],
    settings: RetrievalSettings,
    clock: Callable[[], float],
) -> float:
    asked = [question.text for question in questions[:_TIMED]]
    memory.scorer(settings.relevance_for(memory.model))
    began = clock()
    for text in asked:
        memory.ask(text, settings)
    return (clock() - began) / max(len(asked), 1)


def construction_sweep(
    conversation: Conversation,
    system: str,
    parameter: str,
    values: Sequence[Any],
    *,
    fixed: Mapping[str, Any] | None = None,
    unit: str = "exchange",
    progress: Callable[[int, int], None] | None = None,
    embedder: Any = "auto",
    chat: Any = None,
    **options: Any,
) -> Comparison:
    """Build a ``conversation`` once for each of the ``values`` of one ``parameter`` of a
    ``system``, and :func:`compare` the memories on its questions.

    Parameters of a part have a dot (``compatibility.threshold``); ``fixed`` are others, by the
    same names, that are not at their default. ``unit``, ``embedder`` and ``chat`` are as in
    ``segviz.build``, ``options`` as in ``compare``; ``progress(done, total)`` counts leaves over
    all builds. Rows are named by the value; ``table()`` gives shape, measures and build cost.
    ValueError names the parameters there are or the legal range, before anything is built.
    """
    system_kind = type(make_system(system))
    variants = {str(value): {**(fixed or {}), parameter: value} for value in values}
    if not variants:
        raise ValueError("values is empty; name at least one")
    for flat in variants.values():
        known = declared(system_kind, flat)
        for name in flat:
            if name not in known:
                raise ValueError(f"{system} has no parameter {name!r}; it has {', '.join(known)}")
        make_system(system, **nested(system_kind, flat))
    size, memories = len(conversation.units(unit)), dict[str, Memory]()

    def report(done: int, _: int) -> None:
        if progress is not None:
            progress(len(memories) * size + done, len(variants) * size)

    for label, flat in variants.items():
        how = nested(system_kind, flat)
        memories[label] = build(
            conversation, system, unit, embedder=embedder, chat=chat, progress=report, **how
        )
    return compare(memories, conversation.questions, **options)


def compare_one(memory: Memory, questions: Sequence[Question], **settings: Any) -> Comparison:
    """:func:`compare` of one memory, named by its system: one part of a comparison over many
    conversations."""
    return compare({memory.system: memory}, questions, **settings)


def joined(parts: Mapping[str, Comparison]) -> Comparison:
    """Comparisons on the same questions as one, their rows named by these names."""
    rows = tuple(replace(row, name=name) for name, part in parts.items() for row in part.rows)
    return replace(next(iter(parts.values())), rows=rows)


def pooled_comparison(names: Sequence[str], parts: Sequence[Comparison]) -> Comparison:
    """The comparisons of several conversations, with the same rows, as one over all of their
    questions; ``names`` tell the conversations apart."""
    rows = []
    for column in zip(*(part.rows for part in parts), strict=True):
        one = column[0]
        whole = pooled(dict(zip(names, (row.outcomes for row in column), strict=True)))
        rows.append(Standing(one.name, one.system, one.method, one.relevance, whole))
    return replace(parts[0], rows=tuple(rows))


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
    conversation, in which the turns returned are given."""
    names, sets = tuple(retrieved), [set(turns) for turns in retrieved.values()]
    anything = set().union(*sets)
    turns = tuple(turn for turn in order if turn in anything)
    returned = np.array([[turn in held for turn in turns] for held in sets], dtype=np.bool_)
    jaccard = np.array([[len(a & b) / len(a | b) if a | b else 1.0 for b in sets] for a in sets])
    size = len(names)
    return Overlap(names, turns, returned.reshape(size, len(turns)), jaccard.reshape(size, size))
