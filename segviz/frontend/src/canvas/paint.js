// The lower of the two canvases: boxes, what is written on them, what stands around them.

import { boxEdges, eachBox, readRatio, sessionSegments } from "./boxes.js";
import { drawCandidates } from "./candidates.js";
import { drawVeil } from "./isolate.js";
import { drawLabels } from "./labels.js";
import { drawAxis, drawMargin } from "./margin.js";
import { fillOf } from "./shades.js";

export const FADE_MS = 700; // how long a new node glows

/** @param {State} s
 * @param {Ctx} ctx */
export function drawBase(s, ctx) {
  const { geom } = s;
  readRatio();
  ctx.textBaseline = "middle";
  for (let half = 0; half < geom.halves; half++) {
    drawBoxes(s, ctx, half);
    drawLabels(s, ctx, half);
    drawVeil(s, ctx, half);
    drawMargin(s, ctx, half);
  }
  drawAxis(s, ctx);
  if (geom.right > 100) drawCandidates(s, ctx);
}

/** @param {State} s
 * @param {Ctx} ctx
 * @param {number} half */
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

