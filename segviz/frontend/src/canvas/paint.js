// The lower of the two canvases: boxes, what is written on them, what stands around them.

import { boxEdges, eachBox, pixel, readRatio, sessionSegments, snap } from "./boxes.js";
import { drawCandidates } from "./candidates.js";
import { isMember } from "./classes.js";
import { halfBox } from "./geometry.js";
import { drawHistogram } from "./histogram.js";
import { drawLabels } from "./labels.js";
import { drawAxis, drawMargin } from "./margin.js";
import { fillOf } from "./node_color.js";

export const FADE_MS = 700; // how long a new node glows

/** @type {(s: State, ctx: Ctx) => void} */
export function drawBase(s, ctx) {
  const { geom } = s.sight;
  readRatio();
  ctx.textBaseline = "middle";
  for (let half = 0; half < geom.halves; half++) {
    drawBoxes(s, ctx, half);
    drawLabels(s, ctx, half);
    drawVeil(s, ctx, half);
    drawMargin(s, ctx, half);
    drawHistogram(s, ctx, half);
  }
  drawAxis(s, ctx);
  if (geom.right > 150) drawCandidates(s, ctx);
}

const TINT = 0.3;
const NARROW = [1.5, 4]; // pixels; wider leaves have a gap between them, narrower ones run together

/** Every second leaf is paler where there is no room for gaps.
 * @type {(tree: Tree, node: number, width: number) => boolean} */
const alternates = ({ level, start }, node, width) =>
  level[node] === 0 && start[node] % 2 === 1 && width >= NARROW[0] && width < NARROW[1];

/** @type {Painter} */
function drawBoxes(s, ctx, half) {
  const { scene } = s;
  const boxes = s.sight.boxes[half];
  const mixed = scene.shades[half] === "session";
  eachBox(s, half, (i, { y, h }) => {
    const node = boxes.id[i];
    const tall = h >= 4 ? h - 1 : Math.max(h, 1);
    if (mixed) {
      for (const [left, right, colour] of sessionSegments(s, half, i)) {
        ctx.fillStyle = colour;
        ctx.fillRect(left, y, right - left, tall);
      }
      if (alternates(scene.tree, node, boxes.w[i])) {
        ctx.globalAlpha = TINT;
        ctx.fillStyle = scene.theme.background;
        const [x, right] = boxEdges(s.sight, half, i);
        ctx.fillRect(x, y, right - x, tall);
        ctx.globalAlpha = 1;
      }
      return;
    }
    const [x, right] = boxEdges(s.sight, half, i);
    const { colour, pattern } = fillOf(scene, half, node);
    ctx.fillStyle = colour;
    ctx.fillRect(x, y, right - x, tall);
    if (pattern) {
      ctx.fillStyle = scene.theme.patterns[pattern];
      ctx.fillRect(x, y, right - x, tall);
    }
  });
}

// --- what does not stand alone ----------------------------------------------------------

const VEIL = 0.84;
const PALE = 0.72; // of what another build has, too

/** @type {Painter} */
function drawVeil(s, ctx, half) {
  const { scene } = s;
  const { isolated, data: { differs } } = scene;
  if (!isolated && !differs.length) return;
  ctx.save();
  ctx.fillStyle = scene.theme.background;
  ctx.globalAlpha = isolated ? VEIL : PALE;
  if (!isolated) {
    const own = new Set(differs);
    veilBoxes(s, ctx, half, (node) => own.has(node));
  } else if (isolated.kind === "session") veilColumns(s, ctx, half);
  else veilBoxes(s, ctx, half, (node) => isMember(scene, half, node));
  ctx.restore();
}

/** @type {Painter} */
function veilColumns(s, ctx, half) {
  const { geom } = s.sight;
  const { y, h } = halfBox(geom, half);
  const end = geom.left + geom.width;
  /** @param {number} place */
  const edge = (place) => Math.round(Math.min(end, Math.max(geom.left, pixel(s.sight, place))));
  for (const run of s.scene.runs) {
    if (run.session === s.scene.isolated?.key) continue;
    const [x, right] = [edge(run.left), edge(run.right)];
    if (right > x) ctx.fillRect(x, y, right - x, h);
  }
}

/** @type {(s: State, ctx: Ctx, half: number, stands: (node: number) => boolean) => void} */
function veilBoxes(s, ctx, half, stands) {
  const { sight } = s;
  const boxes = sight.boxes[half];
  eachBox(s, half, (i, { y, h }) => {
    if (stands(boxes.id[i])) return;
    const x = snap(sight.geom.left + boxes.x[i]);
    ctx.fillRect(x, y, Math.max(1, snap(sight.geom.left + boxes.x[i] + boxes.w[i]) - x), h);
  });
}
