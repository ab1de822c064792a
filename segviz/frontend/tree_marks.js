// tree_marks.js: the upper canvas: what is marked, selected, hovered and gold.
//
// A mark must leave the fill of its box visible. A box wide enough gets an outline inside;
// above (in the lower half: below) a narrow box stands a sign of its own shape, so that
// state is never told by colour alone: a bar and triangle for retrieved and chosen, a plus
// for new, a bracket for the frontier, a dashed bracket for revised.

import { ancestors, luminance } from "./tree_core.js";
import { FADE_MS, nodeRect, scoreColour } from "./tree_paint.js";

/** Does an outline of this width inside the box leave too little of its fill? */
export const isNarrow = (rect, width) => rect.w < 8 + 2 * width;

export function drawOver(s, ctx) {
  const { geom, theme, data } = s;
  ctx.save();
  ctx.beginPath(); // marks may reach a little into the margins, not over the labels
  ctx.rect(geom.left - 6, 0, geom.width + 12, s.stage.clientHeight);
  ctx.clip();
  ctx.textBaseline = "middle";
  if (s.picture === "grow") drawGrowMarks(s, ctx);
  else if (s.picture === "scores") {
    drawTop(s, ctx, 0, data.top_initial);
    drawTop(s, ctx, 1, data.top_final);
  } else {
    drawLeft(s, ctx, data.top_initial.filter((node) => !data.top_final.includes(node)));
    drawTop(s, ctx, 0, data.top_final);
  }
  const focused = s.over.matches(":focus");
  for (let half = 0; half < geom.halves; half++) {
    for (const node of s.selected === null ? [] : ancestors(s.tree, s.selected)) {
      outline(s, ctx, nodeRect(s, half, node), theme.text, 1, { halo: false });
    }
    if (s.selected !== null) outline(s, ctx, nodeRect(s, half, s.selected), theme.text, 2);
    if (s.focus !== null && focused) {
      outline(s, ctx, nodeRect(s, half, s.focus), theme.text, 1.5, { inset: 2, dash: [2, 2] });
    }
    if (s.hover !== null) {
      outline(s, ctx, nodeRect(s, half, s.hover), theme.text, 1, { halo: false });
    }
    for (const leaf of data.gold) {
      const rect = nodeRect(s, half, leaf);
      if (!rect) continue;
      const middle = rect.x + rect.w / 2;
      const onAxis = !half && geom.halves === 2;
      if (onAxis) diamond(s, ctx, middle, geom.axisTop + 5);
      if (!onAxis || rect.h >= 12) diamond(s, ctx, middle, rect.y + rect.h / 2);
    }
  }
  ctx.restore();
}

function drawGrowMarks(s, ctx) {
  const { theme, data } = s;
  const { accent, text } = theme;
  const rect = (node) => nodeRect(s, 0, node);
  if (s.fadeFrom) {
    const share = Math.max(0, 1 - (performance.now() - s.fadeFrom) / FADE_MS);
    ctx.fillStyle = accent;
    ctx.globalAlpha = 0.45 * share;
    for (const box of data.added.map(rect)) {
      if (box) ctx.fillRect(box.x - 1, box.y, Math.max(box.w, 3), box.h - 1);
    }
    ctx.globalAlpha = 1;
  }
  const chosen = data.chosen === null ? null : rect(data.chosen);
  if (chosen && !isNarrow(chosen, 3)) outline(s, ctx, chosen, accent, 3);
  const changed = new Set([...data.revised, ...data.added]);
  const edge = new Set(data.frontier);
  for (const node of data.frontier) {
    const box = rect(node);
    if (!box || node === data.chosen) continue;
    if (!isNarrow(box, 1.5)) outline(s, ctx, box, text, 1.5);
    else if (box.h >= 14 || !changed.has(node)) bracket(s, ctx, box, 0, text);
  }
  // A node that is both on the frontier and changed gets its second mark inside the first,
  // or beyond it where the box is narrow.
  const mark = (nodes, dash, sign) => {
    for (const node of nodes) {
      const box = rect(node);
      if (!box || node === data.chosen) continue;
      const both = edge.has(node);
      if (isNarrow(box, 1.5)) {
        sign(s, ctx, box, 0, accent, both && box.h >= 14 ? 5 : 0);
        continue;
      }
      const inset = both && box.h >= 12 ? 2.5 : 0;
      outline(s, ctx, box, accent, 1.5, { inset, dash, halo: !inset });
    }
  };
  mark(data.revised, [4, 3], dashedBracket);
  mark(data.added, [], plus);
  if (chosen && isNarrow(chosen, 3)) {
    bar(s, ctx, chosen, 0, accent);
    triangle(s, ctx, chosen, 0, accent);
  }
}

