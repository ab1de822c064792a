// Overview, way back, slide, path and what lies below a node.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pathEnds } from "../src/canvas/toolbar.js";
import { descendantRuns } from "../src/canvas/lineage.js";
import { pathTo } from "../src/shared/links.js";
import { frameOf } from "../src/canvas/overview.js";
import { between, createHistory, goBack, remember } from "../src/canvas/view.js";
import { randomly } from "./random.js";
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

// --- way back ----------------------------------------------------------------------------

function wayBack() {
  const history = createHistory();
  return {
    history,
    leave: (left, kind, now) => remember(history, left, 100, kind, now),
    back: (present, total = 100) => goBack(history, present, total),
  };
}

test("a burst of one kind is one move", () => {
  const { leave, back } = wayBack();
  leave(view(0, 100), "wheel", 0);
  leave(view(0, 90), "wheel", 300);
  leave(view(0, 80), "wheel", 900);
  leave(view(0, 70), "fit", 1000);
  leave(view(5, 70), "wheel", 9000);
  assert.deepEqual([back(view(1, 9)), back(view(5, 70)), back(view(0, 70)), back(view(0, 100))],
    [view(5, 70), view(0, 70), view(0, 100), null]);
});

test("where one already is is passed over", () => {
  const { leave, back } = wayBack();
  leave(view(0, 100), "zoom", 0);
  leave(view(10, 20), "fit", 1);
  assert.deepEqual(back(view(10, 20)), view(0, 100));
});

test("the way back stays inside a conversation of another length", () => {
  const { leave, back } = wayBack();
  leave(view(0, 100), "zoom", 0);
  leave(view(70, 90), "fit", 1);
  assert.deepEqual([back(view(1, 2), 80), back(view(1, 2), 160)], [view(60, 80), view(0, 160)]);
});

test("a slide begins at one view and ends at the other", () => {
  const steps = [-1, 0, 0.3, 0.9, 1, 7].map((share) => between(view(0, 100), view(40, 60), share));
  assert.deepEqual([steps[0], steps[1]], [view(0, 100), view(0, 100)]);
  assert.deepEqual([steps[4], steps[5]], [view(40, 60), view(40, 60)]);
  const places = steps.map(({ x0 }) => x0);
  assert.deepEqual(places, [...places].sort((a, b) => a - b));
});

// --- lineage -----------------------------------------------------------------------------

/** A random tree of intervals as the canvas gets it. */
function grown(seed) {
  const random = randomly(seed);
  const columns = { level: [], start: [], stop: [], parent: [] };
  const add = (level, start, stop) => {
    [level, start, stop, -1].forEach((value, i) => Object.values(columns)[i].push(value));
    return columns.level.length - 1;
  };
  let row = Array.from({ length: random.whole(5, 40) }, (_, unit) => add(0, unit, unit + 1));
  for (let depth = 1; row.length > 1; depth++) {
    const above = [];
    while (row.length) {
      const children = row.splice(0, random.whole(2, 4));
      const node = add(depth, columns.start[children[0]], columns.stop[children.at(-1)]);
      for (const child of children) columns.parent[child] = node;
      above.push(node);
    }
    row = above;
  }
  return columns;
}

for (let seed = 0; seed < 3; seed++) {
  test(`runs cover exactly the descendants, ${seed}`, () => {
    const columns = grown(seed);
    const { level, start, stop, parent } = columns;
    const tree = treeOf(columns);
    for (let node = 0; node < level.length; node++) {
      const below = new Set([node]);
      for (let child = node - 1; child >= 0; child--) {
        if (below.has(parent[child])) below.add(child);
      }
      below.delete(node);
      const places = (row, from, to) =>
        Array.from({ length: to - from }, (_, i) => `${row} ${from + i}`);
      const members = new Set([...below].flatMap(
        (id) => places(tree.rowOf[id], start[id], stop[id])));
      const covered = descendantRuns(tree, node)
        .flatMap((run) => places(run.row, run.start, run.stop));
      assert.equal(covered.length, new Set(covered).size);
      assert.deepEqual(new Set(covered), members);
    }
  });
}

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
