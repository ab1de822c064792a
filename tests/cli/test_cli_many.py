"""``segviz sweep`` and ``segviz compare`` over many conversations and systems."""

import csv
import importlib
import json
import linecache
import os
import re
import signal
import subprocess
import sys
from functools import partial
from itertools import product

import pytest

import segviz
from segviz.cli import many
from segviz.cli.console import plain
from segviz.cli.many import Results
from segviz.cli.tables import comparison_content, sweep_content
from segviz.evaluation import ONE_WRITER
from segviz.evaluation import parallel as evaluating
from segviz.evaluation.compare import compare, pooled_comparison
from segviz.evaluation.measures import DEFAULT
from segviz.evaluation.parallel import WorkersLost, measure_many
from segviz.evaluation.sweep import pooled_sweep
from segviz.export import sweeps_csv
from segviz.memory import system_of
from segviz.retrieval import RELEVANCE
from segviz.systems import SYSTEMS as KINDS
from tests.data import ROOT
from tests.memories import SAMPLE
from tests.memory.test_stores import Notes

AXES = {"policies": ("top-down", "both"), "alphas": (0.5,), "horizons": (0, 2)}
GRID = ("--policies", "top-down,both", "--alphas", "0.5", "--horizons", "0,2")
SYSTEMS = ("segment-tree", "bm25")
MANY = ("--all", "--systems", ",".join(SYSTEMS))
OFFLINE = ("--embedder", "hashing")


def sample(name, turns, asked=True):
    words = "boat harbour oar sail wind tide anchor rope".split()
    said = [
        {
            "speaker": "AB"[i % 2],
            "dia_id": f"D1:{i + 1}",
            "text": f"{words[i % 8]} {words[i * i % 7]} of day {i % 5} at {name}",
        }
        for i in range(turns)
    ]
    qa = [
        {"question": f"which {words[i % 8]} at {name}?", "answer": words[i % 7]}
        | {"evidence": [f"D1:{i + 1}"], "category": 1 + i % 4}
        for i in range(0, turns, 3)
    ]
    conversation = {"speaker_a": "A", "speaker_b": "B", "session_1": said}
    conversation["session_1_date_time"] = "9:05 am on 1 May, 2024"
    return {"sample_id": name, "conversation": conversation, "qa": qa if asked else []}


@pytest.fixture
def talks(tmp_path):
    """Three conversations that can be measured, and one that cannot."""
    path = tmp_path / "talks.json"
    samples = [sample("north", 24), sample("mute", 8, asked=False)]
    path.write_text(json.dumps([*samples, sample("south", 18), sample("west", 15)]))
    return path


def builders(names=SYSTEMS):
    return {name: partial(segviz.build, system=name, embedder="hashing") for name in names}


def untimed(found):
    """A comparison as JSON has it, without the seconds that this process measured."""
    for one in found["runs"]:
        for row in one["rows"]:
            row |= {"build_seconds": None, "query_seconds": None}
    return found


def kept_by(talks):
    corpus = segviz.load(talks)
    return [corpus[name] for name in ("north", "south", "west")]


@pytest.fixture
def sweep(run, talks):
    return partial(run, "sweep", talks, *MANY, *GRID, *OFFLINE)


KEPT = {}


@pytest.fixture
def whole(sweep):
    """Returns the output of one sweep in one process, measured once for all tests."""
    if not KEPT:
        KEPT.update(sweep("--json").json)
    return KEPT


