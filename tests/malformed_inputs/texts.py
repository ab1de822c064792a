"""N36 to N40: hostile and strange text, tables, and what is no conversation at all."""

from tests.malformed_inputs.archives import zipped
from tests.malformed_inputs.inputs import Input, locomo, read, refused, turn

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</div>",
    "[x](javascript:alert(1))",
    "![](http://tracker.example/x.png)",
    "$latex$",
    ":red[x]",
)
BIDI = "\u202eevil\u2066 שלום \u200b\u200d\u2060"
GRAPHEMES = {"a family": "👩\u200d👩\u200d👧", "a flag": "🇩🇪", "an accent": "e\u0301"}


def hostile(text: str) -> list[object]:
    """The text as words, speaker, id, date, question, answer and category."""
    talk = locomo(turn(1, text, text), turn(2, "Bob", text), session_1_date_time=text)
    asked = {"question": text, "answer": text, "category": 1, "evidence": ["D1:1"]}
    return [{"sample_id": text, "conversation": talk, "qa": [asked]}]


INPUTS: tuple[Input, ...] = (
    *(
        read(
            36,
            text,
            hostile(text),
            [(text, text), ("Bob", text)],
            "repaired | [0].conversation",
            "repaired | [0].conversation.session_1_date_time",
            name=f"{text}.json",
        )
        for text in HOSTILE
    ),
    read(37, "in records", [{"speaker": "אן", "text": BIDI}], [("אן", BIDI)]),
    read(37, "in a table", f"speaker,text\nאן,{BIDI}\n", [("אן", BIDI)]),
    *(
        read(38, name, [{"speaker": "A", "text": unit * 50}], [("A", unit * 50)])
        for name, unit in GRAPHEMES.items()
    ),
    read(39, "a formula", "speaker;text\nAnn;=cmd()|x!A1\n", [("Ann", "=cmd()|x!A1")]),
    read(39, "the mark named", "sep=;\r\nspeaker;text\r\nAnn;a,b\r\n", [("Ann", "a,b")]),
    read(39, "200 kB in a cell", f"speaker,text\nA,{'x' * 200_000}\n", [("A", "x" * 200_000)]),
    read(
        39,
        "quotes and a line break",
        'speaker,text\nAnn,"two\nlines, ""quoted"""\n',
        [("Ann", 'two\nlines, "quoted"')],
    ),
    refused(
        39, "a quote never closed", 'speaker,text\nAnn,hi\nBob,"never closed\nAnn,x\n', "line 3"
    ),
    refused(39, "a header alone", "speaker,text\n"),
    read(
        39,
        "two columns of one name",
        "speaker,text,text\nAnn,a,b\n",
        [("Ann", "a")],
        "repaired | line 1",
    ),
    read(
        39,
        "ragged rows",
        "speaker,text\nAnn,a\nBob,b, and c\nAnn\nBob,d\n",
        [("Ann", "a"), ("Bob", "b, and c"), ("Bob", "d")],
        "repaired | file",
        "skipped | line 4",
    ),
    read(39, "a NUL", b"speaker,text\nAnn,a\x00b\n", [("Ann", "a\ufffdb")], "repaired | file"),
    *(
        refused(40, what, data)
        for what, data in (
            ("a PDF document", b"%PDF-1.7\n"),
            ("a Word document (docx)", zipped({"word/document.xml": b"<w/>"})),
            ("a PNG image", b"\x89PNG\r\n\x1a\n\0"),
            ("an HTML page", b"\n<!DOCTYPE html><html>Log in"),
            ("a Git LFS pointer", b"version https://git-lfs.github.com/spec/v1\n"),
        )
    ),
    refused(40, "a Parquet table cut off", b"PAR1\x15\x04"),
    refused(40, "a Python list", b"[{'role': 'user'}]", "line 1, column 3"),
    refused(40, "personas alone", b'{"train": [["I like tea."]], "valid": []}'),
)
