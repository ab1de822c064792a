"""Reproduces tables and figures of the papers on any conversations.

Models are needed only for answers, for grades, and for trees that a model builds.

``ENTRIES`` are the tables and figures, as described in ``reproduce.toml``. Each is measured on a
:class:`Bench` and gives table rows. A column ``"x, paper"`` has the printed numbers beside our
column ``x``, or of a metric that only the paper measured. If an audit disputes questions, a column
``"x, without disputed"`` has the mean over the undisputed ones. Nothing is drawn here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, Literal

from segviz.conversation import Conversation
from segviz.evaluation import GRADES, MEASURES, Chart, Mean, Row
from segviz.evaluation import paper_measures as measures
from segviz.evaluation.bench import JUDGED_BY, Bench, Place, Variants
from segviz.evaluation.paper_tables import TABLES
from segviz.evaluation.published import (
    CAVEATS,
    REPORTED,
    SOURCES,
    Reported,
    farthest,
    of_data,
    same_order,
)
from segviz.memory import declared
from segviz.systems import SYSTEMS


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table or figure of a ``paper``.

    Attributes:
        paper: name of the paper.
        table: its name in the paper.
        shows: its content, as a sentence.
        by: name of the function that measures it.
        chart: how its rows are drawn; None for a table.
        note: how our measurement differs from that of the paper.
        models: "all" if every number needs a model, "some" if some do.

    ``reproduce.toml`` documents the other fields.
    """

    paper: str
    table: str
    shows: str
    by: str
    chart: Chart | None = None
    note: str = ""
    models: Literal["", "some", "all"] = ""
    vary: str | Sequence[str] = ""
    column: str = "setting"
    values: Mapping[str, Any] | None = None
    built: Sequence[str] | None = None
    most: int = 0
    metrics: Mapping[str, str] = field(default_factory=dict)
    how: Mapping[str, Any] = field(default_factory=dict)

    @property
    def printed(self) -> tuple[Reported, ...]:
        """Numbers that the paper prints in this table or figure."""
        return tuple(row for row in REPORTED if (row.source, row.table) == (self.paper, self.table))

    @property
    def name(self) -> str:
        """Name on the command line, as ``figure-6``."""
        return self.table.lower().replace(" ", "-").replace(".", "")

    def drawn(self, rows: Sequence[Row]) -> Chart | None:
        """Returns how the rows are drawn: with grades in place of answer words if they have any."""
        ours, grades = MEASURES[JUDGED_BY].label, {*GRADES.values()}
        graded_by = next((name for name in rows[0] if name in grades), ours) if rows else ours
        y = [graded_by if name == ours else name for name in self.chart.y] if self.chart else []
        return self.chart and replace(self.chart, y=y)

    def measured_talks(self, talks: Sequence[Conversation]) -> Sequence[Conversation]:
        """Returns the conversations to measure: all, or at most ``most`` of them, evenly spread."""
        return talks[:: max(1, -(-len(talks) // self.most))] if self.most else talks

    def measure(self, bench: Bench) -> list[Row]:
        """Measures the entry; returns rows with our numbers and the printed ones."""
        chat = bench.chat if self.models else None
        bench = replace(bench, talks=self.measured_talks(bench.talks), chat=chat)
        if not self.vary:
            return TABLES[self.by](bench, **self.how)
        # The settings to compare: values of one parameter, or of several that are alike.
        measure, place = getattr(measures, self.by), (self.paper, self.table)
        names = [self.vary] if isinstance(self.vary, str) else self.vary
        choices = declared(SYSTEMS[self.paper])[names[0]].spec.choices
        known = self.values or {choice: choice for choice in choices}
        changed = {label: dict.fromkeys(names, value) for label, value in known.items()}
        # Values that change the build need a memory each; the others are asked of one memory.
        built = list(changed) if self.built is None else self.built
        variants: Variants = {label: (self.paper, changed[label]) for label in built}
        rows = bench.rows(measure, variants, self.column, **self.how)
        asked = {label: changed[label] for label in changed if label not in built}
        if asked:
            one, how = {"": (self.paper, dict[str, Any]())}, {"by": measure, "changed": asked}
            each = bench.rows(measures.asked, one, self.column, **how, **self.how)
            rows += [row | {self.column: label} for row, label in zip(each, asked, strict=True)]
        order = list(changed)
        rows.sort(key=lambda row: order.index(str(row[self.column])))
        return [
            bench.beside(row, place, self.metrics, label)
            | {self.column: int(label) if label.isdigit() else label}
            for row, label in ((row, str(row[self.column])) for row in rows)
        ]

    def difference(
        self, rows: Sequence[Row], talks: Sequence[Conversation] = (), *, models: bool = False
    ) -> str:
        """Explains how the rows, measured on ``talks``, differ from the printed numbers.

        ``models`` is True if they were measured with models.
        """
        why = [self.note, CAVEATS.get((self.paper, self.table), "")]
        means = {name for row in rows for name, cell in row.items() if isinstance(cell, Mean)}
        if any(one.label in name for one in MEASURES.values() for name in means):
            why.insert(0, SOURCES[self.paper].why)
        if self.models and not models:
            why.insert(0, f"{_NEEDED[self.models]} (--server, --model and --judge).")
        why += dict.fromkeys(row.note for row in self.printed)
        if talks and (beside := of_data(self.printed, talks)):
            why.insert(0, f"The printed numbers are of {beside[0].data}.")
        if (number := len(self.measured_talks(talks))) < len(talks):
            text = f"{number} of {len(talks)} conversations are measured, which takes minutes."
            why.insert(0, text)
        return " ".join(filter(None, [farthest(rows), same_order(rows, JUDGED_BY), *why]))


_NEEDED = {
    "all": "Nothing is measured: answers and grades need models",
    "some": "Trees that a model builds, and grades, are not measured: they need models",
}


def _entries() -> tuple[Experiment, ...]:
    """Reads ``reproduce.toml``; an entry has the fields of the one it is ``like``, and its own."""
    text = files("segviz.evaluation").joinpath("reproduce.toml").read_text("utf-8")
    known: dict[Place, dict[str, Any]] = {}
    for row in tomllib.loads(text)["entry"]:
        base = known.get((row["paper"], row.pop("like", "")), {})
        known[row["paper"], row["table"]] = base | row
    charts = ({"chart": Chart(**row["chart"])} if "chart" in row else {} for row in known.values())
    return tuple(
        Experiment(**row | chart) for row, chart in zip(known.values(), charts, strict=True)
    )


ENTRIES = _entries()
"""All tables and figures, by paper."""