class TestSweep:
    def test_is_that_of_the_library(self, sweep, talks, tmp_path):
        runs = measure_many(segviz.sweep, kept_by(talks), builders(), **AXES)
        ran = sweep("--json", "-o", "s.csv")
        assert ran.code == 0
        assert ran.err == "left out: mute has no questions with gold evidence to measure by\n"
        assert (tmp_path / "s.csv").read_bytes().decode() == sweeps_csv(runs)
        assert ran.json["runs"] == [
            {"conversation": one.conversation, "system": one.system}
            | plain(sweep_content(one.result, DEFAULT))
            for one in runs
        ]
        for row in ran.json["overall"]:
            mine = {r.conversation: r.result for r in runs if r.system == row["system"]}
            pooled = pooled_sweep(list(mine), list(mine.values()))
            assert row == {"system": row["system"]} | plain(sweep_content(pooled, DEFAULT))

    def test_every_relevance_is_told_in_one_table(self, run, talks):
        chosen = ("sweep", talks, "--conversation", "west", *GRID, *OFFLINE, "--relevance")
        ran = run(*chosen, "all")
        rows = [line.split() for line in ran.out.splitlines() if line.startswith(tuple(RELEVANCE))]
        assert [row[:2] for row in rows] == [
            [name, policy] for name in RELEVANCE for policy in ("none", "top-down", "both")
        ]
        found = run(*chosen, "all", "--json").json["runs"]
        assert [one["relevance"] for one in found] == list(RELEVANCE)
        tried = sum(cell["horizon"] * cell["alpha"] > 0 for one in found for cell in one["cells"])
        assert f"over {tried} settings" in ran.out
        (dense,) = run(*chosen, "dense", "--json").json["runs"]
        (mine,) = (one for one in found if one["relevance"] == "dense")
        for alone, one in zip(dense["cells"], mine["cells"], strict=True):
            assert alone.keys() == one.keys()
            for name, means in alone["measures"].items():  # the intervals of gains are wider
                assert means | {"gain": 0} == one["measures"][name] | {"gain": 0}

    def test_gains_have_the_same_intervals_in_table_csv_and_json(self, run, talks, tmp_path):
        """They hold for the settings of all relevances at once."""
        chosen = ("sweep", talks, "--conversation", "north", *GRID, *OFFLINE)
        chosen += ("--relevance", "all", "-k", 3)
        found = run(*chosen, "-o", "s.csv", "--json").json["runs"]
        told = {
            (one["relevance"], cell["policy"]): cell["measures"][DEFAULT]["gain"]
            for one in found
            for cell in one["cells"]
            if cell["horizon"]
        }
        rows = csv.DictReader((tmp_path / "s.csv").read_text().splitlines())
        written = {
            (row["relevance"], row["policy"]): row
            for row in rows
            if (row["measure"], row["horizon"], row["category"]) == (DEFAULT, "2", "all")
            if row["adversarial"] == "1"
        }
        printed = run(*chosen).out.splitlines()
        memory = builders()["segment-tree"](kept_by(talks)[0])
        for relevance, policy in product(RELEVANCE, AXES["policies"]):
            swept = segviz.sweep(
                memory, memory.conversation.questions, relevance=relevance, k=3, **AXES
            )
            mean = swept.gains(sweeps=len(RELEVANCE))[policy, 0.5, 2]
            expected = pytest.approx([mean.value, mean.low, mean.high])
            gain = told[relevance, policy]
            assert [gain[end] for end in ("value", "low", "high")] == expected
            row = written[relevance, policy]
            assert [float(row[end]) for end in ("gain", "gain_low", "gain_high")] == expected
            (line,) = (each for each in printed if each.split()[:2] == [relevance, policy])
            assert line.endswith(f"{mean.value:+.3f} [{mean.low:+.3f}, {mean.high:+.3f}]")

    def test_is_told_as_tables(self, sweep):
        out = sweep("--measure", "answer_words").out
        assert out.startswith("answer words, ")
        names = ("north", "south", "west", "all")
        rows = [line.split() for line in out.splitlines() if line.startswith(names)]
        assert [row[:3] for row in rows] == [
            [name, system, policy]
            for name, system, policy in product(names, SYSTEMS, ("none", "top-down", "both"))
        ]

    def test_some_conversations_by_name(self, run, talks):
        chosen = ("--conversation", "west", "--conversation", "north")
        strict = ("--set", "compatibility=cosine", "--set", "compatibility.threshold=0.9")
        found = run("sweep", talks, *chosen, *GRID, *OFFLINE, *strict, "--json").json
        assert [run["conversation"] for run in found["runs"]] == ["west", "north"]
        alone = run("sweep", talks, *chosen[:2], *GRID, *OFFLINE, *strict, "--json").json
        assert found["runs"][0] == alone["runs"][0]
        assert (alone["runs"][0]["conversation"], alone["overall"]) == ("west", [])


