// The evidence list beside the tree: rank, rise or fall, level, gold, words. It follows every
// frame; the selected node's entry is open. Nodes that repeat the text of a better one are folded
// into its row.

import { among, button, element, focusedBeside, lastly, make, sign } from "../shared/dom.js";
import { isolateText, spanText } from "../shared/text.js";
import { lineBlocks, matchedPieces } from "../shared/lines.js";
import { dayOf, ENDS, labelOf, levelName, nodeOf, scoreWords, spoken, textOf, wordsOf } from "./answer.js";
import { onFrame, schedule } from "./scheduler.js";
import { hover, reveal, select } from "./navigation.js";
import { repeatsText } from "./propagate.js";

const MOST = 60; // words of a row that are seen on any screen
const SAME = 48; // characters by which the sentences of two rows are the same
const MORE = 100; // times that a word of the answer counts more than one of the question
const LEAD = 5; // words of a sentence before the first of the question's

/** @param {State} s
 * @param {HTMLElement} parent */
export function buildEvidence(s, parent) {
  const root = element("section", { className: "evidence", ariaLabel: "Retrieved evidence" }, parent);
  const head = element("div", "head", root);
  const title = element("span", "", head);
  const hint = element("span", { className: "hint",
    title: "Words of the question are marked in what came back, similar words dotted" }, head);
  element("span", "", hint, "words ", make("mark", "heard", "asked"), " ",
    make("mark", "alike", "similar"));
  onFrame(s.frames, showEvidence);
  return { root, title, hint, list: element("ol", "", root), said: "",
    texts: /** @type {unknown} */ (null), open: /** @type {number | null} */ (null),
    /** Rows whose repeats are shown. @type {Set<number>} */
    unfolded: new Set() };
}

/** @param {State} s */
function showEvidence(s) {
  const { scene, elements: { evidence }, attention } = s;
  const { root, title, hint, list } = evidence;
  root.hidden = !scene.answer;
  if (!scene.answer) return;
  const rows = evidenceRows(scene);
  const { selected } = attention;
  const open = rows.find(({ node }) => node === selected);
  const words = scene.data.words === null || s.settings.held ? ""
    : `${scene.data.words.toLocaleString("en")} words to read`;
  const { texts, final } = scene.data;
  const said = JSON.stringify([rows, selected, open && final[open.node], words, [...evidence.unfolded]]);
  if (said === evidence.said && texts === evidence.texts) return;
  Object.assign(evidence, { said, texts });
  const kept = rows.filter(({ out }) => !out).length;
  const heads = rows.filter(({ into }) => into === null);
  const differing = heads.filter(({ out }) => !out).length;
  title.textContent = `Retrieved${differing < kept ? `: ${differing} different texts` : ""}`;
  title.title = words;
  hint.hidden = !Object.keys(scene.data.matches).length;
  const at = focusedBeside(root)?.dataset.node;
  const { scrollTop } = list;
  const [stay, leave] = [false, true].map((gone) => heads.filter(({ out }) => out === gone));
  list.replaceChildren(...stay.map((row, i) => entry(s, row, selected, rows.filter(({ into }) => into === row.node), stay[i - 1])),
    ...leave.length ? [leaving(s, leave, selected)] : []);
  list.scrollTop = scrollTop;
  if (at) among(list, "node", at)?.focus({ preventScroll: true });
  if (open && evidence.open !== selected) {
    const item = among(list, "node", String(selected))?.parentElement;
    if (item) list.scrollTop = Math.max(0, item.offsetTop - list.offsetTop - 30);
  }
  evidence.open = open ? selected : null;
}

/** The retrieved nodes, best first, then those that have left: ranks before and after (0 where that
 *  is none of the list's), level, gold turns, words, the rank of the first that has these, too, and
 *  the better node whose row they are folded into, unless repeated texts are skipped.
 * @param {Scene} scene */
