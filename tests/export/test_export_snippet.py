"""The script that reproduces a view, run as it stands."""

import json
from dataclasses import replace

import numpy as np
import pytest

import segviz
from segviz.conversation import sample_path, sample_texts, with_typed_turns
from segviz.export import View
from segviz.export.locomo import locomo_json
from segviz.export.snippet import python_snippet
from segviz.memory import nested
from segviz.memory.written import instead_of_extracts
from segviz.retrieval import RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.view.bookmark import Bookmark, differing
from tests.export.views import HOSTILE
from tests.memories import sample

SAMPLE = "ines-theo"
TYPED = (("Ines", "We sold the boat."), ("O'Neil\"\n", HOSTILE[0]))


def view_of(link: Bookmark, question: str | None = None, typed=()) -> View:
    """What the app shows for a bookmark of the sample, or of a file."""
    conversation = with_typed_turns(segviz.load(link.path or sample_path(SAMPLE))[0], typed)
    settings = nested(SYSTEMS[link.system], link.settings)
    memory = segviz.build(conversation, link.system, link.unit, **settings)
    if question is None:
        return View(memory, memory.at(link.step or len(memory.steps)), link, None, tuple(typed))
    result = memory.ask(question, link.retrieval)
    return View(memory, result.structure, link, result, tuple(typed))


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> str:
    """A file of the first sessions of the sample."""
    path = tmp_path_factory.mktemp("begun") / "begun.json"
    path.write_text(locomo_json([sample(SAMPLE, sessions=5)]))
    return str(path)


@pytest.fixture(scope="module")
def plain(begun) -> View:
    return view_of(Bookmark(path=begun))


def run(code: str) -> dict:
    names: dict = {}
    exec(compile(code, "snippet.py", "exec"), names)
    return names


def assert_same_structure(found, expected):
    for column in ("level", "start", "stop", "edges", "active", "vector"):
        assert np.array_equal(getattr(found, column), getattr(expected, column)), column
    assert found.text == expected.text


COSINE = {"compatibility": "cosine", "compatibility.threshold": 0.35}


@pytest.mark.parametrize(
    "link",
    [
        Bookmark(sample=SAMPLE),
        Bookmark(
            unit="turn",
            settings=COSINE,
            retrieval=RetrievalSettings(policy="both", alpha=0.35, horizon=3),
        ),
        Bookmark(
            retrieval=RetrievalSettings(
                step=40, k=3, relevance="dense", levels=(0, 1), literal=True
            )
        ),
        # Postponed texts are those that were asked.
        Bookmark(settings={"refresh": "lazy"}, retrieval=RetrievalSettings(step=40, budget=120)),
        Bookmark(
            system="raptor", retrieval=RetrievalSettings(policy="neighbours"), conversation=SAMPLE
        ),
    ],
    ids=["default", "cosine", "earlier", "lazy within a budget", "raptor"],
)
def test_scores_come_back_exactly(link, begun, capsys):
    if not link.sample:
        link = replace(link, path=begun)
    view = view_of(link, "What is the boat called now?")
    again = run(python_snippet(view))
    assert_same_structure(again["structure"], view.structure)
    for name in ("initial", "final", "hops"):
        assert np.array_equal(getattr(again["result"], name), getattr(view.result, name))
    assert again["result"].evidence == view.result.evidence
    assert len(capsys.readouterr().out.splitlines()) == len(view.result.evidence)


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (
            "who;body;aside\nAnn;Hello there;she waves\nBo;Good day;he nods\n",
            {"columns": {"text": "aside", "speaker": "who"}},
        ),
        (
            "speaker;text;time\nAnn;Hello there;2025-01-01 10:00\nBo;Good day;2025-01-01 12:30\n",
            {"gap_hours": 1.0},
        ),
    ],
    ids=["columns", "gap_hours"],
)
def test_how_the_file_was_read_comes_back(lines, read, tmp_path):
    path = tmp_path / "talk.csv"
    path.write_text(lines, encoding="utf-8")
    memory = segviz.build(segviz.load(path, **read)[0], unit="turn")
    assert memory.conversation.sessions != segviz.load(path)[0].sessions
    view = segviz.export.view_of(memory)
    view = replace(view, bookmark=replace(view.bookmark, path=str(path)), read=read)
    again = run(python_snippet(view))["memory"]
    assert again.conversation.sessions == memory.conversation.sessions
    assert [unit.text for unit in again.units] == [unit.text for unit in memory.units]


