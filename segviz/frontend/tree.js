// tree.js: the tree view as a Streamlit component (v2). It owns the DOM, the two canvases
// and the interaction; everything that can be computed without a DOM is in tree_core.js.
//
// Streamlit calls the default function again on every change of the data, with the same
// parentElement. So the state lives there, listeners are added once, and zoom, focus and
// hover survive an update; only another `identity` resets them.

import { isolate } from "./tree_text.js";
import {
  boxAt, buildTree, clampView, geometry, neighbour, rowAt, sessionRuns, unpack, visibleBoxes,
  zoomView,
} from "./tree_core.js";
import { buildControls, showControls } from "./tree_controls.js";
import { adopt, change, createDials, recompute, report } from "./tree_dials.js";
import { FADE_MS, drawBase, nodeRect, readTheme } from "./tree_paint.js";
import { drawOver } from "./tree_marks.js";
import { element, hideTip, nodeLines, showNode, showTip, writeLegend } from "./tree_words.js";

const STATE = "segvizTree";
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
  s.sendSetting = (setting) => setTriggerValue("setting", setting);
  if (data) update(s, data);
  // Streamlit may run the clean-up of an overtaken call after a later call: ignore it.
  const call = ++s.calls;
  return () => {
    if (call === s.calls) destroy(s);
  };
}

function createState(parentElement) {
  return {
    parent: parentElement, calls: 0, painted: 0, send: () => {}, sendSetting: () => {},
    dials: createDials(), picture: "grow",
    data: null, tree: null, runs: [], boxes: [], geom: null, view: null,
    selected: null, sentByPython: null, focus: null, hover: null, tipNode: null, tipAt: null,
    drag: null, dragged: false,
    fadeFrom: 0, frame: 0, baseDirty: true, cache: new Map(),
  };
}

function destroy(s) {
  s.observer.disconnect();
  clearTimeout(s.dials.timer);
  cancelAnimationFrame(s.frame);
  s.root.remove();
  delete s.parent[STATE];
}

// --- DOM -----------------------------------------------------------------------------

