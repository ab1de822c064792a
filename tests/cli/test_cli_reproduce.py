"""``segviz reproduce``."""

import csv
import json

import pytest

from segviz.cli import reproduce
from segviz.evaluation.reproduce import ENTRIES
from segviz.export.browser import BrowserError
from tests.memories import sample


@pytest.fixture
def no_browser(monkeypatch):
    def draw(sheet):
        raise BrowserError("none here")

    monkeypatch.setattr(reproduce, "draw", draw)


def test_alone_it_lists_what_there_is(run):
    lines = run("reproduce").out.splitlines()
    assert [line.split()[:2] for line in lines] == [[e.paper, e.name] for e in ENTRIES]
    assert any("55 printed numbers" in line for line in lines)
    assert run("reproduce", "--list").out.splitlines() == lines
    of_one = run("reproduce", "xmemory", "--list").out.splitlines()
    assert of_one == [line for line in lines if line.startswith("xmemory")] != []


@pytest.mark.usefixtures("no_browser")
def test_table_figure_and_difference_are_written(run, tmp_path):
    ran = run("reproduce", "memtree", "figure-a7", "--data", "sample:recurrence", "-o", "out")
    assert ran.code == 0
    assert "no PNG: none here" in ran.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        f"memtree-figure-a7.{ending}" for ending in ("csv", "html", "md")
    ]
    written = (tmp_path / "out" / "memtree-figure-a7.csv").read_text("utf-8")
    rows = list(csv.DictReader(written.splitlines()))
    assert len(rows) == 9
    assert float(rows[0]["answer words low"]) <= float(rows[0]["answer words"])
    page = (tmp_path / "out" / "memtree-figure-a7.md").read_text()
    assert f"| {rows[0]['setting']} | " in page
    assert "A model extracts, summarises and answers in the paper" in page
    assert "A model extracts" in ran.out
    assert "https://" not in (tmp_path / "out" / "memtree-figure-a7.html").read_text()[:2000]


@pytest.mark.usefixtures("no_browser")
def test_as_json(run):
    found = run("reproduce", "segtreemem", "table-5", "--data", "sample:recurrence", "--json").json
    (entry,) = found["entries"]
    assert (entry["paper"], entry["table"]) == ("segtreemem", "Table 5")
    assert found["conversations"] == ["recurrence"]
    assert entry["files"] == [f"reproduced/segtreemem-table-5.{end}" for end in ("csv", "md")]
    assert {row["method"] for row in entry["rows"]} >= {"MemTree", "RAPTOR"}


@pytest.mark.usefixtures("no_browser")
def test_an_audit_gives_every_mean_with_and_without_its_questions(run, tmp_path):
    texts = [question.text for question in sample("recurrence").questions]
    entries = [{"question": text, "error_type": "AMBIGUOUS"} for text in texts[:2]]
    (tmp_path / "audit.json").write_text(json.dumps(entries), "utf-8")
    data = ("segtreemem", "table-3", "--data", "sample:recurrence", "--json")
    ran = run("reproduce", *data, "--audit", "audit.json")
    assert "disputed: 2" in ran.err
    page = (tmp_path / "reproduced" / "segtreemem-table-3.md").read_text()
    assert f"{len(texts)} questions, of which an audit disputes 2" in page
    plain = run("reproduce", *data).json["entries"][0]["rows"]
    checked = 0
    for row, alone in zip(ran.json["entries"][0]["rows"], plain, strict=True):
        for name, mean in alone.items():
            assert row[name] == mean
            if isinstance(mean, dict) and mean["n"]:
                fewer = row[f"{name}, without disputed"]
                checked += fewer["n"] < mean["n"]
    assert checked
