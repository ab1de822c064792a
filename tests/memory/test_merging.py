"""Two memories as one: what is there afterwards, and what cannot be joined."""

from __future__ import annotations

from dataclasses import replace

import pytest

import segviz
from segviz.contract import trace
from segviz.conversation import sample_path
from segviz.embedding import HashingEmbedder
from segviz.memory import Absent
from segviz.memory.merging import joined
from tests.trees import chat, small_chat

GARDEN = [
    [("Ana", "I painted the fence in the garden."), ("Ben", "Which colour?")],
    [("Ana", "Green, like the boat."), ("Ben", "The boat sank in May.")],
]


def built(conversation, system="memforest", **settings):
    return segviz.build(conversation, system, embedder=HashingEmbedder(), **settings)


def garden(name="garden"):
    return replace(chat(GARDEN), id=name)


class TestConversation:
    def test_every_turn_once_and_evidence_where_it_was(self):
        one, other = (segviz.load(sample_path(name))[0] for name in ("ines-theo", "noor-caleb"))
        whole = joined(one, other)
        ids = [turn.id for turn in whole.turns]
        assert len(ids) == len(set(ids)) == len(one.turns) + len(other.turns)
        assert [t.text for t in whole.turns] == [t.text for t in (*one.turns, *other.turns)]
        assert [q.index for q in whole.questions] == list(range(len(whole.questions)))
        for question in whole.questions[len(one.questions) :]:
            before = other.questions[question.index - len(one.questions)]
            said = [whole.turn(turn).text for turn in question.evidence]
            assert said == [other.turn(turn).text for turn in before.evidence]

    def test_itself_twice_over(self):
        one = garden()
        thrice = joined(joined(one, one), one)
        ids = [turn.id for turn in thrice.turns]
        assert len(set(ids)) == len(ids) == 3 * len(one.turns)
        assert len({session.id for session in thrice.sessions}) == 3 * len(one.sessions)
        assert thrice.speakers == one.speakers


class TestMerge:
    def test_the_joined_memory_holds_both(self):
        one, other = built(small_chat()), built(garden())
        whole = segviz.merge(one, other)
        assert whole.check() == []
        assert [*map(trace, whole.steps[:-1])] == [*map(trace, one.steps)]
        assert len(whole.steps) == len(one.steps) + 1
        assert [u.text for u in whole.units] == [u.text for u in (*one.units, *other.units)]
        leaves = [whole.structure.text[leaf] for leaf in whole.structure.leaves]
        assert leaves == [unit.text for unit in whole.units]
        sessions = {
            whole.structure.facts[n]["scope"]
            for n in whole.structure.roots
            if whole.structure.kind[n] == "session"
        }
        assert sessions == {str(unit.session) for unit in whole.units}

    def test_evidence_names_the_turns_of_the_second(self):
        whole = segviz.merge(built(small_chat()), built(garden()))
        found = whole.ask("What happened to the boat?", method="own")
        turns = [turn for item in found.evidence for turn in item.turn_ids]
        assert any(turn.startswith("garden:") for turn in turns)
        assert {turn.id for turn in whole.conversation.turns}.issuperset(turns)

    def test_sessions_without_units_keep_their_number(self):
        one = chat([[("Ana", "I painted the fence.")], [("Ana", " ")]])
        whole = segviz.merge(built(one), built(garden()))
        assert whole.check() == []
        assert [u.session for u in whole.units] == [0, 2, 3]
        step = whole.operate("delete_session", session=2)
        assert len(step.structure.leaves) == 2

    def test_a_third_one_and_a_file(self, tmp_path):
        whole = segviz.merge(segviz.merge(built(small_chat()), built(garden())), built(garden()))
        assert whole.check() == []
        path = tmp_path / "joined.json"
        whole.save(path)
        again = segviz.open(path, embedder=HashingEmbedder())
        assert again.structure.text == whole.structure.text
        assert again.units == whole.units

    def test_what_cannot_be_joined(self):
        one = built(small_chat())
        with pytest.raises(ValueError, match="cannot join"):
            segviz.merge(built(garden(), "bm25"), built(garden(), "bm25"))
        with pytest.raises(ValueError, match="differ in their system"):
            segviz.merge(one, built(garden(), "bm25"))
        with pytest.raises(ValueError, match="differ in their unit"):
            segviz.merge(one, built(garden(), unit="turn"))
        with pytest.raises(ValueError, match="embedded differently"):
            segviz.merge(one, replace(one, embedder=Absent("another@1", ())))
        with pytest.raises(ValueError, match="heard 1 of its"):
            segviz.merge(one, replace(one, steps=one.steps[:1]))
        stranger = replace(chat([[("Eve", "Hello."), ("Zoe", "Good day.")]]), id="x")
        pairs = built(small_chat(), unit="paper")
        with pytest.raises(ValueError, match="other places"):
            segviz.merge(pairs, built(stranger, unit="paper"))

    def test_it_is_not_undone(self):
        whole = segviz.merge(built(small_chat()), built(garden()))
        with pytest.raises(ValueError, match="cannot be undone"):
            whole.undo()
