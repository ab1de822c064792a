"""Forty kinds of malformed input through the loader; tests/malformed_inputs holds the inputs.

Every one is refused, or read, as it says. Below, by number, what a kind asks for besides.
"""

import gzip
import json
import tracemalloc
from datetime import datetime
from pathlib import Path

import pytest

import segviz
from segviz.conversation import Conversation
from segviz.export.tables import cell
from segviz.loaders import LOADERS, LoadError, load, parse
from tests import malformed_inputs
from tests.loaders.reading import failure, read, said
from tests.malformed_inputs import Input
from tests.malformed_inputs.archives import endless, leading_elsewhere, zipped
from tests.malformed_inputs.inputs import locomo, turn
from tests.malformed_inputs.order import dated
from tests.malformed_inputs.texts import HOSTILE


def one(number: int, start: str = "") -> Conversation:
    """The one conversation of the first input of a kind whose name begins so."""
    found = next(each for each in malformed_inputs.of(number) if each.what.startswith(start))
    (conversation,) = parse(found.data, found.name)
    return conversation


def test_there_are_forty_kinds() -> None:
    assert sorted({each.number for each in malformed_inputs.INPUTS}) == list(range(1, 41))
    assert len({str(each) for each in malformed_inputs.INPUTS}) == len(malformed_inputs.INPUTS)


EVERY = [
    pytest.param(each, marks=pytest.mark.slow) if each.number == 26 else each
    for each in malformed_inputs.INPUTS
]


@pytest.mark.parametrize("given", EVERY, ids=str)
def test_every_input_is_refused_or_read(given: Input) -> None:
    if not given.read:
        error = failure(given.data, name=given.name)
        assert error.where.startswith(", ".join(filter(None, (given.name, given.where))))
        # What to do, or what can be read, is said; mostly both are.
        assert error.remedy or all(loader.label in str(error) for loader in LOADERS.values())
        return
    corpus = parse(given.data, given.name)
    assert corpus.report.kept == given.kept == sum(len(each.turns) for each in corpus)
    found = [(f.kind, f.where) for f in corpus.report.findings]
    assert sorted(found) == sorted(given.findings)
    if given.said is not None:
        assert [(t.speaker, t.text) for t in corpus[0].turns] == list(given.said)
    repr(corpus.report).encode()  # no lone surrogate is left anywhere


@pytest.mark.parametrize("given", malformed_inputs.of(19), ids=str)
def test_n19_empty_text_is_kept_but_no_leaf(given: Input) -> None:
    (conversation,) = parse(given.data, given.name)
    assert sum(len(unit.turn_ids) for unit in conversation.units("turn")) == 2
    assert conversation.dropped("turn") == ()


def test_n23_one_speaker_is_never_without_leaves() -> None:
    conversation = one(23)
    assert conversation.speakers == ("Ann",)
    assert [unit.turn_ids for unit in conversation.units("exchange")] == [("S1:1", "S1:2", "S1:3")]
    assert len(conversation.units("turn")) == 3


@pytest.mark.parametrize("given", malformed_inputs.of(24), ids=str)
def test_n24_one_utterance_is_a_tree_of_one_leaf(given: Input) -> None:
    memory = segviz.build(parse(given.data, given.name)[0])
    assert (len(memory.units), len(memory.structure), memory.check()) == (1, 1, [])
    assert memory.ask("hello?").evidence[0].node == 0


@pytest.mark.parametrize(
    ("unit", "size"),
    [("x", 5), ("<", 5), ("x ", 5), ("\u200e", 5), ('"', 5), ("<a|", 1), ("a\n", 1)],
)
@pytest.mark.slow
def test_n26_one_text_of_millions_of_characters(unit: str, size: int) -> None:
    """Nothing any reader does takes longer than the text is long."""
    text = (unit * size * 1_000_000)[: size * 1_000_000] + "."
    assert said([{"speaker": "Ann", "text": text}]) == [("Ann", text)]
    if unit != "\u200e":  # with which WhatsApp begins its own notices
        assert said(f"25/03/2025, 10:14 - Ann: {text}") == [("Ann", text)]


