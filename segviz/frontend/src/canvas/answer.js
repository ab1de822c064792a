// What came back for a question: who entered and left, from which rank to which, on which
// levels, and what became of the gold evidence. Every place that tells one of these reads it here.

import { lastly } from "../shared/dom.js";
import { ancestors } from "../shared/links.js";
import { isolateText } from "../shared/text.js";
import { fatesOf } from "../shared/verdict.js";
import { levelCounts, ranksOf } from "./propagate.js";

const WORDS = 6;
const SPEAKER = /^[^\n:]{1,40}: /gm;

/** Ranks before and after of all that was or is retrieved, and how many of both have moved.
 * @param {Scene} scene */
export function answerOf(scene) {
  const { data, tree } = scene;
  const [before, after] = [Array.from(data.top_initial), Array.from(data.top_final)];
  const places = [data.places_initial, data.places_final];
  const [was, is] = [before, after].map((top, half) =>
    new Map(top.map((node, i) => [node, places[half][i] ?? i + 1])));
  const entered = after.filter((node) => !was.has(node));
  const left = before.filter((node) => !is.has(node));
  const moved = after.filter((node, i) => was.has(node) && before[i] !== node).length;
  addRanks(was, [...entered, ...data.gold], data.initial, data);
  addRanks(is, [...left, ...data.gold], data.final, data);
  const [from, to] = [before, after].map((top) => levelCounts(top, data.level, data.levels_total));
  return {
    before, after, entered, left, was, is, moved,
    levels: { before: from, after: to },
    gold: { before: goldFates(data, tree, before), after: goldFates(data, tree, after), asked: data.gold_asked, later: data.gold_later },
    held: heldBy(data, tree),
  };
}

/** Adds the ranks of nodes that were not retrieved: Python's, or the browser's while a control
 *  moves.
 * @type {(ranks: Map<number, number>, nodes: number[], scores: Weights, data: Message) => void} */
function addRanks(ranks, nodes, scores, data) {
  const others = nodes.filter((node) => !ranks.has(node));
  const found = others.length ? ranksOf(others, scores, data) : [];
  others.forEach((node, i) => ranks.set(node, data.ranks?.[nodeOf(data, node)] ?? found[i]));
}

/** The gold turns by what became of them under these retrieved nodes: found in a node of one unit,
 *  quoted where wider nodes alone have them, answered where a node above states the answer, or missed.
 * @type {(data: Message, tree: Tree, top: Ids) => Fates} */
export function goldFates(data, tree, top) {
  const read = readGold(data, top);
  const [wide, narrow, stated] = [new Set(), new Set(), new Set()];
  for (const leaf of data.gold) {
    for (const node of [leaf, ...ancestors(tree, leaf)]) {
      const held = tree.stop[node] - tree.start[node] === 1 ? narrow : wide;
      const { turns, answers } = read.get(nodeOf(data, node)) ?? NO_GOLD;
      for (const turn of turns) (answers.includes(turn) ? stated : held).add(turn);
    }
  }
  /** @type {string[]} */
  const turns = [...new Set(Array.from(data.gold).flatMap((leaf) => turnsOf(data, leaf)))];
  return fatesOf(turns, [narrow, wide, stated]);
}

const NO_GOLD = { turns: /** @type {string[]} */ ([]), answers: /** @type {string[]} */ ([]) };

/** The gold turns that the text of each retrieved node has as it is read, and those of them that it
 *  only answers. A token budget may cut the last text, which then has what its beginning has.
 * @type {(data: Pick<Message, "gold_turns" | "gold_answers" | "gold_needs" | "origin" | "tokens" | "budget">,
 *    top: Ids) => Map<number, typeof NO_GOLD>} */
export function readGold(data, top) {
  const read = new Map(Array.from(top, (box) => {
    const node = nodeOf(data, box);
    return [node, { turns: data.gold_turns[node] ?? [], answers: data.gold_answers[node] ?? [] }];
  }));
  if (!data.budget || !top.length) return read;
  const boxes = [...top];
  const last = /** @type {number} */ (boxes.pop());
  const left = boxes.reduce((sum, box) => sum - data.tokens[box], data.budget);
  const whole = read.get(nodeOf(data, last)) ?? NO_GOLD;
  if (left >= data.tokens[last] || !whole.turns.length) return read;
  const needs = data.gold_needs[nodeOf(data, last)];
  const quoted = whole.turns.filter((turn) => needs[turn][0] <= left);
  const answers = whole.turns.filter((turn) => !quoted.includes(turn) && needs[turn][1] <= left);
  return read.set(nodeOf(data, last), { turns: [...quoted, ...answers], answers });
}

/** The gold turns that a leaf has, a node above quotes, or for which it states the answer.
 * @type {(data: Message, node: number) => string[]} */
export const turnsOf = (data, node) => data.gold_turns[nodeOf(data, node)] ?? [];

/** The memory's node that a box stands for.
 * @type {(data: Pick<Message, "origin">, box: number) => number} */
export const nodeOf = (data, box) => data.origin[box] ?? box;

