// tree_span.js: the arithmetic of the overview below the tree: its frame, what a pointer
// takes hold of, and the view a drag leads to. Pure functions.

import { clampView } from "./tree_view.js";

const LEAST_FRAME = 8; // a view of three units among 100,000 must still be seen and held
const GRIP = 5;

/** Where the visible window lies on an overview of so many pixels. */
export function frameOf(view, total, width) {
  const w = Math.min(width, Math.max(LEAST_FRAME, ((view.x1 - view.x0) / total) * width));
  const middle = ((view.x0 + view.x1) / 2 / total) * width;
  return { x: Math.min(Math.max(0, middle - w / 2), width - w), w };
}

/** What lies under x: an edge of the frame ("from", "to"), its inside ("move"), or neither,
 *  where a drag draws another one. A frame around everything cannot be moved. */
export function gripAt(x, frame, width) {
  const inner = Math.min(GRIP, frame.w / 4);
  if (x >= frame.x - GRIP && x <= frame.x + inner) return "from";
  if (x <= frame.x + frame.w + GRIP && x >= frame.x + frame.w - inner) return "to";
  const inside = x > frame.x && x < frame.x + frame.w;
  return inside && frame.w < width ? "move" : "draw";
}

/** The view after a drag from one unit to another. */
export function draggedView(grip, view, from, to, total) {
  const shift = to - from;
  if (grip === "move") return insideView(view.x0 + shift, view.x1 + shift, total);
  const ends = grip === "from" ? [view.x0 + shift, view.x1]
    : grip === "to" ? [view.x0, view.x1 + shift] : [from, to];
  const [x0, x1] = [Math.max(0, Math.min(...ends)), Math.min(total, Math.max(...ends))];
  return clampView(x0, x1, total);
}

/** A view of the same length that has been pushed back inside [0, total]. */
export function insideView(x0, x1, total) {
  const span = Math.min(x1 - x0, total);
  const from = Math.min(Math.max(0, x0), total - span);
  return clampView(from, from + span, total);
}

/** For each pixel column the heaviest node over it, -1 for none. */
export function heaviestColumns(ids, start, stop, weight, total, width) {
  const best = new Int32Array(width).fill(-1);
  const scale = width / total;
  for (const id of ids) {
    const first = Math.floor(start[id] * scale);
    const last = Math.min(width, Math.max(first + 1, Math.ceil(stop[id] * scale)));
    for (let x = first; x < last; x++) {
      if (best[x] < 0 || weight[id] > weight[best[x]]) best[x] = id;
    }
  }
  return best;
}
