"""LoCoMo: every quirk of its three shapes, on inputs made up here."""

from __future__ import annotations

from datetime import datetime

import pytest

from segviz.conversation import Question, Turn
from segviz.loaders import LoadError
from tests.loaders.reading import findings, only, read

DATE = "1:56 pm on 8 May, 2023"


def turn(turn_id: object = "D1:1", text: object = "hello", **extra: object) -> dict[str, object]:
    """A turn of Ann's."""
    return {"speaker": "Ann", "dia_id": turn_id, "text": text, **extra}


def bare(*turns: object, **extra: object) -> dict[str, object]:
    """A bare conversation with one dated session."""
    return {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": DATE,
        "session_1": list(turns),
        **extra,
    }


def sample(sample_id: object = "conv-1", *turns: object, **extra: object) -> dict[str, object]:
    """A sample of the official list."""
    return {"qa": [], "conversation": bare(*(turns or [turn()])), "sample_id": sample_id, **extra}


# --- shapes --------------------------------------------------------------------------


def test_the_three_shapes_agree() -> None:
    shapes: list[tuple[object, str]] = [
        ([sample()], "conv-1"),
        (sample(), "conv-1"),
        (bare(turn()), "file"),
    ]
    for document, name in shapes:
        corpus = read(document)
        conversation = corpus[0]
        assert corpus.ids == (name,)
        assert corpus.report.findings == ()
        assert corpus.report.kept == 1
        assert conversation.turns == (Turn("D1:1", "Ann", "hello"),)
        assert conversation.speakers == ("Ann", "Bob")
        assert conversation.source_format == "LoCoMo"
        assert conversation.sessions[0].id == "session_1"
        assert conversation.sessions[0].start == datetime(2023, 5, 8, 13, 56)
        assert conversation.sessions[0].raw_date == DATE


def test_a_bare_conversation_with_questions_keeps_them() -> None:
    document = bare(turn(), qa=[{"question": "q?", "answer": "a", "category": 4, "evidence": []}])
    assert only(document).questions == (Question(0, "q?", "a", 4, ()),)


def test_unknown_keys_are_ignored() -> None:
    extra = {
        "session_1_summary": "s",
        "session_1_observation": {"Ann": [["x", "D1:1"]]},
        "events_session_1": {"date": "8 May, 2023"},
        "session_foo": [turn()],
        "xsession_2": [turn()],
        "session_2x": [turn()],
        "session_" + "9" * 5000: [turn()],
        "mystery": {"deep": [1]},
    }
    corpus = read(bare(turn(img_url=["http://x"], query="q", **{"re-download": True}), **extra))
    assert len(corpus[0].sessions) == 1
    assert corpus.report.findings == ()
    assert "http" not in repr(corpus)


def test_unknown_fields_of_a_turn_are_kept_apart() -> None:
    plain: dict[str, object] = {"likes": 3, "pinned": True, "mood": "glad", "score": 0.5}
    other: dict[str, object] = {
        "img_url": ["http://x"],
        "query": "q",
        "nested": {"a": 1},
        "nothing": None,
        "huge": 10**100,
        "never": float("nan"),
        "long": "x" * 1_001,
    }
    (found,) = only(bare(turn(**plain, **other))).turns
    assert dict(found.extra) == plain
    assert found == Turn("D1:1", "Ann", "hello")  # not compared: no part of what was said


def test_a_turn_keeps_a_bounded_number_of_unknown_fields() -> None:
    (found,) = only(bare(turn(**{f"f{i}": i for i in range(100)}))).turns
    assert len(found.extra) == 20


