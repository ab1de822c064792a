// One row of the outline as HTML, and the same in words for screen readers.
// Foreign text goes in through textContent alone.

import { element, make } from "../shared/dom.js";
import { CONTROLS, isolateText, spanText } from "../shared/text.js";
import { PAGE } from "./rows.js";

/** "S3", or "S3–S7" for a node over several sessions.
 * @type {(data: OutlineMessage, node: number) => string} */
function sessionsText(data, node) {
  const [first, last] = endsOf(data, node).map((session) => data.session_labels[session] ?? "");
  return first === last ? first : `${first}–${last}`;
}

/** @type {(outlineMessage: OutlineMessage, node: number) => number[]} */
function endsOf({ start, stop, unit_session }, node) {
  return [unit_session[start[node]], unit_session[stop[node] - 1]];
}

/** What marks a node, as [class, words].
 * @type {(memory: Memory, row: NodeRow) => string[][]} */
function marksOf(memory, row) {
  const { node, open } = row;
  const marks = [];
  if (memory.data.ended[node]) marks.push(["", "no longer true"]);
  if (memory.sets.gold.has(node)) marks.push(["gold", "gold"]);
  if (memory.sets.retrieved.has(node)) marks.push(["retrieved", "retrieved"]);
  if (memory.sets.added.has(node)) marks.push(["new", "new"]);
  else if (memory.sets.revised.has(node)) marks.push(["", "rewritten"]);
  if (!open) {
    const { retrieved, gold, added } = memory.below;
    const below = { retrieved, gold, new: added };
    for (const [what, counts] of Object.entries(below)) {
      const count = counts.get(node);
      if (count) marks.push(["inside", `${count} ${what} inside`]);
    }
  }
  const parents = memory.forest.parents.get(node) ?? [];
  if (parents.length > 1) {
    const here = Number(row.key.split("/").at(-2)); // NaN at the top
    const others = parents.filter((parent) => parent !== here);
    marks.push(["", `also under ${others.join(", ")}`]);
  }
  return marks;
}

/** A score as a multiple of what every node would have of one whole.
 * @type {(memory: Memory, value: number) => string} */
const multiple = ({ active }, value) => `×${(value * active).toFixed(2)}`;

/** The scores of a node as [name, value, share of the highest, rank].
 * @param {Memory} memory
 * @param {number} node
 * @returns {[name: string, value: number, share: number, rank: number][]} */
function scoresOf({ data, most }, node) {
  if (!data.initial.length) return [];
  const columns = [{ scores: data.initial, ranks: data.rank_initial },
    { scores: data.final, ranks: data.rank_final }];
  return columns.filter(({ scores }) => scores.length).map(({ scores, ranks }, i) =>
    [data.score_names[i], scores[node], most > 0 ? Math.max(0, scores[node]) / most : 0,
      ranks[node] ?? 0]);
}

/** The words of a node in a single line; undefined where they have not been sent.
 * @type {(memory: Memory, node: number) => string} */
export function wordsOf({ data }, node) {
  return data.texts[node]?.replace(CONTROLS, " ");
}

/** All that a row says, in one sentence.
 * @type {(memory: Memory, row: Row) => string} */
function labelOf(memory, row) {
  if (row.node === undefined) return moreText(row);
  const { data } = memory;
  const { node } = row;
  const scores = scoresOf(memory, node).map(([name, value, , rank]) =>
    `${name} ${multiple(memory, value)}${rank ? ` rank ${rank}` : ""}`);
  const said = [data.names[node] ?? "", data.kinds[data.kind_of[node]], `node ${node}`,
    spanText(data.start[node], data.stop[node]), sessionsText(data, node),
    row.branches ? `${row.branches} below` : "", ...marksOf(memory, row).map(([, words]) => words),
    ...scores, wordsOf(memory, node) ?? ""];
  return said.filter(Boolean).join(", ");
}

/** @param {number} value */
const count = (value) => value.toLocaleString("en");

