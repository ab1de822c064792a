"""Windows, forgetting, families, groups and relations: the numbers behind the drawings."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import segviz
from segviz.conversation import DAY
from segviz.embedding import HashingEmbedder
from segviz.figures import families as forest_figures
from segviz.figures.forgetting import (
    MENTIONS,
    fades,
    forgetting_rows,
    forgetting_sentence,
    last_met,
    remembered,
)
from segviz.figures.groups import change_rows, grouped, groups_sentence, size_rows
from segviz.figures.relation_graph import (
    SHAPES,
    around,
    node_name,
    related,
    relation_html,
    ties,
    types,
)
from segviz.figures.windows import dated, window_rows, windows, windows_figure, windows_sentence
from segviz.tree import Add, Relate, Retire, Revise, Step, Structure, history, replay
from tests import memories
from tests.trees import ZERO, chat, toy, unit

PAGE = {"background": "#171614", "foreground": "#edebe8", "accent": "#b43a09"}
COLOURS = {"accent": "#c2410c", "neutral": "#777777"}


def built(system, sessions=6, **settings):
    return memories.built(system, embedder="hashing", sessions=sessions, **settings)


@pytest.fixture(scope="module")
def hmem():
    return built("h-mem")


@pytest.fixture(scope="module")
def forest():
    return built("memforest")


@pytest.fixture(scope="module")
def xmemory():
    return built("xmemory", 12, attach=0.5, loose=0.45, most=6)


def of(*nodes, relations=()) -> Structure:
    """A structure of (kind, text, facts) nodes on level 1."""
    events = [
        Add(i, 1, (0, 1), text, ZERO, kind, facts) for i, (kind, text, facts) in enumerate(nodes)
    ]
    return replay([Step(unit(0), "", None, (*events, *relations))])


class TestWindows:
    def test_every_summary_is_in_one(self, hmem):
        s = hmem.structure
        held = [n for n in range(len(s)) if s.active[n] and "window_from" in s.facts[n]]
        found = windows(s)
        assert sum(w.nodes for w in found) == len(held) > 0
        assert len({(w.level, w.start) for w in found}) == len(found)
        for w in found:
            inside = [
                s.facts[n]
                for n in held
                if (s.level[n], s.facts[n]["window_from"]) == (w.level, w.start)
            ]
            assert (w.nodes, w.first, w.last, w.met) == (
                len(inside),
                min(f["from"] for f in inside),
                max(f["to"] for f in inside),
                sum(f["n"] for f in inside),
            )
        for one, next_one in pairwise(found):
            if one.level == next_one.level:
                assert one.stop <= next_one.start

    def test_lanes_and_numbers(self, hmem):
        names = type(hmem.model).level_names
        found = windows(hmem.structure)
        figure = windows_figure(found, 0.0, names=names, calendar=True, ink="#000000", **COLOURS)
        frames = figure.data[0]
        assert list(dict.fromkeys(frames.y)) == ["week", "month", "year"]
        assert [length / 1000 for length in frames.x] == [w.stop - w.start for w in found]
        assert list(frames.text) == [str(w.nodes) for w in found]
        assert dated(hmem.structure)
        assert windows_sentence(found, names).startswith("week: ")
        rows = window_rows(found, names, True)
        assert [row["nodes"] for row in rows] == [w.nodes for w in found]
        assert rows[0]["level"] == "week"

    def test_without_dates_the_axis_counts_seconds(self):
        conversation = chat([[("Ana", "I sold the boat."), ("Ben", "I bought a lamp.")]])
        session = conversation.sessions[0]
        undated = type(conversation)(
            "undated", conversation.speakers, (type(session)("s", None, "", session.turns),)
        )
        s = segviz.build(undated, "h-mem", "turn", embedder=HashingEmbedder()).structure
        assert not dated(s)
        found = windows(s)
        figure = windows_figure(found, 1.0, names=(), calendar=False, ink="#000000", **COLOURS)
        assert list(figure.data[0].base) == [w.start for w in found]
        assert figure.layout.xaxis.type is None

    def test_other_memories_have_none(self, forest, memory):
        assert windows(forest.structure) == windows(memory.structure) == ()


class TestForgetting:
    def test_each_node_lies_on_its_curve(self, hmem):
        s, law = hmem.structure, hmem.model.retention
        now = last_met(s) + 100 * DAY
        points = remembered(s, now, law)
        alone = Counter()
        for node in np.flatnonzero(s.active).tolist():
            facts = s.facts[node]
            if "last" in facts:
                age = now - facts["last"]
                slow = 365 * DAY * (1 + 0.5 * np.log(1 + facts["n"]))
                alone[round(float(np.exp(-age / slow)), 9)] += 1
        together = Counter()
        for point in points:
            together[round(point.retained, 9)] += point.nodes
        assert together == alone
        assert min(point.age for point in points) == pytest.approx(100)

    def test_settings_of_the_system_hold(self):
        fast = built("h-mem", tau=10.0, eta=0.0)
        assert fast.model.retention({"n": 7}, [10 * DAY]) == [pytest.approx(np.exp(-1))]
        assert "10 days" in fast.model.fading()

    def test_curves_and_marks(self, hmem):
        points = remembered(hmem.structure, last_met(hmem.structure), hmem.model.retention)
        rows = forgetting_rows(points, hmem.model.retention)
        curves = [
            [row["remembered"] for row in rows if row.get("curve") == f"n = {n}"] for n in MENTIONS
        ]
        for slower, faster in pairwise(reversed(curves)):
            assert all(a >= b for a, b in zip(slower, faster, strict=True))
        for curve in curves:
            assert curve[0] == 1
            assert all(a > b for a, b in pairwise(curve))
        marks = [row["remembered, nodes"] for row in rows if "nodes" in row]
        assert marks == [round(point.retained, 4) for point in points]
        total = sum(point.nodes for point in points)
        assert forgetting_sentence(points).startswith(f"{total:,} nodes")

    def test_nothing_to_forget(self, forest):
        assert not fades(forest.structure)
        assert forgetting_sentence(()) == "No node can fade."


class TestFamilies:
    def test_every_tree_with_its_nodes(self, forest):
        s = forest.structure
        found = forest_figures.families(s)
        trees = [tree for row in found.values() for tree in row]
        inner = [n for n in np.flatnonzero(s.active).tolist() if s.level[n] > 1]
        assert sorted(n for tree in trees for n in tree.nodes) == inner
        assert {tree.root for tree in trees} == {n for n in s.roots if s.level[n] > 1}
        assert len(found["session"]) == len(forest.conversation.sessions)

    @pytest.mark.parametrize("refresh", ["eager", "lazy"])
    def test_the_dirty_path_of_every_step(self, refresh):
        memory = built("memforest", refresh=refresh)
        waited = 0
        for step, s in zip(memory.steps, history(memory.steps), strict=True):
            found = forest_figures.families(s)
            fresh = forest_figures.refreshed(s, step.events)
            told = forest_figures.effort_sentence(s, found, fresh, step.cost.annotated)
            assert told.startswith(f"{len(fresh)} of ")
            waits = re.search(r"(\d+) wait to be written", told)
            waiting = int(waits[1]) if waits else 0
            assert waiting == sum(s.level[n] > 1 for n in memory.model.pending(s, memory.steps))
            told = re.search(r"(\d+) nodes are written again", step.note)
            assert len(fresh) == (int(told[1]) if told else 0)
            cells = sum(s.kind[n] == "cell" for n in {getattr(e, "node", -1) for e in step.events})
            assert step.cost.annotated <= len(fresh) + cells
            waited += waiting
            for tree, path in forest_figures.dirty_paths(found, fresh):
                assert path[0] == tree.root
                for node in path[1:]:
                    assert set(s.parents[node]) & set(path)
        assert bool(waited) == (refresh == "lazy")

    def test_strips_sum_to_the_items(self, forest):
        s = forest.structure
        found = forest_figures.families(s)
        fresh = forest_figures.refreshed(s, forest.steps[-1].events)
        figure = forest_figures.families_figure(found, fresh, ink="#000000", **COLOURS)
        total = Counter()
        for bar in figure.data:
            for family, width in zip(bar.y, bar.x, strict=True):
                total[family.split(" (")[0]] += width
        assert total == {
            family: sum(s.facts[tree.root]["items"] for tree in row)
            for family, row in found.items()
        }
        paths = forest_figures.dirty_paths(found, fresh)
        touched = {tree.root for tree, _ in paths}
        roots = {int(about.rsplit(" ", 1)[1]) for about in figure.data[1].customdata}
        assert roots == touched != set()
        rows = forest_figures.family_rows(found, paths)
        assert [row["from the root down"] for row in rows][: len(paths)] == [
            " › ".join(map(str, path)) for _, path in paths
        ]
        assert figure.data[1].marker.pattern.shape == "/"

    def test_a_rebuild_writes_every_node_of_two_children(self, forest):
        s = forest.structure
        found = forest_figures.families(s)
        assert forest_figures.rebuild(s, found) == sum(
            len(s.children[n]) > 1 for n in range(len(s)) if s.active[n] and s.level[n] > 1
        )

    def test_labels_are_no_markup(self):
        s = of(("entity", "x", {"label": "<b>&", "items": 1}))
        found = forest_figures.families(s)
        figure = forest_figures.families_figure(found, (), ink="#000000", **COLOURS)
        assert list(figure.data[0].text) == ["&lt;b>&amp;"]

    def test_other_memories_are_no_forest(self, hmem, xmemory, memory):
        for other in (hmem, xmemory, memory):
            assert forest_figures.families(other.structure) == {}


class TestGroups:
    def test_every_change_that_was_told(self, xmemory):
        told = []
        for number, step in enumerate(xmemory.steps, start=1):
            told += [
                (number, "split", int(m[1]), m[2], m[3])
                for m in re.finditer(
                    r"theme (\d+) was split by .*?: f (\S+) to (\d\.\d+)", step.note
                )
            ]
            told += [
                (number, "merge", int(m[1]), m[2], m[3])
                for m in re.finditer(r"joined theme (\d+): f (\S+) to (\d\.\d+)", step.note)
            ]
        found = change_rows(xmemory.steps)
        lines = [
            (r["step"], r["change"], f"{r['objective, before']:.3f}", f"{r['objective']:.3f}")
            for r in found
        ]
        # A theme that is split and then taken in hands its line on to its new owner.
        assert Counter(lines) == Counter(t[:2] + t[3:] for t in told)
        assert {row["change"] for row in found} == {"split", "merge"}
        assert all(row["gain"] > 0 for row in found if row["change"] == "merge")
        splits = sum(row["change"] == "split" for row in found)
        assert f"{splits} × split" in groups_sentence(found, size_rows(xmemory.steps))

    def test_sizes_after_every_step(self, xmemory):
        rows = {row["step"]: row for row in size_rows(xmemory.steps)}
        assert {1, len(xmemory.steps)} <= rows.keys()
        row = {}
        for step, s in enumerate(history(xmemory.steps), start=1):
            row = rows.get(step, row)  # where no size changed the last row holds
            themes = [n for n in range(len(s)) if s.active[n] and s.kind[n] == "theme"]
            held = [len(s.children[n]) for n in themes]
            assert row["groups"] == len(held)
            assert row["largest"] == max(held, default=0)
            assert row["middle size"] == (np.median(held) if held else 0)
        assert row["at most"] == xmemory.model.most
        assert f"{row['groups']:,} groups" in groups_sentence([], [row])
        assert grouped(xmemory.structure)

    def test_nothing_happened(self, memory):
        assert not grouped(memory.structure)
        assert change_rows(memory.steps) == size_rows(()) == []
        assert "no split or merge" in groups_sentence([], [])

    def test_gone_groups_do_not_count(self):
        steps = [
            Step(
                unit(0), "", None, (Add(0, 3, (0, 1), "a", ZERO, "theme", {"size": 2, "most": 4}),)
            ),
            Step(unit(1), "", None, (Revise(0, (0, 1), "a", ZERO, None, {"size": 3, "most": 4}),)),
            Step(unit(2), "", None, (Retire(0),)),
        ]
        rows = size_rows(steps)
        assert [row["groups"] for row in rows] == [1, 1, 0]
        assert [row["largest"] for row in rows] == [2, 3, 0]


HOSTILE = "</script><script>alert(1)</script>"


class TestRelations:
    structure = of(
        ("entity", "Ana\nprofile", {"name": "Ana", "type": "person", "mentions": 9}),
        ("entity", "Ben", {"name": "Ben", "type": "person", "mentions": 4}),
        ("entity", HOSTILE, {"type": "place", "mentions": 1}),
        ("note", "left alone", {}),
        relations=(
            Relate(0, 1, "knows", 3.0),
            Relate(0, 1, "co-occurs", 5.0),
            Relate(1, 0, "knows", 1.0),
            Relate(1, 2, HOSTILE, 2.0),
        ),
    )

    def drawn(self, page):
        """Nodes and edges as the drawing library gets them."""
        found = []
        for name in ("nodes", "edges"):
            data = re.search(rf"{name} = new vis\.DataSet\((\[.*?\])\);", page, re.DOTALL)
            found.append(json.loads(data[1]))
        return found

    def html(self, nodes, **options):
        palette = [f"#12345{i}" for i, _ in enumerate(types(self.structure, nodes))]
        return relation_html(self.structure, nodes, **{"palette": palette} | PAGE | options)

    def test_pairs_heaviest_first(self):
        assert [(t.source, t.target, t.weight) for t in ties(self.structure)] == [
            (0, 1, 8.0),
            (1, 2, 2.0),
            (1, 0, 1.0),
        ]
        assert ties(self.structure)[0].labels == (("co-occurs", 5.0), ("knows", 3.0))
        assert related(self.structure) == (1, 0, 2)
        assert around(self.structure, 2) == (2, 1)
        assert node_name(self.structure, 0) == "Ana"
        assert types(self.structure, (0, 1, 2)) == {"person": "●", "place": "■"}

    def test_what_is_drawn(self):
        nodes, edges = self.drawn(self.html((0, 1, 2), selected=1))
        assert [node["id"] for node in nodes] == ["n0", "n1", "n2"]
        assert all(node["physics"] is False for node in nodes)
        assert nodes[0]["size"] > nodes[1]["size"] > nodes[2]["size"]
        assert [node["borderWidth"] for node in nodes] == [1, 3, 1]
        assert nodes[2]["shape"] == SHAPES["■"]
        assert edges[0]["label"] == "co-occurs × 5 +1"
        assert edges[0]["title"] == "co-occurs × 5\nknows × 3"
        assert edges[0]["width"] > edges[1]["width"]
        _, fewer = self.drawn(self.html((0, 1)))
        assert len(fewer) == 2

    def test_it_is_the_same_each_time_and_asks_for_nothing(self):
        page = self.html((0, 1, 2))
        assert page == self.html((0, 1, 2))
        assert not re.search(r"(?:src|href)=[\"']https?:", page)

    def test_parts_that_do_not_hang_together_stand_apart(self):
        s = of(
            *[("entity", str(i), {"name": str(i)}) for i in range(9)],
            relations=(
                *(Relate(0, i, "knows") for i in range(1, 6)),
                Relate(6, 7, "knows"),
                Relate(7, 8, "knows"),
            ),
        )
        nodes, _ = self.drawn(relation_html(s, tuple(range(9)), palette=["#123456"], **PAGE))
        places = [(node["x"], node["y"]) for node in nodes]
        assert len(set(places)) == 9
        assert max(y for _, y in places[:6]) <= min(y for _, y in places[6:])

    def test_hostile_text_stays_text(self):
        assert HOSTILE not in self.html((0, 1, 2))
        nodes, _ = self.drawn(self.html((0, 1, 2)))
        assert nodes[2]["label"].startswith("</script><script>")

    def test_one_node_alone_and_a_bad_colour(self):
        assert len(self.drawn(self.html((2,)))[0]) == 1
        with pytest.raises(ValueError, match="background"):
            self.html((0,), background="red")

    def test_a_real_memory(self, hmem):
        s = hmem.structure
        everyone = related(s)
        assert set(everyone) == {n for r in s.relations for n in (r.source, r.target)}
        assert sum(tie.weight for tie in ties(s)) == sum(r.weight for r in s.relations)


def test_no_view_for_a_plain_tree():
    s = toy()
    found = (windows(s), fades(s), forest_figures.families(s), grouped(s), ties(s))
    assert not any(found)
