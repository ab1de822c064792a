import assert from "node:assert/strict";
import test from "node:test";

import { clockAxis, leftOf, rightOf, unitAt } from "../src/canvas/axis.js";
import { buildTree, sessionRuns } from "../src/canvas/rows.js";

const WAITS = Float32Array.of(0, 0, 1.5, 0, 0.5);

test("without waits the axis is by order", () => {
  assert.equal(clockAxis(new Float32Array(0)), null);
  assert.deepEqual([leftOf(null, 3), rightOf(null, 3), unitAt(null, 2.7)], [3, 3, 2]);
});

test("by clock units are equally wide and the axis is as long as by order", () => {
  const axis = clockAxis(WAITS);
  let at = 0;
  for (const [unit, wait] of WAITS.entries()) {
    at += wait;
    assert.ok(Math.abs(axis.left[unit] - at) < 1e-9);
    at += (WAITS.length - 2) / WAITS.length;
    assert.ok(Math.abs(axis.right[unit] - at) < 1e-9);
  }
  assert.ok(Math.abs(at - WAITS.length) < 1e-9);
  assert.equal(leftOf(axis, WAITS.length), WAITS.length);
});

test("the unit at a place is the last that begins there or before", () => {
  const axis = clockAxis(WAITS);
  for (let place = -0.5; place < 6; place += 0.05) {
    const slow = axis.left.reduce((last, left, unit) => (left <= place ? unit : last), 0);
    assert.equal(unitAt(axis, place), slow);
  }
});

test("nodes and sessions begin with their first unit and end with their last", () => {
  const axis = clockAxis(WAITS);
  const data = { level: [0, 0, 1], top: [0, 0, 1], start: Int32Array.of(0, 2, 0), stop: Int32Array.of(1, 3, 3),
    parent: Int32Array.of(2, 2, -1), edges: [], levels_total: 2 };
  const { left, right } = buildTree(data, axis);
  assert.deepEqual([...left], [0, axis.left[2], 0]);
  assert.deepEqual([...right], [axis.right[0], axis.right[2], axis.right[2]]);
  const runs = sessionRuns([0, 0, 1, 1, 1], axis);
  assert.deepEqual(runs.map((run) => [run.left, run.right]),
    [[0, axis.right[1]], [axis.left[2], axis.right[4]]]);
});
