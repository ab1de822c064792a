"""Conversations and tools with which the tables and figures of the papers are measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from segviz.conversation import Conversation
from segviz.evaluation import GRADES, MEASURES, Mean, Progress, Row, mean_ci, measure_many
from segviz.evaluation import paper_measures as measures
from segviz.evaluation.published import REPORTED, of_data
from segviz.llm import ChatByRole
from segviz.memory import Rehearsal, build, make_system, needs_chat

Place = tuple[str, str]
"""Name of a paper (key of ``SOURCES``) and of one of its tables or figures."""

Variants = Mapping[str, tuple[str, dict[str, Any]]]
"""Systems to build: label to the name of a system and its settings."""

WRITTEN: dict[str, Any] = {"annotate": "llm"}
BATCH: dict[str, Any] = {**WRITTEN, "compatibility": "batch", "refresh": "joined"}
"""Settings with which SegTreeMem's models write, and build."""

JUDGED_BY = "answer_words"
"""Measure by which settings are chosen without a model. It is the closest to grading answers, and
every policy can change it."""


@dataclass(frozen=True)
class Bench:
    """Conversations and tools with which tables and figures are measured.

    Attributes:
        talks: the conversations.
        unit: rule that makes leaves from turns.
        embedder: embedder of all memories.
        workers: number of processes.
        progress: called with (done, total) runs.
        clock: returns seconds, for entries that measure time.
        chat: models for every role; None if nothing is to be measured that needs a model.
        tree: settings of the segment tree in entries that are about one tree.
    """

    talks: Sequence[Conversation]
    unit: str = "exchange"
    embedder: Any = "auto"
    workers: int = 1
    progress: Progress | None = None
    clock: Callable[[], float] | None = None
    chat: ChatByRole | Rehearsal | None = None
    tree: Mapping[str, Any] = field(default_factory=dict)

    @property
    def the_tree(self) -> Variants:
        """The segment tree of an entry about one tree: as in the paper with models, else ours."""
        return {"SegTreeMem": ("segment-tree", {**(BATCH if self.chat else {}), **self.tree})}

    def rival(self, name: str) -> tuple[str, dict[str, Any]]:
        """Returns a system as SegTreeMem is compared with it (App. E); with models, they build."""
        fixed = {"memtree": {"base": 0.45, "rate": 1.0}}.get(name, {})
        return name, {**fixed, **(measures.by_models(name) if self.chat else {})}

    @property
    def judge(self) -> tuple[str, str]:
        """Name and label of the measure by which retrievals are compared.

        With models it is the share of right answers, for RealMem that of perfect ones.
        """
        if self.chat is None:
            return JUDGED_BY, MEASURES[JUDGED_BY].label
        name = "perfect" if {one.source_format for one in self.talks} == {"RealMem"} else "accuracy"
        return name, GRADES[name]

    @property
    def names(self) -> list[str]:
        """Names of the conversations, made distinct by their position."""
        return [f"{place} {talk.id}" for place, talk in enumerate(self.talks)]

    def each(
        self,
        measure: Callable[..., Any],
        variants: Variants,
        seeds: Sequence[int] = (0,),
        share: float = 0.0,
        **how: Any,
    ) -> dict[str, list[Any]]:
        """Measures the memory of every variant, conversation and seed.

        Args:
            measure: called as ``measure(memory, questions, seed=…, **how)``.
            variants: the systems to build.
            seeds: seeds; each also chooses which units change places.
            share: share of the units that change places before the build.
            how: further arguments of ``measure``.

        Returns:
            By label of the variant, the results of ``measure``: of the first conversation under
            every seed, then of the next.
        """
        builders = {
            label: partial(
                build,
                system=name,
                unit=self.unit,
                embedder=self.embedder,
                chat=self.chat if needs_chat(make_system(name, **settings)) else None,
                **settings,
            )
            for label, (name, settings) in variants.items()
        }
        # BLAS threads slow down products of a memory's size.
        with threadpool_limits(limits=1, user_api="blas"):
            runs = measure_many(
                measure,
                self.talks,
                builders,
                seeds=seeds,
                share=share,
                workers=self.workers,
                progress=self.progress,
                **how,
            )
        return {label: [one.result for one in runs if one.system == label] for label in variants}

    def rows(
        self, measure: Callable[..., Any], variants: Variants, column: str = "setting", **how: Any
    ) -> list[Row]:
        """Measures every variant and returns its row, or several if ``measure`` returns a list.

        A number in the row is the mean over the conversations. If ``measure`` returns an array,
        with a value for each question, the row has the :class:`Mean` over the questions of all
        conversations; if questions are disputed, also that over the others.
        """
        return [
            {column: label, **self.pooled(same)}
            for label, talks in self.each(measure, variants, **how).items()
            for same in zip(
                *([one] if isinstance(one, dict) else one for one in talks), strict=True
            )
        ]

    def pooled(self, parts: Sequence[Mapping[str, Any]]) -> Row:
        """Returns the means over conversations of ``parts``, a row of each; see :meth:`rows`."""
        row: Row = {}
        undisputed = [[one.disputed is None for one in talk.questions] for talk in self.talks]
        for name in dict.fromkeys(name for one in parts for name in one):
            values = [one.get(name, 0.0) for one in parts]
            if not isinstance(values[0], np.ndarray):
                row[name] = float(np.mean(values))
                continue
            row[name] = _mean(values)
            if not all(map(all, undisputed)):
                left = [np.where(*both, np.nan) for both in zip(undisputed, values, strict=True)]
                row[f"{name}, without disputed"] = _mean(left)
        return row

    def paper(self, place: Place, metric: str, variant: str = "", system: str = "") -> float:
        """Returns a printed number of a table, NaN if it is not printed.

        It is the number for the data set of the conversations, if the table has one, else for its
        first data set.
        """
        wanted = (*place, metric, variant)
        known = [
            row
            for row in REPORTED
            if (row.source, row.table, row.metric, row.variant) == wanted
            and system in ("", row.system)
        ]
        of_this_data = of_data(known, self.talks)
        return of_this_data[0].value if of_this_data else math.nan

    def beside(self, row: Row, place: Place, metrics: Mapping[str, str], *of: str) -> Row:
        """Adds printed numbers to a row.

        Args:
            row: our numbers.
            place: paper and table of the printed numbers.
            metrics: names of our columns, with the metric to print beside each. Metrics whose
                column the row lacks come last.
            of: variant and system of the printed numbers.
        """
        printed = {name: self.paper(place, metric, *of) for name, metric in metrics.items()}
        printed = {name: value for name, value in printed.items() if not math.isnan(value)}
        merged: Row = {}
        for name, value in row.items():
            merged[name] = value
            if name in printed:
                merged[f"{name}, paper"] = printed.pop(name)
        return merged | {f"{name}, paper": value for name, value in printed.items()}


def _mean(columns: Sequence[np.ndarray[Any, Any]]) -> Mean:
    values = np.concatenate(columns)
    groups = np.repeat(np.arange(len(columns)), [len(column) for column in columns])
    known = ~np.isnan(values)
    return mean_ci(values[known], groups=groups[known].tolist())