/** @param {MoreRow} moreRow */
function moreText({ shown, size }) {
  const next = count(Math.min(size - shown, PAGE));
  return `Showing ${count(shown)} of ${count(size)}; show ${next} more`;
}

/** A row as an element of the tree; how deep it lies is told, not nested.
 * @type {(s: OutlineState, row: Row) => HTMLLIElement} */
export function buildRow({ memory, attention }, row) {
  const item = make("li", { className: "place", role: "treeitem", ariaLevel: String(row.depth),
    ariaLabel: labelOf(memory, row), ariaSelected: "false", tabIndex: -1 });
  item.dataset.key = rowKey(row);
  const line = element("div", "row", item);
  line.style.setProperty("--depth", String(Math.min(row.depth - 1, 12)));
  if (row.node === undefined) {
    item.classList.add("more-row");
    line.append(make("span", "more-text", moreText(row)));
    return item;
  }
  const { node, size, position, branches, open } = row;
  item.dataset.node = String(node);
  Object.assign(item, { ariaSetSize: String(size), ariaPosInSet: String(position),
    ariaSelected: String(node === attention.selected) });
  if (branches) item.ariaExpanded = String(open);
  line.append(make("span", branches ? `twist ${open ? "open" : "closed"}` : "twist"),
    swatch(memory.data, node), head(memory, row), words(memory, node));
  const scores = scoresOf(memory, node);
  if (scores.length) line.append(scoreBars(memory, scores));
  return item;
}

/** Names a row among all of them.
 * @param {Row} row */
export const rowKey = (row) => (row.more ? `${row.key}>` : row.key);

/** @type {(data: OutlineMessage, node: number) => HTMLElement} */
function swatch(data, node) {
  const made = make("i", "swatch");
  const [first, last] = endsOf(data, node).map((session) => data.session_colours[session]);
  made.style.background = first === last ? first ?? "transparent"
    : `linear-gradient(to right, ${first} 50%, ${last} 50%)`;
  return made;
}

/** The first words of a node's text, without who said them.
 * @type {(memory: Memory, node: number) => string} */
const firstWords = (memory, node) => (wordsOf(memory, node) ?? "").replace(/^[^:]{1,40}: /, "")
  .split(" ").slice(0, WORDS).join(" ").replace(/[,;:.\s]+$/, "");

const WORDS = 5;

/** @type {(memory: Memory, row: NodeRow) => HTMLSpanElement} */
function head(memory, row) {
  const { data } = memory;
  const { node } = row;
  // Among chapters a leaf has a title, too.
  const chapter = (memory.forest.parents.get(node) ?? []).some((parent) => data.level[parent] > 1);
  const label = data.level[node] > 0 ? data.names[node] : chapter ? firstWords(memory, node) : "";
  return make("span", "head", ...(label ? [make("bdi", "name", isolateText(label))] : []),
    make("span", label ? "where" : "name", data.kinds[data.kind_of[node]]),
    ...[`node ${node}`, spanText(data.start[node], data.stop[node]), sessionsText(data, node)]
      .map((text) => make("span", "where", text)),
    ...marksOf(memory, row).map(([kind, text]) => make("span", `mark ${kind}`, text)));
}

/** @type {(memory: Memory, node: number) => HTMLElement} */
function words(memory, node) {
  const { data } = memory;
  const text = wordsOf(memory, node);
  const state = text === undefined ? "late" : data.ended[node] ? "ended" : "";
  return make("bdi", { className: `words ${state}`, dir: "auto", title: data.ended[node] ?? "" }, text ?? "…");
}

/** @type {(memory: Memory, scores: ReturnType<typeof scoresOf>) => HTMLSpanElement} */
const scoreBars = (memory, scores) => make("span", "scores",
  ...scores.flatMap(([, value, share, rank], i) => {
    const fill = make("b", i ? "final" : "initial");
    fill.style.width = `${(100 * share).toFixed(1)}%`;
    return [make("i", "track", fill), make("span", "number", multiple(memory, value)),
      make("span", "rank", rank ? `#${rank}` : "–")];
  }));
