"""What cannot be done as it was put: one line on standard error, exit code 2, nothing begun."""

import json
import os
import sys

import pytest

CASES = {
    "build TALK -o m": [
        ("--set refresh", "NAME=VALUE"),
        ("--set nonsense=1", "'nonsense'"),
        ("--set policy=both", "'policy'"),  # a part of a link, not of a system
        ("--set compatibility.level_1=9", "expected -2"),
        ("--set compatibility.threshold=0.3", "'compatibility.threshold'"),
        ("--set annotate.max_words=ten", "whole number"),
        ("--set refresh=lazy --set refresh=eager", "given twice"),
        (
            "--set compatibility=batch --set annotate=llm",
            "compatibility (batch) and annotate (llm)",
        ),
        ("--set annotate=session-summaries", "no summaries of its sessions"),
        ("--model m", "no server"),
        ("--server vllm", "no model"),
        ("--server http://x/v1?key=1 --model m", "'?'"),
        ("--server Ollama --model m --timeout 0", "'--timeout': 0.0"),
        ("--retries 3", "no model"),
        ("--conversation third", "'third'"),
        ("--conversation a --conversation b", "'a' and 'b'"),
        ("--gap-hours=nan", "gap_hours is"),
        ("--output nowhere/m", "no folder 'nowhere'"),
        ("--output .", "is a folder"),
        ("--output TALK", "is the input"),
    ],
    "ask BOAT": [
        ("", "no question"),
        ("' '", "empty"),
        ("q --number 1", "not both"),
        ("--number 900", "no question 900"),
        ("q --alpha 1", "alpha is 1.0"),
        ("q --system raptor", "no use for --system"),
        ("q --set refresh=lazy --unit turn", "no use for --unit and --set"),
        ("q --gap-hours 2 --month-first", "no use for --day-first and --gap-hours"),
        ("q --answer", "needs a chat model"),
        ("q --policy sideways", "'--policy': 'sideways'"),
        ("q --levels top", "'--levels': 'top'"),
        ("q --method native", "no retrieval of its own"),
        ("-what", "-w"),
    ],
    "convert BOAT -o c": [
        ("--conversation x", "no use for --conversation"),
        ("--columns text=z --join", "no use for --columns and --join"),
    ],
    "export BOAT": [
        ("--format ranks", "asks no question"),
        ("--format html --node 99999", "no node 99999"),
        ("--format html --question a --number 1", "not both"),
        ("--format nodes -o - --json", "would both write"),
        ("--format gif", "'--format': 'gif'"),
        ("", "'--format'"),
    ],
    "sweep TALK": [
        ("", "no questions with gold evidence"),
        ("--workers 2 --scheduler x", "not both"),
        ("--all --conversation west", "not both"),
        ("--system bm25 --systems bm25", "not both"),
        ("--systems bm25 --set a=b", "--set is for one --system"),
    ],
    "sweep BOAT": [
        ("--alphas=", "'--alphas': ''"),
        ("--policies sideways", "'sideways'"),
        ("--horizons 1.5", "'--horizons': '1.5'"),
        ("-o x --resume x", "same path"),
        ("--alphas 0.1,0.10", "'--alphas'"),
        ("--policies both,both", "'--policies'"),
        ("--unit turn", "no use for --unit"),
        ("--conversation x", "no use for --conversation"),
        ("--all", "no use for --all"),
        ("--no-disputed", "--audit"),
        ("--workers 2", "no use for --workers"),
    ],
    "compare TALK": [
        ("", "no questions with gold evidence"),
        ("--systems best", "unknown system 'best'"),
        ("--systems bm25,raptor,bm25", "'--systems'"),
        ("--system memtree --vary base=1,1", "'1,1'"),
        ("--html -", "'-'"),
        ("--vary base", "--vary takes"),
        ("--systems memtree,raptor --vary base=1", "--vary takes"),
        ("--system memtree --vary bass=1", "'bass'"),
    ],
    "compare BOAT": [("--vary base=1", "no use for --vary"), ("TALK", "memories alone")],
    "reproduce": [
        ("unknown", "'unknown'"),
        ("memtree table-9", "'table-9'"),
        ("memtree figure-a7 --data sample:nobody", "'nobody'"),
        ("memtree figure-a7 --data TALK", "gold evidence"),
    ],
}


