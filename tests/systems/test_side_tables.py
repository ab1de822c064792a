"""The side tables of H-Mem, MemForest and xMemory, held against structures and notes."""

import re
from collections import Counter
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import numpy as np
import pytest

import segviz
from segviz.construct import Tabulates
from segviz.conversation import DAY
from segviz.embedding import HashingEmbedder
from segviz.systems.xmemory.tables import size_rows
from segviz.tree import Add, Retire, Revise, Step, history
from tests import memories
from tests.systems.common import nodes
from tests.trees import ZERO, chat, unit


def built(system, sessions=6, **settings):
    return memories.built(system, embedder="hashing", sessions=sessions, **settings)


def tables(memory):
    return memory.model.tables(memory.structure, memory.steps)


@pytest.fixture(scope="module")
def hmem():
    return built("h-mem")


@pytest.fixture(scope="module")
def xmemory():
    return built("xmemory", 12, attach=0.5, loose=0.45, most=6)


def test_every_table_has_the_columns_of_its_first_row_and_plain_values(hmem, xmemory):
    for memory in (hmem, xmemory, built("memforest")):
        for name, rows in tables(memory).items():
            assert rows, name
            for row in rows:
                assert row.keys() == rows[0].keys()
                plain = (str, int, float, datetime, type(None))
                assert all(isinstance(value, plain) for value in row.values()), (name, row)
        assert not any(memory.model.tables(memory.at(0), ()).values())
    assert not isinstance(segviz.SYSTEMS["segment-tree"](), Tabulates)


class TestHMem:
    def test_windows_of_a_level_do_not_overlap_and_hold_every_node(self, hmem):
        rows, s = tables(hmem)["Time windows"], hmem.structure
        assert list(dict.fromkeys(row["level"] for row in rows)) == ["week", "month", "year"]
        held = [n for n in np.flatnonzero(s.active).tolist() if "window_from" in s.facts[n]]
        assert sum(row["nodes"] for row in rows) == len(held) > 0
        for one, other in pairwise(rows):
            assert one["level"] != other["level"] or one["stop"] <= other["start"]

    def test_without_dates_windows_count_units(self):
        talk = chat([[("Ana", "I sold the boat."), ("Ben", "I bought a lamp.")]])
        undated = replace(talk, sessions=(replace(talk.sessions[0], start=None),))
        memory = segviz.build(undated, "h-mem", "turn", embedder=HashingEmbedder())
        assert {type(row["start"]) for row in tables(memory)["Time windows"]} == {float}

    def test_retention_follows_equation_2(self):
        memory = built("h-mem", tau=10.0, eta=0.0)
        assert memory.model.retention({"n": 7}, [10 * DAY, -DAY]) == pytest.approx([np.exp(-1), 1])
        rows = tables(memory)["Forgetting"]
        for row in rows:
            age = row["days since last met"]
            assert row["retention"] == pytest.approx(np.exp(-age / 10), abs=0.01)
            assert row["retention in a year"] < 1e-9
        assert sum(row["nodes"] for row in rows) == sum("last" in f for f in memory.structure.facts)

    def test_relations_and_the_entities_they_join(self, hmem):
        found, s = tables(hmem), hmem.structure
        weights = [row["weight"] for row in found["Relations"]]
        assert weights == sorted((r.weight for r in s.relations), reverse=True)
        assert sum(row["relations"] for row in found["Entities"]) == 2 * len(s.relations)
        assert {row["from"] for row in found["Relations"]} <= {
            row["entity"] for row in found["Entities"]
        }


class TestMemForest:
    def test_every_tree_once_with_all_its_nodes(self):
        memory = built("memforest")
        s, rows = memory.structure, tables(memory)["Trees"]
        inner = [n for n in np.flatnonzero(s.active).tolist() if s.level[n] > 1]
        assert sum(row["nodes"] for row in rows) == len(inner)
        assert sum(row["rebuild"] for row in rows) == sum(len(s.children[n]) > 1 for n in inner)
        families = Counter(row["family"] for row in rows)
        assert families["session"] == len(memory.conversation.sessions)

    @pytest.mark.parametrize("refresh", ["eager", "lazy"])
    def test_a_step_refreshes_what_its_note_says(self, refresh):
        memory = built("memforest", refresh=refresh)
        waited = 0
        for k, s in enumerate(history(memory.steps), start=1):
            steps = memory.steps[:k]
            rows = memory.model.tables(s, steps)["Trees"]
            waiting = sum(row["waiting"] for row in rows)
            assert waiting == sum(s.level[n] > 1 for n in memory.model.pending(s, steps))
            noted = re.search(r"(\d+) nodes are written again", steps[-1].note)
            assert sum(row["refreshed"] for row in rows) == (int(noted[1]) if noted else 0)
            for row in rows:
                path = [int(node) for node in row["from the root down"].split(" › ") if node]
                for node in path[1:]:
                    assert set(s.parents[node]) & set(path)
            waited += waiting
        assert bool(waited) == (refresh == "lazy")


class TestXMemory:
    def test_every_split_and_merge_of_the_notes(self, xmemory):
        noted = Counter()
        for number, step in enumerate(xmemory.steps, start=1):
            for pattern, kind in (
                (r"theme \d+ was split by .*?: f (\S+) to (\d\.\d+)", "split"),
                (r"joined theme \d+: f (\S+) to (\d\.\d+)", "merge"),
            ):
                noted.update((number, kind, *m.groups()) for m in re.finditer(pattern, step.note))
        rows = tables(xmemory)["Splits and merges"]
        assert noted == Counter(
            (r["step"], r["change"], f"{r['objective, before']:.3f}", f"{r['objective']:.3f}")
            for r in rows
        )
        assert {row["change"] for row in rows} == {"split", "merge"}
        assert all(row["gain"] > 0 for row in rows if row["change"] == "merge")

    def test_sizes_after_every_step(self, xmemory):
        rows = {row["step"]: row for row in tables(xmemory)["Sizes of themes"]}
        assert {1, len(xmemory.steps)} <= rows.keys()
        row = {}
        for step, s in enumerate(history(xmemory.steps), start=1):
            row = rows.get(step, row)  # where no size changed the last row holds
            held = [len(s.children[n]) for n in nodes(s, "theme")]
            assert (row["themes"], row["largest"]) == (len(held), max(held, default=0))
            assert row["median size"] == (np.median(held) if held else 0)
        assert row["at most"] == xmemory.model.most
        sizes = [each["statements"] for each in tables(xmemory)["Themes"]]
        assert sizes == sorted(held, reverse=True)

    def test_themes_that_are_gone_do_not_count(self):
        of = {"size": 2, "most": 4}
        steps = [
            Step(unit(0), "", None, (Add(0, 3, (0, 1), "a", ZERO, "theme", of),)),
            Step(unit(1), "", None, (Revise(0, (0, 1), "a", ZERO, None, of | {"size": 3}),)),
            Step(unit(2), "", None, (Retire(0),)),
        ]
        rows = size_rows(steps)
        assert [row["themes"] for row in rows] == [1, 1, 0]
        assert [row["largest"] for row in rows] == [2, 3, 0]
