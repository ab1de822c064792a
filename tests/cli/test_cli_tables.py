"""``segviz sweep`` and ``segviz compare``."""

import json
import re
from html import escape

import pytest

import segviz
from segviz.cli.console import plain
from segviz.cli.tables import comparison_content, sweep_content
from segviz.conversation import sample_path
from segviz.evaluation.compare import COMPARED, construction_sweep
from segviz.evaluation.measures import CHOICES, DEFAULT, MEASURES, sees
from segviz.evaluation.parallel import Measured
from segviz.export import sweeps_csv

OFFLINE = ("--embedder", "hashing")
GRID = ("--policies", "top-down,both", "--alphas", "0.1,0.5", "--horizons", "0,1,2")
AXES = {"policies": ("top-down", "both"), "alphas": (0.1, 0.5), "horizons": (0, 1, 2)}


def test_a_sweep_is_that_of_the_library(run, boat, tmp_path):
    memory = segviz.open(boat)
    expected = segviz.sweep(memory, memory.conversation.questions, k=5, **AXES)
    found = run("sweep", boat, *GRID, "-k", 5, "--json", "-o", "s.csv").json["runs"][0]
    told = plain(sweep_content(expected, DEFAULT))
    assert {name: found[name] for name in told} == told
    whose = (memory.conversation.id, "segment-tree", 0)
    assert (tmp_path / "s.csv").read_bytes().decode() == sweeps_csv([Measured(*whose, expected)])
    printed = run("sweep", boat, *GRID, "-k", 5).out
    best = expected.best(policies=["both"])
    assert f"{best.outcomes.value(DEFAULT):.3f}" in printed
    assert MEASURES[DEFAULT].label in printed


def test_a_measure_is_not_told_of_a_policy_it_cannot_see(run, boat):
    policies = ("--policies", "top-down,bottom-up", "--alphas", "0.5", "--horizons", "1")
    for measure in CHOICES:
        printed = run("sweep", boat, *policies, "--measure", measure).out
        rows = [line for line in printed.splitlines() if line.startswith("bottom-up")]
        assert bool(rows) == sees(measure, "bottom-up"), measure
        assert ("does not depend on bottom-up" in printed) != sees(measure, "bottom-up")


def test_category_5_is_left_out_when_asked(run, boat):
    memory = segviz.open(boat)
    expected = segviz.sweep(memory, memory.conversation.questions, **AXES)
    counted = expected.baseline.outcomes.mean(DEFAULT, adversarial=False).n
    printed = run("sweep", boat, *GRID, "--no-adversarial").out
    assert f"{counted} questions without category 5" in printed


def test_a_built_memory_is_not_measured_again(run, boat, tmp_path):
    sweep = ("sweep", boat, *GRID, "--resume", "kept", "--json")
    first = run(*sweep)
    assert "known" not in first.err
    (kept,) = (tmp_path / "kept").iterdir()
    before = kept.read_bytes()
    again = run(*sweep)
    assert "1 of 1 runs are known from kept" in again.err
    assert again.json == first.json
    assert kept.read_bytes() == before
    assert "known" not in run(*sweep, "-k", 3).err
    assert "known" not in run("compare", boat, "--resume", "kept").err
    assert "1 of 1 runs are known" in run("compare", boat, "--resume", "kept").err


def test_a_comparison_is_told_as_a_table(run):
    told = run(
        "compare", "sample:recurrence", "--systems", "bm25,clustering", "--embedder", "hashing"
    ).out
    rows = [line.split()[:4] for line in told.splitlines() if line.startswith(("bm25", "clus"))]
    assert rows == [
        ["bm25", "lexical", "its", "own"],
        ["bm25", "contextual", "segviz's", "relevance"],
        ["bm25", "hybrid", "its", "leaves,"],
        ["clustering", "dense", "its", "own"],
        ["clustering", "contextual", "segviz's", "relevance"],
        ["clustering", "hybrid", "its", "leaves,"],
    ]


def test_a_comparison_is_an_offline_page_of_its_conversation(run, talk, tmp_path):
    hostile = "which line? </script><img src=x onerror=alert(1)>"
    document = json.loads(talk.read_text())
    asked = [{"question": hostile, "answer": "3", "evidence": ["D1:3"], "category": 4}]
    talks = [{**document, "sample_id": str(each)} for each in (1, 2)]
    samples = [{"conversation": each, "qa": asked} for each in talks]
    (tmp_path / "asked.json").write_text(json.dumps(samples))
    compare = ("compare", "asked.json", "--systems", "bm25,dense", *OFFLINE, "--html", "c.html")
    run(*compare)
    page = (tmp_path / "c.html").read_text()
    assert "default-src 'none'" in page
    assert f"<td>{escape(hostile)}</td><td>" in page
    assert hostile not in page
    assert all(MEASURES[name].label in page for name in COMPARED)
    ran = run(*compare, "--all")
    assert ran.code == 2
    assert "--html" in ran.err


