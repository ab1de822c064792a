// When something is painted. A change asks for a frame; the frame paints the upper canvas
// and, if that change touched it, the lower one. Whatever else follows from the view or from
// the scores registers itself, so that this module knows none of the widgets.

import { cleared } from "../shared/dom.js";
import { visibleBoxes } from "./boxes.js";
import { geometry } from "./geometry.js";
import { drawOver } from "./marks.js";
import { drawBase, FADE_MS } from "./paint.js";
import { recompute } from "./settings.js";
import { shadesOf } from "./shades.js";
import { slide } from "./view.js";
import { columnWeights, highestScore } from "./weights.js";

/** Calls `show(s)` at the end of every frame.
 * @param {State} s
 * @param {(s: State) => void} show */
export const onFrame = (s, show) => s.frameShows.push(show);

/** Calls `show(s)` when scores, setting or colours have changed, before the frame.
 * @param {State} s
 * @param {(s: State) => void} show */
export const onScores = (s, show) => s.scoreShows.push(show);

/** Asks for a frame; `base` repaints the boxes, too.
 * @param {State} s
 * @param {boolean} [base] */
export function schedule(s, base = false) {
  s.baseDirty ||= base;
  s.frame ||= requestAnimationFrame(() => {
    s.frame = 0;
    paint(s);
  });
}

/** @param {State} s */
function paint(s) {
  const { clientWidth: width, clientHeight: height } = s.stage;
  if (!s.data || !width || !height) return;
  const started = performance.now();
  const base = slide(s) || s.baseDirty;
  if (s.settings.stale) {
    recompute(s);
    showScores(s);
  }
  if (base) {
    layOut(s, width, height);
    drawBase(s, cleared(s.base, width, height));
    s.baseDirty = false;
  }
  drawOver(s, cleared(s.over, width, height));
  for (const show of s.frameShows) show(s);
  if (base) s.root.dataset.drawMs = (performance.now() - started).toFixed(2);
  if (s.slide) schedule(s, true);
  if (s.fadeFrom) {
    if (performance.now() - s.fadeFrom > FADE_MS) s.fadeFrom = 0;
    schedule(s);
  }
}

/** Where everything lies on a canvas of so many pixels.
 * @param {State} s
 * @param {number} width
 * @param {number} height */
export function layOut(s, width, height) {
  const { gutter, legend } = s.data;
  s.geom = geometry(width, height, s.picture, gutter, s.tree.laneCount, legend);
  s.boxes = columnWeights(s).map(
    (weight) => visibleBoxes(s.tree, s.view, s.geom.width, weight.length ? weight : null));
}

/** All that follows from scores and setting alone.
 * @param {State} s */
export function showScores(s) {
  s.most = highestScore(s.data);
  s.picture = s.data.mode === "scores" && s.settings.setting?.drawing === "change"
    ? "change" : s.data.mode;
  s.shades = shadesOf(s);
  for (const show of s.scoreShows) show(s);
}
