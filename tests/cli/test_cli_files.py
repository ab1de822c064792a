"""``segviz export`` and ``segviz convert``."""

import json
import runpy
from dataclasses import replace

import pytest

import segviz
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
    view = replace(view_of(memory, number=3, **settings), saved=str(boat.resolve()))
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
    assert told == f"back.json: 1 conversation, {len(whole.turns)} turns\n"
    assert segviz.load("back.json")[0] == whole


def test_one_conversation_of_several_can_be_converted(run, tmp_path):
    samples = [json.loads(sample_path(n).read_text())[0] for n in ("recurrence", "topic-switching")]
    (tmp_path / "two.json").write_text(json.dumps(samples))
    run("convert", "two.json", "-o", "both.json")
    assert segviz.load("both.json").ids == ("recurrence", "topic-switching")
    run("convert", "two.json", "--conversation", "topic-switching", "-o", "one.json")
    assert segviz.load("one.json").ids == ("topic-switching",)
    ran = run("convert", "two.json", "--conversation", "topic-switching", "-o", "-")
    assert (ran.out, ran.err) == ((tmp_path / "one.json").read_text(), "")
