// The rows of the outline, which of them are there and where a key leads.
// Pure functions; nothing here knows the DOM.
//
// A *place* is one occurrence of a node: a node with several parents has one under each.
// Its key is the way to it, so that opening one occurrence leaves the others closed.

/** Children listed at first, and with each press of "more". */
export const PAGE = 300;

/** So many places lie inside each other; what is deeper begins an outline of its own. */
export const DEEPEST = 24;

/** Children and parents of every node as two flat tables each, and the nodes without a
 *  parent. `edges` are [parent, child] pairs in the order of the children.
 * @param {{ level: Int32Array, edges: Int32Array }} given */
export function buildForest({ level, edges }) {
  const n = level.length;
  /** @param {number} from
   * @param {number} to */
  const table = (from, to) => {
    const at = new Int32Array(n + 1);
    for (let i = from; i < edges.length; i += 2) at[edges[i] + 1]++;
    for (let i = 0; i < n; i++) at[i + 1] += at[i];
    const next = at.slice(0, n);
    const ids = new Int32Array(edges.length / 2);
    for (let i = 0; i < edges.length; i += 2) ids[next[edges[i + from]]++] = edges[i + to];
    return { at, ids };
  };
  const [children, parents] = [table(0, 1), table(1, 0)];
  const roots = [];
  for (let id = 0; id < n; id++) {
    if (level[id] >= 0 && parents.at[id] === parents.at[id + 1]) roots.push(id);
  }
  return { level, children, parents, roots: Int32Array.from(roots) };
}

/** @param {LinkTable} linkTable
 * @param {number} node */
const part = ({ at, ids }, node) => ids.subarray(at[node], at[node + 1]);
/** @param {Forest} forest
 * @param {number} node */
export const childrenOf = (forest, node) => part(forest.children, node);
/** @param {Forest} forest
 * @param {number} node */
export const parentsOf = (forest, node) => part(forest.parents, node);

/** The nodes from a root down to this one, by first parents.
 * @param {Forest} forest
 * @param {number} node */
export function pathTo(forest, node) {
  const path = [node];
  const seen = new Set(path);
  for (;;) {
    const above = parentsOf(forest, path[path.length - 1])[0];
    if (above === undefined || seen.has(above)) return path.reverse();
    seen.add(above);
    path.push(above);
  }
}

/** For every node above one of `nodes`, how many of them lie below it.
 * @param {Forest} forest
 * @param {Iterable<number>} nodes
 * @param {number} [limit] */
