"""Keeps a long history as columns, and replays any history, to its end or to any step.

A step of a :class:`History` is made when it is asked for, and the structure is folded from whole
columns at once, so that a memory of a million leaves opens in about the time its bytes take to
read. ``columns_of`` takes a history apart.

Columns (s steps, c candidates, e events, w weights, r vectors); texts are told by their row
in ``texts``, -1 stands for None:

============ =============== ======================================================================
steps        int32 (s, 7)    unit, note, why and chosen of the decision (why -1: none), operation;
                             one past its last candidate and event
costs        int64 (s, 8)    calls, tokens, annotated, inspected, modified, output, embedded,
                             embedding_tokens
candidates   int32 (c, 3)    node, label, which numbers are there (1 score, 2 threshold)
numbers      float64 (c, 2)  score, threshold; 0 where absent
events       int32 (e, 9)    code, then of ``Add``: node, level, start, stop, text, vector, kind,
                             facts; ``Revise``: node, level, start, stop, text, vector, -1, facts;
                             ``Link``, ``Unlink``: parent, child; ``Retire``: node; ``Relate``:
                             source, target, weight (its row), -1, label, -1, -1, facts
weights      float64 (w,)    of relations
vectors      float32 (r, d)  rows 0 … n - 1 are those of the n nodes at the end
============ =============== ======================================================================

Facts are texts in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import count

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Lazy, Unit
from segviz.tree.events import (
    Add,
    Cost,
    Decision,
    Event,
    Facts,
    Judgement,
    Link,
    Relate,
    Retire,
    Revise,
    Step,
    Unlink,
    Vector,
)
from segviz.tree.fold import Fold
from segviz.tree.structure import IntArray, Structure, sealed

ADD, REVISE, LINK, UNLINK, RETIRE, RELATE = range(6)
_COSTS = "calls tokens annotated inspected modified output embedded embedding_tokens".split()


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a history; see the top of this module."""

    steps: IntArray
    costs: NDArray[np.int64]
    candidates: IntArray
    numbers: NDArray[np.float64]
    events: IntArray
    weights: NDArray[np.float64]
    vectors: Vector
    texts: Sequence[str]