export function evidenceRows({ data, answer }) {
  const { after, left, entered, was, is, held } = /** @type {Answer} */ (answer);
  /** @type {Map<string, number>} */
  const said = new Map();
  /** @type {number[]} */
  const heads = [];
  /** @param {number} node */
  const headOf = (node) => data.places_final.length ? null : heads.find((head) => // gold is not hidden in a row without it
    held.get(node)?.every((turn) => held.get(head)?.includes(turn)) !== false
    && repeatsText(data, nodeOf(data, node), nodeOf(data, head))) ?? null;
  /** @param {number} node
   * @param {boolean} out */
  const row = (node, out) => {
    const into = out ? null : headOf(node);
    if (into === null) heads.push(node);
    const [words, rank] = [passageOf(data, node), is.get(node) ?? 0];
    const begins = words.slice(0, SAME);
    if (!said.has(begins)) said.set(begins, rank);
    return { node, out, into, was: was.get(node) ?? 0, is: rank, same: said.get(begins) ?? rank,
      entered: !out && entered.includes(node),
      level: levelName(data, data.level[node]), gold: held.get(node) ?? [], words };
  };
  return [...after.map((node) => row(node, false)), ...[...left].sort((a, b) => (is.get(a) ?? 0) - (is.get(b) ?? 0)).map((node) => row(node, true))];
}

/** How many of the texts have each word of the question, and rows that were found before.
 * @type {(matches: Message["matches"], texts: Message["texts"]) =>
 *    { holders: Map<string, number>, rows: Map<number, string> }} */
const ofMessage = lastly((matches) => {
  const holders = new Map();
  for (const word of Object.values(matches).flatMap(Object.keys)) {
    holders.set(word, (holders.get(word) ?? 0) + 1);
  }
  return { holders, rows: new Map() };
});

/** The words of a node that stand for it in a row: from the sentence on with most words of the known
 *  answer; of several such, or without an answer, with the words of the question that fewest of the
 *  texts have, or from near the first of them.
 * @type {(data: Message, node: number) => string} */
function passageOf(data, node) {
  const { holders, rows } = ofMessage(data.matches, data.texts);
  const said = rows.get(node) ?? wordsOf(data, node, MOST, startOf(data, node, holders));
  rows.set(node, said);
  return said;
}

/** @type {(data: Message, node: number, holders: Map<string, number>) => number} */
function startOf(data, node, holders) {
  const [matches, words] = [data.matches[nodeOf(data, node)], spoken(data, node)];
  const answering = new Set(data.answering[nodeOf(data, node)]);
  const sought = { ...matches, ...Object.fromEntries([...answering].map((word) => [word, 1])) };
  let [best, most, from, first] = [0, 0, 0, -1];
  /** @type {Set<string>} */
  let heard = new Set();
  words.forEach((word, i) => {
    for (const [kind, found] of matchedPieces(word, sought)) {
      if (kind !== "heard") continue;
      heard.add(found.toLowerCase());
      if (first < 0) first = i;
    }
    if (!ENDS.test(word) && i < words.length - 1) return;
    let held = 0;
    for (const each of heard) held += answering.has(each) ? MORE : 1 / (holders.get(each) ?? 1);
    if (held > most) [best, most] = [first - from > LEAD ? first - 2 : from, held];
    [from, first, heard] = [i + 1, -1, new Set()];
  });
  return best;
}

/** Rise or fall: "▲", "▼", "enters", "leaves", "" for none.
 * @param {Pick<ReturnType<typeof evidenceRows>[number], "was" | "is" | "out" | "entered">} row */
export function moveText({ was, is, out, entered }) {
  if (out) return "leaves";
  if (entered && was) return "enters";
  if (!was || was === is) return "";
  return was > is ? "▲" : "▼";
}

/** A row, and what is folded into it. Its day is a ditto mark if the row above has the same.
 * @type {(s: State, row: ReturnType<typeof evidenceRows>[number], selected: number | null,
 *    more?: ReturnType<typeof evidenceRows>, above?: { node: number }) => HTMLLIElement} */
