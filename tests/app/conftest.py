"""What the tests of pages share: a conversation of twelve units."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator
from typing import Any, ClassVar
from xml.etree import ElementTree

import pandas as pd
import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from segviz.export.locomo import locomo_json
from segviz.memory import Building, Memory
from segviz.ui.pages.ask import question_and_settings
from segviz.ui.sidebar import build, models
from segviz.ui.widgets import question
from tests.data import ROOT
from tests.frontend.test_payload import unpack
from tests.llm.server import ModelServer
from tests.memories import sample

# Streamlit reads .streamlit/config.toml of the working directory once, and tests may start in any.
with contextlib.chdir(ROOT):
    st.get_option("server.address")


@pytest.fixture(scope="session", autouse=True)
def everything_is_drawn():
    """AppTest knows of what the last run drew alone, not of what stays around a fragment."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (question, question_and_settings):
            patch.setattr(module, "redraw", lambda *fragments: st.rerun())
        yield


@pytest.fixture(scope="session", autouse=True)
def packages_are_searched_once():
    """For every app Streamlit reads what each installed package says of itself: a quarter of a
    second."""
    with pytest.MonkeyPatch.context() as patch:
        search = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", search)
        yield


class _Kept(Building):
    """A build that gives the steps, and in the end the memory, of an equal one before it."""

    _built: ClassVar[list[tuple[Any, Memory]]] = []

    def __init__(self, conversation, system, unit, *, embedder, chat=None):
        super().__init__(conversation, system, unit, embedder=embedder, chat=chat)
        self._made_of = (conversation, system, unit, embedder.name) if chat is None else None
        self._found = None

    def __iter__(self):
        found = (memory for made_of, memory in self._built if made_of == self._made_of)
        self._found = next(found, None)
        if self._found is not None:
            yield from self._found.steps
            return
        yield from super().__iter__()
        if self._made_of is not None:
            self._built.append((self._made_of, self.memory))

    @property
    def memory(self):
        return self._found or super().memory


