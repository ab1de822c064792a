"""Run files: which question a record belongs to, what its ids and its answers mean."""

import json
from dataclasses import replace

import pytest

import segviz
from segviz.conversation import StoredText
from segviz.embedding import HashingEmbedder
from segviz.evaluation.audit import audit, grades_of
from segviz.loaders import LoadError
from segviz.loaders.runs import RunAnswer, read_run
from segviz.memory import run_memory
from tests.memories import sample

BOAT = sample(sessions=6)
FIRST = BOAT.questions[0]


def audit_run(records, stored=(), **changes):
    memory = run_memory(BOAT, records, stored, name="mine", embedder=HashingEmbedder())
    return audit(memory, answers=records, **changes)


def of(*records, ids=(BOAT.id,), conversation=BOAT):
    return read_run(json.dumps(records).encode(), "mine.json").of(conversation, ids)


@pytest.mark.parametrize(
    "named",
    [
        {"question": FIRST.text.upper()},
        {"question_id": f"{BOAT.id}-0"},
        {"question_id": 0},
        {"question": "0"},
    ],
)
def test_a_record_belongs_to_a_question_by_text_or_number(named):
    (number,) = of({**named, "answer": "yes"})
    assert number == 0


def test_a_question_asked_again_does_not_empty_the_first():
    again = replace(FIRST, index=1)
    (turn,) = FIRST.evidence[:1]
    answers = {0: RunAnswer((StoredText(turn, turn),), None, None), 1: RunAnswer(None, None, None)}
    talk = replace(BOAT, questions=(FIRST, again))
    memory = run_memory(talk, answers, name="mine", embedder=HashingEmbedder())
    result = memory.ask(FIRST, method="native")
    assert [each.turn_ids for each in result.evidence] == [(turn,)]


def test_a_record_of_another_conversation_is_left_out():
    other = {"question_id": "other-1-0", "question": FIRST.text, "answer": "yes"}
    assert of(other, ids=(BOAT.id, "other-1")) == {}
    assert list(of(other)) == [0]


def test_the_records_of_one_system_count_and_two_that_differ_are_an_error():
    mine = {"question": "0", "conversation": BOAT.id, "system": "a", "answer": "x", "right": "True"}
    records = (mine, mine | {"system": "b", "right": "False"}, mine | {"conversation": "other"})
    run = read_run(json.dumps(records).encode(), "mine.json")
    assert not run.retrieves
    for system, right in (("a", True), ("b", False)):
        (answer,) = run.of(BOAT, system=system).values()
        assert answer.right == right
    with pytest.raises(LoadError, match="question 0 of 'ines-theo' has two answers"):
        run.of(BOAT)


def test_an_answer_that_the_file_leaves_ungraded_has_no_grade():
    assert of({"question": "0", "answer": "x", "right": ""}) == {0: RunAnswer()}


def test_ids_of_turns_and_sessions_become_their_texts():
    found = of(
        {"question": FIRST.text, "retrieved": ["D1:02", "session_2", "S3", "a note of mine"]}
    )
    turn, second, third, note = found[0].retrieved
    assert (turn.id, turn.sources) == ("D1:2", ("D1:2",))
    assert second.sources == tuple(turn.id for turn in BOAT.sessions[1].turns)
    assert third.id == "session_3"
    assert note == StoredText("", "a note of mine")


def test_locomo_predictions_lie_beside_gold_answers():
    qa = {
        "question": FIRST.text,
        "answer": "gold",
        "evidence": ["D1:1"],
        "gpt_prediction": "mine",
        "gpt_prediction_context": ["D1:1", "D1:3"],
    }
    (found,) = of({"sample_id": BOAT.id, "qa": [qa]}).values()
    assert (found.answer, [each.id for each in found.retrieved]) == ("mine", ["D1:1", "D1:3"])
    with pytest.raises(LoadError, match="no record of a run"):
        of({"sample_id": BOAT.id, "qa": [{"question": "Who?", "answer": "gold", "evidence": []}]})


LONG = {
    "question_id": "g1",
    "question_type": "single-session-user",
    "question": "What colour is the pot?",
    "answer": "Blue",
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
    "haystack_session_ids": ["b", "answer_a_1"],
    "haystack_sessions": [
        [{"role": "user", "content": "Bees?"}, {"role": "assistant", "content": "Yes."}],
        [{"role": "user", "content": "My pot is blue.", "has_answer": True}],
    ],
    "answer_session_ids": ["answer_a_1"],
}


def test_longmemeval_hypotheses_and_retrieval_logs(tmp_path):
    path = tmp_path / "data.json"
    path.write_text(json.dumps([LONG]))
    (conversation,) = segviz.load(path)
    label = {"autoeval_label": {"model": "a judge", "label": False}}
    (found,) = of(
        {"question_id": "g1", "hypothesis": "Blue"} | label, conversation=conversation, ids=["g1"]
    ).values()
    assert (found.answer, found.right, found.retrieved) == ("Blue", False, None)
    items = [{"corpus_id": "b_1", "text": "?"}, {"corpus_id": "answer_a_1", "text": "?"}]
    log = LONG | {"retrieval_results": {"query": "?", "ranked_items": items}}
    (found,) = of(log, conversation=conversation, ids=["g1"]).values()
    assert [each.id for each in found.retrieved] == ["S1:1", "session_2"]
    assert found.answer is None


def test_a_run_is_audited_at_its_own_ranks_and_graded():
    gold = FIRST.evidence[0]
    others = [turn.id for turn in BOAT.turns if turn.id not in FIRST.evidence][:4]
    second = BOAT.questions[1]
    records = of(
        {"question": FIRST.text, "retrieved": [*others, gold], "answer": f"It is {FIRST.answer}."},
        {"question": second.text, "answer": "No idea"},
    )
    found = audit_run(records)
    stages = {one.turn: one for one in found.stages}
    assert {one.question for one in found.stages} == {FIRST.index}
    assert (stages[gold].stage, stages[gold].rank) == ("read", 5)
    assert [(each.question.text, each.stage) for each in found.lost] == [
        (second.text, "answered wrong")
    ]
    assert found.right == {FIRST.index: True, second.index: False}
    assert grades_of([found])[0] == {"group": "all", "answers": 2, "right": 0.5}
    cut = audit_run(records, k=4)
    assert {one.stage for one in cut.stages if one.turn == gold} == {"written, not ranked"}


def test_unknown_ids_are_an_error_that_names_one():
    records = of({"question": FIRST.text, "retrieved": ["m-17"]})
    with pytest.raises(ValueError, match="'m-17', which is no turn or session"):
        audit_run(records)
    stored = [StoredText("m-17", "Something that was said", FIRST.evidence[:1])]
    found = audit_run(records, stored)
    assert found.stages[0].stage == "read"
