"""Session files: a memory with the view it was saved in, and the app that shows it again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import segviz
from segviz import store
from segviz.embedding import HashingEmbedder
from segviz.export import FORMATS, View
from segviz.retrieval import RetrievalSettings
from segviz.store import Shown
from segviz.view.bookmark import Bookmark, decode, encode
from tests.app.test_address import address, ask_app, opened
from tests.app.test_pages import clean, evidence_scores, grow, open_path, texts
from tests.store.test_store_schema import VALIDATOR

pytestmark = pytest.mark.usefixtures("small")

SEEN = Bookmark(
    question=3,
    retrieval=RetrievalSettings(
        policy="both",
        alpha=0.3,
        horizon=1,
        k=7,
        relevance="lexical",
        levels=(0, 1),
        literal=True,
        budget=600,
        step=12,
    ),
    step=18,
    node=5,
    view="Outline",
    colour="level",
    labels="words",
    pins=(5, 9),
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
    assert saved.shown == Shown("ask", encode(SEEN))
    assert decode(saved.shown.link) == (SEEN, [])
    # Without the view it is the memory's own file, byte for byte.
    assert store.dump(replace(saved, shown=None)) == store.dump(memory.saved)
    document = json.loads((tmp_path / "s.json").read_bytes())
    assert not list(VALIDATOR.iter_errors(document))
    assert b"/secret" not in (tmp_path / "s.json").read_bytes()
    assert segviz.open(tmp_path / "s.json").structure.text == memory.structure.text


@pytest.mark.parametrize(
    ("view", "problem"),
    [
        (7, "view: expected an object, found 7"),
        ({"page": "ask"}, "view: 'link' is missing"),
        ({"page": 1, "link": {}}, "view.page: expected text, found 1"),
        ({"page": "ask", "link": {"k": 7}}, "view.link.k: expected text, found 7"),
        ({"page": "ask", "link": [1]}, "view.link: expected an object, found a list of 1"),
    ],
)
def test_a_damaged_view_is_named(memory, view, problem):
    document = json.loads(store.dump(memory.saved)) | {"view": view}
    with pytest.raises(store.StoreError) as caught:
        store.parse(json.dumps(document).encode())
    assert str(caught.value) == f"the memory file is damaged: {problem}"
    assert list(VALIDATOR.iter_errors(document))


def test_opened_it_is_seen_as_it_was_saved(memory, tmp_path):
    path = session_file(memory, SEEN, tmp_path / "s.json")
    app = open_path(grow().run(), path)
    assert clean(app).session_state["selected"][1] == 5
    assert app.segmented_control(key="ask-view").value == "Outline"  # on its page
    assert "Pinned: nodes 5 and 9" in texts(app)
    assert address(app) == {"path": str(path), **encode(SEEN)}


def test_on_ask_the_same_question_with_the_same_settings(memory, tmp_path):
    settings = replace(SEEN.retrieval, budget=None)
    path = session_file(memory, replace(SEEN, retrieval=settings, view=""), tmp_path / "s.json")
    app = opened({"path": str(path)}, ask_app())
    wanted = memory.ask(memory.conversation.questions[3].text, settings)
    assert app.session_state["last"].saved.shown.page == "ask"
    listed = json.loads(evidence_scores(app))["items"]
    assert [item["node"] for item in listed] == list(wanted.after)


def test_what_was_looked_at_before_does_not_shine_through(memory, tmp_path):
    """Opened again after other choices, the file is seen as it was saved."""
    path = session_file(
        memory, Bookmark(retrieval=RetrievalSettings(k=7)), tmp_path / "s.json", page="grow"
    )
    app = open_path(grow().run(), path)
    assert address(app) == {"path": str(path), "k": "7"}
    app.button(key="go-chevron_left").click().run()
    app.segmented_control(key="grow-view").set_value("Outline").run()
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
    saved = replace(memory.saved, shown=Shown("<script>", link))
    path.write_bytes(store.dump(saved))
    app = open_path(grow().run(), path)
    assert address(app) == {"path": str(path)}
    told = [text.value for text in app.text]
    assert "k='<b>': expected a whole number" in told
    assert "'x' is not a part of a view" in told
