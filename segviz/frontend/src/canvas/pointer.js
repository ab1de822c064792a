// Mouse, touch and wheel on the canvas.

import { boxAt } from "./boxes.js";
import { onFrame, schedule } from "./frame.js";
import { rowAt } from "./geometry.js";
import { showIsolated } from "./legend.js";
import { fitNode, hover, jumpTo, panBy, select, unitsOf } from "./navigation.js";
import { insideView, zoomView } from "./view.js";

const DRAG_PIXELS = 4;

/** @param {State} s */
export function listenPointer(s) {
  onFrame(s, showCursor);
  /** @param {string} name
   * @param {(event: any) => void} act
   * @param {AddEventListenerOptions} [options] */
  const on = (name, act, options) => s.over.addEventListener(name, (event) => {
    if (s.data && s.geom) act(event);
  }, options);
  on("pointermove", (event) => movePointer(s, event));
  on("pointerdown", (event) => {
    s.dragged = false;
    if (event.button !== 0) return;
    s.history.kind = ""; // every drag can be taken back by itself
    s.drag = { x: event.offsetX, view: s.view, moved: false, id: event.pointerId };
  });
  on("pointerup", () => {
    s.dragged = s.drag?.moved ?? false; // the click that follows must not select
    s.drag = null;
    schedule(s);
  });
  on("pointercancel", () => { s.drag = null; });
  on("pointerleave", () => hover(s, null, null));
  on("click", (event) => {
    if (s.dragged) return;
    const session = sessionAt(s, event);
    if (session === null) select(s, nodeAt(s, event));
    else showIsolated(s, "session", session);
  });
  on("dblclick", (event) => fitNode(s, nodeAt(s, event)));
  on("wheel", (event) => turnWheel(s, event), { passive: false });
}

/** @param {State} state */
function showCursor({ over, drag, hover: node }) {
  over.style.cursor = drag?.moved ? "grabbing" : node !== null ? "pointer" : "default";
}

/** Node under the pointer, or null.
 * @param {State} s
 * @param {{ offsetX: number, offsetY: number }} given */
function nodeAt(s, { offsetX, offsetY }) {
  const x = offsetX - s.geom.left;
  const place = rowAt(s.geom, s.tree, offsetY);
  if (!place || x < -2 || x > s.geom.width + 2) return null;
  const found = boxAt(s.boxes[place.half], place.row, x);
  return s.data.level[found] >= 0 ? found : null; // boxes may be a frame older than the data
}

/** @param {State} s
 * @param {any} event */
function movePointer(s, event) {
  if (s.drag && !(event.buttons & 1)) s.drag = null; // released outside the canvas
  if (s.drag) {
    const shift = event.offsetX - s.drag.x;
    const { x0, x1 } = s.drag.view;
    const zoomed = x1 - x0 < unitsOf(s);
    if (!s.drag.moved && zoomed && Math.abs(shift) > DRAG_PIXELS) {
      s.drag.moved = true;
      s.over.setPointerCapture(s.drag.id);
      hover(s, null, null);
    }
    if (s.drag.moved) {
      const units = (shift / s.geom.width) * (x1 - x0);
      jumpTo(s, insideView(x0 - units, x1 - units, unitsOf(s)), "drag", false);
      return;
    }
  }
  const node = nodeAt(s, event);
  hover(s, node, sessionAt(s, event), event.offsetX, event.offsetY);
}

/** Session whose band on the axis is under the pointer, or null.
 * @param {State} s
 * @param {{ offsetX: number, offsetY: number }} given */
function sessionAt(s, { offsetX, offsetY }) {
  const { axisTop, axisHeight, left, width } = s.geom;
  if (offsetY < axisTop || offsetY >= axisTop + axisHeight) return null;
  if (offsetX < left || offsetX >= left + width) return null;
  const unit = s.view.x0 + ((offsetX - left) / width) * (s.view.x1 - s.view.x0);
  const session = s.runs[s.runOf[Math.floor(unit)]]?.session ?? -1;
  return session < 0 ? null : session;
}

/** @param {State} s
 * @param {any} event */
function turnWheel(s, event) {
  const { x0, x1 } = s.view;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault(); // a pinch on a touchpad arrives as ctrl + wheel, too
    const unit = x0 + ((event.offsetX - s.geom.left) / s.geom.width) * (x1 - x0);
    const step = Math.min(60, Math.abs(event.deltaY)) * -Math.sign(event.deltaY);
    const next = zoomView(s.view, Math.exp(step / 180), unit, unitsOf(s));
    jumpTo(s, next, "wheel", false);
  } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && x1 - x0 < unitsOf(s)) {
    event.preventDefault();
    panBy(s, event.deltaX / s.geom.width, "wheel", false);
  }
}
