"""``segviz build`` and ``segviz ask``: the same as ``segviz.build`` and ``segviz.ask``."""

import json

import numpy as np
import pytest

import segviz
from segviz.cli.build_options import settings_of
from segviz.cli.console import plain
from segviz.construct import parameters
from segviz.conversation import sample_path
from segviz.evaluation.node_texts import contentless_lines, contentless_share
from segviz.systems import SYSTEMS
from tests.memories import KINDS

COSINE = ("--set", "compatibility=cosine", "--set", "compatibility.threshold=0.4")


def test_a_build_is_that_of_the_library_byte_for_byte(run, talk, tmp_path):
    ran = run("build", talk, *COSINE, "--unit", "turn", "--embedder", "hashing", "-o", "one.json")
    assert ran.code == 0
    assert "one.json: segment-tree of " in ran.out
    choice = {"name": "cosine", "threshold": 0.4}
    segviz.build(segviz.load(talk)[0], unit="turn", compatibility=choice, embedder="hashing").save(
        tmp_path / "two.json"
    )
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_a_build_tells_the_share_of_contentless_lines(run, tmp_path):
    told = run("build", "sample:recurrence", "-o", "one.json").out
    found = run("build", "sample:recurrence", "-o", "one.json", "--json").json
    memory = segviz.open(tmp_path / "one.json")
    speakers = memory.conversation.speakers
    shares = contentless_lines(memory.structure, speakers)
    assert found["shape"]["contentless_lines"] == plain(shares)
    share = contentless_share(memory.structure, speakers)
    assert f"{share:.1%} of the lines in inner nodes are contentless\n" in told
    repeats = len(memory.structure) - found["shape"]["nodes"]
    assert repeats
    assert f"{found['shape']['nodes']} nodes (and {repeats} that repeat" in told
    flat = run("build", "sample:recurrence", "--system", "bm25", "-o", "two.json").out
    assert "contentless" not in flat


@pytest.mark.parametrize("system", KINDS[1:])
def test_a_system_of_every_kind_builds(run, talk, system):
    ran = run("build", talk, "--system", system, "--embedder", "hashing", "-o", "m.json", "--json")
    assert ran.code == 0
    found = ran.json
    assert (found["command"], found["system"], found["chat"]) == ("build", system, None)
    memory = segviz.open("m.json")
    assert found["steps"] == len(memory.steps) > 0
    assert found["settings"] == plain(memory.settings)


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
    told = run("ask", "m.json", "--number", 0, "--step", 7).out
    assert f"Asked after step 7 of {total}" in told
    assert f"before D5:3, after step {step}" in told
    # A time is a step: that of the last unit wholly before it.
    day = "2024-03-01"
    found = run("ask", "m.json", "--number", 0, "--as-of", day, "--json").json
    assert found["settings"]["step"] == memory.as_of(day) < total
    assert "choose one" in run("ask", "m.json", "x", "--as-of", day, "--step", 7).err
    told = run("ask", "m.json", "--number", 1).out
    assert told.splitlines()[1].startswith("0 of 0 nodes")
    assert "before -> after" not in told
    for name, options, at in (("a.py", (), step), ("b.py", ("--step", 7), 7)):
        run("export", "m.json", "--format", "python", "--number", 0, *options, "-o", name)
        assert f"step={at}," in (tmp_path / name).read_text("utf-8")


def test_a_system_with_its_own_retrieval_is_asked_by_it(run, talk):
    base = ("ask", talk, "boats", "--system", "bm25", "--embedder", "hashing")
    assert "by the system's own retrieval" in run(*base).out
    assert "top-down, alpha 0.1" in run(*base, "--policy", "top-down").out
    assert "by the system's own retrieval" in run(*base, "--method", "native").out


def test_numbers_that_are_none_become_null():
    value = {None: np.float64("nan"), 1: (float("inf"), np.array([1.5, np.nan])), "x": True}
    assert plain(value) == {"none": None, "1": [None, [1.5, None]], "x": True}


def test_a_preset_is_a_start_that_options_change(run, boat):
    ask = ("ask", boat, "Who sold it?", "--preset", "paper, bottom-up")
    found = run(*ask, "--json").json
    expected = segviz.open(boat).ask("Who sold it?", segviz.PRESETS["paper, bottom-up"])
    assert [e["node"] for e in found["evidence"]] == list(expected.after)
    changed = run(*ask, "--alpha", "0.5", "--json").json
    assert changed["settings"]["alpha"] == 0.5
    assert changed["settings"]["relevance"] == "dense"
    told = run(*ask).out
    every = f"10 of {len(expected.structure)} nodes, each of a same-text chain counted, "
    assert f"{every}bottom-up, alpha 0.1, H 2, relevance dense (paper, bottom-up)" in told


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
