// Marks stay in the row of their node, leave most of its fill free and differ in shape.

import assert from "node:assert/strict";
import { test } from "node:test";

import { nodeRect, rowRect } from "../src/canvas/boxes.js";
import { rampTable } from "../src/canvas/colour.js";
import { geometry } from "../src/canvas/geometry.js";
import { drawOver } from "../src/canvas/outlines.js";
import { rankMarks } from "../src/canvas/rank_marks.js";
import { createSearch } from "../src/canvas/search.js";
import { recording, sceneOf, treeOf } from "./scene.js";

const DRAWN = ["fill", "fillRect", "strokeRect", "moveTo", "lineTo", "stroke"];
const STATES = [{ frontier: [1] }, { added: [1] }, { candidates: [{ node: 1, taken: true }] }];

/** The box of a leaf and what is drawn for its marks; `top` makes it a chain. */
function marks(mode, width, changes, top = 0, selected = null) {
  const tree = treeOf({ level: [0, 0], top: [0, top], start: [0, 1], stop: [1, 2], parent: [-1, -1] });
  const geom = geometry(800, 300, mode, false, tree.laneCount);
  const scene = { tree, picture: mode, runs: [], shades: ["initial", "propagated"], most: 1,
    theme: { enters: "enters", leaves: "leaves", chosen: "chosen", text: "text", background: "#ffffff", font: "f", gold: {},
      table: rampTable(["#000000", "#ffffff"]) },
    data: { mode, frontier: [], revised: [], added: [], differs: [], ended: {}, candidates: [], gold: [],
      top_initial: [], top_final: [], initial: [1, 1], final: [1, 1], ...changes } };
  const s = { scene, search: createSearch(),
    sight: { geom, written: [], view: { x0: 0, x1: (2 * geom.width) / width } },
    attention: { linked: { leaves: [], above: [] }, selected, focus: null,
      hover: null },
    settings: { setting: null }, frames: { fadeFrom: 0 },
    elements: { over: { matches: () => false }, stage: { clientHeight: 300 } } };
  const [rect, row] = [nodeRect(s, 0, 1), rowRect(s, 0, 1)];
  const { ctx, ops } = recording(6);
  drawOver(s, ctx);
  return { rect, row, ops: ops.filter(([name]) => DRAWN.includes(name)).map(([name, , dash, ...args]) =>
    (name === "stroke" ? [name, dash] : [name, ...args])) };
}

/** Does a mark leave the row of the box, or go deeper into it than a sign may? */
const strays = ({ row, ops }, deep = 14) => ops.some(([name, , top]) =>
  ["moveTo", "lineTo", "fillRect"].includes(name) && (top < row.y || top > row.y + deep));

for (const width of [2, 5, 7]) {
  test(`marks of a box of ${width} pixels stay in its row, leave its fill and differ in shape`, () => {
    const drawn = STATES.map((state) => marks("grow", width * 2, state));
    const shapes = drawn.map(({ ops }) => JSON.stringify(ops));
    assert.equal(new Set(shapes).size, shapes.length); // colours are not in there
    const top = marks("scores", width * 2, { top_initial: [1] });
    assert.ok(top.ops.some(([name]) => name === "strokeRect")); // the plate of its rank
    assert.ok(!strays(top, top.row.h));
    for (const item of drawn) {
      assert.ok(Math.abs(item.rect.w - width) < 1e-6);
      assert.ok(item.ops.length);
      assert.ok(item.row.h > 2 * 14);
      assert.ok(!strays(item));
    }
  });
}

test("the outline of a selected node does not cross its mark", () => {
  const drawn = (selected) => marks("scores", 60, { top_initial: [1] }, 0, selected).ops;
  const [plain, chosen] = [drawn(null), drawn(1)];
  assert.ok(chosen.length > plain.length);
  assert.equal(chosen.at(-1)[0], "stroke"); // the mark's dot is the last of both
  assert.deepEqual(chosen.at(-1), plain.at(-1));
});

test("a rank that changes is a number in both halves and a line across the axis", () => {
  const drawn = marks("scores", 800, {});
  const shown = (top_initial, top_final) => {
    const scene = sceneOf({ top_initial: Int32Array.from(top_initial), top_final: Int32Array.from(top_final) });
    return [0, 1].map((half) => [...rankMarks(scene, half).values()]
      .map(({ node, rank, inside, kind }) => [node, rank, inside, kind]));
  };
  assert.ok(!drawn.ops.length); // nothing is retrieved
  // Node 1 enters from rank 3, node 5 stays, gold leaves 0 and 3 are marked wherever they are.
  assert.deepEqual(shown([0, 5], [1, 5]), [
    [[0, 1, true, "gold"], [5, 2, true, "same"], [1, 3, false, "enters"], [3, 2, false, "gold"]],
    [[1, 1, true, "enters"], [5, 2, true, "same"], [0, 3, false, "gold"], [3, 2, false, "gold"]],
  ]);
});
