"""Parts of other packages: found, refused with a reason, used everywhere."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

import segviz
from segviz import plugins
from segviz.contract import verify
from segviz.loaders import LOADERS, LoadError
from segviz.systems.flat import DenseRetrieval
from tests.data import ROOT
from tests.memories import sample
from tests.test_wheel import environment

EXAMPLE = Path(__file__).parent / "example"


@pytest.fixture
def registries(monkeypatch):
    """The registries as they were, after the test."""
    for registry, _ in plugins._GROUPS.values():
        before = dict(registry)
        for name in before:
            monkeypatch.setitem(registry, name, before[name])
    kept = {group: dict(registry) for group, (registry, _) in plugins._GROUPS.items()}
    monkeypatch.setattr(plugins, "PLUGINS", [])
    monkeypatch.syspath_prepend(str(EXAMPLE))
    yield
    for group, (registry, _) in plugins._GROUPS.items():
        registry.clear()
        registry.update(kept[group])


def load(*points):
    plugins.add_plugins(
        EntryPoints(EntryPoint(name, value, group) for group, name, value in points).select
    )
    return [(p.group, p.name, p.problem) for p in plugins.PLUGINS]


def test_every_group_takes_its_parts(registries, tmp_path):
    module = "segviz_example:"
    assert load(
        ("segviz.systems", "by-session", module + "BySession"),
        ("segviz.relevance", "overlap", module + "Overlap"),
        ("segviz.policies", "to-roots", module + "ToRoots"),
        ("segviz.embedders", "letters", module + "Letters"),
        ("segviz.loaders", "arrows", module + "ARROWS"),
        ("another.group", "x", "nowhere:X"),
    ) == [
        ("systems", "by-session", ""),
        ("embedders", "letters", ""),
        ("relevance", "overlap", ""),
        ("policies", "to-roots", ""),
        ("loaders", "arrows", ""),
    ]
    assert next(iter(LOADERS)) == "arrows"  # before the formats that take any text
    file = tmp_path / "talk.txt"
    file.write_text("Ann -> a red boat\nBob -> sails\n")
    memory = segviz.build(segviz.load(file)[0], "by-session", "turn", embedder="letters")
    assert memory.embedder.name == "letters-26"
    result = memory.ask("a red boat", policy="to-roots", alpha=0.5, relevance="overlap")
    assert result.evidence[0].text.startswith("Ann: a red boat")
    assert plugins.foreign("systems", "by-session") == "a package without metadata"
    assert plugins.foreign("systems", "raptor") == ""


@pytest.mark.parametrize(
    ("group", "name", "value", "problem"),
    [
        ("systems", "raptor", "segviz_example:BySession", "the name is taken by segviz"),
        ("systems", "<script>", "segviz_example:BySession", "1 to 40 small letters"),
        ("systems", "nowhere", "no_such_module:X", "ModuleNotFoundError"),
        ("systems", "other", "segviz_example:BySession", "expected 'other'"),
        ("systems", "overlap", "segviz_example:Overlap", "it lacks label, online"),
        ("compatibility", "letters", "segviz_example:Letters", "a method choose"),
        ("policies", "letters", "segviz_example:Letters", "transitions and a label"),
        ("embedders", "letters", "segviz_example:ARROWS", "class or function"),
        ("loaders", "letters", "segviz_example:Letters", "segviz.loaders.Loader"),
        ("systems", "quits", "segviz_quits:X", "SystemExit: 3"),
        ("systems", "shouts", "segviz_shouts:X", "RuntimeError: <b> a b"),
    ],
)
def test_what_is_no_part_is_told_and_left_out(
    registries, tmp_path, monkeypatch, group, name, value, problem
):
    (tmp_path / "segviz_quits.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "segviz_shouts.py").write_text("raise RuntimeError('<b>\\na\\x1b' + 'b' * 999)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = [list(registry) for registry, _ in plugins._GROUPS.values()]
    ((_, _, told),) = load((f"segviz.{group}", name, value))
    assert problem in told
    assert told.isprintable()
    assert len(told) <= 200
    assert [list(registry) for registry, _ in plugins._GROUPS.values()] == before


FAILING = """
import itertools
from segviz.loaders import Loader
def fails(*given): raise KeyError("three")
raises = Loader("raises", fails, fails)
def read(what): return Loader("reads", lambda document: True, lambda *given: what)
nothing, numbers, half = read(None), read(([1, 2], ())), read(([],))
stops = Loader("stops", lambda document: True, fails)
quits = Loader("quits", lambda document: True, exit)
endless = read((itertools.repeat(1), ()))
"""


def test_a_loader_that_fails_at_a_file_leaves_it_to_the_others(registries, tmp_path, monkeypatch):
    (tmp_path / "failing.py").write_text(FAILING)
    monkeypatch.syspath_prepend(str(tmp_path))
    load(("segviz.loaders", "raises", "failing:raises"))
    with pytest.warns(UserWarning, match="'raises' failed"):
        corpus = segviz.load(ROOT / "sample_data" / "ines-theo.json")
    assert len(corpus[0].turns) > 0


@pytest.mark.parametrize("name", ["nothing", "numbers", "half", "stops", "quits", "endless"])
def test_what_a_loader_hands_over_is_conversations_or_an_error(
    registries, tmp_path, monkeypatch, name
):
    (tmp_path / "failing.py").write_text(FAILING)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "failing", raising=False)
    load(("segviz.loaders", name, f"failing:{name}"))
    with pytest.raises(LoadError, match="the loader"):
        segviz.load(ROOT / "sample_data" / "ines-theo.json")


def test_links_and_settings_know_them(registries):
    from segviz.view.bookmark import decode

    load(
        ("segviz.systems", "by-session", "segviz_example:BySession"),
        ("segviz.policies", "to-roots", "segviz_example:ToRoots"),
    )
    link = {"system": "by-session", "words": "7", "policy": "to-roots"}
    bookmark, problems = decode(link)
    assert not problems
    assert (bookmark.system, bookmark.settings) == ("by-session", {"words": 7})
    assert bookmark.retrieval.policy == "to-roots"


class InACell:
    """A class as one writes it in a notebook."""

    name = "in-a-cell"
    online = True
    invariants = DenseRetrieval.invariants

    def steps(self, arrivals, services):
        return DenseRetrieval().steps(arrivals, services)


def test_a_class_that_is_not_registered_is_built_shown_saved_and_verified(tmp_path):
    conversation = sample(sessions=4)
    memory = segviz.build(conversation, InACell())
    assert memory.ask("What is the boat called?").evidence
    assert "in-a-cell" in segviz.show(memory, "boat").html
    memory.save(tmp_path / "memory.json")
    assert segviz.open(tmp_path / "memory.json").structure.text == memory.structure.text
    assert segviz.evaluate(memory, conversation.questions).outcomes.value("recall") > 0
    verify(InACell())


class Sloppy(InACell):
    def steps(self, arrivals, services):
        for step in DenseRetrieval().steps(arrivals, services):
            yield step
            if step.unit.index == 1:
                return


def test_a_broken_promise_is_named():
    with pytest.raises(AssertionError, match="'subjects': not one step per unit"):
        verify(Sloppy())


@pytest.mark.slow
def test_installed_it_is_everywhere(tmp_path):
    """The example in an environment of its own, beside this segviz."""
    source = tmp_path / "example"
    source.mkdir()
    for path in EXAMPLE.glob("*.*"):
        (source / path.name).write_bytes(path.read_bytes())
    python = environment(tmp_path / "environment", source, folders=(str(ROOT),)) / "python"

    def run(*command: str) -> str:
        done = subprocess.run(
            [python, "-m", *command], cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    run("pytest", "-q", "-p", "no:cacheprovider", str(source / "test_segviz_example.py"))
    found = {f["name"]: f for f in json.loads(run("segviz", "doctor", "--json"))["findings"]}
    assert found["systems by-session"]["what"] == "segviz-example 0.1"
    assert "AttributeError" in found["systems missing"]["what"]
    assert found["systems missing"]["state"] == "note"
    run("segviz", "build", "sample:ines-theo", "--system", "by-session", "-o", "memory.json")
    asked = run("segviz", "ask", "memory.json", "boat", "--policy", "to-roots", "--json")
    assert json.loads(asked)["evidence"]
    run("segviz", "export", "memory.json", "--format", "html", "-o", "drawn.html")
    assert "boat" in (tmp_path / "drawn.html").read_text()
