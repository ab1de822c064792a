// The classes that colours make of the nodes: sessions, levels, labels, fates of the gold evidence,
// steps of a measure. They are counted, and one of them, or the retrieved nodes, can stand alone.

import {
  GOLD_PATTERN, goldClass, isMeasure, levelColour, MEASURE_STEPS, measureOf, measureStep, topOf,
} from "./node_color.js";

const NAMED = 8; // more classes than these become a ramp without words

/** The classes of the present colours, in their order, what is counted, and whether they are too
 *  many to be named; null where colours are a scale of scores.
 * @param {Scene} scene */
export function colourClasses(scene) {
  const shade = scene.shades[scene.shades.length - 1]; // of two halves the propagated one
  const items = itemsOf(scene, shade);
  return items && { kind: shade, counted: shade === "session" ? "leaf" : "node", items,
    ramped: items.length > NAMED };
}

/** @type {(scene: Scene, shade: string) => ColourClass[] | null} */
function itemsOf(scene, shade) {
  const { data, tree, theme } = scene;
  if (shade === "session") return sessionClasses(scene);
  if (shade === "gold") return goldClasses(scene);
  if (shade === "level") {
    return tree.byLevel.map((ids, level) => ({ key: level, name: `L${level}`,
      title: level ? `level ${level}` : "leaves", colours: [levelColour(theme, level)],
      pattern: null, count: ids.length })).filter(({ count }) => count);
  }
  const measure = data.measures.find(({ name }) => name === shade);
  return measure ? measureClasses(scene, measure) : null;
}

/** @param {Scene} scene */
function sessionClasses({ data, tree, runs, runOf }) {
  const count = new Map();
  for (const leaf of tree.byLevel[0]) {
    const { session } = runs[runOf[tree.start[leaf]]];
    count.set(session, (count.get(session) ?? 0) + 1);
  }
  return [...new Set(runs.map((run) => run.session))].filter((session) => session >= 0)
    .sort((a, b) => a - b)
    .map((session) => ({ key: session, name: data.session_labels[session],
      title: data.session_titles[session], colours: [data.session_colours[session]],
      pattern: null, count: count.get(session) ?? 0 }));
}

const GOLD_NAMES = {
  found: ["found", "gold leaves that were retrieved by themselves"],
  quoted: ["quoted", "gold leaves that only a wider retrieved node quotes"],
  answered: ["answered", "gold leaves below a retrieved node that states the answer"],
  missed: ["missed", "gold leaves that no retrieved node has, quotes or answers"],
  above: ["above", "nodes above a gold leaf"],
  other: ["other", "nodes that hold no gold evidence"],
};

/** @param {Scene} scene */
function goldClasses(scene) {
  const half = scene.shades.length - 1;
  /** @type {Record<string, number>} */
  const counts = {};
  for (const ids of scene.tree.byLevel) {
    for (const id of ids) {
      const kind = goldClass(scene, half, id);
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  }
  return Object.entries(GOLD_NAMES).map(([key, [name, title]]) => ({ key, name, title,
    colours: [scene.theme.gold[key]], pattern: GOLD_PATTERN[key] ?? null,
    count: counts[key] ?? 0 }));
}

/** @type {(scene: Scene, measure: Measure) => ColourClass[]} */
function measureClasses(scene, { name, unit }) {
  /** @param {number} step */
  const edge = (step) => (step / MEASURE_STEPS).toFixed(1);
  /** @param {number} share */
  const shade = (share) => scene.theme.measureTable[Math.round(share * 255)];
  const values = scene.data[`measure:${name}`] ?? [];
  return numbered(scene, (node) => measureStep(values[node]),
    "with nothing to compare with", Array.from({ length: MEASURE_STEPS }, (_, step) => ({
      name: step ? `${edge(step)}–${edge(step + 1)}` : `below ${edge(1)}`,
      title: `${unit} ${step ? `${edge(step)} to` : "below"} ${edge(step + 1)}`,
      colours: [shade(step / MEASURE_STEPS), shade((step + 1) / MEASURE_STEPS)] })));
}

/** Classes that have numbers, and last, if there are any, the nodes of none of them (-1).
 * @type {(scene: Scene, numberOf: (node: number) => number, without: string,
 *    classes: Pick<ColourClass, "name" | "title" | "colours">[]) => ColourClass[]} */
function numbered({ tree, theme }, numberOf, without, classes) {
  const counts = new Array(classes.length + 1).fill(0);
  for (const ids of tree.byLevel) for (const id of ids) counts[numberOf(id) + 1]++;
  return [...classes, { name: "none", title: `nodes ${without}`, colours: [theme.unknown] }]
    .map((each, i) => (i < classes.length
      ? { ...each, key: i, pattern: null, count: counts[i + 1] }
      : { ...each, key: -1, pattern: "dots", count: counts[0] }))
    .filter(({ key, count }) => key >= 0 || count);
}

/** "1 leaf", "23 leaves".
 * @type {(count: number, what: string) => string} */
export const counted = (count, what) =>
  `${count} ${count === 1 ? what : what === "leaf" ? "leaves" : `${what}s`}`;

// --- one class alone -------------------------------------------------------------------

/** A second call with the same class ends it.
 * @type {(scene: Scene, kind: string, key: number | string) => void} */
export function toggleIsolated(scene, kind, key) {
  const same = scene.isolated?.kind === kind && scene.isolated.key === key;
  scene.isolated = same ? null : { kind, key };
}

/** Whether another question has nothing of the gold class that stands alone.
 * @type {(scene: Scene) => boolean} */
export const isGone = (scene) => scene.isolated?.kind === "gold" && !scene.shades.some((_, half) =>
  scene.data.level.some((level, node) => level >= 0 && isMember(scene, half, node)));

/** Whether a node belongs to the class that stands alone. Sessions are no matter of nodes
 *  but of places on the axis: a root holds all of them.
 * @type {(scene: Scene, half: number, node: number) => boolean} */
export function isMember(scene, half, node) {
  const { kind, key } = /** @type {Isolated} */ (scene.isolated);
  if (kind === "level") return scene.tree.level[node] === key;
  if (kind === "gold") return goldClass(scene, half, node) === key;
  if (isMeasure(scene.data, kind)) return measureStep(measureOf(scene.data, kind, node)) === key;
  if (kind === "top") return topOf(scene, half).includes(node);
  return true;
}
