// The outlines and signs that marks are made of, on a halo of the background
// so that they show on any fill.

/** Does an outline of this width inside the box leave too little of its fill?
 * @type {(rect: Rect, width: number) => boolean} */
export const isNarrow = (rect, width) => rect.w < 8 + 2 * width;

/** An outline inside the box, on a halo of the background so that it shows on any fill;
 *  around the box where that is narrow.
 * @type {(theme: Theme, ctx: Ctx, rect: Rect | null, colour: string, width: number,
 *    given?: { inset?: number, dash?: number[], halo?: boolean }) => void} */
export function outline(
  theme, ctx, rect, colour, width, { inset = 0, dash = [], halo = true } = {},
) {
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
    const line = y + h - 0.5;
    stroke(ctx, h < 7 ? 1 : 1.5, [x, line], [x + w - 1, line]);
    ctx.setLineDash([]);
    stroke(ctx, 3, [x + 1.5, y], [x + 1.5, y + h]);
    stroke(ctx, 3, [x + w - 2.5, y], [x + w - 2.5, y + h]);
    return;
  }
  const edge = inset + width / 2;
  /** @type {[number, number, number, number]} */
  const box = [x + edge, y + edge, w - 1 - 2 * edge, Math.max(0.5, h - 1 - 2 * edge)];
  if (halo) {
    ctx.setLineDash([]);
    ctx.strokeStyle = theme.background;
    ctx.lineWidth = width + 2;
    ctx.strokeRect(...box);
    ctx.setLineDash(dash);
    ctx.strokeStyle = colour;
  }
  ctx.lineWidth = width;
  ctx.strokeRect(...box);
  ctx.setLineDash([]);
}

/** A line through points, in the present colour.
 * @type {(ctx: Ctx, width: number, ...points: [number, number][]) => void} */
export function stroke(ctx, width, ...points) {
  ctx.lineWidth = width;
  path(ctx, points);
  ctx.stroke();
}

/** A line on a halo of the background.
 * @type {(theme: Theme, ctx: Ctx, colour: string, width: number, halo: number,
 *    points: [number, number][]) => void} */
function haloed(theme, ctx, colour, width, halo, points) {
  ctx.strokeStyle = theme.background;
  stroke(ctx, halo, ...points);
  ctx.strokeStyle = colour;
  stroke(ctx, width, ...points);
}

/** A line through the middle of a box: its text is no longer true.
 * @type {(theme: Theme, ctx: Ctx, rect: Rect) => void} */
export function strike(theme, ctx, { x, y, w, h }) {
  const [inset, middle] = [w > 12 ? 3 : -1, y + Math.max(1, h - 1) / 2];
  haloed(theme, ctx, theme.text, 1.5, 3.5, [[x + inset, middle], [x + Math.max(w - 1, 2) - inset, middle]]);
}

/** @type {(ctx: Ctx, points: [number, number][]) => void} */
function path(ctx, points) {
  ctx.beginPath();
  points.forEach((point, i) => (i ? ctx.lineTo(...point) : ctx.moveTo(...point)));
}

/** A closed shape, which the caller fills.
 * @type {(ctx: Ctx, ...points: [number, number][]) => void} */
export function polygon(ctx, ...points) {
  path(ctx, points);
  ctx.closePath();
}

// --- signs of narrow boxes, at their outer edge -----------------------------------------

const TALL = 18; // pixels; in flatter rows signs are smaller, so that each stays in its row

/** Middle of a box, its outer edge, the way from there into it, and how large its signs are.
 * @param {Rect} rect
 * @param {number} half */
function edge({ x, y, w, h }, half) {
  const size = Math.min(1, Math.max(0.4, h / TALL));
  return half ? { middle: x + w / 2, base: y + h - 1, into: -size, size }
    : { middle: x + w / 2, base: y, into: size, size };
}

/** A line along the outer edge, as wide as the box.
 * @type {Sign} */
