// What stands around the boxes on the lower canvas: level names and the axis
// with its sessions.

import { lastly } from "../shared/dom.js";
import { isolateText } from "../shared/text.js";
import { leftOf, rightOf } from "./axis.js";
import { pixel } from "./boxes.js";
import { halfBox, rowBox } from "./geometry.js";
import { vertical } from "./glyphs.js";
import { titleIn } from "./labels.js";
import { colourChoice, sessionColour } from "./node_color.js";

const DENSITY_TOP = 16; // pixels of the axis above the highest bar of a search

/** Level names, as many as there is room for, fainter where the level has no node yet, and
 *  the name of the half.
 * @type {Painter} */
export function drawMargin(s, ctx, half) {
  const { sight: { geom }, scene: { theme, tree } } = s;
  ctx.font = theme.font;
  ctx.textAlign = "right";
  let last = null;
  for (let level = 0; level < tree.laneCount.length; level++) {
    const { y, h } = rowBox(geom, half, level);
    const middle = y + h / 2;
    if (last !== null && Math.abs(middle - last) < 13) continue;
    ctx.fillStyle = level <= tree.highest ? theme.muted : theme.faint;
    ctx.fillText(`L${level}`, geom.left - 8, middle);
    last = middle;
  }
  if (s.scene.picture === "grow" || !s.scene.data.legend) return;
  const { y, h } = halfBox(geom, half);
  ctx.font = theme.font;
  const name = halfName(s.scene, half);
  const reach = ctx.measureText(name).width / 2 + 4;
  const middle = Math.min(Math.max(y + h / 2, reach), s.elements.stage.clientHeight - reach);
  vertical(ctx, theme.text, name, 9, middle);
}

/** What a half shows: its score; where another colour is chosen, that, or by what the nodes
 *  marked in it were retrieved.
 * @type {(scene: Scene, half: number) => string} */
function halfName(scene, half) {
  const [before, after] = scene.data.score_names;
  const own = half ? after : before;
  const [shade] = scene.shades;
  if (scene.picture === "change") return shade === "change" ? `${after} − ${before}` : shade;
  return colourChoice(scene) ? `top by ${own}` : own;
}

/** @type {(s: State, ctx: Ctx) => void} */
export function drawAxis(s, ctx) {
  const { sight, scene } = s;
  const { theme, data, tree, isolated } = scene;
  const { geom } = sight;
  const { left, width, axisTop, axisHeight } = geom;
  const lane = geom.halves === 2 ? 9 : 0; // room for the evidence marks
  const strip = axisTop + 2 + lane;
  /** @type {{ x: number, w: number, session: number }[]} */
  const bands = [];
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, axisTop, width, axisHeight);
  ctx.clip();
  for (const run of scene.runs) {
    const { x, w } = bandOf(sight, run);
    if (w <= 0) continue;
    if (run.session % 2 === 0) {
      ctx.fillStyle = theme.band;
      ctx.fillRect(x, strip, w, axisHeight - lane - 4);
    }
    ctx.fillStyle = sessionColour(scene, run.session, 0);
    ctx.fillRect(x, strip, w, 3);
    if (isolated?.kind === "session" && isolated.key === run.session) {
      ctx.fillStyle = theme.chosen; // the session that stands alone
      ctx.fillRect(x, axisTop + axisHeight - 4, w, 2);
    }
    if (run.session >= 0) bands.push({ x: x - left, w, session: run.session });
  }
  drawShortened(s, ctx, strip);
  drawDensity(s, ctx);
  ctx.restore();
  drawNow(s, ctx, strip + 3);
  ctx.textAlign = "center";
  sight.written = [];
  /** @param {string[]} texts
   * @param {{ x: number, w: number, session: number }[]} among
   * @param {number} y
   * @param {number} [gap] */
  const write = (texts, among, y, gap) => {
    const items = among.map((band) => ({ ...band, text: isolateText(texts[band.session] ?? "") }));
    const placed = placeLabels(items, (text) => ctx.measureText(text).width, width, gap);
    for (const { item, x, size } of placed) {
      ctx.fillText(item.text, left + x, y);
      sight.written.push({ x: left + x - size / 2 - 2, y: y - 7, w: size + 4, h: 13 });
    }
    return placed.map(({ item }) => item);
  };
  ctx.font = theme.font;
  ctx.fillStyle = theme.text;
  // Of a question, and on a small canvas, the dates say when; sessions are named where there are none.
  const days = dayBands(s);
  const dated = (lane > 0 || !data.legend) && days.length > 0;
  const named = dated ? write(data.days, days, strip + 11, DATES_APART)
    : write(data.session_labels, bands, strip + 11);
  ctx.font = theme.font;
  ctx.fillStyle = theme.muted;
  // A day stands at its own turns.
  if (!lane && !dated && named.length) write(data.days, days, strip + 24, WORDS_APART);
  if (lane || axisHeight < strip - axisTop + CHAPTER || data.origin.length) return; // in the order of time
  ctx.font = `600 ${theme.font}`;
  ctx.fillStyle = theme.text;
  const chapters = chaptersOf(data, tree, scene.runs).map((title) => titleIn(s, ctx, title, CHAPTER_ROOM));
  // What two sessions in a row are about is said at the first.
  const begun = bands.filter(({ session }, i) => !i || chapters[session] !== chapters[bands[i - 1].session]);
  write(chapters, begun, strip + CHAPTER - 7, WORDS_APART);
}

