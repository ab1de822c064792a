"""Parquet: rows of messages and of MemoryAgentBench, as JSON would hold them, within limits."""

import io
import json
import subprocess
import sys
import zipfile
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from pyarrow import parquet

from segviz.loaders import LoadError, load, parse
from segviz.loaders.budget import Budget
from segviz.loaders.parquet import read_parquet
from tests.loaders.test_fuzz import mutated, mutations, survives
from tests.loaders.test_memoryagentbench import row

MESSAGES = {
    "speaker": ["Ann", "Bob", None, "Ann"],
    "text": ["hello", "=cmd()", "x", None],
    "time": [datetime(2024, 5, 1, 10), datetime(2024, 5, 1, 10, 5), None, datetime(2024, 5, 2)],
    "session": [1, 1, 2, 2],
}


def written(columns: dict[str, object], **options: object) -> bytes:
    """A Parquet file of these columns."""
    target = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), target, **options)
    return target.getvalue()


def test_messages() -> None:
    corpus = parse(written(MESSAGES), "chat.parquet")
    assert corpus.report.source_format == "records (JSON, JSON Lines, Parquet)"
    (conversation,) = corpus
    assert [(t.speaker, t.text) for t in conversation.turns] == [
        ("Ann", "hello"),
        ("Bob", "=cmd()"),
        ("Unknown", "x"),
    ]
    assert [(s.start, s.raw_date) for s in conversation.sessions] == [
        (datetime(2024, 5, 1, 10), "2024-05-01 10:00:00.000000"),
        (None, ""),
    ]
    assert [(f.where, f.what) for f in corpus.report.findings] == [
        ("file", "1 record with no time"),
        ("[2].speaker", "expected a speaker's name, found null; called Unknown"),
        ("[3].text", "expected a text, found null; the message is left out"),
    ]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "+02:00"])
def test_times_of_every_unit_and_zone(unit: str, zone: str | None) -> None:
    moment = datetime(2024, 5, 1, 10, tzinfo=UTC if zone else None)
    times = pyarrow.array([moment], pyarrow.timestamp(unit, zone))
    (conversation,) = parse(written({"speaker": ["A"], "text": ["x"], "time": times}), "x")
    (turn,) = conversation.turns
    assert turn.time is not None
    assert turn.time == conversation.sessions[0].start == moment
    assert (turn.time.tzinfo is None) == (zone is None)


def test_values_are_those_of_json() -> None:
    kinds = {
        "text": ["x"],
        "day": [date(2024, 5, 1)],
        "far": pyarrow.array([2**62], pyarrow.timestamp("ms")),
        "clock": [time(10, 14)],
        "length": [timedelta(hours=1)],
        "price": [Decimal("1.50")],
        "raw": [b"caf\xc3\xa9 \xff"],
        "map": pyarrow.array([[("a", 1)]], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        "nested": [{"when": datetime(2024, 5, 1), "rows": [{"a": 1.5}], "none": None}],
        "label": pyarrow.array(["x"]).dictionary_encode(),
    }
    (found,) = read_parquet(written(kinds), Budget())
    assert isinstance(found, dict)
    assert {key: found[key] for key in kinds if key != "far"} == {
        "text": "x",
        "day": "2024-05-01",
        "clock": "10:14:00",
        "length": "1:00:00",
        "price": "1.50",
        "raw": "caf\u00e9 \ufffd",
        "map": [["a", 1]],
        "nested": {"when": "2024-05-01 00:00:00", "rows": [{"a": 1.5}], "none": None},
        "label": "x",
    }
    assert isinstance(found["far"], str)
    json.dumps(found)


def test_rows_of_memoryagentbench() -> None:
    rows = [row(), row("A long document.")]
    table = {key: [each[key] for each in rows] for key in rows[0]}
    corpus = parse(written(table), "Accurate_Retrieval.parquet")
    assert corpus.report.source_format == "MemoryAgentBench"
    assert corpus.ids == ("Accurate_Retrieval 1",)
    assert [q.evidence for q in corpus[0].questions] == [("S1:1",), (), ()]
    assert corpus[0] == parse(json.dumps(rows).encode(), "Accurate_Retrieval.json")[0]


def test_in_a_folder_and_in_an_archive(tmp_path: Path) -> None:
    (tmp_path / "chat.parquet").write_bytes(written(MESSAGES))
    (tmp_path / "README.md").write_bytes(b"\0")
    assert load(tmp_path / "chat.parquet").report.kept == 3
    assert load(tmp_path).report.kept == 3
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(tmp_path / "chat.parquet", "data/chat.parquet")
    assert load(tmp_path / "a.zip").report.kept == 3


def test_no_rows() -> None:
    with pytest.raises(LoadError, match="No conversation found in the file"):
        parse(written({"text": pyarrow.array([], pyarrow.string())}), "x")


def test_a_table_that_expands_without_end() -> None:
    """One text of 100 kB, ten thousand times: 1 GB in a file of a few kB."""
    text = pyarrow.DictionaryArray.from_arrays([0] * 10_000, ["x" * 100_000])
    data = written({"speaker": ["A"] * 10_000, "text": text}, store_schema=False)
    assert parquet.read_schema(io.BytesIO(data)).types == [pyarrow.string()] * 2
    assert len(data) < 200_000
    with pytest.raises(LoadError, match="more than the 20 MB"):
        parse(data, "x.parquet", limit=20 << 20)


def test_several_tables_share_one_limit(tmp_path: Path) -> None:
    data = written({"speaker": ["A"] * 100, "text": ["x" * 100_000] * 100})
    for name in ("1.parquet", "2.parquet", "3.parquet"):
        (tmp_path / name).write_bytes(data)
    corpus = load(tmp_path, limit=25 << 20)
    assert len(corpus) == 2
    (left,) = corpus.report.skipped
    assert left.where == "3.parquet"
    assert left.what.startswith("left out: it holds more than the 25 MB")


@given(mutations)
def test_mutated_bytes(changes: list[tuple[float, int, bytes]]) -> None:
    survives(mutated(written(MESSAGES), changes))


def test_what_few_need_is_imported_late() -> None:
    rare = {"pyarrow", "pandas", "openai", "streamlit"}
    code = f"import sys, segviz, segviz.llm; print(sorted({rare} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