class TestPlaces:
    @pytest.mark.slow
    def test_the_same_on_a_cluster_that_loses_a_worker(self, sweep, whole, cluster, monkeypatch):
        from distributed import Client

        with Client(cluster, set_as_default=False) as client:
            (victim, *others) = client.run(os.getpid).values()
        assert len(others) == 1
        killed = []
        keep = Results.keep

        def kill_once(self, name, one):
            keep(self, name, one)
            if not killed:
                os.kill(victim, signal.SIGKILL)
                killed.append(name)

        monkeypatch.setattr(Results, "keep", kill_once)
        address = cluster.scheduler_address
        ran = sweep("--scheduler", address, "--resume", "runs", "--json")
        assert ran.code == 0
        assert len(killed) == 1
        assert f"conversations are sent to the workers of {address}" in ran.err
        assert ran.json == whole

    @pytest.mark.slow
    def test_comparisons_too(self, run, talks, cluster):
        compare = partial(run, "compare", talks, "--systems", "raptor,bm25", *OFFLINE, "--json")
        alone = compare("--all")
        assert alone.code == 0
        for place in (("--workers", 2), ("--scheduler", cluster.scheduler_address)):
            assert compare("--all", *place).json == untimed(alone.json)

    @pytest.mark.parametrize(
        ("place", "module", "extra"),
        [
            (("--workers", 2), "joblib", "parallel"),
            (("--scheduler", "tcp://127.0.0.1:1"), "distributed", "cluster"),
        ],
    )
    def test_a_missing_extra_is_named(self, sweep, monkeypatch, place, module, extra):
        def absent(name):
            raise ImportError

        monkeypatch.setattr(evaluating, "import_module", absent)
        ran = sweep(*place)
        assert ran.code == 2
        assert f"needs {module}" in ran.err
        assert f'pip install -e ".[{extra}]"' in ran.err

    @pytest.mark.slow
    def test_a_scheduler_that_does_not_answer_or_has_no_workers(self, sweep, monkeypatch):
        distributed = pytest.importorskip("distributed")
        monkeypatch.setattr(many, "_WAIT_SECONDS", 1)
        for address in ("tcp://127.0.0.1:1", "nowhere", "http://127.0.0.1:1"):
            ran = sweep("--scheduler", address)
            assert (ran.code, repr(address) in ran.err) == (2, True)
        empty = {"n_workers": 0, "dashboard_address": ":0", "silence_logs": 50}
        with distributed.LocalCluster(host="127.0.0.1", **empty) as cluster:
            ran = sweep("--scheduler", cluster.scheduler_address)
        assert (ran.code, "has no workers" in ran.err) == (2, True)

    def test_lost_workers_end_it_with_what_is_done(self, sweep, monkeypatch, tmp_path):
        original = measure_many

        def lost(*arguments, keep, **settings):
            def two(place, one):
                keep(place, one)
                if place == 1:
                    raise WorkersLost("the workers are gone")

            return original(*arguments, keep=two, **settings)

        monkeypatch.setattr(many, "measure_many", lost)
        ran = sweep("--resume", "runs")
        assert (ran.code, ran.out) == (3, "")
        assert "the workers are gone. The finished runs are in runs" in ran.err
        assert len(list((tmp_path / "runs").iterdir())) == 2
        assert "With --resume FOLDER" in sweep().err

    def test_a_model_stays_in_this_process(self, run, talks, monkeypatch):
        monkeypatch.setenv("SEGVIZ_API_KEY", "sk-that-must-not-travel")
        model = ("--server", "http://127.0.0.1:1/v1", "--embedding-model", "e")
        ran = run("sweep", talks, "--all", *model, "--workers", 2)
        assert ran.code == 2
        assert "whose key would be sent to the workers" in ran.err


