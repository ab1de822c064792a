"""What the terminal gets: help, hostile text, progress, pipes, exit codes, completion."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

import segviz
from segviz.cli import APP, COMMANDS, COMPLETE, SEGVIZ, serve
from segviz.cli.console import Console, visible
from segviz.construct import parameters
from segviz.conversation import TITLES
from segviz.memory import COMPONENTS
from segviz.version import DISTRIBUTION
from tests.data import ROOT

COMMAND = [sys.executable, "-c", "import sys; from segviz.cli import main; sys.exit(main())"]
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def command(name):
    return SEGVIZ.get_command(click.Context(SEGVIZ), name)


# --- help --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_a_command_does_and_names_every_option(run, name):
    ran = run(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert command(name).help.splitlines()[0] in ran.out
    flags = {flag for p in command(name).params for flag in p.opts if flag.startswith("-")}
    assert flags <= set(re.findall(r"-[-\w]+", ran.out))
    assert ("JSON:" in ran.out) == ("--json" in flags)
    assert max(map(len, ran.out.splitlines())) <= 80


def test_the_examples_of_the_help_can_be_typed():
    for each in (APP, *map(command, COMMANDS)):
        for line in re.findall(r"^ +(segviz .*)$", each.help, re.MULTILINE):
            words = shlex.split(line.replace(" - | head -1", " -").partition(" >")[0])[1:]
            if words and words[0] in COMMANDS:
                assert command(words[0]).make_context(words[0], words[1:]).params
            else:
                assert APP.make_context("segviz", words).params


def test_help_declares_every_parameter_with_its_default(run):
    printed = "".join(run("build", "--help").out.split())
    kinds = [*segviz.SYSTEMS.values()]
    kinds += [c for row in COMPONENTS.values() for c in row.values() if isinstance(c, type)]
    for kind in kinds:
        for parameter in parameters(kind):
            assert "".join(f"{parameter.spec.help} (default ".split()) in printed
    assert ",".join(TITLES) in printed


def test_the_first_help_lists_the_commands_and_exit_codes(run):
    printed = run("--help").out
    for name, summary in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(summary)}$", printed, re.MULTILINE)
    assert "130  interrupted" in printed
    assert run("--version").out == f"segviz {metadata.version(DISTRIBUTION)}\n"


# --- which command -----------------------------------------------------------------------------


@pytest.fixture
def served(monkeypatch):
    files: list[str | None] = []

    def fake(options, environment, console):
        files.append(environment.get("SEGVIZ_FILE"))
        return 0

    monkeypatch.delenv("SEGVIZ_FILE", raising=False)
    monkeypatch.setattr(serve, "_serve", fake)
    return files


def test_a_file_called_like_a_command_is_reached_by_its_path(run, served, tmp_path):
    (tmp_path / "build").write_text("{}")
    assert run("./build").code == 0
    assert run("--no-browser", "build").code == 0
    assert served == [str(tmp_path / "build")] * 2
    assert run("build").code == 2  # the command, which lacks its arguments
    assert len(served) == 2


def test_a_sample_is_opened_by_its_name(run, served):
    assert run("sample:recurrence").code == 0
    assert [Path(file).name for file in served] == ["recurrence.json"]
    assert "unknown sample 'nobody'" in run("sample:nobody").err


def test_a_mistyped_command_is_recognised(run, served):
    for typed in (["biuld"], ["buidl", "f.json"]):
        assert "did you mean the command build?" in run(*typed).err
    assert "did you mean" not in run("ask", "biuld", "q").err
    assert "did you mean" not in run("--port", "none").err
    assert served == []


# --- foreign text ------------------------------------------------------------------------------

HOSTILE = "\x1b]0;owned\x07 \x1b[2J \u202egnp.exe\u2066 \u2028 \x9b31m \r fake"


def test_foreign_text_cannot_steer_the_terminal(run, tmp_path):
    turns = [{"speaker": HOSTILE, "text": f"boats {HOSTILE}\nsecond line", "dia_id": HOSTILE}]
    qa = [{"question": f"boats {HOSTILE}", "answer": HOSTILE, "evidence": [HOSTILE], "category": 1}]
    sample = {"sample_id": HOSTILE, "conversation": {"session_1": turns}, "qa": qa}
    name = f"{HOSTILE.replace('/', '')}.json"
    (tmp_path / name).write_text(json.dumps([sample]))
    assert run("build", name, "--embedder", "hashing", "-o", f"{HOSTILE}.gz").code == 0
    runs = [
        run("build", name, "--embedder", "hashing", "-o", f"{HOSTILE}.gz"),
        run("build", name, "--conversation", HOSTILE + "?", "-o", "x"),
        run("build", name, "--set", HOSTILE, "-o", "x"),
        run("build", name, "-o", f"{HOSTILE}/x"),
        run("ask", name, "--number", 0, "--embedder", "hashing"),
        run("ask", f"{HOSTILE}.gz", HOSTILE),
        run("ask", name + HOSTILE, "q"),
        run("ask", name, "q", "--policy", HOSTILE),
        run("sweep", f"{HOSTILE}.gz"),
        run("compare", f"{HOSTILE}.gz", "--relevance", "lexical"),
        run("convert", name, "-o", f"{HOSTILE}.out"),
        run("export", name, "--embedder", "hashing", "--format", "html"),
        run(HOSTILE),
    ]
    for ran in runs:
        assert not CONTROLS.search(ran.out + ran.err)
    # What files hold loses its control characters when it is read, but not the others.
    assert "\\u202egnp.exe\\u2066" in runs[4].out
    assert "     second line" in runs[4].out.splitlines()
    assert runs[5].out.startswith("\\x1b]0;owned\\x07 \\x1b[2J \\u202egnp.exe")


def test_visible_text_shows_what_it_replaces():
    assert visible("a\x1b[1mb\u202ec\nd\te\ud800") == "a\\x1b[1mb\\u202ec\\nd\\te\\ud800"
    family = "👨\u200d👩\u200d👧 naïve Ελλάδα"  # joiners belong to the letters
    assert visible(family) == family


def test_what_a_terminal_cannot_say_is_escaped(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    Console().line("Alingsås → 👩")
    sys.stdout.flush()
    assert raw.getvalue() == b"Alings\\xe5s \\u2192 \\U0001f469\n"


# --- progress ----------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_drawn_on_a_terminal_alone(run, talk, monkeypatch):
    build = ("build", talk, "--embedder", "hashing", "-o", "m.json")
    assert run(*build).err == ""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert run(*build, "--json").code == 0
    drawn = screen.getvalue()
    assert "building segment-tree: 4 of 4 leaves" in drawn
    assert drawn.endswith("\r\x1b[K")  # and wiped at the end
    screen.truncate(0)
    assert run(*build, "-q").code == 0
    assert screen.getvalue().strip("\0") == ""


def test_a_log_has_a_line_every_few_seconds(monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    with Console().progress("building", "leaves", log_seconds=0) as show:
        for done in range(1, 4):
            show(done, 3)
    assert log.getvalue() == "building: 1 of 3 leaves\nbuilding: 2 of 3 leaves\n"
    with Console().progress("building", "leaves") as show:
        show(1, 3)
    assert log.getvalue().count("\n") == 2
    with Console(quiet=True).progress("building", "leaves", log_seconds=0) as show:
        show(1, 3)
    assert log.getvalue().count("\n") == 2


# --- streams and exit codes --------------------------------------------------------------------


def started(*arguments, **pipes):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], env=environment, **pipes)


def test_a_reader_that_leaves_ends_the_command_quietly():
    with started("--help", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("given", ["reproduce", "--help", "--version", "build --help"])
def test_output_that_cannot_be_written_is_told(given):
    with (
        open("/dev/full", "wb") as full,
        started(*given.split(), stdout=full, stderr=subprocess.PIPE) as process,
    ):
        said = process.stderr.read().decode()
        assert process.wait(30) == 1
    assert said.startswith("segviz: the output cannot be written")
    assert said.count("\n") == 1


def test_a_fault_of_ours_is_not_called_a_fault_of_the_output(run, talk, monkeypatch):
    def fail(*_, **__):
        raise FileNotFoundError("a file of segviz")

    monkeypatch.setattr("segviz.cli.build_options.build", fail)
    with pytest.raises(FileNotFoundError):
        run("build", talk, "-o", "m.json", "--embedder", "hashing")


def test_a_command_that_is_interrupted_says_so(run, talk, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("segviz.cli.build_options.build", stop)
    ran = run("build", talk, "-o", "m.json", "--embedder", "hashing")
    assert (ran.code, ran.out, ran.err) == (130, "", "segviz: interrupted\n")


# --- doctor ------------------------------------------------------------------------------------


def test_the_doctor_never_shows_a_key(run, monkeypatch):
    secret = "sk-secret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    monkeypatch.setenv("SEGVIZ_API_KEY", secret)
    monkeypatch.setenv("SEGVIZ_BASE_URL", "http://models.example:8000/v1")
    ran = run("doctor", "--json")
    assert ran.code == 0
    assert ran.json["healthy"] is True
    told = {finding["name"]: finding["what"] for finding in ran.json["findings"]}
    assert told["OPENAI_API_KEY"] == "set, for api.openai.com alone"
    assert told["SEGVIZ_API_KEY"] == "set, for http://models.example:8000/v1 alone"
    assert secret not in ran.out + ran.err + run("doctor").out
    monkeypatch.delenv("SEGVIZ_BASE_URL")
    told = {f["name"]: f for f in run("doctor", "--json").json["findings"]}
    assert told["SEGVIZ_API_KEY"]["state"] == "note"
    assert "used for no server" in told["SEGVIZ_API_KEY"]["what"]


def test_the_doctor_names_what_is_missing(run, monkeypatch):
    try:
        lines = metadata.requires(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        pytest.skip("segviz runs from a folder that is not installed")
    required = {re.match(r"[\w-]+", line)[0] for line in lines if "extra ==" not in line}
    every = [finding["name"] for finding in run("doctor", "--json").json["findings"]]
    named = set(every)
    assert len(every) == len(named)
    assert named >= (required - {"wordllama"}) | {"joblib", "distributed"}
    assert not named & {"pytest", "pdoc"}
    lacking = [*lines, "of-nobody>=1", 'of-few>=1; extra == "parallel"']
    monkeypatch.setattr(metadata, "requires", lambda name: lacking)
    ran = run("doctor")
    assert ran.code == 1
    assert "missing  of-nobody: not installed; python -m pip install of-nobody" in ran.out
    assert "ok       of-few: not installed (optional); python -m pip install" in ran.out


def test_a_cache_that_cannot_be_written_is_a_note(run, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SEGVIZ_CACHE", str(tmp_path / "file"))
    ran = run("doctor", "--json")
    assert ran.code == 0
    assert {f["name"]: f["state"] for f in ran.json["findings"]}["cache"] == "note"


# --- completion --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["bu"], {"build"}),
        ([""], set(COMMANDS)),
        (["ask", "m.json", "--pol"], {"--policy"}),
        (["ask", "m.json", "--policy", "b"], {"bottom-up", "both"}),
        (["--no"], {"--no-browser"}),
        (["ask", "m.json", "x"], set()),
    ],
)
def test_commands_options_and_values_are_completed(typed, expected):
    found = ShellComplete(SEGVIZ, {}, "segviz", COMPLETE).get_completions(typed[:-1], typed[-1])
    assert {each.value for each in found} == expected


def test_a_shell_that_asks_is_answered(run, monkeypatch, capsys):
    monkeypatch.setenv(COMPLETE, "bash_source")
    with pytest.raises(SystemExit):
        run()
    assert f"{COMPLETE}=bash_complete" in capsys.readouterr().out
    monkeypatch.setenv(COMPLETE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "segviz exp")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        run()
    assert capsys.readouterr().out == "plain,export\n"
