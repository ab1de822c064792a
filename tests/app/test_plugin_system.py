"""A plug-in system with an invariant and a side table of its own: built, checked, drawn."""

from collections import Counter
from dataclasses import dataclass, replace

import pytest

import segviz
from segviz.construct import Declared
from segviz.contract import verify
from segviz.systems import SYSTEMS
from segviz.tree import Add, Cost, Step
from segviz.tree.invariants import Violation, check
from tests.app.conftest import clean, grow, page, texts
from tests.trees import small_chat


def units_have_words(structure):
    """Checks that a node says how many words it has."""
    for node, facts in enumerate(structure.facts):
        if facts["words"] != len(structure.text[node].split()):
            yield Violation("words", node, "the number of words", str(facts["words"]))


@dataclass(frozen=True)
class Words(Declared):
    """A list of units with their number of words."""

    name, label, online, fidelity, departures = "words", "Words", True, "faithful", ()
    invariants = (units_have_words,)

    def steps(self, arrivals, services):
        for i, each in enumerate(arrivals):
            words = {"words": len(each.text.split())}
            add = Add(i, 0, (i, i + 1), each.text, each.vector, "", words)
            yield Step(each.unit, "", None, (add,), Cost())

    def tables(self, structure, steps):
        count = Counter(facts["words"] for facts in structure.facts)
        return {"Lengths": [{"words": n, "units": units} for n, units in count.items()]}


@pytest.mark.usefixtures("small")
def test_a_plugin_is_checked_by_its_own_invariant_and_its_table_is_on_grow(monkeypatch, tmp_path):
    monkeypatch.setitem(SYSTEMS, "words", Words)
    verify(Words())
    segviz.build(small_chat(), "words").save(tmp_path / "m.json")
    memory = segviz.open(tmp_path / "m.json")
    assert memory.check() == []
    broken = replace(memory.structure, facts=({"words": 0}, *memory.structure.facts[1:]))
    assert [violation.node for violation in check(broken, memory.invariants)] == [0]
    app = grow().run()
    app.session_state["system"], app.session_state["tables-panel"] = "words", True
    app.run()
    assert ["Lengths"] in [group.options for group in clean(app).get("button_group")]
    (table,) = [f.value for f in app.dataframe if "words" in f.value.columns]
    assert table["units"].sum() == app.slider[0].max


@dataclass(frozen=True)
class Broken(Words):
    """Fails at its third unit."""

    name, label = "broken", "Broken"

    def steps(self, arrivals, services):
        yield from list(super().steps(arrivals, services))[:2]
        raise KeyError("three")


@pytest.mark.usefixtures("small")
def test_a_plugin_that_fails_costs_its_own_memory_alone(monkeypatch):
    """On Grow another system can be chosen; Compare shows the others."""
    monkeypatch.setitem(SYSTEMS, "broken", Broken)
    app = grow().run()
    app.selectbox(key="system").set_value("broken").run()
    assert "This memory cannot be built" in texts(clean(app))
    app.selectbox(key="system").set_value("segment-tree").run()
    assert "This memory cannot be built" not in texts(clean(app))
    app = page("compare")
    app.session_state["compared-systems"] = ["segment-tree", "broken", "dense"]
    assert "Left out: broken" in texts(clean(app.run())).replace("Broken", "broken")
    assert len(app.get("bidi_component")) >= 2  # the trees of the others
