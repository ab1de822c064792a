// What gives a node its colour. A *shade* is "session", "level", "initial",
// "propagated", "change", "gold" or the name of a node measure. Functions of the scene, no DOM.

import { lastly } from "../shared/dom.js";
import { ancestors } from "../shared/links.js";
import { nodeOf, readGold } from "./answer.js";
import { changeIndex, levelStrength, mix, rampIndex } from "./colour.js";

const MIRRORED = "the score of each half; in Change, the difference";

/** What this data can be coloured by, the page's own first.
 * @param {Message} message */
export function coloursFor({ mode, initial, final, gold, measures }) {
  const grow = mode === "grow";
  const scored = !grow && initial.length > 0;
  const both = scored && final.length > 0;
  /** @type {Offer[]} */
  const all = [
    ["", grow ? "session" : "scores", grow ? "the session it was said in" : MIRRORED, true],
    ["session", "session", "the session it was said in", !grow],
    ["level", "level", "how far it is above the leaves", true],
    ["initial", "initial", "the score before propagation, in both halves", scored],
    ["propagated", "propagated", "the score after propagation, in both halves", both],
    ["change", "change", "propagated − initial score, in both halves", both],
    ["gold", "gold", "what became of the gold evidence", !grow && gold.length > 0],
    ...measures.map(({ name, meaning }) => /** @type {Offer} */ ([name, name, meaning, true])),
  ];
  return all.filter(([, , , offered]) => offered);
}

/** The choice, or the page's own colours where the data cannot show it.
 * @param {Scene} scene */
export function colourChoice({ data, look }) {
  return coloursFor(data).some(([choice]) => choice === look.colour) ? look.colour : "";
}

/** The shade of each half of the picture.
 * @param {Scene} scene */
export function shadesOf(scene) {
  const choice = colourChoice(scene);
  if (choice) return scene.picture === "scores" ? [choice, choice] : [choice];
  if (scene.picture === "grow") return ["session"];
  return scene.picture === "change" ? ["change"] : ["initial", "propagated"];
}

/** Propagated minus initial score.
 * @type {(scene: Scene, node: number) => number} */
export const changeOf = ({ data }, node) => data.final[node] - data.initial[node];

/** A change as far as it matters for a rank: scores are measured by the score of the last that is
 *  retrieved, and the change by what the node lacked to that line, or had beyond it. 1 is
 *  enough to cross the line; what is small beside it moves no rank.
 * @type {(data: Message) => (node: number) => number} */
export function crossings({ initial, final, top_initial, top_final }) {
  const before = initial[top_initial[top_initial.length - 1]];
  const after = final[top_final[top_final.length - 1]];
  if (!(before > 0) || !(after > 0)) return () => 0;
  return (node) => {
    const was = initial[node] / before;
    const moved = (final[node] / after - was) / Math.max(LEAST_GAP, Math.abs(1 - was));
    return Math.min(1, Math.max(-1, moved));
  };
}
const LEAST_GAP = 0.05; // of the score at the line
const GHOST = 0.35; // of the colour of what is not known, for units the memory does not hold

/** The number behind a node's colour; NaN where the shade has none.
 * @type {(scene: Scene, shade: string, node: number) => number} */
export function shadeValue(scene, shade, node) {
  const { data } = scene;
  if (shade === "initial") return data.initial[node];
  if (shade === "propagated") return data.final[node];
  if (shade === "change") return changeOf(scene, node);
  return measureOf(data, shade, node);
}

/** Whether a shade is a node measure: a number in 0 to 1 that Python sends for every node.
 * @type {(message: Message, shade: string) => boolean} */
export const isMeasure = ({ measures }, shade) => measures.some(({ name }) => name === shade);

/** The measure of a node; NaN where it is not known, or the shade is no measure.
 * @type {(message: Message, shade: string, node: number) => number} */
export const measureOf = (message, shade, node) => message[`measure:${shade}`]?.[node] ?? NaN;

/** Scores are coloured by their share of the highest one, or by its square root, so that weak
 *  ones show beside one that holds nearly everything.
 * @param {Message} message */
export const powerOf = ({ root_scale: root }) => (root ? 0.5 : 1);

/** Colour of a node in one half, and the name of the pattern on it, if any. A change is
 *  full where it crosses rank K, hatched where the node has left. In "session" this is
 *  the session at the node's middle; boxes.js shows all of them.
 * @type {(scene: Scene, half: number,
 *    node: number) => { colour: string, pattern: string | null }} */
