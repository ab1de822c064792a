// Who is whose parent, the ways along that, and places in an order. Pure functions.

/** All edges as [parent, child] pairs; Python sends them only if parents do not do.
 * @param {Pick<Columns, "parent" | "edges">} given */
export function edgePairs({ parent, edges }) {
  if (edges.length) return edges;
  const pairs = [];
  for (let id = 0; id < parent.length; id++) if (parent[id] >= 0) pairs.push(parent[id], id);
  return Int32Array.from(pairs);
}

/** The parents and the children of every node that has any, in the order of the pairs.
 * @param {Ids} pairs */
export function linksOf(pairs) {
  /** @type {{ parents: Links, children: Links }} */
  const links = { parents: new Map(), children: new Map() };
  /** @type {(of: Links, node: number, other: number) => void} */
  const add = (of, node, other) => {
    const known = of.get(node);
    if (known) known.push(other);
    else of.set(node, [other]);
  };
  for (let i = 0; i < pairs.length; i += 2) {
    add(links.parents, pairs[i + 1], pairs[i]);
    add(links.children, pairs[i], pairs[i + 1]);
  }
  return links;
}

/** All that the links lead to from a node, each once; never the node itself.
 * @type {(links: Links, node: number) => Set<number>} */
export function reached(links, node) {
  /** @type {Set<number>} */
  const found = new Set();
  const pending = [node];
  while (pending.length) {
    for (const next of links.get(/** @type {number} */ (pending.pop())) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      pending.push(next);
    }
  }
  found.delete(node);
  return found;
}

/** All ancestors, each once, along every parent.
 * @type {(tree: Pick<Tree, "parents">, node: number) => number[]} */
export const ancestors = (tree, node) => [...reached(tree.parents, node)];

/** The nodes from a root to this one, along first parents.
 * @type {(tree: Pick<Tree, "parents">, node: number) => number[]} */
export function pathTo(tree, node) {
  const path = [];
  const seen = new Set();
  /** @type {number | undefined} */
  let at = node;
  for (; at !== undefined && !seen.has(at); at = tree.parents.get(at)?.[0]) {
    seen.add(at);
    path.push(at);
  }
  return path.reverse();
}

/** The first place from `low` for which a test holds that holds for all after it, else `high`.
 * @type {(low: number, high: number, test: (place: number) => boolean) => number} */
export function firstPlace(low, high, test) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
