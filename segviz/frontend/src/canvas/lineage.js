// What belongs to a node: the path that leads to it and all that lies below.

import { lastly } from "../shared/dom.js";
import { ancestors, reached } from "../shared/links.js";
import { nodeRect } from "./boxes.js";
import { rowBox } from "./geometry.js";
import { footing, outline } from "./glyphs.js";

/** Where the descendants lie: {row, level, start, stop}, neighbours of a row joined, so that a
 *  root over 100,000 leaves is a few strokes.
 * @type {(tree: Tree, node: number) => Run[]} */
export function descendantRuns(tree, node) {
  const below = reached(tree.children, node);
  if (!below.size) return [];
  const member = new Uint8Array(tree.level.length);
  for (const id of below) member[id] = 1;
  /** @type {Run[]} */
  const runs = [];
  tree.rows.forEach((ids, row) => {
    /** @type {Run | null} */
    let run = null;
    for (const id of ids) {
      const [start, stop] = [tree.left[id], tree.right[id]];
      if (!member[id] || tree.rowOf[id] !== row) run = null; // a chain is underlined once
      else if (run && start <= run.stop) run.stop = Math.max(run.stop, stop);
      else runs.push(run = { row, level: tree.level[id], start, stop });
    }
  });
  return runs;
}

const relatives = () => lastly((/** @type {Tree} */ tree, /** @type {number} */ node) =>
  ({ above: ancestors(tree, node), below: descendantRuns(tree, node) }));

const ROLES = [{ role: /** @type {const} */ ("hover"), width: 1, alpha: 0.6, of: relatives() },
  { role: /** @type {const} */ ("selected"), width: 1.5, alpha: 1, of: relatives() }];

/** The ancestors of the selected and of the hovered node are outlined, what lies below them is
 *  underlined, row by row.
 * @type {Painter} */
export function drawLineage(s, ctx, half) {
  const { theme } = s.scene;
  const { text } = theme;
  for (const { role, width, alpha, of } of ROLES) {
    const node = s.attention[role];
    if (node === null || (role === "hover" && node === s.attention.selected)) continue;
    const { above, below } = of(s.scene.tree, node);
    ctx.globalAlpha = alpha;
    for (const other of above) {
      outline(theme, ctx, nodeRect(s, half, other), text, 1, { halo: false });
    }
    let last = null;
    for (const run of below) {
      const rect = runRect(s, half, run);
      if (!rect || (last?.y === rect.y && rect.x + rect.w < last.x + last.w + 1)) continue;
      footing(theme, ctx, rect, half, text, width);
      last = rect;
    }
    ctx.globalAlpha = 1;
  }
}

/** @type {(state: State, half: number, run: Run) => Rect | null} */
function runRect({ scene: { tree }, sight: { geom, view } }, half, { row, level, start, stop }) {
  const scale = geom.width / (view.x1 - view.x0);
  const x = Math.max(0, (start - view.x0) * scale);
  const right = Math.min(geom.width, (stop - view.x0) * scale);
  if (right <= x) return null;
  const lane = row - tree.firstRow[level];
  const { y, h } = rowBox(geom, half, level, lane, tree.laneCount[level]);
  return { x: geom.left + x, w: right - x, y, h };
}
