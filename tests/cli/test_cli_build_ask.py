"""``segviz build`` and ``segviz ask``: the same as ``segviz.build`` and ``segviz.ask``."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import segviz
from segviz.cli.build_options import settings_of
from segviz.cli.console import plain
from segviz.construct import parameters
from segviz.conversation import sample_path
from segviz.evaluation.node_texts import contentless_lines, contentless_share
from segviz.store import recognises
from segviz.systems import SYSTEMS
from tests.data import ROOT

COSINE = ("--set", "compatibility=cosine", "--set", "compatibility.threshold=0.4")


def test_a_build_is_that_of_the_library_byte_for_byte(run, tmp_path):
    for name in ("one.json", "two.json"):
        ran = run("build", "sample:recurrence", *COSINE, "--unit", "turn", "-o", name)
        assert ran.code == 0
        assert f"{name}: segment-tree of recurrence" in ran.out
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    conversation = segviz.load(sample_path("recurrence"))[0]
    segviz.build(
        conversation, unit="turn", compatibility={"name": "cosine", "threshold": 0.4}
    ).save(tmp_path / "three.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "three.json").read_bytes()


def test_a_build_tells_the_share_of_contentless_lines(run, tmp_path):
    told = run("build", "sample:recurrence", "-o", "one.json").out
    found = run("build", "sample:recurrence", "-o", "one.json", "--json").json
    memory = segviz.open(tmp_path / "one.json")
    speakers = memory.conversation.speakers
    shares = contentless_lines(memory.structure, speakers)
    assert found["shape"]["contentless_lines"] == plain(shares)
    share = contentless_share(memory.structure, speakers)
    assert f"{share:.1%} of the lines in inner nodes are contentless\n" in told
    flat = run("build", "sample:recurrence", "--system", "bm25", "-o", "two.json").out
    assert "contentless" not in flat


STOPPING = """
import sys
from segviz.cli import build_options, main
build = build_options.build

def stopping(*arguments, progress, **settings):
    def step(done, total):
        if done == total // 2:
            print("half", flush=True)
            sys.stdin.read()
    return build(*arguments, progress=step, **settings)

