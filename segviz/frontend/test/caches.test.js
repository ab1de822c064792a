import assert from "node:assert/strict";
import test from "node:test";

import { lastly } from "../src/shared/dom.js";

test("a cached function computes once for the same arguments, and anew for another", () => {
  let calls = 0;
  const twice = lastly((/** @type {number} */ one) => { calls++; return 2 * one; });
  assert.deepEqual([twice(1), twice(1), twice(2), twice(2), twice(1)], [2, 2, 4, 4, 2]);
  assert.equal(calls, 3);
});
