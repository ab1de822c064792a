"""All conversations of a file as one memory."""

import json
from pathlib import Path

import pytest

import segviz
from segviz.conversation import seconds
from segviz.embedding import HashingEmbedder
from segviz.export import locomo_json
from segviz.loaders import JOINED, LazyCorpus, LoadError, joined, load, parse
from tests.loaders.reading import read

CHATS = [
    {
        "title": title,
        "messages": [
            {"role": "user", "content": f"{title} {place}", "timestamp": f"2024-0{month}-0{place}"}
            for place in (1, 2)
            for month in (months[place - 1],)
        ],
    }
    for title, months in (("Loft", (1, 4)), ("Barn", (2, 3)))
]


def test_sessions_of_all_are_in_the_order_of_time_and_name_their_conversation() -> None:
    corpus = read(CHATS)
    (whole,) = joined(corpus)
    assert whole.id == JOINED
    assert [session.chat for session in whole.sessions] == ["Loft", "Barn", "Barn", "Loft"]
    assert [turn.text for turn in whole.turns] == ["Loft 1", "Barn 1", "Barn 2", "Loft 2"]
    assert [turn.id for turn in whole.turns] == ["C1:S1:1", "C2:S1:1", "C2:S2:1", "C1:S2:1"]
    starts = [seconds(session.start) for session in whole.sessions if session.start]
    assert starts == sorted(starts)
    # Nothing is lost, slowly.
    everything = {(t.speaker, t.text, t.time) for each in corpus for t in each.turns}
    assert {(t.speaker, t.text, t.time) for t in whole.turns} == everything


def test_questions_and_facts_follow_their_turns(tmp_path: Path) -> None:
    one, two = (
        load(Path(__file__).parent / "cases" / name)
        for name in ("p26_locomo_iso_dates.json", "p28_locomo_refined_answer_lists.json")
    )
    path = tmp_path / "two.json"
    path.write_text(locomo_json([*one, *two]), "utf-8")
    (whole,) = load(path, join=True)
    asked = [question for each in (one[0], two[0]) for question in each.questions]
    assert [question.text for question in whole.questions] == [each.text for each in asked]
    assert [question.index for question in whole.questions] == list(range(len(asked)))
    for question, before in zip(whole.questions, asked, strict=True):
        number = 1 if question.index < len(one[0].questions) else 2
        assert question.evidence == tuple(f"C{number}:{turn}" for turn in before.evidence)
        for turn, old in zip(question.evidence, before.evidence, strict=True):
            assert whole.turn(turn).text == (one, two)[number - 1][0].turn(old).text


def test_the_memory_of_all_is_built_asked_and_saved(tmp_path: Path) -> None:
    (whole,) = joined(read(CHATS))
    memory = segviz.build(whole, unit="turn", embedder=HashingEmbedder())
    result = memory.ask("Barn", as_of="2024-03-01")
    assert {turn for item in result.evidence for turn in item.turn_ids} == {"C1:S1:1", "C2:S1:1"}
    memory.save(tmp_path / "m.json")
    assert segviz.open(tmp_path / "m.json").conversation == whole


def test_a_conversation_without_times_is_refused_by_name() -> None:
    chats = json.loads(json.dumps(CHATS))
    for message in chats[1]["messages"]:
        del message["timestamp"]
    with pytest.raises(LoadError, match=r"1 conversation of 2 .'Barn'., so their order is unknown"):
        joined(parse(json.dumps(chats).encode(), "x.json"))


def test_a_large_file_is_joined_as_a_small_one(tmp_path: Path) -> None:
    """It is listed first, and its conversations are read one by one."""
    file = tmp_path / "many.json"
    cases = Path(__file__).parent / "cases"
    (row,) = json.loads((cases / "p53_longmemeval_no_has_answer.json").read_text("utf-8"))
    file.write_text(json.dumps([{**row, "question_id": f"q{i}"} for i in range(3)]))
    listed = load(file, by_items=1)
    assert isinstance(listed, LazyCorpus)
    assert joined(listed)[0] == joined(load(file))[0]


def test_one_conversation_stays_as_it_is() -> None:
    corpus = read(CHATS[:1])
    assert joined(corpus) is corpus
