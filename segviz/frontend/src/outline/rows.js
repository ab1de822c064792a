// The rows of the outline, which of them are there and where a key leads.
// Pure functions; nothing here knows the DOM.
//
// A *place* is one occurrence of a node: a node with several parents has one under each.
// Its key is the way to it, so that opening one occurrence leaves the others closed.

import { ancestors, edgePairs, linksOf, pathTo } from "../shared/links.js";

/** Children listed at first, and with each press of "more". */
export const PAGE = 300;

/** To a node with more nodes above it the way is not opened: it would be all there is to see. */
const DEEPEST = 300;

/** Who is whose parent, and the nodes without one, by a message of Python.
 * @param {Pick<Columns, "level" | "parent" | "edges">} data */
export function buildForest(data) {
  const links = linksOf(edgePairs(data));
  const roots = [];
  for (const [id, level] of data.level.entries()) {
    if (level >= 0 && !links.parents.has(id)) roots.push(id);
  }
  return { ...links, roots };
}

/** For every node above one of `nodes`, how many of them lie below it.
 * @type {(forest: Forest, nodes: Iterable<number>) => Map<number, number>} */
export function countBelow(forest, nodes) {
  const counts = new Map();
  for (const node of nodes) {
    for (const above of ancestors(forest, node)) counts.set(above, (counts.get(above) ?? 0) + 1);
  }
  return counts;
}

// --- what is open ----------------------------------------------------------------------

/** A fresh outline: a single root is open, several are not. `opened` holds keys of places,
 *  `limits` how many of a long list are shown.
 * @type {(forest: Forest) => Open} */
export function createOpen({ roots }) {
  return { opened: new Set(roots.length === 1 ? [keyOf("", roots[0])] : []), limits: new Map() };
}

/** @type {(above: string, node: number) => string} */
const keyOf = (above, node) => `${above}/${node}`;

/** The rows in order. A node's row: { node, key, depth, position, size, branches, open };
 *  a row that shows more of a list: { more: true, key, depth, shown, size }.
 * @type {(forest: Forest, open: Open) => Row[]} */
export function listRows(forest, { opened, limits }) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {{ ids: Ids, above: string, depth: number, next: number }[]} */
  const stack = [{ ids: forest.roots, above: "", depth: 1, next: 0 }];
  while (stack.length) {
    const here = stack[stack.length - 1];
    const { ids, above, depth } = here;
    const shown = Math.min(ids.length, limits.get(above) ?? PAGE);
    if (here.next < shown) {
      const node = ids[here.next++];
      const key = keyOf(above, node);
      const below = forest.children.get(node) ?? [];
      const open = below.length > 0 && opened.has(key);
      rows.push({ node, key, depth, position: here.next, size: ids.length,
        branches: below.length, open });
      if (open) stack.push({ ids: below, above: key, depth: depth + 1, next: 0 });
    } else {
      if (shown < ids.length) {
        rows.push({ more: true, key: above, depth, shown, size: ids.length });
      }
      stack.pop();
    }
  }
  return rows;
}

/** Opens what lies above a node so that it has a row.
 * @type {(forest: Forest, open: Open, node: number) => void} */
export function openTo(forest, { opened, limits }, node) {
  const path = pathTo(forest, node);
  if (path.length > DEEPEST) return;
  let above = "";
  let siblings = forest.roots;
  path.forEach((here, i) => {
    limits.set(above, Math.max(limits.get(above) ?? PAGE, siblings.indexOf(here) + 1));
    above = keyOf(above, here);
    siblings = forest.children.get(here) ?? [];
    if (i < path.length - 1) opened.add(above);
  });
}

// --- keys ------------------------------------------------------------------------------

/** What a key does at row `at`: { to } another row, { toggle: true }, or null.
 * @type {(rows: Row[], at: number, key: string) => { to?: number, toggle?: boolean } | null} */
export function press(rows, at, key) {
  const { open, branches, depth } = rows[at];
  if (open ? key === "ArrowLeft" : branches && key === "ArrowRight") return { toggle: true };
  const above = rows.findLastIndex((row, i) => i < at && row.depth < depth);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1,
    ArrowRight: open ? at + 1 : NaN, ArrowLeft: above < 0 ? NaN : above }[key] ?? NaN;
  return Number.isNaN(to) ? null : { to: Math.max(0, Math.min(rows.length - 1, to)) };
}
