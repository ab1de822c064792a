// The memory as an outline: a tree of rows that open and close, for reading in
// words and for screen readers. payload: outline.py.
//
// Streamlit calls the default function again on every change of the data, with the same
// parentElement: the state lives there. What is open also outlives the component, so that
// it is still open after a look at another drawing.

import { make } from "../shared/dom.js";
import { unpack } from "../shared/message.js";
import { listenPointing } from "../shared/pointing.js";
import { listen } from "./events.js";
import { showLinked, tell } from "./linked.js";
import { goTo, render } from "./list.js";
import { buildForest, countBelow, createOpen, openTo } from "./rows.js";

const STATE = "segvizOutline";
const page = /** @type {any} */ (globalThis);
/** @type {Map<string, Open>} */
const KEPT = (page[Symbol.for("segviz.outline.open")] ??= new Map());
const MOST_KEPT = 8;
/** @type {("gold" | "retrieved" | "added" | "revised")[]} */
const NODE_SETS = ["gold", "retrieved", "added", "revised"];

/** @param {Mount<Uint8Array>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  /** @type {OutlineState} */
  const s = parentElement[STATE] ??= createState(parentElement);
  // A trigger, not a state: a state that Python has overruled would go stale and swallow
  // the next click on the same node.
  s.send = (node) => setTriggerValue("selected", node);
  s.ask = (nodes) => setTriggerValue("wanted", nodes);
  if (data) update(s, data);
  // Streamlit may run the clean-up of an overtaken call after a later call: ignore it.
  const call = ++s.calls;
  return () => {
    if (call !== s.calls) return;
    tell(s, null);
    s.silence();
    clearTimeout(s.timer);
    s.root.remove();
    delete parentElement[STATE];
  };
}

/** @param {Holder} parentElement */
function createState(parentElement) {
  /** @type {any} */
  const s = { calls: 0, data: null, forest: null, open: null, rows: [], items: new Map(),
    selected: null, sentByPython: null, active: null, auto: [], told: null, linked: [],
    typed: "", typedAt: 0, asked: "", timer: 0, send: () => {}, ask: () => {} };
  s.root = make("div", "outline");
  s.bar = make("div", "bar");
  s.tree = make("ul", "tree");
  s.tree.setAttribute("role", "tree");
  s.root.append(s.bar, s.tree);
  parentElement.append(s.root);
  listen(s);
  s.silence = listenPointing(s, () => s.data?.identity, (spans) => {
    s.linked = spans;
    showLinked(s);
  });
  return s;
}

// --- data ----------------------------------------------------------------------------

/** @param {OutlineState} s
 * @param {Uint8Array} message */
function update(s, message) {
  const before = s.data;
  /** @type {OutlineMessage} */
  const data = (s.data = unpack(message));
  const fresh = before?.identity !== data.identity;
  s.forest = buildForest(data);
  s.sets = {};
  s.below = {};
  for (const name of NODE_SETS) s.sets[name] = new Set(data[name]);
  for (const name of NODE_SETS) s.below[name] = countBelow(s.forest, data[name]);
  s.most = 0;
  for (const scores of [data.initial, data.final]) {
    scores.forEach((score, node) => {
      if (data.level[node] >= 0) s.most = Math.max(s.most, score);
    });
  }
  s.root.style.height = `${data.height}px`;
  s.tree.setAttribute("aria-label", `Outline of ${data.title || "the memory"}`);
  if (fresh) begin(s);
  if (s.open.top !== null && !(data.level[s.open.top] >= 0)) s.open.top = null;
  let goal = null;
  if (fresh || data.selected !== s.sentByPython) {
    s.selected = data.selected;
    if (s.selected !== null && !shows(s, s.selected)) openTo(s.forest, s.open, s.selected);
    goal = s.selected;
  }
  s.sentByPython = data.selected;
  if (data.step !== null && (fresh || before.step !== data.step)) goal = follow(s) ?? goal;
  render(s);
  if (goal !== null) goTo(s, s.rows.find((row) => row.node === goal), false);
}

/** @param {OutlineState} s */
function begin(s) {
  const { identity } = s.data;
  const kept = KEPT.get(identity);
  s.open = kept ?? createOpen(s.forest);
  KEPT.delete(identity);
  KEPT.set(identity, s.open); // the last looked at is the last forgotten
  if (KEPT.size > MOST_KEPT) KEPT.delete([...KEPT.keys()][0]);
  Object.assign(s, { active: null, auto: [], told: null, linked: [], asked: "" });
}

/** A node can be seen already, wherever.
 * @param {OutlineState} s
 * @param {number} node */
const shows = (s, node) => s.rows.some((row) => row.node === node) && s.forest.level[node] >= 0;

/** Opens the way to the leaf that has just joined and closes what was opened so for the one
 *  before; the leaf, or null where a selected node is looked at instead.
 * @param {OutlineState} s */
function follow(s) {
  for (const key of s.auto) s.open.opened.delete(key);
  s.auto = [];
  if (s.selected !== null) return null;
  const leaf = s.data.added.findLast((node) => s.data.level[node] === 0);
  if (leaf === undefined) return null;
  s.auto = openTo(s.forest, s.open, leaf);
  return leaf;
}
