"""N01 to N16: what is wrong with a file as a whole."""

from __future__ import annotations

import json

from tests.malformed_inputs.inputs import (
    ANN,
    BOB,
    CHAT,
    NO_DATE,
    ONE,
    ONE_REPLACED,
    Input,
    read,
    refused,
)

EMPTY = "No conversation found in the file"
AGAIN = "download it again or export it anew"
OTHER = "choose another file"
PROPERTY = "expecting property name enclosed in double quotes"
CORRECT = "correct that place or export the file anew"
TWO = "2 control characters or lone surrogates replaced by U+FFFD"
TWICE = ", ".join(f'"session_1": [{{"speaker": "A", "text": "{text}"}}]' for text in "ab")

ENDS = {"\n": "\\n", "\r\n": "\\r\\n", "\r": "\\r", "": "all of them"}
LINES = {
    "a table": 'speaker,text\nAnn,"a\u2028b\x85c"\nBob,d\nAnn,e\n',
    "a talk": "Ann: a\u2028b\x85c\nBob: d\nAnn: e\n",
    "a phone": "".join(
        f"25/03/2025, 10:1{i} - {said}\n"
        for i, said in enumerate(("Ann: a\u2028b\x85c", "Bob: d", "Ann: e"))
    ),
}


def ended(text: str, end: str) -> str:
    """The text with other line ends; with one of each in turn for ""."""
    if end:
        return text.replace("\n", end)
    ends = ("\r\n", "\n", "\r")
    return "".join(line + ends[i % 3] for i, line in enumerate(text.split("\n")[:-1]))


def broken_line() -> bytes:
    """A thousand lines, of which the 417th is cut."""
    lines = [json.dumps(ANN)] * 1000
    lines[416] = '{"speaker": "Ann", "text": '
    return "\n".join(lines).encode()


INPUTS: tuple[Input, ...] = (
    refused(1, "no bytes", b"", "The file is empty", "", AGAIN),
    refused(2, "white space", b" \n\t", EMPTY, "", OTHER),
    refused(2, "null", b"null", EMPTY, "", OTHER),
    refused(2, "an empty list", b"[]", EMPTY, "", OTHER),
    refused(2, "an empty object", b"{}", EMPTY, "", OTHER),
    refused(2, "a byte order mark alone", b"\xef\xbb\xbf \r\n", EMPTY, "", OTHER),
    refused(
        3,
        "in a string",
        '{\n "session_1": [{"text": "how are y',
        "not valid JSON: it looks cut off",
        "line 2, column 25",
        AGAIN,
    ),
    *(
        refused(4, kind, text, f"not valid JSON: {PROPERTY}", where, CORRECT)
        for kind, text, where in (
            ("single quotes", "[{'text': 'a', 'speaker': 'b'}]", "line 1, column 3"),
            ("a comment", '[{"text": "a", // hm\n "speaker": "b"}]', "line 1, column 16"),
        )
    ),
    read(5, "two lines", f"{json.dumps(ANN)}\n{json.dumps(BOB)}", CHAT),
    read(
        6,
        "the 417th",
        broken_line,
        999,
        "skipped | line 417 | the line is left out: not valid JSON in column 27",
    ),
    read(7, "before JSON", b"\xef\xbb\xbf" + json.dumps([ANN]).encode(), ONE),
    read(7, "before a table", b"\xef\xbb\xbfspeaker,text\nAnn,hello\n", ONE),
    read(8, "with a mark", json.dumps([ANN]).encode("utf-16"), ONE),
    read(8, "little endian", json.dumps([ANN]).encode("utf-16-le"), ONE),
    read(8, "big endian", json.dumps([ANN]).encode("utf-16-be"), ONE),
    read(8, "Excel's Unicode text", "speaker\ttext\nAnn\thello\n".encode("utf-16"), ONE),
    read(
        9,
        "in a table",
        "speaker;text\nZoë;“née”\n".encode("cp1252"),
        [("Zoë", "“née”")],
        "repaired | file | read as Windows-1252: the bytes are not UTF-8 (first in line 2)",
    ),
    *(
        read(
            10,
            f"{name} with {ENDS[end]}",
            ended(text, end),
            [("Ann", "a\u2028b\x85c"), ("Bob", "d"), ("Ann", "e")],
        )
        for name, text in LINES.items()
        for end in ENDS
    ),
    read(
        11,
        "in JSON",
        b'[{"speaker": "Ann", "text": "a\x00b\\u0007c"}]',
        [("Ann", "a\ufffdb\ufffdc")],
        f"repaired | [0].text | {TWO}",
    ),
    read(
        11,
        "in a talk",
        b"Ann: a\x00b\x07c\nBob: d",
        [("Ann", "a\ufffdb\ufffdc"), ("Bob", "d")],
        f"repaired | file | {TWO}",
    ),
    read(
        12,
        "in text and name",
        b'[{"speaker": "A\\ud800", "text": "x\\udfff"}]',
        [("A\ufffd", "x\ufffd")],
        f"repaired | [0].speaker | {ONE_REPLACED}",
        f"repaired | [0].text | {ONE_REPLACED}",
    ),
    *(
        read(
            13,
            number,
            f'[{{"speaker": "Ann", "text": "x", "time": {number}}}, '
            f'{{"speaker": "Ann", "text": {number}}}]',
            [("Ann", "x")],
            "repaired | file | 1 record with no time",
            "repaired | file | 1 record with a time that cannot be read",
            "skipped | [1].text | expected a text, found a number that is not finite; "
            "the message is left out",
        )
        for number in ("NaN", "Infinity", "-Infinity", "1e999")
    ),
    refused(
        14,
        "as a text",
        f'[{{"speaker": "Ann", "text": {"7" * 5000}}}]',
        "a number with thousands of digits",
        "",
        "put it in quotes",
    ),
    refused(15, "lists", "[" * 100_000 + "]" * 100_000, "the JSON is nested too deeply", "", AGAIN),
    read(
        16,
        "session_1",
        f"{{{TWICE}}}",
        [("A", "b")],
        "repaired | session_1 | the key 'session_1' stands here 2 times; the last one is used",
        "repaired | session_1[0].dia_id | the id is missing or unusable; the turn is called D1:1",
        f"repaired | session_1_date_time | {NO_DATE} nothing; kept without date",
    ),
)
