// The outline: rows, what is open, keys, typing.

import assert from "node:assert/strict";
import { test } from "node:test";

import { buildForest, countBelow, createOpen, listRows, openTo, press } from "../src/outline/rows.js";
import { pathTo } from "../src/shared/links.js";

/** 4 and 5 are over leaves; leaf 2 has both as parents; 7 is retired; 6 is over all. */
function small() {
  const level = Int32Array.from([0, 0, 0, 0, 1, 1, 2, -1]);
  const edges = Int32Array.from([4, 0, 4, 1, 4, 2, 5, 2, 5, 3, 6, 4, 6, 5]);
  const forest = buildForest({ level, edges });
  const state = createOpen(forest);
  const nodes = () => listRows(forest, state).map((row) => row.node ?? "more");
  return { forest, state, nodes };
}

test("parents, children, paths and what lies below", () => {
  const { forest } = small();
  assert.deepEqual([...forest.roots], [6]);
  assert.deepEqual(forest.children.get(4), [0, 1, 2]);
  assert.deepEqual(forest.parents.get(2), [4, 5]);
  assert.deepEqual(pathTo(forest, 3), [6, 5, 3]);
  // Counted once where two ways lead to it.
  assert.deepEqual(Object.fromEntries(countBelow(forest, [2, 0])), { 4: 2, 5: 1, 6: 2 });
});

test("a single root is open, and occurrences open apart", () => {
  const { forest, state, nodes } = small();
  assert.deepEqual(nodes(), [6, 4, 5]);
  state.opened.add("/6/5");
  assert.deepEqual(nodes(), [6, 4, 5, 2, 3]);
  assert.deepEqual(listRows(forest, state).map((r) => [r.position, r.size, r.depth]),
    [[1, 1, 1], [1, 2, 2], [2, 2, 2], [1, 2, 3], [2, 2, 3]]);
});

test("keys walk the rows", () => {
  const { forest, state } = small();
  state.opened.add("/6/4");
  const rows = listRows(forest, state);
  for (const [at, key, act] of [
    [0, "ArrowRight", { to: 1 }],
    [1, "ArrowRight", { to: 2 }],
    [5, "ArrowRight", { toggle: true }], // closed: opens
    [2, "ArrowRight", null], // a leaf
    [2, "ArrowLeft", { to: 1 }], // to the parent
    [1, "ArrowLeft", { toggle: true }], // open: closes
    [5, "ArrowLeft", { to: 0 }],
    [0, "ArrowUp", { to: 0 }],
    [5, "ArrowDown", { to: 5 }],
    [2, "Home", { to: 0 }],
    [2, "End", { to: 5 }],
    [2, "x", null],
  ]) assert.deepEqual(press(rows, at, key), act, `${key} at ${at}`);
});

test("a long list is shown in parts", () => {
  const level = new Int32Array(1001);
  level[1000] = 1;
  const edges = new Int32Array(2000).map((_, i) => (i % 2 ? (i - 1) / 2 : 1000));
  const forest = buildForest({ level, edges });
  const state = createOpen(forest);
  const rows = () => listRows(forest, state);
  const brief = () => rows().map((r) => (r.more ? [r.shown, r.size] : r.node));
  const run = (to) => Array.from({ length: to }, (_, i) => i);
  assert.deepEqual(brief(), [1000, ...run(300), [300, 1000]]);
  openTo(forest, state, 900);
  assert.deepEqual(brief(), [1000, ...run(901), [901, 1000]]);
  openTo(forest, state, 20); // what is shown stays
  assert.equal(rows().length, 903);
});

test("to the end of a chain of 100,000 the way is not opened", () => {
  const n = 100000;
  const level = Int32Array.from({ length: n }, (_, i) => i);
  const edges = new Int32Array(2 * (n - 1));
  for (let i = 1; i < n; i++) edges.set([i, i - 1], 2 * i - 2);
  const forest = buildForest({ level, edges });
  const state = createOpen(forest);
  const rows = () => listRows(forest, state);
  openTo(forest, state, 5);
  assert.equal(rows().length, 2);
  openTo(forest, state, n - 100);
  assert.equal(rows().at(-1).node, n - 100);
  assert.equal(countBelow(forest, [0, 1]).get(n - 1), 2);
});
