// The tree view as a Streamlit component (v2): its DOM, its state and what a new
// message of Python changes in them. Everything else is in a module named after its idea;
// esbuild bundles them.
//
// Streamlit calls the default function again on every change of the data, with the same
// parentElement. So the state lives there, listeners are added once, and zoom, focus and
// hover survive an update; only another `identity` resets them.

import { element } from "../shared/dom.js";
import { createReports, ending, isSelectionNews, reading } from "../shared/component.js";
import { adoptLook, buildColourMenu, createLook } from "./colour_menu.js";
import { buildCard } from "./card.js";
import { buildChanged, buildHold } from "./change_summary.js";
import { buildControls } from "./controls.js";
import { buildEvidence } from "./evidence.js";
import { isGone } from "./classes.js";
import { createFrames, onFrame, onScores, schedule, showScores } from "./scheduler.js";
import { buildHelp, listenKeys } from "./keyboard.js";
import { labelChoice } from "./labels.js";
import { buildLegend } from "./legend.js";
import { listenLinked, pointAt, relink } from "./linked.js";
import { reveal } from "./navigation.js";
import { buildOverview } from "./overview.js";
import { buildPath } from "./path_chart.js";
import { listenPointer } from "./pointer.js";
import { buildReasons } from "./explanation.js";
import { readOut } from "./readout.js";
import { layOut } from "./layout.js";
import { buildPins, createSearch, refind, resetSearch } from "./search.js";
import { adoptSetting, createSettings } from "./settings.js";
import { readTheme } from "./theme.js";
import { buildTools, giveHeight } from "./toolbar.js";
import { clampView, isStill } from "./view.js";
import { markWeights } from "./weights.js";

const STATE = "segvizTree";

/** The state of the canvas in this parent.
 * @param {Holder} parent
 * @returns {State} */
export const stateOf = (parent) => parent[STATE];

/** @type {("selected" | "focus" | "hover" | "under" | "trail")[]} */
const ROLES = ["selected", "focus", "hover", "under", "trail"];

export default reading(draw);

/** Draws what a message holds.
 * @param {Mount<any>} component */
export function draw({ data, parentElement, setTriggerValue }) {
  /** @type {State} */
  const s = parentElement[STATE] ??= createState(parentElement);
  if (!s.elements.root) {
    buildDom(s);
    listenPointer(s);
    listenKeys(s);
    listenLinked(s);
    s.elements.observer = new ResizeObserver(() => schedule(s, true));
    s.elements.observer.observe(s.elements.stage);
    document.fonts?.ready.then(() => {
      s.frames.fitted.clear(); // texts were measured in another font
      schedule(s, true);
    });
  }
  // A trigger, not a state: a state that Python has overruled would go stale and swallow
  // the next click on the same node.
  s.tell = setTriggerValue;
  update(s, data);
  return ending(s, () => destroy(s));
}

/** What is there before Python has sent anything.
 * @param {Holder} parentElement
 * @returns {any} */
function createState(parentElement) {
  return {
    calls: 0,
    tell: () => {},
    scene: {
      data: null, tree: null, axis: null, runs: [], days: [], picture: "grow", look: createLook(), isolated: null,
      shades: [], tints: new Map(), answer: null,
    },
    sight: { view: null, geom: null, boxes: [], written: [], labels: [], marks: [], diamonds: [], taller: false },
    attention: {
      selected: null, sentByPython: null, clicks: createReports(), focus: null, hover: null, under: null, trail: null,
      excerpt: null, half: 0, drag: null, dragged: false, now: null, onNow: false, pointed: null,
      linkedUnits: [], linked: { leaves: [], above: [] },
    },
    search: createSearch(),
    settings: createSettings(),
    frames: createFrames(),
    elements: { parent: parentElement },
  };
}

/** @param {State} s */
function destroy(s) {
  const { elements } = s;
  if (s.scene.data) pointAt(s, null);
  elements.unlink();
  elements.unslash();
  elements.observer.disconnect();
  clearTimeout(s.settings.timer);
  clearTimeout(s.search.timer);
  clearTimeout(s.flow.timer);
  s.path.run = null;
  cancelAnimationFrame(s.frames.asked);
  elements.root.remove();
  delete elements.parent[STATE];
}

// --- DOM -----------------------------------------------------------------------------

