"""N17 to N27: what is wrong with turns and questions, and how many and how long they are."""

from tests.malformed_inputs.inputs import ANN, BOB, CHAT, ONE, Input, locomo, read, refused, turn

BLOCKS = [{"type": "text", "text": "a"}, {"type": "image"}, "b"]

ANSWERS = ({"answer": 2022}, {}, {"answer": None}, {"answer": ["a", 5]}, {"answer": {"a": 1}})
EVIDENCE = ("D1:1; D1:2", "D:1:1", "D1:02", "D9:9", "D", "D1:1-D1:2")
UNRESOLVED = EVIDENCE[3:]
LONG = ("boat tea garden. " * 320_000)[:5_000_000].strip()


def many() -> bytes:
    """A hundred thousand utterances."""
    return "\n".join(f"{'Ann' if i % 2 else 'Bob'}: line {i}" for i in range(100_000)).encode()


def answered() -> dict[str, object]:
    """A question with each kind of answer."""
    asked = ({"question": f"q{i}?", "category": 5, "evidence": []} for i in range(len(ANSWERS)))
    return locomo(turn(1), qa=[{**a, **b} for a, b in zip(asked, ANSWERS, strict=True)])


def proven() -> dict[str, object]:
    """A question with every kind of evidence."""
    asked = {"question": "q?", "answer": "a", "category": 1, "evidence": EVIDENCE}
    return locomo(turn(1), turn(2, "Bob", "hi"), qa=[asked])


INPUTS: tuple[Input, ...] = (
    read(
        17,
        "in LoCoMo, an image's caption beside",
        locomo(turn(1), turn(2, text=None), turn(3, text=None, blip_caption="a cat")),
        [("Ann", "hello"), ("Ann", "")],
        "skipped | session_1[1].text",
    ),
    read(
        17,
        "in records",
        [ANN, {"speaker": "Bob", "text": None}, {"speaker": "Bob"}],
        ONE,
        "skipped | [1].text",
        "skipped | [2].text",
    ),
    read(
        18,
        "numbers, blocks, an object, true",
        [{**ANN, "text": text} for text in ("hello", 5, 2.5, BLOCKS, {"a": 1}, True)],
        [("Ann", "hello"), ("Ann", "5"), ("Ann", "2.5"), ("Ann", "a\nb")],
        "repaired | [1].text",
        "repaired | [2].text",
        "skipped | [3].text",
        "skipped | [4].text",
        "skipped | [5].text",
    ),
    *(
        read(19, name, text, [("Ann", "hello"), ("Bob", empty), ("Ann", "hello")])
        for name, empty, text in (
            ("in LoCoMo", " \n", locomo(turn(1), turn(2, "Bob", " \n"), turn(3))),
            ("in records", "", [ANN, {"speaker": "Bob", "text": ""}, ANN]),
            ("in a table", "", 'speaker,text\nAnn,hello\nBob,""\nAnn,hello\n'),
        )
    ),
    read(20, "a number, none, null, a list, an object", answered(), ONE, "repaired | qa[4].answer"),
    read(
        21,
        "joined, misspelt, unknown, a range",
        proven(),
        CHAT,
        "repaired | qa[0].evidence[0]",
        "repaired | qa[0].evidence[1]",
        "repaired | qa[0].evidence[2]",
        *(f"repaired | qa[0].evidence[{row}]" for row, entry in enumerate(UNRESOLVED, start=3)),
    ),
    read(
        22,
        "two more than declared, null, a number",
        locomo(turn(1), turn(2, "Cleo"), turn(3, None), turn(4, 7), turn(5, "Dan")),
        [(who, "hello") for who in ("Ann", "Cleo", "Unknown", "7", "Dan")],
        "repaired | file",
        "repaired | session_1[2].speaker",
    ),
    read(
        23,
        "three turns",
        "Ann: one\nAnn: two\nAnn: three",
        [("Ann", "one"), ("Ann", "two"), ("Ann", "three")],
    ),
    read(24, "as records", [ANN], ONE),
    read(24, "as a talk", "Ann: hello", ONE),
    read(24, "as a table", "speaker,text\nAnn,hello", ONE),
    read(24, "as LoCoMo", locomo(turn(1)), ONE),
    refused(25, "in LoCoMo", locomo()),
    refused(
        25,
        "in a ChatGPT export",
        [{"title": "t", "mapping": {"r": {"message": None, "parent": None}}}],
    ),
    read(26, "100,000 utterances", many, 100_000),
    read(
        26,
        "one utterance of 5 MB",
        [BOB, {"speaker": "Ann", "text": LONG}, BOB],
        [("Bob", "hi"), ("Ann", LONG), ("Bob", "hi")],
    ),
    read(27, "more than the limit given", [ANN] * 99, 99),
)
