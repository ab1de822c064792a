// outline.js: the memory as an outline: a tree of rows that open and close, for reading in
// words and for screen readers. payload: outline.py.
//
// Streamlit calls the default function again on every change of the data, with the same
// parentElement: the state lives there. What is open also outlives the component, so that
// it is still open after a look at another drawing.

import { holds, listenPointing, point } from "./pointing.js";
import { unpack } from "./tree_message.js";
import { buildForest, countBelow, createOpen, DEEPEST, findTyped, keyOf, listRows,
  openTo, parentsOf, press, showMore, unitsBelow } from "./outline_rows.js";
import { buildRow, make, rowKey, wordsOf } from "./outline_row.js";

const STATE = "segvizOutline";
const KEPT = (globalThis[Symbol.for("segviz.outline.open")] ??= new Map());
const MOST_KEPT = 8;
const MOST_WANTED = 1000;
const TYPING_MS = 700;

export default function ({ data, parentElement, setTriggerValue }) {
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

function createState(parentElement) {
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
  return s;
}

// --- data ----------------------------------------------------------------------------

function update(s, message) {
  const before = s.data;
  const data = (s.data = unpack(message));
  const fresh = before?.identity !== data.identity;
  s.forest = buildForest(data);
  s.sets = {};
  s.below = {};
  for (const name of ["gold", "retrieved", "added", "revised"]) s.sets[name] = new Set(data[name]);
  for (const name of ["gold", "retrieved", "added"]) {
    s.below[name] = countBelow(s.forest, data[name]);
  }
  s.most = 0;
  for (const scores of [data.initial, data.final]) {
    scores.forEach((score, node) => { if (data.level[node] >= 0) s.most = Math.max(s.most, score); });
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

function begin(s) {
  const { identity } = s.data;
  const kept = KEPT.get(identity);
  s.open = kept ?? createOpen(s.forest);
  KEPT.delete(identity);
  KEPT.set(identity, s.open); // the last looked at is the last forgotten
  if (KEPT.size > MOST_KEPT) KEPT.delete(KEPT.keys().next().value);
  Object.assign(s, { active: null, auto: [], told: null, linked: [], asked: "" });
}

/** A node can be seen already, wherever. */
const shows = (s, node) => s.rows.some((row) => row.node === node) && s.forest.level[node] >= 0;

/** Opens the way to the leaf that has just joined and closes what was opened so for the one
 *  before; the leaf, or null where a selected node is looked at instead. */
function follow(s) {
  for (const key of s.auto) s.open.opened.delete(key);
  s.auto = [];
  if (s.selected !== null) return null;
  const leaf = s.data.added.findLast((node) => s.data.level[node] === 0);
  if (leaf === undefined) return null;
  s.auto = openTo(s.forest, s.open, leaf);
  return leaf;
}

// --- DOM -----------------------------------------------------------------------------

function render(s) {
  const scrolled = s.tree.scrollTop;
  const held = s.tree.contains(s.tree.getRootNode().activeElement);
  s.rows = listRows(s.forest, s.open);
  s.items = new Map();
  const groups = [make("ul")];
  for (const row of s.rows) {
    while (groups.length > row.depth) groups.pop();
    const item = buildRow(s, row);
    groups[groups.length - 1].append(item);
    s.items.set(rowKey(row), item);
    if (!row.open) continue;
    const group = make("ul");
    group.setAttribute("role", "group");
    item.append(group);
    groups.push(group);
  }
  s.tree.replaceChildren(...groups[0].children);
  if (!s.items.has(s.active)) {
    const row = s.rows.find(({ node }) => node !== undefined && node === s.selected) ?? s.rows[0];
    s.active = row ? rowKey(row) : null;
  }
  const stop = s.items.get(s.active);
  if (stop) stop.tabIndex = 0;
  s.tree.scrollTop = scrolled;
  if (held) stop?.focus({ preventScroll: true });
  showLinked(s);
  fillBar(s);
  askForTexts(s);
  s.root.dataset.rows = String(s.rows.length);
  s.root.dataset.selected = s.selected ?? "";
}

function fillBar(s) {
  const { data, open } = s;
  const parts = [];
  const button = (text, act) => {
    const made = make("button", "", text);
    made.type = "button";
    made.onclick = () => {
      act();
      render(s);
    };
    parts.push(made);
  };
  const openAll = (nodes) => () => nodes.forEach((node) => openTo(s.forest, open, node));
  if (open.top !== null) {
    parts.push(make("span", "begins", `Begins at node ${open.top}.`));
    button("Whole memory", () => { open.top = null; });
  }
  if (data.retrieved.length) button("Open to retrieved", openAll(data.retrieved));
  if (data.gold.length) button("Open to gold", openAll(data.gold));
  button("Close all", () => {
    Object.assign(open, { ...createOpen(s.forest), opened: new Set() });
    s.auto = [];
  });
  if (data.initial.length) {
    const legend = make("span", "legend");
    data.score_names.forEach((name, i) => {
      legend.append(make("i", i ? "final" : "initial"), make("span", "", name));
    });
    legend.append(make("span", "", "# rank"));
    parts.push(legend);
  }
  const said = parts.map((part) => part.textContent).join();
  if (s.bar.dataset.said === said) {
    // Only what the buttons do is new: the keyboard keeps its place.
    const fresh = parts.filter((part) => part.onclick);
    [...s.bar.querySelectorAll("button")].forEach((old, i) => { old.onclick = fresh[i].onclick; });
    return;
  }
  s.bar.dataset.said = said;
  s.bar.replaceChildren(...parts);
}

/** Asks Python for the words of open rows that have none. */
function askForTexts(s) {
  const shown = [...new Set(s.rows.filter((row) => !row.more).map((row) => row.node))];
  const late = shown.filter((node) => wordsOf(s, node) === undefined);
  const wanted = [...late, ...shown].slice(0, MOST_WANTED);
  const asked = `${s.data.identity} ${s.data.step} ${late.slice(0, MOST_WANTED)}`;
  if (!late.length || asked === s.asked) return;
  clearTimeout(s.timer);
  s.timer = setTimeout(() => {
    s.asked = asked;
    s.ask([...new Set(wanted)]);
  }, 120);
}

/** Makes a row the one the keyboard is on and brings it into view, inside the outline. */
function goTo(s, row, focus = true) {
  const item = row && s.items.get(rowKey(row));
  if (!item) return;
  const before = s.items.get(s.active);
  if (before) before.tabIndex = -1;
  s.active = rowKey(row);
  item.tabIndex = 0;
  const line = item.firstChild;
  const top = line.getBoundingClientRect().top - s.tree.getBoundingClientRect().top;
  if (top < 0 || top + line.offsetHeight > s.tree.clientHeight) {
    s.tree.scrollTop += top - (focus ? (top < 0 ? 4 : s.tree.clientHeight - line.offsetHeight - 4)
      : (s.tree.clientHeight - line.offsetHeight) / 2);
  }
  if (focus) item.focus({ preventScroll: true });
}

// --- what a person does ----------------------------------------------------------------

function toggle(s, row) {
  if (row.more) showMore(s.open, row);
  else if (row.depth >= DEEPEST) {
    s.open.top = row.node; // deeper than rows lie inside each other: begin anew there
    s.open.opened.add(keyOf(`^${row.node}`, row.node));
  } else if (!s.open.opened.delete(row.key)) s.open.opened.add(row.key);
  s.auto = s.auto.filter((key) => key !== row.key);
  const at = s.rows.findIndex((other) => rowKey(other) === rowKey(row));
  render(s);
  if (row.more && !s.items.has(rowKey(row))) goTo(s, s.rows[Math.min(at, s.rows.length - 1)]);
}

function select(s, row) {
  if (row.more) return toggle(s, row);
  if (row.node === s.selected) return;
  s.selected = row.node;
  for (const item of s.items.values()) {
    item.setAttribute("aria-selected", String(item.dataset.node === String(row.node)));
  }
  s.root.dataset.selected = String(row.node);
  s.send(row.node);
}

function pressKey(s, event) {
  const at = s.rows.findIndex((row) => rowKey(row) === s.active);
  const { key } = event;
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = press(s.rows, at, key);
  const now = performance.now();
  const typing = s.typed && now - s.typedAt < TYPING_MS;
  if (act?.toggle) toggle(s, s.rows[at]);
  else if (act) goTo(s, s.rows[act.to]);
  else if (key === "Enter" || (key === " " && !typing)) select(s, s.rows[at]);
  else if (key.length === 1) {
    s.typed = typing ? s.typed + key : key;
    s.typedAt = now;
    const found = findTyped(s.rows, at, s.typed,
      (row) => (row.more ? "" : wordsOf(s, row.node) ?? ""));
    if (found >= 0) goTo(s, s.rows[found]);
  } else if (!["ArrowLeft", "ArrowRight"].includes(key)) return;
  event.preventDefault();
  event.stopPropagation(); // letters are commands of the app elsewhere
}

function listen(s) {
  const rowOf = (event) => {
    const item = event.target.closest?.(".place");
    return item && s.rows.find((row) => rowKey(row) === item.dataset.key);
  };
  const on = (name, act) => s.tree.addEventListener(name, (event) => act(event, rowOf(event)));
  on("click", (event, row) => {
    if (!row) return;
    goTo(s, row);
    if (event.target.closest(".twist") && row.branches) toggle(s, row);
    else select(s, row);
  });
  on("dblclick", (event, row) => {
    if (row?.branches && !event.target.closest(".twist")) toggle(s, row);
  });
  on("keydown", (event) => pressKey(s, event));
  on("pointerover", (_, row) => tell(s, row));
  on("pointerleave", () => tell(s, null));
  on("focusin", (event, row) => { if (event.target.matches(":focus-visible")) tell(s, row); });
  on("focusout", () => tell(s, null));
  s.silence = listenPointing(s, () => s.data?.identity, (spans) => {
    s.linked = spans;
    showLinked(s);
  });
}

// --- pointing --------------------------------------------------------------------------

function tell(s, row) {
  const node = row?.node ?? null;
  if (!s.data || node === s.told) return;
  s.told = node;
  point(s, s.data.identity, node === null ? [] : unitsBelow(s.forest, s.data, node));
}

/** Marks the rows of the leaves another view is on, and lightly those above them. */
function showLinked(s) {
  const { level, start, stop } = s.data;
  const leaves = new Set();
  const above = new Set();
  if (s.linked.length) {
    level.forEach((height, node) => {
      if (height === 0 && unitsMeet(s.linked, start[node], stop[node])) leaves.add(node);
    });
    const pending = [...leaves];
    while (pending.length) {
      for (const parent of parentsOf(s.forest, pending.pop())) {
        if (above.has(parent)) continue;
        above.add(parent);
        pending.push(parent);
      }
    }
  }
  for (const item of s.items.values()) {
    const node = Number(item.dataset.node ?? -1);
    item.classList.toggle("pointed", leaves.has(node));
    item.classList.toggle("above", above.has(node));
  }
}

function unitsMeet(spans, start, stop) {
  for (let unit = start; unit < stop; unit++) if (holds(spans, unit)) return true;
  return false;
}
