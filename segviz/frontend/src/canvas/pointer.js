// Mouse, touch and wheel on the canvas.

import { placeIn } from "../shared/dom.js";
import { unitAt, unitsBefore } from "./axis.js";
import { boxAt } from "./boxes.js";
import { candidateAt } from "./candidates.js";
import { onFrame, schedule } from "./scheduler.js";
import { rowAt } from "./geometry.js";
import { markAt } from "./rank_marks.js";
import { showIsolated } from "./legend.js";
import { nowPixel } from "./margin.js";
import { fitNode, hover, jumpTo, panBy, select, unitsOf } from "./navigation.js";
import { insideView, zoomView } from "./view.js";

const DRAG_PIXELS = 4;

/** @param {State} s */
export function listenPointer(s) {
  const { sight, attention } = s;
  onFrame(s.frames, showCursor);
  /** @type {(name: string, act: (event: any) => void,
   *    options?: AddEventListenerOptions) => void} */
  const on = (name, act, options) => s.elements.over.addEventListener(name, (event) => {
    if (s.scene.data && sight.geom) act(event);
  }, options);
  on("pointermove", (event) => movePointer(s, event));
  on("pointerdown", (event) => {
    attention.dragged = false;
    if (event.button !== 0) return;
    const now = isOnNow(s, event);
    attention.drag = { x: placeIn(event).x, view: sight.view, moved: now, now, id: event.pointerId };
    if (now) s.elements.over.setPointerCapture(event.pointerId);
  });
  on("pointerup", () => {
    attention.dragged = attention.drag?.moved ?? false; // the click that follows must not select
    const { now } = attention;
    if (attention.drag?.now && now !== null && now !== s.scene.data.now) s.tell("asked", now);
    else attention.now = null;
    attention.drag = null;
    schedule(s);
  });
  on("pointercancel", () => { attention.drag = attention.now = null; });
  on("pointerleave", () => {
    attention.under = null;
    hover(s, null, null);
  });
  on("click", (event) => {
    if (attention.dragged) return;
    const node = nodeAt(s, event);
    const session = node === null ? sessionAt(s, event) : null;
    if (session === null) select(s, node);
    else showIsolated(s, "session", session);
  });
  on("dblclick", (event) => fitNode(s, nodeAt(s, event)));
  on("wheel", (event) => turnWheel(s, event), { passive: false });
}

/** @param {State} state */
function showCursor({ elements: { over }, attention: { drag, onNow, hover: node } }) {
  over.style.cursor = onNow || drag?.now ? "ew-resize" : drag?.moved ? "grabbing" : node !== null ? "pointer" : "default";
}

/** Node under the pointer, or null.
 * @type {(s: State, event: MouseEvent) => number | null} */
function nodeAt(s, event) {
  const { sight } = s;
  const at = placeIn(event);
  const x = at.x - sight.geom.left;
  const judged = candidateAt(sight, at.x, at.y);
  if (judged !== null) return judged;
  const marked = s.scene.picture === "grow" ? null : markAt(sight, at.x, at.y);
  if (marked !== null) return marked;
  const place = rowAt(sight.geom, s.scene.tree, at.y);
  if (!place || x < -2 || x > sight.geom.width + 2) return null;
  const found = boxAt(sight.boxes[place.half], place.row, x);
  return s.scene.data.level[found] >= 0 ? found : null; // boxes may be a frame older than the data
}

const NEAR_NOW = 5; // pixels from the line at which it is held

/** Whether the pointer is on the "now" line that can be moved.
 * @type {(s: State, event: MouseEvent) => boolean} */
function isOnNow(s, event) {
  const { x, y } = placeIn(event);
  const { geom } = s.sight;
  const foot = geom.axisTop + geom.axisHeight + (geom.halves > 1 ? geom.rows.total : 0);
  return s.scene.data.now !== null && y >= geom.top && y <= foot && Math.abs(x - nowPixel(s)) <= NEAR_NOW;
}

/** Moves the "now" line to the pointer.
 * @type {(s: State, x: number) => void} */
function moveNow(s, x) {
  const { geom, view } = s.sight;
  const place = view.x0 + ((x - geom.left) / geom.width) * (view.x1 - view.x0);
  s.attention.now = unitsBefore(s.scene.axis, place, unitsOf(s.scene));
  schedule(s, true);
}

/** @type {(s: State, event: any) => void} */
function movePointer(s, event) {
  const { attention } = s;
  if (attention.drag && !(event.buttons & 1)) attention.drag = attention.now = null; // released outside
  if (attention.drag?.now) return moveNow(s, placeIn(event).x);
  const onNow = isOnNow(s, event);
  if (onNow !== attention.onNow) schedule(s);
  attention.onNow = onNow;
  if (attention.drag) {
    const shift = placeIn(event).x - attention.drag.x;
    const { x0, x1 } = attention.drag.view;
    const zoomed = x1 - x0 < unitsOf(s.scene);
    if (!attention.drag.moved && zoomed && Math.abs(shift) > DRAG_PIXELS) {
      attention.drag.moved = true;
      s.elements.over.setPointerCapture(attention.drag.id);
      attention.under = null;
      hover(s, null, null);
    }
    if (attention.drag.moved) {
      const units = (shift / s.sight.geom.width) * (x1 - x0);
      jumpTo(s, insideView(x0 - units, x1 - units, unitsOf(s.scene)));
      return;
    }
  }
  const node = nodeAt(s, event);
  attention.under = node;
  attention.half = placeIn(event).y > s.sight.geom.axisTop && s.sight.geom.halves > 1 ? 1 : 0;
  hover(s, node, sessionAt(s, event));
}

/** Session whose band on the axis is under the pointer, or null.
 * @type {(s: State, event: MouseEvent) => number | null} */
function sessionAt(s, event) {
  const [{ sight }, { x, y }] = [s, placeIn(event)];
  const { axisTop, axisHeight, left, width } = sight.geom;
  if (y < axisTop || y >= axisTop + axisHeight) return null;
  if (x < left || x >= left + width) return null;
  const place = sight.view.x0 + ((x - left) / width) * (sight.view.x1 - sight.view.x0);
  const session = s.scene.runs[s.scene.runOf[unitAt(s.scene.axis, place)]]?.session ?? -1;
  return session < 0 ? null : session;
}

/** @type {(s: State, event: any) => void} */
function turnWheel(s, event) {
  const { sight } = s;
  const { x0, x1 } = sight.view;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault(); // a pinch on a touchpad arrives as ctrl + wheel, too
    const unit = x0 + ((placeIn(event).x - sight.geom.left) / sight.geom.width) * (x1 - x0);
    const step = Math.min(60, Math.abs(event.deltaY)) * -Math.sign(event.deltaY);
    const next = zoomView(sight.view, Math.exp(step / 180), unit, unitsOf(s.scene));
    jumpTo(s, next);
  } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && x1 - x0 < unitsOf(s.scene)) {
    event.preventDefault();
    panBy(s, event.deltaX / sight.geom.width);
  }
}
