"""The Compare and Guide pages without a browser."""

import json
from dataclasses import replace

import numpy as np
import pytest
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from segviz import store
from segviz.evaluation import MEASURES, ONE_WRITER
from segviz.memory import build
from segviz.systems import SYSTEMS
from segviz.tree.toy import toy_structure
from segviz.ui.pages.compare import built_key, questions, structures
from segviz.ui.pages.compare.structures import holder
from segviz.ui.state import AppSession
from segviz.ui.widgets import measures
from segviz.ui.widgets.captions import unmarked
from tests.app.conftest import clean, grow, labelled, messages, page, tables, texts, unfolded
from tests.memories import built, sample


def frame(app: AppTest, column: str):
    """The table with this column; texts as they are read."""
    for found in (*tables(app), *(one.value for one in app.dataframe)):
        if column in found.columns:
            return found
    raise AssertionError(f"no table has a column {column}")


@pytest.mark.usefixtures("small")
class TestCompare:
    def test_a_long_build_waits_for_a_click(self, monkeypatch):
        monkeypatch.setattr(structures, "_AUTOMATIC_UNITS", 0)
        app = clean(unfolded(page("compare")).run())
        assert app.button(key="build-compared").label.startswith("Build ")
        assert frame(app, "nodes/leaf")["memory"][0] == SYSTEMS["segment-tree"].label

    def test_a_build_that_was_stopped_waits_for_a_click(self, monkeypatch):
        whole = structures.build

        def cut_short(*args, **more):
            raise StopException  # what a click does to the running script

        monkeypatch.setattr(structures, "build", cut_short)
        app = unfolded(page("compare")).run()
        app.button(key="stop-building").click().run()
        assert [one for one in clean(app).button if one.key == "build-compared"]
        monkeypatch.setattr(structures, "build", whole)
        app.button(key="build-compared").click().run()
        assert "memtree" in {one.system for one in clean(app).session_state["compared"].values()}
        app.multiselect(key="compared-systems").set_value(["segment-tree", "bm25"]).run()
        assert not [one for one in clean(app).button if one.key == "build-compared"]

    def test_stages_say_what_each_memory_reads_of_the_gold_turns(self, monkeypatch, begun_file):
        monkeypatch.setenv("SEGVIZ_FILE", str(begun_file))
        app = clean(unfolded(page("compare")).run())
        (told,) = [text for text in texts(app).split("\n") if text.startswith("Stages of gold")]
        assert told.count("read") == 4  # a share for each system, and for the facts of the sample
        assert "Extracted facts: " in told
        app.segmented_control(key="stages-by").set_value("by category").run()
        (told,) = [t for t in texts(clean(app)).split("\n") if t.startswith("Stages of gold")]
        assert "single-hop" in told
        app.segmented_control(key="stages-by").set_value("turn by turn").run()
        stages = frame(clean(app), "Extracted facts")
        assert set(stages["Segment tree"]) <= {"read", "written, not ranked"}
        assert "read" in set(stages["Extracted facts"])

    @pytest.mark.parametrize("kind", ["run", "dump", "memory"])
    def test_a_file_beside_the_conversation_lists_wrong_questions_first(
        self, kind, monkeypatch, begun_file
    ):
        monkeypatch.setenv("SEGVIZ_FILE", str(begun_file))
        begun = sample(sessions=6)
        asked = begun.questions[1]
        data = {
            "run": json.dumps([{"question": asked.text, "retrieved": ["D1:1"], "answer": "<b>"}]),
            "dump": json.dumps([{"memory": turn.spoken} for turn in begun.turns[:3]]),
            "memory": store.dump(build(begun, "bm25").saved),
        }[kind]
        data = data if isinstance(data, bytes) else data.encode()
        app = clean(page("compare").run())
        box = app.file_uploader(key="audited-file")
        app = clean(box.set_value(("mine.json", data, "application/json")).run())
        (label,) = {one.value for one in app.selectbox if str(one.key).startswith("lost-memory")}
        assert label == "File mine"
        shown = texts(app)
        assert "with a missed gold turn" in shown
        if kind == "run":
            assert "1 question with a missed gold turn or a wrong answer" in shown
            assert f"**{unmarked(asked.text)}**" in [one.value for one in app.main.markdown]

    def test_a_file_that_is_none_of_these_is_refused(self, monkeypatch, begun_file):
        monkeypatch.setenv("SEGVIZ_FILE", str(begun_file))
        app = clean(page("compare").run())
        box = app.file_uploader(key="audited-file")
        app = clean(box.set_value(("mine.json", b'{"a": 1}', "application/json")).run())
        assert "This file is not used." in texts(app)

    def test_systems_are_built_over_the_same_leaves_and_measured(self):
        app = clean(unfolded(page("compare")).run())
        app.multiselect(key="compared-systems").set_value(["segment-tree", "memtree", "bm25"]).run()
        shapes = frame(clean(app), "nodes/leaf")
        assert shapes["leaves"][:3].tolist() == ["12"] * 3
        app.session_state["twin-memtree"] = True
        table = frame(clean(app.run()), "gold turns in evidence")
        *_, found = app.session_state["comparisons"].values()
        assert list(table["system"]) == [
            f"{SYSTEMS[row.system].label} · {row.how}" for group in found.ways() for row in group
        ]
        assert [(row.system, row.method) for row in found.rows] == [
            (name, how)
            for name in ("segment-tree", "memtree", "bm25")
            for how in ("native", "collapsed", "leaves")
        ]
        # The verdict stands first, and is not said again below the plot.
        first = app.main.markdown[0].value
        assert first.startswith("**All questions**: ")
        said = first.removeprefix("**All questions**: ")
        assert said not in [one.value for one in app.main.caption]
        # It compares what is asked alike: each difference is to a segment tree.
        gains = table["difference to the first"].tolist()
        assert [gain.split()[0] for gain in gains[::3]] == ["0.000"] * 3
        atlas = frame(app, "B against A")
        assert list(atlas.columns[3:]) == [
            "Segment tree · own retrieval",
            "MemTree · own retrieval",  # the best of the other systems is B
            *("BM25 · own retrieval", "Segment tree", "MemTree", "BM25"),
            *("Segment tree · leaves", "MemTree · leaves", "BM25 · leaves"),
        ]
        app.session_state["compare-atlas-dots-open"] = True
        (dots,) = (sent for sent in messages(clean(app.run())) if "dots" in sent)
        assert dots["sides"] == ["A: Segment tree · own retrieval", "B: MemTree · own retrieval"]
        assert len(dots["dots"]) == len(atlas)
        (shown,) = [one.proto for one in app.dataframe if "B against A" in one.value.columns]
        columns = json.loads(shown.columns)
        assert not columns["question"].get("pinned")  # which would turn it pale
        assert (
            columns["MemTree · own retrieval"]["help"]
            == f"{SYSTEMS['memtree'].label} · own retrieval, dense"
        )
        assert columns["MemTree"]["width"] < 100
        assert "turns were returned by at least one system" in texts(app)
        assert all(departure in texts(app) for departure in SYSTEMS["memtree"].departures)

    def test_a_name_by_a_plug_in_brings_no_picture(self, monkeypatch):
        monkeypatch.setattr(SYSTEMS["bm25"], "label", "![x](https://example.org/x.png)")
        app = unfolded(page("compare")).run()
        app.multiselect(key="compared-systems").set_value(["segment-tree", "bm25"]).run()
        said = [one.value for one in (*clean(app).main.markdown, *app.main.caption)]
        assert said[0].startswith("**All questions**: ")
        assert any("example.org" in one for one in said)
        assert [one for one in said if "![x]" in one] == []

    def test_what_is_not_measured_is_no_verdict(self, monkeypatch):
        monkeypatch.setattr(measures, "_AUTOMATIC", 0)
        app = clean(unfolded(page("compare")).run())
        assert app.main.markdown[0].value.startswith("**All questions**: not measured")
        clean(app.button(key="measure").click().run())
        assert "gold turns in evidence" in app.main.markdown[0].value

    def test_another_measure_and_category_5(self, monkeypatch, begun_file):
        monkeypatch.setenv("SEGVIZ_FILE", str(begun_file))  # which has such questions
        app = clean(unfolded(page("compare")).run())
        (found,) = app.session_state["comparisons"].values()
        groups = found.ways()
        rows = [row for group in groups for row in group]
        for measure in ("answer_words", "recall"):
            labelled(app.selectbox, "Measured by").set_value(measure).run()
            for counts in (False, True):
                labelled(app.toggle, "Count category 5").set_value(counts).run()
                table = frame(clean(app), MEASURES[measure].label)
                means = [row.outcomes.value(measure, adversarial=counts) for row in rows]
                other = [row.outcomes.value(measure, adversarial=not counts) for row in rows]
                shown = [cell.split()[0] for cell in table[MEASURES[measure].label]]
                assert shown == [f"{mean:.3f}" for mean in means]
                told = "without category 5" if counts else "with category 5"
                assert list(table[told]) == [f"{mean:.3f}" for mean in other]
                gains = [
                    row.outcomes.gain(group[0].outcomes, measure, adversarial=counts)
                    for group in groups
                    for row in group
                ]
                assert [cell.split()[0] for cell in table["difference to the first"]] == [
                    f"{round(gain.value, 3) + 0:.3f}".replace("-", "−") for gain in gains
                ]

    def test_the_question_that_differs_most_is_named_with_the_nodes_that_decide_it(
        self, monkeypatch, begun_file
    ):
        monkeypatch.setenv("SEGVIZ_FILE", str(begun_file))  # in the small conversation none changes
        app = unfolded(page("compare")).run()
        app.selectbox(key="compare-atlas-B").set_value("MemTree · own retrieval").run()
        *_, found = clean(app).session_state["comparisons"].values()
        base, other = (
            next(r for r in found.rows if (r.system, r.method) == (system, "native"))
            for system in ("segment-tree", "memtree")
        )
        change = other.outcomes.column("in_evidence") - base.outcomes.column("in_evidence")
        most = max(range(len(change)), key=lambda at: (abs(change[at]), change[at] > 0, -at))
        asked = unmarked(sample(sessions=6).questions[most].text)
        assert f"**Why**: {asked}" in [one.value for one in app.markdown]
        assert "The gold turn that differs most is" in texts(app)

    def test_what_was_measured_before_a_stop_is_not_measured_again(self, monkeypatch):
        whole, begun = questions.compare_one, []

        def second_cut_short(memory, *args, **more):
            begun.append(memory.system)
            if len(begun) == 2:
                raise StopException  # what a click does to the running script
            return whole(memory, *args, **more)

        monkeypatch.setattr(questions, "compare_one", second_cut_short)
        app = unfolded(page("compare")).run()
        app.button(key="stop-measuring").click().run()
        assert app.main.markdown[0].value.startswith("**All questions**: not measured")
        app.button(key="measure").click().run()
        first, second, *_ = begun
        assert begun == [first, second, second, *clean(app).multiselect[0].value[2:]]
        assert "gold turns in evidence" in app.main.markdown[0].value

    def test_published_rows_stand_beside_their_own_system_alone(self):
        app = clean(unfolded(page("compare")).run())
        app.multiselect(key="compared-systems").set_value(["raptor", "h-mem", "memforest"]).run()
        rows = frame(clean(app), "nodes/leaf")["memory"].tolist()
        assert rows == [SYSTEMS["raptor"].label, "RAPTOR, LoCoMo"]  # the sample is of its format
        levels = [found for found in tables(app) if "per node below" in found.columns]
        assert [any("LoCoMo" in name for name in one.columns) for one in levels] == [True, False]
        printed = dict(zip(levels[0]["kind"], levels[0]["per node below, LoCoMo"], strict=True))
        assert printed["event"] == "1.67"
        assert {"session", "scene"} <= set(frame(app, "trees")["root"])


