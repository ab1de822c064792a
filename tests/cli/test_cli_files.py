"""``segviz export`` and ``segviz convert``."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys

import pytest

import segviz
from segviz import files
from segviz.conversation import sample_path
from segviz.export import FORMATS, view_of
from tests.memories import sample


@pytest.mark.parametrize("name", [name for name, one in FORMATS.items() if not one.needs_browser])
def test_an_export_is_what_the_library_writes(run, boat, tmp_path, name):
    ran = run("export", boat, "--format", name, "--number", 3, "--policy", "both", "--json")
    assert ran.code == 0
    found = ran.json
    memory = segviz.open(boat)
    settings = {
        "policy": "both",
        "alpha": 0.1,
        "horizon": 2,
        "k": 10,
        "levels": None,
        "method": "propagate",
    }
    view = view_of(memory, number=3, saved=str(boat.resolve()), **settings)
    expected = FORMATS[name].make(view)
    content = (tmp_path / found["output"]).read_bytes()
    assert content == (expected.encode() if isinstance(expected, str) else expected)
    assert found["output"].startswith("segviz-ines-theo-")
    assert found["bytes"] == len(content)


def test_without_a_question_the_tree_is_shown_at_a_step(run, boat, tmp_path):
    assert run("export", boat, "--format", "nodes", "--step", 5, "-o", "five.csv").code == 0
    expected = len(segviz.open(boat).at(5))
    assert (tmp_path / "five.csv").read_text().count("\n") >= expected + 1
    ran = run("export", boat, "--format", "nodes", "--step", 5, "-o", "-")
    assert ran.out.startswith('"node","label"')
    assert ran.err == ""


@pytest.mark.parametrize("source", ["file", "sample", "memory"])
def test_the_script_brings_the_view_back(run, boat, talk, tmp_path, capsys, source):
    given = {"file": talk, "sample": "sample:recurrence", "memory": boat}[source]
    options = [] if source == "memory" else ["--embedder", "hashing"]
    question = ("--question", "What about boats?", "--alpha", 0.4)
    assert run("export", given, *options, *question, "--format", "python", "-o", "v.py").code == 0
    runpy.run_path(str(tmp_path / "v.py"))
    ranked = capsys.readouterr().out
    found = run("ask", given, *options, "What about boats?", "--alpha", 0.4, "--json").json
    assert [line.split()[1] for line in ranked.splitlines()] == [
        str(item["node"]) for item in found["evidence"]
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "ranks"], "asks no question"),
        (["--format", "html", "--node", "99999"], "there is no node 99999; nodes are 0 to"),
        (["--format", "html", "--step", "99999"], "step 99999"),
        (["--format", "html", "--number", "99999"], "there is no question 99999"),
        (["--format", "html", "--question", "a", "--number", "1"], "not both"),
        (["--format", "nodes", "-o", "-", "--json"], "would both write to standard output"),
        (["--format", "gif"], "'--format': 'gif'"),
        ([], "'--format'"),
    ],
)
def test_what_cannot_be_exported_is_a_user_error(run, boat, tmp_path, options, said):
    ran = run("export", boat, *options)
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not list(tmp_path.glob("segviz-*"))


def test_any_format_becomes_a_locomo_file(run, tmp_path):
    (tmp_path / "chat.csv").write_text(
        "time,speaker,text\n2024-05-01 09:00,Ada,we sail\n2024-05-02 09:00,Bo,when?\n"
    )
    found = run("convert", "chat.csv", "-o", "chat.json", "--json").json
    assert [c["turns"] for c in found["conversations"]] == [2]
    assert found["conversations"][0]["format"] != "LoCoMo"
    before, after = segviz.load("chat.csv")[0], segviz.load("chat.json")[0]
    assert after.source_format == "LoCoMo"
    assert after.turns == before.turns
    assert [s.start for s in after.sessions] == [s.start for s in before.sessions]


def test_a_memory_gives_its_conversation_back(run, boat):
    told, whole = run("convert", boat, "-o", "back.json").out, sample(sessions=6)
    assert told == f"back.json: 1 conversations, {len(whole.turns)} turns\n"
    assert segviz.load("back.json")[0] == whole


def test_one_conversation_of_several_can_be_converted(run, tmp_path):
    samples = [json.loads(sample_path(n).read_text())[0] for n in ("recurrence", "topic-switching")]
    (tmp_path / "two.json").write_text(json.dumps(samples))
    run("convert", "two.json", "-o", "both.json")
    assert segviz.load("both.json").ids == ("recurrence", "topic-switching")
    run("convert", "two.json", "--conversation", "topic-switching", "-o", "one.json")
    assert segviz.load("one.json").ids == ("topic-switching",)


def test_what_begins_with_a_dash_stands_behind_two(run, boat, tmp_path):
    (tmp_path / "-dash.json.gz").write_bytes(boat.read_bytes())
    ran = run("ask", "-q", "--json", "--", "-dash.json.gz", "-what --json")
    assert (ran.code, ran.json["question"]) == (0, "-what --json")
    assert run("ask", boat, "-what").code == 2
    assert "no file '--json'" in run("ask", "--", "--json", "x").err


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are text there")
def test_a_question_that_is_no_text_is_a_user_error(boat):
    command = [sys.executable, "-m", "segviz", "ask", str(boat), b"caf\xe9"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 2
    assert "it holds bytes that are not UTF-8" in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["export", "--format", "nodes"], ["convert"], ["build"]])
def test_what_is_no_regular_file_is_not_written(run, tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    name, *options = command
    for target in ("pipe", "link"):
        ran = run(name, "sample:recurrence", *options, "-o", tmp_path / target)
        assert ran.code == 2
        assert "not an ordinary file" in ran.err
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("hours", ["nan", "-5"])
def test_a_silence_is_a_length_of_time(run, hours):
    ran = run("build", "sample:recurrence", f"--gap-hours={hours}", "-o", "m.json")
    assert ran.code == 2
    assert "gap_hours is" in ran.err


def test_what_does_not_fit_is_said_before_it_begins(run, boat, talk, monkeypatch):
    monkeypatch.setattr(files, "free_memory", lambda: 1_000)
    built = run("build", talk, "-o", "m.json")
    assert (built.code, built.out) == (2, "")
    assert "GB of memory, and 0.0 GB are free" in built.err
    asked = run("ask", boat, "Who sails?")
    assert asked.code == 2
    assert "preparing the relevance 'contextual'" in asked.err
