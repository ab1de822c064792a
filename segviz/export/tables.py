"""Writes CSV tables (RFC 4180): nodes, changes, the ranks of a question, a sweep.

Texts are quoted, numbers are not; a missing value is an empty cell. Spreadsheets read a text that
begins with ``=``, ``+``, ``-`` or ``@``, also after blanks, as a formula. An apostrophe before such
a text prevents that. Carriage returns inside a text become line feeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from unicodedata import category

import numpy as np

from segviz.evaluation import MEASURES, Cell, Mean, Sweep
from segviz.evaluation.aggregate import Row
from segviz.evaluation.evaluation import ADVERSARIAL
from segviz.evaluation.measures import sees
from segviz.evaluation.parallel import Measured
from segviz.export.text import legal, one_line
from segviz.export.view import View
from segviz.memory import Changes
from segviz.retrieval import RetrievalSettings, ranking

Value = str | int | float | None

# A spreadsheet may skip blanks and invisible signs before a formula, even one in full-width signs:
# Unicode's blanks, controls, formats and combining marks, and letters that are drawn as nothing.
_UNSEEN = "ZCM"
_FILLERS = "\u115f\u1160\u3164\uffa0"
_FORMULA = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")


def cell(value: Value) -> str:
    """Returns one value as a CSV cell."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        return repr(value)
    text = legal(value)
    unseen = (sign not in _FILLERS and category(sign)[0] not in _UNSEEN for sign in text)
    first = next((at for at, seen in enumerate(unseen) if seen or text[at] in _FORMULA), 0)
    guard = "'" if text.startswith(_FORMULA, first) else ""
    return '"' + (guard + text).replace('"', '""') + '"'


