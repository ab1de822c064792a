"""Reports sweeps and comparisons of one or many runs, as a table and as ``--json`` content.

Numbers over many conversations are means over all questions. Their intervals resample
conversations, and questions within conversations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click

from segviz.cli.command import Console, Options, UsageError, section, together
from segviz.cli.retrieval import SHARED, settings_content
from segviz.construct import parameters
from segviz.conversation import Question
from segviz.evaluation import (
    ADVERSARIAL,
    MEASURES,
    Cell,
    Comparison,
    Mean,
    Row,
    Sweep,
    first_alike,
    summary,
)
from segviz.evaluation.compare import COMPARED
from segviz.evaluation.measures import CHOICES, DEFAULT, TOKENS, UNITS, sees
from segviz.retrieval import RetrievalSettings
from segviz.text.captions import counted

_measuring = section("Measuring")

_MEASURE = "Measure of the report; the best settings are chosen by it: "
_ADVERSARIAL = (
    f"Report without the questions of category {ADVERSARIAL}, whose answer is not in the "
    "conversation; --json has both numbers."
)
_DISPUTED = (
    "Report without the questions that the audit disputes; a further column has the mean with "
    "them, --json has both numbers."
)
counting_options = together(
    _measuring("--no-adversarial", _ADVERSARIAL, is_flag=True),
    _measuring("--no-disputed", _DISPUTED, is_flag=True),
)
"""Options that leave questions out of the reported means."""

measuring_options = together(
    _measuring(
        "--measure",
        f"{_MEASURE}{', '.join(CHOICES)}; --json has all.",
        type=click.Choice(CHOICES),
        default=DEFAULT,
        metavar="NAME",
    ),
    counting_options,
    _measuring("--units", "Units read for the measure reached.", default=UNITS),
    _measuring("--tokens", "Tokens read for the measure answer_words.", default=TOKENS),
)
"""Options of the measure, of the questions that count, and of what is read."""

Measurement = TypeVar("Measurement", Sweep, Comparison)
Owner = dict[str, str]
"""Description of a result by names such as ``conversation`` and ``system``."""


def report(
    command: str,
    runs: Sequence[tuple[Owner, Measurement]],
    pool: Callable[[Sequence[str], Sequence[Measurement]], Measurement],
    options: Options,
    console: Console,
) -> None:
    """Prints the results of all runs and, of several conversations, the pooled results.

    Args:
        command: name of the command, for ``--json``.
        runs: the results, each with a description.
        pool: returns the pooled result of several conversations, from their ids and results.
        options: options of the command; ``--no-disputed`` excludes disputed questions.
        console: output.
    """
    if options.no_disputed:
        runs = [(owner, result.counting(disputed=False)) for owner, result in runs]
    # Pool the conversations of what is alike in all but the conversation.
    parts: dict[tuple[tuple[str, str], ...], dict[str, Measurement]] = {}
    for owner, result in runs:
        rest = tuple((name, value) for name, value in owner.items() if name != "conversation")
        parts.setdefault(rest, {})[owner["conversation"]] = result
    overall: list[tuple[Owner, Measurement]] = [
        (dict(rest), pool(list(results), list(results.values())))
        for rest, results in parts.items()
        if len(results) > 1
    ]
    relevances = len({owner.get("relevance") for owner, _ in runs})
    if options.json:
        content = {
            name: [{**owner, **_content(result, options, relevances)} for owner, result in those]
            for name, those in {"runs": runs, "overall": overall}.items()
        }
        console.json(command, content)
        return
    # One table has the rows of all, with the columns in which they differ.
    every = [*runs, *(({"conversation": "all", **owner}, result) for owner, result in overall)]
    owner, _ = every[0]
    several = {name for name in owner if len({owner[name] for owner, _ in every}) > 1}
    rows = [
        {**{name: value for name, value in owner.items() if name in several}, **row}
        for owner, result in every
        for row in _rows(result, options, relevances)
    ]
    _, last = every[-1]
    _print_setting(last, rows[-1], options, console, several)
    console.rows(rows)
    if isinstance(last, Sweep):
        tried = len(last.gains(options.measure)) * relevances
        console.line(
            "gains are paired, and their intervals are simultaneous over "
            f"{counted(tried, 'setting')}; the best setting is chosen on the same questions"
        )


def check_disputed(options: Options, questions: Iterable[Question]) -> None:
    """Raises UsageError if ``--no-disputed`` is given and none of the questions is disputed."""
    if options.no_disputed and all(question.disputed is None for question in questions):
        raise UsageError("--no-disputed has no effect: no question is disputed (--audit)")


def _disputed(result: Sweep | Comparison) -> int:
    """Returns how many of the measured questions an audit disputes."""
    outcomes = result.baseline.outcomes if isinstance(result, Sweep) else result.rows[0].outcomes
    return sum(outcomes.disputed)


def _rows(result: Sweep | Comparison, options: Options, relevances: int) -> list[Row]:
    """Returns the table rows of a result; the gains of a sweep hold over all ``relevances``."""
    adversarial = not options.no_adversarial
    if isinstance(result, Sweep):
        return result.table(options.measure, adversarial=adversarial, sweeps=relevances)
    label = MEASURES[options.measure].label
    names = dict.fromkeys((options.measure, *COMPARED))
    return [
        {
            "system": one.name,
            "relevance": one.relevance,
            **{
                name: value.value if isinstance(value, Mean) and name != label else value
                for name, value in one.row(list(names), adversarial=adversarial).items()
            },
        }
        for one in result.rows
    ]


def _print_setting(
    result: Sweep | Comparison,
    row: Row,
    options: Options,
    console: Console,
    columns: Collection[str],
) -> None:
    """Prints what the rows of a table share, other than its ``columns``, above it."""
    asked, measure = result.settings, options.measure
    label, mean = MEASURES[measure].label, row[MEASURES[measure].label]
    number = mean.n if isinstance(mean, Mean) else 0
    without = f" without category {ADVERSARIAL}" if options.no_adversarial else ""
    if disputed := _disputed(result):
        what = "left out" if options.no_disputed else "counted"
        console.line(f"{counted(disputed, 'disputed question')} {what}")
    alone = asked.relevance and "relevance" not in columns
    relevance = f", relevance {asked.relevance}" if alone else ""
    console.line(
        f"{label}, {counted(number, 'question')}{without}, {asked.limits}{relevance}; "
        f"evidence reached in {result.units} units, answer words in {result.tokens} tokens; "
        "95 % intervals"
    )
    # The policies of a sweep that have no rows.
    for policy in result.policies if isinstance(result, Sweep) else ():
        if not sees(measure, policy):
            console.line(
                f"{label} does not depend on {policy}: a leaf receives nothing from below; choose "
                "another with --measure"
            )


def _content(result: Sweep | Comparison, options: Options, relevances: int) -> Mapping[str, Any]:
    if isinstance(result, Comparison):
        return comparison_content(result)
    counts = not options.no_adversarial
    return sweep_content(result, options.measure, adversarial=counts, sweeps=relevances)


def sweep_content(
    swept: Sweep, measure: str, *, adversarial: bool = True, sweeps: int = 1
) -> dict[str, Any]:
    """Returns a sweep as fields of ``--json``; ``measure`` chooses the best setting.

    The intervals of the gains are simultaneous over all settings of ``sweeps`` sweeps.
    """
    # The gains of all cells by the name of the mean and of the measure.
    counted_in = {"gain": True}
    if any(swept.baseline.outcomes.disputed):
        counted_in["gain_without_disputed"] = False
    gains = {
        how: {name: each.gains(name, sweeps=sweeps) for name in MEASURES}
        for how, each in ((how, swept.counting(disputed=one)) for how, one in counted_in.items())
    }

    def cell_content(cell: Cell) -> dict[str, Any]:
        seen = [name for name in MEASURES if sees(name, cell.policy)]
        measures = summary(cell.outcomes, swept.baseline.outcomes, seen)
        for name, means in measures.items():
            for how in gains.keys() & means.keys():
                means[how] = gains[how][name].get(cell.setting, means[how])
        setting = {name: getattr(cell, name) for name in ("policy", "alpha", "horizon")}
        return {**setting, "measures": measures, "levels": cell.outcomes.levels}

    best = swept.best(measure, adversarial=adversarial)
    shared = settings_content(swept.settings)
    declared = (each.spec.opposite or each.name for each in parameters(RetrievalSettings))
    names = ("units", "tokens", "policies", "alphas", "horizons", "questions")
    return {
        **{name: shared[name] for name in declared if name in (*SHARED, "distinct")},
        **{name: getattr(swept, name) for name in names},
        "measure": measure,
        "baseline": cell_content(swept.baseline),
        "best": cell_content(best),
        "cells": [cell_content(cell) for cell in swept.cells],
    }


def comparison_content(comparison: Comparison) -> dict[str, Any]:
    """Returns a comparison as fields of ``--json``, with differences as of ``first_alike``."""
    firsts = first_alike([(row.name, row.method) for row in comparison.rows])
    names = ("name", "system", "method", "relevance", "shape", "cost")
    return {
        **{
            name: getattr(comparison.settings, name)
            for name in (*RetrievalSettings.names("reading"), "relevance")
        },
        **{name: getattr(comparison, name) for name in ("units", "tokens", "questions")},
        "rows": [
            {
                **{name: getattr(row, name) for name in names},
                "measures": summary(row.outcomes, comparison.rows[first].outcomes),
                "build_seconds": row.build_seconds,
                "query_seconds": row.query_seconds,
                "contentless_lines": row.contentless,
            }
            for row, first in zip(comparison.rows, firsts, strict=True)
        ],
    }
