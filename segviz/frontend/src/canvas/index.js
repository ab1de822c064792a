// The tree view as a Streamlit component (v2): its DOM, its state and what a new
// message of Python changes in them. Everything else is in a module named after its idea;
// esbuild bundles them.
//
// Streamlit calls the default function again on every change of the data, with the same
// parentElement. So the state lives there, listeners are added once, and zoom, focus and
// hover survive an update; only another `identity` resets them.

import { element } from "../shared/dom.js";
import { unpack } from "../shared/message.js";
import { adoptLook, buildColourMenu, createLook } from "./colour_menu.js";
import { buildControls } from "./controls.js";
import { onFrame, schedule, showScores } from "./frame.js";
import { listenKeys } from "./keyboard.js";
import { labelChoice } from "./labels.js";
import { buildLegend } from "./legend.js";
import { listenLinked, pointAt, relink } from "./linked.js";
import { reveal } from "./navigation.js";
import { buildOverview } from "./overview.js";
import { listenPointer } from "./pointer.js";
import { buildTree, sessionRuns } from "./rows.js";
import { createSearch, refind, resetSearch } from "./search.js";
import { adoptSetting, change, createSettings, report } from "./settings.js";
import { readTheme } from "./theme.js";
import { buildHelp, buildTools } from "./toolbar.js";
import { hideTip, showNode } from "./tooltip.js";
import { clampView, createHistory, moveView } from "./view.js";
import { markWeights } from "./weights.js";

const STATE = "segvizTree";

/** The state of the canvas in this parent.
 * @param {Holder} parent
 * @returns {State} */
export const stateOf = (parent) => parent[STATE];

/** @type {("selected" | "focus" | "hover" | "trail")[]} */
const ROLES = ["selected", "focus", "hover", "trail"];

/** @param {Mount<Uint8Array>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  /** @type {State} */
  const s = parentElement[STATE] ??= createState(parentElement);
  if (!s.root) {
    buildDom(s);
    listenPointer(s);
    listenKeys(s);
    listenLinked(s);
    s.observer = new ResizeObserver(() => schedule(s, true));
    s.observer.observe(s.stage);
    document.fonts?.ready.then(() => {
      s.fitted.clear(); // texts were measured in another font
      schedule(s, true);
    });
  }
  // A trigger, not a state: a state that Python has overruled would go stale and swallow
  // the next click on the same node. -1 stands for "nothing selected".
  s.send = (node) => setTriggerValue("selected", node ?? -1);
  s.sendSetting = (setting) => setTriggerValue("setting", setting);
  s.sendLook = (look) => setTriggerValue("look", look);
  s.sendQuery = (query) => setTriggerValue("query", query);
  if (data) update(s, data);
  // Streamlit may run the clean-up of an overtaken call after a later call: ignore it.
  const call = ++s.calls;
  return () => {
    if (call === s.calls) destroy(s);
  };
}

/** What is there before Python has sent anything.
 * @param {Holder} parentElement
 * @returns {any} */
function createState(parentElement) {
  return {
    parent: parentElement, calls: 0, painted: 0, send: () => {}, sendSetting: () => {},
    sendQuery: () => {}, sendLook: () => {},
    look: createLook(), shades: [], isolated: null, gold: [], labelled: [], fitted: new Map(),
    settings: createSettings(), picture: "grow",
    data: null, tree: null, runs: [], boxes: [], geom: null,
    view: null, goal: null, slide: null, history: createHistory(), search: createSearch(),
    selected: null, sentByPython: null, focus: null, hover: null, trail: null,
    lineage: {}, tipNode: null, tipAt: null,
    drag: null, dragged: false,
    pointed: null, linkedUnits: [], linked: { leaves: [], above: [] },
    fadeFrom: 0, frame: 0, baseDirty: true, cache: new Map(), frameShows: [], scoreShows: [],
  };
}

/** @param {State} s */
function destroy(s) {
  if (s.data) pointAt(s, null);
  s.unlink();
  s.observer.disconnect();
  clearTimeout(s.settings.timer);
  clearTimeout(s.search.timer);
  cancelAnimationFrame(s.frame);
  s.root.remove();
  delete s.parent[STATE];
}

// --- DOM -----------------------------------------------------------------------------

