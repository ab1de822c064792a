"""Compares several memories of one conversation on the same questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from segviz.conversation import Conversation, Question
from segviz.evaluation.aggregate import Row
from segviz.evaluation.evaluation import Outcomes, evaluate, pooled
from segviz.evaluation.measures import DEFAULT, MEASURES, TOKENS, UNITS
from segviz.evaluation.node_texts import contentless_share
from segviz.memory import Memory, build, declared, make_system, nested
from segviz.retrieval import RERANKED, RetrievalSettings, Retriever
from segviz.tree import Cost, costs_of, total_cost
from segviz.tree.shape import Shape, shape


@dataclass(frozen=True)
class Chart:
    """Layout of table rows as a chart.

    Attributes:
        x: column of the horizontal axis.
        y: drawn columns, a panel for each. A name that ends in a blank is a prefix and stands for
            all columns that begin with it.
        by: column whose values are the series.
        panel: column whose values have a panel each, instead of the columns of ``y``.
        kind: ``stack`` stacks the columns of ``y`` and draws those with means as a line.
        only: a column, and its values in the rows to draw; all rows are drawn by default.
        level: column whose number is drawn as a horizontal line.
        intervals: True to draw the intervals of means, as ``dots`` always do.
    """

    x: str
    y: Sequence[str]
    by: str = ""
    panel: str = ""
    kind: Literal["lines", "dots", "stack"] = "lines"
    only: Sequence[str] = ("",)
    level: str = ""
    intervals: bool = False


NATIVE, COLLAPSED, LEAVES = "native", "collapsed", "leaves"

RETRIEVED_BY = {
    NATIVE: "its own retrieval",
    COLLAPSED: "segviz's relevance over its nodes",
    LEAVES: f"its {RERANKED}",
}
"""Methods of retrieval in words."""

SEGVIZ = "segviz's relevance"
"""Short name of collapsed retrieval, for charts."""

_SHORT = {NATIVE: "own retrieval", COLLAPSED: SEGVIZ, LEAVES: LEAVES}

COMPARED = ("recall", "in_evidence", "in_evidence_600", "quoted", "answer_words", "words")
"""Measures in the table of a comparison, by name."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Result of measuring one memory with one retrieval.

    Attributes:
        name: name of the memory.
        system: name of its system.
        method: ``native`` for the retrieval of the system or its paper, ``collapsed`` for segviz's
            relevance over all nodes, ``leaves`` for the preset that re-ranks leaves along edges.
        relevance: model of the initial scores.
        outcomes: measures of all questions. Pooled memories have nothing else.
        shape: shape of the structure.
        cost: cost of the build, without time.
        build_seconds: duration of the build, None if not measured.
        query_seconds: mean duration of a question, None if not measured.
        contentless: share of contentless lines in all inner nodes, None without lines.
    """

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

    @property
    def how(self) -> str:
        """Retrieval and relevance in words, for charts."""
        return f"{_SHORT[self.method]}, {self.relevance}"

    def row(self, measures: Sequence[str] = COMPARED, *, adversarial: bool = True) -> Row:
        """Returns a table row with shape, ``measures`` and the cost of the build per leaf.

        The shape of a fact graph is the number of nodes of each layer; of other structures depth,
        breadth and share of contentless lines. If an audit disputes questions, a further column has
        the first measure without them, or with them if they do not count now.
        """
        row: Row = {"retrieved by": RETRIEVED_BY[self.method]}
        # The shape.
        if self.shape:
            row["nodes per leaf"] = self.shape.nodes_per_leaf
            if self.shape.facts:
                for layer in self.shape.facts.layers[1:]:
                    row[f"{layer.kind or 'nodes'} on level {layer.level}"] = layer.nodes
            else:
                row["mean depth"] = self.shape.mean_depth
                row["greatest depth"] = self.shape.max_depth
                row["children"] = self.shape.branching
                if self.contentless is not None:
                    row["contentless lines"] = self.contentless
        row |= self._means(measures, adversarial)
        # The cost of the build, and who decided and wrote: the model or the rules in its place.
        if self.shape:
            leaves = max(self.shape.leaves, 1)
            row["texts written per leaf"] = self.cost.annotated / leaves
            row["nodes compared per leaf"] = self.cost.inspected / leaves
            if self.cost.calls:
                row["model calls per leaf"] = self.cost.calls / leaves
                row |= {
                    f"{noun} by the model": made / (made + instead)
                    for noun, made, instead in (
                        ("decisions", self.cost.decided, self.cost.decided_instead),
                        ("texts", self.cost.written, self.cost.written_instead),
                    )
                    if made + instead
                }
        if self.build_seconds is not None:
            row["build, s"] = self.build_seconds
        if self.query_seconds is not None:
            row["question, ms"] = 1000 * self.query_seconds
        return row

    def _means(self, measures: Sequence[str], adversarial: bool) -> Row:
        """Returns the mean of each measure; of the first one also without disputed questions."""
        row: Row = {}
        for name in measures:
            row[MEASURES[name].label] = self.outcomes.mean(name, adversarial=adversarial)
            if name == measures[0]:
                row |= self.outcomes.recounted(name, adversarial=adversarial)
        return row


@dataclass(frozen=True)
class Comparison:
    """Result of comparing memories.

    Attributes:
        settings: settings of all rows; relevance None stands for the default of each retrieval.
        units: number of units read for the measure ``reached``.
        tokens: number of tokens read for the measure ``answer_words``.
        rows: in the order of the memories, for each in the order of ``RETRIEVED_BY``.
    """

    settings: RetrievalSettings
    units: int
    tokens: int
    rows: tuple[Standing, ...]

    def __repr__(self) -> str:
        """Returns the rows with the mean of their default measure, in one line."""
        rows: dict[str, list[str]] = {}
        for row in self.rows:
            value = f"{row.method} {row.outcomes.value(DEFAULT):.2f}"
            rows.setdefault(row.name, []).append(value)
        each = "; ".join(f"{name} {', '.join(values)}" for name, values in rows.items())
        return f"Comparison({self.questions} questions, {DEFAULT}: {each})"

    @property
    def questions(self) -> int:
        """Number of all questions, also of those without gold evidence or answer."""
        return len(self.rows[0].outcomes) if self.rows else 0

    def ways(self, first: str = NATIVE) -> list[tuple[Standing, ...]]:
        """Returns groups of rows that compare like with like, with one row per memory in each.

        The rows of the first group are asked by the method ``first``, those of the others by the
        other methods. A memory with a single row is in all; equal groups are returned once.
        """
        rows = [(row.name, row.method) for row in self.rows]
        used = [method for method in RETRIEVED_BY if any(method == each for _, each in rows)]
        groups = dict.fromkeys(asked_by(method, rows) for method in (first, *used))
        return [tuple(self.rows[place] for place in group) for group in groups]

    def counting(self, *, disputed: bool) -> Comparison:
        """Returns the comparison with the disputed questions in every mean, or in none."""
        rows = (
            replace(row, outcomes=row.outcomes.counting(disputed=disputed)) for row in self.rows
        )
        return replace(self, rows=tuple(rows))

    def table(self, measures: Sequence[str] = COMPARED, *, adversarial: bool = True) -> list[Row]:
        """Returns :meth:`Standing.row` of every memory and retrieval, with its name first."""
        return [
            {"name": one.name, **one.row(measures, adversarial=adversarial)} for one in self.rows
        ]

    def frame(self) -> Any:
        """Returns :meth:`table` as a pandas DataFrame; measures have their mean, no interval."""
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
    """Measures memories on the same questions; returns one row per memory and retrieval.

    Args:
        memories: by any name. They must have the same units.
        questions: the questions.
        settings: of the retrieval; policy, alpha, horizon, method and levels have no effect.
        units: as in :func:`evaluate`.
        tokens: as in :func:`evaluate`.
        seed: as in :func:`evaluate`. It draws the same questions for all rows, so that they compare
            in pairs (``Outcomes.gain``).
        clock: returns seconds. If given, rows have the duration of a build that this process made,
            and the mean duration of the first five questions, after the scorer is prepared.
        changes: fields of ``settings`` to replace.

    Raises:
        ValueError: names the first memory with other units.
    """
    still = {"policy": "none", "alpha": 0.0, "horizon": 0, "method": "propagate", "levels": None}
    settings = replace(settings or RetrievalSettings(), **{**changes, **still})
    check_units(memories)
    rows = []
    # Each memory is asked by its own retrieval, if it has one, by relevance alone, and for leaves.
    for name, memory in memories.items():
        for method in RETRIEVED_BY:
            asked = settings_by(method, memory, settings)
            if asked is None:
                continue
            evaluation = evaluate(memory, questions, asked, units=units, tokens=tokens, seed=seed)
            alone = method == NATIVE and getattr(memory.model, "relevance", "") is None
            rows.append(
                Standing(
                    name,
                    memory.system,
                    method,
                    "its own" if alone else evaluation.settings.relevance_for(memory.model),
                    evaluation.outcomes,
                    shape(memory.structure),
                    total_cost(memory.steps),
                    (clock and float(costs_of(memory.steps)["seconds"].sum())) or None,
                    clock and _seconds(memory, questions, evaluation.settings, clock),
                    contentless_share(memory.structure, memory.conversation.speakers),
                )
            )
    return Comparison(settings, units, tokens, tuple(rows))


def asked_by(method: str, rows: Sequence[tuple[str, str]]) -> tuple[int, ...]:
    """Returns the positions of rows that compare with those asked by a method.

    They are the rows of each memory that are asked by it; if it has none, those of its collapsed
    retrieval, else all its rows.

    Args:
        method: a key of ``RETRIEVED_BY``.
        rows: the name of the memory and the method of each row.
    """
    places: dict[str, list[int]] = {}
    for place, (name, _) in enumerate(rows):
        places.setdefault(name, []).append(place)
    alike: list[int] = []
    for mine in places.values():
        by = {each: [p for p in mine if rows[p][1] == each] for each in (method, COLLAPSED)}
        alike += by[method] or by[COLLAPSED] or mine
    return tuple(alike)


def first_alike(rows: Sequence[tuple[str, str]]) -> list[int]:
    """Returns for each row the position of the row that its paired difference is to.

    That is the first of the rows :func:`asked_by` its method; with a single memory the first row.
    ``rows`` are as there.
    """
    if len({name for name, _ in rows}) < 2:
        return [0] * len(rows)
    return [asked_by(method, rows)[0] for _, method in rows]


ONE_WRITER = (
    "Every system is compared with extracts: texts written by hand fit the spans of one tree."
)
"""Says which texts systems are compared with, where one of them has written texts."""


def settings_by(
    method: str, memory: Memory, settings: RetrievalSettings
) -> RetrievalSettings | None:
    """Returns the settings of a method of ``RETRIEVED_BY``; None if the memory has no such method.

    ``settings`` are those of the method "collapsed".
    """
    if method == NATIVE:
        return native_settings(memory, settings)
    if method == COLLAPSED:
        return settings
    if not memory.structure.retrievable[memory.structure.level == 0].any():
        return None  # all leaves are ghosts: only texts made from them come back
    leaves = settings.with_preset(RERANKED)
    return replace(leaves, relevance=settings.relevance or leaves.relevance)


def native_settings(memory: Memory, settings: RetrievalSettings) -> RetrievalSettings | None:
    """Returns the settings of the retrieval that the paper of a memory's system describes.

    These are the method ``native`` if the system implements its retrieval, or propagation with the
    system's ``paper_retrieval``; None for a system without either. Step, how much is read and (if
    named) relevance are those of ``settings``.
    """
    if isinstance(memory.model, Retriever):
        return replace(settings, method="native")
    paper: RetrievalSettings | None = getattr(memory.model, "paper_retrieval", None)
    if paper is None:
        return None
    relevance = settings.relevance or paper.relevance
    limits = {name: getattr(settings, name) for name in (*settings.names("reading"), "step")}
    return replace(paper, relevance=relevance, **limits)


def check_units(memories: Mapping[str, Memory]) -> None:
    """Raises ValueError if memories differ in their units; names the first that differs."""
    first = next(iter(memories), "")
    for name, memory in memories.items():
        if memory.units != memories[first].units:
            raise ValueError(
                f"{name} does not have the units of {first}; build both from one "
                "conversation with one unit rule"
            )


_TIMED = 5
"""Number of questions that are timed."""


def _seconds(
    memory: Memory,
    questions: Sequence[Question],
    settings: RetrievalSettings,
    clock: Callable[[], float],
) -> float:
    """Returns the mean duration of a question, over the first five."""
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
    """Builds a conversation once per value of a parameter and compares the memories.

    Args:
        conversation: its questions are measured.
        system: a name from ``SYSTEMS``.
        parameter: its parameter; that of a part has a dot (``compatibility.threshold``).
        values: the values of the parameter.
        fixed: other parameters that are not at their default, by the same names.
        unit: as in ``segviz.build``.
        progress: called with (done, total) leaves over all builds.
        embedder: as in ``segviz.build``.
        chat: as in ``segviz.build``.
        options: passed to :func:`compare`.

    Returns:
        Rows named by the value; ``table()`` gives shape, measures and build cost.

    Raises:
        ValueError: before any build; names the existing parameters or the legal range.
    """
    system_kind = type(make_system(system))
    # All parameters are checked before the first build.
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
        part_settings = nested(system_kind, flat)
        memories[label] = build(
            conversation,
            system,
            unit,
            embedder=embedder,
            chat=chat,
            progress=report,
            **part_settings,
        )
    return compare(memories, conversation.questions, **options)


def compare_one(memory: Memory, questions: Sequence[Question], **settings: Any) -> Comparison:
    """Measures one memory as a comparison of its own, named by its system; see :func:`joined`."""
    return compare({memory.system: memory}, questions, **settings)


def joined(parts: Mapping[str, Comparison]) -> Comparison:
    """Joins comparisons on the same questions; the keys of ``parts`` become the names of rows."""
    rows = tuple(replace(row, name=name) for name, part in parts.items() for row in part.rows)
    return replace(next(iter(parts.values())), rows=rows)


def pooled_comparison(names: Sequence[str], parts: Sequence[Comparison]) -> Comparison:
    """Pools the comparisons of several conversations, called ``names``, row by row."""
    rows = []
    for column in zip(*(part.rows for part in parts), strict=True):
        one = column[0]
        whole = pooled(dict(zip(names, (row.outcomes for row in column), strict=True)))
        rows.append(Standing(one.name, one.system, one.method, one.relevance, whole))
    return replace(parts[0], rows=tuple(rows))
