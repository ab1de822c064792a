"""Leaves out of a view what its conversation says, and keeps structure, steps and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from segviz.construct import TITLE
from segviz.conversation import Conversation, Question, Session, Turn
from segviz.export.view import View
from segviz.memory import Memory
from segviz.retrieval import GoldEvidence
from segviz.tree import Add, Event, Facts, Relate, Revise, Step, Structure


def without_texts(view: View) -> View:
    """Returns the view without texts, names, times, ids and vectors of its conversation.

    Turns, texts, nodes and questions are numbered instead; equal texts have equal numbers. What a
    system knows of a node, its typed relations and the wording of decisions are left out. Scores
    stay in the view; they cannot be computed again from what is left.
    """
    memory = view.memory
    conversation = _numbered(memory.conversation)
    # A leaf has the text of its unit, now as before.
    bare = replace(memory, conversation=conversation, provenance={}, built_with=None)
    pairs = zip(memory.units, bare.units, strict=True)
    number = _Numbers((old.text, new.text) for old, new in pairs)
    bare = replace(bare, steps=tuple(_step(step, bare, number) for step in memory.steps))
    structure, result = _structure(view.structure, number), view.result
    gold = GoldEvidence((), (), {})
    if result is not None:
        turns = _turns(memory.conversation)
        asked = view.question
        result = replace(
            result,
            question="question" if asked is None else conversation.questions[asked.index].text,
            structure=structure,
            evidence=tuple(
                replace(each, text=number[each.text], turn_ids=_known(each.turn_ids, turns))
                for each in result.evidence
            ),
            stages=(),
            scorer=None,
        )
        # Which texts quote or answer a gold turn cannot be seen any more.
        gold = GoldEvidence(
            _known(view.gold.turns, turns),
            view.gold.leaves,
            {node: _known(ids, turns) for node, ids in view.gold.by_node.items()},
            {node: _known(ids, turns) for node, ids in view.gold.answers.items()},
            later=frozenset(_known(view.gold.later, turns)),
        )
    # The names of files, and what was typed.
    link = replace(view.bookmark, sample=None, path=None, upload=None, conversation=None)
    link = replace(link, text=None, controls={})
    return View(bare, structure, link, result, known_gold=gold)


def _turns(conversation: Conversation) -> dict[str, str]:
    """Returns the number of each turn by its id."""
    return {turn.id: str(number) for number, turn in enumerate(conversation.turns, 1)}


def _known(ids: Iterable[str], turns: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(turns.get(one, "typed") for one in ids)


class _Numbers(dict[str, str]):
    """Numbers of texts in the order of their first use; an empty text stays empty."""

    def __missing__(self, text: str) -> str:
        self[text] = f"text {len(self) + 1}" if text else ""
        return self[text]


def _numbered(conversation: Conversation) -> Conversation:
    """Returns a conversation with numbers for its ids, names and texts."""
    turns = _turns(conversation)
    speakers: dict[str, str] = {}
    for name in (*conversation.speakers, *(turn.speaker for turn in conversation.turns)):
        speakers.setdefault(name, f"speaker {len(speakers) + 1}")

    def turn(old: Turn) -> Turn:
        # A turn without content belongs to no unit, now as before.
        text = f"turn {turns[old.id]}" if old.content else ""
        return Turn(turns[old.id], speakers[old.speaker], text)

    def question(old: Question) -> Question:
        return Question(
            index=old.index,
            text=f"question {old.index + 1}",
            answer=None,
            category=old.category,
            evidence=_known(old.evidence, turns),
            asked_at=turns.get(old.asked_at or ""),
        )

    return replace(
        conversation,
        id="conversation",
        speakers=tuple(speakers[name] for name in conversation.speakers),
        sessions=tuple(
            Session(str(number), None, "", tuple(map(turn, old.turns)))
            for number, old in enumerate(conversation.sessions, 1)
        ),
        questions=tuple(map(question, conversation.questions)),
        observations=(),
    )


def _step(step: Step, bare: Memory, number: _Numbers) -> Step:
    """Returns a step of the numbered memory ``bare``."""
    old = step.unit
    # Typed turns are units that the conversation does not have.
    known = old.index < len(bare.units)
    unit = bare.units[old.index] if known else replace(old, text=number[old.text], time=None)
    why = step.decision and replace(step.decision, why="")
    return replace(
        step,
        unit=unit,
        note="",
        decision=why,
        events=tuple(_event(event, number) for event in step.events),
    )


def _event(event: Event, number: _Numbers) -> Event:
    """Returns an event with numbers for its texts, without vectors and facts."""
    if isinstance(event, Relate):
        return replace(event, label="", facts={})
    if not isinstance(event, Add | Revise):
        return event
    text, vector = number[event.text], np.zeros_like(event.vector)
    return replace(event, text=text, vector=vector, facts=_title(event.node))


def _title(node: int) -> Facts:
    return {TITLE: f"node {node}"}


def _structure(old: Structure, number: _Numbers) -> Structure:
    """Returns a structure with numbers for its texts, without vectors, facts and relations."""
    return replace(
        old,
        text=tuple(number[text] for text in old.text),
        vector=np.zeros_like(old.vector),
        facts=tuple(_title(node) for node in range(len(old))),
        relations=tuple(replace(one, label="", facts={}) for one in old.relations),
    )
