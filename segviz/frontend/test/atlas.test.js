// The question atlas: the verdict on a dot, and the places of its nodes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { answerOf, placesOf, turnsRead } from "../src/atlas/changes.js";
import { verdictOf } from "../src/shared/verdict.js";

const [OUT, BEFORE, AFTER, NARROW] = [0, 1, 2, 4];
const BOTH = BEFORE + AFTER;

/** Of ten, here two: 0 stays, 1 leaves, 2 (a gold leaf) enters; 3 quotes the other gold turn. */
const rows = [[0, 2, 1, BOTH, [], []], [1, 1, 12, BEFORE, [], []], [2, 17, 2, AFTER + NARROW, [0], []],
  [3, 30, 28, OUT + NARROW, [1], []]];
const verdict = (some, asked = 2) => verdictOf(...answerOf({ rows: some, asked }), (row) => `“${row}”`);

test("the verdict on a dot is the one of Ask", () => {
  assert.deepEqual(verdict(rows), ["better", "Gains 1 gold turn, now 1 of 2: rank 17 → 2 · 1 enters"]);
  const back = rows.map(([name, was, is, flags, turns]) =>
    [name, is, was, (flags & NARROW) | (flags & 1 ? 2 : 0) | (flags & 2 ? 1 : 0), turns, []]);
  assert.deepEqual(verdict(back), ["worse", "Loses 1 gold turn, now 0 of 2: rank 2 → 17 · 1 enters"]);
  const wide = [rows[0], [1, 1, 12, BEFORE, [], []], [2, 9, 2, AFTER, [0], []], [3, 8, 9, NARROW, [0], []]];
  assert.deepEqual(verdict(wide, 1), ["better", "Gains the gold turn, quoted by a wider node: rank 9 → 2 · 1 enters"]);
  const states = wide.with(2, [2, 9, 2, AFTER, [0], [0]]);
  assert.deepEqual(verdict(states, 1), ["better", "Gains the gold turn, answered by “2”, rank 2 · 1 enters"]);
  assert.deepEqual(verdict([[0, 1, 2, BOTH, [], []], [1, 2, 1, BOTH, [], []]], 0), ["same", "Same 2 nodes, 2 swapped"]);
  const goldless = rows.slice(0, 3).map((row) => row.with(4, []));
  assert.deepEqual(verdict(goldless, 0), ["same", "1 of 2 nodes enters"]);
});

test("a text that a budget cuts has what is read of it", () => {
  const cut = rows.with(2, [2, 17, 2, AFTER, [0], [], [null, [[], []]]]).with(3, [3, 30, 28, OUT + NARROW, [0], []]);
  assert.deepEqual(verdict(cut, 1), ["same", "Gold still missed: rank 30 → 28 · 1 enters"]);
  assert.deepEqual([0, 1].map((side) => turnsRead(cut[2], side)[0]), [[0], []]);
  const stated = cut.with(2, [2, 17, 2, AFTER, [0], [], [null, [[0], [0]]]]);
  assert.deepEqual(verdict(stated, 1), ["better", "Gains the gold turn, answered by “2”, rank 2 · 1 enters"]);
});

test("retrieved nodes come in the order of their ranks, then gold, then who enters or leaves", () => {
  const { edge, lines, places } = placesOf(rows);
  assert.deepEqual([edge, lines], [2, 5.5]);
  assert.deepEqual(places, [[1, 0, 2.5, 3.5], [0, 4.5, 1, 2.5]]);
});

test("of many gold nodes below the ten those that enter are listed, the others left out", () => {
  const golds = [40, 50, 60].map((rank, i) => [3 + i, rank, rank, OUT + NARROW, [1], []]);
  const { places } = placesOf([...golds, [9, 70, 1, AFTER + NARROW, [0], []], [8, 1, 2, BOTH, [], []]]);
  assert.deepEqual(places[0], [2.5, 3.5, undefined, 4.5, 0]);
});

test("a node that the other memory lacks has a place on one side alone", () => {
  const { places } = placesOf([[0, 1, 0, BEFORE, [], []], [1, 0, 1, AFTER, [], []]]);
  assert.deepEqual(places, [[0, undefined], [undefined, 0]]);
});