/** The gold turns of each gold leaf and of each node above one that has any. */
export const heldBy = lastly((/** @type {Message} */ data, /** @type {Tree} */ tree) => {
  /** @type {Map<number, string[]>} */
  const held = new Map();
  for (const leaf of data.gold) {
    for (const node of [leaf, ...ancestors(tree, leaf)]) {
      const turns = turnsOf(data, node);
      if (turns.length) held.set(node, turns);
    }
  }
  return held;
});

// --- words ---------------------------------------------------------------------------------

/** What a level is called.
 * @type {(data: Message, level: number) => string} */
export const levelName = (data, level) =>
  data.level_names[level] ?? (level ? `level ${level}` : "leaf");

/** As much of a node's text as there is here.
 * @type {(data: Message, node: number) => string} */
export function textOf(data, node) {
  const [label, rest] = [data.labels[node] ?? "", data.texts[nodeOf(data, node)]];
  return rest === undefined ? label : label.slice(0, -1) + rest; // in place of its "…"
}

/** The label of an inner node, "" for leaves, whose own words stand beside it, and without one.
 * @type {(data: Message, node: number) => string} */
export const labelOf = (data, node) =>
  (data.level[node] > 0 && data.names?.[node] ? isolateText(data.names[node]) : "");

/** What a node is called: its label, else its first words.
 * @type {(data: Message, node: number) => string} */
export const nameOf = (data, node) =>
  (data.names?.[node] ? isolateText(data.names[node]) : wordsOf(data, node));

/** The words of a node's text, without who said them, each with the space that follows.
 * @type {(data: Message, node: number) => string[]} */
export const spoken = (data, node) =>
  textOf(data, node).replace(SPEAKER, "").match(/\S+\s*/g) ?? [];

/** Whether a sentence ends with a word, or a line. */
export const ENDS = /[.!?…]["”'’)]*\s*$|[。！？]\s*$|\n/;

/** A few words that stand for a node: its first ones, or those from a place.
 * @type {(data: Message, node: number, count?: number, from?: number) => string} */
export function wordsOf(data, node, count = WORDS, from = 0) {
  const words = spoken(data, node);
  const cut = words.length > from + count ? "…" : "";
  const said = words.slice(from, from + count).join("").replace(/\s+/g, " ").replace(/[,;:.\s]+$/, "");
  const lead = from && !ENDS.test(words[from - 1]) ? "… " : "";
  return said ? isolateText(lead + said + cut) : `unit ${data.start[node]}`;
}

const DAY = /^\d{1,2} (?=\p{L}+( ’\d\d)?$)/u; // of a date as Python writes it: 12 Aug, 12 Aug ’23

/** The first and last of what the units of a node have, as one where both are the same.
 * @type {(scene: Scene, node: number, of: (unit: number) => string) => string} */
const ends = ({ tree }, node, of) => [...new Set([of(tree.start[node]), of(tree.stop[node] - 1)])].filter(Boolean).join(" – ");

/** The sessions of a node, and its days if they are known.
 * @type {(scene: Scene, node: number) => [sessions: string, days: string]} */
export const whenOf = (scene, node) => [
  ends(scene, node, (unit) => scene.data.session_labels[scene.runs[scene.runOf[unit]]?.session] ?? ""),
  ends(scene, node, (unit) => scene.data.days[scene.data.unit_day[unit]] ?? "")];

/** The day of a node, or the months of several; without one, its sessions.
 * @type {(scene: Scene, node: number) => string} */
export function dayOf(scene, node) {
  const [sessions, days] = whenOf(scene, node);
  const months = days.split(" – ").map((day) => day.replace(DAY, ""));
  return months.length > 1 ? [...new Set(months)].join(" – ") : days || sessions;
}

/** A score as a multiple of the share that every node would have of one whole: "×3.2".
 * @type {(scene: Scene, score: number) => string} */
export function multiple({ tree }, score) {
  const times = score * tree.active;
  return `×${times >= 100 ? times.toFixed(0) : times >= 10 ? times.toFixed(1) : times.toFixed(2)}`;
}

/** Both scores of a node, and what they are multiples of.
 * @type {(scene: Scene, node: number, initial?: string, final?: string) => string} */
export function scoreWords(scene, node, initial = "", final = "") {
  const { data } = scene;
  const [before, after] = data.score_names;
  return [`${before} ${multiple(scene, data.initial[node])}${initial}`,
    data.final.length ? ` → ${after} ${multiple(scene, data.final[node])}${final}` : "",
    "; ×1: the average node"].join("");
}

/** The words of the question that a node has, the first of its reasons to be found: three of them,
 *  and how many more.
 * @type {(data: Message, node: number) => string} */
export function askedWords(data, node) {
  const asked = Object.keys(data.matches[nodeOf(data, node)] ?? {});
  if (!asked.length) return "has no word asked";
  const more = asked.length > 3 ? ` and ${asked.length - 3} more` : "";
  return `has only “${isolateText(asked.slice(0, 3).join(", "))}”${more}`;
}

/** What a node lacks whose score is so many times below that of the last retrieved one.
 * @param {number} ratio */
export const scoreLacking = (ratio) =>
  (Number.isFinite(ratio) ? `score ×${ratio.toFixed(ratio < 1.095 ? 2 : 1)}` : "a score");
