"""The outline's logic, run by node on exactly what the browser gets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from segviz.frontend.outline import MAX_TEXTS, outline_payload, outline_script, pack_outline
from segviz.tree import Structure
from tests.frontend.node import run

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

# 4 and 5 are over leaves; leaf 2 has both as parents; 7 is retired; 6 is over all.
TREE = """
const level = Int32Array.from([0, 0, 0, 0, 1, 1, 2, -1]);
const edges = Int32Array.from([4, 0, 4, 1, 4, 2, 5, 2, 5, 3, 6, 4, 6, 5]);
const forest = m.buildForest({ level, edges });
const start = Int32Array.from([0, 1, 2, 3, 0, 2, 0, 0]);
const stop = Int32Array.from([1, 2, 3, 4, 3, 4, 4, 1]);
const state = m.createOpen(forest);
const keys = () => m.listRows(forest, state).map((row) => row.key);
const nodes = () => m.listRows(forest, state).map((row) => row.node ?? `more${row.more}`);
"""
STAR = """
const level = new Int32Array(1001); level[1000] = 1;
const edges = new Int32Array(2000).map((_, i) => (i % 2 ? (i - 1) / 2 : 1000));
const forest = m.buildForest({ level, edges });
const state = m.createOpen(forest);
const rows = () => m.listRows(forest, state);
const brief = () => rows().map((r) => (r.more ? [r.more, r.hidden, r.shown, r.size] : r.node));
"""
CHAIN = """
const n = 100000;
const level = Int32Array.from({ length: n }, (_, i) => i);
const edges = new Int32Array(2 * (n - 1));
for (let i = 1; i < n; i++) { edges[2 * i - 2] = i; edges[2 * i - 1] = i - 1; }
const forest = m.buildForest({ level, edges });
const state = m.createOpen(forest);
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("js") / "outline.mjs"
    path.write_text(outline_script(), encoding="utf-8")
    return path


def test_the_default_export_is_the_component(module: Path) -> None:
    assert run(module, "return typeof m.default") == "function"


def test_kinship(module: Path) -> None:
    body = """return [[...forest.roots], [...m.childrenOf(forest, 4)], [...m.parentsOf(forest, 2)],
      m.pathTo(forest, 3), [...m.countBelow(forest, [2, 0])],
      m.unitsBelow(forest, { start, stop }, 5)];"""
    roots, children, parents, path, below, units = run(module, TREE + body)
    assert (roots, children, parents, path) == ([6], [0, 1, 2], [4, 5], [6, 5, 3])
    assert dict(below) == {4: 2, 5: 1, 6: 2}  # counted once where two ways lead to it
    assert units == [[2, 4]]


def test_a_single_root_is_open_and_occurrences_open_apart(module: Path) -> None:
    body = """const first = nodes();
      state.opened.add("/6/5");
      const rows = m.listRows(forest, state);
      return [first, nodes(), rows.map((r) => [r.position, r.size, r.depth])];"""
    first, then, places = run(module, TREE + body)
    assert first == [6, 4, 5]
    assert then == [6, 4, 5, 2, 3]
    assert places == [[1, 1, 1], [1, 2, 2], [2, 2, 2], [1, 2, 3], [2, 2, 3]]


def test_keys_walk_the_rows(module: Path) -> None:
    body = """state.opened.add("/6/4"); const rows = m.listRows(forest, state);
      return [[0, "ArrowRight"], [1, "ArrowRight"], [5, "ArrowRight"], [2, "ArrowRight"],
        [2, "ArrowLeft"], [1, "ArrowLeft"], [5, "ArrowLeft"], [0, "ArrowUp"], [5, "ArrowDown"],
        [2, "Home"], [2, "End"], [2, "x"]].map(([at, key]) => m.press(rows, at, key));"""
    assert run(module, TREE + body) == [
        {"to": 1},
        {"to": 2},
        {"toggle": True},  # closed: opens
        None,  # a leaf
        {"to": 1},  # to the parent
        {"toggle": True},  # open: closes
        {"to": 0},
        {"to": 0},
        {"to": 5},
        {"to": 0},
        {"to": 5},
        None,
    ]


def test_typing_finds_the_next_row_that_begins_so(module: Path) -> None:
    body = """const words = ["the boat", "a bakery", "the thesis", "boats"];
      const rows = words.map((_, i) => ({ node: i }));
      const find = (at, typed) => m.findTyped(rows, at, typed, (row) => words[row.node]);
      return [find(0, "t"), find(2, "t"), find(0, "b"), find(0, "the b"), find(1, "z"),
        find(3, "bak")];"""
    # Letter by letter the same row may stay; "bak" begins no row, but a word in one.
    assert run(module, body) == [2, 0, 3, 0, -1, 1]


