// Words on the boxes of nodes: sessions, first words, node number or score.
// Foreign text is drawn, never parsed, and its direction stays its own.

import { CONTROLS, cutText, isolateText } from "../shared/text.js";
import { multiple } from "./answer.js";
import { eachBox, segmentsOf } from "./boxes.js";
import { inkOn } from "./colour.js";
import { changeOf, fillOf, isMeasure, shadeValue } from "./node_color.js";
import { MARK_FOOT, MARK_ROOM, isWide, rankMarks } from "./rank_marks.js";

const PAD = 6; // clear of the widest outline
const LOWEST = 13; // a flatter box holds no line of text
const LINE = 14;
const [TURNED_PAD, TURNED_LINE] = [3, 12]; // along and across a turned line
const NARROWEST = 9.5; // pixels across a box that still hold one turned line: its letters are as high
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
    ["score", scored ? "score" : measures[0]?.name, "the score (×1: the average node), or the number behind the colour",
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

/** A piece of text between places where a line may break: a word, or one sign of a script without
 *  blanks. */
const PIECE = /[\p{Ideographic}\p{sc=Hira}\p{sc=Kana}]\p{P}*\s*|[^\s\p{Ideographic}\p{sc=Hira}\p{sc=Kana}]+\s*/gu;

/** A text in at most so many lines, broken between words, with an ellipsis after the last word that
 *  has room; a first word wider than a line is cut. `words` counts the words that stand there whole.
 * @type {(text: string, measure: (text: string) => number, room: number, most: number) => Wrapped} */
export function wrapText(text, measure, room, most) {
  const pieces = text.replace(CONTROLS, " ").match(PIECE) ?? [];
  /** @type {string[]} */
  const lines = [];
  let words = 0;
  while (words < pieces.length && lines.length < most) {
    let line = "";
    let count = 0;
    while (words + count < pieces.length && measure(isolateText(line + pieces[words + count].trimEnd())) <= room) {
      line += pieces[words + count++];
    }
    if (!count) break; // a word wider than a line
    lines.push(line.trimEnd());
    words += count;
  }
  if (words === pieces.length) return { lines: lines.map(isolateText), words, whole: true };
  // The last line gives up words until the ellipsis has room, too.
  for (let line = lines.pop(); line; words--) {
    const cut = isolateText(`${line.replace(/[\s,;:.–—-]+$/, "")}…`);
    if (measure(cut) <= room && (lines.length || line.length >= SHORTEST)) return { lines: [...lines.map(isolateText), cut], words, whole: false };
    line = line.slice(0, line.length - pieces[words - 1].trimEnd().length).trimEnd() || lines.pop();
  }
  const cut = most > 0 && fitLabel([text], true, measure, room);
  return { lines: cut ? [cut] : [], words: 0, whole: false };
}

/** How a text stands in a box: in lines from left to right or, where more of its words fit so (or more
 *  of its first word, if none fits), turned by a right angle, read from below to above. Lines lie in a
 *  row so high; a turned text has the whole `length` of a box over several rows.
 * @type {(text: string, measure: (text: string) => number, across: number, high: number,
 *    length: number, turnedLines: number) => Placed} */
export function placeText(text, measure, across, high, length, turnedLines) {
  const flat = wrapText(text, measure, across - PAD - 2,
    Math.floor(high / LINE));
  if (flat.whole) return { ...flat, turned: false };
  const upright = wrapText(text, measure, length - 2 * TURNED_PAD, turnedLines);
  const turned = upright.words > flat.words
    || (!flat.words && (upright.lines[0] ?? "").length > (flat.lines[0] ?? "").length);
  return turned ? { ...upright, turned } : { ...flat, turned };
}

/** Writes on the boxes of one half, and notes what it has written. The lower half repeats the
 *  turned titles of marked nodes alone, unless labels were chosen.
 * @type {Painter} */
export function drawLabels(s, ctx, half) {
  const { scene, sight } = s;
  /** @type {Written[]} */
  const written = [];
  sight.labels[half] = written;
  const choice = labelChoice(scene);
  if (choice === "none") return;
  const { geom } = sight;
  const { data, theme } = scene;
  const boxes = sight.boxes[half];
  const marks = data.mode === "scores" ? rankMarks(scene, half) : new Map();
  const gold = new Set(data.gold);
  ctx.save();
  ctx.font = theme.font;
  ctx.textAlign = "left";
  /** @param {string} text */
  const measure = (text) => ctx.measureText(text).width;
  eachBox(s, half, (i, box, { y, h }) => {
    const node = boxes.id[i];
    const mark = marks.get(node);
    const wide = isWide(boxes.w[i]);
    const lead = mark && wide ? MARK_ROOM : 0; // its mark stands first
    const foot = mark && !wide ? MARK_FOOT : 0; // or below what is turned
    if (h - 1 < LOWEST || boxes.w[i] - lead - 1 < NARROWEST) return;
    if (choice === "marked" && !mark && !gold.has(node) && node !== s.attention.selected) return;
    // In one tree a gold leaf has its sign in the middle: what is written keeps to its left.
    const across = (geom.halves === 1 && gold.has(node) ? boxes.w[i] / 2 - 6 : boxes.w[i] - 1) - lead;
    const texts = labelTexts(scene, half, node, choice);
    const placed = texts.length ? fitted(s, texts, mayBeCut(choice), measure, across, h - 1 - foot, box.h - 1 - foot) : null;
    if (!placed?.lines.length) return;
    const { lines, widths, turned } = placed;
    if (turned && half && !mark && !scene.look.labels) return;
    written.push({ node, lines, turned });
    const patterned = fillOf(scene, half, node).pattern !== null;
    const left = geom.left + boxes.x[i] + lead;
    const segments = segmentsOf(s, half, i);
    lines.forEach((text, line) => {
      const shift = line - (lines.length - 1) / 2;
      /** @type {[number, number]} */
      const at = turned
        ? [left + across / 2 + shift * TURNED_LINE, box.y + box.h - 1 - TURNED_PAD - (half ? 0 : foot)]
        : [left + PAD, y + (h - 1 - foot) / 2 + 0.5 + (half ? foot : 0) + shift * LINE];
      write(ctx, text, at, widths[line], segments, patterned, turned, node in data.ended);
    });
  });
  ctx.restore();
}

/** Where a label's lines stand, found once for every text and room.
 * @type {(s: State, texts: string[], cut: boolean, measure: (text: string) => number,
 *    across: number, high: number, length: number) => Placed & { widths: number[] }} */
function fitted(s, texts, cut, measure, across, high, length) {
  const { frames } = s;
  const wide = Math.floor(across / STEP) * STEP; // while the view moves, most rooms stay the same
  const key = `${wide} ${Math.max(1, Math.floor(across / TURNED_LINE))} ${high} ${length} ${cut} ${texts.join("\n")}`;
  const known = frames.fitted.get(key);
  if (known) return known;
  if (frames.fitted.size > FITTED_KEPT) frames.fitted.clear();
  const one = cut ? "" : fitLabel(texts, false, measure, wide - 2 * PAD);
  const placed = cut ? placeText(texts[0], measure, wide, high, length, Math.max(1, Math.floor(across / TURNED_LINE)))
    : { lines: one ? [one] : [], words: 0, whole: true, turned: false };
  const found = { ...placed, widths: placed.lines.map(measure) };
  frames.fitted.set(key, found);
  return found;
}

/** A title in one line of so many pixels, cut after a word where it must be.
 * @type {(s: State, ctx: Ctx, title: string, room: number) => string} */
export const titleIn = (s, ctx, title, room) =>
  fitted(s, [title], true, (text) => ctx.measureText(text).width, room + PAD + 2, LINE, 0).lines[0] ?? "";

/** In one ink, that of most of what lies below; on a pattern, and over colours that need two inks, on
 *  a plate of that colour. A turned line begins at its foot and covers a column of its height. What is
 *  no longer true is struck.
 * @type {(ctx: Ctx, text: string, at: [number, number], width: number, segments: Segment[],
 *    patterned: boolean, turned: boolean, struck: boolean) => void} */
function write(ctx, text, [x, y], width, segments, patterned, turned, struck) {
  const [from, to] = turned ? [x - 6, x + 6] : [x, x + width];
  const below = segments.map(([left, right, colour]) => ({ colour, ink: inkOn(colour),
    share: Math.min(right, to) - Math.max(left, from) })).filter(({ share }) => share > 0);
  if (!below.length) return;
  const { colour, ink } = below.reduce((a, b) => (b.share > a.share ? b : a));
  if (patterned || below.some((each) => each.ink !== ink)) {
    ctx.fillStyle = colour;
    if (turned) ctx.fillRect(from, y - width - 3, to - from, width + 6);
    else ctx.fillRect(x - 3, y - 8, width + 6, 15);
  }
  ctx.fillStyle = ink;
  if (turned) {
    ctx.save();
    ctx.translate(x + 0.5, y);
    ctx.rotate(-Math.PI / 2);
  }
  const [left, middle] = turned ? [0, 0] : [x, y];
  ctx.fillText(text, left, middle);
  if (struck) ctx.fillRect(left, middle - 1, width, 1.5);
  if (turned) ctx.restore();
}
