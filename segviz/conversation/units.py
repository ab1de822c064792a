"""Divides a conversation into units, one leaf each, by a rule.

``exchange``  merges runs of one speaker inside a session, pairs consecutive runs, keeps a
              leftover run as its own unit. Nothing is lost.
``turn``      one unit per turn.
``paper``     one unit per speaker-a turn directly followed by a speaker-b turn. This
              reproduces the leaf counts of SegTreeMem (arXiv 2606.04555, App. C.2: 329
              for LoCoMo conv-47) and drops every other turn; report the count of dropped
              turns with any number obtained with it.
``session``   one unit per session.

No rule crosses a session boundary. Turns without content are never part of a unit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segviz.conversation.turns import Session


@dataclass(frozen=True, slots=True)
class Unit:
    """Content of one leaf.

    ``index`` is the 0-based position of the unit in the conversation, ``session`` that of its
    session, ``text`` one ``Speaker: words`` line per turn, ``time`` that of its first turn
    (``Session.times``), None if unknown.
    """

    index: int
    turn_ids: tuple[str, ...]
    session: int
    text: str
    time: datetime | None = None

    @property
    def days(self) -> tuple[date, ...]:
        """Day of ``time``; () if unknown."""
        return () if self.time is None else (self.time.date(),)


IntArray = NDArray[np.int32]
Rule = Callable[[IntArray, IntArray, tuple[int, int]], IntArray]
"""Function of the turns with content: the session and the speaker of each, int32 (n,), and the
numbers of speakers a and b (-1 for none). Returns the first turn and one past the last of every
unit."""


def _exchanges(session: IntArray, speaker: IntArray, named: tuple[int, int]) -> IntArray:
    """Returns [start, stop) of each unit: two runs of turns by one speaker each."""
    begins = (np.diff(session, prepend=-1) != 0) | (np.diff(speaker, prepend=-1) != 0)
    runs = np.flatnonzero(begins)
    # Runs are numbered from 0 in every session; even ones begin a unit.
    of_session = np.searchsorted(session[runs], session[runs])
    first = runs[(np.arange(len(runs)) - of_session) % 2 == 0]
    return np.column_stack([first, np.append(first, len(session))[1:]]).astype(np.int32)


def _single_turns(session: IntArray, speaker: IntArray, named: tuple[int, int]) -> IntArray:
    first = np.arange(len(session), dtype=np.int32)
    return np.column_stack([first, first + 1])


def _paper_pairs(session: IntArray, speaker: IntArray, named: tuple[int, int]) -> IntArray:
    """Returns [start, stop) of each turn of the first speaker that the second answers."""
    a, b = named
    first = np.flatnonzero(
        (speaker[:-1] == a) & (speaker[1:] == b) & (session[:-1] == session[1:])
    ).astype(np.int32)
    return np.column_stack([first, first + 2])


def _sessions(session: IntArray, speaker: IntArray, named: tuple[int, int]) -> IntArray:
    first = np.flatnonzero(np.diff(session, prepend=-1) != 0)
    return np.column_stack([first, np.append(first, len(session))[1:]]).astype(np.int32)


UNIT_RULES: dict[str, Rule] = {
    "exchange": _exchanges,
    "turn": _single_turns,
    "paper": _paper_pairs,
    "session": _sessions,
}


def bounds(
    session: ArrayLike, speaker: Sequence[Hashable], speakers: Sequence[Hashable], rule: str
) -> IntArray:
    """Returns the first turn and one past the last of every unit, int32 (units, 2).

    Args:
        session: session of each turn with content, ascending.
        speaker: speaker of each of these turns.
        speakers: the declared speakers (a, b, …); only ``paper`` uses them.
        rule: a name from ``UNIT_RULES``.

    Raises:
        ValueError: the rule is unknown; lists the legal ones.
    """
    if rule not in UNIT_RULES:
        raise ValueError(f"unknown unit rule {rule!r}; choose one of {', '.join(UNIT_RULES)}")
    number = {name: place for place, name in enumerate(dict.fromkeys(speaker))}
    codes = np.fromiter(map(number.__getitem__, speaker), np.int32, len(speaker))
    a, b, *_ = (*(number.get(name, -1) for name in speakers[:2]), -1, -1)
    return UNIT_RULES[rule](np.asarray(session, np.int32), codes, (a, b))


def cut(sessions: Sequence[Session], speakers: Sequence[str], rule: str) -> tuple[Unit, ...]:
    """Returns the units of all sessions, in order; arguments as in :func:`bounds`."""
    turns = [
        (i, turn, time)
        for i, session in enumerate(sessions)
        for turn, time in zip(session.turns, session.times, strict=True)
        if turn.content
    ]
    spans = bounds([i for i, _, _ in turns], [turn.speaker for _, turn, _ in turns], speakers, rule)
    units: list[Unit] = []
    for first, last in spans.tolist():
        session, _, time = turns[first]
        group = [turn for _, turn, _ in turns[first:last]]
        units.append(
            Unit(
                index=len(units),
                turn_ids=tuple(turn.id for turn in group),
                session=session,
                text="\n".join(turn.spoken for turn in group),
                time=time,
            )
        )
    return tuple(units)