def test_turns_selected_in_one_memory_are_in_the_smallest_node_of_another_that_has_them_all():
    tree, other = built(sessions=3), built("memtree", sessions=3)
    nodes = np.flatnonzero(other.structure.active).tolist()
    for node in (0, 5, tree.structure.roots[0]):
        turns = tree.turn_ids(node)
        sizes = [len(held) for held in map(other.turn_ids, nodes) if set(turns) <= set(held)]
        found = holder(other, turns)
        assert (found is None) == (not sizes)
        assert found is None or len(other.turn_ids(found)) == min(sizes)


def test_a_turn_that_the_unit_rule_drops_is_in_no_node():
    memory = build(sample("recurrence"), unit="paper")
    assert "D5:1" not in {turn for unit in memory.units for turn in unit.turn_ids}
    assert holder(memory, ("D5:1",)) is None


def test_a_paused_or_a_growing_memory_is_compared_with_none_of_another_length():
    memory = built(sessions=3)
    session = AppSession("open", "talk", None, memory.conversation, memory)
    assert built_key(session, memory.system) == "open"
    part = replace(memory, steps=memory.steps[:4])
    assert built_key(replace(session, memory=part), memory.system) != "open"
    more = replace(session, memory=built(sessions=4))
    assert built_key(more, "clustering") != built_key(session, "clustering")


