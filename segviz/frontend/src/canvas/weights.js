// The scores' common scale, and which of many nodes in one pixel column is
// the one to be seen.

import { lastly } from "../shared/dom.js";
import { isMember } from "./classes.js";
import { crossings, goldClass, isMeasure, measureOf } from "./node_color.js";

/** Highest score of both halves, which share one colour scale.
 * @param {Message} data */
export const highestScore = ({ initial, final, level }) =>
  Math.max(mostOf.initial(initial, level), mostOf.final(final, level));

/** @type {(column: Weights, level: Int32Array) => number} */
function highest(column, level) {
  let most = 0;
  for (let i = 0; i < column.length; i++) if (column[i] > most && level[i] >= 0) most = column[i];
  return most;
}
const mostOf = { initial: lastly(highest), final: lastly(highest) };

/** In "grow", a marked node wins its pixel column, as a high score does in "scores".
 * @param {Message} data */
export function markWeights(data) {
  const weights = new Float32Array(data.nodes);
  const chosen = data.candidates.filter(({ taken }) => taken).map(({ node }) => node);
  [data.frontier, data.revised, data.added, chosen].forEach((ids, i) => {
    for (const id of ids) weights[id] = i + 1;
  });
  return weights;
}

/** For each half, what makes a node win its pixel column: the number its colour stands for,
 *  so that what stands out among many is not lost among them.
 * @param {Scene} scene */
export function columnWeights(scene) {
  const halves = scene.picture === "scores" ? [0, 1] : [0];
  const weigh = picksNodes(scene) ? isolatedWeights : shadeWeights;
  return halves.map((half) => weigh(scene, half));
}

/** @type {(scene: Scene, half: number) => Float64Array | Float32Array} */
function shadeWeights(scene, half) {
  const { data } = scene;
  /** @param {(node: number) => number} weigh */
  const each = (weigh) => Float64Array.from(data.level, (_, node) => weigh(node));
  switch (scene.shades[half]) {
    case "initial": return data.initial;
    case "propagated": return data.final;
    case "change": {
      const weights = new Float64Array(data.level.length);
      const crossing = crossings(data);
      for (let node = 0; node < weights.length; node++) weights[node] = Math.abs(crossing(node));
      return weights;
    }
    // Of the gold evidence what was missed: that is what one looks for.
    case "gold": return each((node) => GOLD_ORDER.indexOf(goldClass(scene, half, node)));
    // Neighbours in a row share their level and mostly their session: the colour is the same
    // whoever wins, so the marked node does, or the one with the higher score.
    default:
      // The least of a measure: among many that are coherent the one that is not.
      if (isMeasure(data, scene.shades[half])) {
        return each((node) => 2 - measureOf(data, scene.shades[half], node) || 0);
      }
      if (scene.picture === "grow") return scene.marks;
      return half || scene.picture === "change" ? data.final : data.initial;
  }
}

const GOLD_ORDER = ["other", "above", "found", "quoted", "answered", "missed"];

/** Whether single nodes, not whole columns or rows, stand alone: then one of them must win
 *  its pixel column.
 * @param {Scene} scene */
const picksNodes = ({ isolated }) =>
  isolated !== null && isolated.kind !== "session" && isolated.kind !== "level";

/** Where a class stands alone, each of its nodes before all others.
 * @type {(scene: Scene, half: number) => Float64Array} */
function isolatedWeights(scene, half) {
  const weights = shadeWeights(scene, half);
  return Float64Array.from(scene.data.level, (_, node) =>
    (weights[node] ?? 0) + (isMember(scene, half, node) ? ABOVE_ALL : 0));
}

const ABOVE_ALL = 100;
