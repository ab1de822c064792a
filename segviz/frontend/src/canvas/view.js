// The *view* {x0, x1} is the visible range of units.

const SMALLEST_VIEW = 3;

/** A view inside [0, total] of at least three units (or all of them).
 * @type {(x0: number, x1: number, total: number) => View} */
export function clampView(x0, x1, total) {
  const span = Math.min(total, Math.max(Math.min(SMALLEST_VIEW, total), x1 - x0));
  const from = Math.min(Math.max(0, (x0 + x1 - span) / 2), total - span);
  return { x0: from, x1: from + span };
}

/** Zoom so that the unit `anchor` keeps its place on the screen.
 * @type {(view: View, factor: number, anchor: number, total: number) => View} */
export function zoomView(view, factor, anchor, total) {
  const span = Math.min(total, Math.max(SMALLEST_VIEW, (view.x1 - view.x0) / factor));
  const share = (anchor - view.x0) / (view.x1 - view.x0);
  const x0 = anchor - share * span;
  return clampView(x0, x0 + span, total);
}

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** A view of the same length that has been pushed back inside [0, total].
 * @type {(x0: number, x1: number, total: number) => View} */
export function insideView(x0, x1, total) {
  const span = Math.min(x1 - x0, total);
  const from = Math.min(Math.max(0, x0), total - span);
  return clampView(from, from + span, total);
}
