// The ranks on the tree: a number at every retrieved node, hollow before and filled after, and a
// line across the axis for every rank that changes. What stays as it was is grey.

import { nodeRect, rowRect } from "./boxes.js";
import { inkOn } from "./colour.js";
import { spread } from "./geometry.js";
import { isNarrow, outline, stroke } from "./glyphs.js";
import { topOf } from "./node_color.js";

const [HIGH, MOVED] = [15, 3]; // pixels of a number; ranks that are worth a line

/** Pixels of a number's plate.
 * @param {number} rank */
export const plateWidth = (rank) => 7 * String(rank).length + 8;

/** Rank of every node that is marked in a half, whether it is retrieved there, and why it is marked:
 *  it holds gold evidence, it enters or leaves, or it stays.
 * @type {(scene: Scene, half: number) => Map<number, RankMark>} */
export function rankMarks(scene, half) {
  const { answer, picture } = scene;
  /** @type {Map<number, RankMark>} */
  const marks = new Map();
  const changed = new Set(answer ? [...answer.entered, ...answer.left] : topOf(scene, half));
  /** @type {(node: number, rank: number | undefined, inside: boolean) => void} */
  const add = (node, rank, inside) => {
    if (!rank || marks.has(node)) return;
    const kind = answer?.held.has(node) ? "gold" : changed.has(node) ? "changed" : "same";
    marks.set(node, { node, rank, inside, kind });
  };
  const before = picture === "scores" && !half;
  topOf(scene, half).forEach((node, i) =>
    add(node, (before ? answer?.was : answer?.is)?.get(node) ?? i + 1, true));
  if (!answer) return marks;
  const others = [...before ? answer.entered : answer.left, ...scene.data.gold];
  for (const node of others) add(node, (before ? answer.was : answer.is).get(node), false);
  return marks;
}

/** @type {(theme: Theme, kind: RankMark["kind"]) => string} */
const colourOf = (theme, kind) =>
  ({ gold: theme.gold.found, changed: theme.accent, same: theme.muted })[kind];

const WIDTHS = { gold: 4, changed: 1.75, same: 1 }; // pixels of a line

/** @type {(s: State, ctx: Ctx) => void} */
export function drawRanks(s, ctx) {
  const { scene: { theme }, sight: { geom } } = s;
  const placed = Array.from({ length: geom.halves }, (_, half) => placedMarks(s, half));
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
    if (to) drawShift(theme, ctx, from, to);
  });
  ctx.restore();
  ctx.strokeStyle = theme.muted;
  for (const { rect, x, y } of placed.flatMap((marks) => [...marks.values()])) {
    if (isNarrow(rect, 2)) stroke(ctx, 1, [x, y], [rect.x + rect.w / 2, y]); // to its box beside it
  }
  placed.forEach((marks, half) => marks.forEach((at) =>
    plate(theme, ctx, at, at.mark, geom.halves === 1 || half === 1)));
}

/** The marks of a half in their rows, beside each other where their nodes are nearer than that.
 * @type {(s: State, half: number) => Map<number, PlacedMark>} */
function placedMarks(s, half) {
  const { geom } = s.sight;
  /** @type {Map<number, PlacedMark[]>} */
  const rows = new Map();
  for (const mark of rankMarks(s.scene, half).values()) {
    const rect = rowRect(s, half, mark.node);
    if (!rect) continue;
    const wide = plateWidth(mark.rank);
    const x = rect.w < wide + 8 ? rect.x + rect.w / 2 : rect.x + wide / 2 + 5;
    rows.set(rect.y, [...rows.get(rect.y) ?? [], { mark, rect, x, y: rect.y + rect.h / 2 }]);
  }
  for (const row of rows.values()) {
    const size = Math.max(...row.map(({ mark }) => plateWidth(mark.rank))) + 2;
    const places = spread(row.map(({ x }) => x), size, geom.left, geom.left + geom.width);
    row.forEach((at, i) => { at.x = places[i]; });
  }
  return new Map([...rows.values()].flat().map((at) => [at.mark.node, at]));
}

/** Lets lines pass behind the words on the axis.
 * @type {(s: State, ctx: Ctx) => void} */
function clipWritten({ sight: { written }, elements: { stage } }, ctx) {
  ctx.beginPath();
  ctx.rect(0, 0, stage.clientWidth, stage.clientHeight);
  for (const { x, y, w, h } of written) ctx.rect(x + w, y, -w, h); // wound the other way: a hole
  ctx.clip();
}

/** From a node's rank before to its rank after; nothing where it hardly moves.
 * @type {(theme: Theme, ctx: Ctx, from: PlacedMark, to: PlacedMark) => void} */
function drawShift(theme, ctx, from, to) {
  const { mark: { kind, inside, rank } } = from;
  if (kind === "same" && Math.abs(rank - to.mark.rank) < MOVED) return;
  /** @type {[number, number][]} */
  const ends = [[from.x, from.y + HIGH / 2], [to.x, to.y - HIGH / 2]];
  const width = WIDTHS[kind];
  ctx.strokeStyle = theme.background;
  stroke(ctx, width + 2.5, ...ends);
  ctx.setLineDash(inside && !to.mark.inside ? [4, 3] : []);
  ctx.strokeStyle = colourOf(theme, kind);
  stroke(ctx, width, ...ends);
  ctx.setLineDash([]);
}

/** A number on its plate: filled after, hollow before, bare where the node is not retrieved. What left
 *  is struck through; gold that is missed before and after is not.
 * @type {(theme: Theme, ctx: Ctx, at: { x: number, y: number }, mark: Omit<RankMark, "node">,
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
  ctx.fillStyle = filled ? inkOn(fill) : kind === "changed" ? theme.accent : theme.text;
  ctx.fillText(String(rank), x, y + 0.5);
  if (!inside && after && kind === "changed") stroke(ctx, 1, [x - w / 2 + 2, y], [x + w / 2 - 2, y]);
}