/** @param {State} s */
function buildDom(s) {
  s.root = element("div", "segviz", s.parent);
  // Keys pressed here are not Streamlit's shortcuts.
  s.root.addEventListener("keydown", (event) => event.stopPropagation());
  /** @param {Partial<LiveSetting>} part */
  const act = (part) => {
    change(s, part);
    schedule(s, true);
  };
  buildControls(s, s.root, act, () => report(s));
  const bar = element("div", "bar", s.root);
  buildColourMenu(s, bar);
  buildLegend(s, bar);
  buildTools(s, s.root);
  const stage = element("div", "stage", s.root);
  s.base = element("canvas", "base", stage); // boxes and axis: repainted on data and zoom
  s.over = element("canvas", "over", stage); // outlines: repainted on hover and selection
  s.over.tabIndex = 0;
  s.over.setAttribute("role", "application");
  s.over.setAttribute("aria-label",
    "Memory tree. Arrow keys walk parent, child and neighbour; Enter selects; ? names all keys.");
  buildOverview(s, s.root);
  buildHelp(s, s.root);
  s.tip = element("div", "tip", s.root);
  s.tip.hidden = true;
  s.mirror = element("div", "unseen", s.root);
  s.mirror.setAttribute("role", "img");
  s.live = element("div", "unseen", s.root);
  s.live.setAttribute("aria-live", "polite");
  s.stage = stage;
  onFrame(s, mirror); // the last: it tells tests that all is painted
}

// --- data ----------------------------------------------------------------------------

/** @param {State} s
 * @param {Uint8Array} message */
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
  adoptSetting(s);
  adoptLook(s);
  s.marks = markWeights(data);
  if (fresh) {
    s.focus = s.hover = s.trail = null;
    s.history = createHistory();
    resetSearch(s);
    s.isolated = null;
  }
  if (fresh || before.total_units !== data.total_units) {
    const whole = fresh || s.goal.x1 - s.goal.x0 >= before.total_units;
    const goal = whole
      ? { x0: 0, x1: data.total_units || 1 }
      : clampView(s.goal.x0, s.goal.x1, data.total_units);
    moveView(s, goal, !fresh); // an axis that gets longer slides, it does not jump
  }
  relink(s, fresh);
  // Python's word counts when it changes: an echo of the old value must not undo a click.
  if (fresh || data.selected !== s.sentByPython) {
    if (s.selected !== data.selected) s.trail = data.selected;
    s.selected = data.selected;
    if (s.selected !== null && !fresh) reveal(s, s.selected);
  }
  s.sentByPython = data.selected;
  for (const role of ROLES) {
    const node = s[role];
    if (node === null || data.level[node] >= 0) continue;
    s[role] = null;
    if (role === "selected") s.sentByPython = null; // if the node comes back, select it again
  }
  const moved = fresh || before.step !== data.step;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (moved) s.fadeFrom = data.added.length && !still && before ? performance.now() : 0;
  readTheme(s);
  refind(s);
  showScores(s);
  s.mirror.setAttribute("aria-label", data.summary);
  const { tipNode } = s;
  if (!fresh && tipNode !== null && data.level[tipNode] >= 0) showNode(s, tipNode, ...s.tipAt);
  else hideTip(s);
  s.root.dataset.loadMs = (performance.now() - started).toFixed(2);
  schedule(s, true);
}

// --- what the canvas shows, as data attributes of its root, for tests ---------------------

/** @param {State} s */
function mirror(s) {
  const { data, geom, goal, search } = s;
  Object.assign(s.root.dataset, {
    nodes: s.boxes[0].id.length,
    total: s.tree.active,
    mode: data.mode,
    selected: s.selected ?? "",
    focus: s.focus ?? "",
    hover: s.hover ?? "",
    linked: s.linked.leaves,
    step: data.step ?? "",
    scale: `${goal.x0},${goal.x1}`, // where a slide ends
    back: s.history.views.length,
    query: search.query,
    hits: search.hits.length,
    hit: search.hits[search.at] ?? "",
    plot: `${geom.left},${geom.width},${geom.axisTop},${geom.axisHeight}`,
    painted: ++s.painted,
    picture: s.picture,
    colour: s.shades.join(),
    labels: labelChoice(s),
    alone: s.isolated ? `${s.isolated.kind}:${s.isolated.key}` : "",
    policy: s.settings.setting?.policy ?? "",
    alpha: s.settings.setting?.alpha ?? "",
    horizon: s.settings.setting?.horizon ?? "",
    settled: s.settings.sequence <= s.settings.answered, // Python's own scores are shown
    apart: s.settings.apart,
    top: data.top_final,
  });
}
