"""Questions that stand at a moment of the conversation, against a conversation cut there."""

from dataclasses import replace
from functools import cache

import pytest

import segviz
from segviz.conversation import Conversation, Question, reordered
from segviz.embedding import HashingEmbedder
from segviz.export import FORMATS, view_of
from segviz.retrieval import RELEVANCE, RetrievalSettings
from segviz.retrieval.gold import LATER
from segviz.systems import SYSTEMS
from segviz.tree import Step
from tests.memories import KINDS
from tests.systems.test_contract import OWN, talk
from tests.trees import chat

EMBEDDER = HashingEmbedder()
TEXT = "What did the red bicycle cost?"


def built(conversation, system="segment-tree", unit="turn", **settings):
    return segviz.build(conversation, system, unit, embedder=EMBEDDER, **settings)


@cache
def whole(system):
    return built(talk(3, 4), system)


def asked_at(turn_id: str | None, evidence: tuple[str, ...] = ()) -> Question:
    return Question(0, TEXT, None, None, evidence, asked_at=turn_id)


def cut(conversation: Conversation, turn_id: str) -> Conversation:
    """What was said before this turn."""
    sessions, known = [], True
    for session in conversation.sessions:
        said = []
        for turn in session.turns:
            known = known and turn.id != turn_id
            said += [turn] if known else []
        sessions += [replace(session, turns=tuple(said))] if said else []
    return replace(conversation, sessions=tuple(sessions), questions=())


@pytest.mark.parametrize("unit", ["turn", "exchange"])
def test_where_units_have_moved_as_many_are_known(unit):
    """Questions stay at their places: what is heard there is another order of as many units."""
    conversation = talk(3, 4)
    plain, moved = built(conversation, unit=unit), built(reordered(conversation, 0.6, 1), unit=unit)
    assert [unit.text for unit in plain.units] != [unit.text for unit in moved.units]
    for turn in conversation.turns:
        question = asked_at(turn.id)
        assert moved.moment(question) == plain.moment(question)


def methods(system):
    return ("propagate", "native") if system in OWN else ("propagate",)


@pytest.mark.parametrize("system", KINDS)
def test_the_evidence_is_that_of_the_conversation_cut_before_the_turn(system):
    """For online systems exactly. RAPTOR takes the cut for the end of a session and summarises
    what the whole memory still waits with, so the two agree where a session has ended."""
    memory = whole(system)
    for session in memory.conversation.sessions:
        for turn in session.turns[:: 3 if SYSTEMS[system].online else 99]:
            past = built(cut(memory.conversation, turn.id), system)
            for method in methods(system):
                now = memory.ask(asked_at(turn.id), method=method)
                then = past.ask(TEXT, method=method)
                assert now.settings.step == len(past.steps)
                assert now.evidence == then.evidence


@pytest.mark.parametrize("system", KINDS)
@pytest.mark.parametrize("relevance", RELEVANCE)
def test_a_memory_that_knows_nothing_yet_gives_nothing(system, relevance):
    memory = whole(system)
    question = asked_at("D1:1", ("D1:1",))
    for method in methods(system):
        result = memory.ask(question, method=method, relevance=relevance)
        assert (result.settings.step, len(result.structure), result.evidence) == (0, 0, ())
    gold = memory.gold(question.evidence, result.structure)
    assert gold.fate(result.evidence) == {"D1:1": LATER}


@pytest.mark.parametrize("name", [name for name, each in FORMATS.items() if not each.needs_browser])
def test_a_view_of_nothing_yet_can_be_exported(name):
    memory = whole("segment-tree")
    talked = replace(memory.conversation, questions=(asked_at("D1:1"),))
    view = view_of(replace(memory, conversation=talked), number=0)
    offer = FORMATS[name]
    assert dict(view.setting)["After step"] == "0 of 24, before D1:1"
    assert isinstance(offer.make(view), str | bytes)


def test_a_named_step_and_a_text_are_asked_as_before():
    memory = whole("segment-tree")
    question = asked_at("D2:3")
    total = len(memory.steps)
    assert memory.ask(question, step=3).evidence == memory.ask(TEXT, step=3).evidence
    assert memory.ask(question, RetrievalSettings(step=total)).settings.step == total
    assert memory.ask(question, step=total).evidence == memory.ask(TEXT).evidence
    assert memory.ask(TEXT).settings.step is None


@pytest.mark.parametrize("turn_id", [None, "D9:9", ""])
def test_no_moment_means_the_whole_conversation(turn_id):
    memory = whole("segment-tree")
    question = asked_at(turn_id)
    assert memory.moment(question) is None
    result = memory.ask(question)
    assert result.settings.step is None
    assert result.evidence == memory.ask(TEXT).evidence


def test_a_unit_that_mixes_turns_before_and_after_is_not_known():
    talked = chat([[("Ada", "One."), ("Ben", "Two."), ("Ada", "Three."), ("Ben", "Four.")]])
    memory = built(talked, unit="exchange")
    assert [unit.turn_ids for unit in memory.units] == [("D1:1", "D1:2"), ("D1:3", "D1:4")]
    moments = {turn.id: memory.moment(asked_at(turn.id)) for turn in talked.turns}
    assert moments == {"D1:1": 0, "D1:2": 0, "D1:3": 1, "D1:4": 1}
    result = memory.ask(asked_at("D1:4"))
    gold = memory.gold(("D1:3",), result.structure)
    assert gold.fate(result.evidence) == {"D1:3": LATER}


def test_a_turn_that_no_unit_holds_is_a_moment_too():
    talked = chat([[("Ada", "One."), ("Ben", "Two."), ("Ben", ""), ("Ada", "Three.")]])
    memory = built(talked)
    assert memory.moment(asked_at("D1:3")) == 2
    assert memory.moment(asked_at("D1:4")) == 2


def test_steps_of_operations_are_not_known():
    """Files of earlier versions have them after the last unit."""
    memory = whole("segment-tree")
    operation = Step(memory.units[-1], "", None, (), operation="compress")
    changed = replace(memory, steps=(*memory.steps, operation))
    for turn in memory.conversation.turns:
        question = asked_at(turn.id)
        assert changed.moment(question) == memory.moment(question)
        assert changed.ask(question).evidence == memory.ask(question).evidence


def test_texts_written_late_are_written_for_the_moment():
    memory = built(talk(3, 4), refresh="lazy")
    result = memory.ask(asked_at("D3:1"))
    assert memory.pending(16)
    assert not memory.pending(len(memory.steps))
    assert result.structure is memory.settled(16).collapsed
    assert memory.ask(asked_at("D1:1")).evidence == ()
    # A text that a person put on a node is never late.
    before, late = memory.at(16), memory.pending(16)
    spans = {node: (int(before.start[node]), int(before.stop[node])) for node in late}
    spans = {node: span for node, span in spans.items() if span[1] - span[0] > 1}
    by_hand = memory.with_texts(dict.fromkeys(spans.values(), ("Title", "Text.")), partly=True)
    assert {by_hand.settled(16).text[node] for node in spans} == {"Text."}
    assert {*by_hand.pending(16)} == {*late} - {*spans}
