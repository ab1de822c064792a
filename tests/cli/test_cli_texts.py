"""``segviz texts``: prompts out, replies in, level by level until the root is written."""

from __future__ import annotations

import json

import pytest

import segviz
from segviz.cli.command import OK, UNFINISHED, USAGE
from segviz.construct import TITLE, WRITTEN_BY
from segviz.conversation import sample_texts
from tests.memories import SAMPLE, built


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def batch(name: str, text: str, finish: str = "stop", status: int = 200) -> str:
    """A line of the output of an OpenAI batch."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    body = {"model": "far-1", "choices": [{**choice, "finish_reason": finish}]}
    response = {"status_code": status, "request_id": "r", "body": body}
    return json.dumps({"id": "b", "custom_id": name, "response": response, "error": None})


def plain(name: str, text: str) -> str:
    """A reply without the form of the API."""
    return json.dumps({"custom_id": name, "title": f"About {name}", "text": text})


def good(name: str) -> str:
    return f"In the units of {name} they spoke about boats, bread and the weather."


@pytest.fixture
def prompted(run, boat, tmp_path):
    """A memory file, and the file of its first prompts."""
    memory, prompts = tmp_path / "m.npz", tmp_path / "p.jsonl"
    assert run("texts", boat, "-o", memory, "-o", prompts).code == OK
    return memory, prompts


@pytest.mark.parametrize("form", [batch, plain])
def test_levels_are_written_from_low_to_high_until_the_root_is_written(run, prompted, form):
    path, prompts = prompted
    replies, levels = path.with_name("r.jsonl"), []
    while segviz.open(path).prompts():
        asked = rows(prompts)
        levels.append(segviz.open(path).prompts()[0].level)
        text = "Title: About {0}\n{1}" if form is batch else "{1}"
        names = [row["custom_id"] for row in asked]
        replies.write_text("\n".join(form(n, text.format(n, good(n))) for n in names), "utf-8")
        done = run("texts", path, "--replies", replies, "-o", prompts, "--json")
        assert (done.code, done.json["put"], done.json["refused"]) == (OK, len(asked), {})
    assert levels == sorted(set(levels))
    assert len(levels) > 1
    assert done.json["left"] == {}
    assert done.json["prompts"] is None
    final = segviz.open(path).structure.collapsed
    inner = [n for n in final.nodes.tolist() if final.stop[n] - final.start[n] > 1]
    for node in inner:
        name = f"ines-theo:{final.start[node]}-{final.stop[node]}"
        assert final.text[node] == good(name)
        assert final.facts[node][TITLE] == f"About {name}"
        assert final.facts[node][WRITTEN_BY] == ("far-1" if form is batch else "hand")
    assert run("texts", path).out == "every text is written\n"
    unasked = path.with_name("none.jsonl")
    assert f"{unasked}: not written, as there is no prompt" in run("texts", path, "-o", unasked).out
    assert not unasked.exists()


def test_a_command_without_options_says_how_many_texts_are_left(run, prompted):
    path, prompts = prompted
    before = path.read_bytes()
    done = run("texts", path)
    asked = rows(prompts)
    assert f"{len(asked)} on level 1" in done.out
    assert (done.code, path.read_bytes()) == (OK, before)


def test_prompts_have_the_batch_format_and_name_the_model(run, boat, tmp_path):
    prompts = tmp_path / "p.jsonl"
    done = run("texts", boat, "-o", prompts, "--model", "small-1", "--max-tokens", 300, "--json")
    assert done.json["asked"] == len(rows(prompts)) == len(segviz.open(boat).prompts())
    for row, request in zip(rows(prompts), segviz.open(boat).prompts(), strict=True):
        assert row["custom_id"] == request.id
        assert (row["method"], row["url"]) == ("POST", "/v1/chat/completions")
        assert row["body"] == {
            "model": "small-1",
            "messages": request.messages,
            "max_completion_tokens": 300,
        }


def test_a_note_names_the_next_command(run, boat, prompted):
    path, prompts = prompted
    for arguments, command in (
        ([boat, "-o", path, "-o", prompts], f"segviz texts {path} --replies FILE -o {prompts}"),
        ([path, "-o", prompts], f"segviz texts {path} --replies FILE -o {prompts}"),
        (["sample:recurrence", "-o", prompts], "the same command with --replies FILE -o MEMORY"),
    ):
        assert command in run("texts", *arguments).err


def test_the_next_prompts_quote_the_texts_of_the_level_below(run, prompted):
    path, prompts = prompted
    names = [row["custom_id"] for row in rows(prompts)]
    replies = path.with_name("r.jsonl")
    replies.write_text("\n".join(plain(name, good(name)) for name in names), "utf-8")
    run("texts", path, "--replies", replies, "-o", prompts)
    user = rows(prompts)[0]["body"]["messages"][1]["content"]
    assert good(names[0]) in user
    assert "1. Part, said " in user


def test_refused_replies_are_named_with_the_reason_and_asked_again(run, prompted):
    path, prompts = prompted
    names = [row["custom_id"] for row in rows(prompts)]
    lines = [
        batch(names[0], f"Here is the summary:\n{good('x')}"),
        batch(names[1], f"Title: A\n{good('x')}", finish="length"),
        batch(names[2], "", status=200),
        batch(names[3], good("x"), status=500),
        plain("ines-theo:0-999", good("x")),
        plain(names[4], "No."),
        '{"no": "id"}',
        *(plain(name, good(name)) for name in names[5:]),
    ]
    replies = path.with_name("r.jsonl")
    replies.write_text("\n".join(lines), "utf-8")
    done = run("texts", path, "--replies", replies, "-o", prompts)
    assert done.code == UNFINISHED
    assert [row["custom_id"] for row in rows(prompts)] == names[:5]
    for reason in (
        f"{names[0]}: it began with an introduction",
        f"{names[1]}: it was cut off",
        f"{names[2]}: the answer was empty",
        f"{names[3]}: the server answered with status 500",
        f"ines-theo:0-999: no inner node of this memory has this id; ids are like {names[0]}",
        f"{names[4]}: it was too short",
        "line 7: it is no JSON object with custom_id",
        f"{len(names) - 5} texts put, 7 refused",
    ):
        assert reason in done.out
    # A better reply to one of them is taken, after the refused one, too.
    replies.write_text("\n".join([lines[0], plain(names[0], good(names[0]))]), "utf-8")
    done = run("texts", path, "--replies", replies, "--json")
    assert (done.code, done.json["put"], done.json["refused"]) == (OK, 1, {})


def test_what_cannot_be_used_is_an_error_of_usage(run, prompted, talk):
    path, prompts = prompted
    before = path.read_bytes()
    for arguments, why in (
        ([path, "--replies", prompts], "these are the prompts"),
        ([talk, "--replies", prompts], "name the file of the memory"),
        ([path, "--replies", talk], "these are no replies"),
        ([path, "-o", prompts, "-o", path.with_name("q.jsonl")], "one .jsonl file"),
        ([path, "--conversation", "x", "-o", prompts], "is a built memory"),
    ):
        done = run("texts", *arguments)
        assert (done.code, why in done.err) == (USAGE, True), done.err
    assert path.read_bytes() == before


def test_commands_on_a_sample_have_the_texts_that_the_app_opens_with(run, tmp_path):
    memory = built("segment-tree", SAMPLE)
    written = memory.with_texts(sample_texts(SAMPLE))
    for options, expected in ((), written), (("--texts", "extracts"), memory):
        run("build", f"sample:{SAMPLE}", *options, "-o", "m.npz")
        assert segviz.open("m.npz").structure.text == expected.structure.text
        script = run("export", f"sample:{SAMPLE}", *options, "--format", "python", "-o", "-").out
        assert ("with_texts" in script) == (expected is written)
        left = run("texts", f"sample:{SAMPLE}", *options, "-o", "p.jsonl", "--json").json["left"]
        assert bool(left) == (expected is memory)
        asked = ("--policies", "none", "--relevance", "dense", "--json")
        from_sample = run("sweep", f"sample:{SAMPLE}", *options, *asked).json["runs"]
        assert from_sample == run("sweep", "m.npz", *asked).json["runs"]


@pytest.mark.parametrize("given", ["sample:recurrence", f"sample:{SAMPLE} --unit turn"])
def test_written_texts_that_are_not_there_are_an_error(run, given):
    ran = run("build", *given.split(), "--texts", "written", "-o", "m.npz")
    assert ran.code == USAGE
    assert "ines-theo and noor-caleb" in ran.err
