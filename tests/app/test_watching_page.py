"""The page of a conversation that is still being written."""

import json
import time

import pytest

from segviz.ui import keys, security
from segviz.ui.sidebar import watching
from tests.app.conftest import grow, keyed, on_canvas


def say(path, *texts):
    with path.open("a") as stream:
        for text in texts:
            stream.write(json.dumps({"role": "user", "content": text}) + "\n")


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A file that is watched; its keeper ends with the test."""
    path = tmp_path / "agent.jsonl"
    monkeypatch.setenv(security.WATCH, str(path))
    monkeypatch.delenv("SEGVIZ_FILE", raising=False)
    yield path
    with pytest.MonkeyPatch.context() as again:
        again.setenv(security.WATCH, str(path))
        watching.keeper().stopped.set()


def opened():
    return grow().run()


def texts(app):
    return [each.value for kind in (app.caption, app.text, app.error) for each in kind]


def until(app, what):
    """Runs the app until its texts hold ``what``, as the ticks of the page do."""
    end = time.monotonic() + 30
    while not any(what in text for text in texts(app.run())):
        assert time.monotonic() < end, texts(app)
        time.sleep(0.05)
    assert not app.exception
    return app


def test_it_waits_for_the_first_turn_then_follows(watched):
    app = opened()
    assert "Waiting for the first turn." in texts(app)
    say(watched, "The boat is called <b>Heron</b>.", "Why?")
    until(app, "Following: 2 turns")
    say(watched, *(f"Turn {n}" for n in range(40)))
    until(app, "Following: 42 turns")
    drawn = on_canvas(app)
    assert drawn["step"] == 42
    assert drawn["total_units"] == 80  # room, so that the axis keeps still
    assert any(b'"S1:42"' in part.proto.bytes for part in app.get("bidi_component"))
    say(watched, "More")
    until(app, "Following: 43 turns")
    again = on_canvas(app)
    assert again["identity"] == drawn["identity"]  # zoom and focus stay


def test_who_looks_back_is_not_moved(watched):
    say(watched, *(f"Turn {n}" for n in range(20)))
    app = until(opened(), "Following: 20 turns")
    app.button(keys.LOOK_BACK).click().run()
    (slider,) = keyed(app.slider, "step")
    slider.set_value(7).run()
    before = on_canvas(app)
    say(watched, *(f"Later {n}" for n in range(30)))
    until(app, "30 newer turns not shown yet")
    after = on_canvas(app)
    assert (after["step"], after["labels"]) == (7, before["labels"])
    app.button(keys.FOLLOW).click().run()
    until(app, "Following: 50 turns")
    assert not app.button(keys.LOOK_BACK).disabled


def test_lines_without_a_message_are_counted_and_a_broken_file_is_told(watched):
    say(watched, "Well said")
    with watched.open("a") as stream:
        stream.write("not json\n")
    app = until(opened(), "1 line without a message")
    watched.unlink()
    watched.mkdir()  # a file was moved away and a folder took its place
    until(app, "s a directory")


def test_a_file_that_was_written_anew_is_read_again_and_the_page_says_so(watched):
    say(watched, *(f"Turn {n}" for n in range(20)))
    app = until(opened(), "Following: 20 turns")
    assert not any("read again" in text for text in texts(app))
    before = on_canvas(app)
    watched.write_text("")
    say(watched, *(f"Turn {n}" for n in range(3)), "Another end")
    until(app, "Following: 4 turns")
    until(app, "the file was read again from the start")
    assert on_canvas(app)["identity"] != before["identity"]


def test_who_looks_back_keeps_the_tree_of_the_file_before(watched):
    say(watched, *(f"Turn {n}" for n in range(20)))
    app = until(opened(), "Following: 20 turns")
    app.button(keys.LOOK_BACK).click().run()
    before = on_canvas(app)
    watched.unlink()
    say(watched, "Something else")
    until(app, "The tree shows the file before it changed")
    assert on_canvas(app)["labels"] == before["labels"]
    app.button(keys.FOLLOW).click().run()
    until(app, "Following: 1 turn")