def table(names: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Returns a CSV table: a line of names and a line for each row, all ended by CR LF."""
    return "".join(",".join(map(cell, row)) + "\r\n" for row in [names, *rows])


def rows_csv(rows: Sequence[Row]) -> str:
    """Writes the rows of any table as CSV; a mean has three columns: value, low and high."""
    names = dict.fromkeys(name for row in rows for name in row)
    means = {name for row in rows for name in row if isinstance(row[name], Mean)}

    def cells(name: str, value: Any) -> list[Value]:
        if isinstance(value, Mean):
            return [value.value, value.low, value.high]
        return [value, None, None] if name in means else [value]

    head: list[str] = []
    for name in names:
        head += [name, f"{name} low", f"{name} high"] if name in means else [name]
    return table(
        head, ([part for name in names for part in cells(name, row.get(name))] for row in rows)
    )


def rows_markdown(rows: Sequence[Row]) -> str:
    """Writes the rows of any table in Markdown; a mean is followed by its interval."""
    names = list(dict.fromkeys(name for row in rows for name in row))

    def number(value: float) -> str:
        if math.isnan(value):
            return ""
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"

    def cell(value: Any) -> str:
        """Returns a value as a cell; a large mean is shorter."""
        if isinstance(value, Mean):
            large = not value.n or abs(value.high) >= 10
            mean, *bounds = (
                number(each) if large else f"{each:.3f}"
                for each in (value.value, value.low, value.high)
            )
            return mean + (f" [{', '.join(bounds)}]" if value.has_interval else "")
        if isinstance(value, float):
            return number(value)
        return "" if value is None else one_line(str(value), 200).replace("|", "\\|")

    lines = [
        names,
        ["---"] * len(names),
        *([cell(row.get(name)) for name in names] for row in rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def nodes_csv(view: View) -> str:
    """Writes the nodes of a view as CSV, retired ones included.

    Columns are those of the structure without the vector, the node's place in the tree and, on Ask,
    its scores. A same-text chain is one row, unless the view is of the literal tree. ``top`` is the
    highest level of that chain, ``stop`` is one past the last unit. ``parents`` and ``children``
    are node ids separated by blanks, ``first_turn`` and ``last_turn`` the ends of the span.
    """
    structure, result = view.structure, view.result
    labels = view.labels
    names = "node label level top start stop kind active depth parents children".split()
    names += _ENDS
    names += [] if result is None else ["initial", "final"]

    def row(node: int) -> list[Value]:
        values: list[Value] = [
            node,
            labels[node],
            int(structure.level[node]),
            int(structure.top[node]),
            int(structure.start[node]),
            int(structure.stop[node]),
            structure.kind[node],
            int(structure.active[node]),
            int(structure.depth[node]) if structure.active[node] else None,
            " ".join(map(str, structure.parents[node])),
            " ".join(map(str, structure.children[node])),
            *_ends(view, node),
        ]
        if result is not None:
            values += [float(result.initial[node]), float(result.final[node])]
        return [*values, structure.text[node]]

    return table([*names, "text"], map(row, structure.nodes.tolist()))


_ENDS = ("first_turn", "last_turn", "first_session", "last_session", "first_time", "last_time")


def _ends(view: View, node: int) -> list[Value]:
    """Returns first and last turn, session (from 1) and time (ISO 8601) of a node's span."""
    units = view.memory.units[int(view.structure.start[node]) : int(view.structure.stop[node])]
    if not units:
        return [None] * len(_ENDS)
    first, last = units[0], units[-1]
    times = [unit.time.isoformat() if unit.time else None for unit in (first, last)]
    sessions = [first.session + 1, last.session + 1]
    return [first.turn_ids[0], last.turn_ids[-1], *sessions, *times]


def ranks_csv(view: View) -> str:
    """Writes the admissible nodes for a view's question as CSV, best first.

    ``rank_initial`` and ``rank_final`` count from 1. ``retrieved_before`` and ``retrieved`` are the
    places among the nodes retrieved before and after propagation, empty for other nodes. ``gold``
    has the gold turns of the node. A same-text chain is one node, unless the settings are literal.
    ValueError for a view without a question.
    """
    result = view.result
    if result is None:
        raise ValueError(
            "this view asks no question, so nothing is ranked; ask one, on Ask or with --question"
        )
    # The order after propagation and, of each node, the ranks and places before it.
    structure, levels = view.structure, result.settings.levels
    order, before = (
        ranking(scores, structure, levels) for scores in (result.final, result.initial)
    )
    if result.native:  # the system's order, which does not follow from the scores alone
        order = np.array([*result.after, *(n for n in order if n not in set(result.after))], int)
    initial_rank = {int(node): rank for rank, node in enumerate(before, start=1)}
    places = [
        {node: rank for rank, node in enumerate(nodes, start=1)}
        for nodes in (result.before, result.after)
    ]
    names = "rank_final rank_initial node level start stop initial final".split()
    names += ["change", "retrieved_before", "retrieved", "gold"]
    names += [*_ENDS, "text"]

    def row(rank: int, node: int) -> list[Value]:
        initial, final = float(result.initial[node]), float(result.final[node])
        return [
            rank,
            initial_rank.get(node),
            node,
            int(structure.level[node]),
            int(structure.start[node]),
            int(structure.stop[node]),
            initial,
            final,
            final - initial,
            *(place.get(node) for place in places),
            " ".join(view.gold.by_node.get(node, ())),
            *_ends(view, node),
            structure.text[node],
        ]

    return table(names, (row(rank, int(node)) for rank, node in enumerate(order, start=1)))


def changes_csv(changes: Changes) -> str:
    """Writes the changes of a memory between two moments as CSV, a row for each node.

    ``change`` is ``added``, ``rewritten``, ``retired`` or ``superseded``; ``before`` and ``after``
    are the texts at the two moments, of a superseded text that text and a later one about the same
    thing. ``ended`` is the time from which the store calls it untrue.
    """
    names = "change node level start stop before after ended first_step last_step".split()
    return table(
        names,
        (
            [c.kind, c.node, c.level, *c.span, c.before, c.after, c.ended, *changes.steps]
            for c in changes.rows
        ),
    )


def sweep_csv(sweep: Sweep, sweeps: int = 1) -> str:
    """Writes a sweep as a long CSV table: a row per setting, measure and group of questions.

    The baseline without propagation comes first. A policy has no rows of measures that it cannot
    change. ``category`` is ``all`` or a category id. ``adversarial`` is 1 if questions of category
    5 count, ``disputed`` is 1 if questions that an audit disputes count. If there are such
    questions, the table has rows with and without them. ``mean`` is over ``n`` questions, ``gain``
    is the mean paired difference to no propagation. Rows of ``all`` have 95 % intervals of both;
    those of gains are simultaneous over the settings of so many ``sweeps``, as in ``Sweep.gains``.
    The measures ``share_level_0``, ``share_level_1`` … are the shares of the levels among the
    retrieved nodes.
    """
    return _sweeps([], [((), sweep)], sweeps)


def sweeps_csv(runs: Sequence[Measured[Sweep]]) -> str:
    """Writes many sweeps as :func:`sweep_csv`, with ``conversation`` and ``system``.

    The intervals of the gains hold for the sweeps with all relevances.
    """
    owners, relevances = ["conversation", "system"], {m.result.settings.relevance for m in runs}
    every = [((m.conversation, m.system), m.result) for m in runs]
    return _sweeps(owners, every, len(relevances))


def _sweeps(
    owners: list[str], sweeps: Sequence[tuple[tuple[Value, ...], Sweep]], together: int
) -> str:
    """Writes sweeps, each after the values of its ``owners``, as :func:`sweep_csv` describes."""
    reading = RetrievalSettings.names("reading")
    names = [*owners, "policy", "alpha", "horizon", *reading, "units", "tokens", "relevance"]
    names += ["measure", "category", "adversarial", "disputed", "mean", "low", "high", "n"]
    names += ["gain", "gain_low", "gain_high"]
    rows: list[list[Value]] = []
    for owner, every in sweeps:
        # All questions and, if an audit disputes some, the others.
        counts = (True, False) if any(every.baseline.outcomes.disputed) else (True,)
        for sweep in (every.counting(disputed=one) for one in counts):
            gains = {
                (name, adversarial): sweep.gains(name, adversarial=adversarial, sweeps=together)
                for name in MEASURES
                for adversarial in (True, False)
            }
            values = (getattr(sweep.settings, name) for name in reading)
            shared = [int(each) if isinstance(each, bool) else each for each in values]
            shared += [sweep.units, sweep.tokens, sweep.settings.relevance]
            for one in (sweep.baseline, *sweep.cells):
                setting = (one.policy, float(one.alpha), one.horizon)
                rows += [[*owner, *setting, *shared, *row] for row in _measured(sweep, one, gains)]
    return table(names, rows)


def _measured(
    sweep: Sweep, one: Cell, gains: Mapping[tuple[str, bool], Mapping[Any, Mean]]
) -> Iterator[list[Value]]:
    """Yields the rows of one setting: measures over all questions and by category, level shares."""
    outcomes, base = one.outcomes, sweep.baseline.outcomes
    groups, disputed = outcomes.known_categories, int(outcomes.count_disputed)
    for name in MEASURES:
        if not sees(name, one.policy):
            continue
        # The mean with and without category 5, then that of each category.
        for counts in (True, False) if ADVERSARIAL in groups else (True,):
            mean = outcomes.mean(name, adversarial=counts)
            still = sweep.gain(sweep.baseline, name, adversarial=counts)
            gain = gains[name, counts].get(one.setting, still)
            yield [
                *(name, "all", int(counts), disputed, mean.value, mean.low, mean.high, mean.n),
                *(gain.value, gain.low, gain.high),
            ]
        values, differences = outcomes.column(name), outcomes.column(name) - base.column(name)
        for group in groups:
            kept = np.array(outcomes.keep(category=group), dtype=np.int64)
            kept = kept[~np.isnan(values[kept])]
            if len(kept):
                label = "none" if group is None else str(group)
                mean_gain = float(differences[kept].mean())
                yield [
                    *(name, label, 1, disputed, float(values[kept].mean()), None, None, len(kept)),
                    *(mean_gain, None, None),
                ]
    for level, share in outcomes.levels.items() if disputed else ():
        shares: list[Value] = [f"share_level_{level}", "all", 1, 1, float(share)]
        yield [*shares, None, None, len(outcomes), None, None, None]
