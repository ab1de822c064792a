// The *view* {x0, x1} is the visible range of units: zooming, sliding, and the way back.

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

// --- sliding ---------------------------------------------------------------------------
//
// A jump of the view is drawn as a short slide, so that the eye keeps its
// place. `s.goal` is where the view goes, `s.view` what is drawn now; all that a person does
// starts from the goal. Whoever asks for reduced motion sees no slide.

const MOVE_MS = 180;

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** @type {(sight: Sight, goal: View, smooth: boolean) => void} */
export function moveView(sight, goal, smooth) {
  const slides = smooth && sight.view && sight.geom && !isStill();
  sight.goal = goal;
  sight.slide = slides ? { from: sight.view, began: performance.now() } : null;
  if (!slides) sight.view = goal;
}

/** Brings the drawn view to the present moment. Did it move?
 * @param {Sight} sight */
export function slide(sight) {
  if (!sight.slide) return false;
  const share = (performance.now() - sight.slide.began) / MOVE_MS;
  sight.view = between(sight.slide.from, sight.goal, share);
  if (share >= 1) sight.slide = null;
  return true;
}

/** The view at a share of the way, quick at first.
 * @type {(from: View, to: View, share: number) => View} */
export function between(from, to, share) {
  if (share >= 1) return to;
  const left = (1 - Math.max(0, share)) ** 3;
  return { x0: to.x0 + (from.x0 - to.x0) * left, x1: to.x1 + (from.x1 - to.x1) * left };
}

/** A view of the same length that has been pushed back inside [0, total].
 * @type {(x0: number, x1: number, total: number) => View} */
export function insideView(x0, x1, total) {
  const span = Math.min(x1 - x0, total);
  const from = Math.min(Math.max(0, x0), total - span);
  return clampView(from, from + span, total);
}
