// Marks stay in the row of their node, leave most of its fill free and differ in shape.

import assert from "node:assert/strict";
import { test } from "node:test";

import { nodeRect, rowRect } from "../src/canvas/boxes.js";
import { rampTable } from "../src/canvas/colour.js";
import { geometry } from "../src/canvas/geometry.js";
import { drawOver, spaced } from "../src/canvas/outlines.js";
import { createSearch } from "../src/canvas/search.js";
import { recording, treeOf } from "./scene.js";

const DRAWN = ["fill", "fillRect", "strokeRect", "moveTo", "lineTo", "stroke"];
const STATES = [{ frontier: [1] }, { added: [1] }, { candidates: [{ node: 1, taken: true }] }];

/** The box of a leaf and what is drawn for its marks; `top` makes it a chain. */
function marks(mode, width, changes, top = 0) {
  const tree = treeOf({ level: [0, 0], top: [0, top], start: [0, 1], stop: [1, 2], parent: [-1, -1] });
  const geom = geometry(800, 300, mode, false, tree.laneCount);
  const scene = { tree, picture: mode, runs: [], shades: ["initial", "propagated"], most: 1,
    theme: { accent: "accent", text: "text", background: "#ffffff", font: "f",
      table: rampTable(["#000000", "#ffffff"]) },
    data: { mode, frontier: [], revised: [], added: [], candidates: [], gold: [],
      top_initial: [], top_final: [], initial: [1, 1], final: [1, 1], ...changes } };
  const s = { scene, search: createSearch(),
    sight: { geom, view: { x0: 0, x1: (2 * geom.width) / width } },
    attention: { linked: { leaves: [], above: [] }, selected: null, focus: null,
      hover: null },
    settings: { setting: null }, frames: { labelled: [], fadeFrom: 0 },
    elements: { over: { matches: () => false }, stage: { clientHeight: 300 } } };
  const [rect, row] = [nodeRect(s, 0, 1), rowRect(s, 0, 1)];
  const { ctx, ops } = recording(6);
  drawOver(s, ctx);
  return { rect, row, ops: ops.filter(([name]) => DRAWN.includes(name)).map(([name, , dash, ...args]) =>
    (name === "stroke" ? [name, dash] : [name, ...args])) };
}

/** Does a mark leave the row of the box, or go deeper into it than a sign may? */
const strays = ({ row, ops }) => ops.some(([name, , top]) =>
  ["moveTo", "lineTo", "fillRect"].includes(name) && (top < row.y || top > row.y + 14));

for (const width of [2, 5, 7]) {
  test(`marks of a box of ${width} pixels stay in its row, leave its fill and differ in shape`, () => {
    const drawn = STATES.map((state) => marks("grow", width * 2, state));
    const shapes = drawn.map(({ ops }) => JSON.stringify(ops));
    assert.equal(new Set(shapes).size, shapes.length); // colours are not in there
    const top = marks("scores", width * 2, { top_initial: [1] });
    assert.ok(top.ops.some((op) => op.length === 1 && op[0] === "fill")); // the triangle
    for (const item of [...drawn, top]) {
      assert.ok(Math.abs(item.rect.w - width) < 1e-6);
      assert.ok(item.ops.length);
      assert.ok(item.row.h > 2 * 14);
      assert.ok(!strays(item));
    }
  });
}

test("signs in one row do not lie on each other", () => {
  const places = [[0, 9], [0, 3], [0, 0], [5, 1], [0, 7]];
  assert.deepEqual(spaced(places.map(([y, x]) => ({ x, y, w: 2 }))).map(({ y, x }) => [y, x]),
    [[0, 9], [0, 0], [5, 1]]); // the first that are given
});
