// What is painted of a row, and what lies under a place in it. Pure functions.

import { lastly } from "../shared/dom.js";
import { firstPlace } from "../shared/links.js";
import { leftOf, unitAt } from "./axis.js";
import { levelsBox, rowBox } from "./geometry.js";
import { fillOf, sessionColour } from "./node_color.js";

/** Where boxes lie in a view, by row, left to right, x and width in pixels from the plot's edge. A
 *  chain lies in each of its rows and is painted from the lowest. Nodes narrower than a pixel share
 *  one box per pixel column and row; `shared` has [box, row, first, end] of their places in the row.
 *  No score counts here, so that a drag finds it done. */
const columns = lastly((/** @type {Tree} */ tree, /** @type {View} */ view, /** @type {number} */ width) => {
  const scale = width / (view.x1 - view.x0);
  const { left: start, right: stop, level, tall, rowOf } = tree;
  const id = [];
  const x = [];
  const w = [];
  const top = []; // the level up to which a box is painted; -1 where it is part of one from below
  const first = [0]; // box of each row
  /** @type {number[][]} */
  const shared = [];
  let [inView, here] = [0, 0]; // nodes that would have a box with room
  for (const [row, ids] of tree.rows.entries()) {
    if (row === tree.firstRow[here + 1]) here++; // the level of this row
    let column = -1; // pixel column of the last box, if nodes share it
    const begin = firstPlace(0, ids.length, (at) => stop[ids[at]] > view.x0);
    for (let i = begin; i < ids.length; i++) {
      const node = ids[i];
      if (start[node] >= view.x1) break;
      if (rowOf[node] === row) inView++;
      const from = Math.max(0, (start[node] - view.x0) * scale);
      const wide = (stop[node] - start[node]) * scale >= 1;
      const pixel = Math.floor(from);
      if (!wide && pixel === column) {
        shared[shared.length - 1][3] = i + 1;
        continue;
      }
      column = wide ? -1 : pixel;
      if (!wide) shared.push([id.length, row, i, i + 1]);
      id.push(node);
      x.push(wide ? from : pixel);
      w.push(wide ? Math.min(width, (stop[node] - view.x0) * scale) - from : 1);
      top.push(!wide || tall[node] === level[node] ? here : rowOf[node] === row ? tall[node] : -1);
    }
    first.push(id.length);
  }
  return { id, x, w, top, first, shared, inView };
});

/** What is painted for a view: its boxes, each with a node. Of nodes that share one the heaviest
 *  wins, so that a single hit among thousands stays visible.
 * @param {Tree} tree
 * @param {View} view
 * @param {number} width
 * @param {ArrayLike<number> | null} weight */
export function visibleBoxes(tree, view, width, weight) {
  const { shared, ...boxes } = columns(tree, view, width);
  const id = boxes.id.slice();
  if (weight) {
    for (const [box, row, begin, end] of shared) {
      const ids = tree.rows[row];
      for (let i = begin + 1; i < end; i++) if (weight[ids[i]] > weight[id[box]]) id[box] = ids[i];
    }
  }
  let shown = 0; // nodes that have a box
  for (let row = 0; row < tree.rows.length; row++) {
    for (let i = boxes.first[row]; i < boxes.first[row + 1]; i++) if (tree.rowOf[id[i]] === row) shown++;
  }
  return { ...boxes, id, shown };
}

/** Box of a row nearest to x, at most `slack` pixels away; -1 if none.
 * @type {(boxes: Boxes, row: number, x: number, slack?: any) => number} */
export function boxAt(boxes, row, x, slack = 2) {
  const [begin, end] = [boxes.first[row], boxes.first[row + 1]];
  const low = firstPlace(begin, end, (at) => boxes.x[at] + boxes.w[at] > x);
  let best = -1;
  let nearest = slack;
  for (let i = Math.max(begin, low - 1); i <= Math.min(end - 1, low); i++) {
    const away = Math.max(boxes.x[i] - x, x - boxes.x[i] - boxes.w[i], 0);
    if (away <= nearest) {
      // ties go to the right box, which is the one that contains x
      best = boxes.id[i];
      nearest = away;
    }
  }
  return best;
}

// --- where boxes lie on the canvas ---------------------------------------------------

/** Pixel of a place on the axis.
 * @type {(sight: Sight, place: number) => number} */
export const pixel = ({ geom, view }, place) =>
  geom.left + ((place - view.x0) / (view.x1 - view.x0)) * geom.width;

