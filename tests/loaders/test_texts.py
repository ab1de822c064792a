"""Plain text: WhatsApp in several locales, transcripts, tables, records."""

import csv
import io
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.loaders import LoadError, NeedsColumns
from segviz.loaders.cells import DELIMITERS, read_table
from tests.loaders.reading import failure, findings, only, read, said

# --- WhatsApp ------------------------------------------------------------------------

DECEMBER = datetime(2023, 12, 28, 20, 2)


@pytest.mark.parametrize(
    ("head", "start"),
    [
        ("[28/12/2023, 20:02:11] ", DECEMBER.replace(second=11)),  # iOS, United Kingdom
        ("[28.12.23, 20:02:11] ", DECEMBER.replace(second=11)),  # iOS, Germany
        ("\u200e[12/28/23, 8:02:11\u202fPM] ", DECEMBER.replace(second=11)),  # iOS, USA
        ("[2023-12-28, 8:02:11 p.m.] ", DECEMBER.replace(second=11)),  # iOS, Canada
        ("[28.12.2023 klo 20.02.11] ", DECEMBER.replace(second=11)),  # iOS, Finland
        ("[28/12/2023 à 20:02:11] ", DECEMBER.replace(second=11)),  # iOS, France
        ("28/12/2023, 20:02 - ", DECEMBER),  # Android, United Kingdom
        ("12/28/23, 8:02\u202fPM - ", DECEMBER),  # Android, USA
        ("28/12/23, 8:02 p. m. - ", DECEMBER),  # Android, Mexico
        ("28.12.23, 20:02 - ", DECEMBER),  # Android, Germany
        ("28-12-2023 20:02 - ", DECEMBER),  # Android, Netherlands
        ("28/12/2023 20:02 - ", DECEMBER),  # Android, Brazil
        ("28/12/2023 à 20:02 - ", DECEMBER),  # Android, France
        ("2023/12/28 20:02 - ", DECEMBER),  # Android, Japan
        ("12/28/23, 12:02 AM - ", datetime(2023, 12, 28, 0, 2)),
        ("12/28/23, 12:02 PM - ", datetime(2023, 12, 28, 12, 2)),
        ("٢٠/٣/٢٠٢٤، ١٠:١٤ م - ", datetime(2024, 3, 20, 22, 14)),
        ("[٢٠\u200f/٣\u200f/٢٠٢٤, ١٠:١٤:٠٥ ص] ", datetime(2024, 3, 20, 10, 14, 5)),
        ("१८/०३/२०२४, १०:१४ pm - ", datetime(2024, 3, 18, 22, 14)),
        ("২০/৩/২০২৪, ১০:১৪ - ", datetime(2024, 3, 20, 10, 14)),
    ],
)
def test_whatsapp_starts_of_many_locales(head: str, start: datetime) -> None:
    text = f"{head}Ann: hello: you\nand more ٣\n\n{head}Bob B: yes\n"
    corpus = read(text)
    assert corpus.report.source_format == "chat log (lines with times)"
    assert said(text) == [("Ann", "hello: you\nand more ٣"), ("Bob B", "yes")]
    (session,) = corpus[0].sessions
    assert (session.start, session.raw_date in head) == (start, True)
    assert corpus.report.findings == ()


def test_whatsapp_silence_begins_a_session_and_nothing_said_is_an_error() -> None:
    text = "\n".join(f"28/12/2023, {hour}:00 - Ann: at {hour}" for hour in (1, 2, 11, 23))
    assert [len(s.turns) for s in read(text)[0].sessions] == [2, 1, 1]
    assert [len(s.turns) for s in read(text, gap_hours=10)[0].sessions] == [3, 1]
    assert "it has no messages" in failure("28/12/2023, 20:02 - Ann added Bob").what


def test_whatsapp_mixed_orders_are_not_guessed() -> None:
    text = "\n".join(f"{date}, 10:00 - Ann: x" for date in ("13/04/2025", "04/13/2025") * 3)
    corpus = read(text)
    assert {session.start for session in corpus[0].sessions} == {None}
    what = "some dates have the day first, others the month"
    assert what in corpus.report.findings[0].what


# --- transcripts ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Ann: hello\nBob: hi",
        "Ann: hello\n\nBob: hi\n",
        "**Ann:** hello\n**Bob**: hi",
        "- Ann: hello\n- Bob: hi",
        "[10:14] Ann: hello\n[10:15] Bob: hi",
        "(10:14 am) Ann: hello\n(10:15 am) Bob: hi",
        "Ann:\nhello\nBob:\nhi",
    ],
)
def test_transcripts(text: str) -> None:
    assert said(text) == [("Ann", "hello"), ("Bob", "hi")]
    assert findings(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Just a few words\nwithout anybody.",
        "From: a@example.org\nTo: b@example.org\nSubject: x\nDate: y\n\nHello",
        "host: a\nport: b\nuser: c\npath: d",
        "10:14 something happened\n10:15 something else",
        "https://a.example\nhttps://b.example",
    ],
)
def test_other_texts_are_no_transcripts(text: str) -> None:
    assert "Name: words" in failure(text).remedy


