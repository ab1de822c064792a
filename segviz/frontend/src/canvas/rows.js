// The tree as rows of nodes. Pure functions.
//
// A *row* is one lane of one level; a level has several lanes only where spans of its nodes
// overlap. A node that stands for a same-text chain lies in a row of each of its levels.

import { edgePairs, linksOf } from "../shared/links.js";
import { leftOf, rightOf } from "./axis.js";

/** Lanes for intervals sorted by start: first fit, so lane 0 holds most of them.
 * @param {number[]} ids
 * @param {Ids} start
 * @param {Ids} stop */
export function assignLanes(ids, start, stop) {
  const ends = [];
  const lanes = new Int32Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    let lane = 0;
    while (lane < ends.length && ends[lane] > start[ids[i]]) lane++;
    ends[lane] = stop[ids[i]];
    lanes[i] = lane;
  }
  return { lanes, count: Math.max(1, ends.length) };
}

/** Rows, lanes and neighbours of the active nodes (level >= 0), and their edges on the axis.
 * @param {Message} data
 * @param {Axis | null} [axis] */
export function buildTree(data, axis = null) {
  const { level, top, start, stop, levels_total } = data;
  /** @type {number[][]} */
  const reaching = Array.from({ length: levels_total }, () => []); // the nodes of each level
  let active = 0;
  let newest = 0;
  for (let id = 0; id < level.length; id++) {
    if (level[id] < 0) continue;
    active++;
    newest = Math.max(newest, stop[id]);
    for (let here = level[id]; here <= top[id]; here++) reaching[here].push(id);
  }
  /** @type {number[][]} */
  const rows = []; // ids of one lane, by start, also those whose chain reaches it from below
  /** @type {number[]} */
  const firstRow = []; // level -> its first row
  /** @type {number[]} */
  const laneCount = [];
  const rowOf = new Int32Array(level.length).fill(-1); // the row a node begins at
  for (const [here, ids] of reaching.entries()) {
    ids.sort((a, b) => start[a] - start[b] || stop[b] - stop[a] || a - b);
    const { lanes, count } = assignLanes(ids, start, stop);
    firstRow.push(rows.length);
    laneCount.push(count);
    for (let lane = 0; lane < count; lane++) rows.push([]);
    for (let i = 0; i < ids.length; i++) {
      const row = firstRow[here] + lanes[i];
      rows[row].push(ids[i]);
      if (level[ids[i]] === here) rowOf[ids[i]] = row;
    }
  }
  // Up to which level a node is one box: not beyond its own where lanes are between.
  const tall = Int32Array.from(level, (lowest, id) => {
    if (lowest < 0 || lowest === top[id]) return lowest;
    const crossed = laneCount.slice(lowest, top[id] + 1);
    return crossed.every((count) => count === 1) ? top[id] : lowest;
  });
  const left = axis ? Float64Array.from(start, (unit) => leftOf(axis, unit)) : start;
  const right = axis ? Float64Array.from(stop, (unit) => rightOf(axis, unit)) : stop;
  return { level, top, tall, start, stop, left, right, rows, firstRow, laneCount, rowOf, ...linksOf(edgePairs(data)),
    byLevel: reaching.map((ids, here) => ids.filter((id) => level[id] === here)), // they begin at
    highest: reaching.findLastIndex((ids) => ids.length), active, newest };
}

/** The node an arrow key leads to; the same node at the edge of the tree.
 * @type {(tree: Tree, node: number, key: string) => number} */
export function neighbour(tree, node, key) {
  const leaves = tree.byLevel[0];
  if (key === "Home") return leaves[0] ?? node;
  if (key === "End") return leaves[leaves.length - 1] ?? node;
  if (key === "ArrowUp") return tree.parents.get(node)?.[0] ?? node;
  if (key === "ArrowDown") {
    const below = tree.children.get(node) ?? [];
    return below.reduce((a, b) => (tree.start[b] < tree.start[a] ? b : a), below[0] ?? node);
  }
  const row = tree.byLevel[tree.level[node]];
  const at = row.indexOf(node) + (key === "ArrowRight" ? 1 : -1);
  return row[at] ?? node;
}

// --- sessions along the time axis ------------------------------------------------------

/** Runs of equal session (or day) along the units, -1 for none, with their edges on the axis.
 * @param {Ids} unitSession
 * @param {Axis | null} [axis] */
export function sessionRuns(unitSession, axis = null) {
  const runs = [];
  for (let unit = 0; unit < unitSession.length; unit++) {
    const last = runs[runs.length - 1];
    if (last && last.session === unitSession[unit]) last.stop = unit + 1;
    else runs.push({ session: unitSession[unit], start: unit, stop: unit + 1 });
  }
  return runs.map((run) => ({ ...run, left: leftOf(axis, run.start), right: rightOf(axis, run.stop) }));
}

