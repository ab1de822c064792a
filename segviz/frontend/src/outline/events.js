// What a person does in the outline, by mouse and by keyboard.

import { tell } from "./linked.js";
import { goTo, render } from "./list.js";
import { rowKey, wordsOf } from "./row.js";
import { DEEPEST, findTyped, keyOf, press, showMore } from "./rows.js";

const TYPING_MS = 700;

/** @param {OutlineState} s
 * @param {Row} row */
function toggle(s, row) {
  const { list } = s;
  if (row.node === undefined) showMore(list.open, row);
  else if (row.depth >= DEEPEST) {
    list.open.top = row.node; // deeper than rows lie inside each other: begin anew there
    list.open.opened.add(keyOf(`^${row.node}`, row.node));
  } else if (!list.open.opened.delete(row.key)) list.open.opened.add(row.key);
  list.auto = list.auto.filter((key) => key !== row.key);
  const at = list.rows.findIndex((other) => rowKey(other) === rowKey(row));
  render(s);
  const gone = row.more && !list.items.has(rowKey(row));
  if (gone) goTo(s, list.rows[Math.min(at, list.rows.length - 1)]);
}

/** @param {OutlineState} s
 * @param {Row} row */
function select(s, row) {
  if (row.node === undefined) return toggle(s, row);
  if (row.node === s.attention.selected) return;
  s.attention.selected = row.node;
  for (const item of s.list.items.values()) {
    item.setAttribute("aria-selected", String(item.dataset.node === String(row.node)));
  }
  s.elements.root.dataset.selected = String(row.node);
  s.tell("selected", row.node);
}

/** @param {OutlineState} s
 * @param {any} event */
function pressKey(s, event) {
  const { list, attention } = s;
  const at = list.rows.findIndex((row) => rowKey(row) === list.active);
  const { key } = event;
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = press(list.rows, at, key);
  const now = performance.now();
  const typing = attention.typed && now - attention.typedAt < TYPING_MS;
  if (act?.toggle) toggle(s, list.rows[at]);
  else if (act) goTo(s, list.rows[act.to ?? at]);
  else if (key === "Enter" || (key === " " && !typing)) select(s, list.rows[at]);
  else if (key.length === 1) {
    attention.typed = typing ? attention.typed + key : key;
    attention.typedAt = now;
    const found = findTyped(list.rows, at, attention.typed,
      (row) => (row.node === undefined ? "" : wordsOf(s.memory, row.node) ?? ""));
    if (found >= 0) goTo(s, list.rows[found]);
  } else if (!["ArrowLeft", "ArrowRight"].includes(key)) return;
  event.preventDefault();
  event.stopPropagation(); // letters are commands of the app elsewhere
}

/** Listens to the rows, once.
 * @param {OutlineState} s */
export function listen(s) {
  /** @param {any} event */
  const rowOf = (event) => {
    const item = event.target.closest?.(".place");
    return item && s.list.rows.find((row) => rowKey(row) === item.dataset.key);
  };
  /** @param {string} name
   * @param {(event: any, row: Row | undefined) => void} act */
  const on = (name, act) =>
    s.elements.tree.addEventListener(name, (event) => act(event, rowOf(event)));
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
}