/** Retrieved nodes: outline and rank, or bar and triangle where the box is narrow. */
function drawTop(s, ctx, half, nodes) {
  const { accent, font } = s.theme;
  ctx.font = `600 11px ${font}`;
  ctx.textAlign = "center";
  const thin = [];
  nodes.forEach((node, i) => {
    const rect = nodeRect(s, half, node);
    if (!rect) return;
    if (isNarrow(rect, 2)) {
      thin.push(rect);
      return;
    }
    outline(s, ctx, rect, accent, 2);
    const rank = String(i + 1);
    if (rect.w >= ctx.measureText(rank).width + 8 && rect.h >= 15) {
      ctx.fillStyle = luminance(scoreColour(s, half, node)) > 0.18 ? "#101318" : "#ffffff";
      ctx.fillText(rank, rect.x + rect.w / 2, rect.y + rect.h / 2);
    }
  });
  for (const rect of thin) bar(s, ctx, rect, half, accent);
  for (const rect of spaced(thin)) triangle(s, ctx, rect, half, accent);
}

/** Nodes that the change has pushed out of the retrieved ones: dashed. */
function drawLeft(s, ctx, nodes) {
  for (const node of nodes) {
    const rect = nodeRect(s, 0, node);
    if (!rect) continue;
    if (isNarrow(rect, 1.5)) dashedBracket(s, ctx, rect, 0, s.theme.accent, 0);
    else outline(s, ctx, rect, s.theme.accent, 1.5, { dash: [4, 3] });
  }
}

/** Of boxes in one row whose signs would lie on each other, the first one. */
export function spaced(rects, gap = 7) {
  const kept = [];
  for (const rect of [...rects].sort((a, b) => a.y - b.y || a.x - b.x)) {
    const last = kept[kept.length - 1];
    if (!last || last.y !== rect.y || rect.x + rect.w / 2 - last.x - last.w / 2 >= gap) {
      kept.push(rect);
    }
  }
  return kept;
}

// --- outlines ------------------------------------------------------------------------

/** An outline inside the box, on a halo of the background so that it shows on any fill;
 *  around the box where that is narrow. */
function outline(s, ctx, rect, colour, width, { inset = 0, dash = [], halo = true } = {}) {
  if (!rect) return;
  const { x, y, w, h } = rect;
  ctx.setLineDash(dash);
  ctx.strokeStyle = colour;
  if (isNarrow(rect, width)) {
    ctx.lineWidth = Math.min(width, 1.5);
    ctx.strokeRect(x - 1.5, y - 0.5, Math.max(w, 1) + 2, h);
    ctx.setLineDash([]);
    return;
  }
  if (h < 3 * width + 3) {
    // Too flat for an outline: a line in the gap below the row leaves the fill visible.
    ctx.lineCap = "butt";
    const line = y + h - 0.5;
    stroke(ctx, h < 7 ? 1 : 1.5, [x, line], [x + w - 1, line]);
    ctx.setLineDash([]);
    stroke(ctx, 3, [x + 1.5, y], [x + 1.5, y + h]);
    stroke(ctx, 3, [x + w - 2.5, y], [x + w - 2.5, y + h]);
    return;
  }
  const edge = inset + width / 2;
  const box = [x + edge, y + edge, w - 1 - 2 * edge, Math.max(0.5, h - 1 - 2 * edge)];
  if (halo) {
    ctx.setLineDash([]);
    ctx.strokeStyle = s.theme.background;
    ctx.lineWidth = width + 2;
    ctx.strokeRect(...box);
    ctx.setLineDash(dash);
    ctx.strokeStyle = colour;
  }
  ctx.lineWidth = width;
  ctx.strokeRect(...box);
  ctx.setLineDash([]);
}

