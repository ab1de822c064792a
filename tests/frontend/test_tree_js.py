"""The pure helpers of the canvas, run by node on exactly what the browser gets."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from segviz.frontend.canvas import javascript
from segviz.frontend.payload import pack, tree_payload
from segviz.tree import Structure
from tests.frontend.node import run

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
TREE = """
const tree = m.buildTree({
  level: Int32Array.from([0, 0, 0, 0, 1, 1, 2, -1]),
  start: Int32Array.from([0, 1, 2, 3, 0, 2, 0, 0]),
  stop: Int32Array.from([1, 2, 3, 4, 2, 4, 4, 1]),
  parent: Int32Array.from([4, 4, 5, 5, 6, 6, -1, -1]),
  edges: new Int32Array(0), levels_total: 3,
});
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The component as an ES module file."""
    path = tmp_path_factory.mktemp("js") / "tree.mjs"
    path.write_text(javascript(), encoding="utf-8")
    return path


def test_the_default_export_is_the_component(module: Path) -> None:
    assert run(module, "return typeof m.default") == "function"


def test_unpack_reads_what_python_packs(module: Path, tmp_path: Path) -> None:
    units = np.arange(3, dtype=np.int32)
    structure = Structure(
        level=np.zeros(3, np.int32),
        start=units,
        stop=units + 1,
        text=("a", "\u202e<b>", FAMILY),
        vector=np.zeros((3, 0), np.float32),
        active=np.ones(3, np.bool_),
        edges=np.zeros((0, 2), np.int32),
    )
    payload = tree_payload(
        structure,
        unit_sessions=[0, 0, 1],
        session_labels=["S1", "S2"],
        identity="x",
        initial=[0.25, 0.5, 0.75],
        gold=[2],
    )
    path = tmp_path / "message"
    path.write_bytes(pack(payload))
    body = """
      const fs = await import("node:fs");
      const file = fs.readFileSync(path);
      const shifted = new Uint8Array(file.length + 3); // as inside a larger protobuf
      shifted.set(file, 3);
      const p = m.unpack(shifted.subarray(3));
      return [p.stop, p.unit_session, p.initial, p.gold, p.final].map((c) => Array.from(c))
        .concat([p.labels]);
    """
    assert run(module, body, path=str(path)) == [
        [1, 2, 3],
        [0, 0, 1],
        [0.25, 0.5, 0.75],
        [2],
        [],
        ["a", "\u202e<b>", FAMILY],
    ]


def test_rows_hold_active_nodes_in_order(module: Path) -> None:
    rows, active = run(module, TREE + "return [tree.rows, tree.active];")
    assert rows == [[0, 1, 2, 3], [4, 5], [6]]
    assert active == 7


def test_overlapping_spans_get_lanes(module: Path) -> None:
    body = """
      const ids = [0, 1, 2, 3];
      return m.assignLanes(ids, [0, 1, 4, 5], [4, 6, 5, 9]);
    """
    assert run(module, body) == {"lanes": {"0": 0, "1": 1, "2": 0, "3": 0}, "count": 2}


def test_arrow_keys_walk_the_tree(module: Path) -> None:
    body = (
        TREE
        + """
      const walk = (node, ...keys) => keys.reduce((at, key) => m.neighbour(tree, at, key), node);
      return [
        walk(0, "ArrowUp"), walk(0, "ArrowUp", "ArrowUp"), walk(6, "ArrowUp"),
        walk(6, "ArrowDown"), walk(5, "ArrowDown"), walk(0, "ArrowDown"),
        walk(1, "ArrowRight"), walk(3, "ArrowRight"), walk(0, "ArrowLeft"), walk(5, "ArrowLeft"),
        walk(6, "Home"), walk(6, "End"),
      ];
    """
    )
    assert run(module, body) == [4, 6, 6, 4, 2, 0, 2, 3, 0, 4, 0, 3]


def test_ancestors_follow_every_parent_once_even_around_a_cycle(module: Path) -> None:
    body = """
      const tree = { parents: new Map([[0, [1, 2]], [1, [3]], [2, [3]], [3, [0]]]) };
      return m.ancestors(tree, 0).sort();
    """
    assert run(module, body) == [1, 2, 3]


@pytest.mark.parametrize("mode", ["grow", "scores", "change"])
@pytest.mark.parametrize("levels", [1, 3, 8, 53])
@pytest.mark.parametrize("height", [180, 420, 900])
def test_layout_fills_without_overlap(module: Path, mode: str, levels: int, height: int) -> None:
    body = """
      const lanes = new Array(levels).fill(1);
      const g = m.geometry(800, height, mode, false, lanes);
      const boxes = lanes.map((_, level) =>
        Array.from({ length: g.halves }, (_, half) => m.rowBox(g, half, level)));
      return [g, boxes];
    """
    geometry, boxes = run(module, body, mode=mode, levels=levels, height=height)
    axis, depth = geometry["axisTop"], geometry["axisHeight"]
    upper = [box[0] for box in boxes]
    assert upper[0]["y"] + upper[0]["h"] == axis  # leaves stand on the axis
    if mode != "scores":
        assert upper[-1]["y"] == geometry["top"] < 30  # no gap between legend and tree
        assert axis + depth <= height
    assert upper[-1]["y"] >= 0
    assert all(0 <= box["h"] <= (120 if mode == "change" else 60) for box in upper)
    for below, above in pairwise(upper):
        assert above["y"] + above["h"] == below["y"]
    if mode == "scores":
        lower = [box[1] for box in boxes]
        assert lower[0]["y"] == axis + depth
        assert lower[-1]["y"] + lower[-1]["h"] <= height
        mirrored = [2 * axis + depth - box["y"] - box["h"] for box in upper]
        assert [box["y"] for box in lower] == mirrored


def test_hit_test_is_the_inverse_of_layout(module: Path) -> None:
    body = (
        TREE
        + """
      const missed = [];
      for (const mode of ["grow", "scores", "change"]) for (const width of [300, 1000]) {
        const g = m.geometry(width, 400, mode, false, tree.laneCount);
        const view = { x0: 0, x1: 4 };
        const boxes = m.visibleBoxes(tree, view, g.width, null);
        for (let half = 0; half < g.halves; half++) for (let node = 0; node < 7; node++) {
          const { y, h } = m.rowBox(g, half, tree.level[node]);
          const x = ((tree.start[node] + tree.stop[node]) / 2 / 4) * g.width;
          const at = m.rowAt(g, tree, y + h / 2);
          if (at.half !== half || m.boxAt(boxes, at.row, x) !== node) missed.push(node);
        }
        if (m.rowAt(g, tree, g.axisTop + 5) !== null) missed.push("axis");
        if (m.rowAt(g, tree, -1) !== null) missed.push("above");
      }
      return missed;
    """
    )
    assert run(module, body) == []


def test_aggregation_keeps_the_brightest(module: Path) -> None:
    body = """
      const n = 20000;
      const level = new Int32Array(n);
      const start = Int32Array.from({ length: n }, (_, i) => i);
      const stop = start.map((i) => i + 1);
      const tree = m.buildTree({ level, start, stop, parent: new Int32Array(n).fill(-1),
        edges: new Int32Array(0), levels_total: 1 });
      const weight = new Float32Array(n);
      const hits = [0, 4999, 7321, 19999];
      hits.forEach((id, i) => { weight[id] = 0.1 + i; });
      const boxes = m.visibleBoxes(tree, { x0: 0, x1: n }, 500, weight);
      const found = hits.map((id) => m.boxAt(boxes, 0, (id + 0.5) / n * 500, 0));
      return { hits, found, painted: boxes.id.length, inView: boxes.inView,
        widths: [...new Set(boxes.w)] };
    """
    result = run(module, body)
    assert result["found"] == result["hits"]
    assert (result["painted"], result["inView"]) == (500, 20000)
    assert result["widths"] == [1]


def test_only_what_is_in_view_is_painted(module: Path) -> None:
    body = TREE + "return m.visibleBoxes(tree, { x0: 1.5, x1: 2.5 }, 100, null);"
    boxes = run(module, body)
    assert boxes["id"] == [1, 2, 4, 5, 6]
    assert boxes["x"] == [0, 50, 0, 50, 0]
    assert boxes["w"] == [50, 50, 50, 50, 100]


def test_zoom_keeps_the_unit_under_the_pointer_and_stays_inside(module: Path) -> None:
    body = """
      const view = m.zoomView({ x0: 0, x1: 100 }, 4, 30, 100);
      return [view, m.zoomView(view, 1000, 30, 100), m.zoomView(view, 0.001, 30, 100),
        m.clampView(-5, 5, 100), m.clampView(0, 1, 1), m.clampView(0, Infinity, 10)];
    """
    zoomed, deepest, whole, left, single, all_units = run(module, body)
    share = (30 - zoomed["x0"]) / (zoomed["x1"] - zoomed["x0"])
    assert share == pytest.approx(0.3)
    assert deepest["x1"] - deepest["x0"] == pytest.approx(3)
    assert whole == {"x0": 0, "x1": 100}
    assert left["x0"] == 0
    assert single == {"x0": 0, "x1": 1}
    assert all_units == {"x0": 0, "x1": 10}


def test_sessions_become_runs(module: Path) -> None:
    runs = run(module, "return m.sessionRuns([0, 0, 1, 0, -1, -1]);")
    assert [(r["session"], r["start"], r["stop"]) for r in runs] == [
        (0, 0, 2),
        (1, 2, 3),
        (0, 3, 4),
        (-1, 4, 6),
    ]


@pytest.mark.parametrize("count", [1, 7, 31, 400])
def test_axis_labels_never_touch(module: Path, count: int) -> None:
    body = """
      const w = 800 / count;
      const items = Array.from({ length: count }, (_, i) => ({ x: i * w, w, text: `S${i + 1}` }));
      const measure = (text) => text.length * 7;
      return m.placeLabels(items, measure, 800)
        .map(({ item, x }) => [x - measure(item.text) / 2, x + measure(item.text) / 2]);
    """
    placed = run(module, body, count=count)
    assert placed
    assert placed[0][0] >= 0
    assert placed[-1][1] <= 800
    assert all(a[1] <= b[0] for a, b in pairwise(placed))


def test_candidate_lines_are_spread_but_keep_their_order(module: Path) -> None:
    placed = run(module, "return m.spread([10, 11, 12, 90], 16, 0, 100);")
    assert placed == [10, 26, 42, 90]
    low = run(module, "return m.spread([95, 96, 97], 16, 0, 100);")
    assert low == [60, 76, 92]


def test_numbers_never_hide_which_side_of_the_threshold(module: Path) -> None:
    body = """
      return [m.comparison(0.41, 0.38), m.comparison(0.3799, 0.3801), m.comparison(0.38, 0.38),
        m.comparison(0.5, null), m.comparison(null, null), m.comparison(-3.2, 0),
        m.comparison(0.086, -0.001),
        m.number(0), m.number(0.0421), m.number(1234567), m.number(1e-9)];
    """
    assert run(module, body) == [
        "0.41 ≥ 0.38",
        "0.3799 < 0.3801",
        "0.38 ≥ 0.38",
        "0.50",
        "",
        "−3.20 < 0.00",
        "0.09 ≥ 0.00",
        "0",
        "0.042",
        "1.2e+6",
        "1.0e-9",
    ]


def test_text_is_cut_between_what_a_reader_sees_as_characters(module: Path) -> None:
    body = """
      return [m.cutText(family.repeat(20), 5), m.cutText("word ".repeat(20), 23),
        m.cutText("short", 10), m.isolate("a\\u202eb\\nc"), m.isolate(""),
        m.cutText("x".repeat(400), 280).length];
    """
    cut, words, short, isolated, empty, length = run(module, body, family=FAMILY)
    assert cut == FAMILY * 5 + "…"
    assert words == "word word word word…"
    assert short == "short"
    assert isolated == "\u2068a b c\u2069"
    assert empty == ""
    assert length == 281


def test_colour_helpers(module: Path) -> None:
    body = """
      const table = m.rampTable(["#000000", "#ffffff"]);
      return [m.mix("#ff0000", "#000000", 0.5), table[0], table[128], table[255],
        m.rampIndex(0.25, 1), m.rampIndex(0.25, 1, 0.5), m.rampIndex(-1, 1),
        m.rampIndex(NaN, 1), m.rampIndex(1, 0), m.rampIndex(9, 1),
        [-2, -1, 0, 0.0625, 1, 2].map((change) => m.changeIndex(change, 1, 0.25)),
        [0, 1, 52].map((level) => m.levelStrength(level, 53) > 0.3)];
    """
    assert run(module, body) == [
        "#800000",
        "#000000",
        "#808080",
        "#ffffff",
        64,
        128,
        0,
        0,
        0,
        255,
        [0, 0, 128, 192, 255, 255],
        [True, True, True],
    ]


def test_candidate_bars_share_one_scale(module: Path) -> None:
    shares = run(module, "return [-9, -0.25, 0, 0.13, 0.41, 1, 9].map(m.barShare);")
    assert shares == pytest.approx([0, 0, 0.2, 0.304, 0.528, 1, 1])


def test_the_gutter_says_what_it_shows(module: Path) -> None:
    body = """
      const row = (score, threshold, label) => ({ score, threshold, label });
      return [[row(0.4, 0.3, "")], [row(0.4, null, "x")], [row(null, null, "yes")], []]
        .map(m.gutterTitle);
    """
    assert run(module, body) == ["similarity ≥ needed", "similarity", "label · ✓ taken", ""]


GUTTER = """
const row = (node, score = null, label = "") =>
  ({ node, level: node, score, threshold: null, label });