function buildDom(s) {
  s.root = element("div", "segviz", s.parent);
  const act = (part) => {
    change(s, part);
    schedule(s, true);
  };
  buildControls(s, s.root, act, () => report(s));
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

// --- data ----------------------------------------------------------------------------

/** Highest score of both halves, which share one colour scale. */
function highestScore(data) {
  let most = 0;
  for (const column of [data.initial, data.final]) {
    for (let i = 0; i < column.length; i++) {
      if (data.level[i] >= 0 && column[i] > most) most = column[i];
    }
  }
  return most;
}

/** In "grow", a marked node wins its pixel column, as a high score does in "scores". */
function markWeights(data) {
  const weights = new Float32Array(data.nodes);
  const chosen = data.chosen === null ? [] : [data.chosen];
  [data.frontier, data.revised, data.added, chosen].forEach((ids, i) => {
    for (const id of ids) weights[id] = i + 1;
  });
  return weights;
}

function update(s, message) {
  const started = performance.now();
  const data = unpack(message);
  const before = s.data;
  const fresh = !before || before.identity !== data.identity;
  s.data = data;
  s.tree = buildTree(data);
  s.runs = sessionRuns(data.unit_session);
  s.runOf = new Int32Array(data.total_units);
  s.runs.forEach((run, i) => s.runOf.fill(i, run.start, run.stop));
  adopt(s);
  s.marks = markWeights(data);
  if (fresh || !s.view || before.total_units !== data.total_units) {
    const whole = !s.view || fresh || s.view.x1 - s.view.x0 >= before.total_units;
    s.view = whole
      ? { x0: 0, x1: data.total_units || 1 }
      : clampView(s.view.x0, s.view.x1, data.total_units);
  }
  if (fresh) s.focus = s.hover = null;
  // Python's word counts when it changes: an echo of the old value must not undo a click.
  if (fresh || data.selected !== s.sentByPython) {
    s.selected = data.selected;
    if (s.selected !== null && !fresh) reveal(s, s.selected);
  }
  s.sentByPython = data.selected;
  for (const role of ["selected", "focus", "hover"]) {
    if (s[role] === null || data.level[s[role]] >= 0) continue;
    s[role] = null;
    if (role === "selected") s.sentByPython = null; // if the node comes back, select it again
  }
  const moved = fresh || before.step !== data.step;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (moved) s.fadeFrom = data.added.length && !still && before ? performance.now() : 0;
  readTheme(s);
  showScores(s);
  s.mirror.setAttribute("aria-label", data.summary);
  if (!fresh && data.level[s.tipNode] >= 0) showNode(s, s.tipNode, ...s.tipAt);
  else hideTip(s);
  s.root.dataset.loadMs = (performance.now() - started).toFixed(2);
  schedule(s, true);
}

/** All that follows from scores and setting alone. */
function showScores(s) {
  s.most = highestScore(s.data);
  s.picture = s.data.mode === "scores" && s.dials.setting?.drawing === "change"
    ? "change" : s.data.mode;
  showControls(s);
  writeLegend(s);
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
  if (s.dials.stale) {
    recompute(s);
    showScores(s);
  }
  if (base) {
    s.geom = geometry(width, height, s.picture, s.data.gutter, s.tree.laneCount);
    s.boxes = weights(s).map(
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

/** For each half, what makes a node win its pixel column. */
function weights({ picture, data, marks }) {
  if (picture === "grow") return [marks];
  if (picture === "scores") return [data.initial, data.final];
  return [data.final.map((score, node) => Math.abs(score - data.initial[node]))];
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
    picture: s.picture,
    policy: s.dials.setting?.policy ?? "",
    alpha: s.dials.setting?.alpha ?? "",
    horizon: s.dials.setting?.horizon ?? "",
    settled: s.dials.sequence <= s.dials.answered, // Python's own scores are shown
    apart: s.dials.apart,
    top: data.top_final,
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
    s.dragged = false;
    if (event.button !== 0) return;
    s.drag = { x: event.offsetX, view: s.view, moved: false, id: event.pointerId };
  });
  on("pointerup", () => {
    s.dragged = s.drag?.moved ?? false; // the click that follows must not select
    s.drag = null;
    schedule(s);
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

/** Node under the pointer, or null. */
function nodeAt(s, { offsetX, offsetY }) {
  const x = offsetX - s.geom.left;
  const place = rowAt(s.geom, s.tree, offsetY);
  if (!place || x < -2 || x > s.geom.width + 2) return null;
  const found = boxAt(s.boxes[place.half], place.row, x);
  return s.data.level[found] >= 0 ? found : null; // boxes may be a frame older than the data
}

function movePointer(s, event) {
  if (s.drag && !(event.buttons & 1)) s.drag = null; // released outside the canvas
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
      return;
    }
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
  hideTip(s);
  if (node !== null) showNode(s, node, x, y);
  else if (session !== null && session >= 0) {
    showTip(s, [["head", isolate(s.data.session_titles[session])]], x, y);
  }
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
    const first = key === "Home" ? key : "End"; // without a focus, start at the newest leaf
    walkTo(s, from === null ? neighbour(s.tree, -1, first) : neighbour(s.tree, from, key));
  } else return;
  event.preventDefault();
}

/** Pans so far that the node is in view. */
function reveal(s, node) {
  const [start, stop] = [s.tree.start[node], s.tree.stop[node]];
  const half = (s.view.x1 - s.view.x0) / 2;
  if (stop > s.view.x0 && start < s.view.x1) return;
  setView(s, (start + stop) / 2 - half, (start + stop) / 2 + half);
}

/** Moves the keyboard focus, brings it into view and says what it is. */
function walkTo(s, node) {
  if (node < 0) return;
  s.focus = node;
  reveal(s, node);
  const lines = nodeLines(s, node);
  s.live.textContent = lines.map(([, text]) => text).filter(Boolean).join(". ");
  const rect = nodeRect(s, 0, node);
  if (rect) showNode(s, node, rect.x + rect.w / 2, rect.y + rect.h / 2);
  schedule(s);
}