def test_sample_ids() -> None:
    corpus = read([sample("a"), sample("a"), sample(7), sample(None), sample([1])])
    assert corpus.ids == ("a", "a#2", "7", "file", "file#2")
    assert [(f.kind, f.where, f.what) for f in corpus.report.findings] == [
        ("repaired", "[1].sample_id", "'a' is taken by another conversation; called 'a#2'"),
        ("repaired", "[3].sample_id", "expected a name, found null; named 'file' after the file"),
        (
            "repaired",
            "[4].sample_id",
            "expected a name, found a list of 1 item; named 'file' after the file",
        ),
        ("repaired", "[4].sample_id", "'file' is taken by another conversation; called 'file#2'"),
    ]


def test_broken_samples_in_a_good_list_are_skipped_with_their_path() -> None:
    empty = {"sample_id": "e", "conversation": {"session_1": []}}
    document = [sample(), 5, {"conversation": "gone"}, {"x": 1}, empty, sample("last")]
    assert read(document).ids == ("conv-1", "last")
    expected = "expected a conversation with session_1, session_2 …, found"
    assert findings(document) == [
        ("skipped", "[1]", f"{expected} a number"),
        ("skipped", "[2].conversation", f"{expected} a text"),
        ("skipped", "[3]", f"{expected} an object with key x"),
        ("skipped", "[4].conversation", "1 session without turns (session_1)"),
        ("skipped", "[4].conversation", "no usable turns; the conversation is left out"),
    ]


def test_nothing_usable_is_an_error() -> None:
    dated = {f"session_{n}_date_time": DATE for n in range(1, 20)}
    with pytest.raises(LoadError) as caught:
        read(dated)
    assert caught.value.what == (
        "The file was read, but it has no messages (19 sessions, all empty)"
    )
    assert caught.value.where == "file.json"


def test_nothing_usable_names_the_first_problem() -> None:
    with pytest.raises(LoadError) as caught:
        read([sample("x", turn(text=None), 3)])
    assert caught.value.what == (
        "The file was read, but it has no usable messages (1 session); the first problem is at "
        "[0].conversation.session_1[0].text: expected a text, found null; the "
        "message is left out"
    )


# --- sessions and dates --------------------------------------------------------------


def test_sessions_are_in_numeric_order() -> None:
    document = {f"session_{n}": [turn(f"D{n}:1", str(n))] for n in (10, 2, 1)}
    document |= {f"session_{n}_date_time": f"1:00 pm on {n} May, 2023" for n in (10, 2, 1)}  # type: ignore[dict-item]
    conversation = only(document)
    assert [s.id for s in conversation.sessions] == ["session_1", "session_2", "session_10"]
    assert [t.text for t in conversation.turns] == ["1", "2", "10"]
    assert read(document).report.findings == ()


@pytest.mark.parametrize(
    ("numbers", "what"),
    [
        ([2], "1 session without turns (session_2)"),
        ([2, 3], "2 sessions without turns (session_2, session_3)"),
        (range(2, 18), "16 sessions without turns (session_2 … session_17)"),
    ],
)
def test_dated_sessions_without_turns_are_one_finding(numbers: list[int], what: str) -> None:
    document = bare(turn(), **{f"session_{n}_date_time": DATE for n in numbers}, session_2=[])
    assert len(only(document).sessions) == 1
    assert findings(document) == [("skipped", "file", what)]


def test_a_session_that_is_no_list() -> None:
    assert findings(bare(turn(), session_2="text", session_3=None)) == [
        ("skipped", "file", "1 session without turns (session_3)"),
        ("skipped", "session_2", "expected a list of messages, found a text"),
    ]


def test_two_spellings_of_a_session_number() -> None:
    corpus = read(bare(turn(), session_01=[turn("D1:2")], session_01_date_time=DATE))
    assert [s.id for s in corpus[0].sessions] == ["session_1", "session_01"]
    assert [t.id for t in corpus[0].turns] == ["D1:1", "D1:2"]
    assert corpus.report.findings == ()


