"""Cuts a conversation into units, one leaf each, by a rule.

``exchange``  merge runs of one speaker inside a session, pair consecutive runs, keep a
              leftover run as its own unit. Nothing is lost.
``turn``      one unit per turn.
``paper``     one unit per speaker-a turn directly followed by a speaker-b turn. This
              reproduces the leaf counts of SegTreeMem (arXiv 2606.04555, App. C.2: 329
              for LoCoMo conv-47) and drops every other turn; the count of dropped turns
              belongs beside any number obtained with it.

No rule crosses a session boundary. Turns without content are never part of a unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise

from segviz.conversation.turns import Session, Turn


@dataclass(frozen=True, slots=True)
class Unit:
    """The content of one leaf.

    ``index`` is the position in the conversation (0-based, dense), ``session`` the
    0-based position of its session, ``text`` one ``Speaker: words`` line per turn,
    ``time`` the start of the session where known.
    """

    index: int
    turn_ids: tuple[str, ...]
    session: int
    text: str
    time: datetime | None = None


Group = Sequence["Turn"]
Rule = Callable[[Sequence["Turn"], Sequence[str]], "list[Group]"]


def _exchanges(turns: Sequence[Turn], speakers: Sequence[str]) -> list[Group]:
    runs = [list(run) for _, run in groupby(turns, key=lambda turn: turn.speaker)]
    return [[turn for run in runs[i : i + 2] for turn in run] for i in range(0, len(runs), 2)]


def _single_turns(turns: Sequence[Turn], speakers: Sequence[str]) -> list[Group]:
    return [[turn] for turn in turns]


def _paper_pairs(turns: Sequence[Turn], speakers: Sequence[str]) -> list[Group]:
    if len(speakers) < 2:
        return []
    first, second = speakers[:2]
    return [[a, b] for a, b in pairwise(turns) if a.speaker == first and b.speaker == second]


UNIT_RULES: dict[str, Rule] = {
    "exchange": _exchanges,
    "turn": _single_turns,
    "paper": _paper_pairs,
}


def cut(sessions: Sequence[Session], speakers: Sequence[str], rule: str) -> tuple[Unit, ...]:
    """Units of all sessions, in order.

    ``speakers`` are the conversation's declared speakers (a, b, …); only ``paper``
    looks at them. Raises ValueError naming the legal rules for an unknown ``rule``.
    """
    if rule not in UNIT_RULES:
        raise ValueError(f"unknown unit rule {rule!r}; choose one of {', '.join(UNIT_RULES)}")
    units: list[Unit] = []
    for position, session in enumerate(sessions):
        spoken = [turn for turn in session.turns if turn.content]
        for group in UNIT_RULES[rule](spoken, speakers):
            units.append(
                Unit(
                    index=len(units),
                    turn_ids=tuple(turn.id for turn in group),
                    session=position,
                    text="\n".join(f"{turn.speaker}: {turn.content}" for turn in group),
                    time=session.start,
                )
            )
    return tuple(units)
