// tree.js: the tree view as a Streamlit component (v2): its DOM, its state and what a new
// message of Python changes in them. Everything else is in a module named after its idea;
// payload.javascript() joins them.
//
// Streamlit calls the default function again on every change of the data, with the same
// parentElement. So the state lives there, listeners are added once, and zoom, focus and
// hover survive an update; only another `identity` resets them.

import { sessionRuns } from "./tree_axis.js";
import { buildControls } from "./tree_controls.js";
import { adopt, change, createDials, report } from "./tree_dials.js";
import { refind, resetSearch } from "./tree_find.js";
import { schedule, showScores } from "./tree_frame.js";
import { buildHelp } from "./tree_help.js";
import { createHistory } from "./tree_history.js";
import { listenKeys } from "./tree_keys.js";
import { buildLegend } from "./tree_legend.js";
import { listenLinked, pointAt, relink } from "./tree_link.js";
import { adoptLook, buildLook, createLook } from "./tree_look.js";
import { buildMap } from "./tree_map.js";
import { unpack } from "./tree_message.js";
import { moveView } from "./tree_motion.js";
import { reveal } from "./tree_moves.js";
import { listenPointer } from "./tree_pointer.js";
import { buildTree } from "./tree_rows.js";
import { createSearch } from "./tree_search.js";
import { readTheme } from "./tree_theme.js";
import { buildTools } from "./tree_tools.js";
import { clampView } from "./tree_view.js";
import { markWeights } from "./tree_weights.js";
import { element, hideTip, showNode } from "./tree_words.js";

const STATE = "segvizTree";

export default function ({ data, parentElement, setTriggerValue }) {
  let s = parentElement[STATE];
  if (!s) {
    s = parentElement[STATE] = createState(parentElement);
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

function createState(parentElement) {
  return {
    parent: parentElement, calls: 0, painted: 0, send: () => {}, sendSetting: () => {},
    sendQuery: () => {}, sendLook: () => {},
    look: createLook(), shades: [], alone: null, gold: [], labelled: [], fitted: new Map(),
    dials: createDials(), picture: "grow",
    data: null, tree: null, runs: [], boxes: [], geom: null,
    view: null, goal: null, slide: null, history: createHistory(), search: createSearch(),
    selected: null, sentByPython: null, focus: null, hover: null, trail: null,
    kin: {}, tipNode: null, tipAt: null,
    drag: null, dragged: false,
    pointed: null, linkedUnits: [], linked: { leaves: [], above: [] },
    fadeFrom: 0, frame: 0, baseDirty: true, cache: new Map(),
  };
}

function destroy(s) {
  if (s.data) pointAt(s, null);
  s.unlink();
  s.observer.disconnect();
  clearTimeout(s.dials.timer);
  clearTimeout(s.search.timer);
  cancelAnimationFrame(s.frame);
  s.root.remove();
  delete s.parent[STATE];
}

// --- DOM -----------------------------------------------------------------------------

function buildDom(s) {
  s.root = element("div", "segviz", s.parent);
  // Keys pressed here are not Streamlit's shortcuts.
  s.root.addEventListener("keydown", (event) => event.stopPropagation());
  const act = (part) => {
    change(s, part);
    schedule(s, true);
  };
  buildControls(s, s.root, act, () => report(s));
  const bar = element("div", "bar", s.root);
  buildLook(s, bar);
  buildLegend(s, bar);
  s.count = element("div", "count", bar);
  buildTools(s, s.root);
  const stage = element("div", "stage", s.root);
  s.base = element("canvas", "base", stage); // boxes and axis: repainted on data and zoom
  s.over = element("canvas", "over", stage); // outlines: repainted on hover and selection
  s.over.tabIndex = 0;
  s.over.setAttribute("role", "application");
  s.over.setAttribute("aria-label",
    "Memory tree. Arrow keys walk parent, child and neighbour; Enter selects; ? names all keys.");
  buildMap(s, s.root);
  buildHelp(s, s.root);
  s.tip = element("div", "tip", s.root);
  s.tip.hidden = true;
  s.mirror = element("div", "unseen", s.root);
  s.mirror.setAttribute("role", "img");
  s.live = element("div", "unseen", s.root);
  s.live.setAttribute("aria-live", "polite");
  s.stage = stage;
}

// --- data ----------------------------------------------------------------------------

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
  adoptLook(s);
  s.marks = markWeights(data);
  if (fresh) {
    s.focus = s.hover = s.trail = null;
    s.history = createHistory();
    resetSearch(s);
    s.alone = null;
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
  for (const role of ["selected", "focus", "hover", "trail"]) {
    if (s[role] === null || data.level[s[role]] >= 0) continue;
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
  if (!fresh && data.level[s.tipNode] >= 0) showNode(s, s.tipNode, ...s.tipAt);
  else hideTip(s);
  s.root.dataset.loadMs = (performance.now() - started).toFixed(2);
  schedule(s, true);
}