@pytest.mark.usefixtures("small")
class TestGuide:
    def test_every_number_of_the_toy_tree_is_there(self):
        app = clean(page("guide").run())
        assert all(term in texts(app) for term in ("**leaves**", "**Propagation**", "*quoted*"))
        table = frame(app, "propagated")
        assert len(table) == 13
        assert {"s⁽⁰⁾", "s⁽¹⁾", "s⁽²⁾"} <= set(table.columns)
        shares = frame(app, "to each of")
        edges = toy_structure().edges  # top-down: parents give to children, in equal parts
        given = {
            (int(giver), int(taker))
            for giver, takers in zip(shares["node"], shares["to each of"], strict=True)
            for taker in takers.split(", ")
        }
        assert given == set(map(tuple, edges.tolist()))
        app.slider(key="toy-horizon").set_value(0).run()
        table = frame(clean(app), "propagated")
        assert (table["propagated"] == table["s⁽⁰⁾"]).all()

    def test_every_system_describes_itself(self):
        app = page("guide").run()
        for name in SYSTEMS:
            app.session_state[f"about-{name}"] = True
        shown = texts(clean(app.run()))
        for kind in SYSTEMS.values():
            assert "Source" in kind.__doc__
            assert kind.__doc__.split("\n")[0] in shown
            assert all(departure in shown for departure in kind.departures), kind.name
        assert "[arXiv 2606.04555](https://arxiv.org/abs/2606.04555)" in shown


def test_all_systems_have_extracts_where_the_open_tree_has_written_texts():
    app = grow().run()
    (opened,) = app.session_state["memories"].values()
    assert opened.provenance["by_hand"]
    app.session_state["page-wanted"] = "compare"
    clean(app.run())
    app.multiselect(key="compared-systems").set_value(["segment-tree", "memtree"]).run()
    compared = [*clean(app).session_state["compared"].values()]
    tree = next(one for one in compared if one.system == "segment-tree")
    assert not any(one.provenance.get("by_hand") for one in compared)
    assert tree.structure.text == build(opened.conversation).structure.text
    assert ONE_WRITER in texts(app)
