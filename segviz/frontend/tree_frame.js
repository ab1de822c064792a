// tree_frame.js: when something is painted. A change asks for a frame; the frame paints the
// upper canvas and, if that change touched it, the lower one.

import { visibleBoxes } from "./tree_boxes.js";
import { cleared } from "./tree_canvas.js";
import { showControls } from "./tree_controls.js";
import { showCrumbs } from "./tree_crumbs.js";
import { recompute } from "./tree_dials.js";
import { geometry } from "./tree_geometry.js";
import { writeLegend } from "./tree_legend.js";
import { showLook } from "./tree_look.js";
import { showMap } from "./tree_map.js";
import { drawOver } from "./tree_marks.js";
import { mirror } from "./tree_mirror.js";
import { slide } from "./tree_motion.js";
import { FADE_MS, drawBase } from "./tree_paint.js";
import { shadesOf } from "./tree_shades.js";
import { showTools } from "./tree_tools.js";
import { columnWeights, highestScore } from "./tree_weights.js";

export function schedule(s, base = false) {
  s.baseDirty ||= base;
  s.frame ||= requestAnimationFrame(() => {
    s.frame = 0;
    paint(s);
  });
}

function paint(s) {
  const { clientWidth: width, clientHeight: height } = s.stage;
  if (!s.data || !width || !height) return;
  const started = performance.now();
  const base = slide(s) || s.baseDirty;
  if (s.dials.stale) {
    recompute(s);
    showScores(s);
  }
  if (base) {
    const { gutter, legend } = s.data;
    s.geom = geometry(width, height, s.picture, gutter, s.tree.laneCount, legend);
    s.boxes = columnWeights(s).map(
      (weight) => visibleBoxes(s.tree, s.view, s.geom.width, weight.length ? weight : null));
    drawBase(s, cleared(s.base, width, height));
    s.baseDirty = false;
  }
  drawOver(s, cleared(s.over, width, height));
  showMap(s);
  showTools(s);
  showCrumbs(s);
  mirror(s);
  if (base) s.root.dataset.drawMs = (performance.now() - started).toFixed(2);
  if (s.slide) schedule(s, true);
  if (s.fadeFrom) {
    if (performance.now() - s.fadeFrom > FADE_MS) s.fadeFrom = 0;
    schedule(s);
  }
}

/** All that follows from scores and setting alone. */
export function showScores(s) {
  s.most = highestScore(s.data);
  s.picture = s.data.mode === "scores" && s.dials.setting?.drawing === "change"
    ? "change" : s.data.mode;
  s.shades = shadesOf(s);
  showControls(s);
  showLook(s);
  writeLegend(s);
}
