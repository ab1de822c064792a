// tree_paint.js: draws the tree view's state `s` (see createState in tree.js) on the lower
// of its two canvases: the boxes. What stands around them is in tree_margin.js, the
// candidates in tree_gutter.js, the marks in tree_marks.js.

import { drawVeil } from "./tree_alone.js";
import { rowBox } from "./tree_geometry.js";
import { drawGutter } from "./tree_gutter.js";
import { drawLabels } from "./tree_labels.js";
import { drawAxis, drawMargin } from "./tree_margin.js";
import { fillOf, sessionColour } from "./tree_shades.js";

export const FADE_MS = 700; // how long a new node glows

export const pixel = (s, unit) =>
  s.geom.left + ((unit - s.view.x0) / (s.view.x1 - s.view.x0)) * s.geom.width;

/** Rectangle of a node, cut to the plot; null if it is out of view. */
export function nodeRect(s, half, node) {
  const { tree, geom } = s;
  const level = tree.level[node];
  if (!(level >= 0)) return null;
  const x = Math.max(geom.left, pixel(s, tree.start[node]));
  const right = Math.min(geom.left + geom.width, pixel(s, tree.stop[node]));
  if (right <= geom.left || x >= geom.left + geom.width) return null;
  const lane = tree.rowOf[node] - tree.firstRow[level];
  return { x, w: right - x, ...rowBox(geom, half, level, lane, tree.laneCount[level]) };
}

export function drawBase(s, ctx) {
  const { geom } = s;
  ratio = devicePixelRatio || 1;
  ctx.textBaseline = "middle";
  for (let half = 0; half < geom.halves; half++) {
    drawBoxes(s, ctx, half);
    drawLabels(s, ctx, half);
    drawVeil(s, ctx, half);
    drawMargin(s, ctx, half);
  }
  drawAxis(s, ctx);
  if (geom.right > 100) drawGutter(s, ctx);
}

function drawBoxes(s, ctx, half) {
  const boxes = s.boxes[half];
  const mixed = s.shades[half] === "session";
  eachBox(s, half, (i, y, h) => {
    const node = boxes.id[i];
    const tall = h >= 4 ? h - 1 : Math.max(h, 1);
    if (mixed) {
      for (const [left, right, colour] of sessionSegments(s, half, i)) {
        ctx.fillStyle = colour;
        ctx.fillRect(left, y, right - left, tall);
      }
      return;
    }
    const [x, right] = boxEdges(s, half, i);
    const { colour, pattern } = fillOf(s, half, node);
    ctx.fillStyle = colour;
    ctx.fillRect(x, y, right - x, tall);
    if (pattern) {
      ctx.fillStyle = s.theme.patterns[pattern];
      ctx.fillRect(x, y, right - x, tall);
    }
  });
}

/** Calls `act` with the index, top and height of every box of a half, row by row. */
export function eachBox(s, half, act) {
  const { geom, tree } = s;
  const { first } = s.boxes[half];
  for (let level = 0; level < tree.laneCount.length; level++) {
    const lanes = tree.laneCount[level];
    for (let lane = 0; lane < lanes; lane++) {
      const { y, h } = rowBox(geom, half, level, lane, lanes);
      const row = tree.firstRow[level] + lane;
      for (let i = first[row]; i < first[row + 1]; i++) act(i, y, h);
    }
  }
}

let ratio = 1; // read once a frame: asking the window for every box costs more than its paint
export const snap = (x) => Math.round(x * ratio) / ratio;

/** Left and right edge of a box, on whole pixels: no seams between leaves. */
function boxEdges(s, half, i) {
  const boxes = s.boxes[half];
  const x = snap(s.geom.left + boxes.x[i]);
  const right = snap(s.geom.left + boxes.x[i] + boxes.w[i]);
  return [x, x + Math.max(right - x - (boxes.w[i] >= 4 ? 1 : 0), 1)];
}

/** What a box is filled with, from left to right: [left, right, colour]. */
export function segmentsOf(s, half, i) {
  if (s.shades[half] === "session") return sessionSegments(s, half, i);
  return [[...boxEdges(s, half, i), fillOf(s, half, s.boxes[half].id[i]).colour]];
}

/** One node in its sessions' colours, one segment for each run of units. */
function sessionSegments(s, half, i) {
  const node = s.boxes[half].id[i];
  const level = s.tree.level[node];
  const { x0, x1 } = s.view;
  const scale = s.geom.width / (x1 - x0);
  const stop = Math.min(s.tree.stop[node], Math.ceil(x1));
  const [x, end] = boxEdges(s, half, i);
  const segments = [];
  let unit = Math.max(s.tree.start[node], Math.floor(x0));
  let left = x;
  while (unit < stop && left < end) {
    const run = s.runs[s.runOf[unit]];
    const right = run.stop >= stop
      ? end
      : Math.min(end, snap(s.geom.left + (run.stop - x0) * scale));
    segments.push([left, right, sessionColour(s, run.session, level)]);
    left = right;
    unit = run.stop;
  }
  return segments;
}
