// tree_paint.js: draws the tree view's state `s` (see createState in tree.js) on the lower
// of its two canvases: boxes and axis. The candidates are in tree_gutter.js, the marks in
// tree_marks.js.

import {
  changeIndex, levelStrength, luminance, mix, placeLabels, rampIndex, rampTable, rowBox,
} from "./tree_core.js";
import { drawGutter } from "./tree_gutter.js";
import { isolate } from "./tree_text.js";

export const FADE_MS = 700; // how long a new node glows

// --- theme ---------------------------------------------------------------------------

/** Theme variables as plain "#rrggbb", by way of a canvas that parses any CSS colour. */
export function readTheme(s) {
  const style = getComputedStyle(s.root);
  const parser = s.base.getContext("2d");
  const colour = (name, fallback) => {
    parser.fillStyle = fallback;
    parser.fillStyle = style.getPropertyValue(name).trim() || fallback;
    return parser.fillStyle.startsWith("#") ? parser.fillStyle : fallback;
  };
  const background = colour("--st-background-color", "#ffffff");
  const dark = luminance(background) < 0.2;
  const text = colour("--st-text-color", dark ? "#fafafa" : "#31333f");
  const accent = s.data.accent[dark ? "dark" : "light"];
  const { ramp, change } = s.data.ramps[dark ? "dark" : "light"];
  s.theme = {
    background, text, accent, ramp, change, font: style.fontFamily,
    table: rampTable(ramp),
    changeTable: rampTable(change),
    hatch: hatch(parser, background),
    band: mix(text, background, 0.07),
    line: mix(text, background, 0.25),
    muted: mix(text, background, 0.72),
    faint: mix(text, background, 0.36),
    unknown: mix(text, background, 0.3),
  };
  s.root.style.setProperty("--accent", accent);
  s.cache.clear();
}

/** Diagonal lines in the page's colour: on a fill they show as strongly as the fill does. */
function hatch(ctx, colour) {
  const size = 6;
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const pen = tile.getContext("2d");
  pen.strokeStyle = colour;
  pen.lineWidth = 1.3;
  pen.beginPath();
  for (const x of [-size, 0, size]) {
    pen.moveTo(x - 1, size + 1);
    pen.lineTo(x + size + 1, -1);
  }
  pen.stroke();
  return ctx.createPattern(tile, "repeat");
}

// --- lower canvas: boxes and axis -----------------------------------------------------

const pixel = (s, unit) =>
  s.geom.left + ((unit - s.view.x0) / (s.view.x1 - s.view.x0)) * s.geom.width;

/** Rectangle of a node, cut to the plot; null if it is out of view. */
export function nodeRect(s, half, node) {
  const { tree, geom } = s;
  const level = tree.level[node];
  if (!(level >= 0)) return null;
  const x = Math.max(geom.left, pixel(s, tree.start[node]));
  const right = Math.min(geom.left + geom.width, pixel(s, tree.stop[node]));
  if (right <= geom.left || x >= geom.left + geom.width) return null;
  const lane = tree.rowOf[node] - tree.firstRow[level];
  return { x, w: right - x, ...rowBox(geom, half, level, lane, tree.laneCount[level]) };
}

export function drawBase(s, ctx) {
  const { geom, tree } = s;
  ctx.textBaseline = "middle";
  for (let half = 0; half < geom.halves; half++) {
    const boxes = s.boxes[half];
    for (let level = 0; level < tree.laneCount.length; level++) {
      const lanes = tree.laneCount[level];
      for (let lane = 0; lane < lanes; lane++) {
        const { y, h } = rowBox(geom, half, level, lane, lanes);
        const tall = h >= 4 ? h - 1 : Math.max(h, 1);
        const row = tree.firstRow[level] + lane;
        for (let i = boxes.first[row]; i < boxes.first[row + 1]; i++) {
          const x = snap(geom.left + boxes.x[i]); // whole pixels: no seams between leaves
          const right = snap(geom.left + boxes.x[i] + boxes.w[i]);
          const w = Math.max(right - x - (boxes.w[i] >= 4 ? 1 : 0), 1);
          if (s.picture !== "grow") {
            ctx.fillStyle = scoreColour(s, half, boxes.id[i]);
            ctx.fillRect(x, y, w, tall);
            if (s.picture === "change" && changeOf(s, boxes.id[i]) < 0) {
              ctx.fillStyle = s.theme.hatch;
              ctx.fillRect(x, y, w, tall);
            }
          } else fillSessions(s, ctx, boxes.id[i], level, x, w, y, tall);
        }
      }
    }
    drawMargin(s, ctx, half);
  }
  drawAxis(s, ctx);
  if (geom.right > 100) drawGutter(s, ctx);
}

const snap = (x) => Math.round(x * devicePixelRatio) / devicePixelRatio;

/** Propagated minus initial score. */
export const changeOf = ({ data }, node) => data.final[node] - data.initial[node];

/** Fill of a node. A change has the scale of the scores, not one of its own: so it fades as
 *  α goes to 0. */
export const scoreColour = (s, half, node) => {
  if (s.picture === "change") {
    return s.theme.changeTable[changeIndex(changeOf(s, node), s.most, s.data.root_scale)];
  }
  const score = (half ? s.data.final : s.data.initial)[node];
  return s.theme.table[rampIndex(score, s.most, s.data.root_scale)];
};

