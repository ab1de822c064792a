"""A public server: what visitors may ask of models, what each and all may use, what they leave."""

import gc

import pytest

from segviz.llm.client import Fault, RequestError
from segviz.loaders import parse
from segviz.memory import build
from segviz.retrieval import RELEVANCE
from segviz.systems import SYSTEMS
from segviz.ui import security, visit
from tests.app.conftest import clean, grow, texts, with_server
from tests.memories import sample


@pytest.fixture
def public(monkeypatch):
    monkeypatch.setenv(security.PUBLIC, "1")
    one = visit.Visit()  # every AppTest is of one browser session
    monkeypatch.setattr(visit, "_visit", lambda: one)
    monkeypatch.setattr(visit, "_here", set())


# --- models ------------------------------------------------------------------------------------


def test_without_a_server_named_by_the_host_models_are_off(public, server, small):
    app = clean(grow().run())
    assert "Models are off" in texts(app)
    assert not [box for box in app.selectbox if box.key == "preset"]
    assert not [field for field in app.text_input if str(field.key).startswith("model-url")]
    assert not server.requests


def test_a_visitor_reaches_the_named_servers_and_no_other_address(
    public, server, small, monkeypatch
):
    """What a session holds of another address, from an earlier page or a forged message, is not
    used."""
    named = "http://127.0.0.1:9/v1"
    monkeypatch.setenv(security.MODELS, named)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-host-12345678")
    app = grow()
    app.session_state["preset"] = "Another server"
    app.session_state["model-url-Another server"] = server.url
    app.session_state[f"model-url-{named}"] = server.url
    clean(app.run())
    (box,) = [box for box in app.selectbox if box.key == "preset"]
    assert box.options[1:] == [named]
    box.set_value(named).run()
    app.text_input(key=f"model-chat-{named}").set_value("test-model").run()
    assert not [field for field in app.text_input if str(field.key).startswith("model-url")]
    assert named in texts(app)
    assert server.url not in texts(app)
    assert not server.requests
    key = next(field for field in app.text_input if str(field.key).startswith("api-key-"))
    assert key.placeholder == "none"  # the host's key is not spent
    assert not [button for button in app.button if button.key == "cache-clear"]


def test_on_this_machine_any_address_may_be_typed(server, small):
    assert server.url in texts(with_server(grow().run(), server))


def test_the_words_of_a_server_are_shown_on_this_machine_alone(monkeypatch):
    said = "the server refused the request (400): account 17 of Example Ltd"
    error = RequestError(f"http://a (m): {said}. Tried once.", Fault(said, 400, status=400))
    monkeypatch.setattr(security, "beyond_loopback", lambda: False)
    assert "Example Ltd" in security.shown_error(error)
    monkeypatch.setattr(security, "beyond_loopback", lambda: True)
    assert security.shown_error(error) == (
        "http://a (m): the server refused the request (400). Tried once."
    )


# --- limits ------------------------------------------------------------------------------------


def test_a_long_conversation_is_refused_and_what_was_open_stays(public, monkeypatch):
    app = clean(grow().run())
    before = app.slider[0].max
    monkeypatch.setattr(visit, "TURNS", 320)
    app.segmented_control(key="source").set_value("Paste").run()
    app.text_area(key="paste").set_value("Ada: one\nBen: two\n" * 161).run()
    assert not app.exception
    assert "322 turns" in texts(app)
    assert "The previous conversation is still here." in texts(app)
    assert app.slider[0].max == before


@pytest.mark.parametrize(
    ("limit", "value"), [("LEAVES", 5), ("PATIENCE", 0.01), ("RESERVE", 10**18)]
)
def test_a_build_beyond_a_limit_is_refused_and_can_be_tried_again(
    public, small, monkeypatch, limit, value
):
    place = security if limit == "RESERVE" else visit
    with monkeypatch.context() as patch:
        patch.setattr(place, limit, value)
        if limit == "PATIENCE":
            taken = [visit._builds.acquire() for _ in range(visit.BUILDS_AT_ONCE)]
        if limit == "RESERVE":
            patch.setattr(security, "has_room", lambda: True)
        app = grow().run()
        assert not app.exception
        assert "There is no room for this now." in texts(app)
        if limit == "PATIENCE":
            [visit._builds.release() for _ in taken]
    clean(app.button(key="retry").click().run())
    assert "There is no room for this now." not in texts(app)
    assert visit._builds.acquire(blocking=False)  # each place was given back
    visit._builds.release()


def test_visitors_beyond_the_limit_are_told_to_come_again(public, monkeypatch):
    monkeypatch.setattr(visit, "VISITORS", 0)
    app = clean(grow().run())
    assert "Too many people use this server now" in texts(app)
    assert not app.sidebar.children


def test_elsewhere_there_are_no_limits(monkeypatch):
    monkeypatch.delenv(security.PUBLIC, raising=False)
    monkeypatch.setattr(visit, "LEAVES", 0)
    monkeypatch.setattr(visit, "TURNS", 0)
    visit.check_turns(sample(sessions=1))
    with visit.building(10):
        pass


# --- what stays --------------------------------------------------------------------------------


def _alive(marker: str) -> set[str]:
    """Every text with the marker that an object of this process refers to."""
    referred = (gc.get_referents(one) for one in gc.get_objects())
    texts = {each for some in referred for each in some if type(each) is str}
    return {text for text in texts if marker in text and text != marker}


def test_no_cache_of_the_process_keeps_a_text_of_a_visit():
    marker = "-".join(("quax", "olotl")).replace("-", "")  # not in this file, which may be read

    def visited() -> None:
        lines = [f"Ada: On 3 May 2024 I saw {marker}s number {n} swim." for n in range(12)]
        conversation = parse("\n".join(lines).encode(), "pasted text")[0]
        for system in SYSTEMS:
            memory = build(conversation, system)
            memory.labels()
            for relevance in RELEVANCE:
                memory.ask(f"Who saw {marker}s?", relevance=relevance)

    visited()
    gc.collect()
    assert _alive(marker)  # the caches do hold some, else this would show nothing
    visit.forget_texts()
    gc.collect()
    assert not _alive(marker)