/** @param {State} s */
function buildDom(s) {
  const { elements } = s;
  elements.root = element("div", "segviz", elements.parent);
  // Keys pressed here are not Streamlit's shortcuts.
  elements.root.addEventListener("keydown", (event) => event.stopPropagation());
  buildChanged(s, elements.root);
  const head = element("div", "head-row", elements.root);
  elements.controls = buildControls(s, head);
  buildHold(s, elements.controls.root);
  elements.tools = buildTools(s, head);
  const body = element("div", "body", elements.root);
  const column = element("div", "column", body);
  const stage = element("div", "stage", column);
  elements.base = element("canvas", "base", stage); // boxes and axis: repainted on data and zoom
  elements.over = element("canvas", { className: "over", tabIndex: 0, role: "application",
    ariaLabel: "Memory tree. Arrow keys walk parent, child and neighbour; Enter selects; "
      + "? names all keys." }, stage); // outlines: repainted on hover and selection
  elements.card = buildCard(s, stage);
  column.append(elements.tools.crumbs);
  elements.read = element("div", "read", column);
  onScores(s.frames, () => readOut(s));
  elements.overview = buildOverview(s, column);
  elements.bar = element("div", "bar", column);
  elements.lookControls = buildColourMenu(s, elements.bar);
  buildLegend(s, elements.bar);
  elements.pins = buildPins(s, elements.bar);
  elements.evidence = buildEvidence(s, body);
  const below = element("div", "below", elements.root);
  s.path = buildPath(s, below);
  s.flow = buildReasons(s, below);
  buildHelp(elements, elements.root);
  elements.mirror = element("div", { className: "unseen", role: "img" }, elements.root);
  elements.live = element("div", { className: "unseen", ariaLive: "polite" }, elements.root);
  elements.stage = stage;
  onFrame(s.frames, mirror); // the last: it tells tests that all is painted
}

// --- data ----------------------------------------------------------------------------

/** @param {State} s
 * @param {any} data */
function update(s, data) {
  const { scene, sight, attention, frames, elements } = s;
  const started = performance.now();
  const before = scene.data;
  const fresh = !before || before.identity !== data.identity;
  scene.data = data;
  adoptLook(s);
  layOut(s);
  adoptSetting(s);
  scene.marks = markWeights(data);
  if (fresh) {
    Object.assign(attention, { focus: null, hover: null, under: null, trail: null, excerpt: null, pointed: null,
      linkedUnits: [] });
    resetSearch(s);
    scene.isolated = null;
  }
  if (fresh || before.total_units !== data.total_units) {
    const whole = fresh || sight.view.x1 - sight.view.x0 >= before.total_units;
    sight.view = whole
      ? { x0: 0, x1: data.total_units || 1 }
      : clampView(sight.view.x0, sight.view.x1, data.total_units);
  }
  relink(s);
  if (isSelectionNews(s, data, fresh)) {
    if (attention.selected !== data.selected) attention.trail = data.selected;
    attention.selected = data.selected;
    if (attention.selected !== null && !fresh) reveal(s, attention.selected);
  }
  attention.now = null;
  for (const role of ROLES) {
    const node = attention[role];
    if (node === null || data.level[node] >= 0) continue;
    attention[role] = null;
    if (role === "selected") attention.sentByPython = null; // it comes back: select it again
  }
  elements.root.classList.toggle("bare", data.bare);
  const answered = data.mode === "scores" && data.legend;
  elements.root.classList.toggle("answered", answered);
  elements.root.classList.toggle("staged", Boolean(data.stage_height));
  (answered ? elements.tools.panel : elements.bar).prepend(elements.lookControls.root);
  const moved = fresh || before.step !== data.step;
  if (moved) frames.fadeFrom = data.added.length && !isStill() && before ? performance.now() : 0;
  giveHeight(s);
  scene.theme = readTheme(s);
  refind(s);
  showScores(s);
  if (scene.isolated && isGone(scene)) scene.isolated = null;
  elements.mirror.ariaLabel = data.summary;
  elements.root.dataset.loadMs = (performance.now() - started).toFixed(2);
  schedule(s, true);
}

// --- what the canvas shows, as data attributes of its root, for tests ---------------------

/** @param {State} s */
function mirror(s) {
  const { scene, sight, attention, settings, search } = s;
  const { data, isolated } = scene;
  const { geom, view } = sight;
  Object.assign(s.elements.root.dataset, {
    nodes: sight.boxes[0]?.shown ?? "",
    total: scene.tree.active,
    selected: attention.selected ?? "",
    focus: attention.focus ?? "",
    linked: attention.linked.leaves,
    step: data.step ?? "",
    scale: `${view.x0},${view.x1}`,
    query: search.query,
    hits: search.hits.length,
    found: search.hits, // in the order of the list
    hit: search.hits[search.at] ?? "",
    plot: geom && `${geom.left},${geom.width},${geom.axisTop},${geom.axisHeight}`,
    counts: scene.answer?.levels.before.map((was, i) => `${was}>${scene.answer?.levels.after[i]}`) ?? "",
    painted: ++s.frames.painted,
    picture: scene.picture,
    colour: scene.shades.join(),
    labels: labelChoice(scene),
    alone: isolated ? `${isolated.kind}:${isolated.key}` : "",
    policy: settings.setting?.policy ?? "",
    alpha: settings.setting?.alpha ?? "",
    horizon: settings.setting?.horizon ?? "",
    settled: settings.sequence <= settings.answered, // Python's own scores are shown
    top: data.top_final,
  });
}