# --- tables --------------------------------------------------------------------------


@pytest.mark.parametrize("mark", DELIMITERS)
def test_tables_with_every_delimiter(mark: str) -> None:
    rows = [["Timestamp", "Sender", "Message"], ["2024-05-01 10:00", "Ann", "hello"]]
    rows += [["2024-05-01 10:05", "Bob", "hi"], ["2024-05-02 10:05", "Ann", "again"]]
    text = "\n".join(mark.join(row) for row in rows)
    assert said(text) == [("Ann", "hello"), ("Bob", "hi"), ("Ann", "again")]
    assert [str(s.start) for s in only(text).sessions] == [
        "2024-05-01 10:00:00",
        "2024-05-02 10:05:00",
    ]


def test_a_header_makes_a_table_of_rows_that_end_in_a_time() -> None:
    rows = [("Ann", "At nine?"), ("Bob", "Yes: ten past."), ("Ann", "By bus?"), ("Bob", "No.")]
    text = "\n".join(["who,text,time", *(f"{who},{text},2025-06-12 18:07" for who, text in rows)])
    assert said(text) == rows


def test_columns_that_are_said() -> None:
    text = "wer,was,text\nAnn,hallo,1\nBob,servus,2\n"
    assert said(text, columns={"text": "was", "speaker": "wer"}) == [
        ("Ann", "hallo"),
        ("Bob", "servus"),
    ]
    with pytest.raises(NeedsColumns) as caught:
        read("wer,was\nAnn,hallo\n")
    assert caught.value.headers == ("wer", "was")
    with pytest.raises(NeedsColumns, match="'wie'"):
        read("wer,was\nAnn,hallo\n", columns={"text": "wie"})
    assert "'words'" in failure(text, columns={"words": "was"}).what


def test_unreadable_times_are_counted_once() -> None:
    text = "speaker,text,time\nAnn,a,2024-05-01\nAnn,b,soon\nAnn,c,\nAnn,d,late\n"
    counts = [finding.what[:2] for finding in read(text).report.findings]
    assert counts == ["1 ", "2 "]  # without a time, and with one that cannot be read


def test_a_quote_behind_a_space_and_cells_beyond_the_limit_of_csv() -> None:
    assert said('speaker, text\nAnn, "hi, there"\n') == [("Ann", "hi, there")]
    assert said("speaker,text\nAnn, hi\n") == [("Ann", " hi")]
    before = csv.field_size_limit(200)
    try:
        assert said(f"speaker,text\nAnn,{'x' * 1000}\n") == [("Ann", "x" * 1000)]
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize(
    ("end", "line"),
    [
        ('"B\nob","hi\nCleo,c\n', 4),
        ('"', 3),
        ('"\n', 3),
        ('Bob,"', 3),
        ('Bob,"\n\n', 3),
        ('Bob,""""', None),
        ('Bob,""', None),
    ],
)
def test_the_line_of_an_open_quote(end: str, line: int | None) -> None:
    text = f"speaker,text\nAnn,a\n{end}"
    if line is None:
        assert said(text)[0] == ("Ann", "a")
        return
    assert failure(text).where == f"file.json, line {line}"


cells = st.text(st.sampled_from('ab,;"\n\r\t| é\u2028'), max_size=6)


@given(
    st.lists(st.lists(cells, min_size=2, max_size=4), min_size=1, max_size=5),
    st.sampled_from(list(DELIMITERS)),
    st.sampled_from(["\n", "\r\n"]),
)
def test_written_tables_are_read_as_csv_reads_them(
    rows: list[list[str]], mark: str, end: str
) -> None:
    target = io.StringIO()
    csv.writer(target, delimiter=mark, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    text = target.getvalue()
    expected = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))
    assert expected == rows
    filled = [tuple(row) for row in rows if any(cell.strip() for cell in row)]
    assert [row.cells for row in read_table(text, mark)] == filled


@pytest.mark.parametrize("hours", [float("nan"), -5])
def test_a_silence_is_a_length_of_time(hours: float) -> None:
    with pytest.raises(LoadError, match=r"gap_hours is .* Expected 0 hours or more"):
        read("Ann: hi", gap_hours=hours)


