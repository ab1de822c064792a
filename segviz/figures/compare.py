"""Draws several systems side by side, and the atlas of every question's evidence.

They are compared by the turns each retrieved for one question, or by one measure over all
questions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from segviz.evaluation import Mean
from segviz.evaluation.compare import SEGVIZ, Chart
from segviz.figures.charts import rows_figure
from segviz.figures.significance import EXACT, bounds, number, sign_of
from segviz.text.captions import counted

if TYPE_CHECKING:
    from segviz.evaluation.aggregate import Row
    from segviz.evaluation.compare import Overlap

from segviz.evaluation.evaluation import Outcomes

FOUND, COVERED, MISSED = "●", "◐", "○"
"""Marks of a gold turn: in a retrieved node of one unit, quoted by a wider one only, neither."""

GOLD, RETURNED = "◆", "✓"
"""Marks of a gold turn's name, and of another turn that came back."""

_STATES = {"found": FOUND, "covered": COVERED, "missed": MISSED, "returned": RETURNED, "": ""}

_LETTERS = 100
"""Characters of a turn's text."""


@dataclass(frozen=True, slots=True)
class TurnMatrix:
    """Turns that systems returned for one question.

    ``gold`` are all turns of the question's evidence, ``others`` the turns that some system
    returned. ``states`` has a row per system and a column per turn: of a gold turn ``found``,
    ``covered`` (quoted by a wider node) or ``missed``, of another ``returned`` or "".
    """

    names: tuple[str, ...]
    gold: tuple[str, ...]
    others: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]

    @property
    def turns(self) -> tuple[str, ...]:
        """Turns of the columns."""
        return self.gold + self.others


def turn_matrix(
    found: Overlap, gold: Sequence[str], covered: Mapping[str, Collection[str]]
) -> TurnMatrix:
    """Returns the matrix with gold turns first, then the others in order of time.

    ``covered`` holds, for each system, the gold turns that its returned nodes hold or quote.
    """
    gold = tuple(dict.fromkeys(gold))
    returned = {
        name: {turn for turn, there in zip(found.turns, row, strict=True) if there}
        for name, row in zip(found.names, found.returned, strict=True)
    }
    others = tuple(turn for turn in found.turns if turn not in gold)

    def state(name: str, turn: str) -> str:
        if turn in returned[name]:
            return "found" if turn in gold else "returned"
        if turn not in gold:
            return ""
        return "covered" if turn in covered[name] else "missed"

    states = tuple(tuple(state(name, turn) for turn in gold + others) for name in found.names)
    return TurnMatrix(found.names, gold, others, states)


def _short(names: Sequence[str]) -> list[str]:
    """Shortens names of systems: no brackets, the retrieval on a second line, for narrow pages."""
    return _unless_alike([re.sub(r" \(.*?\)", "", n).replace(" · ", "<br>") for n in names], names)


def short_names(names: Sequence[str]) -> list[str]:
    """Shortens names of systems to their first words, with the retrieval only if it is needed."""
    plain = [re.sub(r" \(.*?\)|,.*", "", name.replace(f" · {SEGVIZ}", "")) for name in names]
    return _unless_alike(plain, names)


def _unless_alike(short: list[str], names: Sequence[str]) -> list[str]:
    return short if len(set(short)) == len(short) else list(names)


def turn_rows(matrix: TurnMatrix, words: Mapping[str, str]) -> list[dict[str, str]]:
    """Returns the matrix as a table, a row per turn, gold first; ``words`` maps ids to texts."""
    names = short_names(matrix.names)
    return [
        {
            "turn": f"{GOLD} {turn}" if turn in matrix.gold else turn,
            "words": shorten(words[turn], _LETTERS, placeholder=" …"),
            **{name: _STATES[row[place]] for name, row in zip(names, matrix.states, strict=True)},
        }
        for place, turn in enumerate(matrix.turns)
    ]


def gold_sentence(matrix: TurnMatrix) -> str:
    """Returns how many gold turns each system found, and which none did; "" without gold turns."""
    if not matrix.gold:
        return ""
    whole = len(matrix.gold)
    rows = [row[:whole] for row in matrix.states]
    parts = []
    for name, row in zip(matrix.names, rows, strict=True):
        inside = f" and {row.count('covered')} covered" if "covered" in row else ""
        parts.append(f"{name} {row.count('found')}{inside}")
    lost = [
        turn
        for turn, states in zip(matrix.gold, zip(*rows, strict=True), strict=True)
        if set(states) == {"missed"}
    ]
    none = f" No system has {', '.join(lost)}." if lost else ""
    return f"Of {counted(whole, 'gold turn')} found: {', '.join(parts)}.{none}"


def overlap_sentence(found: Overlap) -> str:
    """Returns how many turns the systems returned, and how many of them all did."""
    everywhere = int(found.returned.all(axis=0).sum())
    return f"{len(found.turns)} turns were returned by at least one system, {everywhere} by all."


