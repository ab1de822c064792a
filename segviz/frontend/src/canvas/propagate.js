// The JavaScript twin of segviz.propagate and segviz.retrieve, so that
// the picture follows a control without waiting for Python, whose answer takes its place. Pure
// functions, computed in float64.

import { lastly } from "../shared/dom.js";
import { firstPlace } from "../shared/links.js";

// --- transitions -----------------------------------------------------------------------

/** @param {Int32Array} pairs */
const reversed = (pairs) => pairs.map((_, i) => pairs[i ^ 1]);

/** @param {Int32Array} pairs */
const thereAndBack = (pairs) => Int32Array.from([...pairs, ...reversed(pairs)]);

/** Active nodes that follow each other on one level, by start, then by age.
 * @param {Pick<Columns, "level" | "start">} given */
function adjacent({ level, start }) {
  const nodes = [];
  for (let id = 0; id < level.length; id++) if (level[id] >= 0) nodes.push(id);
  nodes.sort((a, b) => level[a] - level[b] || start[a] - start[b] || a - b);
  const pairs = [];
  for (let i = 1; i < nodes.length; i++) {
    if (level[nodes[i - 1]] === level[nodes[i]]) pairs.push(nodes[i - 1], nodes[i]);
  }
  return Int32Array.from(pairs);
}

/** Policy -> [source, target] pairs of a tree {edges, level, start}; level -1 is retired.
 * @type {Record<string, (tree: Edged) => Int32Array>} */
export const TRANSITIONS = {
  none: () => new Int32Array(0),
  "top-down": ({ edges }) => edges,
  "bottom-up": ({ edges }) => reversed(edges),
  both: ({ edges }) => thereAndBack(edges),
  neighbours: (tree) => thereAndBack(adjacent(tree)),
};

/** W_P as parallel columns: source, target and the part of the source's score that goes
 *  there, one over the number of its targets.
 * @param {Int32Array} pairs
 * @param {number} nodes */
export function shares(pairs, nodes) {
  const count = pairs.length / 2;
  const degree = new Int32Array(nodes);
  for (let i = 0; i < pairs.length; i += 2) degree[pairs[i]]++;
  const source = new Int32Array(count);
  const target = new Int32Array(count);
  const share = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    source[i] = pairs[2 * i];
    target[i] = pairs[2 * i + 1];
    share[i] = 1 / degree[source[i]];
  }
  return { source, target, share };
}

// --- scores ----------------------------------------------------------------------------

/** The next hop, W_P s.
 * @type {(scores: Weights, operator: ReturnType<typeof shares>) => Float64Array} */
export function nextHop(scores, { source, target, share }) {
  const next = new Float64Array(scores.length);
  for (let i = 0; i < source.length; i++) next[target[i]] += scores[source[i]] * share[i];
  return next;
}

/** Σ αᵏ sᵏ / Σ αᵏ over the first `horizon` + 1 hops (equation 4); `none` has no operator.
 * @type {(hops: Weights[], policy: string, alpha: number, horizon: number) => Weights} */
export function combineHops(hops, policy, alpha, horizon) {
  if (policy === "none") return hops[0].slice();
  const final = new Float64Array(hops[0]);
  const weights = hops.slice(0, horizon + 1).map((_, hop) => alpha ** hop);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  // In blocks that stay in the processor's cache over all hops.
  for (let from = 0; from < final.length; from += BLOCK) {
    const to = Math.min(final.length, from + BLOCK);
    for (let hop = 1; hop < weights.length; hop++) {
      const [weight, scores] = [weights[hop], hops[hop]];
      for (let i = from; i < to; i++) final[i] += weight * scores[i];
    }
    for (let i = from; i < to; i++) final[i] /= sum;
  }
  return final;
}

const BLOCK = 4096;

/** A function (policy, alpha, horizon) -> final scores. It keeps the hops of the last
 *  policy, so that a new alpha costs one weighted sum.
 * @type {(initial: Weights, tree: Edged) => Propagator} */
export function propagator(initial, tree) {
  /** @type {string | null} */
  let known = null;
  let operator = shares(new Int32Array(0), 0);
  let hops = [initial];
  return (policy, alpha, horizon) => {
    if (policy !== known) {
      operator = shares(TRANSITIONS[policy](tree), initial.length);
      hops = [initial];
      known = policy;
    }
    while (policy !== "none" && hops.length <= horizon) {
      hops.push(nextHop(hops[hops.length - 1], operator));
    }
    return combineHops(hops, policy, alpha, horizon);
  };
}

// --- retrieval -------------------------------------------------------------------------

/** The retrieved nodes of the admissible levels (null: all), best first, ties to the older
 *  node: k of them, or, with a budget (null: none), those whose texts begin within so many
 *  tokens. Those that a better one has or quotes may be skipped.
 * @type {(scores: Weights, given: Texts & Pick<Columns, "level" | "tokens">,
 *    retrieval: Retrieval) => Int32Array} */
