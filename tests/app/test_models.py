"""Model settings in the app: builds over the wire, pause and resume, typed turns."""

import re

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.app.conftest import KEY, clean, grow, key_field, talk_file, texts, with_server
from tests.llm.server import default_answer, enum, status
from tests.systems.test_llm_builds import steady


@pytest.fixture
def plain(tmp_path, server, monkeypatch) -> AppTest:
    """The app with a conversation of six units open."""
    server.answer = steady
    path = talk_file(tmp_path, [f"line {i} about boats" for i in range(12)])
    monkeypatch.setenv("SEGVIZ_FILE", str(path))
    return clean(grow().run())


@pytest.fixture
def app(plain, server) -> AppTest:
    """The same with a model, chosen to judge and to summarise."""
    with_server(plain, server)
    plain.selectbox(key="segment-tree.compatibility").set_value("batch")
    plain.selectbox(key="segment-tree.annotate").set_value("llm")
    return clean(plain.run())


@pytest.fixture
def embedding(plain, server) -> AppTest:
    """The same with a model that embeds."""
    with_server(plain, server, "embed", "embedding")
    plain.toggle(key="embeds").set_value(True).run()
    return clean(plain)


def build(app: AppTest) -> AppTest:
    return clean(app.button(key="build").click().run())


def say(app: AppTest, text: str) -> AppTest:
    """A turn typed in."""
    app.text_area[0].set_value(text)
    next(b for b in app.button if b.label == "Add turn").click().run()
    return clean(app)


