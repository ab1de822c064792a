"""A history as columns, and the replay of any history to its end or to any step.

A step of a :class:`History` is created on access. A build writes a :class:`Record`; the columns are
the tables of a memory file.

Columns (s steps, c candidates, e events, w weights, r vectors). Texts are stored as their row in
``texts``; -1 means None:

============ =============== ======================================================================
steps        int32 (s, 7)    unit, note, why and chosen of the decision (why -1: none), operation;
                             one past its last candidate and event
costs        int64 (s, 10)   calls, tokens, annotated, inspected, modified, output, decided,
                             decided_instead, written, written_instead
candidates   int32 (c, 3)    node, label, which numbers are present (1 score, 2 threshold)
numbers      float64 (c, 2)  score, threshold; 0 where absent
events       int32 (e, 9)    code, then of ``Add``: node, level, start, stop, text, vector, kind,
                             facts; ``Revise``: node, level, start, stop, text, vector, -1, facts;
                             ``Link``, ``Unlink``: parent, child; ``Retire``: node; ``Relate``:
                             source, target, weight (its row), -1, label, -1, -1, facts
weights      float64 (w,)    of relations
vectors      float32 (r, d)  or a list of rows
clock        float64 (s, 2)  seconds and answers from a cache, of a build in this process only
============ =============== ======================================================================

Facts are texts in JSON.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

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
from segviz.tree.replayer import Replayer
from segviz.tree.structure import IntArray, Structure

ADD, REVISE, LINK, UNLINK, RETIRE, RELATE = range(6)
COSTS = (
    "calls tokens annotated inspected modified output "
    "decided decided_instead written written_instead"
).split()
"""Fields of a step's cost that are stored."""
_costs_of = attrgetter(*COSTS)


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a history; see the top of this module."""

    steps: IntArray
    costs: NDArray[np.int64]
    candidates: IntArray
    numbers: NDArray[np.float64]
    events: IntArray
    weights: NDArray[np.float64]
    vectors: Vector | list[Vector]
    texts: Sequence[str]
    clock: NDArray[np.float64] | None = None


class History(Lazy[Step]):
    """Sequence of steps that are created from columns on access.

    ``units`` returns the units that the steps refer to; it is called when a step is created.
    Everything else works as on a tuple of steps. A slice is a History, too.
    """

    def __init__(
        self, columns: Columns, units: Callable[[], Sequence[Unit]], places: range | None = None
    ) -> None:
        """Refers to all steps of the columns, or to those at ``places``. Reads nothing yet."""
        super().__init__(self._step, range(len(columns.steps)) if places is None else places)
        self.columns = columns
        self._units = units

    def _at(self, places: range) -> History:
        return History(self.columns, self._units, places)

    def _step(self, index: int) -> Step:
        steps, text = self.columns.steps, self.columns.texts
        unit, note, why, chosen, operation, last_candidate, last = steps[index].tolist()
        # A step's candidates and events are those between the previous step's ends and its own.
        first_candidate, first = steps[index - 1, 5:].tolist() if index else (0, 0)
        decision = None
        if why >= 0:
            judged = map(self._candidate, range(first_candidate, last_candidate))
            decision = Decision(tuple(judged), None if chosen < 0 else chosen, text[why])
        clock = self.columns.clock
        seconds, cached = (0.0, 0) if clock is None else clock[index].tolist()
        costs = [*self.columns.costs[index].tolist(), seconds, int(cached)]
        return Step(
            self._units()[unit],
            text[note],
            decision,
            tuple(map(self._event, range(first, last))),
            Cost(*costs),
            text[operation],
        )

    def _candidate(self, row: int) -> Judgement:
        node, label, given = self.columns.candidates[row].tolist()
        score, threshold = self.columns.numbers[row].tolist()
        known = score if given & 1 else None, threshold if given & 2 else None
        return Judgement(node, *known, self.columns.texts[label])

    def _event(self, row: int) -> Event:
        """Returns the event in a row; the columns mean different things for each kind."""
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
        if code == RETIRE:
            return Retire(node)
        return Link(node, other) if code == LINK else Unlink(node, other)

    def _facts(self, row: int) -> Facts:
        return {} if row < 0 else dict(json.loads(self.columns.texts[row]))

    @property
    def whole(self) -> bool:
        """True if this history has all steps of its columns, in their order."""
        return self._places == range(len(self.columns.steps))

    @property
    def costs(self) -> dict[str, NDArray[Any]]:
        """Costs of the steps of this history; see :func:`costs_of`."""
        places, clock = np.array(self._places, np.int64), self.columns.clock
        run = np.zeros((len(places), 2)) if clock is None else clock[places]
        counted = zip(COSTS, self.columns.costs[places].T, strict=True)
        return {**dict(counted), "seconds": run[:, 0], "cached": run[:, 1].astype(np.int64)}

    def __iter__(self) -> Iterator[Step]:
        """Yields one step after another, without keeping any."""
        return map(self._step, self._places)

    def __eq__(self, other: object) -> bool:
        """Returns True for a history of the same columns and places; steps are made anew."""
        if isinstance(other, History):
            return (self.columns, self._places) == (other.columns, other._places)
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash((id(self.columns), self._places))


def replay(steps: Iterable[Step]) -> Structure:
    """Returns the structure after these steps: a pure fold over their events.

    Args:
        steps: the history from its first step.

    Returns:
        The memory after the last step.

    Raises:
        ReplayError: an event refers to a node that does not exist, repeats an edge, skips an id or
            retires a linked node. The message names the step.
    """
    fold = Replayer()
    for number, step in enumerate(steps):
        fold.take(number, step)
    return fold.freeze()


def total_cost(steps: Sequence[Step]) -> Cost:
    """Sums the costs of all steps, without those of the run: seconds and cached answers."""
    costs = costs_of(steps)
    return Cost(**{name: int(costs[name].sum()) for name in COSTS})


def costs_of(steps: Sequence[Step]) -> dict[str, NDArray[Any]]:
    """Returns the costs of the steps by the names of :class:`Cost`, int64 (s,); seconds float64."""
    history = steps if isinstance(steps, History) else History(columns_of(steps), tuple)
    return history.costs


class Record:
    """A history that is being written: numbers, texts and vectors of one step after another.

    It does not keep the steps themselves: Python's collector visits every object again and again.
    With the objects of 100,000 steps that took a sixth of the build's time.
    """

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._steps, self._candidates, self._events = array("i"), array("i"), array("i")
        self._costs, self._clock = array("q"), array("d")
        self._numbers, self._weights = array("d"), array("d")
        self._vectors = list[Vector]()

    def take(self, step: Step) -> None:
        """Appends one step.

        Raises:
            TypeError, OverflowError: a number or fact does not fit into a file (32 bits; plain
                JSON).
        """
        text, decision, cost = self._text, step.decision, step.cost
        events, candidates, numbers = list[int](), list[int](), list[float]()
        for event in step.events:
            events += self._event(event)
        why, chosen = -1, -1
        if decision is not None:
            why, chosen = text(decision.why), -1 if decision.chosen is None else decision.chosen
            for item in decision.candidates:
                score, threshold = item.score, item.threshold
                # Two bits, because 0.0 is a legal score and must differ from a missing one.
                given = (score is not None) + 2 * (threshold is not None)
                candidates += item.node, text(item.label), given
                numbers += score or 0.0, threshold or 0.0
        # ``fromlist`` appends the whole list or nothing, so an error leaves no half step.
        self._events.fromlist(events)
        self._candidates.fromlist(candidates)
        self._numbers.fromlist(numbers)
        self._costs.fromlist([*_costs_of(cost)])
        self._clock.fromlist([cost.seconds, cost.cached])
        ends = len(self._candidates) // 3, len(self._events) // 9
        head = step.unit.index, text(step.note), why, chosen, text(step.operation)
        self._steps.fromlist([*head, *ends])

    def history(self, units: Sequence[Unit]) -> History:
        """Returns the steps recorded so far as a history; recording more does not change it."""
        steps = np.array(self._steps, np.int32).reshape(-1, 7)
        candidates, events = steps[-1, 5:].tolist() if len(steps) else (0, 0)
        columns = Columns(
            steps,
            np.array(self._costs, np.int64).reshape(-1, len(COSTS))[: len(steps)],
            np.array(self._candidates, np.int32).reshape(-1, 3)[:candidates],
            np.array(self._numbers, np.float64).reshape(-1, 2)[:candidates],
            np.array(self._events, np.int32).reshape(-1, 9)[:events],
            np.array(self._weights, np.float64),
            self._vectors.copy(),
            tuple(self._rows),
            np.array(self._clock, np.float64).reshape(-1, 2)[: len(steps)],
        )
        return History(columns, partial(tuple, tuple(units)))  # unlike a lambda, can be pickled

    def _text(self, text: str) -> int:
        return self._rows.setdefault(text, len(self._rows))

    def _event(self, event: Event) -> Iterable[int]:
        """Returns the row of an event; its vector is stored as its index in ``vectors``."""
        match event:
            case Revise(node, span, words, vector, level, facts):
                about = self._text(words), self._vector(vector)
                known = -1 if facts is None else self._text(json.dumps(dict(facts)))
                return REVISE, node, -1 if level is None else level, *span, *about, -1, known
            case Add(node, level, span, words, vector, kind, facts):
                about = self._text(words), self._vector(vector)
                return ADD, node, level, *span, *about, self._text(kind), self._facts(facts)
            case Link(parent, child):
                return LINK, parent, child, -1, -1, -1, -1, -1, -1
            case Unlink(parent, child):
                return UNLINK, parent, child, -1, -1, -1, -1, -1, -1
            case Retire(node):
                return RETIRE, node, -1, -1, -1, -1, -1, -1, -1
            case Relate(source, target, label, weight, facts):
                self._weights.append(weight)
                place, known = len(self._weights) - 1, self._facts(facts)
                return RELATE, source, target, place, -1, self._text(label), -1, -1, known

    def _vector(self, vector: Vector) -> int:
        self._vectors.append(vector)
        return len(self._vectors) - 1

    def _facts(self, facts: Facts) -> int:
        return self._text(json.dumps(dict(facts))) if facts else -1


def columns_of(steps: Iterable[Step]) -> Columns:
    """Returns the columns of any history."""
    if isinstance(steps, History) and steps.whole:
        return steps.columns
    record = Record()
    for step in steps:
        record.take(step)
    return record.history(()).columns


# --- any step ---------------------------------------------------------------------------------

_KEPT = 4


class Moments:
    """Cache of the structures after any number of ``steps``.

    Readers mostly go one step forward or back. The last four structures are cached, and the last
    replay continues from where it is. An earlier step is replayed from the first.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        """Refers to the steps; replays nothing yet."""
        self._steps = steps
        self._folds: list[tuple[int, Replayer]] = []
        self._recent: dict[int, Structure] = {}

    def at(self, step: int) -> Structure:
        """Returns the structure after ``step`` steps; raises ReplayError as :func:`replay` does."""
        # A page asks for the same few moments on every run.
        if step not in self._recent:
            # Popped while it advances: after an error, or in another thread, no caller gets a
            # replayer between two steps.
            here, fold = self._folds.pop() if self._folds else (0, Replayer())
            # Events cannot be undone, so an earlier step starts again from nothing.
            if here > step:
                here, fold = 0, Replayer()
            for number in range(here, step):
                fold.take(number, self._steps[number])
            self._recent[step] = fold.freeze()
            self._folds = [(step, fold)]
            while len(self._recent) > _KEPT:
                del self._recent[next(iter(self._recent))]
        return self._recent[step]