LEVELS = ("INFO", "WARN", "INFO", "INFO")

LOGS = {
    "tabs": "2025/05/01\n09:10\tAnn\tIs it dry?\n09:11\tBob\tIt is.\n09:12\tcall 1:05\n"
    "2025/05/02\n09:13\tAnn\tGood.\n",
    "brackets": "--- 2025년 5월 1일 ---\n[Ann] [오전 9:10] Is it dry?\n[Bob] [오전 9:11] It is.\n"
    "--- 2025년 5월 2일 ---\n[Ann] [오전 9:13] Good.\n",
    "name behind the time": "[2025-05-01 09:10] Ann\nIs it dry?\n\n"
    "[2025-05-01 09:11] Bob\nIt is.\n\n"
    "{Attachments}\nx.png\n\n[2025-05-02 09:13] Ann (pinned)\nGood.\n=====\nExported\n",
    "name below the time": "May 01, 2025  9:10:00 AM (Read by you)\nAnn\nIs it dry?\n\n"
    "May 01, 2025  9:11:00 AM\nBob\nIt is.\n\nMay 02, 2025  9:13:00 AM\nAnn\nGood.\n",
    "name above the text": "Ann, [01.05.2025 09:10]\nIs it dry?\n\n"
    "Bob, [01.05.2025 09:11]\nIt is.\n\n"
    "Ann, [02.05.2025 09:13]\nGood.\n",
    "number behind the name": "2025-05-01 09:10:00 Ann(12)\nIs it dry?\n\n"
    "2025-05-01 09:11:00 Bob(7)\nIt is.\n\n2025-05-02 09:13:00 Ann(12)\nGood.\n",
    "name and date above the text": "Ann — 05/01/2025 9:10 AM\nIs it dry?\n"
    "Bob — 05/01/2025 9:11 AM\nIt is.\nAnn — 05/22/2025 9:13 AM\nGood.\n",
    "date behind the name": "Ann (01.05.2025, 09:10): Is it dry?\nBob (01.05.2025, 09:11): It is.\n"
    "Ann (02.05.2025, 09:13): Good.\n",
    "Chinese, pasted": "Ann 2025年5月1日 上午9:10\nIs it dry?\n\n"
    "Bob 2025年5月1日 上午9:11\nIt is.\n\n"
    "Ann 2025年5月2日 上午9:13\nGood.\n",
    "IRC": "--- Day changed Thu May 01 2025\n09:10 <Ann> Is it dry?\n09:11 <Bob> It is.\n"
    "--- Day changed Fri May 02 2025\n09:13 <Ann> Good.\n",
    "tabs and dates": "2025-05-01 09:10:00\tAnn\tIs it dry?\n2025-05-01 09:11:00\tBob\tIt is.\n"
    "2025-05-02 09:13:00\tAnn\tGood.\n",
    "blanks": "2025.05.01 木曜日\n09:10 Ann Is it dry?\n09:11 Bob It is.\n"
    "2025.05.02 金曜日\n09:13 Ann Good.\n",
    "commas": "2025년 5월 1일 오전 9:08\n2025년 5월 1일 오전 9:10, Ann : Is it dry?\n"
    "2025년 5월 1일 오전 9:11, Bob : It is.\n2025년 5월 2일 오전 9:13, Ann : Good.\n",
    "months in words": "[ 1 May 2025 09:10 ] \u2068Ann\u2069: Is it dry?\n"
    "[ 1 May 2025 09:11 ] \u2068Bob\u2069: It is.\n[ 2 May 2025 09:13 ] \u2068Ann\u2069: Good.\n",
    "a German clock": "Ann, 01.05.2025 09:10 Uhr:\nIs it dry?\n\n"
    "Bob, 01.05.2025 09:11 Uhr:\nIt is.\n\n"
    "Ann, 02.05.2025 09:13 Uhr:\nGood.\n",
    "Vietnamese": "1/5/2025 9:10 SA - Ann: Is it dry?\n1/5/2025 9:11 SA - Bob: It is.\n"
    "22/5/2025 9:13 SA - Ann: Good.\n",
    "times of old": "5/1/25, 9:10:00 AM: Ann: Is it dry?\n5/1/25, 9:11:00 AM: Bob: It is.\n"
    "5/22/25, 9:13:00 AM: Ann: Good.\n",
    "Hindi": "1/5/25, 9:10 पूर्वाह्न - Ann: Is it dry?\n1/5/25, 9:11 पूर्वाह्न - Bob: It is.\n"
    "22/5/25, 9:13 पूर्वाह्न - Ann: Good.\n",
    "Buddhist years": "1/5/2568 09:10 - Ann: Is it dry?\n1/5/2568 09:11 - Bob: It is.\n"
    "22/5/2568 09:13 - Ann: Good.\n",
    "Persian years": "[۱۴۰۴/۲/۱۱، ۰۹:۱۰:۰۰] Ann: Is it dry?\n[۱۴۰۴/۲/۱۱، ۰۹:۱۱:۰۰] Bob: It is.\n"
    "[۱۴۰۴/۳/۱، ۰۹:۱۳:۰۰] Ann: Good.\n",
}