@pytest.mark.parametrize(
    ("command", "options", "named"), [(c, *row) for c, rows in CASES.items() for row in rows]
)
def test_what_cannot_be_done_is_named_in_a_line(run, boat, talk, command, options, named):
    before = talk.read_bytes(), sorted(talk.parent.iterdir())
    words = [word.strip("'") for word in f"{command} {options}".replace("' '", "'_'").split()]
    places = {"TALK": talk, "BOAT": boat, "_": " "}
    ran = run(*(places.get(word, word) for word in words), "-q")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("segviz: ")
    assert named in ran.err
    assert ran.err.count("\n") == 1
    assert (talk.read_bytes(), sorted(talk.parent.iterdir())) == before


@pytest.mark.parametrize(
    "command",
    [
        "sweep BOAT --audit x.json -o x.json",
        "compare BOAT --audit x.json --html ./x.json",
        "export BOAT --format html --audit x.json -o link.json",
        "grade BOAT --prompts x.json -o x.json",
        "audit TALK --store x.json -o x.json",
        "audit TALK --run x.json --junit x.json --fail-under recall=1",
        "texts TALK --replies x.json -o x.json",
        "build x.json -o x.json",
        "reproduce memtree table-5 --audit memtree-table-5.csv -o .",
    ],
)
def test_what_a_command_reads_is_not_written(run, boat, talk, tmp_path, command):
    places = {"TALK": talk, "BOAT": boat}
    disputed = '[{"question": "Who?", "error_type": "WRONG_CITATION"}]'
    for name in ("x.json", "memtree-table-5.csv"):
        (tmp_path / name).write_text(disputed)
    (tmp_path / "link.json").symlink_to(tmp_path / "x.json")
    ran = run(*(places.get(word, word) for word in command.split()))
    assert (ran.code, "is the input" in ran.err) == (2, True)
    assert (tmp_path / "x.json").read_text() == disputed
    assert (tmp_path / "memtree-table-5.csv").read_text() == disputed


@pytest.mark.parametrize("outputs", ["-o y --html y", "--html y --junit ./y", "-o y --trec y"])
def test_two_outputs_have_two_paths(run, boat, tmp_path, outputs):
    ran = run("audit", boat, "--fail-under", "recall=.1", *outputs.split())
    assert (ran.code, "same path" in ran.err) == (2, True)
    assert not (tmp_path / "y").exists()


def test_what_begins_with_a_dash_stands_behind_two(run, boat, tmp_path):
    (tmp_path / "-dash.json.gz").write_bytes(boat.read_bytes())
    ran = run("ask", "-q", "--json", "--", "-dash.json.gz", "-what --json")
    assert (ran.code, ran.json["question"]) == (0, "-what --json")
    assert "no file '--json'" in run("ask", "--", "--json", "x").err


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are text there")
def test_a_question_that_is_no_text_is_a_user_error(run, boat):
    ran = run("ask", boat, os.fsdecode(b"caf\xe9"))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "not UTF-8" in ran.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
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


def test_a_file_nobody_can_read_is_told_as_the_loader_tells_it(run, tmp_path):
    (tmp_path / "broken.json").write_text('{"session_1": [')
    ran = run("build", "broken.json", "-o", "m.json")
    assert ran.code == 2
    assert ran.err.startswith("segviz: broken.json")


def test_what_does_not_fit_is_said_before_it_begins(run, boat, talk, monkeypatch):
    monkeypatch.setattr("segviz.files.free_memory", lambda: 1_000)
    built = run("build", talk, "-o", "m.json")
    assert (built.code, built.out) == (2, "")
    assert "0.0 GB are free" in built.err
    asked = run("ask", boat, "Who sails?")
    assert asked.code == 2
    assert "'hybrid'" in asked.err


def test_a_conversation_that_speaks_of_memories_is_none(run, tmp_path):
    said = '{"format": "segviz-memory"}'
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"session_1": [{"speaker": "A", "text": said}]}))
    assert run("ask", path, "format").code == 0


def test_a_warning_is_one_line_without_python(run):
    ran = run("build", "sample:recurrence", "--embedder", "hashing", "--quiet", "-o", "m.csv")
    assert ran.code == 0
    (line,) = [line for line in ran.err.splitlines() if "m.csv" in line]
    assert line.startswith("segviz: ")
    assert ".py" not in ran.err