/** One node in its sessions' colours, one rectangle for each run of units. */
function fillSessions(s, ctx, node, level, x, w, y, h) {
  const { x0, x1 } = s.view;
  const scale = s.geom.width / (x1 - x0);
  const stop = Math.min(s.tree.stop[node], Math.ceil(x1));
  const end = x + w;
  let unit = Math.max(s.tree.start[node], Math.floor(x0));
  let left = x;
  while (unit < stop && left < end) {
    const run = s.runs[s.runOf[unit]];
    const right = run.stop >= stop
      ? end
      : Math.min(end, snap(s.geom.left + (run.stop - x0) * scale));
    ctx.fillStyle = sessionColour(s, run.session, level);
    ctx.fillRect(left, y, right - left, h);
    left = right;
    unit = run.stop;
  }
}

function sessionColour(s, session, level) {
  const key = level * 65536 + session;
  let colour = s.cache.get(key);
  if (!colour) {
    const strength = levelStrength(level, s.data.levels_total);
    const full = session < 0 ? s.theme.unknown : s.data.session_colours[session];
    colour = mix(full, s.theme.background, strength);
    s.cache.set(key, colour);
  }
  return colour;
}

/** Level names, as many as there is room for, fainter where the level has no node yet, and
 *  the name of the half. */
function drawMargin(s, ctx, half) {
  const { geom, theme, tree } = s;
  ctx.font = `11px ${theme.font}`;
  ctx.textAlign = "right";
  let last = null;
  for (let level = 0; level < tree.laneCount.length; level++) {
    const { y, h } = rowBox(geom, half, level);
    const middle = y + h / 2;
    if (last !== null && Math.abs(middle - last) < 13) continue;
    ctx.fillStyle = tree.byLevel[level].length ? theme.muted : theme.faint;
    ctx.fillText(`L${level}`, geom.left - 8, middle);
    last = middle;
  }
  if (s.picture === "grow") return;
  const span = geom.rows.total;
  const y = half ? geom.axisTop + geom.axisHeight + span / 2 : geom.axisTop - span / 2;
  ctx.save();
  const reach = geom.halves === 1 ? 58 : 36; // half of the name's length
  ctx.translate(9, Math.min(Math.max(y, reach), s.stage.clientHeight - reach));
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = "center";
  ctx.font = `12px ${theme.font}`;
  ctx.fillStyle = theme.text;
  const name = half ? "propagated" : "initial";
  ctx.fillText(s.picture === "change" ? "propagated − initial" : name, 0, 0);
  ctx.restore();
}

function drawAxis(s, ctx) {
  const { geom, theme, data } = s;
  const { left, width, axisTop, axisHeight } = geom;
  const lane = geom.halves === 2 ? 9 : 0; // room for the evidence marks
  const strip = axisTop + 2 + lane;
  const bands = [];
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, axisTop, width, axisHeight);
  ctx.clip();
  for (const run of s.runs) {
    const x = Math.max(left, pixel(s, run.start));
    const w = Math.min(left + width, pixel(s, run.stop)) - x;
    if (w <= 0) continue;
    if (run.session % 2 === 0) {
      ctx.fillStyle = theme.band;
      ctx.fillRect(x, strip, w, axisHeight - lane - 4);
    }
    ctx.fillStyle = sessionColour(s, run.session, 0);
    ctx.fillRect(x, strip, w, 3);
    if (run.session >= 0) bands.push({ x: x - left, w, session: run.session });
  }
  ctx.restore();
  ctx.textAlign = "center";
  const write = (texts, among, y) => {
    const items = among.map((band) => ({ ...band, text: isolate(texts[band.session] ?? "") }));
    const measure = (text) => (text ? ctx.measureText(text).width : 0);
    const placed = placeLabels(items, measure, width);
    for (const { item, x } of placed) ctx.fillText(item.text, left + x, y);
    return placed.map(({ item }) => item);
  };
  ctx.font = `12px ${theme.font}`;
  ctx.fillStyle = theme.text;
  const named = write(data.session_labels, bands, strip + 11);
  ctx.font = `11px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  write(data.session_dates, named, strip + 24); // a date never stands without its session
  if (data.mode === "grow") drawNow(s, ctx, strip + 3);
}

const NOW_ROOM = 34; // pixels that "now" needs right of its line

/** How far the conversation has come: a line at the end of the grown part. Where there is
 *  no room to name it, it is left out. */
function drawNow(s, ctx, bottom) {
  const { geom, theme, tree } = s;
  const now = pixel(s, tree.newest);
  if (now < geom.left || now + NOW_ROOM > geom.left + geom.width) return;
  const highest = tree.byLevel.findLastIndex((ids) => ids.length);
  const top = highest < 0 ? geom.axisTop - 20 : rowBox(geom, 0, highest).y;
  ctx.fillStyle = theme.line;
  ctx.fillRect(Math.round(now), top, 1, bottom - top);
  ctx.fillStyle = theme.muted;
  ctx.font = `11px ${theme.font}`;
  ctx.textAlign = "left";
  ctx.fillText("now", now + 5, top + 7);
}
