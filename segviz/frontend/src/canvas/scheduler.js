// When something is painted. A change asks for a frame; the frame paints the upper canvas
// and, if that change touched it, the lower one. Whatever else follows from the view or from
// the scores registers itself, so that this module knows none of the widgets.

import { cleared, lastly } from "../shared/dom.js";
import { answerOf } from "./answer.js";
import { visibleBoxes } from "./boxes.js";
import { geometry } from "./geometry.js";
import { drawOver } from "./outlines.js";
import { drawBase, FADE_MS } from "./paint.js";
import { recompute } from "./settings.js";
import { shadesOf } from "./node_color.js";
import { columnWeights, highestScore } from "./weights.js";

/** When something is painted, and what is kept from frame to frame. */
export const createFrames = () => ({ asked: 0, baseDirty: true, painted: 0, fadeFrom: 0,
  frameShows: /** @type {((s: State) => void)[]} */ ([]),
  scoreShows: /** @type {((s: State) => void)[]} */ ([]),
  /** Labels in the lines that their room has. */
  fitted: /** @type {Map<string, Placed & { widths: number[] }>} */ (new Map()) });

/** Calls `show(s)` at the end of every frame.
 * @type {(frames: Frames, show: (s: State) => void) => number} */
export const onFrame = (frames, show) => frames.frameShows.push(show);

/** Calls `show(s)` when scores, setting or colours have changed, before the frame.
 * @type {(frames: Frames, show: (s: State) => void) => number} */
export const onScores = (frames, show) => frames.scoreShows.push(show);

/** Asks for a frame; `base` repaints the boxes, too.
 * @type {(s: State, base?: boolean) => void} */
export function schedule(s, base = false) {
  const { frames } = s;
  frames.baseDirty ||= base;
  frames.asked ||= requestAnimationFrame(() => {
    frames.asked = 0;
    paint(s);
  });
}

/** @param {State} s */
function paint(s) {
  const { frames, elements } = s;
  const { clientWidth: width, clientHeight: height } = elements.stage;
  const { data } = s.scene;
  const drawn = data && !data.bare;
  if (!data || (drawn && !(width && height))) return;
  const started = performance.now();
  if (s.settings.stale) {
    recompute(s);
    showScores(s);
  }
  const base = frames.baseDirty;
  if (base && drawn) {
    layOut(s, width, height);
    drawBase(s, cleared(elements.base, width, height));
    frames.baseDirty = false;
  }
  if (drawn) drawOver(s, cleared(elements.over, width, height));
  for (const show of frames.frameShows) show(s);
  if (base) elements.root.dataset.drawMs = (performance.now() - started).toFixed(2);
  if (frames.fadeFrom) {
    if (performance.now() - frames.fadeFrom > FADE_MS) frames.fadeFrom = 0;
    schedule(s);
  }
}

/** Boxes by half: those of the initial scores stay as they are in a drag. */
const boxesOf = [0, 1].map(() => lastly(visibleBoxes));

/** Where everything lies on a canvas of so many pixels.
 * @type {(s: State, width: number, height: number) => void} */
export function layOut(s, width, height) {
  const { scene, sight } = s;
  const { data: { gutter, legend }, tree } = scene;
  sight.geom = geometry(width, height, scene.picture, gutter, tree.laneCount,
    { legend, taller: sight.taller });
  sight.boxes = columnWeights(scene).map((weight, half) =>
    boxesOf[half](tree, sight.view, sight.geom.width, weight.length ? weight : null));
}

/** All that follows from scores and setting alone.
 * @param {State} s */
export function showScores(s) {
  const { scene } = s;
  scene.most = highestScore(scene.data);
  scene.picture = scene.data.mode === "scores" && oneHalf(s)
    ? "change" : scene.data.mode;
  scene.shades = shadesOf(scene);
  // A small picture beside others has no room for more than the marks.
  scene.answer = scene.data.mode === "scores" && scene.data.legend ? answerOf(scene) : null;
  for (const show of s.frames.scoreShows) show(s);
}

/** Whether scores are drawn once: where that was chosen, and where canvases stand side by side.
 * @param {State} s */
const oneHalf = ({ scene: { data }, settings: { setting } }) =>
  setting?.drawing === "change" || !data.legend;
