"""LoCoMo: every quirk of its shapes, on inputs made up here."""

from __future__ import annotations

from datetime import datetime

import pytest

from segviz.conversation import Question, Turn
from tests.loaders.reading import failure, findings, only, read

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


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ([sample()], "conv-1"),
        (sample(), "conv-1"),
        ({"conv-1": sample()}, "conv-1"),
        (bare(turn()), "file"),
    ],
)
def test_the_shapes_agree(document: object, name: str) -> None:
    corpus = read(document)
    conversation = corpus[0]
    assert (corpus.ids, corpus.report.findings, corpus.report.kept) == ((name,), (), 1)
    assert conversation.turns == (Turn("D1:1", "Ann", "hello"),)
    assert conversation.speakers == ("Ann", "Bob")
    assert conversation.source_format == "LoCoMo"
    (session,) = conversation.sessions
    assert (session.id, session.raw_date) == ("session_1", DATE)
    assert session.start == datetime(2023, 5, 8, 13, 56)


def test_unknown_keys_are_ignored() -> None:
    extra = {
        "events_session_1": {"date": "8 May, 2023"},
        "session_foo": [turn()],
        "session_2x": [turn()],
        "session_" + "9" * 5000: [turn()],
    }
    corpus = read(bare(turn(img_url=["http://x"], query="q", likes=3), **extra))
    assert len(corpus[0].sessions) == 1
    assert corpus.report.findings == ()
    assert "http" not in repr(corpus)


OBSERVED = {
    "Ann": [["said hello", "D1:1"], ["waved", ["D1:2", "D1:1; D1:02"]], ["left", "D1:9"]],
    "Bob": [7, ["heard her"], "slept"],
}


@pytest.mark.parametrize("shape", ["official", "bare"])
def test_facts_are_read_with_their_turns_and_sessions_with_their_summary(shape: str) -> None:
    wrote = {"session_1_summary": "Ann says hello.", "session_1_observation": OBSERVED}
    turns = [turn(), turn("D1:2", "and I wave")]
    document: object = bare(*turns, **wrote)
    if shape == "official":
        parts = {"session_summary": "session_1_summary", "observation": "session_1_observation"}
        rest = {part: {key: wrote[key]} for part, key in parts.items()}
        document = [sample("conv-1", *turns, **rest)]
    conversation = only(document)
    assert [session.summary for session in conversation.sessions] == ["Ann says hello."]
    found = [(each.id, each.text, each.sources) for each in conversation.observations]
    assert found == [
        ("session_1:1", "said hello", ("D1:1",)),
        ("session_1:2", "waved", ("D1:2", "D1:1")),
        ("session_1:3", "left", ()),
    ]
    (when,) = {(each.session, each.time) for each in conversation.observations}
    assert when == ("session_1", datetime(2023, 5, 8, 13, 56))
    kinds = [kind for kind, _ in findings(document)]
    assert sorted(kinds) == ["repaired", "skipped", "skipped", "skipped"]


def test_sample_ids() -> None:
    document = [sample("a"), sample("a"), sample(7), sample(None), sample([1])]
    assert read(document).ids == ("a", "a#2", "7", "file", "file#2")
    assert findings(document) == [
        ("repaired", "[1].conversation"),
        ("repaired", "[3].sample_id"),
        ("repaired", "[4].conversation"),
        ("repaired", "[4].sample_id"),
    ]


def test_broken_samples_in_a_good_list_are_skipped_with_their_path() -> None:
    empty = {"sample_id": "e", "conversation": {"session_1": []}}
    document = [sample(), 5, {"conversation": "gone"}, {"x": 1}, empty, sample("last")]
    assert read(document).ids == ("conv-1", "last")
    places = ("[1]", "[2].conversation", "[3]", "[4].conversation", "[4].conversation")
    assert findings(document) == [("skipped", place) for place in places]


def test_nothing_usable_is_an_error_with_the_first_problem() -> None:
    error = failure({f"session_{n}_date_time": DATE for n in range(1, 20)})
    assert "no messages" in error.what
    assert "19 sessions without turns" in error.what
    assert error.where == "file.json"
    place = "[0].conversation.session_1[0].text"
    assert place in failure([sample("x", turn(text=None))]).what


# --- sessions ------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", [[2], [2, 3], range(2, 18)])
def test_dated_sessions_without_turns_are_one_finding(numbers: list[int]) -> None:
    document = bare(turn(), **{f"session_{n}_date_time": DATE for n in numbers}, session_2=[])
    assert len(only(document).sessions) == 1
    assert findings(document) == [("skipped", "file")]


