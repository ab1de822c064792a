"""Where conversations come from: pasted text, tables, saved memories."""

import json

import pytest

import segviz
from segviz.conversation import sample_path
from segviz.loaders import JOINED, LoadError
from segviz.ui.sidebar import source
from tests.app.conftest import clean, grow, keyed, open_path, texts
from tests.app.test_address import address, opened

pytestmark = pytest.mark.usefixtures("small")


def pasted(text: str):
    app = grow().run()
    app.segmented_control(key="source").set_value("Paste").run()
    app.text_area(key="paste").set_value(text).run()
    return clean(app)


def column(app, part: str):
    """The box that says which column holds this."""
    (box,) = [b for b in keyed(app.selectbox, "column-") if str(b.key).endswith(f"-{part}")]
    return box


def test_pasted_text_becomes_a_tree_and_stays_text():
    turn = "<script>alert(1)</script> **bold** [x](javascript:1)"
    app = pasted(f"Ada: Did you find the key?\nBen: {turn}\nAda: Of course.\n")
    assert "Ada, Ben" in texts(app)
    assert app.session_state["last"].corpus[0].turns[1].text == turn
    assert not any("<script>" in str(m.value) for m in app.markdown)


def test_a_table_whose_columns_do_not_tell_is_asked_about(tmp_path):
    path = tmp_path / "chat.csv"
    rows = ["who,line", *(f"{'Ada' if i % 2 else 'Ben'},what {i}" for i in range(6))]
    path.write_text("\n".join(rows))
    app = open_path(grow().run(), path)
    column(app, "text").set_value("line").run()
    column(clean(app), "speaker").set_value("who").run()
    assert clean(app).session_state["last"].corpus[0].turns[0].text == "what 0"
    assert "Ben, Ada" in texts(app)


def test_columns_are_guessed_from_the_values_and_kept_for_files_of_the_same_keys(tmp_path):
    def written(name: str):
        path = tmp_path / name
        rows = [f"2024-05-0{i},{'Ada' if i % 2 else 'Ben'},{name} {i},x y" for i in range(1, 7)]
        path.write_text("\n".join(["wann,wer,was,daneben", *rows]))
        return path

    app = clean(open_path(grow().run(), written("one.csv")))
    assert "Ada: one.csv 1\nBen: one.csv 2\nAda: one.csv 3" in texts(app)  # the preview
    assert "guessed from the values" in texts(app)
    column(app, "text").set_value("daneben").run()
    app = clean(open_path(app, written("two.csv")))
    assert "Ada: x y\nBen: x y" in texts(app)


def test_a_wrong_guess_is_corrected_after_a_look_at_the_turns(tmp_path):
    path = tmp_path / "chat.csv"
    rows = [f"id{i},what {i},{'Ada' if i % 2 else 'Ben'}" for i in range(6)]
    path.write_text("\n".join(["message,said aloud,name", *rows]))
    app = clean(open_path(grow().run(), path))
    assert "Ben: id0\nAda: id1" in texts(app)  # the preview
    assert any("text = message" in str(box.label).replace("\\", "") for box in app.expander)
    app = clean(column(app, "text").set_value("said aloud").run())
    assert "Ben: what 0\nAda: what 1" in texts(app)
    first = app.session_state["last"].corpus[0].turns[0]
    assert (first.speaker, first.text) == ("Ben", "what 0")
    assert [b.value for b in keyed(app.selectbox, "column-")] == [
        "said aloud",
        "name",
        None,
        None,
        None,
    ]
    # The one that holds the texts cannot be taken away: then the file is read as at first.
    column(app, "text").set_value(None).run()
    assert clean(app).session_state["last"].corpus[0].turns[0].text == "id0"