def test_grow_comes_back_at_its_step():
    view = view_of(Bookmark(sample=SAMPLE, step=33))
    again = run(python_snippet(view))
    assert_same_structure(again["structure"], view.structure)
    assert "result" not in again


def test_typed_turns_come_back(capsys):
    view = view_of(Bookmark(sample=SAMPLE), "Was the boat sold?", TYPED)
    again = run(python_snippet(view))
    assert np.array_equal(again["result"].final, view.result.final)


@pytest.mark.parametrize("text", [HOSTILE[6], HOSTILE[7], HOSTILE[16]])
def test_hostile_questions_are_literals(plain, text, capsys):
    result = plain.memory.ask(text)
    view = View(plain.memory, result.structure, plain.bookmark, result)
    again = run(python_snippet(view))
    assert again["result"].question == text
    assert set(again) - {"__builtins__"} == {
        *("segviz", "corpus", "conversation", "memory", "structure", "result"),
        *(["item"] if view.result.evidence else []),
    }


@pytest.mark.parametrize("hostile", ["x')\nraise SystemExit('", 'a"""\\'])
def test_hostile_names_are_literals(hostile, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sessions = {"session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "one"}]}
    data = {"sample_id": hostile, "conversation": {"speaker_a": "A", "speaker_b": "B", **sessions}}
    (tmp_path / "chat.json").write_text(json.dumps([data, data]))
    corpus = segviz.load("chat.json")
    conversation = corpus[1]
    memory = segviz.build(conversation)
    link = Bookmark(path="chat.json", conversation=conversation.id)
    again = run(python_snippet(View(memory, memory.structure, link)))
    assert again["conversation"] == conversation
    assert_same_structure(again["structure"], memory.structure)


@pytest.mark.parametrize("typed", [(), TYPED], ids=["as bundled", "with typed turns"])
def test_written_texts_of_a_sample_come_back(typed):
    view = view_of(Bookmark(sample=SAMPLE), typed=typed)
    memory = instead_of_extracts(view.memory, sample_texts(SAMPLE))
    assert memory.structure.text != view.memory.structure.text
    view = replace(view, memory=memory, structure=memory.structure)
    again = run(python_snippet(view))
    assert_same_structure(again["structure"], memory.structure)
    assert again["structure"].facts == memory.structure.facts


@pytest.mark.parametrize("sampled", [SAMPLE, None])
def test_texts_that_no_sample_has_are_opened_from_the_json(sampled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    view = view_of(Bookmark(sample=sampled))
    root = view.structure.roots[0]
    span = int(view.structure.start[root]), int(view.structure.stop[root])
    memory = view.memory.with_texts({span: ("A boat", "Of a boat and a bakery.")})
    memory.save("segviz-ines-theo-memory.json")
    again = run(python_snippet(replace(view, memory=memory, structure=memory.structure)))
    assert again["structure"].text == memory.structure.text


def test_an_upload_is_named_as_something_to_fill_in(plain):
    code = python_snippet(replace(plain, bookmark=Bookmark(upload="5a5a")))
    assert "segviz.load('the-file-you-uploaded.json')" in code
    compile(code, "snippet.py", "exec")


def test_what_took_a_model_is_opened_from_its_json(memory, tmp_path, monkeypatch, capsys):
    """An embedder that segviz cannot make by its name stands for a model here."""
    monkeypatch.chdir(tmp_path)

    class Remote:
        name = "text-embedder\nimport os"
        api_key = "sk-secret"

        def embed(self, texts):
            return memory.embedder.embed(texts)

    remote = replace(memory, embedder=Remote())
    result = remote.ask("How many gears?", relevance="lexical")
    view = View(remote, remote.structure, Bookmark(), result)
    code = python_snippet(view)
    remote.save("segviz-chat-memory.json")
    again = run(code)
    assert np.array_equal(again["result"].final, result.final)
    assert "sk-secret" not in code
    assert differing(SYSTEMS["segment-tree"], remote.settings)
