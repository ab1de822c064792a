// The outline as HTML: its rows, its bar, and the row the keyboard is on.

import { button, element, focusedBeside, make } from "../shared/dom.js";
import { buildRow, rowKey, wordsOf } from "./row.js";
import { createOpen, listRows, openTo } from "./rows.js";

const MOST_WANTED = 1000;

/** Makes the rows anew; neither the scroll position nor the keyboard's place is lost.
 * @param {OutlineState} s */
export function render(s) {
  const { list, elements } = s;
  const scrolled = elements.tree.scrollTop;
  const held = elements.tree.contains(focusedBeside(elements.tree));
  list.rows = listRows(s.memory.forest, list.open);
  list.items = new Map(list.rows.map((row) => [rowKey(row), buildRow(s, row)]));
  elements.tree.replaceChildren(...list.items.values());
  if (!list.items.has(list.active)) {
    const { selected } = s.attention;
    const row = list.rows.find(({ node }) => node !== undefined && node === selected)
      ?? list.rows[0];
    list.active = row ? rowKey(row) : null;
  }
  const stop = list.items.get(list.active);
  if (stop) stop.tabIndex = 0;
  elements.tree.scrollTop = scrolled;
  if (held) stop?.focus({ preventScroll: true });
  showBar(s);
  askForTexts(s);
  elements.root.dataset.rows = String(list.rows.length);
  elements.root.dataset.selected = String(s.attention.selected ?? "");
}

/** Builds the bar above the rows, once.
 * @param {OutlineState} s */
export function buildBar(s) {
  const { list, memory, elements: { bar } } = s;
  /** @type {(text: string, act: () => void) => HTMLButtonElement} */
  const tool = (text, act) => button("", bar, text, () => {
    act();
    render(s);
  });
  /** @param {"top_final" | "gold"} name */
  const openAll = (name) => () =>
    memory.data[name].forEach((node) => openTo(memory.forest, list.open, node));
  s.elements.shown = {
    top_final: tool("Open to retrieved", openAll("top_final")),
    gold: tool("Open to gold", openAll("gold")),
  };
  tool("Open a level", () => {
    for (const { branches, key } of list.rows) if (branches) list.open.opened.add(key);
  });
  tool("Close all", () => Object.assign(list.open, createOpen(memory.forest), { opened: new Set() }));
  s.elements.shown.initial = element("span", "legend", bar);
}

/** @param {OutlineState} s */
function showBar({ memory: { data }, elements: { shown } }) {
  shown.top_final.hidden = !data.top_final.length;
  shown.gold.hidden = !data.gold.length;
  shown.initial.hidden = !data.initial.length;
  const names = data.score_names.flatMap((name, i) =>
    [make("i", i ? "final" : "initial"), make("span", "", name)]);
  shown.initial.replaceChildren(...names, make("span", "", "# rank"));
}

/** Asks Python for the words of open rows that have none.
 * @param {OutlineState} s */
function askForTexts(s) {
  const { memory, wanting } = s;
  const shown = [...new Set(s.list.rows.flatMap(({ node }) => (node === undefined ? [] : [node])))];
  const late = shown.filter((node) => wordsOf(memory, node) === undefined);
  const wanted = [...late, ...shown].slice(0, MOST_WANTED);
  const asked = `${memory.data.identity} ${memory.data.step} ${late.slice(0, MOST_WANTED)}`;
  if (!late.length || asked === wanting.asked) return;
  clearTimeout(wanting.timer);
  wanting.timer = setTimeout(() => {
    wanting.asked = asked;
    s.tell("wanted", [...new Set(wanted)]);
  }, 120);
}

/** Makes a row the one the keyboard is on and brings it into view, inside the outline.
 * @type {(s: OutlineState, row: Row | undefined, focus?: boolean) => void} */
export function goTo(s, row, focus = true) {
  const { list, elements: { tree } } = s;
  const item = row && list.items.get(rowKey(row));
  if (!item) return;
  const before = list.items.get(list.active);
  if (before) before.tabIndex = -1;
  list.active = rowKey(row);
  item.tabIndex = 0;
  const line = /** @type {HTMLElement} */ (item.firstChild);
  const top = line.getBoundingClientRect().top - tree.getBoundingClientRect().top;
  const room = tree.clientHeight - line.offsetHeight;
  if (top < 0 || top > room) {
    tree.scrollTop += top - (focus ? (top < 0 ? 4 : room - 4) : room / 2);
  }
  if (focus) item.focus({ preventScroll: true });
}