def test_what_a_format_leaves_open_is_asked(tmp_path):
    lines = [f"0{1 + i}/02/2024, 10:00 - Ada: line {i}" for i in range(4)]
    path = tmp_path / "chat.txt"
    path.write_text("\n".join(lines))
    app = open_path(grow().run(), path)
    keyed(app.selectbox, "dates-")[0].set_value("month before day").run()
    days = [s.start.day for s in clean(app).session_state["last"].corpus[0].sessions]
    assert days == [2, 2, 2, 2]
    keyed(app.selectbox, "dates-")[0].set_value("day before month").run()
    sessions = clean(app).session_state["last"].corpus[0].sessions
    assert [s.start.day for s in sessions] == [1, 2, 3, 4]
    keyed(app.number_input, "gap-")[0].set_value(100.0).run()
    assert len(clean(app).session_state["last"].corpus[0].sessions) == 1


def test_locomo_is_fetched_after_consent_and_a_failure_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("SEGVIZ_CACHE", str(tmp_path))

    def refused(folder):
        raise LoadError("the file could not be downloaded (no network)", remedy="do it by hand")

    monkeypatch.setattr(source, "fetch_locomo", refused)
    app = grow().run()
    app.segmented_control(key="source").set_value("Path").run()
    assert "CC BY-NC 4.0" in texts(app)
    app.button(key="fetch-locomo-path").click().run()
    assert "the file could not be downloaded (no network). Do it by hand." in texts(clean(app))
    monkeypatch.setattr(source, "fetch_locomo", lambda folder: sample_path("recurrence"))
    app.button(key="fetch-locomo-path").click().run()
    assert clean(app).session_state["last"].corpus[0].id == "recurrence"


def test_a_saved_memory_opens_as_it_was(tmp_path):
    built = segviz.build(segviz.load(sample_path("recurrence"))[0], "memtree", base=0.3)
    path = tmp_path / "memory.json.gz"
    built.save(path)
    app = open_path(grow().run(), path)
    assert "MemTree (topics, online), as saved" in texts(app)
    assert app.slider[0].max == len(built.steps)
    link = address(app)
    assert link["path"] == str(path)
    again = opened(link)
    assert again.slider[0].max == len(built.steps)


def jumps(app):
    return next(box.options for box in app.selectbox if box.label == "Jump to")


def test_all_conversations_of_a_file_are_one_by_a_switch(tmp_path, monkeypatch):
    chats = [
        {
            "title": name,
            "messages": [{"role": "user", "content": name, "timestamp": f"2024-0{n}-01"}],
        }
        for n, name in ((2, "Loft"), (1, "Barn"))
    ]
    path = tmp_path / "chats.json"
    path.write_text(json.dumps(chats))
    app = open_path(grow().run(), path)
    assert address(clean(app))["conversation"] == "Loft"
    keyed(app.toggle, "join-")[0].set_value(True).run()
    assert JOINED in texts(clean(app))
    assert jumps(app) == ["Session 1 · Barn · 01 Jan 2024", "Session 2 · Loft · 01 Feb 2024"]
    link = address(app)
    assert link["conversation"] == JOINED
    assert jumps(opened(link)) == jumps(app)
    keyed(app.toggle, "join-")[0].set_value(False).run()
    assert address(clean(app))["conversation"] == "Loft"
    # ``segviz FILE --join`` opens them so.
    monkeypatch.setenv("SEGVIZ_FILE", str(path))
    monkeypatch.setenv("SEGVIZ_JOIN", "1")
    assert jumps(grow().run()) == jumps(opened(link))
    monkeypatch.undo()
    # Without times the conversations stay apart, with the reason.
    del chats[1]["messages"][0]["timestamp"]
    path.write_text(json.dumps(chats))
    keyed(app.run().toggle, "join-")[0].set_value(True).run()
    assert address(clean(app))["conversation"] == "Loft"
    assert "so their order is unknown" in texts(app)


def test_a_sample_keeps_its_texts_while_another_file_is_chosen_or_refused(monkeypatch, tmp_path):
    def written(app) -> bool:
        return any("written by hand" in str(c.value) for c in clean(app).caption)

    monkeypatch.delenv("SEGVIZ_FILE")
    app = grow().run()
    assert written(app)
    app.segmented_control(key="source").set_value("Upload").run()
    assert written(app)
    path = tmp_path / "refused.json"
    path.write_text('{"0-5": 1}')
    monkeypatch.setenv("SEGVIZ_FILE", str(path))
    app = grow().run()
    assert "no known conversation format" in texts(app)
    assert written(app)