@pytest.fixture(scope="session", autouse=True)
def equal_memories_are_built_once():
    """Every AppTest begins with nothing, and most with the same conversation."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "Building", _Kept)
        yield


def _script(name: str, linked: bool) -> None:
    from importlib import import_module

    import streamlit as st

    from segviz.ui import address
    from segviz.ui.sidebar.sidebar import sidebar

    if name == "guide":
        blank = st.Page(lambda: None, title="Blank", url_path="blank")
        st.session_state["pages"] = dict.fromkeys(("ask", "grow"), blank)
    if linked:
        address.arrive(name)
    session = sidebar()
    if session is None:
        return
    if linked:
        address.settle(session)
    shown = st.session_state.get("page", name)
    import_module(f"segviz.ui.pages.{shown}.page").render(session)
    if linked:
        address.message(lambda: address.current(session))
        st.session_state["shown"] = address.current(session)


def unfolded(app: AppTest) -> AppTest:
    """The app with everything open that Sweep and Compare fold."""
    folds = ("sweep-why", "sweep-setting", "sweep-atlas-open", "sweep-measures", "stages")
    folds += ("compare-retrieved", "compare-numbers", "compare-atlas-open", "compare-shapes")
    for key in folds:
        app.session_state[key] = True
    return app


def page(name: str, linked: bool = False) -> AppTest:
    """One page with the sidebar, not yet run; ``linked``: with the address, as in the app.

    An entry ``page`` in the state turns to another."""
    given = {"name": name, "linked": linked}
    return AppTest.from_function(_script, default_timeout=180, kwargs=given)


def grow() -> AppTest:
    """The whole app."""
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)


def clean(app: AppTest) -> AppTest:
    assert not app.exception, [e.value for e in app.exception]
    return app


def labelled(widgets, label):
    """The widget whose label begins so, whatever key it has."""
    return next(widget for widget in widgets if widget.label.startswith(label))


def texts(app: AppTest) -> str:
    elements = [*app.markdown, *app.text, *app.caption, *app.info, *app.warning, *app.error]
    return "\n".join(str(e.value) for e in elements)


def settings(app: AppTest):
    """How a question is asked."""
    return app.session_state["settings"][2]


def keyed(widgets, beginning: str) -> list:
    """The widgets whose key begins so."""
    return [each for each in widgets if str(each.key).startswith(beginning)]


def open_path(app: AppTest, path) -> AppTest:
    app.session_state["path"] = str(path)  # in the box that the next line brings
    return clean(app.segmented_control(key="source").set_value("Path").run())


def talk_file(folder, texts, **more):
    """A file of one session in which A and B say these texts in turn."""
    turns = [
        {"speaker": "AB"[i % 2], "dia_id": f"D1:{i + 1}", "text": text}
        for i, text in enumerate(texts)
    ]
    talk = {"speaker_a": "A", "speaker_b": "B", "session_1": turns}
    talk["session_1_date_time"] = "1:00 pm on 1 May, 2024"
    path = folder / "talk.json"
    path.write_text(json.dumps([{"sample_id": "talk", "conversation": talk, **more}]))
    return path


def on_canvas(app) -> dict[str, Any]:
    """What the first canvas of the page was sent: its plain values and columns."""
    return next(data for data in messages(app) if "levels_total" in data and "kinds" not in data)


def messages(app) -> Iterator[dict[str, Any]]:
    """What each browser component of the page was sent."""
    return (read_message(m.proto.bytes) for m in app.get("bidi_component"))


def read_message(message: bytes) -> dict[str, Any]:
    head, columns = unpack(message)
    return head | columns


def entry(key: str) -> str:
    """The entry that a widget shows: what stands before the number ``state.shows`` gives it."""
    return str(key).rpartition("-")[0]


def shown(app, name: str):
    """The select box that shows this entry."""
    (box,) = [one for one in app.selectbox if entry(one.key) == name]
    return box


def tables(app) -> list[pd.DataFrame]:
    """What :func:`segviz.ui.widgets.charts.table` drew, a frame of texts for each."""
    found = []
    for one in app.get("html"):
        if one.proto.body.startswith('<div class="segviz-table"'):
            head, *rows = [
                ["".join(cell.itertext()) for cell in line]
                for line in ElementTree.fromstring(one.proto.body).iter("tr")
            ]
            found.append(pd.DataFrame(rows, columns=head))
    return found


def ask_own(app, text: str) -> None:
    """What typing a question into the box does; AppTest types no new options."""
    (box,) = keyed(app.selectbox, "question-box-")
    app.session_state[entry(box.key).replace("question-box", "question")] = (None, text)
    app.run()


SAID = (
    (
        "I bought a red bicycle in Utrecht on 3 May.",
        "A red bicycle! How many gears does the bicycle have?",
        "Eight gears, and the bicycle cost 450 euros.",
        "That is a fair price for a bicycle with eight gears.",
        "My sourdough bread failed again this morning.",
        "Bread needs patience. Did the sourdough starter bubble?",
        "The starter did nothing, the bread stayed flat.",
        "Feed the starter twice, then bake the bread again.",
    ),
    (
        "The sourdough bread finally rose, thanks to rye flour.",
        "Wonderful bread news! Rye flour is the trick.",
        "My telescope arrived, I saw the rings of Saturn.",
        "Saturn through your own telescope, that is lovely.",
        "The telescope shows Jupiter too, with four moons.",
        "Four moons of Jupiter, as Galileo saw them.",
        "My sister Clara moved to Ghent to study law.",
        "Law in Ghent, then Clara will be a judge one day.",
    ),
    (
        "The bicycle was stolen at the station last night.",
        "Oh no, the red bicycle! Did you tell the police?",
        "The police found the bicycle without its saddle.",
        "A new saddle costs less than a new bicycle.",
        "Clara passed her first exam in law in Ghent.",
        "Clara will celebrate with your sourdough bread, I hope.",
        "She did, and she looked at Saturn with my telescope.",
        "Bread under the rings of Saturn, what an evening.",
    ),
)
ASKED = (
    ("What colour is the bicycle?", "red", ["D1:1"], 4),
    ("What made the bread rise?", "rye flour", ["D2:1", "D2:2"], 1),
    ("Where does Clara study?", "Ghent", ["D2:7"], 4),
    ("When was the bicycle bought?", "3 May", ["D1:1"], 2),
)


@pytest.fixture(scope="session")
def small_file(tmp_path_factory):
    """Three sessions, twelve exchanges, five topics that return, four questions."""
    conversation = {"speaker_a": "Ada", "speaker_b": "Ben"}
    for s, texts in enumerate(SAID, start=1):
        conversation[f"session_{s}_date_time"] = f"1:00 pm on {7 * s} May, 2024"
        conversation[f"session_{s}"] = [
            {"speaker": ("Ada", "Ben")[t % 2], "dia_id": f"D{s}:{t + 1}", "text": text}
            for t, text in enumerate(texts)
        ]
    names = ("question", "answer", "evidence", "category")
    questions = [dict(zip(names, one, strict=True)) for one in ASKED]
    path = tmp_path_factory.mktemp("small") / "small.json"
    sample = {"sample_id": "small", "conversation": conversation, "qa": questions}
    path.write_text(json.dumps([sample]))
    return path


@pytest.fixture
def small(monkeypatch, small_file):
    """The app opens on the small conversation, as ``segviz FILE`` opens on a file."""
    monkeypatch.setenv("SEGVIZ_FILE", str(small_file))


@pytest.fixture(scope="session")
def begun_file(tmp_path_factory):
    """The first sessions of the bundled sample."""
    path = tmp_path_factory.mktemp("begun") / "begun.json"
    path.write_text(locomo_json([sample(sessions=6)]))
    return path


KEY = "sk-typed-into-the-app-987654"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A model server on this machine, no key in the environment, nothing kept of answers."""
    monkeypatch.setenv("SEGVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("SEGVIZ_API_KEY", raising=False)
    models._cache.clear()
    with ModelServer() as running:
        yield running
    models._cache().close()
    models._cache.clear()


def key_field(app: AppTest):
    (field,) = keyed(app.text_input, "api-key-")
    return field


def with_server(app: AppTest, server, model: str = "test-model", kind: str = "chat") -> AppTest:
    """The app with a model of this server typed in, and for chats a key."""
    app.session_state["model-url-Another server"] = server.url  # in fields that appear
    app.session_state[f"model-{kind}-Another server"] = model
    app.selectbox(key="preset").set_value("Another server").run()
    if kind == "chat":
        key_field(app).set_value(KEY).run()
    return clean(app)
