// Overview, path and what lies below a node.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pathEnds } from "../src/canvas/toolbar.js";
import { descendantRuns } from "../src/canvas/lineage.js";
import { pathTo } from "../src/shared/links.js";
import { frameOf } from "../src/canvas/overview.js";
import { treeOf } from "./scene.js";

const view = (x0, x1) => ({ x0, x1 });

// --- overview ----------------------------------------------------------------------------

test("the frame lies where the view is and can always be held", () => {
  const frame = (x0, x1, total) => frameOf(view(x0, x1), total, 400);
  assert.deepEqual(frame(50, 100, 200), { x: 100, w: 100 });
  assert.deepEqual(frame(0, 200, 200), { x: 0, w: 400 });
  const [first, last] = [frame(0, 3, 100000), frame(99997, 100000, 100000)];
  assert.equal(first.x, 0);
  assert.equal(last.x + last.w, 400);
  assert.equal(first.w, last.w);
  assert.ok(first.w >= 6);
});

// --- lineage -----------------------------------------------------------------------------

test("runs join neighbours that lie below a node, row by row", () => {
  //   5     6      level 1; leaf 2 is below neither
  // 0 1   2   3 4  leaves
  const tree = treeOf({ level: [0, 0, 0, 0, 0, 1, 1, 2], start: [0, 1, 2, 3, 4, 0, 3, 0],
    stop: [1, 2, 3, 4, 5, 2, 5, 5], parent: [5, 5, -1, 6, 6, 7, 7, -1] });
  const runs = (node) => descendantRuns(tree, node)
    .map(({ row, start, stop }) => [row, start, stop]);
  assert.deepEqual(runs(7), [[0, 0, 2], [0, 3, 5], [1, 0, 2], [1, 3, 5]]);
  assert.deepEqual([runs(5), runs(0)], [[[0, 0, 2]], []]);
  assert.deepEqual(pathTo(tree, 3), [7, 6, 3]);
});

test("a root over very many leaves is one run, and a cycle ends", () => {
  const n = 100000;
  const level = new Int32Array(n + 1);
  level[n] = 1;
  const start = Int32Array.from({ length: n + 1 }, (_, i) => (i < n ? i : 0));
  const stop = Int32Array.from({ length: n + 1 }, (_, i) => (i < n ? i + 1 : n));
  const parent = new Int32Array(n + 1).fill(n);
  parent[n] = -1;
  assert.deepEqual(descendantRuns(treeOf({ level, start, stop, parent }), n), [{ row: 0, level: 0, start: 0, stop: n }]);
  const ring = { parents: new Map([[0, [1]], [1, [2]], [2, [0]]]) };
  assert.deepEqual(pathTo(ring, 0), [2, 1, 0]);
});

test("a deep path is walked and shown by its ends", () => {
  const parents = new Map(Array.from({ length: 100000 }, (_, i) => [i, [i + 1]]));
  const path = pathTo({ parents }, 0);
  assert.equal(path.length, 100001);
  assert.deepEqual(pathEnds(path), [100000, null, 6, 5, 4, 3, 2, 1, 0]);
  assert.deepEqual(pathEnds([1, 2, 3]), [1, 2, 3]);
});