class TestResuming:
    @pytest.fixture
    def interrupted(self, monkeypatch):
        """After so many runs somebody presses Ctrl+C; lists the runs that were measured."""
        measured, limit = [], [3]
        keep = Results.keep

        def noted(self, name, one):
            keep(self, name, one)
            measured.append(name)
            if len(measured) == limit[0]:
                raise KeyboardInterrupt

        monkeypatch.setattr(Results, "keep", noted)
        return measured, limit

    def test_goes_on_where_it_stopped(self, sweep, whole, interrupted, tmp_path):
        measured, limit = interrupted
        ran = sweep("--resume", "runs", "--json")
        assert (ran.code, ran.out) == (130, "")
        assert "the finished runs are in runs; the same command continues there" in ran.err
        limit[0] = 0
        ran = sweep("--resume", "runs", "--json")
        assert "3 of 6 runs are known from runs" in ran.err
        assert len(measured) == len(set(measured)) == 6
        assert ran.json == whole
        assert {path.stem for path in (tmp_path / "runs").iterdir()} == set(measured)
        assert sweep("--resume", "runs", "--json").json == whole
        assert len(measured) == 6

    def command(self, talks, folder):
        """The sweep in a process of its own."""
        command = [sys.executable, "-c", "from segviz.cli import main; main()", "sweep", talks]
        arguments = map(str, [*command, *MANY, *GRID, *OFFLINE, "--resume", "runs"])
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(list(arguments), cwd=folder, env=environment)

    @pytest.mark.slow
    def test_two_commands_on_one_folder_lose_nothing(self, sweep, whole, talks, tmp_path):
        running = [self.command(talks, tmp_path) for _ in range(2)]
        assert [each.wait(120) for each in running] == [0, 0]
        ran = sweep("--resume", "runs", "--json")
        assert "6 of 6 runs are known from runs" in ran.err
        assert ran.json == whole

    def test_what_differs_is_measured_again(self, run, talks, monkeypatch):
        def known(*command):
            ran = run(*command, "--resume", "runs", *OFFLINE)
            assert ran.code == 0
            found = re.search(r"(\d+) of (\d+) runs are known", ran.err)
            return (int(found[1]), int(found[2])) if found else (0, None)

        two = ("sweep", talks, "--conversation", "north", "--conversation", "west", *GRID)
        assert known(*two) == (0, None)
        assert known(*two) == (2, 2)
        assert known("sweep", talks, "--all", *GRID) == (2, 3)
        assert known("sweep", talks, "--all", *GRID, "--systems", "segment-tree,bm25") == (3, 6)
        assert known("sweep", talks, "--all", *GRID, "-k", 3) == (0, None)
        assert known("sweep", talks, "--all", *GRID, "--unit", "turn") == (0, None)
        assert known("compare", talks, "--all", "--systems", "bm25") == (0, None)
        assert known("compare", talks, "--all", "--systems", "bm25") == (3, 3)
        samples = json.loads(talks.read_text())
        samples[0]["qa"][0]["evidence"] = ["D1:5"]
        talks.write_text(json.dumps(samples))
        assert known("sweep", talks, "--all", *GRID) == (2, 3)
        monkeypatch.setattr(many, "code_hash", lambda: "changed")
        assert known(*two) == (0, None)

    @pytest.mark.parametrize("part", ["systems", "relevance", "store"])
    def test_a_plugin_whose_source_changed_is_measured_again(
        self, run, talks, monkeypatch, tmp_path, part
    ):
        registry, home = {
            "systems": (KINDS, KINDS["dense"]),
            "relevance": (RELEVANCE, RELEVANCE["lexical"]),
            "store": (KINDS, Notes),
        }[part]
        option = "--relevance" if part == "relevance" else "--systems"
        file = tmp_path / "others.py"
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        known = []
        for version in ("1", "1", "2"):
            file.write_text(
                f"from {home.__module__} import {home.__name__} as Base\n"
                f"class Other(Base):\n    name = 'other'\n    version = {version}\n"
            )
            monkeypatch.delitem(sys.modules, "others", raising=False)
            linecache.clearcache()
            other = importlib.import_module("others").Other
            made = system_of(other, "other") if part == "store" else other
            monkeypatch.setitem(registry, "other", made)
            ran = run("sweep", talks, *GRID, option, "other", "--resume", "runs", *OFFLINE)
            assert ran.code == 0, ran.err
            known.append("1 of 1 runs are known" in ran.err)
        assert known == [False, True, False]

    def test_other_files_are_not_touched(self, run, talks, sweep, tmp_path):
        (tmp_path / "notes").write_text("to do\n")
        assert sweep("--resume", "notes").code == 2
        assert (tmp_path / "notes").read_text() == "to do\n"
        assert sweep("--resume", "runs").code == 0

    @pytest.mark.parametrize("damage", ["another", "digit", "cut", "empty", "deep", "bytes"])
    def test_a_damaged_result_is_named_and_measured_again(self, sweep, tmp_path, damage):
        whole = sweep("--resume", "runs", "--json").json
        damaged = min((tmp_path / "runs").iterdir())
        text = damaged.read_text()
        place = re.search(r"0\.\d(\d)", text).start(1)
        damaged.write_bytes(
            {
                "another": b'{"run": "abc"}',
                "digit": f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}".encode(),
                "cut": text[: len(text) // 2].encode(),
                "empty": b"",
                "deep": b"[" * 100_000,
                "bytes": b"\xff\xfe\x00",
            }[damage]
        )
        ran = sweep("--resume", "runs", "--json")
        assert ran.json == whole
        assert f"{damaged.name} is damaged" in ran.err
        assert "5 of 6 runs are known" in ran.err
        assert damaged.read_text() == text