class TestModels:
    def test_without_a_model_the_page_says_what_to_do(self, plain, server):
        plain.selectbox(key="segment-tree.compatibility").set_value("batch").run()
        assert "needs a chat model for compatibility (batch)" in texts(clean(plain))
        assert server.requests == []

    def test_nothing_is_sent_before_build_is_pressed(self, app, server):
        assert "Nothing is sent before you press Build" in texts(app)
        assert "with model calls for compatibility (batch) and annotate (llm): about " in texts(app)
        assert "at the measured speed" not in texts(app)
        assert "Models" in [e.label for e in app.expander]
        assert server.requests == []
        assert build(app).slider[0].max == 6
        assert len(server.requests) > 0
        assert "The model answered" in texts(app)
        assert server.authorizations[0] == f"Bearer {KEY}"
        assert KEY not in texts(app)

    def test_a_memory_that_waits_to_be_built_is_in_the_address(self, app, server):
        link = app.session_state["address-written"]["link"]
        assert (link["compatibility"], link["annotate"]) == ("batch", "llm")
        again = grow()
        for name, value in link.items():
            again.query_params[name] = value
        again.run()
        assert again.selectbox(key="segment-tree.annotate").value == "llm"
        assert "needs a chat model" in texts(clean(again))
        assert server.requests == []

    def test_a_model_that_nothing_uses_is_said_to_be_and_one_click_uses_it(self, plain, server):
        with_server(plain, server)
        assert "Builds do not use this model" in texts(plain)
        assert "After you press Build" not in texts(plain)
        plain.button(key="models-unused").click().run()
        assert "texts are sent for compatibility (batch) and annotate (llm) to:" in texts(
            clean(plain)
        )
        build(plain)
        assert "by the model" in texts(plain)
        assert server.chats

    def test_a_test_of_the_server_lists_its_models_and_takes_one(self, plain, server):
        server.answer = default_answer
        server.models = [{"id": "small"}, {"id": "large", "meta": {"n_ctx": 2048}}]
        with_server(plain, server)
        plain.button(key="test-server").click().run()
        assert "Models listed: small, large" in texts(clean(plain))
        assert "Schema: kept to (json_schema)" in texts(plain)
        plain.selectbox(key="listed-Another server").set_value("large").run()
        assert plain.text_input(key="model-chat-Another server").value == "large"
        plain.button(key="test-server").click().run()
        assert "Context: 2,048 tokens" in texts(clean(plain))
        plain.button(key="models-unused").click().run()
        assert "at the measured speed" in texts(clean(plain))

    @pytest.mark.parametrize("usable", [True, False])
    def test_a_node_says_who_wrote_it_with_prompt_and_reply(self, app, server, usable):
        given = "Title: Boats\nA and B speak of the lines about boats, 99 of them, in Viana."
        reply = given if usable else "Sure! Here is a summary of it."
        server.answer = lambda request: steady(request) if enum(request) else reply
        build(app)
        key, memory = next(reversed(app.session_state["memories"].items()))
        shown = memory.structure.collapsed
        node = next(n for n in shown.nodes.tolist() if len(shown.children[n]) > 1)
        app.session_state["selected"] = (key, node)
        clean(app.run())
        who = "Written by test-model" if usable else "Written offline (extractive): "
        assert who in texts(app).replace("\\", "")
        assert ("began with an introduction" in texts(app)) is not usable
        shown_there = [block.value for block in app.code]
        assert reply in shown_there
        assert any("1. Part, said on " in block for block in shown_there), "the prompt"

    def test_a_failing_model_pauses_and_resume_finishes(self, app, server):
        server.script(None, None, None, *[status(401)] * 20)
        assert "Paused after" in texts(build(app))
        assert KEY not in texts(app)
        assert app.session_state["models-panel"]  # where the key is typed
        assert app.slider[0].max < 6
        server.script()
        before = len(server.requests)
        assert build(app).slider[0].max == 6
        assert "Paused after" not in texts(app)
        assert len(server.requests) > before

    def test_each_memory_has_its_own_pause(self, app, server):
        server.script(None, None, None, *[status(401)] * 20)
        first = texts(build(app))
        app.selectbox(key="segment-tree.compatibility").set_value("pointwise").run()
        assert "Paused after" not in texts(clean(app))
        server.script(*[status(403)] * 20)
        assert "(403)" in texts(build(app))
        app.selectbox(key="segment-tree.compatibility").set_value("batch").run()
        assert "(401)" in first
        assert "(401)" in texts(clean(app))

    def test_cancelling_keeps_what_is_done(self, app, server, monkeypatch):
        """A click ends the run by what Streamlit raises in its next call."""
        server.script(*[None] * 5, *[status(429, retry_after="60")] * 20)
        from segviz.ui.sidebar import build as building

        real = building.heartbeat

        def click() -> None:
            if len(server.requests) > 5:  # however long the first took
                st.stop()

        monkeypatch.setattr(building, "heartbeat", lambda beat: real(click))
        app.button(key="build").click().run()
        monkeypatch.setattr(building, "heartbeat", real)
        server.script()
        app.session_state["building"] = None  # as the Cancel button does
        app.run()
        assert "a request in progress may still be charged" in texts(clean(app))
        assert "Nothing is sent" not in texts(app)
        assert 0 < app.slider[0].max < 6
        assert build(app).slider[0].max == 6

    @pytest.mark.parametrize("configured", [False, True])
    def test_keys_of_the_environment_go_to_the_configured_server_alone(
        self, app, server, monkeypatch, configured
    ):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-host-machine")
        monkeypatch.setenv("SEGVIZ_API_KEY", "sk-of-segviz")
        if configured:
            monkeypatch.setenv("SEGVIZ_BASE_URL", server.url)
        key_field(app).set_value("").run()
        app.button(key="build").click().run()
        assert server.requests
        own = {sent for sent in server.authorizations if "sk-of" in sent}
        assert own == ({"Bearer sk-of-segviz"} if configured else set())

    def test_embeddings_wait_for_build_too_and_are_counted(self, embedding, server):
        assert "Nothing is sent before you press Build" in texts(embedding)
        assert server.requests == []
        app = build(embedding)
        assert app.slider[0].max == 6
        assert server.embedded
        assert "embed: " in texts(app)
        assert "cost unknown" in texts(app)

    def test_a_typed_turn_goes_on_with_the_approved_build(self, app, server):
        app.button(key="build").click().run()
        sent = len(server.requests)
        assert say(app, "One more line about boats.").slider[0].max == 7
        assert 0 < len(server.requests) - sent < sent

    def test_spending_stays_and_a_key_does_not_when_another_server_is_named(self, app, server):
        assert "cost unknown" in texts(build(app)), "shown at the end of the run that built"
        requests = len(server.requests)
        assert f"test-model: {requests} requests, " in texts(app)
        # Another address has another client, but the session spent what it spent.
        app.text_input(key="model-url-Another server").set_value("http://127.0.0.1:9/v1").run()
        assert f"test-model: {requests} requests, " in texts(clean(app))
        assert key_field(app).value == ""
        app.selectbox(key="preset").set_value("None: stay offline").run()
        assert f"test-model: {requests} requests, " in texts(clean(app))

    def test_each_model_of_a_build_has_an_estimate_of_its_own(self, app, server):
        assert "test-model about" not in texts(app)
        app.text_input(key="model-annotation-Another server").set_value("writer").run()
        (said,) = [line for line in texts(clean(app)).split("\n") if "with model calls for" in line]
        assert re.search(r": test-model about [\d,]+ .*; writer about [\d,]+ ", said)

    def test_roles_and_limits_reach_the_server_and_only_some_ask_again(self, app, server):
        app.text_input(key="model-annotation-Another server").set_value("writer").run()
        limit = "limit-{}-Another server"
        heat = app.number_input(key=limit.format("temperature"))
        assert (heat.min, heat.max) == (0.0, 2.0)
        app.number_input(key=limit.format("max_tokens")).set_value(77).run()
        app.number_input(key=limit.format("temperature")).set_value(0.5).run()
        app.button(key="build").click().run()
        writers, judges = ([r for r in server.chats if bool(enum(r)) is w] for w in (False, True))
        assert {(r["model"], r["max_tokens"]) for r in writers} == {("writer", 77)}
        assert {(r["model"], r["max_tokens"]) for r in judges} == {("test-model", 20)}
        assert {r["temperature"] for r in server.chats} == {0.5}
        sent = len(server.requests)
        for name, value in (("timeout", 5), ("retries", 1), ("concurrency", 2)):
            app.number_input(key=limit.format(name)).set_value(value).run()
        assert clean(app).slider[0].max == 6
        app.number_input(key=limit.format("max_tokens")).set_value(78).run()
        assert "Nothing is sent before you press Build" in texts(clean(app))
        assert len(server.requests) == sent

    def test_kept_replies_are_cleared_only_when_confirmed(self, app, server):
        app.button(key="build").click().run()
        assert app.button(key="cache-clear").disabled
        app.run()
        assert "\n0 answers" not in texts(clean(app))
        app.checkbox(key="cache-sure").set_value(True).run()
        app.button(key="cache-clear").click().run()
        assert "\n0 answers and 0 embeddings" in texts(clean(app))
        assert app.button(key="cache-clear").disabled

    def test_a_bad_address_is_explained(self, server):
        app = grow().run()
        app.selectbox(key="preset").set_value("Another server").run()
        app.text_input(key="model-url-Another server").set_value("ftp://x").run()
        assert "must be an http:// or https:// address" in texts(clean(app))


class TestTyping:
    @pytest.mark.usefixtures("small")
    def test_a_typed_turn_joins_and_can_be_undone(self):
        app = grow().run()
        total = app.slider[0].max
        assert say(app, "My telescope showed me Saturn.").slider[0].max == total + 1
        assert f"Step **{total + 1:.0f}** /" in texts(app)
        app.selectbox(key="unit").set_value("turn").run()
        assert clean(app).slider[0].max > total + 1
        app.selectbox(key="unit").set_value("exchange").run()
        next(b for b in app.button if b.label == "Undo last").click().run()
        assert clean(app).slider[0].max == total


def test_a_cascade_is_pointed_out():
    app = grow().run()
    app.selectbox(key="segment-tree.compatibility").set_value("cosine").run()
    parameters = "open-segment-tree.compatibility.cosine"
    app.session_state[parameters] = True
    app.run().number_input(key="segment-tree.compatibility.cosine.threshold").set_value(0.9).run()
    assert "The tree cascades" in texts(clean(app))
    app.session_state[parameters] = False  # closed, they hold
    assert "The tree cascades" in texts(clean(app.run()))