@pytest.mark.parametrize(
    ("value", "raw", "found"),
    [
        ("yesterday", "yesterday", "'yesterday'"),
        ("x" * 99, "x" * 99, f"'{'x' * 39}…'"),
        ("", "", "an empty text"),
        (None, "", "nothing"),
        (20230508, "", "a number"),
    ],
)
def test_unreadable_dates_are_kept_as_text(value: object, raw: str, found: str) -> None:
    document = bare(turn(), session_1_date_time=value)
    session = only(document).sessions[0]
    assert (session.start, session.raw_date) == (None, raw)
    what = f'expected a date like "{DATE}", found {found}; kept without date'
    assert findings(document) == [("repaired", "session_1_date_time", what)]


def test_a_session_without_date() -> None:
    document = {"session_1": [turn()]}
    what = f'expected a date like "{DATE}", found nothing; kept without date'
    assert findings(document) == [("repaired", "session_1_date_time", what)]


def test_dates_that_go_backwards_are_one_finding_and_keep_the_order() -> None:
    days = {1: 8, 2: 7, 3: 9, 4: 9, 5: 1}
    document: dict[str, object] = {}
    for number, day in days.items():
        document[f"session_{number}_date_time"] = f"1:56 pm on {day} May, 2023"
        document[f"session_{number}"] = [turn(f"D{number}:1")]
    assert [t.id for t in only(document).turns] == ["D1:1", "D2:1", "D3:1", "D4:1", "D5:1"]
    what = "2 sessions dated before the previous one (session_2, session_5); kept in numeric order"
    assert findings(document) == [("repaired", "file", what)]


# --- turns ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text", "told"),
    [
        (5, "5", [("repaired", "a number was read as text")]),
        (2.5, "2.5", [("repaired", "a number was read as text")]),
        (["a", {"type": "text", "text": "b"}], "a\nb", []),
        (
            [{"type": "image"}, 3, {"text": "b"}],
            "b",
            [("skipped", "2 parts without text left out")],
        ),
    ],
)
def test_texts_that_are_mended(value: object, text: str, told: list[tuple[str, str]]) -> None:
    assert only(bare(turn(text=value))).turns[0].text == text
    expected = [(kind, "session_1[0].text", what) for kind, what in told]
    assert findings(bare(turn(text=value))) == expected


LEFT_OUT = "; the message is left out"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (None, f"expected a text, found null{LEFT_OUT}"),
        (float("nan"), f"expected a text, found a number that is not finite{LEFT_OUT}"),
        ([], f"expected a text, found an empty list{LEFT_OUT}"),
        (
            [{"type": "image"}],
            f"expected a text, found a list of 1 object with key type{LEFT_OUT}",
        ),
        ({"a": 1}, "expected a text, found an object with key a; the message is left out"),
        (True, "expected a text, found true; the message is left out"),
    ],
)
def test_texts_that_cannot_be_used(value: object, what: str) -> None:
    document = bare(turn(text=value), turn("D1:2"))
    assert [t.id for t in only(document).turns] == ["D1:2"]
    assert findings(document) == [("skipped", "session_1[0].text", what)]


def test_a_missing_text_and_a_turn_that_is_no_object() -> None:
    document = bare({"speaker": "Ann", "dia_id": "D1:1"}, "words", turn("D1:3"))
    assert findings(document) == [
        ("skipped", "session_1[0].text", f"expected a text, found null{LEFT_OUT}"),
        ("skipped", "session_1[1]", "expected a message (an object), found a text"),
    ]


def test_places_in_a_list_of_samples() -> None:
    document = [sample("a"), sample("b", turn(), turn("D1:2", None))]
    assert [where for _, where, _ in findings(document)] == ["[1].conversation.session_1[1].text"]


def test_captions_count_without_url_and_without_text() -> None:
    image: dict[str, object] = {"speaker": "Bob", "dia_id": "D1:2", "blip_caption": " a dog "}
    document = bare(turn(blip_caption="a cat"), image, turn("D1:3", "x", blip_caption=["no"]))
    assert only(document).turns == (
        Turn("D1:1", "Ann", "hello", "a cat"),
        Turn("D1:2", "Bob", "", "a dog"),
        Turn("D1:3", "Ann", "x", None),
    )
    assert findings(document) == []