export function fillOf(scene, half, node) {
  const { theme, data, tree } = scene;
  const shade = scene.shades[half];
  const value = shadeValue(scene, shade, node);
  const power = powerOf(data);
  if (data.ghost[node]) {
    return { colour: mix(theme.unknown, theme.background, GHOST), pattern: null };
  }
  switch (shade) {
    case "level":
      return { colour: levelColour(theme, tree.level[node]), pattern: null };
    case "gold": {
      const kind = goldClass(scene, half, node);
      return { colour: theme.gold[kind], pattern: GOLD_PATTERN[kind] ?? null };
    }
    case "change":
      return { colour: theme.changeTable[changeIndex(crossings(data)(node))],
        pattern: scene.answer?.left.includes(node) ? "hatch" : null };
    case "session": {
      const middle = (tree.start[node] + tree.stop[node] - 1) >> 1;
      const { session } = scene.runs[scene.runOf[middle]];
      return { colour: sessionColour(scene, session, tree.level[node]), pattern: null };
    }
    default:
      if (!isMeasure(data, shade)) {
        return { colour: theme.table[rampIndex(value, scene.most, power)], pattern: null };
      }
      return Number.isNaN(value) ? { colour: theme.unknown, pattern: "dots" }
        : { colour: theme.measureTable[rampIndex(value, 1)], pattern: null };
  }
}

/** Levels have few colours; higher ones keep the last.
 * @type {(theme: Theme, level: number) => string} */
export const levelColour = ({ levels }, level) => levels[Math.min(level, levels.length - 1)];

/** A session's colour, paler on higher levels.
 * @type {(scene: Scene, session: number, level: number) => string} */
export function sessionColour(scene, session, level) {
  const key = level * 65536 + session;
  let colour = scene.tints.get(key);
  if (!colour) {
    const strength = levelStrength(level, scene.data.levels_total);
    const full = session < 0 ? scene.theme.unknown : scene.data.session_colours[session];
    colour = mix(full, scene.theme.background, strength);
    scene.tints.set(key, colour);
  }
  return colour;
}

// --- gold ----------------------------------------------------------------------------

/** @type {Record<string, string>} */
export const GOLD_PATTERN = { quoted: "hatch", answered: "dots", missed: "cross" };

/** What became of each gold leaf under these retrieved nodes, and which nodes lie above one:
 *  a map from node to "found" (its unit came back by itself), "quoted" (only a wider node that
 *  quotes one of its turns did), "answered" (a node above states the answer), "missed" or "above". A leaf that is drawn twice has one fate,
 *  that of its better copy.
 * @type {(tree: Tree, message: Message, top: Ids) => Map<number, string>} */
export function goldClasses(tree, data, top) {
  const { gold, gold_turns } = data;
  /** @param {number} node */
  const original = (node) => nodeOf(data, node);
  const read = readGold(data, top);
  const names = ["missed", "answered", "quoted", "found"];
  const fate = new Map();
  const classes = new Map();
  for (const leaf of gold) {
    const above = ancestors(tree, leaf);
    const turns = gold_turns[original(leaf)];
    let best = fate.get(original(leaf)) ?? 0;
    for (const node of [leaf, ...above]) {
      const here = read.get(original(node));
      const mine = here?.turns.filter((turn) => turns?.includes(turn));
      if (!mine?.length) continue;
      const direct = node === leaf || tree.stop[node] - tree.start[node] === 1;
      best = Math.max(best, mine.every((turn) => here?.answers.includes(turn)) ? 1 : direct ? 3 : 2);
    }
    fate.set(original(leaf), best);
    for (const node of above) classes.set(node, "above");
  }
  for (const leaf of gold) classes.set(leaf, names[fate.get(original(leaf))]);
  return classes;
}

/** The retrieved nodes of one half.
 * @type {(scene: Scene, half: number) => Int32Array} */
export const topOf = ({ picture, data }, half) =>
  (picture === "scores" && !half ? data.top_initial : data.top_final);

const classesOf = [0, 1].map(() => lastly(goldClasses)); // by half

/** Class of a node in one half; what does not concern gold is "other".
 * @type {(scene: Scene, half: number, node: number) => string} */
export const goldClass = (scene, half, node) =>
  classesOf[half](scene.tree, scene.data, topOf(scene, half)).get(node) ?? "other";

// --- measures ------------------------------------------------------------------------

export const MEASURE_STEPS = 5;

/** Which fifth of 0 to 1 a measure lies in; -1 where it is not known.
 * @param {number} value */
export function measureStep(value) {
  if (!(value <= 1.01)) return -1;
  return Math.min(MEASURE_STEPS - 1, Math.max(0, Math.floor(value * MEASURE_STEPS)));
}
