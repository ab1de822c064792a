// The memory as an outline: a tree of rows that open and close, for reading in
// words and for screen readers. payload: outline.py.
//
// Streamlit calls the default function again on every change of the data, with the same
// parentElement: the state lives there. What is open also outlives the component, so that
// it is still open after a look at another drawing.

import { element } from "../shared/dom.js";
import { createReports, ending, isSelectionNews, reading } from "../shared/component.js";
import { listen } from "./events.js";
import { buildBar, goTo, render } from "./list.js";
import { buildForest, countBelow, createOpen, openTo } from "./rows.js";

const STATE = "segvizOutline";
/** @type {Map<string, Open>} */
const KEPT = new Map();
const MOST_KEPT = 8;

export default reading(mount);

/** @param {Mount<OutlineMessage>} component */
function mount({ data, parentElement, setTriggerValue }) {
  /** @type {OutlineState} */
  const s = parentElement[STATE] ??= createState(parentElement);
  // A trigger, not a state: a state that Python has overruled would go stale and swallow
  // the next click on the same node.
  s.tell = setTriggerValue;
  update(s, data);
  return ending(s, () => {
    clearTimeout(s.wanting.timer);
    s.elements.root.remove();
    delete parentElement[STATE];
  });
}

/** @param {Holder} parentElement */
function createState(parentElement) {
  /** @type {any} */
  const s = {
    calls: 0,
    tell: () => {},
    memory: { data: null },
    list: { rows: [], items: new Map(), active: null },
    attention: { selected: null, sentByPython: null, clicks: createReports() },
    wanting: { asked: "", timer: 0 },
    elements: {},
  };
  const { elements } = s;
  elements.root = element("div", "outline", parentElement);
  elements.bar = element("div", "bar", elements.root);
  elements.tree = element("ul", { className: "tree", role: "tree" }, elements.root);
  buildBar(s);
  listen(s);
  return s;
}

// --- data ----------------------------------------------------------------------------

/** @param {OutlineState} s
 * @param {OutlineMessage} data */
function update(s, data) {
  const { memory, list, attention } = s;
  const before = memory.data;
  memory.data = data;
  const fresh = before?.identity !== data.identity;
  const roots = String(memory.forest?.roots);
  memory.forest = buildForest(data);
  memory.sets = {};
  memory.below = {};
  const { gold, top_final: retrieved, added, revised } = data;
  for (const [name, nodes] of Object.entries({ gold, retrieved, added, revised })) {
    memory.sets[name] = new Set(nodes);
    memory.below[name] = countBelow(memory.forest, nodes);
  }
  memory.most = 0;
  memory.active = data.level.reduce((sum, level) => sum + Number(level >= 0), 0);
  for (const scores of [data.initial, data.final]) {
    scores.forEach((score, node) => {
      if (data.level[node] >= 0) memory.most = Math.max(memory.most, score);
    });
  }
  s.elements.root.style.height = `${data.stage_height}px`;
  s.elements.tree.ariaLabel = `Outline of ${data.title || "the memory"}`;
  if (fresh) begin(s);
  else if (roots !== String(memory.forest.roots)) // a root that has come above another is open, too
    for (const key of createOpen(memory.forest).opened) list.open.opened.add(key);
  const news = isSelectionNews(s, data, fresh);
  const goal = news ? data.selected : null;
  if (news) attention.selected = goal;
  if (goal !== null && !(list.rows.some(({ node }) => node === goal) && data.level[goal] >= 0)) {
    openTo(memory.forest, list.open, goal); // it cannot be seen yet, wherever
  }
  render(s);
  if (goal !== null) goTo(s, list.rows.find((row) => row.node === goal), false);
}

/** @param {OutlineState} s */
function begin(s) {
  const { list } = s;
  const { identity } = s.memory.data;
  const kept = KEPT.get(identity);
  list.open = kept ?? createOpen(s.memory.forest);
  KEPT.delete(identity);
  KEPT.set(identity, list.open); // the last looked at is the last forgotten
  if (KEPT.size > MOST_KEPT) KEPT.delete([...KEPT.keys()][0]);
  list.active = null;
  s.wanting.asked = "";
}
