"""Draws comparisons of systems: turns retrieved for one question, and measures of all questions.

The atlas lists every question with its gold evidence under each setting or system.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import plotly.graph_objects as go

from segviz.evaluation import NATIVE, Chart, Mean, Outcomes, Row, Standing
from segviz.evaluation.compare import LEAVES, RETRIEVED_BY, SEGVIZ
from segviz.evaluation.evaluation import Fate
from segviz.evaluation.measures import MEASURES
from segviz.figures.charts import rows_figure
from segviz.figures.significance import EXACT, estimate, sign_of
from segviz.retrieval.gold import FATES
from segviz.systems import SYSTEMS
from segviz.text.captions import counted
from segviz.view.words import GAINS, LOSES

FOUND, QUOTED, ANSWERED, MISSED = "●", "◐", "◉", "○"
"""Marks of a gold turn: in a retrieved node of one unit; quoted by a wider one only; a retrieved
node above it states the answer; none of these."""

MARKS = (
    f"{FOUND} found, {QUOTED} quoted by a wider node, {ANSWERED} answered (a node above it states "
    f"the answer), {MISSED} missed"
)
"""Explanation of the marks."""

GOLD, RETURNED = "◆", "✓"
"""Marks of the name of a gold turn, and of another turn that was retrieved."""

_STATES = dict(zip(FATES, (FOUND, QUOTED, ANSWERED, MISSED, MISSED, MISSED), strict=True))
_STATES |= {"returned": RETURNED, "": ""}

_LETTERS = 100
"""Most characters of a turn's text in a table."""


@dataclass(frozen=True, slots=True)
class TurnMatrix:
    """Turns that several systems retrieved for one question.

    ``names`` are the systems, ``gold`` the turns of the question's evidence, ``others`` the other
    turns that a system retrieved. ``states`` has a row per system and a column per turn. The state
    of a gold turn is one of ``segviz.retrieval.gold.FATES``; that of another turn is ``returned``
    or "".
    """

    names: tuple[str, ...]
    gold: tuple[str, ...]
    others: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]

    @property
    def turns(self) -> tuple[str, ...]:
        """Turns of the columns: the gold turns, then the others."""
        return self.gold + self.others


def turn_matrix(
    returned: Mapping[str, Collection[str]],
    order: Sequence[str],
    gold: Sequence[str],
    fates: Mapping[str, Mapping[str, str]],
) -> TurnMatrix:
    """Returns the matrix of a question's turns, gold turns first, the others in order of time.

    Args:
        returned: turns that each system retrieved, by its name.
        order: all turns of the conversation.
        gold: turns of the question's evidence.
        fates: for each system, what became of each gold turn (``GoldEvidence.fate``).
    """
    gold = tuple(dict.fromkeys(gold))
    anything = set().union(*returned.values())
    others = tuple(turn for turn in order if turn in anything and turn not in gold)

    def state(name: str, turn: str) -> str:
        """Returns the state of a turn in the column of a system."""
        if turn in returned[name]:
            return "found" if turn in gold else "returned"
        if turn not in gold:
            return ""
        # A gold turn in a retrieved node of few turns is found, too.
        return fates[name][turn]

    states = tuple(tuple(state(name, turn) for turn in gold + others) for name in returned)
    return TurnMatrix(tuple(returned), gold, others, states)


def short_names(names: Sequence[str]) -> list[str]:
    """Shortens names of systems to their first words, unless two would become the same."""
    plain = [re.sub(r" \(.*?\)|,.*", "", name.replace(f" · {SEGVIZ}", "")) for name in names]
    return _unless_alike(plain, names)


def _unless_alike(short: list[str], names: Sequence[str]) -> list[str]:
    return short if len(set(short)) == len(short) else list(names)


def turn_rows(matrix: TurnMatrix, words: Mapping[str, str]) -> list[dict[str, str]]:
    """Returns a matrix as rows of a table, one per turn; ``words`` maps ids of turns to texts."""
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
    """Tells how many gold turns each system found, and which no system found; "" without any."""
    if not matrix.gold:
        return ""
    whole = len(matrix.gold)
    rows = [row[:whole] for row in matrix.states]
    parts = []
    for name, row in zip(matrix.names, rows, strict=True):
        inside = [f" and {row.count(fate)} {fate}" for fate in FATES[1:3] if fate in row]
        parts.append(f"{name} {row.count(FATES[0])}{''.join(inside)}")
    lost = [
        turn
        for turn, states in zip(matrix.gold, zip(*rows, strict=True), strict=True)
        if {*states}.isdisjoint(FATES[:3])
    ]
    none = f" No system has {', '.join(lost)}." if lost else ""
    return f"Of {counted(whole, 'gold turn')} found: {', '.join(parts)}.{none}"