def test_n27_too_large(tmp_path: Path) -> None:
    data = malformed_inputs.of(27)[0].data
    error = failure(data, limit=1000)
    assert error.what.endswith("more than the 1000 bytes that are read at once")
    assert error.remedy.startswith("give its path on the machine that runs segviz")
    file = tmp_path / "big.json"
    file.write_bytes(data)
    with pytest.raises(LoadError, match="more than the 1000 bytes that are read at once"):
        load(file, limit=1000)
    # A list of instances is read one by one, whatever its size.
    message = {"role": "user", "content": "hello"}
    instance = {"question_id": "q", "question": "?", "haystack_sessions": [[message]]}
    file.write_text(json.dumps([instance] * 99))
    assert len(load(file, limit=1000, by_items=1000)) == 99


def test_n28_sessions_are_in_numeric_order() -> None:
    assert [s.id for s in one(28).sessions] == ["session_2", "session_10"]


@pytest.mark.parametrize("given", malformed_inputs.of(29), ids=str)
def test_n29_what_stood_for_a_date_is_kept(given: Input) -> None:
    (session,) = parse(given.data, given.name)[0].sessions
    assert session.start is None
    assert session.raw_date == given.what.partition(": ")[2].replace("empty", "")


def test_n30_day_or_month_first() -> None:
    def starts(*dates: str, **options: object) -> list[datetime | None]:
        (conversation,) = read(dated(*dates), **options)
        return [session.start for session in conversation.sessions]

    day_first = [datetime(2025, 4, 3, 10, 14), datetime(2025, 4, 13, 10, 14)]
    assert starts("03/04/2025", "13/04/2025") == day_first
    assert starts("04/03/2025", "04/13/2025") == day_first
    # Only with the month first does the time run forward.
    assert starts("3/11/25", "4/2/25", "5/1/25")[0] == datetime(2025, 3, 11, 10, 14)
    assert starts("03.04.25") == day_first[:1]
    assert starts("03/04/2025") == [None]
    assert starts("03/04/2025", day_first=True) == day_first[:1]
    assert starts("03/04/2025", day_first=False) == [datetime(2025, 3, 4, 10, 14)]


def test_n33_the_archive_lends_its_name() -> None:
    whole = malformed_inputs.of(33)[0]
    corpus = parse(whole.data, whole.name)
    assert (corpus.ids, corpus.report.name) == (("chat",), "chat.json")


def test_n34_bombs_stop_at_the_limit_and_take_no_more_memory() -> None:
    large = b"".join(b"line %d of many\n" % i for i in range(200_000))
    too_much = "it holds more than the 1 MB that are read at once"
    assert failure(gzip.compress(large), limit=1 << 20).what == too_much
    assert failure(zipped({"a.json": large}), limit=1 << 20).what == too_much
    bomb = endless()
    tracemalloc.start()
    try:
        failure(bomb, limit=20 << 20)
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()


def test_n35_names_in_archives_lead_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read(leading_elsewhere(), "a.zip").report.kept == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_n36_markup_stays_literal(text: str) -> None:
    document = locomo(turn(1, text, text))
    corpus = parse(json.dumps([{"conversation": document, "sample_id": text}]).encode(), text)
    assert (corpus.ids, corpus.report.name) == ((text,), text)
    assert said([{"speaker": text, "text": text}]) == [(text, text)]
    assert said(f'speaker,text\n"{text}","{text}"\n') == [(text, text)]
    assert said(f"Ann: {text}\nBob: {text}") == [("Ann", text), ("Bob", text)]
    assert said(f"25/03/2025, 10:14 - Ann: {text}") == [("Ann", text)]
    html = {"from": "human", "value": text}
    assert said([{"id": "x", "conversations": [html]}]) == [("human", text)]


def test_n39_a_formula_is_text_here_and_in_what_is_exported() -> None:
    (formula,) = one(39, "a formula").turns
    assert cell(formula.text) == f'"\'{formula.text}"'