def test_empty_text_stays_in_the_transcript_but_is_no_leaf() -> None:
    conversation = only(bare(turn(text=""), turn("D1:2", "  "), turn("D1:3", " x\n")))
    assert [t.text for t in conversation.turns] == ["", "  ", " x\n"]
    assert [u.turn_ids for u in conversation.units("turn")] == [("D1:3",)]


@pytest.mark.parametrize(
    ("value", "found"),
    [(None, "null"), ("  ", "an empty text"), (["A"], "a list of 1 text")],
)
def test_odd_speakers(value: object, found: str) -> None:
    document = bare(turn(speaker=value))
    conversation = only(document)
    assert conversation.turns[0].speaker == "Unknown"
    assert conversation.speakers == ("Ann", "Bob", "Unknown")
    what = f"expected a speaker's name, found {found}; called Unknown"
    assert findings(document) == [("repaired", "session_1[0].speaker", what)]


def test_speakers_declared_first_then_by_appearance() -> None:
    turns = [turn(f"D1:{n}", speaker=name) for n, name in enumerate(["Zed", "Bob", "Cy", "Zed"])]
    assert only(bare(*turns)).speakers == ("Ann", "Bob", "Zed", "Cy")
    assert only({"session_1": turns}).speakers == ("Zed", "Bob", "Cy")


def test_a_declared_speaker_that_is_no_name() -> None:
    document = bare(turn(), speaker_a={"x": 1})
    assert only(document).speakers == ("Bob", "Ann")
    what = "expected a speaker's name, found an object with key x; taken from the turns"
    assert findings(document) == [("repaired", "speaker_a", what)]


def test_ids_missing_duplicate_or_odd() -> None:
    turns = [
        turn(None, "a"),
        turn("D1:1", "b"),  # owns D1:1, so the first turn gets a suffix
        turn("D1:1", "c"),
        turn(4, "d"),
        {"speaker": "Ann", "text": "e"},
        turn("  ", "f"),
        turn("own-name", "g"),
    ]
    conversation = only(bare(*turns))
    assert [(t.id, t.text) for t in conversation.turns] == [
        ("D1:1#2", "a"),
        ("D1:1", "b"),
        ("D1:3", "c"),
        ("D1:4", "d"),
        ("D1:5", "e"),
        ("D1:6", "f"),
        ("own-name", "g"),
    ]
    unusable = "the id is missing or unusable; the turn is called"
    assert findings(bare(*turns)) == [
        ("repaired", "session_1[0].dia_id", f"{unusable} D1:1#2"),
        ("repaired", "session_1[2].dia_id", "the id is a duplicate; the turn is called D1:3"),
        ("repaired", "session_1[3].dia_id", f"{unusable} D1:4"),
        ("repaired", "session_1[4].dia_id", f"{unusable} D1:5"),
        ("repaired", "session_1[5].dia_id", f"{unusable} D1:6"),
    ]


def test_ids_are_settled_across_sessions_and_skipped_turns_keep_theirs() -> None:
    document = bare(turn("D2:1"), turn("D1:2", None), session_2=[turn("D2:1"), turn("D1:2")])
    document["session_2_date_time"] = DATE
    assert [t.id for t in only(document).turns] == ["D2:1", "D2:1#2", "D1:2"]
    lost = bare(turn("D1:2", None), turn(None))
    assert [t.id for t in only(lost).turns] == ["D1:2#2"]


# --- questions -----------------------------------------------------------------------


def question(**fields: object) -> Question:
    """The question read from these fields, in a conversation with turns D1:1 … D1:12."""
    turns = [turn(f"D1:{n}") for n in range(1, 13)]
    (read_question,) = only(bare(*turns, qa=[{"question": "q?", **fields}])).questions
    return read_question


