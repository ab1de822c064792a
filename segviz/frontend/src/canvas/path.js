// The α path: the ranks of all nodes that are ever retrieved while α (or H) runs over its
// range, and the retrieved nodes at every place of it. It does not depend on where the control
// stands, so a drag moves no more than a line over it. Pure functions.

import { ranksOf, topNodes } from "./propagate.js";

/** The values of the axis.
 * @type {(over: "alpha" | "horizon", live: Live, setting: LiveSetting) => number[]} */
function pathValues(over, { alpha_max, alpha_step, horizon_max }, { horizon }) {
  const steps = over === "alpha" ? Math.round(alpha_max / alpha_step) : Math.max(horizon_max, horizon);
  // As a slider has them: a multiple of a step is not a sum of steps.
  return Array.from({ length: steps + 1 }, (_, i) =>
    (over === "alpha" ? Number((i * alpha_step).toFixed(6)) : i));
}

/** The path, a place of the axis at a time, so that whoever asks can pause in between. `wanted`
 *  nodes (gold leaves) are on it whether they are ever retrieved or not.
 * @param {Message} data
 * @param {Propagator} scores
 * @param {LiveSetting} setting
 * @param {"alpha" | "horizon"} over
 * @returns {Generator<undefined, Path>} */
export function* pathOf(data, scores, setting, over) {
  const live = /** @type {Live} */ (data.live);
  const values = pathValues(over, live, setting);
  /** @param {number} value */
  const at = (value) => (over === "alpha" ? scores(setting.policy, value, setting.horizon)
    : scores(setting.policy, setting.alpha, value));
  const tops = [];
  for (const value of values) {
    tops.push(topNodes(at(value), data, live));
    yield;
  }
  const nodes = [...new Set([...tops.flatMap((top) => [...top]), ...data.gold])];
  const ranks = nodes.map(() => new Int32Array(values.length));
  for (const [i, value] of values.entries()) {
    ranksOf(nodes, at(value), data).forEach((rank, place) => { ranks[place][i] = rank; });
    yield;
  }
  return { over, values, tops, nodes, ranks };
}

/** Where on the path a node is retrieved: [first, last] values of each run.
 * @type {(path: Path, node: number) => [number, number][]} */
export function retrievedAt({ values, tops }, node) {
  /** @type {[number, number][]} */
  const runs = [];
  tops.forEach((top, i) => {
    if (!top.includes(node)) return;
    const last = runs[runs.length - 1];
    if (last && last[1] === values[i - 1]) last[1] = values[i];
    else runs.push([values[i], values[i]]);
  });
  return runs;
}

/** What the control would have to be for a node to be retrieved, the nearest such value:
 *  "α ≥ .42", "H ≤ 1"; "" where there is none.
 * @type {(path: Path, node: number, now: number) => string} */
export function needed(path, node, now) {
  const runs = retrievedAt(path, node);
  const ends = runs.flatMap(([first, last]) => (last < now ? [last] : [first]));
  if (!ends.length) return "";
  const end = ends.reduce((a, b) => (Math.abs(b - now) < Math.abs(a - now) ? b : a));
  return `${sign(path.over)} ${end < now ? "≤" : "≥"} ${short(path.over, end)}`;
}

/** A value of the axis without needless digits: ".42", "2".
 * @type {(over: string, value: number) => string} */
export const short = (over, value) =>
  (over === "alpha" ? value.toFixed(2).replace(/^0/, "") : String(value));

/** What the axis is called.
 * @param {string} over */
export const sign = (over) => (over === "alpha" ? "α" : "H");
