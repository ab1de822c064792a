// tree.js: the tree view as a Streamlit component (v2). It owns the DOM, the two canvases
// and the interaction; everything that can be computed without a DOM is in tree_core.js.
//
// Streamlit calls the default function again on every change of the data, with the same
// parentElement. So the state lives there, listeners are added once, and zoom, focus and
// hover survive an update; only another `identity` resets them.

import {
  ancestors, boxAt, buildTree, clampView, comparison, cutText, geometry, isolate,
  levelStrength, luminance, mix, neighbour, number, placeLabels, rampIndex, rampTable,
  rowAt, rowBox, sessionRuns, spanText, spread, unpack, visibleBoxes, zoomView,
} from "./tree_core.js";

const STATE = "segvizTree";
const FADE_MS = 700;
const TIP_LENGTH = 280;
const DRAG_PIXELS = 4;

export default function ({ data, parentElement, setTriggerValue }) {
  let s = parentElement[STATE];
  if (!s) {
    s = parentElement[STATE] = createState(parentElement);
    buildDom(s);
    listen(s);
  }
  // A trigger, not a state: a state that Python has overruled would go stale and swallow
  // the next click on the same node. -1 stands for "nothing selected".
  s.send = (node) => setTriggerValue("selected", node ?? -1);
  if (data) update(s, unpack(data));
  // Streamlit may run the clean-up of an overtaken call after a later call: ignore it.
  const call = ++s.calls;
  return () => {
    if (call === s.calls) destroy(s);
  };
}

function createState(parentElement) {
  return {
    parent: parentElement, calls: 0, painted: 0, send: () => {},
    data: null, tree: null, runs: [], boxes: [], geom: null, view: null,
    selected: null, sentByPython: null, focus: null, hover: null, pointer: null, drag: null,
    fadeFrom: 0, frame: 0, baseDirty: true, cache: new Map(),
  };
}

function destroy(s) {
  s.observer.disconnect();
  cancelAnimationFrame(s.frame);
  s.root.remove();
  delete s.parent[STATE];
}

// --- DOM -----------------------------------------------------------------------------

