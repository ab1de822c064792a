// The outline and the other views of the same memory point at the same units.

import { holds, point } from "../shared/pointing.js";
import { parentsOf, unitsBelow } from "./rows.js";

/** Tells the others which units lie below the node of a row; none lets go.
 * @param {OutlineState} s
 * @param {Row | null | undefined} row */
export function tell(s, row) {
  const { memory } = s;
  const node = row?.node ?? null;
  if (!memory.data || node === s.attention.told) return;
  s.attention.told = node;
  point(s, memory.data.identity, node === null ? [] : unitsBelow(memory.forest, memory.data, node));
}

/** Marks the rows of the leaves another view is on, and lightly those above them.
 * @param {OutlineState} s */
export function showLinked(s) {
  const { level, start, stop } = s.memory.data;
  const leaves = new Set();
  const above = new Set();
  if (s.attention.linked.length) {
    level.forEach((height, node) => {
      if (height === 0 && unitsMeet(s.attention.linked, start[node], stop[node])) leaves.add(node);
    });
    const pending = [...leaves];
    while (pending.length) {
      for (const parent of parentsOf(s.memory.forest, pending.pop())) {
        if (above.has(parent)) continue;
        above.add(parent);
        pending.push(parent);
      }
    }
  }
  for (const item of s.list.items.values()) {
    const node = Number(item.dataset.node ?? -1);
    item.classList.toggle("pointed", leaves.has(node));
    item.classList.toggle("above", above.has(node));
  }
}

/** @param {Span[]} spans
 * @param {number} start
 * @param {number} stop */
function unitsMeet(spans, start, stop) {
  for (let unit = start; unit < stop; unit++) if (holds(spans, unit)) return true;
  return false;
}
