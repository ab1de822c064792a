// The candidates of a step, right of the tree: how each fared, and what was
// taken. A similarity is a bar with its threshold as a tick; a language model's label is
// text. Labels may be answers or only what was on offer, so a check mark and bold type
// tell what was taken; where that is none of them, a row of its own says so on top.

import { mix } from "./colour.js";
import { rowBox, spread } from "./geometry.js";
import { stroke } from "./glyphs.js";
import { fittingText } from "./labels.js";

const NUMBERS = 88; // pixels of "0.178 < 0.182", or more in a wide font
const LINE = 22;
const REACH = 46; // pixels above and below a line that are its own, where no other is nearer

/** @type {(s: State, ctx: Ctx) => void} */
export function drawCandidates(s, ctx) {
  const { sight: { geom }, scene: { theme, data } } = s;
  const left = geom.left + geom.width + 12;
  const barLeft = left + 14;
  const [low, high] = barRange(data.candidates);
  const { shown, hidden } = candidateRows(data, Math.floor((geom.axisTop - geom.top) / LINE));
  ctx.font = theme.font;
  const written = Math.max(NUMBERS, ...shown.map((row) => 11 + ctx.measureText(row.numbers).width));
  const width = Math.max(20, geom.right - 26 - written);
  /** @param {number} v */
  const place = (v) => barLeft + ((v - low) / (high - low)) * width;
  s.sight.candidates = [];
  if (!shown.length) return;
  const centres = shown.map((row) => {
    const { y, h } = rowBox(geom, 0, row.level);
    return y + h / 2;
  });
  const bottom = geom.axisTop - (hidden ? LINE : 0);
  const lines = spread(centres, LINE, geom.top, bottom);
  s.sight.candidates = shown.map((row, i) => ({ node: "node" in row ? Number(row.node) : null, y: lines[i] }));
  const first = Math.min(...lines);
  const scored = lines.filter((_, i) => shown[i].score !== null);
  ctx.font = theme.font;
  ctx.textAlign = "left";
  ctx.fillStyle = theme.muted;
  ctx.fillText(candidatesTitle(data.candidates), barLeft, Math.max(9, first - 19));
  if (scored.length) {
    ctx.fillStyle = theme.line; // zero
    const [top, end] = [Math.min(...scored) - 8, Math.max(...scored) + 8];
    ctx.fillRect(Math.round(place(0)), top, 1, end - top);
    ctx.fillStyle = theme.muted;
  }
  if (hidden) ctx.fillText(`and ${hidden} more`, barLeft, geom.axisTop - LINE / 2);
  shown.forEach((row, i) => {
    const y = Math.round(lines[i]);
    ctx.strokeStyle = theme.line; // leads from the level's row to its line
    stroke(ctx, 1, [left - 10, centres[i]], [left - 2, y]);
    if (row.taken) { // a check mark
      ctx.strokeStyle = theme.chosen;
      stroke(ctx, 2, [left + 1, y], [left + 4, y + 4], [left + 10, y - 5]);
    }
    const { numbers } = row;
    let textLeft = barLeft;
    if (numbers) {
      ctx.fillStyle = row.taken ? theme.chosen : mix(theme.text, theme.background, 0.42);
      const zero = place(0);
      const tip = place(row.score ?? 0);
      ctx.fillRect(Math.min(zero, tip), y - 6, Math.max(1, Math.abs(tip - zero)), 12);
      if (row.threshold !== null && row.threshold < low) { // an arrow to where it lies
        ctx.strokeStyle = theme.text;
        stroke(ctx, 2, [barLeft + 4, y - 5], [barLeft, y], [barLeft + 4, y + 5]);
      } else if (row.threshold !== null) {
        ctx.fillStyle = theme.text;
        ctx.fillRect(Math.round(place(row.threshold)) - 1, y - 9, 2, 18);
      }
      textLeft += width + 8;
    }
    ctx.font = `${row.taken && !numbers ? "600 " : ""}${theme.font}`;
    ctx.fillStyle = row.taken ? theme.text : theme.muted;
    const room = s.elements.stage.clientWidth - 2 - textLeft;
    ctx.fillText(fittingText(ctx, numbers || row.label, room), textLeft, y + 0.5);
  });
}

/** The rows there is room for: the candidates, of too many the best, and above them the
 *  outcome where none was taken.
 * @param {Message} message
 * @param {number} room */
export function candidateRows({ candidates, outcome }, room) {
  const places = Math.max(1, room) - (outcome ? 1 : 0);
  let best = candidates;
  if (best.length > places) {
    /** @param {Candidate} row */
    const rank = (row) => (row.taken ? Infinity : row.score ?? -Infinity);
    const first = [...best].sort((a, b) => rank(b) - rank(a)).slice(0, Math.max(0, places - 1));
    best = best.filter((row) => first.includes(row));
  }
  const hidden = candidates.length - best.length;
  /** @type {Omit<Candidate, "node">[]} */
  const shown = [...best];
  if (outcome) {
    shown.push({ level: outcome.level, label: outcome.text, score: null, threshold: null,
      numbers: "", taken: true });
  }
  return { shown, hidden };
}

/** What the bars of a step reach from and to: all its numbers, and zero. A threshold lower than
 *  any similarity is far from zero lies beyond: it would make every bar a dot.
 * @param {Candidate[]} candidates */
export function barRange(candidates) {
  /** @type {(values: (number | null)[]) => number[]} */
  const known = (values) => values.filter((value) => value !== null);
  const scores = known(candidates.map((c) => c.score));
  const needed = known(candidates.map((c) => c.threshold));
  const far = -Math.max(0.1, ...scores.map(Math.abs));
  return [Math.min(0, ...scores, ...needed.filter((value) => value >= far)),
    Math.max(0.1, ...scores, ...needed)];
}

/** The candidate whose line is nearest to a place of the column; null for none.
 * @type {(sight: Sight, x: number, y: number) => number | null} */
export function candidateAt({ geom, candidates }, x, y) {
  if (!candidates || geom.right < 100 || x < geom.left + geom.width + 4) return null;
  const near = candidates.filter((line) => Math.abs(line.y - y) <= REACH)
    .sort((a, b) => Math.abs(a.y - y) - Math.abs(b.y - y));
  return near[0]?.node ?? null;
}

/** What the column of candidates shows: numbers against a threshold, numbers, or labels.
 * @param {Candidate[]} candidates */
export function candidatesTitle(candidates) {
  if (candidates.some((c) => c.threshold !== null)) return "similarity | needed";
  if (candidates.some((c) => c.score !== null)) return "similarity";
  return candidates.some((c) => c.label) ? "label · ✓ taken" : "";
}