function element(tag, className, parent, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

function buildDom(s) {
  s.root = element("div", "segviz", s.parent);
  const bar = element("div", "bar", s.root);
  s.legend = element("div", "legend", bar);
  s.count = element("div", "count", bar);
  const buttons = element("div", "buttons", bar);
  const button = (text, label, act) => {
    const made = element("button", "", buttons, text);
    made.type = "button";
    made.title = label;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", () => s.data && act());
    return made;
  };
  s.zoomIn = button("+", "Zoom in", () => zoomAtCentre(s, 1.6));
  s.zoomOut = button("−", "Zoom out", () => zoomAtCentre(s, 1 / 1.6));
  s.fit = button("fit", "Show the whole conversation", () => setView(s, 0, Infinity));
  const stage = element("div", "stage", s.root);
  s.base = element("canvas", "base", stage); // boxes and axis: repainted on data and zoom
  s.over = element("canvas", "over", stage); // outlines: repainted on hover and selection
  s.over.tabIndex = 0;
  s.over.setAttribute("role", "application");
  s.over.setAttribute("aria-label",
    "Memory tree. Arrow keys walk parent, child and neighbour; Enter selects; Escape zooms out.");
  s.tip = element("div", "tip", s.root);
  s.tip.hidden = true;
  s.mirror = element("div", "unseen", s.root);
  s.mirror.setAttribute("role", "img");
  s.live = element("div", "unseen", s.root);
  s.live.setAttribute("aria-live", "polite");
  s.stage = stage;
}

/** What the outlines mean; only what can occur in this picture. */
function writeLegend(s) {
  const { data } = s;
  s.legend.replaceChildren();
  const entry = (kind, text) => {
    const item = element("span", "", s.legend);
    const swatch = element("i", kind, item);
    element("span", "", item, text);
    return swatch;
  };
  if (data.mode === "grow") {
    entry("frontier", "frontier");
    entry("added", "new");
    entry("revised", "revised");
    entry("chosen", "chosen");
  } else {
    const swatch = entry("ramp", `score 0–${number(s.most)}${data.sqrt_scale ? " (√)" : ""}`);
    swatch.style.background = `linear-gradient(to right, ${s.theme.ramp.join(", ")})`;
    const k = Math.max(data.top_initial.length, data.top_final.length);
    if (k) entry("top", `top ${k}`);
  }
  if (data.gold.length) entry("gold", "evidence");
}

// --- data ----------------------------------------------------------------------------

function update(s, data) {
  const before = s.data;
  const fresh = !before || before.identity !== data.identity;
  s.data = data;
  s.tree = buildTree(data);
  s.runs = sessionRuns(data.unit_session);
  s.runOf = new Int32Array(data.total_units);
  s.runs.forEach((run, i) => s.runOf.fill(i, run.start, run.stop));
  s.most = 0;
  for (const column of [data.initial, data.final]) {
    for (let i = 0; i < column.length; i++) {
      if (data.level[i] >= 0 && column[i] > s.most) s.most = column[i];
    }
  }
  // In "grow", a marked node must win its pixel column, as a high score does in "scores".
  s.marks = new Float32Array(data.nodes);
  const weigh = (ids, weight) => ids.forEach((id) => { s.marks[id] = weight; });
  weigh(data.frontier, 1);
  weigh(data.revised, 2);
  weigh(data.added, 3);
  if (data.chosen !== null) weigh([data.chosen], 4);

  if (fresh || !s.view || before.total_units !== data.total_units) {
    const whole = !s.view || fresh || s.view.x1 - s.view.x0 >= before.total_units;
    s.view = whole
      ? { x0: 0, x1: data.total_units || 1 }
      : clampView(s.view.x0, s.view.x1, data.total_units);
  }
  if (fresh) s.focus = s.hover = null;
  // Python's word counts when it changes: an echo of the old value must not undo a click.
  if (fresh || data.selected !== s.sentByPython) s.selected = data.selected;
  s.sentByPython = data.selected;
  for (const role of ["selected", "focus", "hover"]) {
    if (s[role] !== null && !(data.level[s[role]] >= 0)) s[role] = null;
  }
  const moved = fresh || before.step !== data.step;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (moved) s.fadeFrom = data.added.length && !still && before ? performance.now() : 0;
  readTheme(s);
  writeLegend(s);
  s.mirror.setAttribute("aria-label", data.summary);
  schedule(s, true);
}

/** Theme variables as plain "#rrggbb", by way of a canvas that parses any CSS colour. */
function readTheme(s) {
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
  const ramp = s.data.ramps[dark ? "dark" : "light"];
  s.theme = {
    background, text, accent, ramp, font: style.fontFamily,
    table: rampTable(ramp),
    band: mix(text, background, 0.07),
    line: mix(text, background, 0.25),
    muted: mix(text, background, 0.72),
    unknown: mix(text, background, 0.3),
  };
  s.root.style.setProperty("--accent", accent);
  s.cache.clear();
}

// --- painting ------------------------------------------------------------------------

function schedule(s, base = false) {
  s.baseDirty ||= base;
  s.frame ||= requestAnimationFrame(() => {
    s.frame = 0;
    paint(s);
  });
}

function paint(s) {
  const { clientWidth: width, clientHeight: height } = s.stage;
  if (!s.data || !width || !height) return;
  const started = performance.now();
  const base = s.baseDirty;
  if (base) {
    const { mode, gutter } = s.data;
    s.geom = geometry(width, height, mode, gutter, s.tree.laneCount);
    const weights = mode === "scores" ? [s.data.initial, s.data.final] : [s.marks];
    s.boxes = weights.map(
      (weight) => visibleBoxes(s.tree, s.view, s.geom.width, weight.length ? weight : null));
    drawBase(s, canvasFor(s, s.base, width, height));
    s.baseDirty = false;
  }
  drawOver(s, canvasFor(s, s.over, width, height));
  if (base) s.root.dataset.drawMs = (performance.now() - started).toFixed(2);
  mirror(s);
  if (s.fadeFrom) {
    if (performance.now() - s.fadeFrom > FADE_MS) s.fadeFrom = 0;
    schedule(s);
  }
}

function canvasFor(s, canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return ctx;
}

const pixel = (s, unit) =>
  s.geom.left + ((unit - s.view.x0) / (s.view.x1 - s.view.x0)) * s.geom.width;

/** Rectangle of a node, cut to the plot; null if it is out of view. */
function nodeRect(s, half, node) {
  const { tree, geom } = s;
  const level = tree.level[node];
  if (!(level >= 0)) return null;
  const x = Math.max(geom.left, pixel(s, tree.start[node]));
  const right = Math.min(geom.left + geom.width, pixel(s, tree.stop[node]));
  if (right <= geom.left || x >= geom.left + geom.width) return null;
  const lane = tree.rowOf[node] - tree.firstRow[level];
  return { x, w: right - x, ...rowBox(geom, half, level, lane, tree.laneCount[level]) };
}

function drawBase(s, ctx) {
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
          const w = boxes.w[i] >= 4 ? boxes.w[i] - 1 : boxes.w[i];
          if (s.data.mode === "scores") {
            ctx.fillStyle = scoreColour(s, half, boxes.id[i]);
            ctx.fillRect(geom.left + boxes.x[i], y, w, tall);
          } else fillSessions(s, ctx, boxes.id[i], level, boxes.x[i], w, y, tall);
        }
      }
    }
    drawMargin(s, ctx, half);
  }
  drawAxis(s, ctx);
  if (geom.right > 100) drawGutter(s, ctx);
}