def overlap_sentence(matrix: TurnMatrix) -> str:
    """Tells how many turns at least one system retrieved, and how many of them all systems did."""
    there = [
        [one in ("found", "returned") for one in turn] for turn in zip(*matrix.states, strict=True)
    ]
    some, everywhere = sum(map(any, there)), sum(map(all, there))
    return f"{some} turns were returned by at least one system, {everywhere} by all."


_SIDES = ("array", "arrayminus")
DIFFERENCE = "difference to the first"
"""Name of the column with the paired differences to the first row."""


def standing_name(row: Standing) -> str:
    """Returns the label of a row's system, or the name of its variant, and the retrieval."""
    label = SYSTEMS[row.system].label if row.name == row.system else row.name
    return f"{label} · {row.how}"


def standing_rows(
    group: Sequence[Standing], measure: str, *, adversarial: bool = True
) -> list[Row]:
    """Returns the mean of each row of a group, and its paired difference to the first."""
    return [
        {
            "system": standing_name(row),
            MEASURES[measure].label: row.outcomes.mean(measure, adversarial=adversarial),
            DIFFERENCE: row.outcomes.gain(group[0].outcomes, measure, adversarial=adversarial),
        }
        for row in group
    ]


def standing_plot(
    rows: Sequence[Row], label: str, *, better: str, worse: str, neutral: str
) -> go.Figure:
    """Draws each system's mean, in column ``label``, and its difference to the first one's.

    A significant difference has the colour ``better`` or ``worse``, all else is ``neutral``.
    """
    # Short names for narrow pages: no brackets, the retrieval on a second line where it differs.
    names = [str(row["system"]) for row in rows]
    if len({name.partition(" · ")[2] for name in names}) == 1:
        names = [name.partition(" · ")[0] for name in names]
    short = [re.sub(r" \(.*?\)", "", name).replace(" · ", "<br>") for name in names]
    names = _unless_alike(short, names)
    named: list[Row] = [{**row, "system": name} for row, name in zip(rows, names, strict=True)]
    chart = Chart("system", (label, DIFFERENCE), kind="dots")
    figure = rows_figure(named, chart, colours=[neutral], neutral=neutral)
    # The intervals of a series have one colour, so significant ones are drawn once more, over it.
    signs = [sign_of(gain) if isinstance(gain := row[DIFFERENCE], Mean) else 0 for row in rows]
    for sign, colour in ((1, better), (-1, worse)):
        where = [place for place, one in enumerate(signs) if one == sign]
        if where:
            drawn = figure.data[1]
            sides = {name: [drawn.error_x[name][i] for i in where] for name in _SIDES}
            figure.add_scatter(
                x=[drawn.x[i] for i in where],
                y=[drawn.y[i] for i in where],
                mode="markers",
                marker={"size": drawn.marker.size, "color": colour},
                cliponaxis=False,
                error_x={"type": "data", "color": colour, "thickness": 3, "width": 0, **sides},
                hoverinfo="skip",
                showlegend=False,
                row=1,
                col=2,
            )
    figure.add_vline(x=0, line={"width": 1, "dash": "dash", "color": neutral}, row=1, col=2)
    figure.update_xaxes(rangemode="nonnegative", row=1, col=1)  # or means of 0 lie in -1 … 1
    return figure


def asked_sentence(group: Sequence[Standing], names: Sequence[str]) -> str:
    """Tells by which retrieval the systems of a ``group`` were asked, and if that is not alike."""
    names = _systems(names)
    used: dict[str, list[str]] = {}
    for row, name in zip(group, names, strict=True):
        used.setdefault(row.relevance, []).append(name)
    whose = ", ".join(f"{relevance} for {' and '.join(some)}" for relevance, some in used.items())
    whose = whose if len(used) > 1 else group[0].relevance
    if all(row.method == LEAVES for row in group):
        return f"Each is asked for {RETRIEVED_BY[LEAVES]} (relevance {whose})."
    without = [name for row, name in zip(group, names, strict=True) if row.method != NATIVE]
    if len(without) == len(group):
        return f"All are asked alike: {SEGVIZ} ({whose}) ranks all their nodes."
    none = f" Not alike: {' and '.join(without)}, which has none, is asked by {SEGVIZ}."
    return f"Each is asked by {RETRIEVED_BY[NATIVE]} (relevance {whose}).{none * bool(without)}"


def _systems(names: Sequence[str]) -> list[str]:
    """Shortens the names of rows to those of their systems, without the retrieval."""
    return short_names([name.partition(" · ")[0] for name in names])


