"""N01 to N16: what is wrong with a file as a whole."""

import json

from tests.malformed_inputs.inputs import ANN, BOB, CHAT, ONE, Input, read, refused

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


LINE = json.dumps(ANN)


def ended(text: str, end: str) -> str:
    """The text with other line ends; with one of each in turn for ""."""
    if end:
        return text.replace("\n", end)
    ends = ("\r\n", "\n", "\r")
    return "".join(line + ends[i % 3] for i, line in enumerate(text.split("\n")[:-1]))


def broken_line() -> bytes:
    """A thousand lines, of which the 417th is cut."""
    lines = [LINE] * 1000
    lines[416] = '{"speaker": "Ann", "text": '
    return "\n".join(lines).encode()


INPUTS: tuple[Input, ...] = (
    refused(1, "no bytes", b""),
    refused(2, "white space", b" \n\t"),
    refused(2, "null", b"null"),
    refused(2, "an empty list", b"[]"),
    refused(2, "an empty object", b"{}"),
    refused(2, "a byte order mark alone", b"\xef\xbb\xbf \r\n"),
    refused(3, "in a string", '{\n "session_1": [{"text": "how are y', "line 2, column 25"),
    refused(3, "behind a comma", '[{"a": 1}, ', "line 1, column 12"),
    *(
        refused(4, kind, text, where)
        for kind, text, where in (
            ("single quotes", "[{'text': 'a', 'speaker': 'b'}]", "line 1, column 3"),
            ("a comment", '[{"text": "a", // hm\n "speaker": "b"}]', "line 1, column 16"),
            ("a comma at the end", '{"a": 1, }', "line 1, column"),
            ("words behind it", '{"a": 1} tail', "line 1, column 10"),
            ("an escape that is none", '{"a": "\\q"}', "line 1, column 8"),
        )
    ),
    read(5, "two lines", f"{json.dumps(ANN)}\n{json.dumps(BOB)}", CHAT),
    read(6, "the 417th", broken_line, 999, "skipped | line 417"),
    read(6, "between empty lines", f"\r\n{LINE}\r\n\r\n12\r\n{LINE}", 2, "skipped | line 4"),
    refused(6, "most of them", f"{LINE}\nx\ny\n", "line 2, column 1"),
    read(7, "before JSON", b"\xef\xbb\xbf" + json.dumps([ANN]).encode(), ONE),
    read(7, "before a table", b"\xef\xbb\xbfspeaker,text\nAnn,hello\n", ONE),
    *(
        read(8, f"as {encoding}", json.dumps([ANN]).encode(encoding), ONE)
        for bits in ("16", "32")
        for encoding in (f"utf-{bits}", f"utf-{bits}-le", f"utf-{bits}-be")
    ),
    refused(8, "that does not go on", b"\xff\xfe{\x00"),
    read(8, "Excel's Unicode text", "speaker\ttext\nAnn\thello\n".encode("utf-16"), ONE),
    read(
        9,
        "in a table",
        "speaker;text\nZoë;“née”\n".encode("cp1252"),
        [("Zoë", "“née”")],
        "repaired | file",
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
        "repaired | [0].text",
    ),
    read(
        11,
        "in a talk",
        b"Ann: a\x00b\x07c\nBob: d",
        [("Ann", "a\ufffdb\ufffdc"), ("Bob", "d")],
        "repaired | file",
    ),
    read(
        12,
        "in text and name",
        b'[{"speaker": "A\\ud800", "text": "x\\udfff"}]',
        [("A\ufffd", "x\ufffd")],
        "repaired | [0].speaker",
        "repaired | [0].text",
    ),
    read(
        12,
        "in UTF-16",
        '[{"speaker": "Ann", "text": "\ud800"}]'.encode("utf-16", "surrogatepass"),
        [("Ann", "\ufffd")],
        "repaired | [0].text",
    ),
    *(
        read(
            13,
            number,
            f'[{{"speaker": "Ann", "text": "x", "time": {number}}}, '
            f'{{"speaker": "Ann", "text": {number}}}]',
            [("Ann", "x")],
            "repaired | file",
            "repaired | file",
            "skipped | [1].text",
        )
        for number in ("NaN", "Infinity", "-Infinity", "1e999")
    ),
    refused(14, "as a text", f'[{{"speaker": "Ann", "text": {"7" * 5000}}}]'),
    read(
        14,
        "as a field that nobody knows",
        f'[{{"speaker": "Ann", "text": "hello", "likes": -1{"0" * 309}}}]',
        ONE,
        "repaired | [0].likes",
    ),
    refused(15, "lists", "[" * 100_000 + "]" * 100_000),
    refused(15, "objects", '{"a":' * 5_000 + "1" + "}" * 5_000),
    read(
        16,
        "session_1",
        f"{{{TWICE}}}",
        [("A", "b")],
        "repaired | session_1",
        "repaired | session_1_date_time",
    ),
    read(
        16,
        "once its signs are mended",
        '[{"speaker": "Ann", "text": "hello", "a\\u0001": 1, "a\\u0002": 2}]',
        ONE,
        *["repaired | [0]['a\ufffd']"] * 3,
    ),
)