@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_logs_of_chat_programs_have_names_times_and_sessions(text: str) -> None:
    assert said(text) == [("Ann", "Is it dry?"), ("Bob", "It is."), ("Ann", "Good.")]
    turns = only(text).turns
    assert [str(turn.time) for turn in turns[:2]] == ["2025-05-01 09:10:00", "2025-05-01 09:11:00"]
    assert [len(session.turns) for session in only(text).sessions] == [2, 1]


@pytest.mark.parametrize(
    "text",
    [
        "Ann  9:10 AM\nIs it dry?\nBob  9:11 AM\nIt is.\nAnn  9:13 AM\nGood.\n",
        "09:10:05 From Ann to Everyone: Is it dry?\n09:11:05 From Bob to Everyone: It is.\n"
        "09:13:05 From Ann to Bob: Good.\n",
    ],
)
def test_clocks_without_a_date_are_no_times(text: str) -> None:
    assert said(text) == [("Ann", "Is it dry?"), ("Bob", "It is."), ("Ann", "Good.")]
    assert read(text).report.lacks == ("times",)


@pytest.mark.parametrize(
    "text",
    [
        "".join(
            f"2025-03-01 10:14:0{n},123 {level} root: done\n" for n, level in enumerate(LEVELS)
        ),
        "2025-03-01: Added: a boat\n2025-03-02: Fixed: a key\n2025-03-03: Removed: a pot\n",
        "1 March 2025\n10:14 went to the boat\n10:20 found the key\n11:00 sailed away\n",
        "We met at 10:14. The key was there.\nThen at 11:00 we left; it was 3 March 2025.\n",
    ],
    ids=["a program's log", "a list of changes", "a diary", "prose"],
)
def test_texts_with_times_but_without_speakers_are_no_logs(text: str) -> None:
    assert "it has no messages" not in str(failure(text))


def test_lines_of_a_log_that_are_not_read_are_counted_with_an_example() -> None:
    log = "".join(f"1/{n}/2025, 9:10 - {'AB'[n % 2]}: Is it dry?\n" for n in (13, 14, 15))
    head = "".join(f"A line of prose, number {n}.\n" for n in range(6))
    (note,) = read(head + log).report.findings
    assert note.what == (
        "6 lines outside the messages left out: 84% of the text is not read, such as "
        "'A line of prose, number 0.'"
    )
    (note,) = read(log + "2025-03-01 9:10 - Bob: It is.\n").report.findings
    assert note.what.startswith("1 line with a time written otherwise read as text")


@pytest.mark.parametrize(
    "cue", ["<v Ann>Is it dry?</v>", "Ann: Is it dry?"], ids=["voice tags", "names on the lines"]
)
def test_cues_of_webvtt_are_turns(cue: str) -> None:
    other = cue.replace("Ann", "Bob").replace("Is it dry?", "It is.")
    cues = [f"{n}\n00:00:0{n}.000 --> 00:00:0{n}.900\n{c}" for n, c in enumerate((cue, other), 1)]
    assert said("\n\n".join(["WEBVTT", *cues, ""])) == [("Ann", "Is it dry?"), ("Bob", "It is.")]


def test_transcripts_in_markdown_are_turns() -> None:
    aider = (
        "# aider chat started at 2025-05-01 09:10:00\n\n#### Is it dry?\n\nIt is.\n\n> Applied\n"
    )
    assert said(aider) == [("user", "Is it dry?"), ("assistant", "It is.")]
    headings = "<!-- made -->\n\n_**User (2025-05-01 09:10Z)**_\n\nIs it dry?\n\n---\n\n"
    headings += "_**Agent (m)**_\n\nIt is.\n\n---\n\n_**User**_\n\nGood.\n"
    expected = [("User", "Is it dry?"), ("Agent", "It is."), ("User", "Good.")]
    assert said(headings) == expected


def test_a_text_is_no_table_without_reading_it_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("segviz.loaders.cells.read_table", None)  # fails if it is called
    text = "".join(f"01/05/2025, 09:{n % 60:02} - Ann: so, so, so\n" for n in range(5_000))
    assert len(said(text)) == 5_000