class History(Lazy[Step]):
    """Steps that are made of columns when they are asked for.

    ``units`` gives the units they refer to, when the first step is made. Everything else is as of
    a tuple of steps; a slice is a History, too.
    """

    def __init__(
        self,
        columns: Columns,
        units: Callable[[], Sequence[Unit]],
        places: range | None = None,
    ) -> None:
        """All steps of the columns, or those at ``places``. Nothing is read yet."""
        super().__init__(self._step, range(len(columns.steps)) if places is None else places)
        self.columns = columns
        self._units = units

    def _at(self, places: range) -> History:
        return History(self.columns, self._units, places)

    def _step(self, index: int) -> Step:
        steps, text = self.columns.steps, self.columns.texts
        unit, note, why, chosen, operation, last_candidate, last = steps[index].tolist()
        first_candidate, first = steps[index - 1, 5:].tolist() if index else (0, 0)
        decision = None
        if why >= 0:
            judged = map(self._candidate, range(first_candidate, last_candidate))
            decision = Decision(tuple(judged), None if chosen < 0 else chosen, text[why])
        return Step(
            self._units()[unit],
            text[note],
            decision,
            tuple(map(self._event, range(first, last))),
            Cost(*self.columns.costs[index].tolist()),
            text[operation],
        )

    def _candidate(self, row: int) -> Judgement:
        node, label, given = self.columns.candidates[row].tolist()
        score, threshold = self.columns.numbers[row].tolist()
        told = score if given & 1 else None, threshold if given & 2 else None
        return Judgement(node, *told, self.columns.texts[label])

    def _event(self, row: int) -> Event:
        columns, text = self.columns, self.columns.texts
        code, node, other, start, stop, words, vector, kind, facts = columns.events[row].tolist()
        if code == ADD:
            span, known = (start, stop), self._facts(facts)
            return Add(node, other, span, text[words], columns.vectors[vector], text[kind], known)
        if code == REVISE:
            level, more = None if other < 0 else other, None if facts < 0 else self._facts(facts)
            return Revise(node, (start, stop), text[words], columns.vectors[vector], level, more)
        if code == RELATE:
            weight = float(columns.weights[start])
            return Relate(node, other, text[words], weight, self._facts(facts))
        return Retire(node) if code == RETIRE else (Link, Unlink)[code - LINK](node, other)

    def _facts(self, row: int) -> Facts:
        found: Facts = {} if row < 0 else json.loads(self.columns.texts[row])
        return found

    @cached_property
    def folded(self) -> Structure:
        """The structure after these steps, with the errors of :func:`replay`."""
        events = self._from_the_beginning()
        if events is None:
            return _one_by_one(self)
        code, node, level = events[:, 0], events[:, 1], events[:, 2]
        added = events[code == ADD]
        edges = np.ascontiguousarray(events[code == LINK, 1:3])
        writes = np.flatnonzero(code <= REVISE)
        last = np.zeros(len(added), dtype=np.int64)
        last[node[writes]] = writes  # of several values for one place numpy keeps the last
        levels, facts = added[:, 2].copy(), added[:, 8].copy()
        for column, values in ((levels, level), (facts, events[:, 8])):
            given = writes[values[writes] >= 0]
            column[node[given]] = values[given]
        final = events[last]
        rows, vectors = final[:, 6], self.columns.vectors
        in_order = np.array_equal(rows, np.arange(len(rows)))
        facts_of = {row: self._facts(row) for row in np.unique(facts).tolist()}
        return Structure(
            sealed(levels),
            sealed(final[:, 3].copy()),
            sealed(final[:, 4].copy()),
            self._texts(final[:, 5]),
            sealed(vectors[: len(rows)] if in_order else vectors[rows]),
            sealed(np.ones(len(rows), np.bool_)),
            sealed(edges),
            kind=self._texts(added[:, 7]),
            facts=tuple(map(facts_of.__getitem__, facts.tolist())),
        )

    @property
    def cost(self) -> Cost:
        """What :func:`total_cost` says of these steps."""
        return Cost(*self.columns.costs[np.array(self._places, np.int64)].sum(axis=0).tolist())

    def __iter__(self) -> Iterator[Step]:
        """One after another; none is kept."""
        return map(self._step, self._places)

    def _from_the_beginning(self) -> IntArray | None:
        """The events, where these are the first steps, nothing is taken away by them and nothing
        is wrong with them; else None."""
        places = self._places
        if not places or places[0] or places.step != 1:
            return None
        events = self.columns.events[: int(self.columns.steps[places[-1], 6])]
        code, node, child = events[:, 0], events[:, 1], events[:, 2]
        if code.max(initial=0) > LINK or not len(events):
            return None
        new = code == ADD
        known, linked = np.cumsum(new), code == LINK
        edges = np.sort(events[linked, 1].astype(np.int64) * len(events) + events[linked, 2])
        sound = (
            np.array_equal(node[new], np.arange(np.count_nonzero(new)))
            and (node < known).all()
            and (child[linked] < known[linked]).all()
            and (edges[1:] != edges[:-1]).all()
        )
        return events if sound else None

    def _texts(self, rows: IntArray) -> tuple[str, ...]:
        """The texts of these rows, every one made once."""
        wanted = np.zeros(len(self.columns.texts), dtype=np.bool_)
        wanted[rows] = True
        made = list(map(self.columns.texts.__getitem__, np.flatnonzero(wanted).tolist()))
        where = np.cumsum(wanted, dtype=np.int32)[rows] - 1
        return tuple(map(made.__getitem__, where.tolist()))


def replay(steps: Iterable[Step]) -> Structure:
    """The structure after these steps: a pure fold over their events.

    Raises ReplayError, naming the step, when an event refers to a node that is not
    there, repeats an edge, skips an id or retires a linked node.
    """
    return steps.folded if isinstance(steps, History) else _one_by_one(steps)


def total_cost(steps: Sequence[Step]) -> Cost:
    """The cost of all steps, without what depends on the run: time and answers from a cache."""
    if isinstance(steps, History):
        return steps.cost
    return Cost(**{name: sum(getattr(step.cost, name) for step in steps) for name in _COSTS})


def _one_by_one(steps: Iterable[Step]) -> Structure:
    fold = Fold()
    for number, step in enumerate(steps):
        fold.take(number, step)
    return fold.freeze()


def columns_of(steps: Iterable[Step], row: Callable[[str], int]) -> tuple[Columns, list[Vector]]:
    """The columns of a history without texts, to which ``row`` gives numbers, and without vectors,
    which come beside them: in the order of their rows, equal ones among those of the past once."""
    table, costs = list[list[int]](), list[list[int]]()
    candidates, numbers = list[list[int]](), list[list[float]]()
    taken = _Taken(row)
    for step in steps:
        taken.events.extend(map(taken.row, step.events))
        why, chosen, decision = -1, -1, step.decision
        if decision is not None:
            why, chosen = row(decision.why), -1 if decision.chosen is None else decision.chosen
            for item in decision.candidates:
                given = (item.score is not None) + 2 * (item.threshold is not None)
                candidates.append([item.node, row(item.label), given])
                numbers.append([item.score or 0.0, item.threshold or 0.0])
        costs.append([getattr(step.cost, name) for name in _COSTS])
        head = [step.unit.index, row(step.note), why, chosen, row(step.operation)]
        table.append([*head, len(candidates), len(taken.events)])
    columns = Columns(
        np.array(table, np.int32).reshape(-1, 7),
        np.array(costs, np.int64).reshape(-1, len(_COSTS)),
        np.array(candidates, np.int32).reshape(-1, 3),
        np.array(numbers, np.float64).reshape(-1, 2),
        np.array(taken.events, np.int32).reshape(-1, 9),
        np.array(taken.weights, np.float64),
        np.zeros((0, 0), np.float32),
        (),
    )
    rows, vectors = _rows(taken.vectors, taken.last)
    holds = columns.events[:, 0] <= REVISE
    columns.events[holds, 6] = rows[columns.events[holds, 6]]
    return columns, vectors


