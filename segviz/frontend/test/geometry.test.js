// Rows, layout, boxes and zoom: the pure geometry of the canvas.

import assert from "node:assert/strict";
import { test } from "node:test";

import { boxAt, eachBox, nodeRect, rowRect, visibleBoxes } from "../src/canvas/boxes.js";
import { geometry, rowAt, rowBox } from "../src/canvas/geometry.js";
import { placeLabels } from "../src/canvas/margin.js";
import { assignLanes, neighbour } from "../src/canvas/rows.js";
import { ancestors } from "../src/shared/links.js";
import { clampView, zoomView } from "../src/canvas/view.js";
import { treeOf } from "./scene.js";

//       6            level 2
//   4       5        level 1
// 0   1   2   3      leaves; node 7 is retired
const tree = treeOf({ level: [0, 0, 0, 0, 1, 1, 2, -1], start: [0, 1, 2, 3, 0, 2, 0, 0],
  stop: [1, 2, 3, 4, 2, 4, 4, 1], parent: [4, 4, 5, 5, 6, 6, -1, -1] });

/** A row of n leaves. */
const leaves = (n, top = undefined) => treeOf({ level: new Int32Array(n), top, start: numbers(n),
  stop: numbers(n, 1), parent: new Int32Array(n).fill(-1) });
const numbers = (n, from = 0) => Int32Array.from({ length: n }, (_, i) => from + i);

const close = (a, b, within = 1e-9) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);

test("rows hold active nodes in order", () => {
  assert.deepEqual(tree.rows, [[0, 1, 2, 3], [4, 5], [6]]);
  assert.equal(tree.active, 7);
});

test("overlapping spans get lanes", () => {
  const { lanes, count } = assignLanes([0, 1, 2, 3], [0, 1, 4, 5], [4, 6, 5, 9]);
  assert.deepEqual([...lanes], [0, 1, 0, 0]);
  assert.equal(count, 2);
});

test("arrow keys walk the tree", () => {
  const walk = (node, ...keys) => keys.reduce((at, key) => neighbour(tree, at, key), node);
  assert.deepEqual([
    walk(0, "ArrowUp"), walk(0, "ArrowUp", "ArrowUp"), walk(6, "ArrowUp"),
    walk(6, "ArrowDown"), walk(5, "ArrowDown"), walk(0, "ArrowDown"),
    walk(1, "ArrowRight"), walk(3, "ArrowRight"), walk(0, "ArrowLeft"), walk(5, "ArrowLeft"),
    walk(6, "Home"), walk(6, "End"),
  ], [4, 6, 6, 4, 2, 0, 2, 3, 0, 4, 0, 3]);
});

test("ancestors follow every parent once, even around a cycle", () => {
  const ring = { parents: new Map([[0, [1, 2]], [1, [3]], [2, [3]], [3, [0]]]) };
  assert.deepEqual(ancestors(ring, 0).sort(), [1, 2, 3]);
});

for (const mode of ["grow", "scores", "change"]) {
  test(`layout fills without overlap: ${mode}`, () => {
    for (const levels of [1, 3, 8, 53]) {
      const lanes = new Array(levels).fill(1);
      const g = geometry(800, 420, mode, false, lanes);
      const upper = lanes.map((_, level) => rowBox(g, 0, level));
      assert.equal(upper[0].y + upper[0].h, g.axisTop); // leaves stand on the axis
      assert.ok(upper.at(-1).y >= 0);
      for (let i = 1; i < levels; i++) assert.equal(upper[i].y + upper[i].h, upper[i - 1].y);
      if (mode !== "scores") continue;
      const lower = lanes.map((_, level) => rowBox(g, 1, level));
      assert.ok(lower.at(-1).y + lower.at(-1).h <= 420);
      const mirrored = upper.map(({ y, h }) => 2 * g.axisTop + g.axisHeight - y - h);
      assert.deepEqual(lower.map(({ y }) => y), mirrored);
    }
  });
}

test("the hit test is the inverse of the layout", () => {
  for (const mode of ["grow", "scores", "change"]) {
    for (const width of [300, 1000]) {
      const g = geometry(width, 400, mode, false, tree.laneCount);
      const boxes = visibleBoxes(tree, { x0: 0, x1: 4 }, g.width, null);
      for (let half = 0; half < g.halves; half++) {
        for (let node = 0; node < 7; node++) {
          const { y, h } = rowBox(g, half, tree.level[node]);
          const x = ((tree.start[node] + tree.stop[node]) / 2 / 4) * g.width;
          const at = rowAt(g, tree, y + h / 2);
          assert.equal(at.half, half);
          assert.equal(boxAt(boxes, at.row, x), node);
        }
      }
      assert.equal(rowAt(g, tree, g.axisTop + 5), null);
      assert.equal(rowAt(g, tree, -1), null);
    }
  }
});