@pytest.mark.parametrize(
    ("document", "found"),
    [
        (bare(turn(), session_2="text"), [("skipped", "file"), ("skipped", "session_2")]),
        (bare(turn(), session_2=None), [("skipped", "file")]),
        ({"session_1": [turn()]}, [("repaired", "session_1_date_time")]),
        (bare(turn(), qa={"x": 1}), [("skipped", "qa")]),
        (bare(turn(), qa=None), []),
        (bare(turn(), speaker_a={"x": 1}), [("repaired", "speaker_a")]),
        (bare(turn(), turn("D1:2", speaker="Cy")), [("repaired", "file")]),
        (bare(turn(), "words"), [("skipped", "session_1[1]")]),
        (bare(turn(), {"speaker": "Ann", "dia_id": "D1:2"}), [("skipped", "session_1[1].text")]),
        (bare(turn(speaker=None)), [("repaired", "session_1[0].speaker")]),
        (bare(turn(speaker="  ")), [("repaired", "session_1[0].speaker")]),
        (
            [sample("a"), sample("b", turn(), turn("D1:2", None))],
            [("skipped", "[1].conversation.session_1[1].text")],
        ),
    ],
)
def test_what_is_left_out_or_mended_is_told_by_its_place(
    document: object, found: list[tuple[str, str]]
) -> None:
    assert findings(document) == found


@pytest.mark.parametrize(
    ("value", "raw"), [("yesterday", "yesterday"), ("", ""), (None, ""), (20230508, "20230508")]
)
def test_unreadable_dates_are_kept_as_text(value: object, raw: str) -> None:
    document = bare(turn(), session_1_date_time=value)
    session = only(document).sessions[0]
    assert (session.start, session.raw_date) == (None, raw)
    assert findings(document) == [("repaired", "session_1_date_time")]


# --- turns ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text", "kinds"),
    [
        (5, "5", ["repaired"]),
        (2.5, "2.5", ["repaired"]),
        (["a", {"type": "text", "text": "b"}], "a\nb", []),
        ([{"type": "image"}, 3, {"text": "b"}], "b", ["skipped"]),
        (None, None, ["skipped"]),
        (float("nan"), None, ["skipped"]),
        ([{"type": "image"}], None, ["skipped"]),
        ({"a": 1}, None, ["skipped"]),
        (True, None, ["skipped"]),
    ],
)
def test_texts_of_other_types(value: object, text: str | None, kinds: list[str]) -> None:
    document = bare(turn(text=value), turn("D1:2", "last"))
    expected = ["last"] if text is None else [text, "last"]
    assert [t.text for t in only(document).turns] == expected
    assert findings(document) == [(kind, "session_1[0].text") for kind in kinds]


def test_captions_count_without_url_and_without_text() -> None:
    image: dict[str, object] = {"speaker": "Bob", "dia_id": "D1:2", "blip_caption": " a dog "}
    document = bare(turn(blip_caption="a cat"), image, turn("D1:3", "x", blip_caption=["no"]))
    assert only(document).turns == (
        Turn("D1:1", "Ann", "hello", "a cat"),
        Turn("D1:2", "Bob", "", "a dog"),
        Turn("D1:3", "Ann", "x", None),
    )
    assert findings(document) == []


def test_speakers_declared_first_then_by_appearance() -> None:
    turns = [turn(f"D1:{n}", speaker=name) for n, name in enumerate(["Zed", "Bob", "Cy", "Zed"])]
    assert only(bare(*turns)).speakers == ("Ann", "Bob", "Zed", "Cy")
    assert only({"session_1": turns}).speakers == ("Zed", "Bob", "Cy")


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
    ids = ["D1:1#2", "D1:1", "D1:3", "D1:4", "D1:5", "D1:6", "own-name"]
    assert [t.id for t in only(bare(*turns)).turns] == ids
    mended = [("repaired", f"session_1[{row}].dia_id") for row in (0, 2, 3, 4, 5)]
    assert findings(bare(*turns)) == mended


def test_ids_are_unique_across_sessions_and_skipped_turns_keep_theirs() -> None:
    document = bare(turn("D2:1"), turn("D1:2", None), session_2=[turn("D2:1"), turn("D1:2")])
    assert [t.id for t in only(document).turns] == ["D2:1", "D2:1#2", "D1:2"]
    lost = bare(turn("D1:2", None), turn(None))
    assert [t.id for t in only(lost).turns] == ["D1:2#2"]


# --- questions -----------------------------------------------------------------------


def question(**fields: object) -> tuple[Question, list[str]]:
    """The question read from these fields, in a conversation with turns D1:1 … D1:12, and the
    places of the findings about it."""
    turns = [turn(f"D1:{n}") for n in range(1, 13)]
    document = bare(*turns, qa=[{"question": "q?", **fields}])
    (found,) = only(document).questions
    return found, [place.removeprefix("qa[0].") for _, place in findings(document)]


