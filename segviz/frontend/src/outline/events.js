// What a person does in the outline, by mouse and by keyboard.

import { tell } from "./linked.js";
import { goTo, render } from "./list.js";
import { rowKey, wordsOf } from "./row.js";
import { DEEPEST, findTyped, keyOf, press, showMore } from "./rows.js";

const TYPING_MS = 700;

/** @param {OutlineState} s
 * @param {Row} row */
function toggle(s, row) {
  if (row.node === undefined) showMore(s.open, row);
  else if (row.depth >= DEEPEST) {
    s.open.top = row.node; // deeper than rows lie inside each other: begin anew there
    s.open.opened.add(keyOf(`^${row.node}`, row.node));
  } else if (!s.open.opened.delete(row.key)) s.open.opened.add(row.key);
  s.auto = s.auto.filter((key) => key !== row.key);
  const at = s.rows.findIndex((other) => rowKey(other) === rowKey(row));
  render(s);
  if (row.more && !s.items.has(rowKey(row))) goTo(s, s.rows[Math.min(at, s.rows.length - 1)]);
}

/** @param {OutlineState} s
 * @param {Row} row */
function select(s, row) {
  if (row.node === undefined) return toggle(s, row);
  if (row.node === s.selected) return;
  s.selected = row.node;
  for (const item of s.items.values()) {
    item.setAttribute("aria-selected", String(item.dataset.node === String(row.node)));
  }
  s.root.dataset.selected = String(row.node);
  s.send(row.node);
}

/** @param {OutlineState} s
 * @param {any} event */
function pressKey(s, event) {
  const at = s.rows.findIndex((row) => rowKey(row) === s.active);
  const { key } = event;
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = press(s.rows, at, key);
  const now = performance.now();
  const typing = s.typed && now - s.typedAt < TYPING_MS;
  if (act?.toggle) toggle(s, s.rows[at]);
  else if (act) goTo(s, s.rows[act.to ?? at]);
  else if (key === "Enter" || (key === " " && !typing)) select(s, s.rows[at]);
  else if (key.length === 1) {
    s.typed = typing ? s.typed + key : key;
    s.typedAt = now;
    const found = findTyped(s.rows, at, s.typed,
      (row) => (row.node === undefined ? "" : wordsOf(s, row.node) ?? ""));
    if (found >= 0) goTo(s, s.rows[found]);
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
    return item && s.rows.find((row) => rowKey(row) === item.dataset.key);
  };
  /** @param {string} name
   * @param {(event: any, row: Row | undefined) => void} act */
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
}
