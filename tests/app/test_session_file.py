"""Session files: a memory with the view it was saved in, and the app that shows it again."""

import json
from dataclasses import replace

import pytest

import segviz
from segviz import store
from segviz.embedding import HashingEmbedder
from segviz.export import FORMATS, View
from segviz.retrieval import OPENING, PRESETS, RetrievalSettings
from segviz.store import SavedView
from segviz.view.bookmark import Bookmark, decode, encode
from tests.app.conftest import clean, grow, labelled, on_canvas, open_path, page, texts
from tests.app.test_address import LINK, address, opened
from tests.store.test_store_schema import VALIDATOR

pytestmark = pytest.mark.usefixtures("small")

SEEN = replace(
    LINK,
    sample=None,
    unit="exchange",
    settings={},
    step=18,
    retrieval=replace(LINK.retrieval, relevance="lexical", step=12),
)


@pytest.fixture(scope="module")
def memory(small_file):
    return segviz.build(segviz.load(small_file)[0], unit="turn", embedder=HashingEmbedder())


def session_file(memory, bookmark, path, page="ask"):
    result = memory.ask("boat") if page == "ask" else None
    data = FORMATS["session"].make(View(memory, memory.structure, bookmark, result))
    path.write_bytes(data)
    return path


def test_it_holds_the_memory_and_how_it_is_looked_at(memory, tmp_path):
    far = replace(SEEN, path="/secret/place.json", conversation="other", unit="turn")
    saved = store.read(session_file(memory, far, tmp_path / "s.json"))
    assert saved.shown == SavedView("ask", encode(SEEN))
    assert decode(saved.shown.link) == (SEEN, [])
    # Without the view it is the memory's own file, byte for byte.
    assert store.dump(replace(saved, shown=None)) == store.dump(memory.saved)
    assert not list(VALIDATOR.iter_errors(json.loads(store.dump(saved))))
    assert b"/secret" not in (tmp_path / "s.json").read_bytes()
    assert segviz.open(tmp_path / "s.json").structure.text == memory.structure.text


def test_opened_it_is_seen_as_it_was_saved(memory, tmp_path):
    path = session_file(memory, SEEN, tmp_path / "s.json")
    app = open_path(grow().run(), path)
    assert clean(app).session_state["selected"][1] == 5
    assert labelled(app.selectbox, "View").value == "Outline"
    assert "Pinned: nodes 5 and 9" in texts(app)
    assert address(app) == {"path": str(path), **encode(SEEN)}


def test_a_memory_that_was_opened_takes_no_typed_turns(memory, tmp_path):
    path = session_file(memory, SEEN, tmp_path / "s.json", "grow")
    assert "Add turn" in [button.label for button in grow().run().button]
    opened = clean(open_path(grow().run(), path))
    assert opened.session_state["last"].saved.shown.page == "grow"
    assert "Last step" in [button.label or button.help for button in opened.button]
    assert "Add turn" not in [button.label for button in opened.button]


def test_on_ask_the_same_question_with_the_same_settings(memory, tmp_path):
    settings = replace(SEEN.retrieval, budget=None)
    path = session_file(memory, replace(SEEN, retrieval=settings, view=""), tmp_path / "s.json")
    app = opened({"path": str(path)}, page("ask", linked=True))
    wanted = memory.ask(memory.conversation.questions[3].text, settings)
    assert app.session_state["last"].saved.shown.page == "ask"
    assert on_canvas(app)["top_final"] == list(wanted.after)


def test_what_was_looked_at_before_does_not_shine_through(memory, tmp_path):
    """Opened again after other choices, the file is seen as it was saved."""
    path = session_file(
        memory, Bookmark(retrieval=replace(PRESETS[OPENING], k=7)), tmp_path / "s.json", page="grow"
    )
    app = open_path(grow().run(), path)
    assert address(app) == {"path": str(path), "k": "7"}
    app.button(key="go-chevron_left").click().run()
    labelled(app.segmented_control, "View").set_value("Outline").run()
    assert {"step", "view"} <= set(address(clean(app)))
    app.segmented_control(key="source").set_value("Sample").run()
    app.segmented_control(key="source").set_value("Path").run()
    assert address(clean(app)) == {"path": str(path), "k": "7"}


def test_a_link_that_says_more_goes_first(memory, tmp_path):
    path = session_file(
        memory, Bookmark(retrieval=RetrievalSettings(k=7, alpha=0.5)), tmp_path / "s.json"
    )
    assert address(opened({"path": str(path), "k": "3"})) == {"path": str(path), "k": "3"}


