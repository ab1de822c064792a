"""CSV tables (RFC 4180): the nodes, the ranks of a question, a sweep.

Texts are quoted, numbers are not; what is absent is an empty cell. Spreadsheets take a text
that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, also behind blanks: such a text
gets an apostrophe in front. Numbers stay numbers, negative ones too. Carriage returns
inside a text become line feeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from segviz.evaluate import Cell, Sweep
from segviz.evaluate.many import Measured
from segviz.export.text import legal
from segviz.export.view import View
from segviz.retrieval import ranking

Value = str | int | float | None

# A spreadsheet may pass over blanks and invisible marks; full-width signs count as well.
_PASSED_OVER = " \n\u00a0\u3000\ufeff\u200b\u200e\u200f"
_FORMULA = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")


def cell(value: Value) -> str:
    """One value as it stands between two commas."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        return repr(value)
    text = legal(value)
    guard = "'" if text.lstrip(_PASSED_OVER).startswith(_FORMULA) else ""
    return '"' + (guard + text).replace('"', '""') + '"'


def table(names: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """A line of names and one for each row, all ended by CR LF."""
    return "".join(",".join(map(cell, row)) + "\r\n" for row in [names, *rows])


def nodes_csv(view: View) -> str:
    """One row per node, retired ones included: every column of the structure but the
    vector, its place in the tree and, on Ask, its scores. A same-text chain is one row, unless
    the view is of the literal tree.

    ``top`` is the highest level of a node's same-text chain, ``stop`` is one past the last
    unit. ``parents`` and ``children`` are node ids with blanks between, ``first_turn`` and
    ``last_turn`` the ends of the span.
    """
    structure, result = view.structure, view.result
    names = [
        "node",
        "level",
        "top",
        "start",
        "stop",
        "kind",
        "active",
        "depth",
        "parents",
        "children",
    ]
    names += ["first_turn", "last_turn", "first_session", "last_session"]
    names += [] if result is None else ["initial", "final"]

    def row(node: int) -> list[Value]:
        values: list[Value] = [
            node,
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


def _ends(view: View, node: int) -> list[Value]:
    """First and last turn, first and last session (counted from 1) of a node's span."""
    units = view.memory.units[int(view.structure.start[node]) : int(view.structure.stop[node])]
    if not units:
        return [None] * 4
    first, last = units[0], units[-1]
    return [first.turn_ids[0], last.turn_ids[-1], first.session + 1, last.session + 1]


def ranks_csv(view: View) -> str:
    """One row per admissible node of an answered question, best first.

    ``rank_initial`` and ``rank_final`` count from 1 as in ``Evidence``; ``retrieved_before``
    and ``retrieved`` are the places among the nodes that came back, empty for the others;
    ``gold`` are the gold turns the node holds. A same-text chain is one node, unless the settings
    are literal. ValueError on a view without a question.
    """
    result = view.result
    if result is None:
        raise ValueError("this view asks no question, so nothing is ranked; export it from Ask")
    structure, levels = view.structure, result.settings.levels
    order, before = (
        ranking(scores, structure, levels) for scores in (result.final, result.initial)
    )
    if result.own:  # its order is its own; scores alone do not tell it
        order = np.array([*result.after, *(n for n in order if n not in set(result.after))], int)
    initial_rank = {int(node): rank for rank, node in enumerate(before, start=1)}
    places = [
        {node: rank for rank, node in enumerate(nodes, start=1)}
        for nodes in (result.before, result.after)
    ]
    names = ["rank_final", "rank_initial", "node", "level", "start", "stop", "initial", "final"]
    names += ["change", "retrieved_before", "retrieved", "gold"]
    names += ["first_turn", "last_turn", "first_session", "last_session", "text"]

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
            " ".join(view.gold.held.get(node, ())),
            *_ends(view, node),
            structure.text[node],
        ]

    return table(names, (row(rank, int(node)) for rank, node in enumerate(order, start=1)))


def sweep_csv(found: Sweep) -> str:
    """One row per measured setting of a sweep, the baseline without propagation first.

    ``recall``, ``low`` and ``high`` are evidence recall@K and its 95 % interval over
    ``questions`` counted questions; then recall per category id and the share of each level
    among the retrieved nodes.
    """
    return _sweeps([], [((), found)])


def sweeps_csv(runs: Sequence[Measured[Sweep]]) -> str:
    """As :func:`sweep_csv` for many sweeps below each other, each row behind its
    ``conversation``, ``system`` and ``seed``."""
    owners = ["conversation", "system", "seed"]
    return _sweeps(owners, [((m.conversation, m.system, m.seed), m.result) for m in runs])


def _sweeps(owners: list[str], sweeps: Sequence[tuple[tuple[Value, ...], Sweep]]) -> str:
    cells = [one for _, found in sweeps for one in (found.baseline, *found.cells)]
    groups = list(dict.fromkeys(group for one in cells for group in one.by_category))
    groups.sort(key=lambda group: (group is None, group or 0))
    levels = sorted({level for one in cells for level in one.levels})
    names = [*owners, "policy", "alpha", "horizon", "k", "budget", "relevance"]
    names += ["recall", "low", "high", "questions"]
    names += [f"recall_{'none' if group is None else group}" for group in groups]
    names += [f"share_level_{level}" for level in levels]

    def row(owner: tuple[Value, ...], found: Sweep, one: Cell) -> list[Value]:
        recall = one.recall
        return [
            *owner,
            one.policy,
            float(one.alpha),
            one.horizon,
            found.k,
            found.budget,
            found.relevance,
            *(recall.value, recall.low, recall.high, recall.n),
            *(
                one.by_category[group].value if group in one.by_category else None
                for group in groups
            ),
            *(float(one.levels.get(level, 0.0)) for level in levels),
        ]

    rows = (row(*each, one) for each in sweeps for one in (each[1].baseline, *each[1].cells))
    return table(names, rows)
