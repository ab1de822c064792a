// What is written beside the tree stays on the canvas, however wide the font is.

import assert from "node:assert/strict";
import test from "node:test";

import { drawCandidates } from "../src/canvas/candidates.js";
import { drawHistogram } from "../src/canvas/histogram.js";
import { cardPlace } from "../src/canvas/card.js";
import { chaptersOf, drawMargin } from "../src/canvas/margin.js";
import { isolateText } from "../src/shared/text.js";
import { recording, sceneOf } from "./scene.js";

const rows = { offset: [0, 40, 80], height: [40, 40, 40], total: 120 };
const geom = { left: 40, width: 500, right: 160, top: 10, axisTop: 140, axisHeight: 30, halves: 2, rows };
const EDGE = geom.left + geom.width + geom.right;

function written(draw, scene, width, half) {
  const { ctx, ops } = recording(width);
  Object.assign(scene.theme, { text: "#222222", muted: "#666666", accent: "#b43a09" });
  const elements = { stage: { clientWidth: EDGE } };
  draw({ scene, sight: { geom }, elements }, ctx, half);
  return ops.filter(([name]) => name === "fillText").map(([, , , text, x]) => ({ text, x }));
}

for (const width of [20, 70]) {
  test(`counts of levels, ${width} pixels wide`, () => {
    for (const picture of ["scores", "change"]) {
      const found = written(drawHistogram, sceneOf({}, {}, picture), width, 1);
      assert.deepEqual(found.slice(0, 2).map(({ text }) => text), ["retrieved", "by level"]);
      assert.equal(found.length, 2 + 3);
      assert.ok(found.every(({ x }) => x + width <= EDGE));
    }
  });
}

test("both halves name their levels", () => {
  const scene = sceneOf({ legend: false });
  for (const half of [0, 1]) {
    assert.deepEqual(written(drawMargin, scene, 10, half).map(({ text }) => text), ["L0", "L1", "L2"]);
  }
});

for (const width of [60, 100]) {
  test(`similarities, ${width} pixels wide`, () => {
    const one = { label: "", taken: false, node: 4, score: -0.1, threshold: -0.09 };
    const candidates = [{ ...one, level: 1, numbers: "−0.10 < −0.09" },
      { ...one, level: 2, node: 6, numbers: "0.01 ≥ −0.46", score: 0.01, taken: true }];
    const scene = sceneOf({ mode: "grow", candidates, outcome: null }, {}, "grow");
    const found = written(drawCandidates, scene, width, 0).filter(({ text }) => /[<≥]/.test(text));
    assert.deepEqual(found.map(({ text }) => text),
      candidates.map(({ numbers }) => isolateText(numbers)));
    assert.ok(found.every(({ x }) => x + width <= EDGE));
  });
}

test("a session goes by the inner node that covers most of it and least beside it", () => {
  const { data, tree, runs } = sceneOf({ names: ["", "", "", "", "boat, oar", "bakery", "all"] });
  assert.deepEqual(chaptersOf(data, tree, runs), ["boat, oar", "bakery"]);
  const one = [{ session: 0, start: 0, stop: 4 }];
  assert.deepEqual(chaptersOf(data, tree, one), ["all"]);
});

test("a card lies beside its node where there is room, and always on the canvas", () => {
  const [card, stage] = [{ w: 300, h: 100 }, { w: 800, h: 400 }];
  const at = (x, y, w, h) => cardPlace({ x, y, w, h }, card, stage);
  assert.deepEqual([at(10, 50, 90, 40), at(600, 390, 90, 10), at(10, 20, 780, 40), at(10, 300, 780, 40),
    at(0, 0, 800, 400)], [[108, 50], [292, 300], [10, 68], [10, 192], [0, 300]]);
  assert.deepEqual(cardPlace({ x: 5, y: 5, w: 2, h: 2 }, { w: 900, h: 500 }, stage), [0, 0]);
});
