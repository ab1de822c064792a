// Words on the boxes of nodes: sessions, first words, node number or score.
// Foreign text is drawn, never parsed, and its direction stays its own.

import { cutText, isolateText } from "../shared/text.js";
import { multiple } from "./answer.js";
import { eachBox, segmentsOf } from "./boxes.js";
import { inkOn } from "./colour.js";
import { changeOf, fillOf, isMeasure, shadeValue } from "./node_color.js";
import { plateWidth, rankMarks } from "./rank_marks.js";

const PAD = 6; // clear of the widest outline
const LOWEST = 13; // a flatter box holds no line of text
const LINE = 14;
const LONGEST = 240; // characters that are ever measured
const SHORTEST = 3; // characters of a cut text that still say something
const FITTED_KEPT = 4000;
const STEP = 4; // pixels

/** What can be written on this data's nodes.
 * @param {Message} message */
export function labelsFor({ mode, initial, names, measures }) {
  const scored = mode !== "grow" && initial.length > 0;
  /** @type {Offer[]} */
  const all = [
    ["words", "words", "what its part of the conversation is about", names.length > 0],
    ["marked", "words of marked", "the same, on retrieved, gold and selected nodes alone",
      names.length > 0 && mode !== "grow"],
    ["none", "none", "nothing is written on nodes", true],
    ["session", "session", "the session, or the first and last of several", true],
    ["node", "node number", "the number that other panels call it by", true],
    ["score", scored ? "score" : measures[0]?.name, "the score as a multiple of an even share, or the number behind the colour",
      scored || measures.length > 0],
  ];
  return all.filter(([, , , offered]) => offered);
}

/** The choice; the first that there is where none was made or the data cannot show it.
 * @param {Scene} scene */
export function labelChoice({ data, look }) {
  const offered = labelsFor(data).map(([choice]) => choice);
  return offered.includes(look.labels) ? look.labels : offered[0];
}

/** What may stand on a node: texts from long to short, of which one must fit whole, or one
 *  that may be cut.
 * @type {(scene: Scene, half: number, node: number, choice: string) => string[]} */
export function labelTexts(scene, half, node, choice) {
  const { data, tree, runs, runOf } = scene;
  if (choice === "node") return [String(data.origin[node] ?? node)];
  if (mayBeCut(choice)) return data.names[node] ? [cutText(data.names[node], LONGEST)] : [];
  if (choice === "session") {
    const first = runs[runOf[tree.start[node]]]?.session ?? -1;
    const last = runs[runOf[tree.stop[node] - 1]]?.session ?? -1;
    const [a, b] = [data.session_labels[first], data.session_labels[last]];
    if (a === undefined || b === undefined) return [];
    return first === last ? [data.session_titles[first], a] : [`${a} – ${b}`];
  }
  const text = scoreText(scene, half, node);
  return text ? [text] : [];
}

/** @param {string} choice */
const mayBeCut = (choice) => choice === "words" || choice === "marked";

/** The number behind the colour; where there is none, the half's score.
 * @type {(scene: Scene, half: number, node: number) => string} */
function scoreText(scene, half, node) {
  const shade = scene.shades[half];
  const value = shadeValue(scene, shade, node);
  if (isMeasure(scene.data, shade)) return Number.isNaN(value) ? "" : value.toFixed(2);
  if (shade === "change" || (scene.picture === "change" && Number.isNaN(value))) {
    const change = changeOf(scene, node);
    return (change < 0 ? "−" : "+") + multiple(scene, Math.abs(change));
  }
  const score = Number.isNaN(value) ? (half ? scene.data.final : scene.data.initial)[node] : value;
  return score === undefined ? "" : multiple(scene, score);
}

/** The first text that fits whole, or the last one cut to the room with an ellipsis; ""
 *  where nothing useful is left.
 * @type {(texts: string[], cut: boolean, measure: (text: string) => number,
 *    room: number) => string} */
export function fitLabel(texts, cut, measure, room) {
  for (const text of texts) {
    const plain = isolateText(text);
    if (measure(plain) <= room) return plain;
  }
  if (!cut || !texts.length) return "";
  const text = texts[texts.length - 1];
  let keep = Math.floor((text.length * room) / measure(isolateText(text))) + 1;
  while (keep >= SHORTEST) {
    const fitted = isolateText(cutText(text, keep));
    const size = measure(fitted);
    if (size <= room) return fitted;
    keep = Math.min(keep - 1, Math.floor((keep * room) / size));
  }
  return "";
}