function stroke(ctx, width, ...points) {
  ctx.lineWidth = width;
  path(ctx, points);
  ctx.stroke();
}

function path(ctx, points) {
  ctx.beginPath();
  points.forEach((point, i) => (i ? ctx.lineTo(...point) : ctx.moveTo(...point)));
}

// --- signs outside of narrow boxes -----------------------------------------------------

/** Middle of a box, where a sign outside of it begins, and the direction it grows in. */
function outside({ x, y, w, h }, half) {
  return half ? { middle: x + w / 2, base: y + h, away: 1 }
    : { middle: x + w / 2, base: y - 1, away: -1 };
}

/** A line along the outer edge, as wide as the box. */
function bar(s, ctx, rect, half, colour) {
  const { middle, base } = outside(rect, half);
  const reach = Math.max(rect.w, 3) / 2;
  ctx.lineCap = "butt";
  for (const [tone, width, more] of [[s.theme.background, 3.5, 0.5], [colour, 2, 0]]) {
    ctx.strokeStyle = tone;
    stroke(ctx, width, [middle - reach - more, base], [middle + reach + more, base]);
  }
}

/** A filled triangle that points at the box. */
function triangle(s, ctx, rect, half, colour) {
  const { middle, base, away } = outside(rect, half);
  const [tip, flat] = [base + away, base + away * 7.5];
  path(ctx, [[middle, tip], [middle - 4, flat], [middle + 4, flat]]);
  ctx.closePath();
  haloStroke(s, ctx);
  ctx.fillStyle = colour;
  ctx.fill();
}

/** A plus beyond the outer edge. */
function plus(s, ctx, rect, half, colour, lift = 0) {
  const { middle, base, away } = outside(rect, half);
  const centre = base + away * (5 + lift);
  ctx.lineCap = "butt";
  for (const [tone, width, arm] of [[s.theme.background, 4.5, 5], [colour, 2, 4]]) {
    ctx.strokeStyle = tone;
    stroke(ctx, width, [middle - arm, centre], [middle + arm, centre]);
    stroke(ctx, width, [middle, centre - arm], [middle, centre + arm]);
  }
}

/** A cap with two legs on the outer edge. */
function bracket(s, ctx, rect, half, colour, lift = 0, dash = []) {
  const { middle, base, away } = outside(rect, half);
  const reach = Math.max(rect.w / 2 + 1, 5);
  const [foot, top] = [base + away * lift, base + away * (4 + lift)];
  const points = [[middle - reach, foot], [middle - reach, top], [middle + reach, top],
    [middle + reach, foot]];
  ctx.lineCap = "butt";
  ctx.strokeStyle = s.theme.background;
  stroke(ctx, 3.5, ...points);
  ctx.setLineDash(dash);
  ctx.strokeStyle = colour;
  stroke(ctx, 1.5, ...points);
  ctx.setLineDash([]);
}

function dashedBracket(s, ctx, rect, half, colour, lift) {
  bracket(s, ctx, rect, half, colour, lift, [2.5, 1.5]);
}

function diamond(s, ctx, x, y) {
  path(ctx, [[x, y - 4.5], [x + 4.5, y], [x, y + 4.5], [x - 4.5, y]]);
  ctx.closePath();
  haloStroke(s, ctx);
  ctx.fillStyle = s.theme.background;
  ctx.fill();
  ctx.strokeStyle = s.theme.text;
  ctx.lineWidth = 1.5;
  ctx.stroke();
}

function haloStroke(s, ctx) {
  ctx.strokeStyle = s.theme.background;
  ctx.lineWidth = 3.5;
  ctx.lineJoin = "round";
  ctx.stroke();
}
