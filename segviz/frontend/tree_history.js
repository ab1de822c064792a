// tree_history.js: the views a person has left, so that Escape leads back. Pure functions.

import { clampView } from "./tree_view.js";

const KEPT = 50;
const ONE_MOVE_MS = 1000; // turns of the wheel that follow so closely are one move

export const createHistory = () => ({ views: [], kind: "", at: -Infinity });

/** Keeps the view that is about to be left. Moves of one kind in quick succession count as
 *  one. A view of the whole conversation stays one while the conversation grows. */
export function remember(history, view, total, kind, now) {
  const same = kind === history.kind && now - history.at < ONE_MOVE_MS;
  Object.assign(history, { kind, at: now });
  if (same) return;
  history.views.push({ ...view, whole: view.x1 - view.x0 >= total });
  if (history.views.length > KEPT) history.views.shift();
}

/** The last view that differs from the present one, taken out; null if there is none. */
export function goBack(history, view, total) {
  history.kind = ""; // what follows is a move of its own
  while (history.views.length) {
    const { x0, x1, whole } = history.views.pop();
    const found = whole ? { x0: 0, x1: total } : clampView(x0, x1, total);
    if (found.x0 !== view.x0 || found.x1 !== view.x1) return found;
  }
  return null;
}
