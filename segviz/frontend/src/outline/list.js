// The outline as HTML: its rows, its bar, and the row the keyboard is on.

import { focusedBeside, make } from "../shared/dom.js";
import { showLinked } from "./linked.js";
import { buildRow, rowKey, wordsOf } from "./row.js";
import { createOpen, listRows, openTo } from "./rows.js";

const MOST_WANTED = 1000;

/** Makes the rows anew; neither the scroll position nor the keyboard's place is lost.
 * @param {OutlineState} s */
export function render(s) {
  const scrolled = s.tree.scrollTop;
  const held = s.tree.contains(focusedBeside(s.tree));
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
  s.root.dataset.selected = String(s.selected ?? "");
}

/** @param {OutlineState} s */
function fillBar(s) {
  const { data, open } = s;
  const parts = [];
  /** @param {string} text
   * @param {() => void} act */
  const button = (text, act) => {
    const made = make("button", "", text);
    made.type = "button";
    made.onclick = () => {
      act();
      render(s);
    };
    parts.push(made);
  };
  /** @param {number[]} nodes */
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

/** Asks Python for the words of open rows that have none.
 * @param {OutlineState} s */
function askForTexts(s) {
  const shown = [...new Set(s.rows.flatMap(({ node }) => (node === undefined ? [] : [node])))];
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

/** Makes a row the one the keyboard is on and brings it into view, inside the outline.
 * @param {OutlineState} s
 * @param {Row | undefined} row
 * @param {boolean} [focus] */
export function goTo(s, row, focus = true) {
  const item = row && s.items.get(rowKey(row));
  if (!item) return;
  const before = s.items.get(s.active);
  if (before) before.tabIndex = -1;
  s.active = rowKey(row);
  item.tabIndex = 0;
  const line = /** @type {HTMLElement} */ (item.firstChild);
  const top = line.getBoundingClientRect().top - s.tree.getBoundingClientRect().top;
  if (top < 0 || top + line.offsetHeight > s.tree.clientHeight) {
    s.tree.scrollTop += top - (focus ? (top < 0 ? 4 : s.tree.clientHeight - line.offsetHeight - 4)
      : (s.tree.clientHeight - line.offsetHeight) / 2);
  }
  if (focus) item.focus({ preventScroll: true });
}
