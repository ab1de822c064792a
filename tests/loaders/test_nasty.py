"""Forty inputs that break programs, each with what a user may expect of it.

Numbered N01 to N40.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import stat
import warnings
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

import segviz
from segviz.conversation import Conversation, Corpus
from segviz.loaders import LoadError, load, parse
from segviz.loaders.records import LABEL as RECORDS
from segviz.loaders.times import read_time

ANN = {"speaker": "Ann", "text": "hello"}
BOB = {"speaker": "Bob", "text": "hi"}


def read(document: object, name: str = "chat.json", **options: object) -> Corpus:
    """Through the front door: bytes, a text, or a value to write as JSON."""
    if not isinstance(document, bytes):
        text = document if isinstance(document, str) else json.dumps(document)
        document = text.encode()
    return parse(document, name, **options)  # type: ignore[arg-type]


def only(document: object, **options: object) -> Conversation:
    """The one conversation."""
    (conversation,) = read(document, **options)
    return conversation


def said(document: object, **options: object) -> list[tuple[str, str]]:
    """Speaker and text of every turn of the one conversation."""
    return [(turn.speaker, turn.text) for turn in only(document, **options).turns]


def found(document: object, **options: object) -> list[tuple[str, str, str]]:
    """Kind, place and message of every finding."""
    report = read(document, **options).report
    return [(f.kind, f.where, f.what) for f in report.findings]


def failure(document: object, **options: object) -> LoadError:
    """The error, which is fit to show: one line, no traceback, not too long."""
    with pytest.raises(LoadError) as caught:
        read(document, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert len(message) < 800
    return caught.value


def locomo(*turns: object, **extra: object) -> dict[str, object]:
    """A bare conversation of one session."""
    return {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": list(turns),
        **extra,
    }


def turn(number: int, speaker: object = "Ann", text: object = "hello", **extra: object) -> object:
    """A LoCoMo turn."""
    return {"speaker": speaker, "dia_id": f"D1:{number}", "text": text, **extra}


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip archive of these members."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


BARE = json.dumps(locomo(turn(1), turn(2, "Bob", "hi"))).encode()


# --- files as a whole ----------------------------------------------------------------


def test_n01_no_bytes() -> None:
    assert failure(b"").what == "The file is empty"


@pytest.mark.parametrize("data", [b" \n\t", b"null", b"[]", b"{}", b"\xef\xbb\xbf \r\n"])
def test_n02_nothing_in_it(data: bytes) -> None:
    assert failure(data).what == "No conversation found in the file"


def test_n03_cut_off() -> None:
    error = failure('{\n "session_1": [{"text": "how are y')
    assert error.where == "chat.json, line 2, column 25"
    assert error.what == "not valid JSON: it looks cut off (the text ends inside a string)"
    assert "download it again" in error.remedy


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('[{"text": "a", "speaker": "b"},\n]', "a trailing comma"),
        ("[{'text': 'a', 'speaker': 'b'}]", "single quotes instead of double quotes"),
        ('[{"text": "a", // hm\n "speaker": "b"}]', "a comment"),
    ],
)
def test_n04_almost_json_is_not_mended_silently(text: str, hint: str) -> None:
    error = failure(text)
    assert error.what == f"not standard JSON: {hint}"
    assert ", line " in error.where


def test_n05_two_documents_in_one_file() -> None:
    both = json.dumps(ANN) + "\n" + json.dumps(BOB)
    assert said(both) == [("Ann", "hello"), ("Bob", "hi")]
    assert said(json.dumps(ANN, indent=1) + json.dumps(BOB, indent=1)) == said(both)


def test_n06_one_broken_line_of_a_thousand() -> None:
    lines = [json.dumps(ANN)] * 1000
    lines[416] = '{"speaker": "Ann", "text": '
    corpus = read("\n".join(lines))
    assert corpus.report.kept == 999
    (finding,) = corpus.report.skipped
    assert finding.where == "line 417"
    assert finding.what == "the line is left out: not valid JSON in column 27"


def test_n07_byte_order_mark() -> None:
    assert said(b"\xef\xbb\xbf" + json.dumps([ANN]).encode()) == [("Ann", "hello")]
    assert said(b"\xef\xbb\xbfspeaker,text\nAnn,hello\n") == [("Ann", "hello")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_n08_utf_16(encoding: str) -> None:
    assert said(json.dumps([ANN]).encode(encoding)) == [("Ann", "hello")]
    if encoding == "utf-16":  # Excel's "Unicode text"
        assert said("speaker\ttext\nAnn\thello\n".encode(encoding)) == [("Ann", "hello")]


def test_n09_windows_1252() -> None:
    data = "speaker;text\nZoë;“née”\n".encode("cp1252")
    assert said(data) == [("Zoë", "“née”")]
    assert found(data) == [
        ("repaired", "file", "read as Windows-1252: the bytes are not UTF-8 (first in line 2)")
    ]


def test_n10_line_ends_are_one_another() -> None:
    table = 'speaker,text\nAnn,"a\u2028b\x85c"\nBob,d\n'
    talk = "Ann: a\u2028b\x85c\nBob: d\n"
    phone = "25/03/2025, 10:14 - Ann: a\u2028b\x85c\n25/03/2025, 10:15 - Bob: d\n"
    for text in (table, talk, phone):
        for end in ("\n", "\r\n", "\r"):
            assert said(text.replace("\n", end)) == [("Ann", "a\u2028b\x85c"), ("Bob", "d")]


def test_n11_control_characters() -> None:
    assert said(b'[{"speaker": "Ann", "text": "a\x00b\\u0007c"}]') == [("Ann", "a\ufffdb\ufffdc")]
    two = "2 control characters or lone surrogates replaced by U+FFFD"
    assert found(b'[{"speaker": "Ann", "text": "a\x00b\\u0007c"}]') == [
        ("repaired", "[0].text", two)
    ]
    assert found(b"Ann: a\x00b\x07c\nBob: d") == [("repaired", "file", two)]
    assert said(b"Ann: a\x00b\x07c\nBob: d")[0] == ("Ann", "a\ufffdb\ufffdc")


def test_n12_lone_surrogate() -> None:
    corpus = read(b'[{"speaker": "A\\ud800", "text": "x\\udfff"}]')
    assert said(b'[{"speaker": "A\\ud800", "text": "x\\udfff"}]') == [("A\ufffd", "x\ufffd")]
    assert len(corpus.report.repaired) == 2
    repr(corpus).encode()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_n13_numbers_that_are_none(number: str) -> None:
    row = f'{{"speaker": "Ann", "text": "x", "time": {number}}}'
    document = f'[{row}, {{"speaker": "Ann", "text": {number}}}]'
    conversation = only(document)
    assert [(s.start, len(s.turns)) for s in conversation.sessions] == [(None, 1)]
    assert ("skipped", "[1].text") in [row[:2] for row in found(document)]
    assert read_time(math.nan) is read_time(math.inf) is None


def test_n14_a_number_of_5000_digits() -> None:
    error = failure('[{"speaker": "Ann", "text": ' + "7" * 5000 + "}]")
    assert error.what == "a number with 5,000 digits"


def test_n15_nested_100000_deep() -> None:
    error = failure("[" * 100_000 + "]" * 100_000)
    assert error.what == "the JSON is nested too deeply"


def test_n16_a_key_twice() -> None:
    first, second = (f'"session_1": [{{"speaker": "A", "text": "{text}"}}]' for text in "ab")
    text = f"{{{first}, {second}}}"
    assert said(text) == [("A", "b")]
    what = "the key 'session_1' stands here 2 times; the last one is used"
    assert ("repaired", "session_1", what) in found(text)


# --- turns ---------------------------------------------------------------------------


def test_n17_no_text() -> None:
    document = locomo(turn(1), turn(2, text=None), turn(3, text=None, blip_caption="a cat"))
    assert [(t.id, t.content) for t in only(document).turns] == [
        ("D1:1", "hello"),
        ("D1:3", "[image: a cat]"),
    ]
    what = "expected a text, found null, and no image caption; the turn is left out"
    assert found(document) == [("skipped", "session_1[1].text", what)]
    records = [ANN, {"speaker": "Bob", "text": None}, {"speaker": "Bob"}]
    assert [row[:2] for row in found(records)] == [("skipped", "[1].text"), ("skipped", "[2].text")]


def test_n18_text_of_another_type() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "image"}, "b"]
    texts: list[object] = [5, 2.5, blocks, {"a": 1}, True]
    document = [{"speaker": "Ann", "text": text} for text in ["hello", *texts]]
    assert [text for _, text in said(document)] == ["hello", "5", "2.5", "a\nb"]
    assert [row[:2] for row in found(document)] == [
        ("repaired", "[1].text"),
        ("repaired", "[2].text"),
        ("skipped", "[3].text"),  # the part without text
        ("skipped", "[4].text"),
        ("skipped", "[5].text"),
    ]


def test_n19_empty_text_is_kept_but_no_leaf() -> None:
    for document in (
        locomo(turn(1), turn(2, "Bob", " \n"), turn(3)),
        [ANN, {"speaker": "Bob", "text": ""}, ANN],
        'speaker,text\nAnn,hello\nBob,""\nAnn,hello\n',
    ):
        conversation = only(document)
        assert len(conversation.turns) == 3
        assert sum(len(unit.turn_ids) for unit in conversation.units("turn")) == 2
        assert conversation.dropped("turn") == ()


def test_n20_answers_of_any_kind() -> None:
    answers = [{"answer": 2022}, {}, {"answer": None}, {"answer": ["a", 5]}, {"answer": {"a": 1}}]
    qa = [{"question": "q?", "category": 5, "evidence": [], **answer} for answer in answers]
    questions = only(locomo(turn(1), qa=qa)).questions
    assert [q.answer for q in questions] == ["2022", None, None, "a, 5", None]


def test_n21_evidence_in_any_state() -> None:
    entries = ["D1:1; D1:2", "D:1:1", "D1:02", "D9:9", "D", "D1:1-D1:2"]
    qa = [{"question": "q?", "answer": "a", "evidence": entries}]
    (question,) = only(locomo(turn(1), turn(2), qa=qa)).questions
    assert question.evidence == ("D1:1", "D1:2")
    assert question.unresolved == ("D9:9", "D", "D1:1-D1:2")


def test_n22_speakers_of_any_kind() -> None:
    document = locomo(turn(1), turn(2, "Cleo"), turn(3, None), turn(4, 7), turn(5, "Dan"))
    conversation = only(document)
    assert conversation.speakers == ("Ann", "Bob", "Cleo", "Unknown", "Dan")
    assert [t.speaker for t in conversation.turns] == ["Ann", "Cleo", "Unknown", "Unknown", "Dan"]
    assert [row[1] for row in found(document)] == ["session_1[2].speaker", "session_1[3].speaker"]
    assert len(conversation.units("exchange")) == 2


def test_n23_one_speaker_alone() -> None:
    conversation = only("\n".join(["Ann: one", "Ann: two", "Ann: three"]))
    assert conversation.speakers == ("Ann",)
    assert [unit.turn_ids for unit in conversation.units("exchange")] == [("S1:1", "S1:2", "S1:3")]
    assert len(conversation.units("turn")) == 3


def test_n24_one_utterance() -> None:
    for document in ([ANN], "Ann: hello", "speaker,text\nAnn,hello", locomo(turn(1))):
        conversation = only(document)
        assert [(t.speaker, t.text) for t in conversation.turns] == [("Ann", "hello")]
        memory = segviz.build(conversation)
        assert (len(memory.units), memory.check()) == (1, [])


def test_n25_sessions_without_utterances() -> None:
    assert (
        failure(locomo()).what == "The file was read, but it has no messages (1 session, all empty)"
    )
    empty = {"title": "t", "mapping": {"r": {"message": None, "parent": None}}}
    assert failure([empty]).what == (
        "The file was read, but it has no messages; the first problem is at [0]: "
        "no messages; the conversation is left out"
    )


def test_n26_very_many_and_very_long() -> None:
    many = "\n".join(f"{'Ann' if i % 2 else 'Bob'}: line {i}" for i in range(100_000))
    assert len(only(many).turns) == 100_000
    for unit in ("x", "<", "x ", "\u200e", "a\n", '"', "<a|"):
        text = (unit * 5_000_000)[:5_000_000] + "."
        assert said([{"speaker": "Ann", "text": text}]) == [("Ann", text)]
        if unit != "\u200e":  # with which WhatsApp begins its own notices
            assert said(f"25/03/2025, 10:14 - Ann: {text}") == [("Ann", text)]


def test_n27_too_large(tmp_path: Path) -> None:
    error = failure(json.dumps([ANN] * 99), limit=1000)
    assert error.what.endswith("more than the 1000 bytes that are read at once")
    assert error.remedy.startswith("give its path on the machine that runs segviz")
    file = tmp_path / "big.json"
    file.write_text(json.dumps([ANN] * 99))
    with pytest.raises(LoadError, match="more than the 1000 bytes that are read at once"):
        load(file, limit=1000)
    # A list of instances is read one by one, whatever its size.
    message = {"role": "user", "content": "hello"}
    instance = {"question_id": "q", "question": "?", "haystack_sessions": [[message]]}
    file.write_text(json.dumps([instance] * 99))
    assert len(load(file, limit=1000, by_items=1000)) == 99


# --- order and time ------------------------------------------------------------------


def test_n28_sessions_out_of_order() -> None:
    document = {
        "session_10": [{"speaker": "A", "dia_id": "D10:1", "text": "ten"}],
        "session_2": [{"speaker": "A", "dia_id": "D2:1", "text": "two"}],
        "session_2_date_time": "1:56 pm on 9 May, 2023",
        "session_10_date_time": "1:56 pm on 8 May, 2023",
    }
    assert [s.id for s in only(document).sessions] == ["session_2", "session_10"]
    what = "1 session dated before the previous one (session_10); kept in numeric order"
    assert found(document) == [("repaired", "file", what)]


@pytest.mark.parametrize("raw", ["yesterday", "8 Mai, 2023", "31/02/2024", ""])
def test_n29_dates_that_cannot_be_read(raw: str) -> None:
    (session,) = only(locomo(turn(1), session_1_date_time=raw)).sessions
    assert (session.start, session.raw_date) == (None, raw)
    records = [{**ANN, "date": raw}, {**BOB, "date": raw}]
    (session,) = only(records).sessions
    assert (session.start, session.raw_date, len(session.turns)) == (None, raw, 2)


def test_n30_day_or_month_first() -> None:
    def starts(*dates: str, **options: object) -> list[datetime | None]:
        text = "\n".join(f"{date}, 10:14 - Ann: hi" for date in dates)
        return [session.start for session in only(text, **options).sessions]

    day_first = [datetime(2025, 4, 3, 10, 14), datetime(2025, 4, 13, 10, 14)]
    assert starts("03/04/2025", "13/04/2025") == day_first
    assert starts("04/03/2025", "04/13/2025") == day_first
    # Only with the month first does the time run forward.
    assert starts("3/11/25", "4/2/25", "5/1/25")[0] == datetime(2025, 3, 11, 10, 14)
    assert starts("03.04.25") == day_first[:1]
    assert starts("03/04/2025") == [None]
    assert starts("03/04/2025", day_first=True) == day_first[:1]
    assert starts("03/04/2025", day_first=False) == [datetime(2025, 3, 4, 10, 14)]
    assert found("03/04/2025, 10:14 - Ann: hi")[0][2] == (
        "03/04/2025 may have the day or the month first, and nothing in the file tells; "
        "read without dates (say day_first=True or False)"
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20)),
        (1_700_000_000_000, datetime(2023, 11, 14, 22, 13, 20)),
        (1_700_000_000_000_000, datetime(2023, 11, 14, 22, 13, 20)),
        ("1700000000.5", datetime(2023, 11, 14, 22, 13, 20, 500_000)),
        ("2023-11-14T22:13:20Z", datetime(2023, 11, 14, 22, 13, 20)),
        ("2023-11-15T00:13:20+02:00", datetime(2023, 11, 14, 22, 13, 20)),
        ("2023-11-14 22:13", datetime(2023, 11, 14, 22, 13)),
        ("12:09 am on 14 November, 2023", datetime(2023, 11, 14, 0, 9)),
        ("12:09 pm on 14 November, 2023", datetime(2023, 11, 14, 12, 9)),
        (0, None),  # 1970: a program that knows no time
        (1.0, None),
        (-5, None),
        (10**30, None),
        ("56988-01-01", None),
        ("9999-12-31T23:59:59-23:59", None),
        (True, None),
    ],
)
def test_n31_times_of_all_kinds_in_one_form(value: object, expected: datetime | None) -> None:
    assert read_time(value) == expected


def test_n31_naive_and_aware_times_in_one_file() -> None:
    times = ["2023-11-14T10:00:00Z", "2023-11-14 10:05", 1_700_000_000, "never"]
    conversation = only([{**ANN, "time": time} for time in times])
    assert [len(session.turns) for session in conversation.sessions] == [2, 2]


def test_n32_unknown_fields() -> None:
    extra = {"session_foo": [], "session_1_summary": "s", "events_session_1": {}, "x": {"y": []}}
    assert found(locomo(turn(1, zzz=[1]), **extra)) == []
    assert found([{**ANN, "likes": 3, "": None}]) == []


# --- archives ------------------------------------------------------------------------


def test_n33_gzip() -> None:
    packed = gzip.compress(BARE)
    corpus = read(packed, "chat.json.gz")
    assert (corpus.ids, corpus.report.name, corpus.report.kept) == (("chat",), "chat.json", 2)
    for cut in (5, len(packed) // 2, len(packed) - 4):
        assert failure(packed[:cut]).what.startswith("the archive is damaged")


def test_n34_bombs(tmp_path: Path) -> None:
    zeros = bytes(30 * 1024**2)
    ratio = "the archive expands to more than 200 times its size, as no conversation does"
    assert failure(gzip.compress(zeros)).what == ratio
    assert failure(zipped({"a.json": b'["' + b"x" * len(zeros)})).what == ratio
    large = b"".join(b"line %d of many\n" % i for i in range(200_000))
    too_much = "what the archive holds has more than the 1 MB that are read at once"
    assert failure(gzip.compress(large), limit=1 << 20).what == too_much
    assert failure(zipped({"a.json": large}), limit=1 << 20).what == too_much
    inner = zipped({"chat.json": BARE})
    assert failure(zipped({"inner.zip": inner})).what == "there is nothing but other archives in it"
    assert failure(gzip.compress(inner)).what == "this is a zip archive"


def test_n34_an_archive_that_lies_about_its_size() -> None:
    data = bytearray(zipped({"a.json": b"x" * 5_000_000}))
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(mark) + at
        data[place : place + 4] = (10).to_bytes(4, "little")
    failure(bytes(data))


def test_n35_names_in_archives_lead_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    link = zipfile.ZipInfo("link.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("../../escape.json", BARE)
        archive.writestr("/etc/absolute.json", b"\x00\x01")
        archive.writestr(link, "/etc/passwd")
    corpus = read(target.getvalue(), "a.zip")
    assert corpus.report.kept == 2
    assert list(tmp_path.iterdir()) == []


def test_n35_many_twice_and_locked() -> None:
    many = {f"day/{i}.bin": b"\0" for i in range(3000)} | {"chat.json": BARE}
    corpus = read(zipped(many), "a.zip")
    assert corpus.report.kept == 2
    assert corpus.report.findings[-1].what == "3,000 other files not read"
    target = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("chat.json", "[]")
        archive.writestr("chat.json", BARE)
    assert read(target.getvalue(), "a.zip").report.kept == 2
    data = bytearray(zipped({"chat.json": BARE}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= 1
    assert failure(bytes(data)).what == "the archive is protected by a password"


# --- hostile and strange text --------------------------------------------------------

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</div>",
    "[x](javascript:alert(1))",
    "![](http://tracker.example/x.png)",
    "$latex$",
    ":red[x]",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_n36_markup_stays_literal(text: str) -> None:
    document = locomo(turn(1, text, text))
    corpus = parse(json.dumps([{"conversation": document, "sample_id": text}]).encode(), text)
    assert (corpus.ids, corpus.report.name) == ((text,), text)
    assert [(t.speaker, t.text) for t in corpus[0].turns] == [(text, text)]
    assert said([{"speaker": text, "text": text}]) == [(text, text)]
    assert said(f'speaker,text\n"{text}","{text}"\n') == [(text, text)]
    assert said(f"Ann: {text}\nBob: {text}") == [("Ann", text), ("Bob", text)]
    assert said(f"25/03/2025, 10:14 - Ann: {text}") == [("Ann", text)]
    html = {"from": "human", "value": text}
    assert said([{"id": "x", "conversations": [html]}]) == [("human", text)]


def test_n37_direction_and_zero_width() -> None:
    text = "\u202eevil\u2066 שלום \u200b\u200d\u2060"
    assert said([{"speaker": "אן", "text": text}]) == [("אן", text)]
    assert said(f"speaker,text\nאן,{text}\n") == [("אן", text)]


def test_n38_graphemes_are_not_cut() -> None:
    family, flag, accent = "👩\u200d👩\u200d👧", "🇩🇪", "e\u0301"
    for unit in (family, flag, accent):
        assert said([{"speaker": "A", "text": unit * 50}]) == [("A", unit * 50)]
    name = "a" * 38 + "e\u0301" * 40
    where = failure(b"", name=name + ".json").where
    assert not where.split("…")[1].startswith("\u0301")


def test_n39_tables() -> None:
    assert said("speaker;text\nAnn;=cmd()|x!A1\n") == [("Ann", "=cmd()|x!A1")]
    assert said("sep=;\r\nspeaker;text\r\nAnn;a,b\r\n") == [("Ann", "a,b")]
    long = "x" * 200_000
    assert said(f"speaker,text\nAnn,{long}\n") == [("Ann", long)]
    assert said('speaker,text\nAnn,"two\nlines, ""quoted"""\n') == [("Ann", 'two\nlines, "quoted"')]
    error = failure('speaker,text\nAnn,hi\nBob,"never closed\nAnn,x\n')
    assert (error.where, error.what) == (
        "chat.json, line 3",
        "a quote is opened here and never closed",
    )
    assert failure("speaker,text\n").what == "the table has a header and no rows"
    twice = "speaker,text,text\nAnn,a,b\n"
    assert said(twice) == [("Ann", "a")]
    what = "the column 'text' stands there more than once; the first is used"
    assert found(twice) == [("repaired", "line 1", what)]
    ragged = "speaker,text\nAnn,a\nBob,b, and c\nAnn\nBob,d\n"
    assert said(ragged) == [("Ann", "a"), ("Bob", "b, and c"), ("Bob", "d")]
    assert found(ragged) == [
        ("repaired", "file", "2 rows with more or fewer cells than the header"),
        ("skipped", "line 4", "the row ends before its text; it is left out"),
    ]
    assert said(b"speaker,text\nAnn,a\x00b\n") == [("Ann", "a\ufffdb")]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"%PDF-1.7\n", "this is a PDF document"),
        (zipped({"word/document.xml": b"<w/>"}), "this is a Word document (docx)"),
        (b"\x89PNG\r\n\x1a\n\0", "this is a PNG image"),
        (b"\n<!DOCTYPE html><html>Log in", "this is an HTML page"),
        (
            b"version https://git-lfs.github.com/spec/v1\n",
            "this is a Git LFS pointer, not the data",
        ),
        (b"PAR1\x15\x04", "this is a Parquet table"),
        (b"[{'role': 'user'}]", "not standard JSON: single quotes instead of double quotes"),
        (
            b'{"train": [["I like tea."]], "valid": []}',
            "no known conversation format: the file holds an object with keys train, valid",
        ),
    ],
)
def test_n40_other_kinds_of_file(data: bytes, what: str) -> None:
    error = failure(data)
    assert error.what == what
    assert RECORDS in error.expected or "JSON" in error.remedy or error.remedy


def test_two_conversations_of_one_name() -> None:
    samples = [{"conversation": locomo(turn(1)), "sample_id": "a"}] * 2
    assert read(samples).ids == ("a", "a#2")
    chats = [{"name": "t", "chat_messages": [{"sender": "human", "text": "x"}]}] * 3
    assert read(chats).ids == ("t", "t#2", "t#3")