/** A text, or as much of it as there is room for.
 * @type {(ctx: Ctx, text: string, room: number) => string} */
export const fittingText = (ctx, text, room) =>
  fitLabel([text], true, (part) => ctx.measureText(part).width, room);

/** Writes on the boxes of one half.
 * @type {Painter} */
export function drawLabels(s, ctx, half) {
  const { scene } = s;
  const choice = labelChoice(scene);
  if (choice === "none") return;
  const cut = mayBeCut(choice);
  const { sight: { geom }, scene: { data, theme } } = s;
  const boxes = s.sight.boxes[half];
  const marks = data.mode === "scores" ? rankMarks(scene, half) : new Map();
  const gold = new Set(data.gold);
  ctx.save();
  ctx.font = theme.font;
  ctx.textAlign = "left";
  /** @param {string} text */
  const measure = (text) => ctx.measureText(text).width;
  eachBox(s, half, (i, _, { y, h }) => {
    const node = boxes.id[i];
    // A gold leaf has its sign in the middle: what is written keeps to its left.
    const mark = marks.get(node); // its number stands first
    const lead = mark ? plateWidth(mark.rank) + 4 : 0;
    const room = (gold.has(node) ? boxes.w[i] / 2 - 6 : boxes.w[i]) - 2 * PAD - lead;
    if (h - 1 < LOWEST || room < 2 * STEP) return;
    if (choice === "marked" && !mark && !gold.has(node) && node !== s.attention.selected) return;
    const texts = labelTexts(scene, half, node, choice);
    const lines = inLines(s, texts, cut, measure, room, Math.floor((h - 1) / LINE));
    const [x, middle] = [geom.left + boxes.x[i] + PAD + lead, y + (h - 1) / 2 + 0.5];
    const patterned = fillOf(scene, half, node).pattern !== null;
    lines.forEach(({ text, width }, line) => {
      const at = middle + (line - (lines.length - 1) / 2) * LINE;
      write(ctx, text, x, at, width, segmentsOf(s, half, i), patterned);
    });
  });
  ctx.restore();
}

/** A label on one line or, where its words do not fit beside each other, on as many as there is
 *  room for.
 * @type {(s: State, texts: string[], cut: boolean, measure: (text: string) => number,
 *    room: number, most: number) => { text: string, width: number }[]} */
function inLines(s, texts, cut, measure, room, most) {
  const inOne = !cut || most < 2 || !texts.length;
  const whole = fitted(s, texts, cut && inOne, measure, room);
  if (inOne || whole.text) return whole.text ? [whole] : [];
  return texts[0].split(", ").slice(0, most)
    .map((text) => fitted(s, [text], true, measure, room)).filter(({ text }) => text);
}

/** @type {(s: State, texts: string[], cut: boolean, measure: (text: string) => number,
 *    room: number) => { text: string, width: number }} */
function fitted(s, texts, cut, measure, room) {
  const { frames } = s;
  const wide = Math.floor(room / STEP) * STEP; // while the view moves, most rooms stay the same
  const key = `${wide} ${cut} ${texts.join("\n")}`;
  const known = frames.fitted.get(key);
  if (known) return known;
  if (frames.fitted.size > FITTED_KEPT) frames.fitted.clear();
  const text = fitLabel(texts, cut, measure, wide);
  const found = { text, width: text ? measure(text) : 0 };
  frames.fitted.set(key, found);
  return found;
}

/** In one ink, that of most of what lies below; on a pattern, and over colours that need two inks, on
 *  a plate of that colour.
 * @type {(ctx: Ctx, text: string, x: number, y: number, width: number, segments: Segment[],
 *    patterned: boolean) => void} */
function write(ctx, text, x, y, width, segments, patterned) {
  const below = segments.map(([left, right, colour]) => ({ colour, ink: inkOn(colour),
    share: Math.min(right, x + width) - Math.max(left, x) })).filter(({ share }) => share > 0);
  if (!below.length) return;
  const { colour, ink } = below.reduce((a, b) => (b.share > a.share ? b : a));
  if (patterned || below.some((each) => each.ink !== ink)) {
    ctx.fillStyle = colour;
    ctx.fillRect(x - 3, y - 8, width + 6, 15);
  }
  ctx.fillStyle = ink;
  ctx.fillText(text, x, y);
}