build_options.build = stopping
main()
"""


@pytest.mark.slow
def test_an_offline_build_that_is_killed_leaves_nothing_half_done(run, tmp_path):
    """There is nothing to go on from: it begins anew, and takes the place of an earlier file
    only when it is whole."""
    options = ("sample:recurrence", "--embedder", "hashing", "-o", "m.json.gz")
    run("build", *options, "--unit", "turn")
    earlier = (tmp_path / "m.json.gz").read_bytes()
    with subprocess.Popen(
        [sys.executable, "-c", STOPPING, "build", *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"half\n"
        process.kill()
    assert (tmp_path / "m.json.gz").read_bytes() == earlier
    assert [path.name for path in tmp_path.iterdir()] == ["m.json.gz"]
    assert run("build", *options).code == 0
    assert run("build", *options[:-1], "whole.json.gz").code == 0
    found = (tmp_path / "m.json.gz").read_bytes()
    assert found == (tmp_path / "whole.json.gz").read_bytes() != earlier


@pytest.mark.parametrize("system", [name for name in segviz.SYSTEMS if name != "segment-tree"])
def test_every_system_builds(run, talk, system):
    ran = run("build", talk, "--system", system, "--embedder", "hashing", "-o", "m.json", "--json")
    assert ran.code == 0
    found = ran.json
    assert (found["command"], found["system"], found["chat"]) == ("build", system, None)
    memory = segviz.open("m.json")
    assert found["steps"] == len(memory.steps) > 0
    assert found["settings"] == plain(memory.settings)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("refresh", "expected NAME=VALUE"),
        ("nonsense=1", "has no parameter 'nonsense' here; it has compatibility"),
        ("policy=both", "has no parameter 'policy'"),  # a part of a link, not of a system
        ("refresh=often", "expected one of eager, lazy"),
        ("compatibility=guess", "expected one of calibrated, cosine"),
        ("compatibility.level_1=9", "expected -2"),
        ("compatibility.level_1=nan", "expected a finite number"),
        ("compatibility.threshold=0.3", "has no parameter 'compatibility.threshold' here"),
        ("annotate.max_words=ten", "expected a whole number"),
    ],
)
def test_a_setting_that_cannot_be_is_a_user_error(run, talk, given, said):
    ran = run("build", talk, "--set", given, "-o", "m.json")
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("segviz: ")
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_a_parameter_given_twice_is_a_user_error(run, talk):
    ran = run("build", talk, "--set", "refresh=lazy", "--set", "refresh=eager", "-o", "m.json")
    assert (ran.code, ran.err) == (2, "segviz: --set refresh is given twice\n")


def test_what_cannot_be_written_is_told_before_anything_is_built(run, talk, monkeypatch, tmp_path):
    monkeypatch.setattr("segviz.cli.build_options.build", lambda *_, **__: pytest.fail("was built"))
    before = talk.read_bytes()
    (tmp_path / "folder").mkdir()
    for path, said in {
        "nowhere/m.json": "there is no folder 'nowhere'",
        "folder": "is a folder; name a file in it",
        str(talk): "is what is read",
    }.items():
        ran = run("build", talk, "-o", path)
        assert ran.code == 2
        assert said in ran.err
    assert talk.read_bytes() == before


def test_a_file_nobody_can_read_is_told_as_the_loader_tells_it(run, tmp_path):
    (tmp_path / "broken.json").write_text('{"session_1": [')
    ran = run("build", "broken.json", "-o", "m.json")
    assert ran.code == 2
    assert ran.err.startswith("segviz: broken.json")
    assert "Traceback" not in ran.err


def test_one_of_several_conversations_is_chosen_by_its_id(run, tmp_path):
    samples = [json.loads(sample_path(n).read_text())[0] for n in ("recurrence", "topic-switching")]
    (tmp_path / "two.json").write_text(json.dumps(samples))
    first = run("build", "two.json", "-o", "m.json", "--json")
    assert first.json["conversation"] == "recurrence"
    assert "two.json holds 2 conversations" in first.err
    quiet = run("build", "two.json", "-o", "m.json", "--json", "-q")
    assert (quiet.out, quiet.err) == (first.out, "")
    named = run("build", "two.json", "--conversation", "topic-switching", "-o", "m.json", "--json")
    assert named.json["conversation"] == "topic-switching"
    ran = run("build", "two.json", "--conversation", "third", "-o", "m.json")
    assert ran.code == 2
    assert "no conversation 'third'; the file holds recurrence, topic-switching" in ran.err
    both = ("--conversation", "recurrence", "--conversation", "topic-switching")
    ran = run("build", "two.json", *both, "-o", "m.json")
    assert ran.code == 2
    assert "names 'recurrence' and 'topic-switching'; this command takes one" in ran.err


def test_columns_of_a_table_can_be_named(run, tmp_path):
    (tmp_path / "log.csv").write_text("who,said what\nAda,we sail at noon\nBo,from which pier?\n")
    ran = run("build", "log.csv", "-o", "m.json")
    assert ran.code == 2
    columns = ("--columns", "text=said what,speaker=who")
    assert run("build", "log.csv", *columns, "-o", "m.json").code == 0
    assert [t.speaker for t in segviz.open("m.json").conversation.turns] == ["Ada", "Bo"]


def test_ask_is_ask(run, boat):
    settings = {"policy": "both", "alpha": 0.5, "horizon": 3, "k": 4, "relevance": "dense"}
    options = [
        part for name, value in settings.items() if name != "k" for part in (f"--{name}", value)
    ]
    ran = run("ask", boat, "Who is Duke?", *options, "-k", 4, "--levels", "0,1", "--json")
    expected = segviz.open(boat).ask("Who is Duke?", levels=(0, 1), **settings)
    found = ran.json
    assert found["evidence"] == plain(expected.evidence)
    assert found["levels"] == plain({w: expected.levels(w) for w in ("initial", "final")})
    assert (found["command"], found["conversation"], found["number"]) == ("ask", "ines-theo", None)
    assert found["settings"] | settings == found["settings"]
    assert (found["gold"], found["answer"]) == ({}, None)


def test_a_level_without_a_node_is_told(run, boat):
    assert "no node lies on" not in run("ask", boat, "Who is Duke?", "--levels", "0").err
    ran = run("ask", boat, "Who is Duke?", "--levels", "0,9")
    assert "no node lies on level 9; there are nodes on level 0, 1" in ran.err
    assert ran.code == 0


def test_asking_a_conversation_file_builds_first(run, boat):
    run("convert", boat, "-o", "boat.json")
    direct = run("ask", "boat.json", "Who is Duke?", "--embedder", "hashing", "--json").json
    assert direct == run("ask", boat, "Who is Duke?", "--json").json


def test_a_question_of_the_data_set_comes_with_its_gold(run, boat):
    memory = segviz.open(boat)
    question = memory.conversation.questions[0]
    found = run("ask", boat, "--number", 0, "--json").json
    assert (found["question"], found["gold_answer"]) == (question.text, question.answer)
    assert list(found["gold"]) == list(question.evidence)
    retrieved = {turn for item in found["evidence"] for turn in item["turn_ids"]}
    assert {t for t, state in found["gold"].items() if state != "missed"} == (
        retrieved & set(question.evidence)
    )
    told = run("ask", boat, "--number", 0).out
    assert f"gold answer: {question.answer}" in told
    for item in found["evidence"]:
        assert all(line in told for line in item["text"].split("\n"))


@pytest.fixture
def moments(tmp_path):
    """The sample with a question at a moment of it, and one before its first turn."""
    (sample,) = json.loads(sample_path("ines-theo").read_text("utf-8"))
    for question, turn in zip(sample["qa"], ("D5:3", "D1:1"), strict=False):
        question["asked_at"] = turn
    (tmp_path / "moments.json").write_text(json.dumps([sample]))
    return "moments.json"


def test_a_question_is_asked_at_its_moment_unless_a_step_is_named(run, moments, tmp_path):
    run("build", moments, "--embedder", "hashing", "-o", "m.json")
    memory = segviz.open(tmp_path / "m.json")
    question = memory.conversation.questions[0]
    step, total = memory.moment(question), len(memory.steps)
    assert 0 < step < total
    found = run("ask", "m.json", "--number", 0, "--json").json
    assert (found["asked_at"], found["settings"]["step"]) == ("D5:3", step)
    nodes = [item["node"] for item in found["evidence"]]
    assert nodes == [item.node for item in memory.ask(question).evidence]
    told = run("ask", "m.json", "--number", 0).out
    later = "what came later is not known."
    assert f"Asked after step {step} of {total}, before D5:3; {later}" in told
    told = run("ask", "m.json", "--number", 0, "--step", 7).out
    elsewhere = f"The question stands before D5:3, after step {step}."
    assert f"Asked after step 7 of {total}; {later} {elsewhere}" in told
    told = run("ask", "m.json", "--number", 1).out
    assert (
        "0 of 0 nodes, top-down, alpha 0.1, H 2, relevance contextual (best evidence)\n"
        f"Asked after step 0 of {total}" in told
    )
    for name, options, at in (("a.py", (), step), ("b.py", ("--step", 7), 7)):
        run("export", "m.json", "--format", "python", "--number", 0, *options, "-o", name)
        assert f"step={at}," in (tmp_path / name).read_text("utf-8")


def test_a_system_with_its_own_retrieval_can_be_asked_by_it(run, talk):
    base = ("ask", talk, "boats", "--system", "bm25", "--embedder", "hashing")
    assert "by the system's own retrieval" in run(*base, "--method", "own").out
    ran = run("ask", talk, "boats", "--method", "own")
    assert ran.code == 2
    assert "has no retrieval of its own" in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no question is given"),
        ([" "], "the question is empty"),
        (["q", "--number", "1"], "not both"),
        (["--number", "900"], "there is no question 900; ines-theo has 0 to 16"),
        (["q", "--alpha", "1"], "alpha is 1.0"),
        (["q", "--alpha", "nan"], "alpha is nan"),
        (["q", "--horizon", "-1"], "horizon is -1"),
        (["q", "-k", "0"], "k is 0"),
        (["q", "--budget", "0"], "budget is 0"),
        (["q", "--step", "9999"], "step 9999"),
        (["q", "--system", "raptor"], "--system can change nothing"),
        (["q", "--set", "refresh=lazy", "--unit", "turn"], "--unit and --set can change nothing"),
        (["q", "--answer"], "--answer needs a chat model"),
        (["q", "--policy", "sideways"], "'--policy': 'sideways'"),
        (["q", "--levels", "top"], "'--levels': 'top'"),
    ],
)
def test_a_question_that_cannot_be_asked_is_a_user_error(run, boat, options, said):
    ran = run("ask", boat, *options)
    assert ran.code == 2
    assert ran.out == ""
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_a_memory_is_known_by_its_content_however_it_is_written(boat, tmp_path):
    assert recognises(boat)
    path = tmp_path / "rewritten.txt"
    document = json.loads(segviz.store.dump(segviz.open(boat).saved))
    path.write_text(json.dumps(document, sort_keys=True, indent=2))
    assert recognises(path)


def test_a_conversation_that_speaks_of_memories_is_none(run, tmp_path):
    said = '{"format": "segviz-memory"}'
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"session_1": [{"speaker": "A", "text": said}]}))
    assert not recognises(path)
    assert run("ask", path, "format").code == 0


@pytest.mark.parametrize("cut", range(1, 40, 6))
def test_the_mark_is_found_across_the_ends_of_chunks(monkeypatch, tmp_path, cut):
    monkeypatch.setattr("segviz.store._PART", 64)
    path = tmp_path / "m.json"
    path.write_text("{" + " " * (64 - cut) + '"format" : "segviz-memory"}')
    assert recognises(path)


def test_numbers_that_are_none_become_null():
    value = {None: np.float64("nan"), 1: (float("inf"), np.array([1.5, np.nan])), "x": True}
    assert plain(value) == {"none": None, "1": [None, [1.5, None]], "x": True}


def test_a_preset_is_a_start_that_options_change(run, boat):
    memory = segviz.open(boat)
    found = run("ask", boat, "Who sold it?", "--preset", "paper, bottom-up", "--json").json
    settings = segviz.PRESETS["paper, bottom-up"]
    assert [e["node"] for e in found["evidence"]] == list(
        memory.ask("Who sold it?", settings).after
    )
    changed = run(
        "ask", boat, "Who sold it?", "--preset", "paper, bottom-up", "--alpha", "0.5", "--json"
    ).json
    assert changed["settings"]["alpha"] == 0.5
    assert changed["settings"]["relevance"] == "dense"
    told = run("ask", boat, "Who sold it?", "--preset", "paper, bottom-up").out
    assert "bottom-up, alpha 0.1, H 2, relevance dense (paper, bottom-up)" in told


def test_every_parameter_of_every_system_can_be_set():
    for name, kind in SYSTEMS.items():
        for parameter in parameters(kind):
            spec, value = parameter.spec, parameter.default
            if spec.registry is None:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                text = {"true": "yes", "false": "no"}.get(text, text)
                found = settings_of(name, [f"{parameter.name}={text}"])
                assert found == {parameter.name: value}, (name, parameter.name)


def test_a_sweep_of_a_preset_measures_it_alone(run, boat):
    found = run("sweep", boat, "--preset", "paper, bottom-up", "--json").json["runs"][0]
    cells = [(cell["policy"], cell["alpha"], cell["horizon"]) for cell in found["cells"]]
    assert cells == [("bottom-up", 0.1, 2)]
    assert found["relevance"] == "dense"
    wider = run(
        *("sweep", boat, "--preset", "paper, bottom-up", "--json"),
        *("--alphas", "0.1,0.5", "--relevance", "lexical"),
    ).json["runs"][0]
    assert [cell["alpha"] for cell in wider["cells"]] == [0.1, 0.5]
    assert wider["relevance"] == "lexical"
    free = run("sweep", boat, "--alphas", "0.1", "--horizons", "1", "--json").json["runs"][0]
    assert free["cells"][1:2]