def test_a_memory_of_another_system_is_named_with_its_parameters(small_file, tmp_path):
    """A reload follows the address the open file has, and finds nothing to complain of."""
    made = segviz.build(
        segviz.load(small_file)[0], system="memtree", base=0.45, embedder=HashingEmbedder()
    )
    path = tmp_path / "memtree.json"
    made.save(path)
    app = open_path(grow().run(), path)
    link = address(clean(app))
    assert link == {"path": str(path), "system": "memtree", "base": "0.45"}
    again = opened(link)
    assert not [text for text in again.text if "is not a part of a view" in text.value]
    assert address(again) == link


def test_a_hostile_view_opens_nothing_else(memory, tmp_path):
    link = {"path": "/etc/passwd", "sample": "noor-caleb", "k": "<b>", "x": "1", "done": "compress"}
    path = tmp_path / "s.json"
    saved = replace(memory.saved, shown=SavedView("<script>", link))
    path.write_bytes(store.dump(saved))
    app = open_path(grow().run(), path)
    assert address(app) == {"path": str(path)}
    told = [text.value for text in app.text]
    assert "k='<b>': expected a whole number" in told
    assert "'x' is not a part of a view" in told


# --- values that mean nothing --------------------------------------------------------------------

SETTINGS = ("system", "settings")
PASSED_OVER = {
    "a part without a name": (SETTINGS, {"compatibility": {}}, "expected the name of a part"),
    "a part named by a list": (SETTINGS, {"annotate": {"name": ["x"]}}, "the name of a part"),
    "a part with a text for a number": (
        SETTINGS,
        {"compatibility": {"name": "cosine", "threshold": "x"}},
        "system.settings.compatibility",
    ),
    "a parameter there is not": (SETTINGS, {"nope": {"name": {}}}, "no such parameter"),
    "a system that cannot have built it": (("system", "name"), "dense", "taken as unknown"),
}
DRAWN = {
    "a part that is a number": (SETTINGS, {"compatibility": 5}),
    "an embedder nobody has": (("embedder",), "nope"),
    "a page, levels and nodes there are not": (
        ("view",),
        {"page": "nope", "link": {"levels": "7,9", "node": "99999", "pins": "8888,7"}},
    ),
    "evidence nobody said": (
        ("conversation", "questions", 0),
        {
            **{"index": 0, "text": "", "answer": None, "category": -77, "evidence": ["nope"]},
            **{"unresolved": [], "adversarial": None, "asked_at": "nope"},
        },
    ),
}


def changed(memory, way, value) -> bytes:
    """The file of a memory with another value."""
    document = part = json.loads(store.dump(memory.saved))
    for step in way[:-1]:
        part = part[step]
    part[way[-1]] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize("case", PASSED_OVER)
def test_a_value_that_means_nothing_is_passed_over_and_told(memory, case):
    way, value, said = PASSED_OVER[case]
    assert said in str(segviz.memory.sound(store.parse(changed(memory, way, value))).findings)


@pytest.mark.parametrize("case", DRAWN)
def test_a_file_with_a_value_that_means_nothing_is_drawn(memory, tmp_path, monkeypatch, case):
    path = tmp_path / "s.json"
    path.write_bytes(changed(memory, *DRAWN[case]))
    monkeypatch.setenv("SEGVIZ_FILE", str(path))
    app = clean(page("grow", linked=True).run())
    assert "Not opened." not in texts(app)
    app.session_state["page"] = "ask"
    clean(app.run())
    report = next(one for one in app.expander if one.label.startswith("Load report"))
    told = any(str(each.value).startswith(("Repaired", "Skipped")) for each in report.caption)
    assert told == (case == "a part that is a number")
    assert ("compared by words" in texts(app)) == (case == "an embedder nobody has")


def test_what_was_passed_over_is_not_saved_again(memory):
    document = json.loads(store.dump(memory.saved))
    document["system"]["settings"] = {"compatibility": 5, "nope": 1}
    opened = segviz.memory.from_saved(store.parse(json.dumps(document).encode()))
    assert opened.settings == {}
    assert "findings" not in json.loads(store.dump(opened.saved))


def test_a_part_that_its_owner_defined_stays(memory):
    mine = {"compatibility": {"name": "mine", "width": 3}}
    saved = segviz.memory.sound(replace(memory.saved, settings=mine))
    assert (saved.settings, saved.findings) == (mine, ())


def test_a_memory_without_steps_is_not_opened(memory, tmp_path):
    path = tmp_path / "s.json"
    path.write_bytes(store.dump(replace(memory.saved, steps=())))
    assert "nothing to look at" in texts(open_path(grow().run(), path))
