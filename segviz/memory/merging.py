"""Merges two memories of one system, for systems that can join them.

No unit is inserted again: the system takes over the second memory's nodes and writes anew only
the nodes that both memories contribute to (MemForest, arXiv 2605.23986, §4.4).
"""

from __future__ import annotations

from dataclasses import replace

from segviz.construct import JOIN, Joins
from segviz.conversation import Conversation
from segviz.llm import Chat
from segviz.memory.memory import Memory


def merge(one: Memory, other: Memory, *, chat: Chat | None = None) -> Memory:
    """The memory ``one`` followed by ``other``, joined by one more step.

    Its conversation is :func:`joined`, its settings those of ``one``; ``chat`` is for parts of the
    system that need one. Raises ValueError where the system cannot join memories, where they differ
    in system, rule for units or embedder, or where one is unfinished.
    """
    system = one.model
    if not isinstance(system, Joins):
        raise ValueError(
            f"the system {one.system!r} cannot join two memories; build both with one that can, "
            "such as 'memforest'"
        )
    for what in ("system", "unit"):
        mine, theirs = getattr(one, what), getattr(other, what)
        if mine != theirs:
            raise ValueError(
                f"the memories differ in their {what}: {mine!r} and {theirs!r}; build one anew"
            )
    if one.embedder.name != other.embedder.name:
        raise ValueError(
            f"the memories were embedded differently, by {one.embedder.name!r} and "
            f"{other.embedder.name!r}"
        )
    for memory in (one, other):
        last = max((s.unit.index for s in memory.steps if s.operation in ("", JOIN)), default=-1)
        if not memory.units or last + 1 < len(memory.units):
            raise ValueError(
                f"the memory of {memory.conversation.id!r} has heard {last + 1} of its "
                f"{len(memory.units)} units; only finished ones can be joined"
            )
    conversation = joined(one.conversation, other.conversation)
    units = conversation.units(one.unit)
    later = units[len(one.units) :]
    said, heard = ([unit.text for unit in each] for each in (later, other.units))
    if units[: len(one.units)] != one.units or said != heard:
        raise ValueError(
            f"the rule {one.unit!r} cuts the joined conversation in other places than its "
            "parts; build both with 'exchange' or 'turn'"
        )
    step = system.join(one.view(chat=chat), replace(other.view(chat=chat), units=later))
    return replace(one, conversation=conversation, steps=(*one.steps, step))


def joined(one: Conversation, other: Conversation) -> Conversation:
    """Two conversations as one: the sessions and questions of ``other`` follow.

    The ids of its turns and sessions get its own id and a colon in front (with ``#2`` … in
    between where that would repeat an id), so that all ids are distinct.
    """
    taken = {turn.id for turn in one.turns} | {session.id for session in one.sessions}
    own = {turn.id for turn in other.turns} | {session.id for session in other.sessions}
    prefix, count = f"{other.id}:", 1
    while any(prefix + name in taken for name in own):
        count += 1
        prefix = f"{other.id}#{count}:"
    sessions = (
        replace(s, id=prefix + s.id, turns=tuple(replace(t, id=prefix + t.id) for t in s.turns))
        for s in other.sessions
    )
    questions = (
        replace(
            q,
            index=q.index + len(one.questions),
            evidence=tuple(prefix + turn for turn in q.evidence),
            asked_at=None if q.asked_at is None else prefix + q.asked_at,
        )
        for q in other.questions
    )
    return Conversation(
        id=f"{one.id}+{other.id}",
        speakers=tuple(dict.fromkeys((*one.speakers, *other.speakers))),
        sessions=(*one.sessions, *sessions),
        questions=(*one.questions, *questions),
        source_format=one.source_format if one.source_format == other.source_format else "segviz",
    )