def test_a_long_list_is_shown_in_parts(module: Path) -> None:
    body = """const first = brief(); m.showMore(state, rows().at(-1)); const second = brief();
      m.openTo(forest, state, 900); const third = brief();
      m.showMore(state, rows()[1]); return [first, second, third, brief()];"""
    first, second, third, fourth = run(module, STAR + body)
    assert first == [1000, *range(300), [1, 700, 300, 1000]]
    assert second == [1000, *range(600), [1, 400, 600, 1000]]
    assert third == [1000, [-1, 700, 300, 1000], *range(700, 1000)]
    assert fourth == [1000, [-1, 400, 600, 1000], *range(400, 1000)]


def test_opening_to_a_node_opens_what_lies_above_it(module: Path) -> None:
    body = """state.opened.clear(); const opened = m.openTo(forest, state, 3);
      return [opened, nodes(), m.openTo(forest, state, 3)];"""
    opened, shown, again = run(module, TREE + body)
    assert opened == ["/6", "/6/5"]
    assert shown == [6, 4, 5, 2, 3]
    assert again == []


def test_a_chain_of_100000_is_bounded(module: Path) -> None:
    body = """for (const key of Array.from({ length: 50 }, (_, i) => i)) {
        const rows = m.listRows(forest, state); state.opened.add(rows.at(-1).key); }
      const rows = m.listRows(forest, state);
      m.openTo(forest, state, 5); const deep = m.listRows(forest, state);
      m.openTo(forest, state, n - 3); const back = m.listRows(forest, state);
      return [rows.length, deep.at(-1).node, deep.length, state.top, back.length,
        m.countBelow(forest, [0, 1]).get(n - 1), m.unitsBelow(forest,
          { start: new Int32Array(n), stop: new Int32Array(n).fill(1) }, n - 1)];"""
    rows, last, deep, top, back, below, units = run(module, CHAIN + body)
    assert rows == 24
    assert last == 5
    assert deep <= 24
    assert top is None
    assert back <= 24
    assert below == 2
    assert units == [[0, 1]]


def structure(n: int, text: str = "x") -> Structure:
    units = np.arange(n, dtype=np.int32)
    return Structure(
        level=np.zeros(n, np.int32),
        start=units,
        stop=units + 1,
        text=(text,) * n,
        vector=np.zeros((n, 0), np.float32),
        active=np.ones(n, np.bool_),
        edges=np.zeros((0, 2), np.int32),
    )


def payload(made: Structure, **changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "names": ["leaf"],
        "name": np.zeros(len(made)),
        "unit_sessions": [0] * len(made),
        "session_labels": ["S1"],
        "session_colours": ["#123456"],
        "identity": "x",
    }
    return outline_payload(made, **given | changes)


def test_the_message_is_read_as_it_was_written(module: Path) -> None:
    made = payload(
        structure(3, "\u202e<b>\ud800"),
        initial=[0.5, np.nan, 0.25],
        final=[1, 2, 3],
        ranks=([1, 0, 2], [3, 2, 1]),
        selected=7,
        gold=[1, 9],
    )
    body = """const p = m.unpack(Uint8Array.from(bytes));
      return { initial: [...p.initial], ranks: [...p.rank_final], stop: [...p.stop],
        selected: p.selected, gold: p.gold, text: p.texts[1] };"""
    got = run(module, body, bytes=list(pack_outline(made)))
    assert got["initial"] == [0.5, 0, 0.25]
    assert got["ranks"] == [3, 2, 1]
    assert got["stop"] == [1, 2, 3]
    assert (got["selected"], got["gold"]) == (None, [1])  # nothing outside the structure
    assert got["text"].startswith("\u202e<b>")


def test_texts_travel_whole_while_they_are_few_else_on_request() -> None:
    few = payload(structure(3, "word " * 200))
    assert set(few["texts"]) == {"0", "1", "2"}
    assert len(few["texts"]["0"]) == 161
    many = payload(structure(MAX_TEXTS + 1), wanted=[5, MAX_TEXTS, -1, MAX_TEXTS + 1])
    assert set(many["texts"]) == {"5", str(MAX_TEXTS)}
    assert len(json.dumps(payload(structure(MAX_TEXTS + 1))["texts"])) == 2