const scoreColour = (s, half, node) => {
  const score = (half ? s.data.final : s.data.initial)[node];
  return s.theme.table[rampIndex(score, s.most, s.data.sqrt_scale)];
};

/** One node in its sessions' colours, one rectangle for each run of units. */
function fillSessions(s, ctx, node, level, x, w, y, h) {
  const { x0, x1 } = s.view;
  const scale = s.geom.width / (x1 - x0);
  const stop = Math.min(s.tree.stop[node], Math.ceil(x1));
  const end = s.geom.left + x + w;
  let unit = Math.max(s.tree.start[node], Math.floor(x0));
  let left = s.geom.left + x;
  while (unit < stop && left < end) {
    const run = s.runs[s.runOf[unit]];
    const right = run.stop >= stop ? end : Math.min(end, s.geom.left + (run.stop - x0) * scale);
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

/** Level names, as many as there is room for, and the name of the half. */
function drawMargin(s, ctx, half) {
  const { geom, theme, tree } = s;
  ctx.fillStyle = theme.muted;
  ctx.font = `11px ${theme.font}`;
  ctx.textAlign = "right";
  let last = null;
  for (let level = 0; level < tree.laneCount.length; level++) {
    const { y, h } = rowBox(geom, half, level);
    const middle = y + h / 2;
    if (last !== null && Math.abs(middle - last) < 13) continue;
    ctx.fillText(`L${level}`, geom.left - 8, middle);
    last = middle;
  }
  if (geom.halves === 1) return;
  const span = geom.rows.total;
  const y = half ? geom.axisTop + geom.axisHeight + span / 2 : geom.axisTop - span / 2;
  ctx.save();
  ctx.translate(9, Math.min(Math.max(y, 36), s.stage.clientHeight - 36));
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = "center";
  ctx.font = `12px ${theme.font}`;
  ctx.fillStyle = theme.text;
  ctx.fillText(half ? "propagated" : "initial", 0, 0);
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
  const write = (texts, font, colour, y) => {
    ctx.font = font;
    ctx.fillStyle = colour;
    ctx.textAlign = "center";
    const items = bands.map((band) => ({ ...band, text: isolate(texts[band.session] ?? "") }));
    const measure = (text) => (text ? ctx.measureText(text).width : 0);
    for (const { item, x } of placeLabels(items, measure, width)) {
      ctx.fillText(item.text, left + x, y);
    }
  };
  write(data.session_labels, `12px ${theme.font}`, theme.text, strip + 11);
  write(data.session_dates, `11px ${theme.font}`, theme.muted, strip + 24);
  const now = pixel(s, s.tree.newest);
  if (data.mode === "grow" && s.tree.newest < data.total_units && now >= left
      && now <= left + width) {
    ctx.fillStyle = theme.line; // how far the conversation has come
    ctx.fillRect(Math.round(now), geom.top, 1, axisTop + axisHeight - geom.top);
  }
}

/** Candidates right of the plot: check mark, bar with threshold tick, the two numbers. */
function drawGutter(s, ctx) {
  const { geom, theme, data } = s;
  const size = 17;
  const left = geom.left + geom.width + 12;
  const right = s.stage.clientWidth - 2;
  const room = Math.max(1, Math.floor((geom.axisTop - geom.top) / size));
  let shown = data.candidates;
  if (shown.length > room) {
    const rank = (c) => (c.node === data.chosen ? Infinity : c.score ?? -Infinity);
    const best = [...shown].sort((a, b) => rank(b) - rank(a)).slice(0, room - 1);
    shown = shown.filter((c) => best.includes(c));
  }
  const hidden = data.candidates.length - shown.length;
  let low = 0;
  let high = 0;
  for (const { score, threshold } of shown) {
    low = Math.min(low, score ?? 0, threshold ?? 0);
    high = Math.max(high, score ?? 0, threshold ?? 0);
  }
  const barLeft = left + 14;
  const place = (v) => barLeft + (high > low ? (v - low) / (high - low) : 0) * 46;
  const centres = shown.map((c) => {
    const { y, h } = rowBox(geom, 0, c.level);
    return y + h / 2;
  });
  const bottom = geom.axisTop - (hidden ? size : 0);
  const lines = spread(centres, size, geom.top, bottom);
  ctx.font = `11px ${theme.font}`;
  ctx.textAlign = "left";
  ctx.fillStyle = theme.muted;
  if (shown.length) ctx.fillText("score and threshold", barLeft, 9);
  if (hidden) ctx.fillText(`and ${hidden} more`, barLeft, geom.axisTop - size / 2);
  ctx.font = `12px ${theme.font}`;
  shown.forEach((candidate, i) => {
    const chosen = candidate.node === data.chosen;
    const y = Math.round(lines[i]);
    ctx.strokeStyle = theme.line; // leads from the level's row to its line
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(left - 10, centres[i]);
    ctx.lineTo(left - 2, y);
    ctx.stroke();
    if (chosen) {
      ctx.strokeStyle = theme.accent;
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.moveTo(left + 1, y);
      ctx.lineTo(left + 4, y + 4);
      ctx.lineTo(left + 10, y - 5);
      ctx.stroke();
    }
    const numbers = comparison(candidate.score, candidate.threshold);
    let textLeft = barLeft;
    if (numbers) {
      ctx.fillStyle = chosen ? theme.accent : mix(theme.text, theme.background, 0.42);
      const zero = place(0);
      const tip = place(candidate.score ?? 0);
      ctx.fillRect(Math.min(zero, tip), y - 3, Math.max(1, Math.abs(tip - zero)), 6);
      if (candidate.threshold !== null) {
        ctx.fillStyle = theme.text;
        ctx.fillRect(Math.round(place(candidate.threshold)) - 0.75, y - 6, 1.5, 12);
      }
      textLeft += 54;
    }
    ctx.fillStyle = chosen ? theme.text : theme.muted;
    ctx.fillText(fitText(ctx, numbers || candidate.label, right - textLeft), textLeft, y + 0.5);
  });
}

function fitText(ctx, text, width) {
  let fitted = isolate(text);
  for (let keep = text.length - 1; keep > 0 && ctx.measureText(fitted).width > width; keep--) {
    fitted = isolate(cutText(text, keep));
  }
  return fitted;
}

// --- marks (the upper canvas) --------------------------------------------------------

/** An outline inside the box, on a halo of the background so that it shows on any fill;
 *  a bar of at least three pixels where the box is too narrow for one. */
function outline(s, ctx, rect, colour, width, { inset = 0, dash = [], halo = true } = {}) {
  if (!rect) return;
  const { x, y, w, h } = rect;
  if (w < 3 * width + 2 * inset + 2) {
    ctx.fillStyle = colour;
    const wide = Math.max(w, 3);
    ctx.fillRect(x + (w - wide) / 2, y, wide, Math.max(1, h - 1));
    return;
  }
  const edge = inset + width / 2;
  const box = [x + edge, y + edge, w - 1 - 2 * edge, Math.max(0.5, h - 1 - 2 * edge)];
  if (halo && h >= 8) {
    ctx.strokeStyle = s.theme.background;
    ctx.lineWidth = width + 2;
    ctx.strokeRect(...box);
  }
  ctx.setLineDash(dash);
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.strokeRect(...box);
  ctx.setLineDash([]);
}

function drawOver(s, ctx) {
  const { geom, theme, data } = s;
  ctx.save();
  ctx.beginPath(); // marks may reach a little into the margins, not over the labels
  ctx.rect(geom.left - 3, 0, geom.width + 6, s.stage.clientHeight);
  ctx.clip();
  ctx.textBaseline = "middle";
  if (data.mode === "grow") drawGrowMarks(s, ctx);
  else {
    drawTop(s, ctx, 0, data.top_initial);
    drawTop(s, ctx, 1, data.top_final);
  }
  for (let half = 0; half < geom.halves; half++) {
    for (const node of s.selected === null ? [] : ancestors(s.tree, s.selected)) {
      outline(s, ctx, nodeRect(s, half, node), theme.text, 1, { halo: false });
    }
    if (s.selected !== null) outline(s, ctx, nodeRect(s, half, s.selected), theme.text, 2);
    if (s.focus !== null && focused(s)) {
      outline(s, ctx, nodeRect(s, half, s.focus), theme.text, 1.5, { inset: 2, dash: [2, 2] });
    }
    if (s.hover !== null) {
      outline(s, ctx, nodeRect(s, half, s.hover), theme.text, 1, { halo: false });
    }
    for (const leaf of data.gold) {
      const rect = nodeRect(s, half, leaf);
      if (rect) diamond(s, ctx, rect.x + rect.w / 2, rect.y + rect.h / 2);
      if (rect && !half && geom.halves === 2) {
        diamond(s, ctx, rect.x + rect.w / 2, geom.axisTop + 5);
      }
    }
  }
  ctx.restore();
}

function drawGrowMarks(s, ctx) {
  const { theme, data } = s;
  const rect = (node) => nodeRect(s, 0, node);
  if (s.fadeFrom) {
    const share = Math.max(0, 1 - (performance.now() - s.fadeFrom) / FADE_MS);
    ctx.fillStyle = theme.accent;
    ctx.globalAlpha = 0.45 * share;
    for (const box of data.added.map(rect)) {
      if (box) ctx.fillRect(box.x - 1, box.y, Math.max(box.w, 3), box.h - 1);
    }
    ctx.globalAlpha = 1;
  }
  const edge = new Set(data.frontier);
  for (const node of data.frontier) {
    if (node !== data.chosen) outline(s, ctx, rect(node), theme.text, 1.5);
  }
  // A node that is both on the frontier and changed gets the second outline inside.
  const mark = (nodes, dash) => nodes.filter((node) => node !== data.chosen).forEach((node) => {
    const box = rect(node);
    const inset = edge.has(node) && box && box.h >= 12 ? 2.5 : 0;
    outline(s, ctx, box, theme.accent, 1.5, { inset, dash, halo: !inset });
  });
  mark(data.revised, [4, 3]);
  mark(data.added, []);
  if (data.chosen !== null) outline(s, ctx, rect(data.chosen), theme.accent, 3);
}

/** Retrieved nodes: outline and rank, or a triangle where the box is narrow. */
function drawTop(s, ctx, half, nodes) {
  const { theme } = s;
  ctx.font = `600 11px ${theme.font}`;
  ctx.textAlign = "center";
  nodes.forEach((node, i) => {
    const rect = nodeRect(s, half, node);
    if (!rect) return;
    outline(s, ctx, rect, theme.accent, 2);
    const rank = String(i + 1);
    const middle = rect.x + rect.w / 2;
    if (rect.w >= ctx.measureText(rank).width + 8 && rect.h >= 15) {
      const fill = scoreColour(s, half, node);
      ctx.fillStyle = luminance(fill) > 0.2 ? "#101318" : "#ffffff";
      ctx.fillText(rank, middle, rect.y + rect.h / 2);
    } else if (rect.w < 12) {
      const [tip, flat] = half ? [rect.y + rect.h, 6] : [rect.y - 1, -6];
      ctx.beginPath();
      ctx.moveTo(middle, tip);
      ctx.lineTo(middle - 4, tip + flat);
      ctx.lineTo(middle + 4, tip + flat);
      ctx.closePath();
      halo(s, ctx);
      ctx.fillStyle = theme.accent;
      ctx.fill();
    }
  });
}

function diamond(s, ctx, x, y) {
  ctx.beginPath();
  ctx.moveTo(x, y - 4.5);
  ctx.lineTo(x + 4.5, y);
  ctx.lineTo(x, y + 4.5);
  ctx.lineTo(x - 4.5, y);
  ctx.closePath();
  halo(s, ctx);
  ctx.fillStyle = s.theme.background;
  ctx.fill();
  ctx.strokeStyle = s.theme.text;
  ctx.lineWidth = 1.5;
  ctx.stroke();
}

function halo(s, ctx) {
  ctx.strokeStyle = s.theme.background;
  ctx.lineWidth = 3.5;
  ctx.lineJoin = "round";
  ctx.stroke();
}

// --- mirror for tests and screen readers ---------------------------------------------

function mirror(s) {
  const { data, geom, view } = s;
  const drawn = s.boxes[0].id.length;
  const { inView } = s.boxes[0];
  s.count.textContent = drawn < inView ? `showing ${drawn} of ${inView} nodes` : "";
  Object.assign(s.root.dataset, {
    nodes: drawn,
    total: s.tree.active,
    mode: data.mode,
    selected: s.selected ?? "",
    focus: s.focus ?? "",
    hover: s.hover ?? "",
    step: data.step ?? "",
    scale: `${view.x0},${view.x1}`,
    plot: `${geom.left},${geom.width},${geom.axisTop},${geom.axisHeight}`,
    painted: ++s.painted,
  });
  const whole = view.x1 - view.x0 >= data.total_units;
  s.zoomOut.disabled = s.fit.disabled = whole;
  s.zoomIn.disabled = view.x1 - view.x0 <= 3;
  s.over.style.cursor = s.drag?.moved ? "grabbing" : s.hover !== null ? "pointer" : "default";
}

// --- interaction ---------------------------------------------------------------------

function listen(s) {
  s.observer = new ResizeObserver(() => schedule(s, true));
  s.observer.observe(s.stage);
  document.fonts?.ready.then(() => schedule(s, true));
  const on = (name, act, options) => s.over.addEventListener(name, (event) => {
    if (s.data && s.geom) act(event);
  }, options);
  on("pointermove", (event) => movePointer(s, event));
  on("pointerdown", (event) => {
    s.drag = { x: event.offsetX, view: s.view, moved: false, id: event.pointerId };
  });
  on("pointerup", () => {
    s.dragged = s.drag?.moved ?? false; // the click that follows must not select
    s.drag = null;
  });
  on("pointercancel", () => { s.drag = null; });
  on("pointerleave", () => hover(s, null, null));
  on("click", (event) => { if (!s.dragged) select(s, nodeAt(s, event)); });
  on("dblclick", (event) => fitNode(s, nodeAt(s, event)));
  on("wheel", (event) => turnWheel(s, event), { passive: false });
  on("keydown", (event) => pressKey(s, event));
  on("focus", () => schedule(s));
  on("blur", () => {
    hover(s, null, null);
    schedule(s);
  });
}

const focused = (s) => s.over.matches(":focus");

/** Node under the pointer, or null. */
function nodeAt(s, { offsetX, offsetY }) {
  const x = offsetX - s.geom.left;
  const place = rowAt(s.geom, s.tree, offsetY);
  if (!place || x < -2 || x > s.geom.width + 2) return null;
  const found = boxAt(s.boxes[place.half], place.row, x);
  return found < 0 ? null : found;
}

function movePointer(s, event) {
  if (s.drag) {
    const shift = event.offsetX - s.drag.x;
    const { x0, x1 } = s.drag.view;
    const zoomed = x1 - x0 < s.data.total_units;
    if (!s.drag.moved && zoomed && Math.abs(shift) > DRAG_PIXELS) {
      s.drag.moved = true;
      s.over.setPointerCapture(s.drag.id);
      hover(s, null, null);
    }
    if (s.drag.moved) {
      const units = (shift / s.geom.width) * (x1 - x0);
      setView(s, x0 - units, x1 - units);
    }
    if (s.drag.moved) return;
  }
  const node = nodeAt(s, event);
  const { axisTop, axisHeight, left, width } = s.geom;
  const onAxis = event.offsetY >= axisTop && event.offsetY < axisTop + axisHeight;
  let session = null;
  if (onAxis && event.offsetX >= left && event.offsetX < left + width) {
    const unit = s.view.x0 + ((event.offsetX - left) / width) * (s.view.x1 - s.view.x0);
    session = s.runs[s.runOf[Math.floor(unit)]]?.session ?? null;
  }
  hover(s, node, session, event.offsetX, event.offsetY);
}

function hover(s, node, session, x, y) {
  if (node !== s.hover) schedule(s);
  s.hover = node;
  if (node !== null) showTip(s, nodeLines(s, node), x, y);
  else if (session !== null && session >= 0) {
    showTip(s, [["head", isolate(s.data.session_titles[session])]], x, y);
  } else s.tip.hidden = true;
}

function select(s, node) {
  if (node !== null) s.focus = node;
  if (node !== s.selected) {
    s.selected = node;
    s.send(node);
  }
  schedule(s);
}

function turnWheel(s, event) {
  const { x0, x1 } = s.view;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault(); // a pinch on a touchpad arrives as ctrl + wheel, too
    const unit = x0 + ((event.offsetX - s.geom.left) / s.geom.width) * (x1 - x0);
    const step = Math.min(60, Math.abs(event.deltaY)) * -Math.sign(event.deltaY);
    const next = zoomView(s.view, Math.exp(step / 180), unit, s.data.total_units);
    setView(s, next.x0, next.x1);
  } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && x1 - x0 < s.data.total_units) {
    event.preventDefault();
    const units = (event.deltaX / s.geom.width) * (x1 - x0);
    setView(s, x0 + units, x1 + units);
  }
}