def question_findings(**fields: object) -> list[tuple[str, str, str]]:
    """The findings about that question."""
    turns = [turn(f"D1:{n}") for n in range(1, 13)]
    return findings(bare(*turns, qa=[{"question": "q?", **fields}]))


@pytest.mark.parametrize(
    ("value", "turn_id", "said"),
    [
        ("D1:5", "D1:5", None),
        (" D1:05 ", "D1:5", None),
        (None, None, None),
        ("D7:1", None, "'D7:1'"),
        ("D1:5 D1:6", None, "'D1:5 D1:6'"),
        (5, None, "a number"),
    ],
)
def test_the_moment_of_a_question(value: object, turn_id: str | None, said: str | None) -> None:
    assert question(asked_at=value).asked_at == turn_id
    what = f"expected the id of a turn, found {said}; asked after the whole conversation"
    found = [("repaired", "qa[0].asked_at", what)] if said else []
    assert question_findings(asked_at=value) == found


def test_evidence_from_after_the_moment_is_kept_and_counted() -> None:
    fields = {"evidence": ["D1:4", "D1:5", "D1:6"], "asked_at": "D1:5"}
    assert question(**fields).evidence == ("D1:4", "D1:5", "D1:6")
    what = "2 turns of gold evidence said after the question, in 1 question; kept"
    assert question_findings(**fields) == [("repaired", "qa", what)]


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("x", "x"),
        ("", ""),
        (2022, "2022"),
        (1.5, "1.5"),
        (False, "false"),
        (None, None),
    ],
)
def test_answers_without_a_note(value: object, answer: str | None) -> None:
    assert question(answer=value).answer == answer
    assert question_findings(answer=value) == []


@pytest.mark.parametrize(
    ("value", "answer", "what"),
    [
        (["a", 2], "a, 2", "a list was joined into one answer"),
        (["a", {}, None], "a", "a list was joined into one answer; 2 unusable left out"),
        ([], None, "a list was joined into one answer"),
        ({"a": 1}, None, "expected an answer (a text), found an object with key a; left out"),
        (
            float("inf"),
            None,
            "expected an answer (a text), found a number that is not finite; left out",
        ),
    ],
)
def test_answers_with_a_note(value: object, answer: str | None, what: str) -> None:
    assert question(answer=value).answer == answer
    assert question_findings(answer=value) == [("repaired", "qa[0].answer", what)]


def test_an_adversarial_question() -> None:
    read_question = question(adversarial_answer="tempting", category=5)
    assert (read_question.answer, read_question.adversarial) == (None, "tempting")
    assert question(answer="No", adversarial_answer=3).adversarial == "3"


@pytest.mark.parametrize(
    ("value", "category"), [(1, 1), (9, 9), ("4", 4), (" 5 ", 5), (2.0, 2), (None, None)]
)
def test_categories(value: object, category: int | None) -> None:
    assert question(category=value).category == category
    assert question_findings(category=value) == []


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("", "''"),
        (True, "true"),
        (2.5, "a number"),
        ([1], "a list of 1 item"),
        ("9" * 5000, f"'{'9' * 39}…'"),
    ],
)
def test_odd_categories(value: object, found: str) -> None:
    assert question(category=value).category is None
    what = f"expected the number or short name of a category, found {found}; left out"
    assert question_findings(category=value) == [("repaired", "qa[0].category", what)]


def test_a_category_may_be_a_name() -> None:
    assert question(category=" multi-hop ").category == "multi-hop"


UNRESOLVED = "kept as unresolved evidence"


