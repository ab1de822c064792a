// The outline: rows, what is open, keys, typing.

import assert from "node:assert/strict";
import { test } from "node:test";

import component from "../src/outline/index.js";
import {
  buildForest, childrenOf, countBelow, createOpen, findTyped, listRows, openTo, parentsOf, pathTo,
  press, showMore, unitsBelow,
} from "../src/outline/rows.js";

/** 4 and 5 are over leaves; leaf 2 has both as parents; 7 is retired; 6 is over all. */
function small() {
  const level = Int32Array.from([0, 0, 0, 0, 1, 1, 2, -1]);
  const edges = Int32Array.from([4, 0, 4, 1, 4, 2, 5, 2, 5, 3, 6, 4, 6, 5]);
  const forest = buildForest({ level, edges });
  const state = createOpen(forest);
  const nodes = () => listRows(forest, state).map((row) => row.node ?? `more${row.more}`);
  const spans = { start: Int32Array.from([0, 1, 2, 3, 0, 2, 0, 0]),
    stop: Int32Array.from([1, 2, 3, 4, 3, 4, 4, 1]) };
  return { forest, state, nodes, spans };
}

test("the default export is the component", () => assert.equal(typeof component, "function"));

test("parents, children, paths and what lies below", () => {
  const { forest, spans } = small();
  assert.deepEqual([...forest.roots], [6]);
  assert.deepEqual([...childrenOf(forest, 4)], [0, 1, 2]);
  assert.deepEqual([...parentsOf(forest, 2)], [4, 5]);
  assert.deepEqual(pathTo(forest, 3), [6, 5, 3]);
  // Counted once where two ways lead to it.
  assert.deepEqual(Object.fromEntries(countBelow(forest, [2, 0])), { 4: 2, 5: 1, 6: 2 });
  assert.deepEqual(unitsBelow(forest, spans, 5), [[2, 4]]);
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

test("typing finds the next row that begins so", () => {
  const words = ["the boat", "a bakery", "the thesis", "boats"];
  const rows = words.map((_, i) => ({ node: i }));
  const find = (at, typed) => findTyped(rows, at, typed, (row) => words[row.node]);
  // Letter by letter the same row may stay; "bak" begins no row, but a word in one.
  assert.deepEqual([find(0, "t"), find(2, "t"), find(0, "b"), find(0, "the b"), find(1, "z"),
    find(3, "bak")], [2, 0, 3, 0, -1, 1]);
});

test("a long list is shown in parts", () => {
  const level = new Int32Array(1001);
  level[1000] = 1;
  const edges = new Int32Array(2000).map((_, i) => (i % 2 ? (i - 1) / 2 : 1000));
  const forest = buildForest({ level, edges });
  const state = createOpen(forest);
  const rows = () => listRows(forest, state);
  const brief = () => rows().map((r) => (r.more ? [r.more, r.hidden, r.shown, r.size] : r.node));
  const run = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
  assert.deepEqual(brief(), [1000, ...run(0, 300), [1, 700, 300, 1000]]);
  showMore(state, rows().at(-1));
  assert.deepEqual(brief(), [1000, ...run(0, 600), [1, 400, 600, 1000]]);
  openTo(forest, state, 900);
  assert.deepEqual(brief(), [1000, [-1, 700, 300, 1000], ...run(700, 1000)]);
  showMore(state, rows()[1]);
  assert.deepEqual(brief(), [1000, [-1, 400, 600, 1000], ...run(400, 1000)]);
});

test("opening to a node opens what lies above it", () => {
  const { forest, state, nodes } = small();
  state.opened.clear();
  assert.deepEqual(openTo(forest, state, 3), ["/6", "/6/5"]);
  assert.deepEqual(nodes(), [6, 4, 5, 2, 3]);
  assert.deepEqual(openTo(forest, state, 3), []);
});

test("a chain of 100,000 is bounded", () => {
  const n = 100000;
  const level = Int32Array.from({ length: n }, (_, i) => i);
  const edges = new Int32Array(2 * (n - 1));
  for (let i = 1; i < n; i++) edges.set([i, i - 1], 2 * i - 2);
  const forest = buildForest({ level, edges });
  const state = createOpen(forest);
  const rows = () => listRows(forest, state);
  for (let i = 0; i < 50; i++) state.opened.add(rows().at(-1).key);
  assert.equal(rows().length, 24);
  openTo(forest, state, 5);
  assert.equal(rows().at(-1).node, 5);
  assert.ok(rows().length <= 24);
  openTo(forest, state, n - 3);
  assert.ok(rows().length <= 24);
  assert.equal(state.top, null);
  assert.equal(countBelow(forest, [0, 1]).get(n - 1), 2);
  const spans = { start: new Int32Array(n), stop: new Int32Array(n).fill(1) };
  assert.deepEqual(unitsBelow(forest, spans, n - 1), [[0, 1]]);
});
