// The classes that colours make of the nodes: sessions, levels, labels, fates of the gold evidence,
// steps of a measure. They are counted, and one of them, or the retrieved nodes, can stand alone.

import {
  GOLD_PATTERN, goldClass, isMeasure, levelColour, MEASURE_STEPS, measureOf, measureStep, topOf,
} from "./shades.js";

const NAMED = 8; // more classes than these become a ramp without words

/** The classes of the present colours, in their order: [{key, name, title, colours, pattern,
 *  count}], what is counted, and whether they are too many to be named; null where colours
 *  are a scale of scores.
 * @param {Scene} scene
 * @returns {ColourClasses | null} */
export function colourClasses(scene) {
  const found = classesOf(scene);
  return found && { ...found, ramped: found.items.length > NAMED };
}

/** @param {Scene} scene */
function classesOf(scene) {
  const shade = scene.shades.at(-1); // of two halves the propagated one
  if (shade === "session") return sessionClasses(scene);
  if (shade === "level") return levelClasses(scene);
  if (shade === "gold") return goldLegend(scene);
  if (shade === "own") return ownClasses(scene);
  const measure = scene.data.measures.find(({ name }) => name === shade);
  return measure ? measureClasses(scene, measure) : null;
}

/** @param {Scene} scene */
function sessionClasses({ data, tree, runs, runOf }) {
  const count = new Map();
  for (const leaf of tree.byLevel[0]) {
    const { session } = runs[runOf[tree.start[leaf]]];
    count.set(session, (count.get(session) ?? 0) + 1);
  }
  const items = [...new Set(runs.map((run) => run.session))].filter((session) => session >= 0)
    .sort((a, b) => a - b)
    .map((session) => ({ key: session, name: data.session_labels[session],
      title: data.session_titles[session], colours: [data.session_colours[session]],
      pattern: null, count: count.get(session) ?? 0 }));
  return { kind: "session", counted: "leaf", items };
}

/** @param {Scene} scene */
function levelClasses({ theme, tree }) {
  const items = tree.byLevel.map((ids, level) => ({ key: level, name: `L${level}`,
    title: level ? `level ${level}` : "leaves", colours: [levelColour(theme, level)],
    pattern: null, count: ids.length }));
  return { kind: "level", counted: "node", items: items.filter(({ count }) => count) };
}

const GOLD_NAMES = {
  found: ["found", "gold leaves that were retrieved by themselves"],
  covered: ["covered", "gold leaves that only a wider retrieved node covers"],
  missed: ["missed", "gold leaves that no retrieved node covers"],
  above: ["above", "nodes above a gold leaf"],
  other: ["other", "nodes that hold no gold evidence"],
};

/** @param {Scene} scene */
function goldLegend(scene) {
  const half = scene.shades.length - 1;
  /** @type {Record<string, number>} */
  const counts = {};
  for (const ids of scene.tree.byLevel) {
    for (const id of ids) {
      const kind = goldClass(scene, half, id);
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  }
  const items = Object.entries(GOLD_NAMES).map(([key, [name, title]]) => ({ key, name, title,
    colours: [scene.theme.gold[key]], pattern: GOLD_PATTERN[key] ?? null,
    count: counts[key] ?? 0 }));
  return { kind: "gold", counted: "node", items };
}

/** @param {Scene} scene */
function ownClasses({ data, tree, theme }) {
  const counts = new Array(data.own_names.length + 1).fill(0);
  for (const ids of tree.byLevel) for (const id of ids) counts[data.own[id] + 1]++;
  /** @type {ColourClass[]} */
  const items = data.own_names.map((name, key) => ({ key, name, title: name,
    colours: [data.own_colours[key]], pattern: null, count: counts[key + 1] }));
  if (counts[0]) {
    items.push({ key: -1, name: "none", title: "nodes without a label",
      colours: [theme.unknown], pattern: "dots", count: counts[0] });
  }
  return { kind: "own", counted: "node", items };
}

/** @param {Scene} scene
 * @param {Measure} measure */
function measureClasses({ data, tree, theme }, { name, unit }) {
  const counts = new Array(MEASURE_STEPS + 1).fill(0);
  for (const ids of tree.byLevel) {
    for (const id of ids) counts[measureStep(measureOf(data, name, id)) + 1]++;
  }
  /** @param {number} step */
  const edge = (step) => (step / MEASURE_STEPS).toFixed(1);
  /** @param {number} share */
  const shade = (share) => theme.measureTable[Math.round(share * 255)];
  /** @type {ColourClass[]} */
  const items = counts.slice(1).map((count, step) => ({ key: step, count, pattern: null,
    name: step ? `${edge(step)}–${edge(step + 1)}` : `below ${edge(1)}`,
    title: `${unit} ${step ? `${edge(step)} to` : "below"} ${edge(step + 1)}`,
    colours: [shade(step / MEASURE_STEPS), shade((step + 1) / MEASURE_STEPS)] }));
  if (counts[0]) {
    items.push({ key: -1, name: "none", title: "nodes with nothing to compare with",
      colours: [theme.unknown], pattern: "dots", count: counts[0] });
  }
  return { kind: name, counted: "node", items };
}

/** "1 leaf", "23 leaves".
 * @param {number} count
 * @param {string} what */
export const counted = (count, what) =>
  `${count} ${count === 1 ? what : what === "leaf" ? "leaves" : `${what}s`}`;

// --- one class alone -------------------------------------------------------------------

/** A second call with the same class ends it.
 * @param {Scene} scene
 * @param {string} kind
 * @param {number | string} key */
export function toggleIsolated(scene, kind, key) {
  const same = scene.isolated?.kind === kind && scene.isolated.key === key;
  scene.isolated = same ? null : { kind, key };
}

/** Whether a node belongs to the class that stands alone. Sessions are no matter of nodes
 *  but of places on the axis: a root holds all of them.
 * @param {Scene} scene
 * @param {number} half
 * @param {number} node */
export function isMember(scene, half, node) {
  const { kind, key } = /** @type {Isolated} */ (scene.isolated);
  if (kind === "level") return scene.tree.level[node] === key;
  if (kind === "gold") return goldClass(scene, half, node) === key;
  if (kind === "own") return scene.data.own[node] === key;
  if (isMeasure(scene.data, kind)) return measureStep(measureOf(scene.data, kind, node)) === key;
  if (kind === "top") return topOf(scene, half).includes(node);
  return true;
}