class _Taken:
    """Events as rows of numbers; ``vectors`` as they were written, ``last`` the place of the last
    one of every node."""

    def __init__(self, text: Callable[[str], int]) -> None:
        self._text = text
        self.events = list[list[int]]()
        self.weights = list[float]()
        self.vectors = list[Vector]()
        self.last = dict[int, int]()

    def row(self, event: Event) -> list[int]:
        """The row of an event, its vector told by its place in ``vectors``."""
        text = self._text
        match event:
            case Add(node, level, span, words, vector, kind, facts):
                about = [text(words), self._vector(node, vector), text(kind), self._facts(facts)]
                return [ADD, node, level, *span, *about]
            case Revise(node, span, words, vector, level, facts):
                known = -1 if facts is None else text(json.dumps(dict(facts)))
                about = [text(words), self._vector(node, vector), -1, known]
                return [REVISE, node, -1 if level is None else level, *span, *about]
            case Link(parent, child):
                return [LINK, parent, child, *[-1] * 6]
            case Unlink(parent, child):
                return [UNLINK, parent, child, *[-1] * 6]
            case Retire(node):
                return [RETIRE, node, *[-1] * 7]
            case Relate(source, target, label, weight, facts):
                self.weights.append(weight)
                place = len(self.weights) - 1
                return [RELATE, source, target, place, -1, text(label), -1, -1, self._facts(facts)]

    def _vector(self, node: int, vector: Vector) -> int:
        self.last[node] = len(self.vectors)
        self.vectors.append(vector)
        return self.last[node]

    def _facts(self, facts: Facts) -> int:
        return self._text(json.dumps(dict(facts))) if facts else -1


def _rows(written: Sequence[Vector], last: dict[int, int]) -> tuple[IntArray, list[Vector]]:
    """The row of every vector that was written, and the vectors by row."""
    final = [last[node] for node in sorted(last)]
    vectors = [written[place] for place in final]
    rows = np.full(len(written), -1, dtype=np.int32)
    rows[final] = np.arange(len(final), dtype=np.int32)
    free, known = count(len(final)), dict[bytes | int, int]()
    for place in np.flatnonzero(rows < 0).tolist():
        vector = written[place]
        if id(vector) not in known:
            content = blake2b(np.ascontiguousarray(vector, "<f4").data, digest_size=16).digest()
            if content not in known:
                known[content] = next(free)
                vectors.append(vector)
            known[id(vector)] = known[content]
        rows[place] = known[id(vector)]
    return rows, vectors


# --- any step ---------------------------------------------------------------------------------

_CACHED = 4
_CHECKPOINTS = 8
_MIN_SPACING = 1_000


class Moments:
    """The structures after any number of ``steps``, without replaying all of them.

    Readers mostly go one step on, or some steps back. So the fold of the last answer goes on from
    where it stands, and for the way back checkpoints are kept: copies of its columns that share
    texts and vectors. Holds up to eight of them (about 10 MB each at 100,000 leaves) and the last
    four structures.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        """Nothing is replayed yet."""
        self._steps = steps
        self._spacing = max(_MIN_SPACING, -(-len(steps) // _CHECKPOINTS))
        self._checkpoints: dict[int, Fold] = {0: Fold()}
        self._cursor: list[tuple[int, Fold]] = []
        self._recent: dict[int, Structure] = {}

    def at(self, step: int) -> Structure:
        """As ``replay(steps[:step])``, and with its errors."""
        # A page asks for the same few moments on every run.
        if step not in self._recent:
            self._recent[step] = self._fold_to(step)
            while len(self._recent) > _CACHED:
                del self._recent[next(iter(self._recent))]
        return self._recent[step]

    def _fold_to(self, step: int) -> Structure:
        if isinstance(self._steps, History):
            return replay(self._steps[:step])
        passed = list(self._checkpoints)
        checkpoint = max(place for place in passed if place <= step)
        # Popped while it is advanced: after an error, or from another thread, nobody finds a
        # fold between two steps. It serves if it lies between the checkpoint and `step`.
        here, fold = self._cursor.pop() if self._cursor else (checkpoint, None)
        if fold is None or not checkpoint <= here <= step:
            here, fold = checkpoint, self._checkpoints[checkpoint].copy()
        for number in range(here, step):
            fold.take(number, self._steps[number])
            if (number + 1) % self._spacing == 0 and number + 1 not in self._checkpoints:
                self._checkpoints[number + 1] = fold.copy()
        structure = fold.freeze()
        self._cursor = [(step, fold)]
        return structure