DIFFERENCE = "difference to the first"
"""Column of paired differences to the first row."""


def standing_plot(
    rows: Sequence[Row], label: str, *, colours: Sequence[str], neutral: str
) -> go.Figure:
    """Draws a dot with its 95 % interval per row, named by its "system".

    The mean under ``label`` is at the left, the difference to the first row at the right.
    """
    names = _short([str(row["system"]) for row in rows])
    named: list[Row] = [{**row, "system": name} for row, name in zip(rows, names, strict=True)]
    chart = Chart("system", (label, DIFFERENCE), kind="dots")
    figure = rows_figure(named, chart, colours=colours, neutral=neutral)
    figure.add_vline(x=0, line={"width": 1, "dash": "dash", "color": neutral}, row=1, col=2)
    return figure


def standing_sentence(rows: Sequence[Row], label: str) -> str:
    """Returns which row is highest, and which differ significantly from the first."""
    names = short_names([str(row["system"]) for row in rows])
    mean = rows[0][label]
    if not isinstance(mean, Mean) or not mean.n:
        return "No question that counts was measured."
    first = f"{names[0]} ({label} {number(mean.value)} {bounds(mean)})"
    gains = {name: row[DIFFERENCE] for name, row in zip(names[1:], rows[1:], strict=True)}
    known = {name: gain for name, gain in gains.items() if isinstance(gain, Mean)}
    if not known:
        return f"{first}."
    top = max(known, key=lambda name: known[name].value)
    by = f"{number(known[top].value, plus=True)} {bounds(known[top])}"
    if sign_of(known[top]) > 0:
        parts = [f"{top} is highest, {by} over {first}"]
    elif known[top].value > 0:
        parts = [f"No system is significantly above {first}; {top} has the highest mean, {by}"]
    else:
        parts = [f"{first} is highest; next is {top}, {by}"]
    for sign, word in ((1, "also higher"), (-1, "lower"), (0, "not significant")):
        named = [name for name, gain in known.items() if sign_of(gain) == sign]
        if len(named) == len(known) > 1 and sign < 1:
            named = ["all others"]
        if named := [name for name in named if sign < 1 or name != top]:
            parts.append(f"{word}: {', '.join(named)}")
    return f"{'; '.join(parts)}."


_MANY = 6
"""Most gold turns with a mark each; more are counted."""

Fate = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class AtlasRow:
    """Question at index ``place``.

    ``fates`` are in the order of the columns. ``change`` is the change of the measure from the
    first column to the one in focus.
    """

    place: int
    fates: tuple[Fate, ...]
    change: float


def atlas(
    columns: Mapping[str, Outcomes], focus: str, places: Sequence[int], measure: str | None = None
) -> list[AtlasRow]:
    """Returns the questions at ``places`` that have a value, the most changed first.

    Args:
        columns: the outcomes of each setting or system, by its name.
        focus: the column that is compared with the first one.
        places: places of questions.
        measure: a measure of :data:`segviz.evaluation.MEASURES`. None counts gold turns: 1 for one
            that is found, ½ for one that only a wider node quotes.

    Returns:
        A row for each question, by its change from the first column to ``focus`` (gains before
        losses), then by its largest change anywhere.
    """
    values = {
        name: _turns_found(one) if measure is None else one.column(measure)
        for name, one in columns.items()
    }
    base = next(iter(values.values()))
    rows = []
    for place in places:
        if math.isnan(base[place]):
            continue
        fates = tuple(one.fates[place] for one in columns.values())
        change = float(values[focus][place] - base[place])
        change = change if abs(change) > EXACT else 0.0
        most = max(abs(float(column[place] - base[place])) for column in values.values())
        rows.append(((-abs(change), change < 0, -most), AtlasRow(place, fates, change)))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def _turns_found(outcomes: Outcomes) -> list[float]:
    return [found + covered / 2 if every else math.nan for found, covered, every in outcomes.fates]


def marks(fate: Fate) -> str:
    """Returns a mark for each gold turn, or the number of each mark if there are many."""
    found, covered, whole = fate
    counts = ((FOUND, found), (COVERED, covered), (MISSED, whole - found - covered))
    if whole <= _MANY:
        return "".join(mark * count for mark, count in counts)
    return " ".join(f"{mark}{count}" for mark, count in counts if count)


def won(change: float) -> str:
    """Returns "won" for a gain, "lost" for a loss, "" for no change."""
    return "won" if change > 0 else "lost" if change < 0 else ""


def atlas_sentence(rows: Sequence[AtlasRow], base: str, focus: str, label: str) -> str:
    """Returns how many questions are higher and lower in focus than in the first column."""
    gains, losses = (sum(sign * row.change > 0 for row in rows) for sign in (1, -1))
    whole = counted(len(rows), "question")
    return (
        f"By {label}, {focus} wins {gains} of {whole} and loses {losses} against {base}; the "
        "others do not change."
    )
