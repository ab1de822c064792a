// The ranks on the tree, each at the place of its node: a number where a node enters or leaves the
// retrieved ones or has gold evidence, a dot at any other retrieved node, hollow before and filled
// after. A line across the axis joins the two numbers of a node. A gold leaf that is not retrieved
// has a number while a turn of it is missed; else the node that has its turn has one.

import { heldBy, turnsOf } from "./answer.js";
import { nodeRect, rowRect } from "./boxes.js";
import { inkOn } from "./colour.js";
import { halfBox } from "./geometry.js";
import { isNarrow, outline, stroke } from "./glyphs.js";
import { topOf } from "./node_color.js";

const HIGH = 15; // pixels of a number
const DOT = 3.5; // radius in pixels
const [WIDE, LEAD] = [44, 17]; // from so wide on a mark stands so far from the left edge, else in the middle
const REACH = 6; // pixels from a dot that still count as on it

/** Whether a mark stands at the left of a box so wide, else in its middle.
 * @param {number} width */
export const isWide = (width) => width >= WIDE;

/** Pixels at the left of a wide box that its mark takes. */
export const MARK_ROOM = LEAD + 14;

/** Pixels at the axis that the mark of a narrower box takes. */
export const MARK_FOOT = HIGH + 4;

/** Pixels of a number's plate.
 * @param {number | string} rank */
const plateWidth = (rank) => 7 * String(rank).length + 8;

/** Rank of every node that is marked in a half, whether it is retrieved there, and why it is marked:
 *  it holds gold evidence, it enters or leaves, it stays, or nothing is known of a before and after.
 * @type {(scene: Scene, half: number) => Map<number, RankMark>} */
export function rankMarks(scene, half) {
  const { answer, picture, data, tree } = scene;
  const held = heldBy(data, tree);
  /** @type {Map<number, RankMark>} */
  const marks = new Map();
  const [enters, leaves] = [new Set(answer?.entered), new Set(answer?.left)];
  /** @type {(node: number, rank: number | undefined, inside: boolean) => void} */
  const add = (node, rank, inside) => {
    if (!rank || marks.has(node)) return;
    const kind = held.has(node) ? "gold" : enters.has(node) ? "enters" : leaves.has(node) ? "leaves"
      : answer ? "same" : "alone";
    marks.set(node, { node, rank, inside, kind });
  };
  const before = picture === "scores" && !half;
  topOf(scene, half).forEach((node, i) =>
    add(node, (before ? answer?.was : answer?.is)?.get(node) ?? i + 1, true));
  if (!answer) return marks;
  const missed = Array.from(data.gold)
    .filter((leaf) => turnsOf(data, leaf).some((turn) => answer.gold.after.missed.includes(turn)));
  const others = [...before ? answer.entered : answer.left, ...missed];
  for (const node of others) add(node, (before ? answer.was : answer.is).get(node), false);
  return marks;
}

/** @type {(theme: Theme, kind: RankMark["kind"]) => string} */
const colourOf = (theme, kind) => ({ gold: theme.gold.found, enters: theme.enters,
  leaves: theme.leaves, alone: theme.text, same: theme.muted })[kind];

/** @type {(s: State, ctx: Ctx) => void} */
export function drawRanks(s, ctx) {
  const { scene: { theme }, sight, sight: { geom } } = s;
  sight.marks = Array.from({ length: geom.halves }, (_, half) => placeMarks(s, half));
  const placed = sight.marks;
  placed.forEach((marks, half) => marks.forEach(({ mark: { node, inside, kind }, rect }) => {
    const width = kind === "same" ? 1.25 : half || geom.halves === 1 ? 3 : 2;
    const box = isNarrow(rect, width) ? rect : nodeRect(s, half, node);
    if (inside) outline(theme, ctx, box, colourOf(theme, kind), width);
    else if (kind !== "gold") outline(theme, ctx, box, theme.muted, 1, { dash: [4, 3] });
  }));
  ctx.save();
  clipWritten(s, ctx);
  placed[0].forEach((from, node) => {
    const to = placed[1]?.get(node);
    if (to && from.mark.kind !== "same") drawShift(theme, ctx, from, to);
  });
  ctx.restore();
}

/** The numbers and dots of `drawRanks`, which nothing crosses.
 * @type {(s: State, ctx: Ctx) => void} */
export function drawNumbers({ scene: { theme }, sight: { geom, marks: placed } }, ctx) {
  placed.forEach((marks, half) => {
    const after = geom.halves === 1 || half === 1;
    const all = [...marks.values()];
    for (const at of all.filter(({ dot }) => dot)) drawDot(theme, ctx, at, after);
    for (const { mark: { kind }, rect, x, y } of all) { // from a number that was moved to its node
      const foot = footOf(rect, half);
      ctx.strokeStyle = colourOf(theme, kind);
      if (Math.abs(foot - y) > HIGH) stroke(ctx, 1, [x, y], [x, foot]);
    }
    for (const at of all.filter(({ dot }) => !dot)) plate(theme, ctx, at, at.mark, after);
  });
}

/** Middle of a mark that has its place: at the edge of its row that is nearer to the axis.
 * @type {(rect: Rect, half: number) => number} */
const footOf = ({ y, h }, half) => {
  const room = Math.min(h, HIGH + 2) / 2;
  return half ? y + room : y + h - room;
};

/** The marks of a half, each at the place of its node on the axis; a number that would lie on another
 *  mark moves away from the axis until it does not. One that has no room is a dot.
 * @type {(s: State, half: number) => Map<number, PlacedMark>} */