export function topNodes(scores, data, { k, budget, levels, deduplicate }) {
  const { level, tokens } = data;
  const admitted = levels && new Set(levels);
  /** @param {number} id */
  const admits = (id) => level[id] >= 0 && (!admitted || admitted.has(level[id]));
  if (!budget && !deduplicate) return Int32Array.from(highest(scores, admits, k));
  let nodes = Array.from(scores, (_, id) => id).filter(admits);
  nodes.sort((a, b) => scores[b] - scores[a] || a - b);
  if (deduplicate) nodes = distinct(nodes, data, budget ? Infinity : k);
  return Int32Array.from(budget ? affordable(nodes, tokens, budget) : nodes);
}

/** @typedef {Pick<Columns, "same_text" | "quoted">} Texts */

/** The texts above that quote a text. */
const quotedBy = lastly((/** @type {Int32Array} */ quoted) => {
  /** @type {Map<number, number[]>} */
  const above = new Map();
  quoted.forEach((text, i) => i % 2 || above.set(text, [...above.get(text) ?? [], quoted[i + 1]]));
  return above;
});

/** Whether two nodes have the same text, or one quotes the other below it.
 * @type {(data: Texts, node: number, other: number) => boolean} */
export const repeatsText = ({ same_text: text, quoted }, node, other) => text[node] === text[other]
  || [[node, other], [other, node]].some(([low, high]) => quotedBy(quoted).get(text[low])?.includes(text[high]));

/** The first nodes of a ranking whose text no better one among them has or quotes.
 * @type {(nodes: number[], data: Texts, most: number) => number[]} */
function distinct(nodes, { same_text: text, quoted }, most) {
  const above = quotedBy(quoted);
  const [kept, found] = [new Set(), /** @type {number[]} */ ([])];
  for (const node of nodes) {
    if (found.length === most) break;
    if (kept.has(text[node]) || above.get(text[node])?.some((other) => kept.has(other))) continue;
    kept.add(text[node]);
    found.push(node);
  }
  return found;
}

/** @type {(scores: Weights, admits: (id: number) => boolean, k: number) => number[]} */
function highest(scores, admits, k) {
  /** @type {number[]} */
  const top = [];
  let last = -Infinity; // the score that the next node must exceed: ties go to the older
  for (let id = 0; id < scores.length; id++) {
    const score = scores[id];
    if (!(score > last) || !admits(id)) continue;
    top.splice(firstPlace(0, top.length, (at) => scores[top[at]] < score), 0, id);
    if (top.length > k) top.pop();
    if (top.length === k) last = scores[top[k - 1]];
  }
  return top;
}

/** @type {(nodes: number[], tokens: Int32Array, budget: number) => number[]} */
function affordable(nodes, tokens, budget) {
  let left = budget;
  let count = 0;
  while (count < nodes.length && left > 0) left -= tokens[nodes[count++]];
  return nodes.slice(0, count);
}

/** 1-based ranks of nodes by score among the admissible ones, 0 for one that is not; a node
 *  that is drawn several times (`origin`) counts once. One pass: most nodes lie below all.
 * @type {(nodes: number[], scores: Weights,
 *    data: Pick<Message, "level" | "origin" | "live">) => number[]} */
export function ranksOf(nodes, scores, { level, origin, live }) {
  const admitted = live?.levels && new Set(live.levels);
  const order = nodes.map((_, i) => i)
    .sort((a, b) => scores[nodes[b]] - scores[nodes[a]] || nodes[a] - nodes[b]);
  const sorted = order.map((i) => nodes[i]);
  const values = sorted.map((node) => scores[node]);
  const lowest = values[values.length - 1];
  const before = new Int32Array(sorted.length + 1); // nodes that come just before the i-th
  const seen = origin.length ? new Set() : null;
  for (let id = 0; id < level.length; id++) {
    const score = scores[id];
    if (!(score >= lowest) || level[id] < 0 || (admitted && !admitted.has(level[id]))) continue;
    if (seen) {
      if (seen.has(origin[id])) continue;
      seen.add(origin[id]);
    }
    let [low, high] = [0, sorted.length]; // written out: a call for each node is what would be felt
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < score || (values[middle] === score && sorted[middle] > id)) high = middle;
      else low = middle + 1;
    }
    before[low]++;
  }
  const ranks = new Array(nodes.length).fill(0);
  let sum = 0;
  order.forEach((i, place) => {
    sum += before[place];
    const here = level[nodes[i]];
    ranks[i] = here < 0 || (admitted && !admitted.has(here)) ? 0 : sum + 1;
  });
  return ranks;
}

/** How many of the nodes lie on each of `levels` levels.
 * @type {(nodes: Ids, level: Int32Array, levels: number) => number[]} */
export function levelCounts(nodes, level, levels) {
  const counts = new Array(levels).fill(0);
  for (const id of nodes) counts[level[id]]++;
  return counts;
}
