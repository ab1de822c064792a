// A small tree in the scene that colours, labels and classes are functions of.
//
//       6            level 2
//   4       5        level 1
// 0   1   2   3      leaves, two sessions

import { answerOf } from "../src/canvas/answer.js";
import { rampTable } from "../src/canvas/colour.js";
import { buildTree, sessionRuns } from "../src/canvas/rows.js";
import { shadesOf } from "../src/canvas/node_color.js";
import { markWeights } from "../src/canvas/weights.js";

/** The tree of plain columns; nodes are no chains where `top` is not given. */
export function treeOf({ level, start, stop, parent, top = level }) {
  const columns = Object.entries({ level, start, stop, parent, top })
    .map(([name, column]) => [name, Int32Array.from(column)]);
  const highest = Array.from(top).reduce((a, b) => Math.max(a, b));
  return buildTree({ ...Object.fromEntries(columns), edges: [], levels_total: highest + 1 });
}

/** A context of so wide letters that notes what is called: [method, fill, dashes, ...arguments]. */
export function recording(width) {
  const ops = [];
  let dash = [];
  const ctx = new Proxy({ measureText: () => ({ width }) }, {
    get: (target, name) => target[name] ?? ((...args) => {
      if (name === "setLineDash") [dash] = args;
      ops.push([name, target.fillStyle, dash.length, ...args]);
    }),
  });
  return { ctx, ops };
}

export function sceneOf(changes = {}, look = {}, picture = "scores") {
  const data = { mode: picture === "grow" ? "grow" : "scores", nodes: 7, root_scale: true,
    initial: Float32Array.from([0.4, 0.1, 0, 0.2, 0.1, 0.1, 0.1]),
    final: Float32Array.from([0.1, 0.4, 0, 0.2, 0.1, 0.1, 0.1]),
    "measure:coherence": Float32Array.from([0.1, 0.9, NaN, 0.5, 0.5, 1, -0.2]),
    measures: [{ name: "coherence", meaning: "closeness", unit: "mean cosine" }],
    ghost: new Int32Array(0),
    gold: Int32Array.from([0, 3]), gold_asked: 2, gold_needs: {}, budget: null, ingredients: [],
    answering: {}, gold_turns: { 0: ["D1:1"], 3: ["D2:2"], 4: ["D1:1"], 6: ["D1:1", "D2:2"] },
    gold_answers: {}, level_names: [], texts: {}, matches: {}, ranks: null, live: null,
    origin: new Int32Array(0),
    places_initial: [], places_final: [],
    same_text: Int32Array.from([0, 1, 2, 3, 4, 5, 6]), quoted: new Int32Array(0),
    top_initial: Int32Array.from([0, 6]), top_final: Int32Array.from([1, 4]),
    level: Int32Array.from([0, 0, 0, 0, 1, 1, 2]), top: Int32Array.from([0, 0, 0, 0, 1, 1, 2]),
    start: Int32Array.from([0, 1, 2, 3, 0, 2, 0]), stop: Int32Array.from([1, 2, 3, 4, 2, 4, 4]),
    parent: Int32Array.from([4, 4, 5, 5, 6, 6, -1]), edges: new Int32Array(0), levels_total: 3,
    session_labels: ["S1", "S2"], session_titles: ["S1 · 2 May", "S2 · 3 May"],
    session_colours: ["#440000", "#ffee88"],
    frontier: [], revised: [], added: [], differs: [], ended: {}, candidates: [],
    labels: ["zero", "one", "two", "three", "four", "five", "six"],
    names: ["zero", "one", "two", "three", "four", "five", "six"], ...changes };
  const grey = rampTable(["#000000", "#ffffff"]);
  const scene = { data, tree: buildTree(data), runs: sessionRuns([0, 0, 1, 1]),
    runOf: Int32Array.from([0, 0, 1, 1]), picture,
    look: { colour: "", labels: "", axis: "", ...look }, isolated: null, tints: new Map(),
    most: 0.4, marks: markWeights(data),
    theme: { background: "#ffffff", unknown: "#cccccc", levels: ["#aa0000", "#bb0000"],
      gold: { found: "#f", quoted: "#q", answered: "#n", missed: "#m", above: "#a", other: "#o" },
      table: grey, changeTable: grey, measureTable: grey } };
  scene.shades = shadesOf(scene);
  scene.answer = answerOf(scene);
  return scene;
}