const DATES_APART = 72; // pixels between dates that say when, without a session each

/** The part of a run that is in view, in pixels.
 * @type {(sight: Sight, run: { left: number, right: number }) => { x: number, w: number }} */
function bandOf(sight, { left, right }) {
  const { geom } = sight;
  const x = Math.max(geom.left, pixel(sight, left));
  return { x, w: Math.min(geom.left + geom.width, pixel(sight, right)) - x };
}

/** The days in view, each over its units.
 * @param {State} s */
function dayBands({ sight, scene }) {
  const bands = [];
  for (const run of scene.days) {
    const { x, w } = bandOf(sight, run);
    if (w > 0 && run.session >= 0) bands.push({ x: x - sight.geom.left, w, session: run.session });
  }
  return bands;
}

const CUT = 9; // pixels of the sign of a shortened wait

/** Two slanted strokes where a wait is drawn shorter than it was, with its length where there is room.
 * @type {(s: State, ctx: Ctx, top: number) => void} */
function drawShortened({ sight, scene: { theme, data, axis } }, ctx, top) {
  if (!axis) return;
  ctx.font = theme.font;
  ctx.textAlign = "center";
  for (const [key, length] of Object.entries(data.shortened)) {
    const unit = Number(key);
    const [from, to] = [pixel(sight, rightOf(axis, unit)), pixel(sight, leftOf(axis, unit))];
    const middle = Math.round((from + to) / 2);
    if (middle < sight.geom.left || middle > sight.geom.left + sight.geom.width) continue;
    ctx.strokeStyle = theme.muted;
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const shift of [-1.5, 1.5]) {
      ctx.moveTo(middle + shift - 2, top + CUT);
      ctx.lineTo(middle + shift + 2, top);
    }
    ctx.stroke();
    if (ctx.measureText(length).width + 4 > to - from) continue;
    ctx.fillStyle = theme.muted;
    ctx.fillText(length, middle, top + CUT + 8);
  }
}

const WORDS_APART = 10; // pixels between labels of several words, which else read as one
const CHAPTER_ROOM = 150; // pixels of a chapter, so that those of the next sessions have room, too
const CHAPTER = 44; // pixels of the axis from its strip that a line of chapters needs

/** What each session is about, as far as that is known: the label of the inner node that covers most
 *  of it and least beside it.
 * @type {(data: Message, tree: Tree, runs: Scene["runs"]) => string[]} */
export const chaptersOf = lastly((data, { start, stop, level }, runs) => {
  /** @type {string[]} */
  const chapters = [];
  const share = runs.map(() => 0);
  let first = 0;
  for (const node of [...level.keys()].sort((a, b) => start[a] - start[b])) {
    if (!(level[node] > 0) || !data.names[node]) continue;
    while (runs[first].stop <= start[node]) first++;
    for (let i = first; i < runs.length && runs[i].start < stop[node]; i++) {
      const { session, start: from, stop: to } = runs[i];
      const common = Math.min(to, stop[node]) - Math.max(from, start[node]);
      const fit = common / (to - from + stop[node] - start[node] - common);
      if (fit > share[i]) [share[i], chapters[session]] = [fit, data.names[node]];
    }
  }
  return chapters;
});