export function bar(theme, ctx, rect, half, colour) {
  const { middle, base } = edge(rect, half);
  const reach = Math.max(rect.w, 3) / 2;
  for (const { tone, width, more } of [{ tone: theme.background, width: 3.5, more: 0.5 },
    { tone: colour, width: 2, more: 0 }]) {
    ctx.strokeStyle = tone;
    stroke(ctx, width, [middle - reach - more, base], [middle + reach + more, base]);
  }
}

/** A triangle that points into the box.
 * @type {Sign} */
export function triangle(theme, ctx, rect, half, colour) {
  const { middle, base, into, size } = edge(rect, half);
  const flat = base + into;
  polygon(ctx, [middle, flat + into * 7], [middle - 4 * size, flat], [middle + 4 * size, flat]);
  haloStroke(theme, ctx);
  ctx.fillStyle = colour;
  ctx.fill();
}

/** A plus at the outer edge, or so much deeper.
 * @type {Sign<[deeper?: number]>} */
export function plus(theme, ctx, rect, half, colour, deeper = 0) {
  const { middle, base, into, size } = edge(rect, half);
  const centre = base + into * (5 + deeper);
  for (const { tone, width, arm } of [{ tone: theme.background, width: 4.5, arm: 5 * size },
    { tone: colour, width: 2, arm: 4 * size }]) {
    ctx.strokeStyle = tone;
    stroke(ctx, width, [middle - arm, centre], [middle + arm, centre]);
    stroke(ctx, width, [middle, centre - arm], [middle, centre + arm]);
  }
}

/** A cap along the outer edge, its two legs into the row.
 * @type {Sign} */
export function bracket(theme, ctx, rect, half, colour) {
  const { middle, base, into } = edge(rect, half);
  const reach = Math.max(rect.w / 2 + 1, 5);
  const foot = base + into * 5;
  haloed(theme, ctx, colour, 1.5, 3.5, [[middle - reach, foot], [middle - reach, base],
    [middle + reach, base], [middle + reach, foot]]);
}

/** @type {(theme: Theme, ctx: Ctx, x: number, y: number) => void} */
export function diamond(theme, ctx, x, y) {
  polygon(ctx, [x, y - 4.5], [x + 4.5, y], [x, y + 4.5], [x - 4.5, y]);
  haloStroke(theme, ctx);
  ctx.fillStyle = theme.gold.found;
  ctx.fill();
  ctx.strokeStyle = theme.text;
  ctx.lineWidth = 1;
  ctx.stroke();
}

/** @type {(theme: Theme, ctx: Ctx) => void} */
function haloStroke(theme, ctx) {
  ctx.strokeStyle = theme.background;
  ctx.lineWidth = 3.5;
  ctx.lineJoin = "round";
  ctx.stroke();
}

/** A filled dot at the outer edge.
 * @type {Sign<[size?: number]>} */
export function dot(theme, ctx, rect, half, colour, size = 2.5) {
  const { middle, base, into } = edge(rect, half);
  ctx.beginPath();
  ctx.arc(middle, base + into * 5, size, 0, 2 * Math.PI);
  haloStroke(theme, ctx);
  ctx.fillStyle = colour;
  ctx.fill();
}

/** A line along a box's inner edge, with feet at both ends, for what lies below a node.
 * @type {Sign<[width: number]>} */
export function footing(theme, ctx, rect, half, colour, width) {
  const { x, y, w, h } = rect;
  const line = half ? y + width / 2 : y + h - 1 - width / 2;
  const foot = line + (half ? 4 : -4);
  const [left, right] = [x + width / 2, x + Math.max(w - 1, 2) - width / 2];
  haloed(theme, ctx, colour, width, width + 2,
    [[left, foot], [left, line], [right, line], [right, foot]]);
}

/** A word from below to above.
 * @type {(ctx: Ctx, colour: string, word: string, x: number, middle: number) => void} */
export function vertical(ctx, colour, word, x, middle) {
  ctx.save();
  ctx.translate(x, middle);
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = "center";
  ctx.fillStyle = colour;
  ctx.fillText(word, 0, 0);
  ctx.restore();
}