function placeMarks(s, half) {
  const { geom } = s.sight;
  const edge = halfBox(geom, half);
  const outwards = half ? 1 : -1;
  /** @type {PlacedMark[]} */
  const marks = [];
  for (const mark of rankMarks(s.scene, half).values()) {
    const rect = rowRect(s, half, mark.node);
    if (!rect) continue;
    const x = rect.x + (isWide(rect.w) ? LEAD : rect.w / 2);
    const dot = mark.kind === "same" || mark.kind === "alone";
    marks.push({ mark, rect, x, y: footOf(rect, half), dot });
  }
  /** @type {{ x: number, y: number, w: number, h: number }[]} */
  const taken = marks.filter(({ dot }) => dot).map(({ x, y }) => ({ x, y, w: 2 * DOT, h: 2 * DOT }));
  const numbers = marks.filter(({ dot }) => !dot)
    .sort((a, b) => outwards * (a.y - b.y) || a.x - b.x || a.mark.node - b.mark.node);
  for (const at of numbers) {
    const w = plateWidth(at.mark.rank) + 1;
    let y = at.y;
    for (;;) {
      const other = taken.find((each) => Math.abs(each.x - at.x) < (each.w + w) / 2
        && Math.abs(each.y - y) < (each.h + HIGH) / 2 + 1);
      if (!other) break;
      y = other.y + outwards * ((other.h + HIGH) / 2 + 1.5);
    }
    at.dot = y - HIGH / 2 < edge.y - 1 || y + HIGH / 2 > edge.y + edge.h + 1;
    if (!at.dot) at.y = y;
    taken.push({ x: at.x, y: at.y, w: at.dot ? 2 * DOT : w, h: at.dot ? 2 * DOT : HIGH });
  }
  return new Map(marks.map((at) => [at.mark.node, at]));
}

/** The node whose mark is under a place; null if none is. Numbers lie over dots and diamonds.
 * @type {(sight: Sight, x: number, y: number) => number | null} */
export function markAt({ marks, diamonds }, x, y) {
  const all = marks.flatMap((half) => [...half.values()]);
  const number = all.find((at) => !at.dot && Math.abs(at.x - x) <= plateWidth(at.mark.rank) / 2 + 1
    && Math.abs(at.y - y) <= HIGH / 2 + 1);
  if (number) return number.mark.node;
  const dots = all.filter(({ dot }) => dot).map(({ mark: { node }, x, y }) => ({ node, x, y }));
  const near = [...dots, ...diamonds].map((at) => ({ node: at.node, away: Math.hypot(at.x - x, at.y - y) }))
    .filter(({ away }) => away <= REACH).sort((a, b) => a.away - b.away);
  return near[0]?.node ?? null;
}

/** Lets lines pass behind the words on the axis.
 * @type {(s: State, ctx: Ctx) => void} */
function clipWritten({ sight: { written }, elements: { stage } }, ctx) {
  ctx.beginPath();
  ctx.rect(0, 0, stage.clientWidth, stage.clientHeight);
  for (const { x, y, w, h } of written) ctx.rect(x + w, y, -w, h); // wound the other way: a hole
  ctx.clip();
}

/** From a node's rank before to its rank after.
 * @type {(theme: Theme, ctx: Ctx, from: PlacedMark, to: PlacedMark) => void} */
function drawShift(theme, ctx, from, to) {
  const { mark: { kind, inside } } = from;
  const width = kind === "gold" ? 4 : 1.75;
  ctx.strokeStyle = theme.background;
  stroke(ctx, width + 2.5, [from.x, from.y], [to.x, to.y]);
  ctx.setLineDash(inside && !to.mark.inside ? [4, 3] : []);
  ctx.strokeStyle = colourOf(theme, kind);
  stroke(ctx, width, [from.x, from.y], [to.x, to.y]);
  ctx.setLineDash([]);
}

/** A retrieved node that has no number: filled after, hollow before.
 * @type {(theme: Theme, ctx: Ctx, at: { x: number, y: number, mark: Pick<RankMark, "kind"> },
 *    after: boolean) => void} */
export function drawDot(theme, ctx, { x, y, mark: { kind } }, after) {
  ctx.beginPath();
  ctx.arc(x, y, DOT, 0, 2 * Math.PI);
  ctx.strokeStyle = theme.background;
  ctx.lineWidth = 4;
  ctx.stroke();
  ctx.fillStyle = after ? colourOf(theme, kind) : theme.background;
  ctx.fill();
  ctx.strokeStyle = colourOf(theme, kind);
  ctx.lineWidth = 1.5;
  ctx.stroke();
}

/** A number on its plate: filled after, hollow before, bare where the node is not retrieved. What left
 *  is struck through; gold that is missed before and after is not.
 * @type {(theme: Theme, ctx: Ctx, at: { x: number, y: number }, mark: Omit<RankMark, "node" | "rank"> & { rank: number | string },
 *    after: boolean) => void} */
export function plate(theme, ctx, { x, y }, { rank, inside, kind }, after) {
  const [w, colour] = [plateWidth(rank), colourOf(theme, kind)];
  const filled = inside && after;
  const fill = !filled ? theme.background : kind === "same" ? theme.line : colour;
  ctx.fillStyle = fill;
  ctx.fillRect(x - w / 2, y - HIGH / 2, w, HIGH);
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5;
  if (inside && !filled) ctx.strokeRect(x - w / 2 + 0.75, y - HIGH / 2 + 0.75, w - 1.5, HIGH - 1.5);
  ctx.font = `600 ${theme.font}`;
  [ctx.textAlign, ctx.textBaseline] = ["center", "middle"];
  ctx.fillStyle = filled ? inkOn(fill) : kind === "gold" ? theme.text : colour;
  ctx.fillText(String(rank), x, y + 0.5);
  if (!inside && after && kind === "leaves") stroke(ctx, 1, [x - w / 2 + 2, y], [x + w / 2 - 2, y]);
}
