// The questions as dots. Pointing at one, or walking to it, plays what changes: the ranks before, the
// ranks after, and the lines between them. A click or Enter asks it.

import { button, element, make } from "../shared/dom.js";
import { isolateText } from "../shared/text.js";
import { reading } from "../shared/component.js";
import { verdictOf } from "../shared/verdict.js";
import { answerOf, placesOf, rankOf, turnsRead } from "./changes.js";

const STATE = "segvizAtlas";
const SIGNS = ["▲", "▼", "●", "○"]; // of the groups
const LINE = 18; // pixels
const SVG = "http://www.w3.org/2000/svg";

export default reading(mount);

/** @param {Mount<AtlasMessage>} component */
function mount({ data, parentElement, setTriggerValue }) {
  /** @type {AtlasState} */
  const s = parentElement[STATE] ??= createAtlas(parentElement);
  s.ask = () => setTriggerValue("ask", s.data.dots[s.shown].place);
  if (s.data?.about === data.about) return;
  Object.assign(s, { data, shown: -1, buttons: data.dots.map((about, i) => dot(s, about, i)) });
  s.groups.replaceChildren(...data.groups.map((name, group) => {
    const members = s.buttons.filter((_, i) => data.dots[i].group === group);
    const title = `${members.length} ${name}`;
    return make("div", { className: `g${group}`, role: "group", ariaLabel: title },
      make("div", "", title), ...members);
  }));
  const lines = data.dots.map(({ rows }) => placesOf(rows).lines);
  s.ranks.style.minHeight = `${LINE * (1 + lines.reduce((a, b) => Math.max(a, b), 0))}px`;
  show(s, 0);
}

/** @type {(s: AtlasState, about: Dot, i: number) => HTMLButtonElement} */
const dot = (s, { text, group }, i) => make("button", {
  type: "button", className: "dot", tabIndex: -1, ariaLabel: isolateText(text),
  onfocus: () => show(s, i),
  onpointerover: ({ pointerType }) => { if (pointerType !== "touch") show(s, i); },
  onpointerdown: ({ pointerType }) => { s.asks = pointerType !== "touch" || s.shown === i; },
  onclick: () => {
    show(s, i);
    if (s.asks) s.ask();
    s.asks = true;
  },
}, SIGNS[group]);

/** @param {Holder} parent */
function createAtlas(parent) {
  const root = element("div", "atlas", parent);
  const groups = element("div", "dots", root);
  const preview = element("section", { className: "preview", ariaLabel: "What changes" }, root);
  const s = /** @type {AtlasState} */ (/** @type {unknown} */ ({ root, groups, shown: -1, asks: true, buttons: [],
    question: element("div", { className: "question", dir: "auto" }, preview),
    verdict: element("div", { className: "verdict", ariaLive: "polite" }, preview),
    ranks: element("div", "ranks", preview) }));
  element("div", "legend", preview, make("span", "gold", "◆ gold evidence"),
    make("span", "changed", "enters or leaves"), make("span", "same", "stays"));
  button("ask", preview, "Ask this question", () => s.ask());
  groups.addEventListener("keydown", (event) => pressKey(s, event));
  return s;
}

/** @type {(s: AtlasState, event: KeyboardEvent) => void} */
function pressKey({ buttons, shown }, event) {
  const end = buttons.length - 1;
  /** @type {Record<string, number>} */
  const places = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: end };
  const to = places[event.key];
  if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  buttons[Math.max(0, Math.min(end, to))].focus();
  event.preventDefault();
}

/** Plays what changes for a question.
 * @type {(s: AtlasState, i: number) => void} */
function show(s, i) {
  const about = s.data.dots[i];
  if (!about || i === s.shown) return;
  const [from, to] = [s.buttons[s.shown], s.buttons[i]];
  if (from) Object.assign(from, { className: "dot", tabIndex: -1 });
  Object.assign(to, { className: "dot shown", tabIndex: 0 });
  s.shown = i;
  const called = (/** @type {number} */ row) =>
    `“${isolateText(s.data.names[about.rows[row][0]])}” on ${s.data.levels[about.rows[row][0]]}`;
  const [tone, verdict] = verdictOf(...answerOf(about), called);
  s.question.textContent = isolateText(about.text);
  Object.assign(s.verdict, { className: `verdict ${tone}`, textContent: verdict });
  s.ranks.replaceChildren(...rankLines(s.data, about.rows));
}

/** @type {(row: RankRow) => string} */
const kindOf = ([, , , flags, turns]) =>
  (turns.length ? "gold" : (flags & 3) === 3 ? "same" : "changed");

/** The list before, the lines, the list after.
 * @type {(data: AtlasMessage, rows: RankRow[]) => Element[]} */
function rankLines({ names, sides }, rows) {
  const { lines, edge, places } = placesOf(rows);
  const [before, after] = sides.map((title, side) => {
    const list = make("div", "side", make("div", "title", isolateText(title)));
    /** @type {(line: number, ranks: string, kind: string, name: string) => void} */
    const add = (line, ranks, kind, name) => {
      const node = element("div", `node ${kind}`, list, make("b", "", ranks), make("span", "", name));
      node.style.top = `${LINE * (line + 1)}px`;
    };
    /** @type {number[]} */
    const rest = [];
    places[side].forEach((line, i) => {
      const [row, kind] = [rows[i], kindOf(rows[i])];
      if (line === undefined) return;
      const twice = !side && places[1][i] !== undefined && (row[3] & 3) !== 1; // named after, too
      const name = (turnsRead(row, side)[0].length ? "◆ " : "") + (twice ? "" : isolateText(names[row[0]]));
      const rank = rankOf(row, side);
      if (line === lines - 1) rest.push(rank);
      else add(line, String(rank), line < edge ? kind : `${kind} out`, name);
    });
    const ranks = rest.sort((a, b) => a - b).join(", ");
    if (rest.length) add(lines - 1, "", "out", `${side ? "to" : "from"} rank ${ranks}`);
    return list;
  });
  const picture = draw("svg", { viewBox: `0 -1 1 ${lines + 1}`, preserveAspectRatio: "none",
    style: `height: ${LINE * (lines + 1)}px` });
  picture.append(draw("path", { d: `M0 ${edge + 0.25}H1`, class: "rule" }));
  /** @param {number} i */
  const strength = (i) => ["same", "changed", "gold"].indexOf(kindOf(rows[i]));
  for (const i of [...rows.keys()].sort((a, b) => strength(a) - strength(b))) { // gold is on top
    const [from, to] = places.map((side) => side[i]);
    if (from === undefined || to === undefined) continue;
    const [a, b] = [from + 0.5, to + 0.5];
    picture.append(draw("path", { d: `M0 ${a}C.5 ${a} .5 ${b} 1 ${b}`,
      class: `${kindOf(rows[i])} f${rows[i][3] & 3}` }));
  }
  return [before, picture, after];
}

/** @type {(name: string, given: Record<string, string>) => Element} */
function draw(name, given) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
  return made;
}