@pytest.mark.parametrize(
    ("entries", "evidence", "unresolved", "notes"),
    [
        (["D1:1", "D1:2"], ("D1:1", "D1:2"), (), []),
        ([], (), (), []),
        (None, (), (), []),
        ([" D1:1 "], ("D1:1",), (), []),
        (["D1:6; D1:11"], ("D1:6", "D1:11"), (), ["'D1:6; D1:11' read as D1:6, D1:11"]),
        (
            ["D1:9 D1:4 D1:6"],
            ("D1:9", "D1:4", "D1:6"),
            (),
            ["'D1:9 D1:4 D1:6' read as D1:9, D1:4, D1:6"],
        ),
        (["D:1:12"], ("D1:12",), (), ["'D:1:12' read as D1:12"]),
        (["D01:05"], ("D1:5",), (), ["'D01:05' read as D1:5"]),
        (["D1:5", "D1:4", "D1:5"], ("D1:5", "D1:4"), (), ["'D1:5' stands here twice; used once"]),
        (["D"], (), ("D",), [f"could not resolve 'D'; {UNRESOLVED}"]),
        (["D9:36"], (), ("D9:36",), [f"could not resolve 'D9:36'; {UNRESOLVED}"]),
        (["D1:1, D9:9"], ("D1:1",), ("D9:9",), [f"could not resolve 'D9:9'; {UNRESOLVED}"]),
        (
            ["D1:1-D1:3"],
            ("D1:1", "D1:3"),
            ("D1:1-D1:3",),
            [f"could not resolve 'D1:1-D1:3'; {UNRESOLVED}"],
        ),
        (
            ["D1:123456789012"],
            (),
            ("D1:123456789012",),
            [f"could not resolve 'D1:123456789012'; {UNRESOLVED}"],
        ),
        ([""], (), ("",), [f"could not resolve ''; {UNRESOLVED}"]),
    ],
)
def test_evidence(
    entries: object, evidence: tuple[str, ...], unresolved: tuple[str, ...], notes: list[str]
) -> None:
    read_question = question(evidence=entries)
    assert (read_question.evidence, read_question.unresolved) == (evidence, unresolved)
    assert [what for _, _, what in question_findings(evidence=entries)] == notes


def test_evidence_of_other_types() -> None:
    read_question = question(evidence=[5, None, ["D1:1"], "D1:2"])
    assert read_question.evidence == ("D1:2",)
    assert read_question.unresolved == ("5", "null", "a list of 1 text")
    assert question(evidence="D1:3").evidence == ("D1:3",)
    assert question_findings(evidence="D1:3") == [
        ("repaired", "qa[0].evidence", "expected a list, found a text; read as its only entry")
    ]


def test_evidence_finds_ids_with_leading_zeros_and_own_names() -> None:
    qa = [{"question": "q?", "evidence": ["D1:5", "msg-1"]}]
    document = bare(turn("D1:05"), turn("msg-1"), qa=qa)
    assert only(document).questions[0].evidence == ("D1:05", "msg-1")


def test_a_longer_number_is_not_read_as_a_shorter_one() -> None:
    qa = [{"question": "q?", "evidence": ["D1:1234567891"]}]
    read_question = only(bare(turn("D1:123456789"), qa=qa)).questions[0]
    assert (read_question.evidence, read_question.unresolved) == ((), ("D1:1234567891",))


def test_unusable_questions_are_skipped_and_the_others_keep_their_index() -> None:
    qa = ["what?", {"answer": "x"}, {"question": 5}, {"question": " "}, {"question": "q? "}]
    document = sample("a", qa=qa)
    assert [(q.index, q.text) for q in only(document).questions] == [(4, "q? ")]
    assert findings(document) == [
        ("skipped", "qa[0]", "expected a question (an object), found a text"),
        ("skipped", "qa[1].question", "expected the text of a question, found nothing"),
        ("skipped", "qa[2].question", "expected the text of a question, found a number"),
        ("skipped", "qa[3].question", "expected the text of a question, found an empty text"),
    ]


def test_questions_that_are_no_list() -> None:
    assert findings(sample("a", qa={"x": 1})) == [
        ("skipped", "qa", "expected a list of questions, found an object with key x")
    ]
    assert findings(sample("a", qa=None)) == []
