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
 *    points: [number, number][], dash?: number[]) => void} */
function haloed(theme, ctx, colour, width, halo, points, dash = []) {
  ctx.strokeStyle = theme.background;
  stroke(ctx, halo, ...points);
  ctx.setLineDash(dash);
  ctx.strokeStyle = colour;
  stroke(ctx, width, ...points);
  ctx.setLineDash([]);
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

// --- signs outside of narrow boxes -----------------------------------------------------

/** Middle of a box, where a sign outside of it begins, and the direction it grows in.
 * @param {Rect} rect
 * @param {number} half */
function outside({ x, y, w, h }, half) {
  return { middle: x + w / 2, base: half ? y + h : y - 1, away: half ? 1 : -1 };
}

/** A line along the outer edge, as wide as the box.
 * @type {Sign} */
export function bar(theme, ctx, rect, half, colour) {
  const { middle, base } = outside(rect, half);
  const reach = Math.max(rect.w, 3) / 2;
  for (const { tone, width, more } of [{ tone: theme.background, width: 3.5, more: 0.5 },
    { tone: colour, width: 2, more: 0 }]) {
    ctx.strokeStyle = tone;
    stroke(ctx, width, [middle - reach - more, base], [middle + reach + more, base]);
  }
}

/** A triangle that points at the box: hollow for what was, with a stem for what has come.
 * @type {Sign<[kind?: "" | "hollow" | "stem"]>} */
export function triangle(theme, ctx, rect, half, colour, kind = "") {
  const { middle, base, away } = outside(rect, half);
  const [tip, flat] = [base + away, base + away * 7.5];
  if (kind === "stem") {
    haloed(theme, ctx, colour, 3, 6, [[middle, flat], [middle, flat + away * 7]]);
  }
  polygon(ctx, [middle, tip], [middle - 4, flat], [middle + 4, flat]);
  haloStroke(theme, ctx);
  ctx.fillStyle = kind === "hollow" ? theme.background : colour;
  ctx.fill();
  if (kind !== "hollow") return;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.25;
  ctx.stroke();
}

/** A plus beyond the outer edge.
 * @type {Sign<[lift?: number]>} */
export function plus(theme, ctx, rect, half, colour, lift = 0) {
  const { middle, base, away } = outside(rect, half);
  const centre = base + away * (5 + lift);
  for (const { tone, width, arm } of [{ tone: theme.background, width: 4.5, arm: 5 },
    { tone: colour, width: 2, arm: 4 }]) {
    ctx.strokeStyle = tone;
    stroke(ctx, width, [middle - arm, centre], [middle + arm, centre]);
    stroke(ctx, width, [middle, centre - arm], [middle, centre + arm]);
  }
}

/** Of the bracket of what has left. */
export const DASHED = [2.5, 1.5];

/** A cap with two legs on the outer edge.
 * @type {Sign<[dash?: number[]]>} */
export function bracket(theme, ctx, rect, half, colour, dash = []) {
  const { middle, base, away } = outside(rect, half);
  const reach = Math.max(rect.w / 2 + 1, 5);
  const top = base + away * 4;
  haloed(theme, ctx, colour, 1.5, 3.5, [[middle - reach, base], [middle - reach, top],
    [middle + reach, top], [middle + reach, base]], dash);
}

/** @type {(theme: Theme, ctx: Ctx, x: number, y: number) => void} */
export function diamond(theme, ctx, x, y) {
  polygon(ctx, [x, y - 4.5], [x + 4.5, y], [x, y + 4.5], [x - 4.5, y]);
  haloStroke(theme, ctx);
  ctx.fillStyle = theme.background;
  ctx.fill();
  ctx.strokeStyle = theme.text;
  ctx.lineWidth = 1.5;
  ctx.stroke();
}

/** @type {(theme: Theme, ctx: Ctx) => void} */
function haloStroke(theme, ctx) {
  ctx.strokeStyle = theme.background;
  ctx.lineWidth = 3.5;
  ctx.lineJoin = "round";
  ctx.stroke();
}

/** A filled dot: inside a box at its outer edge, or outside of a narrow one.
 * @type {Sign<[size?: number]>} */
export function dot(theme, ctx, rect, half, colour, size = 2.5) {
  const { middle, base, away } = outside(rect, half);
  const fits = rect.w >= 4 * size && rect.h >= 14;
  ctx.beginPath();
  ctx.arc(middle, base + away * (fits ? -5 : 4), size, 0, 2 * Math.PI);
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