/** Rectangle of a node, cut to the plot; null if it is out of view.
 * @type {(s: State, half: number, node: number) => Rect | null} */
export function nodeRect(s, half, node) {
  const { scene: { tree: { level, tall } }, sight: { geom } } = s;
  const rect = rowRect(s, half, node);
  if (!rect || tall[node] === level[node]) return rect;
  return { ...rect, ...levelsBox(geom, half, level[node], tall[node]) };
}

/** The part of a node's rectangle in the row it begins at, where its signs are.
 * @type {(s: State, half: number, node: number) => Rect | null} */
export function rowRect(s, half, node) {
  const { scene: { tree }, sight: { geom } } = s;
  const level = tree.level[node];
  if (!(level >= 0)) return null;
  const x = Math.max(geom.left, pixel(s.sight, tree.left[node]));
  const right = Math.min(geom.left + geom.width, pixel(s.sight, tree.right[node]));
  if (right <= geom.left || x >= geom.left + geom.width) return null;
  const lane = tree.rowOf[node] - tree.firstRow[level];
  return { x, w: right - x, ...rowBox(geom, half, level, lane, tree.laneCount[level]) };
}

/** Calls `act` for every box that is painted in a half, row by row: its index, its vertical
 *  place, and that of the row it begins at.
 * @type {(s: State, half: number, act: (i: number, box: Extent, row: Extent) => void) => void} */
export function eachBox(s, half, act) {
  const { sight: { geom, boxes }, scene: { tree } } = s;
  const { first, top } = boxes[half];
  for (let level = 0; level < tree.laneCount.length; level++) {
    const lanes = tree.laneCount[level];
    for (let lane = 0; lane < lanes; lane++) {
      const box = rowBox(geom, half, level, lane, lanes);
      const row = tree.firstRow[level] + lane;
      for (let i = first[row]; i < first[row + 1]; i++) {
        if (top[i] === level) act(i, box, box);
        else if (top[i] > level) act(i, levelsBox(geom, half, level, top[i]), box);
      }
    }
  }
}

let ratio = 1; // read once a frame: asking the window for every box costs more than its paint
export const readRatio = () => { ratio = devicePixelRatio || 1; };

/** A place on whole pixels of the screen.
 * @param {number} x */
export const snap = (x) => Math.round(x * ratio) / ratio;

/** Left and right edge of a box, on whole pixels: no seams between leaves.
 * @type {(sight: Sight, half: number, i: number) => [left: number, right: number]} */
export function boxEdges(sight, half, i) {
  const boxes = sight.boxes[half];
  const x = snap(sight.geom.left + boxes.x[i]);
  const right = snap(sight.geom.left + boxes.x[i] + boxes.w[i]);
  return [x, x + Math.max(right - x - (boxes.w[i] >= 4 ? 1 : 0), 1)];
}

/** What a box is filled with, from left to right: [left, right, colour].
 * @type {(s: State, half: number, i: number) => Segment[]} */
export function segmentsOf(s, half, i) {
  if (s.scene.shades[half] === "session") return sessionSegments(s, half, i);
  return [[...boxEdges(s.sight, half, i), fillOf(s.scene, half, s.sight.boxes[half].id[i]).colour]];
}

/** One node in its sessions' colours, one segment for each run of units.
 * @type {(s: State, half: number, i: number) => Segment[]} */
export function sessionSegments(s, half, i) {
  const { scene, sight } = s;
  const node = sight.boxes[half].id[i];
  const level = scene.tree.level[node];
  const { x0, x1 } = sight.view;
  const scale = sight.geom.width / (x1 - x0);
  const stop = Math.min(scene.tree.stop[node], unitAt(scene.axis, x1) + 1);
  const [x, end] = boxEdges(sight, half, i);
  if (scene.data.ghost[node]) return [[x, end, fillOf(scene, half, node).colour]];
  /** @type {Segment[]} */
  const segments = [];
  let unit = Math.max(scene.tree.start[node], unitAt(scene.axis, x0));
  let left = x;
  while (unit < stop && left < end) {
    const run = scene.runs[scene.runOf[unit]];
    const right = run.stop >= stop
      ? end
      : Math.min(end, snap(sight.geom.left + (leftOf(scene.axis, run.stop) - x0) * scale));
    segments.push([left, right, sessionColour(scene, run.session, level)]);
    left = right;
    unit = run.stop;
  }
  return segments;
}