function entry(s, row, selected, more = [], above) {
  const open = row.node === selected;
  const { scene, scene: { data } } = s;
  const { node, is, level, gold, words, out } = row;
  const move = moveText(row);
  const changed = out ? "out" : move === "enters" ? "new" : "";
  const again = row.same !== is && !gold.length; // gold is always read
  const title = labelOf(data, node);
  const item = make("li", `${changed} ${gold.length ? "holds" : ""} ${title && "titled"} ${again ? "again" : ""} ${data.ended[node] ? "ended" : ""}`);
  const line = button("entry", item, "", () => {
    select(s, open ? null : node);
    if (!open) reveal(s, node);
  });
  line.dataset.node = String(node);
  line.ariaExpanded = String(open);
  const moved = make("span", changed === "new" ? "move new" : "move", move);
  if (move) moved.title = `rank ${row.was} before, ${is} after`;
  line.append(make("span", "rank", String(is)), moved,
    make("span", "level", title ? "" : level), make("span", "called", title),
    make("span", "when", above && dayOf(scene, above.node) === dayOf(scene, node) ? "″" : isolateText(dayOf(scene, node))));
  if (gold.length) {
    const narrow = data.stop[node] - data.start[node] === 1;
    const stated = data.gold_answers[nodeOf(data, node)];
    const only = gold.every((turn) => stated?.includes(turn)); // states the answer, quotes no turn
    sign(narrow && !only ? "gold" : "gold wide", line, only ? "◈" : "◆",
      `${only ? "states the answer of" : narrow ? "gold" : "quotes gold"} ${isolateText(gold.join(", "))}`);
  }
  const matches = data.matches[nodeOf(data, node)];
  line.title = data.ended[node] ?? "";
  line.addEventListener("pointerenter", () => hover(s, node, null));
  line.addEventListener("pointerleave", () => hover(s, null, null));
  if (!open && again) element("span", "words", line, `same sentence as ${row.same}`);
  else if (!open) {
    element("bdi", "words", line, ...matchedPieces(words, matches, false).map(
      ([kind, part]) => (kind === "same" ? part : make("mark", kind, part))));
  }
  foldInto(s, item, row.node, selected, more);
  if (!open) return item;
  const session = data.session_titles[scene.runs[scene.runOf[data.start[node]]]?.session] ?? "";
  const meta = [`${isolateText(session)} · ${spanText(data.start[node], data.stop[node])}`
    + (gold.length ? ` · ${isolateText(gold.slice(0, 6).join(", "))}` : "")];
  if (data.initial.length && data.final.length) meta.push(scoreWords(scene, node));
  if (data.ended[node]) meta.push(isolateText(data.ended[node]));
  line.after(make("div", "opened", ...meta.map((text) => make("div", "meta", text)),
    make("div", "text", ...lineBlocks(matchedPieces(textOf(data, node), matches)))));
  return item;
}

const LEFT = -1; // what is unfolded, beside nodes

/** What has left, folded into one row.
 * @type {(s: State, rows: ReturnType<typeof evidenceRows>, selected: number | null) => HTMLLIElement} */
function leaving(s, rows, selected) {
  const { unfolded } = s.elements.evidence;
  const open = unfolded.has(LEFT) || rows.some(({ node }) => node === selected);
  const item = make("li", "out");
  const fold = button("also", item, `${open ? "▾" : "▸"} ${rows.length} leave${rows.length === 1 ? "s" : ""}`, () => {
    if (!unfolded.delete(LEFT)) unfolded.add(LEFT);
    schedule(s);
  }, "Retrieved without propagation, and not with it");
  fold.dataset.node = "left";
  fold.ariaExpanded = String(open);
  element("ol", { hidden: !open }, item, ...rows.map((row) => entry(s, row, selected)));
  return item;
}

/** Names the ranks that repeat a row's text; a press shows their rows below it.
 * @type {(s: State, item: HTMLElement, node: number, selected: number | null,
 *    more: ReturnType<typeof evidenceRows>) => void} */
function foldInto(s, item, node, selected, more) {
  if (!more.length) return;
  const { unfolded } = s.elements.evidence;
  const open = unfolded.has(node) || more.some((row) => row.node === selected);
  const ranks = more.map(({ is, level }) => `rank ${is}, ${level}`).join("; ");
  const fold = button(more.some(({ entered }) => entered) ? "also new" : "also", item,
    `${open ? "▾" : "▸"} also ${more.map(({ is, entered }) => (entered ? `${is} enters` : is)).join(", ")}`, () => {
      if (!unfolded.delete(node)) unfolded.add(node);
      schedule(s);
    }, `The same text along the tree: ${ranks}`);
  fold.dataset.node = `also${node}`;
  fold.ariaExpanded = String(open);
  element("ol", { hidden: !open }, item, ...more.map((row) => entry(s, row, selected)));
}
