// The retrieved levels as bars beside the tree's own rows: hollow before, filled after. In
// the mirrored picture each half has its own, so the two are one mirrored histogram.

import { halfBox, rowBox } from "./geometry.js";

const [GAP, NUMBER, THICK, LINE] = [14, 40, 14, 12];

/** @type {Painter} */
export function drawHistogram(s, ctx, half) {
  const { scene: { theme, answer, tree, picture }, sight: { geom } } = s;
  if (!answer) return;
  const { before, after } = answer.levels;
  const most = Math.max(1, ...before, ...after);
  const left = geom.left + geom.width + GAP;
  const both = picture === "change";
  const words = before.map((was, level) => {
    const is = after[level];
    if (both) return `${was}→${is}`;
    return String(half ? is : was); // a tick says what it was before
  });
  ctx.font = theme.font;
  const written = Math.max(NUMBER, ...words.map((text) => 7 + ctx.measureText(text).width));
  const unit = Math.max(1, geom.right - GAP - written) / most;
  ctx.textAlign = "left";
  ctx.lineWidth = 1.5;
  ctx.fillStyle = theme.line;
  const edge = halfBox(geom, half);
  ctx.fillRect(left - 1, edge.y, 1, edge.h);
  if (half === geom.halves - 1) { // the title, at the axis, where the column is free
    ctx.fillStyle = theme.text;
    ["retrieved", "by level"].forEach((text, i) =>
      ctx.fillText(text, left, geom.axisTop + geom.axisHeight / 2 + (i ? 8 : -8)));
  }
  let last = -Infinity;
  for (let level = 0; level <= tree.highest; level++) {
    const [was, is] = [before[level], after[level]];
    const { y, h } = rowBox(geom, half, level);
    const thick = Math.min(THICK, h * 0.6) * (both ? 0.5 : 1);
    const middle = y + h / 2;
    /** @type {(count: number, top: number) => void} */
    const hollow = (count, top) => {
      ctx.strokeStyle = theme.text;
      if (count) ctx.strokeRect(left + 0.75, top + 0.75, unit * count - 1.5, thick - 1.5);
    };
    /** @param {number} top */
    const filled = (top) => {
      ctx.fillStyle = theme.muted;
      ctx.fillRect(left, top, unit * is, thick);
      if (both) return;
      ctx.fillStyle = theme.text; // where it was before
      ctx.fillRect(left + unit * was - 1, top - 2, 2, thick + 4);
    };
    if (both) {
      hollow(was, middle - thick - 1);
      filled(middle + 1);
    } else if (half) filled(middle - thick / 2);
    else hollow(was, middle - thick / 2);
    // Of two halves the lower one has the numbers.
    const numbered = both || half || geom.halves === 1;
    if (!numbered || !(was || is) || Math.abs(middle - last) < LINE) continue;
    last = middle;
    ctx.fillStyle = theme.text;
    const end = Math.max(half || both ? is : was, half || both ? was : 0);
    ctx.fillText(words[level], left + unit * end + 5, middle + 0.5);
  }
}