const rows = (candidates, chosen, outcome, room) => {
  const { shown, hidden } = m.gutterRows({ candidates, chosen, outcome }, room);
  return [shown.map((r) => [r.label || r.node, r.taken]), hidden];
};
"""


def test_the_gutter_tells_what_was_taken_from_what_was_offered(module: Path) -> None:
    body = (
        GUTTER
        + """
      const offered = [row(1, null, "MERGE_1"), row(2, null, "MERGE_2")];
      const none = { text: "none: new root", level: 3 };
      return [rows(offered, 2, null, 9), rows(offered, null, none, 9)];
    """
    )
    assert run(module, body) == [
        [[["MERGE_1", False], ["MERGE_2", True]], 0],
        [[["MERGE_1", False], ["MERGE_2", False], ["none: new root", True]], 0],
    ]


def test_a_full_gutter_keeps_the_best_and_the_outcome(module: Path) -> None:
    body = (
        GUTTER
        + """
      const many = [0.2, 0.9, 0.1, 0.5, 0.4].map((score, i) => row(i + 1, score));
      const none = { text: "none taken", level: 5 };
      return [rows(many, 3, null, 3), rows(many, null, none, 4), rows(many, null, none, 0)];
    """
    )
    assert run(module, body) == [
        [[[2, False], [3, True]], 3],
        [[[2, False], [4, False], ["none taken", True]], 3],
        [[["none taken", True]], 5],
    ]


MARKS = """
const marks = (mode, width, changes) => {
  const tree = m.buildTree({
    level: Int32Array.from([0, 0]), start: Int32Array.from([0, 1]),
    stop: Int32Array.from([1, 2]), parent: Int32Array.from([-1, -1]),
    edges: new Int32Array(0), levels_total: 1,
  });
  const geom = m.geometry(800, 300, mode, false, tree.laneCount);
  const s = { tree, geom, picture: mode, runs: [], shades: ["initial", "propagated"],
    search: m.createSearch(), kin: {}, linked: { leaves: [], above: [] },
    selected: null, focus: null, hover: null, fadeFrom: 0,
    view: { x0: 0, x1: (2 * geom.width) / width }, over: { matches: () => false },
    stage: { clientHeight: 300 }, most: 1,
    theme: { accent: "accent", text: "text", background: "#ffffff", font: "f",
      table: m.rampTable(["#000000", "#ffffff"]) },
    data: { mode, frontier: [], revised: [], added: [], chosen: null, gold: [],
      top_initial: [], top_final: [], initial: [1, 1], final: [1, 1], ...changes } };
  const rect = m.nodeRect(s, 0, 1);
  const ops = [];
  let dash = [];
  const ctx = new Proxy({}, {
    get: (target, name) => name === "measureText" ? () => ({ width: 6 })
      : name in target ? target[name]
      : (...args) => {
        if (name === "setLineDash") dash = args[0];
        else if (["fill", "fillRect", "strokeRect", "moveTo", "lineTo", "stroke"].includes(name))
          ops.push([name, ...args, ...(name === "stroke" ? [dash.length] : [])]);
      },
    set: (target, name, value) => { target[name] = value; return true; },
  });
  m.drawOver(s, ctx);
  return { rect, ops };
};
"""
STATES = [{"frontier": [1]}, {"revised": [1]}, {"added": [1]}, {"chosen": 1}]


def covered(rect: dict[str, float], ops: list[list[Any]]) -> bool:
    """Does a mark cross the inside of the box?"""
    points = [op[1:3] for op in ops if op[0] in ("moveTo", "lineTo")]
    inside = [
        rect["x"] < x < rect["x"] + rect["w"] and rect["y"] + 1 < y < rect["y"] + rect["h"] - 2
        for x, y in points
    ]
    return any(inside) or any(op[0] == "fillRect" for op in ops)


@pytest.mark.parametrize("width", [2, 5, 7])
def test_marks_of_narrow_boxes_leave_the_fill_free_and_differ_in_shape(
    module: Path, width: int
) -> None:
    body = MARKS + "return states.map((state) => marks('grow', width * 2, state));"
    drawn = run(module, body, states=STATES, width=width)
    shapes = [json.dumps(item["ops"]) for item in drawn]
    assert len(set(shapes)) == len(shapes)  # colours are not in there
    for item in drawn:
        assert item["rect"]["w"] == pytest.approx(width)
        assert item["ops"]
        assert not covered(item["rect"], item["ops"])
    top = run(module, MARKS + "return marks('scores', width * 2, {top_initial: [1]});", width=width)
    assert not covered(top["rect"], top["ops"])
    assert ["fill"] in top["ops"]  # the triangle


def test_wide_boxes_keep_their_outline(module: Path) -> None:
    body = MARKS + "return states.map((state) => marks('grow', 200, state).ops);"
    assert all("strokeRect" in [op[0] for op in ops] for ops in run(module, body, states=STATES))


def test_signs_in_one_row_do_not_lie_on_each_other(module: Path) -> None:
    body = """
      const places = [[0, 9], [0, 3], [0, 0], [5, 1], [0, 7]];
      return m.spaced(places.map(([y, x]) => ({ x, y, w: 2 })));
    """
    kept = run(module, body)
    assert [(r["y"], r["x"]) for r in kept] == [(0, 0), (0, 7), (5, 1)]