/** How much of each session a search and each pinned one have found, as bars beside each other on
 *  the foot of the axis: leaves that hold the words, or all nodes near in meaning.
 * @type {(s: State, ctx: Ctx) => void} */
function drawDensity({ sight, search, scene: { theme, tree, runs, runOf } }, ctx) {
  const layers = [...search.pins.map(({ by, hits, look: { colour } }) => ({ by, hits, colour })),
    { ...search, colour: theme.unknown }].filter(({ hits }) => hits.length);
  const counts = layers.map(({ by, hits }) => {
    const found = new Array(runs.length).fill(0);
    for (const node of hits) if (by !== "words" || !tree.level[node]) found[runOf[tree.start[node]]]++;
    return found;
  });
  const most = Math.max(1, ...counts.flat());
  const { axisTop, axisHeight } = sight.geom;
  ctx.globalAlpha = layers.length > 1 || search.pins.length ? 0.6 : 1; // words are read on them
  runs.forEach(({ left, right }, i) => {
    const x = pixel(sight, left);
    const wide = Math.max(1, pixel(sight, right) - x - 1) / layers.length;
    layers.forEach(({ colour }, layer) => {
      const h = (counts[layer][i] / most) * (axisHeight - DENSITY_TOP);
      ctx.fillStyle = colour;
      ctx.fillRect(x + layer * wide, axisTop + axisHeight - h, wide, h);
    });
  });
  ctx.globalAlpha = 1;
}

const NOW_ROOM = 34; // pixels that "now" needs right of its line

/** How far the conversation has come: a line at the end of the grown part. Where there is no room
 *  to name it, it is left out, unless it can be moved.
 * @type {(s: State, ctx: Ctx, bottom: number) => void} */
function drawNow(s, ctx, bottom) {
  const { sight, scene: { theme, tree, data } } = s;
  const { geom } = sight;
  const movable = data.now !== null;
  if (!movable && data.mode !== "grow") return;
  const now = nowPixel(s);
  const end = geom.left + geom.width;
  if (now < geom.left - 1 || now > end + 1 || (!movable && now + NOW_ROOM > end)) return;
  const top = movable ? geom.top : tree.highest < 0 ? geom.axisTop - 20 : rowBox(geom, 0, tree.highest).y;
  const foot = movable && geom.halves > 1 ? geom.axisTop + geom.axisHeight + geom.rows.total : bottom;
  const x = Math.round(now);
  if (s.attention.now !== null) {
    ctx.globalAlpha = 0.7; // what the memory would not know
    ctx.fillStyle = theme.background;
    ctx.fillRect(x, top, end - x, foot - top);
    ctx.globalAlpha = 1;
  }
  ctx.fillStyle = movable ? theme.muted : theme.line;
  ctx.fillRect(x, top, 1, foot - top);
  if (movable) ctx.fillRect(x - 3, geom.axisTop + 2, 7, GRIP); // where it is held
  ctx.fillStyle = theme.muted;
  ctx.font = theme.font;
  const left = now + NOW_ROOM > end;
  if (left && s.attention.now === null) return; // it would lie on the boxes
  ctx.textAlign = left ? "right" : "left";
  const [day] = movable && s.attention.now ? [data.days[data.unit_day[s.attention.now - 1]]] : [];
  ctx.fillText(day ? `as of ${day}` : "now", now + (left ? -5 : 5), top + 7);
}

const GRIP = 12; // pixels

/** Where the known part ends, also while the line is being moved.
 * @param {State} s */
export function nowPixel({ sight, attention, scene: { tree, axis, data } }) {
  return pixel(sight, rightOf(axis, attention.now ?? data.now ?? tree.newest));
}

/** The labels that keep `gap` pixels from the one before. Items: {x, w, text} with the band's
 *  pixel place; gives [{item, x, size}] with x the label's centre.
 * @template {{ x: number, w: number, text: string }} Item
 * @param {Item[]} items
 * @param {(text: string) => number} measure
 * @param {number} width
 * @param {number} [gap] */
export function placeLabels(items, measure, width, gap = 4) {
  const chosen = [];
  let edge = -gap;
  for (const item of items) {
    const size = measure(item.text);
    const x = Math.min(Math.max(item.x + item.w / 2, size / 2), width - size / 2);
    if (!item.text || size > width || x - size / 2 < edge + gap) continue;
    chosen.push({ item, x, size });
    edge = x + size / 2;
  }
  return chosen;
}
