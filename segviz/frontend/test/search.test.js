// Finding text in the nodes of the canvas.

import assert from "node:assert/strict";
import { test } from "node:test";

import { findText, hitWords, nextHit, searchedLength } from "../src/canvas/search.js";

const LABELS = ["The OVEN is new", "oven", "", "<b>oven</b>", "İstanbul", "tide"];
const COLUMNS = { level: [0, 0, 0, -1, 1, 0], start: [2, 0, 1, 3, 0, 4], stop: [3, 1, 2, 4, 5, 5] };

for (const [query, hits] of [["oven", [1, 0]], ["  OVEN ", [1, 0]], ["oven is", [0]], ["(", []],
  ["", []], ["   ", []], ["i", [0, 5, 4]], ["<b>", []]]) {
  test(`active nodes are found, leaves first, in reading order: "${query}"`, () =>
    assert.deepEqual(findText(query, LABELS, COLUMNS), hits));
}

test("hits are walked round and round", () => {
  const walk = (at, back) => nextHit(at, 3, back);
  assert.deepEqual([walk(-1, false), walk(0, false), walk(2, false), walk(0, true),
    walk(-1, true), nextHit(-1, 0, false)], [0, 1, 0, 2, 2, -1]);
});

test("the search says how much it looks at", () => {
  const said = (hits, at, query = "x") => hitWords({ query, hits, at });
  assert.deepEqual([said([], -1), said([4, 5], -1), said([4, 5], 1), said([], -1, " ")],
    ["none", "2 found", "2 of 2", ""]);
  assert.equal(searchedLength(["a", "b"]), Infinity);
  assert.equal(searchedLength([`${"a".repeat(80)}…`, "b"]), 80);
});
