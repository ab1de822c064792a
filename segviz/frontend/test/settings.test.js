// The setting that the header sets, and the answers of Python to it.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { propagator } from "../src/canvas/propagate.js";
import { createReports, isSelectionNews, tellSelected } from "../src/shared/component.js";
import { edgePairs } from "../src/shared/links.js";
import {
  adoptSetting, change, createSettings, hold, recompute, report,
} from "../src/canvas/settings.js";

function dialogue() {
  const sent = [];
  const s = { settings: createSettings(), scene: { data: null },
    tell: (_, setting) => sent.push(setting) };
  const answer = (live, final) => ({ initial: Float64Array.from([0.5, 0.3, 0.2]),
    final: Float64Array.from(final), edges: new Int32Array(0),
    top_initial: [0, 1, 2], top_final: [0, 1, 2], level: Int32Array.from([0, 0, 1]),
    start: Int32Array.from([0, 1, 0]),
    parent: Int32Array.from([2, 2, -1]),
    live: { policy: "top-down", alpha: 0.1, horizon: 1, drawing: "mirrored", sequence: 0,
      k: 2, levels: null, ...live } });
  const seen = () => ({ alpha: s.settings.setting.alpha, sequence: s.settings.sequence,
    python: s.scene.data.final[0] === 9 });
  const take = (live) => {
    s.scene.data = answer(live, [9, 9, 9]);
    adoptSetting(s);
    return seen();
  };
  const move = (part) => {
    change(s, part);
    recompute(s);
    return seen();
  };
  return { s, sent, take, move };
}

const told = (setting) => [setting.policy, setting.alpha, setting.horizon, setting.drawing,
  setting.sequence];

// Timers that run when they are told to.
const real = { setTimeout, clearTimeout };
let pending = [];

function tick(milliseconds) {
  for (const timer of pending) timer.left -= milliseconds;
  const due = pending.filter(({ left }) => left <= 0);
  pending = pending.filter(({ left }) => left > 0);
  for (const { act } of due) act();
}

beforeEach(() => {
  pending = [];
  globalThis.setTimeout = (act, left = 0) => {
    const timer = { act, left };
    pending.push(timer);
    return timer;
  };
  globalThis.clearTimeout = (timer) => { pending = pending.filter((other) => other !== timer); };
});
afterEach(() => Object.assign(globalThis, real));

test("a late answer does not undo a change", () => {
  const { take, move } = dialogue();
  assert.deepEqual(take({}), { alpha: 0.1, sequence: 0, python: true });
  assert.deepEqual(move({ alpha: 0.5 }), { alpha: 0.5, sequence: 1, python: false });
  // Computed anew, for the new data.
  assert.deepEqual(take({ alpha: 0.1 }), { alpha: 0.5, sequence: 1, python: false });
  assert.deepEqual(take({ alpha: 0.5, sequence: 1 }), { alpha: 0.5, sequence: 1, python: true });
});

test("a setting made elsewhere is taken, and a Python that has begun anew is believed", () => {
  const { take, move } = dialogue();
  take({ sequence: 4 });
  assert.deepEqual(take({ alpha: 0.7, sequence: 4 }), { alpha: 0.7, sequence: 4, python: true });
  move({ alpha: 0.5 });
  assert.deepEqual(take({ alpha: 0.2, sequence: 0 }), { alpha: 0.2, sequence: 0, python: true });
});

test("many moves are one report", () => {
  const { s, sent, take, move } = dialogue();
  take({});
  for (const alpha of [0.2, 0.3, 0.4]) move({ alpha });
  tick(400);
  move({ horizon: 3 });
  report(s);
  report(s);
  assert.deepEqual(sent.map(told), [["top-down", 0.4, 1, "mirrored", 3],
    ["top-down", 0.4, 3, "mirrored", 4]]);
});

test("a chain of 100,000 nodes is propagated", () => {
  const n = 100000;
  const level = Int32Array.from({ length: n }, (_, i) => n - 1 - i);
  const parent = Int32Array.from({ length: n }, (_, i) => i - 1);
  const data = { level, start: new Int32Array(n), parent, edges: new Int32Array(0) };
  const first = new Float64Array(n);
  first[0] = 1;
  const scores = propagator(first, { ...data, edges: edgePairs(data) });
  const final = scores("top-down", 0.5, 5);
  const whole = [0, 1, 2, 3, 4, 5].reduce((sum, k) => sum + 0.5 ** k, 0);
  [0, 1, 2, 3, 4, 5, 6].forEach((k) => {
    assert.ok(Math.abs(final[k] - (k < 6 ? 0.5 ** k / whole : 0)) < 1e-12);
  });
});

test("an answer to a click does not undo the next one", () => {
  const sent = [];
  const s = { attention: { selected: null, sentByPython: null, clicks: createReports() },
    tell: (_, [node]) => sent.push(node) };
  const take = (selected, clicks, fresh = false) => {
    if (isSelectionNews(s, { selected, clicks }, fresh)) s.attention.selected = selected;
    return s.attention.selected;
  };
  assert.equal(take(null, 0, true), null);
  tellSelected(s, 15);
  tellSelected(s, 194);
  assert.deepEqual(sent, [15, 194]);
  assert.equal(take(15, 1), 194); // late
  tellSelected(s, 15);
  assert.equal(take(194, 2), 15); // late
  assert.equal(take(15, 3), 15);
  assert.equal(take(7, 3), 7); // selected elsewhere
  tellSelected(s, null);
  assert.deepEqual(sent, [15, 194, 15, -1]);
  assert.equal(take(7, 0), null); // Python has begun anew: it says 7 as before
  assert.equal(take(9, 0), 9);
  tellSelected(s, 3);
  assert.equal(take(8), 8); // a page that does not count
});

test("what is held without propagation stays so when Python answers or a control moves, until it is let go", () => {
  const { s, take, move } = dialogue();
  take({});
  hold(s, true);
  take({});
  assert.equal(s.scene.data.final, s.scene.data.initial);
  move({ alpha: 0.4 });
  assert.equal(s.scene.data.final, s.scene.data.initial);
  assert.equal(hold(s, false), true);
  assert.notEqual(s.scene.data.final, s.scene.data.initial);
});