export function countBelow(forest, nodes, limit = 1_000_000) {
  const counts = new Map();
  let steps = 0;
  for (const node of nodes) {
    const seen = new Set([node]);
    const pending = [node];
    while (pending.length && steps < limit) {
      for (const above of parentsOf(forest, /** @type {number} */ (pending.pop()))) {
        steps++;
        if (seen.has(above)) continue;
        seen.add(above);
        pending.push(above);
        counts.set(above, (counts.get(above) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/** The units below a node as [start, stop] pairs; the span itself where it would take too
 *  long to look.
 * @param {Forest} forest
 * @param {{ start: Ids, stop: Ids }} given
 * @param {number} node
 * @param {number} [limit]
 * @returns {Span[]} */
export function unitsBelow(forest, { start, stop }, node, limit = 20_000) {
  /** @type {Span[]} */
  const spans = [];
  const seen = new Set([node]);
  const pending = [node];
  while (pending.length) {
    const here = /** @type {number} */ (pending.pop());
    if (!forest.level[here]) spans.push([start[here], stop[here]]);
    for (const child of childrenOf(forest, here)) {
      if (seen.has(child)) continue;
      if (seen.size >= limit) return [[start[node], stop[node]]];
      seen.add(child);
      pending.push(child);
    }
  }
  spans.sort((a, b) => a[0] - b[0]);
  /** @type {Span[]} */
  const joined = [];
  for (const [from, to] of spans) {
    const last = joined[joined.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

// --- what is open ----------------------------------------------------------------------

/** A fresh outline: a single root is open, several are not. `opened` holds keys of places,
 *  `windows` the part [from, to) of a long list that is shown, `top` the node at which the
 *  outline begins (null: all roots).
 * @param {Forest} forest */
export function createOpen(forest) {
  const opened = new Set();
  if (forest.roots.length === 1) opened.add(keyOf("", forest.roots[0]));
  return { opened, windows: new Map(), top: null };
}

/** @param {string} above
 * @param {number} node */
export const keyOf = (above, node) => `${above}/${node}`;

/** The rows in order. A node's row: { node, key, depth, position, size, branches, open };
 *  a row that shows more of a list: { more: -1 or 1, key, depth, hidden, size }.
 * @param {Forest} forest
 * @param {Open} open */
export function listRows(forest, { opened, windows, top }) {
  const rows = [];
  /** @param {Ids} ids
   * @param {string} above
   * @param {any} depth */
  const list = (ids, above, depth) => {
    const [from, to] = windows.get(above) ?? [0, Math.min(PAGE, ids.length)];
    const end = Math.min(to, ids.length);
    return { ids, above, depth, from, end, next: from - (from > 0 ? 1 : 0) };
  };
  const begin = top === null ? forest.roots : [top];
  const stack = [list(begin, top === null ? "" : `^${top}`, 1)];
  while (stack.length) {
    const here = stack[stack.length - 1];
    const { ids, above, depth, from, end } = here;
    const at = here.next++;
    const shown = end - from;
    if (at < from) {
      rows.push({ more: -1, key: above, depth, hidden: from, shown, size: ids.length });
    } else if (at < end) {
      const key = keyOf(above, ids[at]);
      const below = childrenOf(forest, ids[at]);
      const open = below.length > 0 && depth < DEEPEST && opened.has(key);
      rows.push({ node: ids[at], key, depth, position: at + 1, size: ids.length,
        branches: below.length, open });
      if (open) stack.push(list(below, key, depth + 1));
    } else {
      const hidden = ids.length - end;
      if (hidden) rows.push({ more: 1, key: above, depth, hidden, shown, size: ids.length });
      stack.pop();
    }
  }
  return rows;
}

/** Shows another part of a long list, before (-1) or after (1) what is shown.
 * @param {Open} state
 * @param {MoreRow} moreRow */
export function showMore(state, { more, key, size }) {
  const [from, to] = state.windows.get(key) ?? [0, PAGE];
  state.windows.set(key, more < 0
    ? [Math.max(0, from - PAGE), to] : [from, Math.min(size, to + PAGE)]);
}

/** Opens what lies above a node so that it has a row; the keys opened for it. An outline
 *  that begins elsewhere, or too far above, begins anew.
 * @param {Forest} forest
 * @param {Open} state
 * @param {number} node */
export function openTo(forest, state, node) {
  let path = pathTo(forest, node);
  const at = state.top === null ? 0 : path.indexOf(state.top);
  if (at >= 0 && path.length - at <= DEEPEST) path = path.slice(at);
  else if (path.length <= DEEPEST) state.top = null;
  else {
    path = path.slice(4 - DEEPEST);
    state.top = path[0];
  }
  /** @type {string[]} */
  const opened = [];
  let above = state.top === null ? "" : `^${state.top}`;
  let siblings = state.top === null ? forest.roots : [state.top];
  path.forEach((here, i) => {
    bringIn(state, above, siblings, here);
    above = keyOf(above, here);
    siblings = childrenOf(forest, here);
    if (i === path.length - 1 || state.opened.has(above)) return;
    state.opened.add(above);
    opened.push(above);
  });
  return opened;
}

/** @param {Open} state
 * @param {string} key
 * @param {Ids} siblings
 * @param {number} node */
function bringIn(state, key, siblings, node) {
  const at = siblings.indexOf(node);
  const [from, to] = state.windows.get(key) ?? [0, PAGE];
  if (at >= from && at < to) return;
  const first = Math.max(0, Math.min(at - PAGE / 2, siblings.length - PAGE));
  state.windows.set(key, [first, first + PAGE]);
}

// --- keys ------------------------------------------------------------------------------

/** What a key does at row `at`: { to } another row, { toggle: true }, or null.
 * @param {Row[]} rows
 * @param {number} at
 * @param {string} key
 * @returns {{ to?: number, toggle?: boolean } | null} */
export function press(rows, at, key) {
  const row = rows[at];
  /** @param {number} to */
  const bounded = (to) => ({ to: Math.max(0, Math.min(rows.length - 1, to)) });
  if (key === "ArrowDown") return bounded(at + 1);
  if (key === "ArrowUp") return bounded(at - 1);
  if (key === "Home") return bounded(0);
  if (key === "End") return bounded(rows.length - 1);
  if (key === "ArrowRight") {
    if (!row.branches) return null;
    return row.open ? bounded(at + 1) : { toggle: true };
  }
  if (key === "ArrowLeft") {
    if (row.open) return { toggle: true };
    let above = at;
    while (above > 0 && rows[above].depth >= row.depth) above--;
    return rows[above].depth < row.depth ? { to: above } : null;
  }
  return null;
}

/** The next row, from `at` on and around, whose words begin with what was typed; else one
 *  in which some word does; -1 if none. Further letters may stay on the same row.
 * @param {Row[]} rows
 * @param {number} at
 * @param {string} typed
 * @param {(row: Row) => string} wordsOf */
export function findTyped(rows, at, typed, wordsOf) {
  const wanted = typed.toLowerCase();
  const first = typed.length > 1 ? 0 : 1;
  let inside = -1;
  for (let i = first; i < rows.length + first; i++) {
    const here = (at + i) % rows.length;
    const words = wordsOf(rows[here]).toLowerCase();
    if (words.startsWith(wanted)) return here;
    if (inside < 0 && words.includes(` ${wanted}`)) inside = here;
  }
  return inside;
}
