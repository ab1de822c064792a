// tree_motion.js: a jump of the view is drawn as a short slide, so that the eye keeps its
// place. `s.goal` is where the view goes, `s.view` what is drawn now; all that a person does
// starts from the goal. Whoever asks for reduced motion sees no slide.

const MOVE_MS = 180;

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function moveView(s, goal, smooth) {
  const slides = smooth && s.view && s.geom && !isStill();
  s.goal = goal;
  s.slide = slides ? { from: s.view, began: performance.now() } : null;
  if (!slides) s.view = goal;
}

/** Brings the drawn view to the present moment. Did it move? */
export function slide(s) {
  if (!s.slide) return false;
  const share = (performance.now() - s.slide.began) / MOVE_MS;
  s.view = between(s.slide.from, s.goal, share);
  if (share >= 1) s.slide = null;
  return true;
}

/** The view at a share of the way, quick at first. */
export function between(from, to, share) {
  if (share >= 1) return to;
  const left = (1 - Math.max(0, share)) ** 3;
  return { x0: to.x0 + (from.x0 - to.x0) * left, x1: to.x1 + (from.x1 - to.x1) * left };
}