def standing_sentence(rows: Sequence[Row], label: str) -> str:
    """Tells which system has the highest mean (``label``), and which differ from the first."""
    # The first system's mean, and the differences of the others to it.
    names = _systems([str(row["system"]) for row in rows])
    mean = rows[0][label]
    if not isinstance(mean, Mean) or not mean.n:
        return "No question that counts was measured."
    first = f"{names[0]} ({label} {estimate(mean)})"
    gains = {name: row[DIFFERENCE] for name, row in zip(names[1:], rows[1:], strict=True)}
    known = {name: gain for name, gain in gains.items() if isinstance(gain, Mean)}
    if not known:
        return f"{first}."
    # The highest mean: significantly above the first, above it, or its own.
    top = max(known, key=lambda name: known[name].value)
    best = [top]
    by = estimate(known[top], plus=True)
    if sign_of(known[top]) > 0:
        best = [name for name, gain in known.items() if gain.value == known[top].value]
        have = "has" if len(best) == 1 else "have"
        over = f"{names[0]} ({estimate(mean)})"
        parts = [f"{' and '.join(best)} {have} the highest {label}, {by} over {over}"]
    elif known[top].value > 0:
        parts = [f"No system is significantly above {first}; {top} has the highest mean, {by}"]
    else:
        parts = [f"{first} is highest; next is {top}, {by}"]
    # The others, by the sign of their difference.
    for sign, word in ((1, "also higher"), (-1, "lower"), (0, "no significant difference")):
        named = [name for name, gain in known.items() if sign_of(gain) == sign]
        if len(named) == len(known) > 1 and sign < 1:
            named = ["all others"]
        if named := [name for name in named if sign < 1 or name not in best]:
            parts.append(f"{word}: {', '.join(named)}")
    return f"{'; '.join(parts)}."


_MANY = 6
"""Most gold turns that get a mark each; more are counted."""


@dataclass(frozen=True, slots=True)
class AtlasRow:
    """Question at index ``place`` as a row of the atlas.

    ``fates`` has the counts of gold turns for each column. ``change`` is the change of the measure
    from the first column to the one in focus.
    """

    place: int
    fates: tuple[Fate, ...]
    change: float


def atlas(
    columns: Mapping[str, Outcomes], focus: str, places: Sequence[int], measure: str | None = None
) -> list[AtlasRow]:
    """Returns the atlas of the questions at ``places`` that have a value, the most changed first.

    Args:
        columns: the outcomes of each setting or system, by its name.
        focus: the column that is compared with the first one.
        places: indices of questions.
        measure: a measure of :data:`segviz.evaluation.MEASURES`. None counts gold turns in
            evidence.

    Returns:
        A row for each question, sorted by the size of its change from the first column to
            ``focus`` (of equal sizes gains first), then by its largest change in any column.
    """
    values: dict[str, Any] = {}
    for name, one in columns.items():
        turns = [sum(fates) if every else math.nan for *fates, every in one.fates]
        values[name] = turns if measure is None else one.column(measure)
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


def marks(fate: Fate) -> str:
    """Returns a mark for each gold turn of a question or, for many, each mark with its count."""
    *in_evidence, whole = fate
    numbers = (*in_evidence, whole - sum(in_evidence))
    counts = tuple(zip((FOUND, QUOTED, ANSWERED, MISSED), numbers, strict=True))
    if whole <= _MANY:
        return "".join(mark * count for mark, count in counts)
    return " ".join(f"{mark}{count}" for mark, count in counts if count)


GROUPS = (GAINS, LOSES, "in evidence as before", "missed as before")


def group_of(row: AtlasRow) -> str:
    """Returns the group of a question, one of ``GROUPS``."""
    *found, whole = row.fates[-1]
    if row.change:
        return GAINS if row.change > 0 else LOSES
    return "in evidence as before" if sum(found) == whole else "missed as before"


def won(change: float) -> str:
    """Returns "gains" for a positive change of a measure, "loses" for a negative one, else ""."""
    return GAINS if change > 0 else LOSES if change < 0 else ""


def atlas_sentence(rows: Sequence[AtlasRow], base: str, focus: str, label: str) -> str:
    """Tells on how many questions ``focus`` gains and loses against ``base`` by ``label``."""
    if base == focus:
        return f"Both columns are {base}: choose another system or retrieval to compare."
    gains, losses = (sum(sign * row.change > 0 for row in rows) for sign in (1, -1))
    whole = counted(len(rows), "question")
    return (
        f"By {label}, {focus} gains on {gains} of {whole} and loses on {losses} against {base}; "
        "the others do not change."
    )
