// One class of nodes alone, all others under a veil: a session, a level, a
// fate of the gold evidence, a step of a measure, or the retrieved nodes. `s.isolated` is
// {kind, key} or null.

import { eachBox, pixel, snap } from "./boxes.js";
import { goldClass, isMeasure, measureOf, measureStep, topOf } from "./shades.js";

const VEIL = 0.84;

/** A second call with the same class ends it.
 * @param {State} s
 * @param {string} kind
 * @param {number | string} key */
export function toggleIsolated(s, kind, key) {
  const same = s.isolated?.kind === kind && s.isolated.key === key;
  s.isolated = same ? null : { kind, key };
}

/** Whether a node belongs to the class that stands alone. Sessions are no matter of nodes
 *  but of places on the axis: a root holds all of them.
 * @param {State} s
 * @param {number} half
 * @param {number} node */
export function isMember(s, half, node) {
  const { kind, key } = /** @type {Isolated} */ (s.isolated);
  if (kind === "level") return s.tree.level[node] === key;
  if (kind === "gold") return goldClass(s, half, node) === key;
  if (isMeasure(s.data, kind)) return measureStep(measureOf(s.data, kind, node)) === key;
  if (kind === "top") return topOf(s, half).includes(node);
  return true;
}

/** Whether single nodes, not whole columns or rows, stand alone: then one of them must win
 *  its pixel column.
 * @param {State} state */
export const picksNodes = ({ isolated }) =>
  isolated !== null && isolated.kind !== "session" && isolated.kind !== "level";

/** @param {State} s
 * @param {Ctx} ctx
 * @param {number} half */
export function drawVeil(s, ctx, half) {
  if (!s.isolated) return;
  ctx.save();
  ctx.fillStyle = s.theme.background;
  ctx.globalAlpha = VEIL;
  if (s.isolated.kind === "session") veilColumns(s, ctx, half);
  else veilBoxes(s, ctx, half);
  ctx.restore();
}

/** @param {State} s
 * @param {Ctx} ctx
 * @param {number} half */
function veilColumns(s, ctx, half) {
  const { geom } = s;
  const top = half ? geom.axisTop + geom.axisHeight : geom.axisTop - geom.rows.total;
  const end = geom.left + geom.width;
  /** @param {number} unit */
  const edge = (unit) => Math.round(Math.min(end, Math.max(geom.left, pixel(s, unit))));
  for (const run of s.runs) {
    if (run.session === s.isolated?.key) continue;
    const [x, right] = [edge(run.start), edge(run.stop)];
    if (right > x) ctx.fillRect(x, top, right - x, geom.rows.total);
  }
}

/** @param {State} s
 * @param {Ctx} ctx
 * @param {number} half */
function veilBoxes(s, ctx, half) {
  const boxes = s.boxes[half];
  eachBox(s, half, (i, y, h) => {
    if (isMember(s, half, boxes.id[i])) return;
    const x = snap(s.geom.left + boxes.x[i]);
    ctx.fillRect(x, y, Math.max(1, snap(s.geom.left + boxes.x[i] + boxes.w[i]) - x), h);
  });
}
