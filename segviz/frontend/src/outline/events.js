// What a person does in the outline, by mouse and by keyboard.

import { tellSelected } from "../shared/component.js";
import { goTo, render } from "./list.js";
import { rowKey } from "./row.js";
import { PAGE, press } from "./rows.js";

/** @param {OutlineState} s
 * @param {Row} row */
function toggle(s, row) {
  const { list } = s;
  const { opened, limits } = list.open;
  if (row.node === undefined) limits.set(row.key, row.shown + PAGE);
  else if (!opened.delete(row.key)) opened.add(row.key);
  const at = list.rows.findIndex((other) => rowKey(other) === rowKey(row));
  render(s);
  if (row.more && !list.items.has(rowKey(row))) goTo(s, list.rows[at]);
}

/** @param {OutlineState} s
 * @param {Row} row */
function select(s, row) {
  if (row.node === undefined) return toggle(s, row);
  if (row.node === s.attention.selected) return;
  tellSelected(s, row.node);
  for (const item of s.list.items.values()) {
    item.ariaSelected = String(item.dataset.node === String(row.node));
  }
  s.elements.root.dataset.selected = String(row.node);
}

/** @param {OutlineState} s
 * @param {any} event */
function pressKey(s, event) {
  const { list } = s;
  const at = list.rows.findIndex((row) => rowKey(row) === list.active);
  const { key } = event;
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = press(list.rows, at, key);
  if (act?.toggle) toggle(s, list.rows[at]);
  else if (act) goTo(s, list.rows[act.to ?? at]);
  else if (key === "Enter" || key === " ") select(s, list.rows[at]);
  else if (key.length > 1) return; // a key of the browser
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
}
