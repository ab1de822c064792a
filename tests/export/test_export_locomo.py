"""LoCoMo files: what is written is read back as it was."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from segviz.conversation import TITLES, Conversation, Question, Session, Turn, sample_path
from segviz.export import locomo_json
from segviz.export.locomo import locomo_date
from segviz.loaders import load, parse

TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=30)
NAME = TEXT.map(str.strip).filter(bool)
MINUTES = st.datetimes(datetime(1900, 1, 1), datetime(2099, 12, 31)).map(
    lambda moment: moment.replace(second=0, microsecond=0)
)


@st.composite
def conversations(draw) -> Conversation:
    number = 0
    sessions = []
    for index in range(draw(st.integers(1, 3))):
        turns = []
        for _ in range(draw(st.integers(1, 4))):
            number += 1
            caption = draw(st.none() | NAME)
            turns.append(Turn(f"D{index + 1}:{number}", draw(NAME), draw(TEXT), caption))
        start = draw(st.none() | MINUTES)
        raw = "" if start is None else start.isoformat()
        sessions.append(Session(f"session_{index + 1}", start, raw, tuple(turns)))
    ids = [turn.id for session in sessions for turn in session.turns]
    questions = tuple(
        Question(
            index,
            draw(NAME),
            draw(st.none() | TEXT),
            draw(st.none() | st.integers(1, 5)),
            tuple(draw(st.lists(st.sampled_from(ids), unique=True, max_size=3))),
            (),
            draw(st.none() | TEXT),
            draw(st.none() | st.sampled_from(ids)),
        )
        for index in range(draw(st.integers(0, 3)))
    )
    speakers = tuple(dict.fromkeys(turn.speaker for s in sessions for turn in s.turns))
    return Conversation(draw(NAME), speakers, tuple(sessions), questions, "other")


MISLEADING = Session("session_1", None, "", (Turn("D1:1", "\u00c3\u00a9", "\u00c2\u00a1", None),))


@given(conversations())
@example(Conversation("\u00c2\u00a1", ("\u00c3\u00a9",), (MISLEADING,), (), "other"))
def test_what_is_written_is_read_back(conversation):
    written = locomo_json([conversation])
    corpus = parse(written.encode("utf-8"), "written.json")
    (found,) = corpus
    dates = [s.raw_date if s.start is None else locomo_date(s.start) for s in conversation.sessions]
    expected = replace(
        conversation,
        source_format="LoCoMo",
        sessions=tuple(
            replace(s, raw_date=date) for s, date in zip(conversation.sessions, dates, strict=True)
        ),
    )
    assert found == expected
    # No date, more than two speakers and late evidence are noted; nothing is mended or lost.
    noted = ("date", "beside speaker_a and speaker_b", "said after the question")
    said = [finding.what for finding in corpus.report.findings]
    assert [what for what in said if not any(part in what for part in noted)] == []
    assert locomo_json([found]) == written


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2023, 5, 8, 13, 56), "1:56 pm on 8 May, 2023"),
        (datetime(2024, 2, 29, 0, 5), "12:05 am on 29 February, 2024"),
        (datetime(999, 12, 1, 12, 0), "12:00 pm on 1 December, 0999"),
    ],
)
def test_dates_by_hand(moment, written):
    assert locomo_date(moment) == written


@pytest.mark.parametrize("name", TITLES)
def test_the_samples_come_back_as_they_are(name, tmp_path):
    corpus = load(sample_path(name))
    path = tmp_path / "again.json"
    path.write_text(locomo_json(corpus), encoding="utf-8")
    assert list(load(path)) == list(corpus)
    before = json.loads(sample_path(name).read_text("utf-8"))[0]["qa"]
    after = json.loads(path.read_text("utf-8"))[0]["qa"]
    assert [q["question"] for q in before] == [q["question"] for q in after]


def test_evidence_that_was_not_found_stays_in_the_file():
    turn = Turn("D1:1", "Ada", "we sail")
    question = Question(0, "when?", None, None, ("D1:1",), ("D9:9",))
    conversation = Conversation(
        "c", ("Ada",), (Session("session_1", None, "", (turn,)),), (question,)
    )
    assert json.loads(locomo_json([conversation]))[0]["qa"][0]["evidence"] == ["D1:1", "D9:9"]