def test_a_comparison_is_that_of_the_library(run, talks):
    names = ("raptor", "bm25")
    options = ("--systems", ",".join(names), "--all", "-k", 5)
    found = untimed(run("compare", talks, *options, *OFFLINE, "--json").json)
    expected = {}
    for one, talk in zip(found["runs"], kept_by(talks), strict=True):
        memories = {name: build(talk) for name, build in builders(names).items()}
        expected[talk.id] = compare(memories, talk.questions, k=5)
        told = plain(comparison_content(expected[talk.id]))
        assert one == {"conversation": talk.id} | told
    (overall,) = found["overall"]
    pooled = pooled_comparison(list(expected), list(expected.values()))
    told = plain(comparison_content(pooled))
    assert [row["measures"] for row in overall["rows"]] == [r["measures"] for r in told["rows"]]


def test_a_measure_counts_the_questions_that_it_needs(run, tmp_path):
    asked = sample("west", 12)
    for question in asked["qa"]:
        del question["evidence"]
    (tmp_path / "answers.json").write_text(json.dumps([asked]))
    memory = segviz.build(segviz.load("answers.json")[0], "bm25", embedder="hashing")
    outcomes = segviz.evaluate(memory, memory.conversation.questions).outcomes
    mean = f"{outcomes.value('answer_words'):.3f}"
    swept = ("answers.json", "--system", "bm25", *OFFLINE, "--measure", "answer_words")
    for command in (("sweep", *GRID), ("compare", "--html", "c.html")):
        name, *options = command
        ran = run(name, *swept, *options)
        assert (ran.code, mean in ran.out, "4 questions" in ran.out) == (0, True, True)
    ran = run("sweep", *swept[:-1], "recall", *GRID)
    assert (ran.code, "no questions with gold evidence" in ran.err) == (2, True)
    for question in asked["qa"]:
        del question["answer"]
    (tmp_path / "nothing.json").write_text(json.dumps([asked]))
    ran = run("sweep", "nothing.json", *swept[1:], *GRID)
    assert (ran.code, "no questions with gold answers" in ran.err) == (2, True)


def test_systems_are_compared_with_texts_by_one_writer(run):
    both = ("compare", f"sample:{SAMPLE}", "--systems", "segment-tree,bm25", *OFFLINE, "--json")
    extracts, named = run(*both), run(*both, "--texts", "extracts")
    assert ONE_WRITER in extracts.err
    assert ONE_WRITER not in named.err
    measured = [
        [row["measures"] for row in ran.json["runs"][0]["rows"]] for ran in (extracts, named)
    ]
    assert measured[0] == measured[1]
