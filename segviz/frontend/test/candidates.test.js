// The candidates of a step, right of the tree.

import assert from "node:assert/strict";
import { test } from "node:test";

import { barRange, candidateRows, candidatesTitle } from "../src/canvas/candidates.js";
import { spread } from "../src/canvas/geometry.js";

const row = (node, score = null, label = "") =>
  ({ node, level: node, score, threshold: null, label });
const rows = (offered, chosen, outcome, room) => {
  const candidates = offered.map((each) => ({ ...each, taken: each.node === chosen }));
  const { shown, hidden } = candidateRows({ candidates, outcome }, room);
  return [shown.map((r) => [r.label || r.node, r.taken]), hidden];
};

test("lines are spread but keep their order", () => {
  assert.deepEqual(spread([10, 11, 12, 90], 16, 0, 100), [8, 24, 40, 90]);
  assert.deepEqual(spread([60, 52, 30], 16, 0, 100), [64, 48, 30]); // around their mean
  assert.deepEqual(spread([95, 96, 97], 16, 0, 100), [60, 76, 92]);
});

test("the bars of a step reach over all its numbers and zero", () => {
  const one = (score, threshold) => ({ score, threshold });
  assert.deepEqual(barRange([one(0.3, 0.2), one(0.25, -0.2), one(null, null)]), [-0.2, 0.3]);
  assert.deepEqual(barRange([one(0.05, 0.02)]), [0, 0.1]);
  // Beyond: a threshold passed by far. One that is missed is always within.
  assert.deepEqual(barRange([one(0.17, 0.04), one(-0.05, -0.55)]), [-0.05, 0.17]);
  assert.deepEqual(barRange([one(-0.3, -0.2), one(0.1, 0.54)]), [-0.3, 0.54]);
});

test("the column says what it shows", () => {
  const one = (score, threshold, label) => ({ score, threshold, label });
  assert.deepEqual([[one(0.4, 0.3, "")], [one(0.4, null, "x")], [one(null, null, "yes")], []]
    .map(candidatesTitle), ["similarity | needed", "similarity", "label · ✓ taken", ""]);
});

test("what was taken is told from what was offered", () => {
  const offered = [row(1, null, "MERGE_1"), row(2, null, "MERGE_2")];
  const none = { text: "none: new root", level: 3 };
  assert.deepEqual(rows(offered, 2, null, 9), [[["MERGE_1", false], ["MERGE_2", true]], 0]);
  assert.deepEqual(rows(offered, null, none, 9),
    [[["MERGE_1", false], ["MERGE_2", false], ["none: new root", true]], 0]);
});

test("a full column keeps the best and the outcome", () => {
  const many = [0.2, 0.9, 0.1, 0.5, 0.4].map((score, i) => row(i + 1, score));
  const none = { text: "none taken", level: 5 };
  assert.deepEqual(rows(many, 3, null, 3), [[[2, false], [3, true]], 3]);
  assert.deepEqual(rows(many, null, none, 4), [[[2, false], [4, false], ["none taken", true]], 3]);
  assert.deepEqual(rows(many, null, none, 0), [[["none taken", true]], 5]);
});