function setView(s, x0, x1) {
  const total = s.data.total_units || 1;
  const span = Math.min(x1 - x0, total);
  const from = Math.min(Math.max(0, x0), total - span); // pan stops at the ends
  s.view = clampView(from, from + span, total);
  schedule(s, true);
}

function zoomAtCentre(s, factor) {
  const next = zoomView(s.view, factor, (s.view.x0 + s.view.x1) / 2, s.data.total_units);
  setView(s, next.x0, next.x1);
}

function fitNode(s, node) {
  if (node === null) return setView(s, 0, Infinity);
  const [start, stop] = [s.tree.start[node], s.tree.stop[node]];
  const margin = (stop - start) * 0.04;
  const view = clampView(start - margin, stop + margin, s.data.total_units);
  return setView(s, view.x0, view.x1);
}

function pressKey(s, event) {
  const { key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === "Escape") setView(s, 0, Infinity);
  else if (key === "+" || key === "-") zoomAtCentre(s, key === "+" ? 1.6 : 1 / 1.6);
  else if (key === "Enter" && s.focus !== null) select(s, s.focus);
  else if (key.startsWith("Arrow") || key === "Home" || key === "End") {
    const from = s.focus ?? s.selected;
    walkTo(s, from === null ? neighbour(s.tree, -1, "End") : neighbour(s.tree, from, key));
  } else return;
  event.preventDefault();
}

