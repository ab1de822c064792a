"""Times of turns: every reader keeps them, and units, windows and prompts follow them."""

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import segviz
from segviz.conversation import Conversation, seconds
from segviz.embedding import HashingEmbedder
from segviz.loaders import LoadError, load
from segviz.memory.answer import answering
from tests.data import data_path
from tests.loaders.reading import only, read

START = datetime(2025, 1, 1, 0, 30)
EVERY_TWO_HOURS = [START + timedelta(hours=2 * i) for i in range(720)]
GROUP = "\n".join(
    f"[{time:%d/%m/%Y, %H:%M:%S}] {('Ona', 'Piet', 'Rut')[i % 3]}: The {i}th goat is fed."
    for i, time in enumerate(EVERY_TWO_HOURS)
)
"""Twelve messages a day for 60 days, with no silence of eight hours."""


@pytest.fixture(scope="module")
def group() -> Conversation:
    return only(GROUP, name="goats.txt")


def test_a_busy_group_has_all_its_days(group: Conversation) -> None:
    assert len(group.sessions) == 1
    assert [turn.time for turn in group.turns] == EVERY_TWO_HOURS
    for rule in ("turn", "exchange"):
        units = group.units(rule)
        assert len({day for unit in units for day in unit.days}) == 60
        assert all(unit.time == group.turn(unit.turn_ids[0]).time for unit in units)


def test_windows_and_prompts_follow_the_times_of_units(group: Conversation) -> None:
    memory = segviz.build(group, system="h-mem", embedder=HashingEmbedder())
    facts = memory.structure.facts
    weeks = {f["window_from"] for f in facts if f.get("window_from") is not None}
    assert len(weeks) > 8  # weeks of January and February
    result = memory.ask("goat", method="propagate", k=20)
    headings = re.findall(r"said (\S+)", answering(memory, result).user)
    leaves = [item for item in result.reading_order if item.level == 0]
    days = {f"{group.turn(item.turn_ids[0]).time:%Y-%m-%d}" for item in leaves}
    assert days <= set(headings)


def test_sessions_of_a_file_are_split_by_silence_with_a_note() -> None:
    rows = ["session,speaker,time,text"]
    for day, name in ((1, "a"), (1, "b"), (9, "a"), (9, "b"), (9, "a")):
        rows.append(f"{name},Ona,2024-05-{day:02d}T10:00:00,{name} of {day}")
    corpus = read("\n".join(rows), "x.csv")
    assert [[turn.text for turn in s.turns] for s in corpus[0].sessions] == [
        *(["a of 1"], ["b of 1"], ["a of 9", "a of 9"], ["b of 9"])
    ]
    (note,) = corpus.report.findings
    assert note.what == "2 sessions with silences of more than 8 hours; split there into 4"
    whole = read("\n".join(rows), "x.csv", gap_hours=1_000)
    assert len(whole[0].sessions) == 2
    assert not whole.report.findings


def test_a_session_with_a_date_alone_has_no_times_of_turns() -> None:
    (conversation,) = load(Path(__file__).parent / "cases" / "p26_locomo_iso_dates.json")
    assert not any(turn.time for turn in conversation.turns)
    assert [unit.time for unit in conversation.units("turn")] == [
        session.start for session in conversation.sessions for _ in session.turns
    ]


def test_a_turn_without_a_time_has_that_of_the_turn_before() -> None:
    conversation = only("## 3 May 2024\n[9:05] A: one\nB: two\n[9:30] A: three\n", name="x.txt")
    times = [None if turn.time is None else turn.time.minute for turn in conversation.turns]
    assert times == [5, None, 30]
    assert [unit.time.minute for unit in conversation.units("turn")] == [5, 5, 30]


# A date or a time since 1970 in any file.
WRITTEN = re.compile(
    rb"(?:19|20)\d\d-\d\d-\d\d|(?<![\d.])1[67]\d{8}(?:\d{3})?(?!\d)"
    rb"|\d{1,4}[./-]\d{1,2}[./-]\d{2,4}|[A-Z][a-z]{2,8}[ -]\d{1,2}[, -]+20\d\d"
)
HERE = Path(__file__).parent
FILES = [
    path
    for folder in (HERE / "cases", HERE / "samples", data_path().parent / "cases")
    if folder.is_dir()
    for path in sorted(folder.iterdir())
    if path.suffix not in (".md", ".zip") and path.name != "expected.json"
]
DATED_ALONE = {
    "p22_beam_row.jsonl": "a date in the first message of a batch",
    "q01_pydantic_ai_messages.json": "requests have a time, their parts none",
}
UNDATED = {
    "table.csv": "a row without time",
    "transcript.txt": "a session before the first date",
    "folder_of_two_formats": "the date is broken",
    "longmemeval_mended.json": "dates are missing or broken",
    "realmem_evidence.json": "a dialogue has no date",
    "unknown_time_key.json": "the key must be named by the user",
    "q26_discord_exporter.txt": "day and month are not decided",
}


def written_dates(path: Path) -> int:
    """The number of dates that a file, or the files of a folder, have."""
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return sum(len(WRITTEN.findall(each.read_bytes())) for each in files)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_file_with_times_has_them_afterwards(path: Path) -> None:
    try:
        corpus = load(path)
    except LoadError:
        return
    turns = [turn for conversation in corpus for turn in conversation.turns]
    units = [unit for conversation in corpus for unit in conversation.units("turn")]
    dates = written_dates(path)
    if dates and path.name not in UNDATED:
        # A file with a date has no unit without one.
        assert all(unit.time for unit in units)
    if dates >= len(turns) and path.name not in DATED_ALONE:
        timed = sum(turn.time is not None for turn in turns)
        assert timed in (0, len(turns)) or timed == dates
    for conversation in corpus:
        for session in conversation.sessions:
            own = [turn.time for turn in session.turns if turn.time]
            assert not own or (
                session.start is not None and seconds(session.start) == seconds(own[0])
            )