test("aggregation keeps the brightest", () => {
  const n = 20000;
  const weight = new Float32Array(n);
  const hits = [0, 4999, 7321, 19999];
  hits.forEach((id, i) => { weight[id] = 0.1 + i; });
  const boxes = visibleBoxes(leaves(n), { x0: 0, x1: n }, 500, weight);
  assert.deepEqual(hits.map((id) => boxAt(boxes, 0, ((id + 0.5) / n) * 500, 0)), hits);
  assert.deepEqual([boxes.id.length, boxes.inView], [500, 20000]);
  assert.deepEqual([...new Set(boxes.w)], [1]);
});

//     4         level 2
//   3     2     level 1; node 2 is a same-text chain of levels 0 and 1
// 0   1   2     leaves
const chained = (changes = {}) => treeOf({ level: [0, 0, 0, 1, 2], top: [0, 0, 1, 1, 2],
  start: [0, 1, 2, 0, 0], stop: [1, 2, 3, 2, 3], parent: [3, 3, 4, 4, -1], ...changes });

/** What is painted of a tree: the node of each box and the levels it lies on. */
function painted(grown, picture, half) {
  const geom = geometry(900, 400, picture, false, grown.laneCount);
  const view = { x0: 0, x1: 3 };
  const boxes = visibleBoxes(grown, view, geom.width, null);
  const s = { scene: { tree: grown }, sight: { view, geom, boxes: [boxes, boxes] } };
  const found = [];
  eachBox(s, half, (i, { y, h }, row) => {
    const covers = [0, 1, 2].filter((level) => {
      const at = rowBox(geom, half, level);
      return y <= at.y && y + h >= at.y + at.h;
    });
    found.push([boxes.id[i], covers]);
    const whole = nodeRect(s, half, boxes.id[i]);
    assert.deepEqual([whole.y, whole.h, rowRect(s, half, boxes.id[i]).y], [y, h, row.y]);
  });
  return { found, boxes, geom };
}

for (const [picture, half] of [["grow", 0], ["scores", 0], ["scores", 1], ["change", 0]]) {
  test(`a same-text chain is one box: ${picture}, half ${half}`, () => {
    const grown = chained();
    const { found, boxes, geom } = painted(grown, picture, half);
    assert.deepEqual(found, [[0, [0]], [1, [0]], [2, [0, 1]], [3, [1]], [4, [2]]]);
    assert.deepEqual([boxes.shown, boxes.inView], [5, 5]);
    for (const [level, node] of [[0, 2], [1, 2], [2, 4]]) {
      const { y, h } = rowBox(geom, half, level);
      assert.equal(boxAt(boxes, rowAt(geom, grown, y + h / 2).row, 0.9 * geom.width), node);
    }
  });
}

test("a chain is one node for keys and counts", () => {
  const grown = chained();
  assert.deepEqual(grown.byLevel, [[0, 1, 2], [3], [4]]);
  assert.deepEqual([neighbour(grown, 2, "ArrowUp"), neighbour(grown, 4, "ArrowDown"),
    neighbour(grown, 3, "ArrowRight"), neighbour(grown, 1, "ArrowRight")], [4, 3, 3, 2]);
  assert.equal(chained({ level: [0, 0, 0, 0, -1], top: [0, 0, 2, 0, -1] }).highest, 2);
});

test("only what is in view is painted", () => {
  const { id, x, w } = visibleBoxes(tree, { x0: 1.5, x1: 2.5 }, 100, null);
  assert.deepEqual(id, [1, 2, 4, 5, 6]);
  assert.deepEqual(x, [0, 50, 0, 50, 0]);
  assert.deepEqual(w, [50, 50, 50, 50, 100]);
});

test("zoom keeps the unit under the pointer and stays inside", () => {
  const zoomed = zoomView({ x0: 0, x1: 100 }, 4, 30, 100);
  close((30 - zoomed.x0) / (zoomed.x1 - zoomed.x0), 0.3);
  const deepest = zoomView(zoomed, 1000, 30, 100);
  close(deepest.x1 - deepest.x0, 3);
  assert.deepEqual(zoomView(zoomed, 0.001, 30, 100), { x0: 0, x1: 100 });
  assert.equal(clampView(-5, 5, 100).x0, 0);
  assert.deepEqual(clampView(0, 1, 1), { x0: 0, x1: 1 });
  assert.deepEqual(clampView(0, Infinity, 10), { x0: 0, x1: 10 });
});

test("labels too wide for their bands stand where there is room beside others", () => {
  const w = 20;
  const items = Array.from({ length: 19 }, (_, i) => ({ x: i * w, w, text: `S${i + 1}` }));
  const placed = placeLabels(items, (text) => text.length * 8, 19 * w).map(({ item }) => item.text);
  assert.deepEqual(placeLabels(items, () => 400, 19 * w).length, 0);
  // S1 to S9 take 16 of their 20 pixels, the others 24: every second one has room.
  assert.deepEqual(placed.slice(0, 9), ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9"]);
  assert.deepEqual(placed.slice(9), ["S11", "S13", "S15", "S17", "S19"]);
});