def test_the_page_leaves_out_what_the_table_leaves_out(run, boat, audit, tmp_path):
    asked = segviz.open(boat).conversation.questions
    counting = [one.text for one in asked[2:] if one.category != 5]
    left_out = ("--audit", audit, "--no-disputed", "--no-adversarial")
    table = run("compare", boat, *left_out, "--html", "c.html").out
    page = (tmp_path / "c.html").read_text()
    assert f"{len(counting)} questions ({len(asked) - len(counting)} left out), K 10" in page
    mean = re.search(r"0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", table)
    assert mean
    assert f"{MEASURES[DEFAULT].label} {mean[0]}" in page
    assert all((f"<td>{escape(one.text)}</td>" in page) == (one.text in counting) for one in asked)


def test_memories_built_before_are_compared_by_their_file_names(run, talk, tmp_path):
    document = json.loads(talk.read_text())
    asked = [{"question": "which line?", "evidence": ["D1:3"], "category": 4}]
    (tmp_path / "asked.json").write_text(json.dumps([{"conversation": document, "qa": asked}]))
    for name, system in (("a.json", "bm25"), ("b.json.gz", "dense")):
        run("build", "asked.json", "--system", system, "--embedder", "hashing", "-o", name)
    rows = run("compare", "a.json", "b.json.gz", "--json").json["runs"][0]["rows"]
    assert list(dict.fromkeys((row["name"], row["system"]) for row in rows)) == [
        ("a", "bm25"),
        ("b", "dense"),
    ]
    run("build", "asked.json", "--unit", "turn", "--embedder", "hashing", "-o", "c.json")
    ran = run("compare", "a.json", "c.json")
    assert ran.code == 2
    assert "does not have the units of a" in ran.err


def test_one_parameter_over_values_is_that_of_the_library(run):
    vary = ("--system", "memtree", "--set", "rate=1", "--vary", "base=0.2,0.6")
    found = run("compare", "sample:topic-switching", *vary, "--json").json["runs"][0]["rows"]
    talk = segviz.load(sample_path("topic-switching"))[0]
    expected = construction_sweep(talk, "memtree", "base", (0.2, 0.6), fixed={"rate": 1.0})
    told = comparison_content(expected)["rows"]
    for row, other in zip(found, plain(told), strict=True):
        assert row["name"] == f"base {other['name']}"
        assert {n: row[n] for n in ("shape", "cost", "measures")} == {
            n: other[n] for n in ("shape", "cost", "measures")
        }
    printed = run("compare", "sample:topic-switching", *vary).out
    rows = [line.split()[:2] for line in printed.splitlines() if line.startswith("base")]
    assert rows == [["base", "0.2"]] * 3 + [["base", "0.6"]] * 3


@pytest.fixture
def audit(boat, tmp_path):
    """An audit that disputes two questions of the memory, and one of none."""
    texts = [one.text for one in segviz.open(boat).conversation.questions[:2]]
    entries = [{"question": text, "error_type": "WRONG_CITATION"} for text in [*texts, "What?"]]
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(entries), "utf-8")
    return path


def test_disputed_questions_are_counted_and_left_out(run, boat, audit):
    total = len(segviz.open(boat).conversation.questions)
    told = run("sweep", boat, *GRID, "--audit", audit)
    assert "2 of 3 entries" in told.err
    assert f"{total} questions" in told.out
    assert "without disputed" in told.out
    told = run("sweep", boat, *GRID, "--audit", audit, "--no-disputed")
    assert f"{total - 2} questions" in told.out
    assert "with disputed" in told.out


@pytest.mark.parametrize("command", [("sweep", "-o"), ("compare", "--html")])
def test_nothing_is_measured_where_no_question_is_disputed(run, boat, tmp_path, command):
    name, output = command
    for file in (boat, "sample:ines-theo"):
        ran = run(name, file, output, "nd", "--no-disputed", "--resume", "runs", *OFFLINE)
        assert (ran.code, "no question is disputed (--audit)" in ran.err) == (2, True)
        assert not any((tmp_path / each).exists() for each in ("nd", "runs"))


def test_runs_of_another_audit_are_measured_again(run, boat, audit):
    run("compare", boat, "--resume", "kept")
    assert "are known" not in run("compare", boat, "--resume", "kept", "--audit", audit).err


def test_ask_says_what_the_audit_says(run, boat, audit):
    told = run("ask", boat, "--number", 1, "--audit", audit)
    assert "wrong citation" in told.out
    found = run("ask", boat, "--number", 1, "--audit", audit, "--json").json
    assert found["disputed"]["kind"] == "wrong citation"
    assert run("ask", boat, "--number", 2, "--audit", audit, "--json").json["disputed"] is None
