// What is said about a node, and the line below the tree that says it: a fixed place, so that it
// covers none of the neighbours one compares.

import { element, make, rewrite } from "../shared/dom.js";
import { markedParts } from "../shared/lines.js";
import { cutText, isolateText, levelsText, spanText } from "../shared/text.js";
import { scoreWords } from "./answer.js";
import { goldClass, measureOf } from "./node_color.js";

const TIP_LENGTH = 280;

/** The session of a node, or the first and last of several, with their dates.
 * @type {(scene: Scene, node: number) => string} */
export function sessionsText({ data, tree, runs, runOf }, node) {
  const [first, last] = [tree.start[node], tree.stop[node] - 1].map((unit) =>
    isolateText(data.session_titles[runs[runOf[unit]]?.session ?? -1] ?? ""));
  return first === last ? first : `${first} – ${last}`;
}

/** [class, text] of the lines about a node.
 * @type {(scene: Scene, node: number) => TipLine[]} */
export function nodeLines(scene, node) {
  const { data, tree } = scene;
  const [start, stop] = [tree.start[node], tree.stop[node]];
  const sessions = sessionsText(scene, node);
  const id = `node ${data.origin[node] ?? node}`;
  const named = data.names[node] ? `${isolateText(data.names[node])} · ` : "";
  const levels = levelsText(tree.level[node], tree.top[node]);
  /** @type {TipLine[]} */
  const lines = [["head", `${named}${levels} · ${spanText(start, stop)}`]];
  if (data.mode === "scores" && data.initial.length) {
    /** @param {Map<number, number> | undefined} ranks */
    const rank = (ranks) => (ranks?.get(node) ? ` (rank ${ranks.get(node)})` : "");
    lines.push(["meta", scoreWords(scene, node, rank(scene.answer?.was), rank(scene.answer?.is))]);
  }
  if (data.revised.includes(node)) lines.push(["meta", "rewritten in this step"]);
  const candidates = data.mode === "grow" ? data.candidates.filter((c) => c.node === node) : [];
  for (const { numbers, label, level, taken } of candidates) {
    const judged = [numbers, isolateText(label)].filter(Boolean).join(" ");
    const where = candidates.length > 1 ? ` on level ${level}` : "";
    lines.push(["meta", `candidate${where}: ${judged}${taken ? ", chosen" : ""}`]);
  }
  for (const { name } of data.measures.filter((one) => scene.shades.includes(one.name))) {
    const value = measureOf(data, name, node);
    if (!Number.isNaN(value)) lines.push(["meta", `${name} ${value.toFixed(2)}`]);
  }
  if (data.ended[node]) lines.push(["meta", isolateText(data.ended[node])]);
  if (data.ghost[node]) lines.push(["meta", "a message of the conversation; the memory does not hold it"]);
  if (data.gold.includes(node)) lines.push(["meta", `gold evidence${goldFate(scene, node)}`]);
  lines.push(["meta", `${sessions} · ${id}`]);
  const text = data.labels[node];
  if (text) lines.push(["text", `\u2068${cutText(text, TIP_LENGTH)}\u2069`]);
  return lines;
}

/** What became of a gold leaf, where that is what colours show.
 * @type {(scene: Scene, node: number) => string} */
const goldFate = (scene, node) =>
  (scene.shades.includes("gold") ? `, ${goldClass(scene, scene.shades.length - 1, node)}` : "");

/** Says in the line below the tree what a person is at: `lines`, else the node under the pointer,
 *  the one the keyboard or the last click is on, or how to begin. What a search has found is
 *  marked. Where the page shows the text of the selected node, or a card that of the node under the
 *  pointer, it is not repeated here.
 * @type {(s: State, given?: TipLine[] | null) => void} */
export function readOut(s, given = null) {
  const { scene, elements: { read }, search: { query }, attention: { hover, under, trail, selected, excerpt } } = s;
  const node = hover ?? trail;
  const known = node !== null && scene.data.level[node] >= 0;
  /** @type {TipLine[]} */
  const lines = given ?? (known ? nodeLines(scene, node)
    : [["hint", "Point at a node to read it; click it for its path and score."]]);
  const told = lines.filter(([kind]) => kind !== "text");
  const text = known && excerpt?.node === node && !given ? isolateText(excerpt.text)
    : node !== null && (node === under || node === selected && scene.data.legend) ? ""
      : lines.find(([kind]) => kind === "text")?.[1] ?? "";
  rewrite(read, [told, text, query], () => {
    element("div", "", read, ...told.map(([kind, words]) => make("span", kind, words)));
    element("div", { className: "text", dir: "auto" }, read, ...markedParts(text, query));
  });
}