@pytest.mark.parametrize(
    ("value", "turn_id", "noted"),
    [
        ("D1:5", "D1:5", False),
        (" D1:05 ", "D1:5", False),
        (None, None, False),
        ("D7:1", None, True),
        ("D1:5 D1:6", None, True),
        (5, None, True),
    ],
)
def test_the_moment_of_a_question(value: object, turn_id: str | None, noted: bool) -> None:
    found, places = question(asked_at=value)
    assert (found.asked_at, places) == (turn_id, ["asked_at"] * noted)


def test_evidence_from_after_the_moment_is_kept_and_counted() -> None:
    found, places = question(evidence=["D1:4", "D1:5", "D1:6"], asked_at="D1:5")
    assert (found.evidence, places) == (("D1:4", "D1:5", "D1:6"), ["file"])


@pytest.mark.parametrize(
    ("value", "answer", "noted"),
    [
        ("x", "x", False),
        ("", "", False),
        (2022, "2022", False),
        (1.5, "1.5", False),
        (False, "false", False),
        (None, None, False),
        (["a", 2], "a, 2", False),
        ([], None, False),
        (["a", {}, None], "a", True),
        ({"a": 1}, None, True),
        (float("inf"), None, True),
    ],
)
def test_answers(value: object, answer: str | None, noted: bool) -> None:
    found, places = question(answer=value)
    assert (found.answer, places) == (answer, ["answer"] * noted)


def test_an_adversarial_question() -> None:
    found, _ = question(adversarial_answer="tempting", category=5)
    assert (found.answer, found.adversarial) == (None, "tempting")
    assert question(answer="No", adversarial_answer=3)[0].adversarial == "3"


@pytest.mark.parametrize(
    ("value", "category", "noted"),
    [
        (1, 1, False),
        (9, 9, False),
        (" 5 ", 5, False),
        (2.0, 2, False),
        (None, None, False),
        (" multi-hop ", "multi-hop", False),
        ("", None, True),
        (True, None, True),
        (2.5, None, True),
        ([1], None, True),
        ("9" * 5000, None, True),
    ],
)
def test_categories(value: object, category: int | str | None, noted: bool) -> None:
    found, places = question(category=value)
    assert (found.category, places) == (category, ["category"] * noted)


@pytest.mark.parametrize(
    ("entries", "evidence", "unresolved", "noted"),
    [
        (["D1:1", "D1:2"], ("D1:1", "D1:2"), (), 0),
        ([], (), (), 0),
        (None, (), (), 0),
        ([" D1:1 "], ("D1:1",), (), 0),
        (["D1:6; D1:11"], ("D1:6", "D1:11"), (), 1),
        (["D1:9 D1:4 D1:6"], ("D1:9", "D1:4", "D1:6"), (), 1),
        (["D:1:12"], ("D1:12",), (), 1),
        (["D01:05"], ("D1:5",), (), 1),
        (["D1:5", "D1:4", "D1:5"], ("D1:5", "D1:4"), (), 1),
        (["D"], (), ("D",), 1),
        (["D9:36"], (), ("D9:36",), 1),
        (["D1:1, D9:9"], ("D1:1",), ("D9:9",), 1),
        (["D1:1-D1:3"], ("D1:1", "D1:3"), ("D1:1-D1:3",), 1),
        (["D1:123456789012"], (), ("D1:123456789012",), 1),
        ([""], (), ("",), 1),
        ([5, None, ["D1:1"], "D1:2"], ("D1:2",), ("5", "null", "a list of 1 text"), 3),
        ("D1:3", ("D1:3",), (), 1),
    ],
)
def test_evidence(
    entries: object, evidence: tuple[str, ...], unresolved: tuple[str, ...], noted: int
) -> None:
    found, places = question(evidence=entries)
    assert (found.evidence, found.unresolved, len(places)) == (evidence, unresolved, noted)


@pytest.mark.parametrize(
    ("turn_id", "entry", "evidence"),
    [
        ("D1:05", "D1:5", ("D1:05",)),
        ("msg-1", "msg-1", ("msg-1",)),
        ("D1:123456789", "D1:1234567891", ()),  # a longer number is not read as a shorter one
    ],
)
def test_evidence_finds_ids_as_they_are_spelled(
    turn_id: str, entry: str, evidence: tuple[str, ...]
) -> None:
    document = bare(turn(turn_id), qa=[{"question": "q?", "evidence": [entry]}])
    assert only(document).questions[0].evidence == evidence


def test_unusable_questions_are_skipped_and_the_others_keep_their_index() -> None:
    qa = ["what?", {"answer": "x"}, {"question": 5}, {"question": " "}, {"question": "q? "}]
    document = sample("a", qa=qa)
    assert [(q.index, q.text) for q in only(document).questions] == [(4, "q? ")]
    places = ("qa[0]", "qa[1].question", "qa[2].question", "qa[3].question")
    assert findings(document) == [("skipped", place) for place in places]