/** Moves the keyboard focus, brings it into view and says what it is. */
function walkTo(s, node) {
  if (node < 0) return;
  s.focus = node;
  const middle = (s.tree.start[node] + s.tree.stop[node]) / 2;
  const { x0, x1 } = s.view;
  if (s.tree.stop[node] <= x0 || s.tree.start[node] >= x1) {
    setView(s, middle - (x1 - x0) / 2, middle + (x1 - x0) / 2);
  }
  const lines = nodeLines(s, node);
  s.live.textContent = lines.map(([, text]) => text).filter(Boolean).join(". ");
  const rect = nodeRect(s, 0, node);
  if (rect) showTip(s, lines, rect.x + rect.w / 2, rect.y + rect.h / 2);
  schedule(s);
}

// --- tooltip -------------------------------------------------------------------------

/** [class, text] of the lines about a node. */
function nodeLines(s, node) {
  const { data, tree } = s;
  const [start, stop] = [tree.start[node], tree.stop[node]];
  const first = s.runs[s.runOf[start]]?.session ?? -1;
  const last = s.runs[s.runOf[stop - 1]]?.session ?? -1;
  const title = (session) => isolate(data.session_titles[session] ?? "");
  const sessions = first === last ? title(first) : `${title(first)} – ${title(last)}`;
  const lines = [
    ["head", `node ${node} · level ${tree.level[node]} · ${spanText(start, stop)}`],
    ["meta", sessions],
  ];
  if (data.mode === "scores" && data.initial.length) {
    const rank = (ids) => (ids.includes(node) ? ` (rank ${ids.indexOf(node) + 1})` : "");
    const digits = (value) => number(value, 3);
    lines.push(["meta", `initial ${digits(data.initial[node])}${rank(data.top_initial)}`]);
    if (data.final.length) {
      lines.push(["meta", `propagated ${digits(data.final[node])}${rank(data.top_final)}`]);
    }
  }
  const candidate = data.candidates.find((c) => c.node === node);
  if (data.mode === "grow" && candidate) {
    const judged = comparison(candidate.score, candidate.threshold) || isolate(candidate.label);
    lines.push(["meta", `candidate: ${judged}${node === data.chosen ? ", chosen" : ""}`]);
  }
  if (data.gold.includes(node)) lines.push(["meta", "evidence"]);
  if (data.labels[node]) lines.push(["text", `\u2068${cutText(data.labels[node], TIP_LENGTH)}\u2069`]);
  return lines;
}

/** Beside the point (x, y) of the stage, inside the component. */
function showTip(s, lines, x, y) {
  const { tip } = s;
  tip.replaceChildren();
  for (const [kind, text] of lines) element("div", kind, tip, text).dir = "auto";
  tip.hidden = false;
  const { offsetWidth: w, offsetHeight: h } = tip;
  const { clientWidth, clientHeight } = s.root;
  const top = y + s.stage.offsetTop;
  const left = x + 14 + w > clientWidth ? x - 14 - w : x + 14;
  const below = top + 14 + h > clientHeight ? top - 14 - h : top + 14;
  tip.style.left = `${Math.max(4, Math.min(left, clientWidth - w - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(below, clientHeight - h - 4))}px`;
}
