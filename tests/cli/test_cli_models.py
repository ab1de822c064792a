"""Commands with real models: over the wire, paused, resumed, keys unseen."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

import segviz
from tests.data import ROOT
from tests.llm.server import ModelServer, default_answer, enum, hang, say, status
from tests.systems.test_llm_builds import steady

KEY = "sk-of-the-command-line-99887766"
LLM = ("--set", "compatibility=batch", "--set", "annotate=llm", "--embedder", "hashing")


@pytest.fixture
def server(run, monkeypatch):
    """After ``run``, which removes what the environment says."""
    with ModelServer() as running:
        running.answer = steady
        monkeypatch.setenv("SEGVIZ_BASE_URL", running.url)
        monkeypatch.setenv("SEGVIZ_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-for-somebody-else")
        yield running


def build(run, talk, *more, output="m.json"):
    return run("build", talk, *LLM, "--model", "small", "-o", output, *more)


def test_a_build_with_models_says_where_texts_go(run, server, talk):
    ran = build(run, talk)
    assert ran.code == 0
    assert f"texts of the conversation are sent to {server.url}" in ran.err
    memory = segviz.open("m.json")
    assert memory.settings["compatibility"]["name"] == "batch"
    assert len(server.asked) == sum(step.cost.calls for step in memory.steps) > 0
    assert set(server.authorizations) == {f"Bearer {KEY}"}
    assert f"{len(server.asked)} calls of" in ran.out


def test_where_texts_go_is_said_only_where_some_are_sent(run, server, talk):
    build(run, talk)
    assert "are sent to" not in build(run, talk, output="again.json").err
    ran = run("build", talk, "--embedder", "hashing", "--model", "small", "-o", "m.json")
    assert "are sent to" not in ran.err
    assert "nothing used the model small" in ran.err
    assert segviz.open("m.json").chat == ""


def test_calls_tokens_and_time_are_told_before_a_build(run, server, talk):
    line = r"(decisions|texts) by small: about (\d+) calls? \(.*\), [\d,]+ tokens read"
    told = dict(re.findall(line, build(run, talk).err))
    choices = sum(bool(enum(request)) for request in server.asked)
    assert told == {"decisions": str(choices), "texts": str(len(server.asked) - choices)}


def test_json_and_text_say_how_much_the_model_made(run, server, talk):
    server.fault = lambda request: say("purple") if enum(request) else None
    assert "decisions 0 of 2, texts 3 of 3 by the model" in build(run, talk).out
    found = build(run, talk, "--json").json
    assert found["decisions"] == {"asked": 2, "by_model": 0}
    assert found["texts"] == {"asked": 3, "by_model": 3}
    assert found["provenance"]["models"]["decision"]["model"] == "small"


def test_the_doctor_tests_a_server(run, server):
    server.models = [{"id": "small", "meta": {"n_ctx": 2048}}]
    server.answer = default_answer
    ran = run("doctor", "--server", server.url, "--model", "small")
    assert ran.code == 0
    assert "server, context: 2,048 tokens" in ran.out
    assert "server, schema: kept to (json_schema)" in ran.out
    assert len(server.chats) in (2, 3)
    away = run("doctor", "--server", "http://127.0.0.1:9/v1", "--model", "small")
    assert (away.code, "the connection failed" in away.out) == (1, True)


def test_a_tree_that_the_model_never_split_is_called_so(run, server, talk):
    always = server.answer
    server.answer = lambda request: enum(request)[0] if enum(request) else always(request)
    assert "never split" in build(run, talk).out
    server.answer = lambda request: enum(request)[-1] if enum(request) else always(request)
    assert "never split" not in build(run, talk, "--seed", "2").out


def test_a_model_for_each_role(run, server, talk):
    options = (*LLM, "--decision-model", "judge", "--annotation-model", "writer")
    assert run("build", talk, *options, "-o", "m.json").code == 0
    assert {r["model"] for r in server.asked if enum(r)} == {"judge"}
    assert {r["model"] for r in server.asked if not enum(r)} == {"writer"}
    known = segviz.open("m.json").provenance["models"]
    assert {role: of["model"] for role, of in known.items()} == {
        "decision": "judge",
        "annotation": "writer",
    }


def test_a_paused_build_goes_on_where_it_stopped(run, server, talk, tmp_path):
    server.script(None, None, None, status(401))
    # Without an estimate, whose test of the server would use up the script.
    ran = build(run, talk, "--concurrency", "1", "--retries", "0", "-q")
    assert (ran.code, ran.out) == (3, "")
    assert "the same command continues" in ran.err
    assert "build again" not in ran.err  # the advice of a command, once
    assert not (tmp_path / "m.json").exists()
    server.script()
    assert build(run, talk).code == 0
    calls = sum(step.cost.calls for step in segviz.open("m.json").steps)
    assert len(server.asked) == calls + 1  # the one that was refused


@pytest.mark.parametrize(("how", "code"), [("SIGINT", 130), ("SIGKILL", -9)])
@pytest.mark.slow
def test_a_build_that_is_ended_while_it_waits_loses_nothing(
    run, server, talk, tmp_path, monkeypatch, how, code
):
    options = [*LLM, "--model", "small", "--concurrency", "1", "-o", "m.json", "--json"]
    server.fault = lambda request: hang(30) if len(server.asked) == 3 else None
    # Where the tests run in the background of a shell, children would ignore an interrupt.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    script = f"{heard}; import sys; from segviz.cli import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", script, "build", str(talk), *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for _ in range(1_200):
            if len(server.asked) >= 3:
                break
            time.sleep(0.1)
        process.send_signal(getattr(signal, how))
        assert process.wait(20) == code
        said = process.stderr.read()
    told = "the same command continues" in said
    assert told == (how == "SIGINT")
    assert "Traceback" not in said
    assert not (tmp_path / "m.json").exists()
    server.fault = lambda request: None
    before = len(server.asked)
    assert run("build", talk, *options).code == 0
    calls = sum(step.cost.calls for step in segviz.open("m.json").steps)
    assert len(server.asked) - before == calls - 2  # the two that were answered
    monkeypatch.setenv("SEGVIZ_CACHE", str(tmp_path / "another"))
    assert run("build", talk, *LLM, "--model", "small", "-o", "whole.json").code == 0
    assert (tmp_path / "m.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_an_answer_that_never_comes_is_made_offline(run, server, talk):
    refused = say("", finish="content_filter")
    server.fault = lambda request: refused if "line 7" in str(request["messages"]) else None
    assert build(run, talk, "--retries", "0").code == 0
    assert any("made offline" in step.note for step in segviz.open("m.json").steps)


def test_an_answer_from_the_evidence(run, server, talk):
    server.answer = lambda request: "About \x1b[2J boats."
    ask = ("ask", talk, "What about?", "--embedder", "hashing", "--model", "small", "--answer")
    assert run(*ask, "--json").json["answer"]["text"] == "About \ufffd[2J boats."
    assert "     About \ufffd[2J boats." in run(*ask).out
    assert len(server.asked) == 1
    server.fault = lambda request: status(401)
    ran = run(*ask[:2], "Another?", *ask[3:], "--retries", "0")
    assert (ran.code, ran.out) == (3, "")


def test_remote_embeddings_build_and_ask(run, server, talk):
    remote = ("--embedding-model", "embed-small")
    assert run("build", talk, *remote, "-o", "m.json").code == 0
    sent = len(server.embedded)
    assert sent
    ran = run("ask", "m.json", "Which boats?")
    assert ran.code == 2
    assert "was embedded with" in ran.err
    assert run("ask", "m.json", "Which boats?", *remote, "--json").code == 0
    assert server.embedded[sent:] == ["Which boats?"]
    assert run("ask", "m.json", "Which boats?", "--relevance", "lexical").code == 0


def test_a_key_goes_to_its_own_server_alone(run, server, talk, monkeypatch):
    with ModelServer() as other:
        other.answer = steady
        assert build(run, talk, "--server", other.url).code == 0
        assert other.authorizations
        for sent in other.authorizations:
            assert KEY not in sent
            assert "somebody-else" not in sent


def test_keys_are_never_printed(run, server, talk):
    server.fault = lambda request: status(401, error=f"wrong key {KEY}")
    for more in ([], ["--json"]):
        ran = build(run, talk, *more)
        assert ran.code == 3
        assert KEY not in ran.out + ran.err


def test_a_file_of_prompts_replaces_what_the_model_is_told(run, server, talk, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text('annotate = "Sum up in $words words. $data"')
    assert build(run, talk, "--prompts", str(mine)).code == 0
    told = {r["messages"][0]["content"][:11] for r in server.asked if not enum(r)}
    assert told == {"Sum up in 8"}
    mine.write_text('annotate = "$nothing"')
    ran = build(run, talk, "--prompts", str(mine))
    assert (ran.code, "$nothing" in ran.err) == (2, True)
