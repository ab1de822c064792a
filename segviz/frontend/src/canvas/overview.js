// While the view is zoomed, the whole conversation in one strip below the tree, with the visible
// part as a frame. The frame can be moved, pulled at its edges, or drawn anew beside it. All of it
// can also be done by keys on the tree, so the strip takes no focus.

import { cleared, element, isNews } from "../shared/dom.js";
import { onFrame } from "./frame.js";
import { jumpTo, unitsOf } from "./navigation.js";
import { clampView, insideView } from "./view.js";

const HEIGHT = 24;
const FEW_UNITS = 60; // these all have room in the tree itself
const MOVED_PIXELS = 3;
/** @typedef {"from" | "to" | "move" | "draw"} Grip */
const CURSORS = { from: "ew-resize", to: "ew-resize", move: "grab", draw: "crosshair" };

/** @param {State} s
 * @param {HTMLElement} parent */
export function buildOverview(s, parent) {
  const root = element("div", { className: "map", ariaHidden: "true" }, parent);
  const canvas = element("canvas", "", root);
  const frame = element("div", "frame", root);
  onFrame(s.frames, showOverview);
  /** @type {(name: string, act: (s: State, event: PointerEvent) => void) => void} */
  const on = (name, act) => root.addEventListener(name, (event) => {
    if (s.scene.data && s.sight.geom) act(s, /** @type {PointerEvent} */ (event));
  });
  on("pointerdown", takeHold);
  on("pointermove", pull);
  on("pointerup", letGo);
  on("pointercancel", () => { s.elements.overview.drag = null; });
  return { root, canvas, frame, width: 0, drawn: /** @type {unknown[]} */ ([]),
    drag: /** @type {{ grip: Grip, x: number, view: View, moved: boolean } | null} */ (null) };
}

// --- painting ------------------------------------------------------------------------

/** Brings the strip to the present view; its picture is drawn only if that has changed.
 * @param {State} s */
function showOverview(s) {
  const { scene, sight: { geom, view }, elements: { overview } } = s;
  const { data, theme } = scene;
  const { x0, x1 } = s.sight.goal;
  const whole = x1 - x0 >= unitsOf(scene); // the tree itself shows it then
  overview.root.hidden = !geom || !data.legend || whole
    || (data.mode !== "grow" && data.total_units <= FEW_UNITS);
  if (overview.root.hidden) return;
  const width = Math.round(geom.width);
  overview.width = width;
  overview.root.style.marginLeft = `${geom.left}px`;
  overview.root.style.width = `${width}px`;
  if (isNews(overview.drawn, [width, data, data.top_final, theme, s.search.hits])) {
    drawOverview(s, cleared(overview.canvas, width, HEIGHT), width);
  }
  const { x, w } = frameOf(view, unitsOf(scene), width);
  overview.frame.style.transform = `translateX(${x}px)`;
  overview.frame.style.width = `${w}px`;
  overview.frame.classList.toggle("whole", w >= width);
}

/** @type {(s: State, ctx: Ctx, width: number) => void} */
function drawOverview(s, ctx, width) {
  const { scene, search } = s;
  const { data, theme, tree } = scene;
  const scale = width / unitsOf(scene);
  for (const run of scene.runs) {
    ctx.fillStyle = run.session < 0 ? theme.unknown : data.session_colours[run.session];
    const [x, right] = [Math.round(run.start * scale), Math.round(run.stop * scale)];
    ctx.fillRect(x, 0, right - x, HEIGHT);
  }
  /** @param {number} node */
  const middle = (node) => Math.round(((tree.start[node] + tree.stop[node]) / 2) * scale);
  if (scene.picture === "grow") {
    ctx.globalAlpha = 0.72; // what has not been said yet
    ctx.fillStyle = theme.background;
    ctx.fillRect(tree.newest * scale, 0, width, HEIGHT);
    ctx.globalAlpha = 1;
  }
  for (const node of data.top_final) {
    ctx.fillStyle = theme.background;
    ctx.fillRect(middle(node) - 2, HEIGHT - 9, 4, 9);
    ctx.fillStyle = theme.accent;
    ctx.fillRect(middle(node) - 1, HEIGHT - 8, 2, 8);
  }
  ctx.fillStyle = theme.text;
  for (const node of search.hits) ctx.fillRect(middle(node) - 1, 0, 2, 4);
}

// --- pointer -------------------------------------------------------------------------

/** @type {(elements: Elements, pointerEvent: PointerEvent) => number} */
const placeOf = ({ overview: { root } }, { clientX }) =>
  clientX - root.getBoundingClientRect().left;
/** @type {(s: State, x: number) => number} */
const unitOf = ({ scene, elements: { overview } }, x) => (x / overview.width) * unitsOf(scene);
/** @type {(s: State, x: number) => Grip} */
const gripOf = ({ scene, sight, elements: { overview: { width } } }, x) =>
  gripAt(x, frameOf(sight.goal, unitsOf(scene), width), width);

/** @type {(s: State, event: PointerEvent) => void} */
function takeHold(s, event) {
  const { sight, elements } = s;
  if (event.button !== 0) return;
  event.preventDefault(); // no selection of text, and the keyboard stays where it is
  const x = placeOf(elements, event);
  elements.overview.drag = { grip: gripOf(s, x), x, view: sight.goal, moved: false };
  elements.overview.root.setPointerCapture(event.pointerId);
  sight.history.kind = ""; // every drag can be taken back by itself
}

/** @type {(s: State, event: PointerEvent) => void} */
function pull(s, event) {
  const { drag, root } = s.elements.overview;
  const x = placeOf(s.elements, event);
  if (!drag) {
    root.style.cursor = CURSORS[gripOf(s, x)];
    return;
  }
  if (!drag.moved && Math.abs(x - drag.x) < MOVED_PIXELS) return;
  drag.moved = true;
  if (drag.grip === "move") root.style.cursor = "grabbing";
  const [from, to] = [unitOf(s, drag.x), unitOf(s, x)];
  jumpTo(s, draggedView(drag.grip, drag.view, from, to, unitsOf(s.scene)), "map", false);
}

/** A click beside the frame brings the frame there.
 * @type {(s: State, event: PointerEvent) => void} */
function letGo(s, event) {
  const { sight } = s;
  const { drag } = s.elements.overview;
  s.elements.overview.drag = null;
  pull(s, event); // the cursor
  if (!drag || drag.moved || drag.grip !== "draw") return;
  const away = unitOf(s, drag.x) - (sight.goal.x0 + sight.goal.x1) / 2;
  jumpTo(s, draggedView("move", sight.goal, 0, away, unitsOf(s.scene)), "map");
}

// --- arithmetic: the frame, what a pointer takes hold of, where a drag leads ---------------

const LEAST_FRAME = 8; // a view of three units among 100,000 must still be seen and held
const GRIP = 5;

/** Where the visible window lies on an overview of so many pixels.
 * @type {(view: View, total: number, width: number) => { x: number, w: number }} */
export function frameOf(view, total, width) {
  const w = Math.min(width, Math.max(LEAST_FRAME, ((view.x1 - view.x0) / total) * width));
  const middle = ((view.x0 + view.x1) / 2 / total) * width;
  return { x: Math.min(Math.max(0, middle - w / 2), width - w), w };
}

/** What lies under x: an edge of the frame ("from", "to"), its inside ("move"), or neither,
 *  where a drag draws another one. A frame around everything cannot be moved.
 * @type {(x: number, frame: { x: number, w: number }, width: number) => Grip} */
export function gripAt(x, frame, width) {
  const inner = Math.min(GRIP, frame.w / 4);
  if (x >= frame.x - GRIP && x <= frame.x + inner) return "from";
  if (x <= frame.x + frame.w + GRIP && x >= frame.x + frame.w - inner) return "to";
  const inside = x > frame.x && x < frame.x + frame.w;
  return inside && frame.w < width ? "move" : "draw";
}

/** The view after a drag from one unit to another.
 * @type {(grip: string, view: View, from: number, to: number, total: number) => View} */
export function draggedView(grip, view, from, to, total) {
  const shift = to - from;
  if (grip === "move") return insideView(view.x0 + shift, view.x1 + shift, total);
  const ends = grip === "from" ? [view.x0 + shift, view.x1]
    : grip === "to" ? [view.x0, view.x1 + shift] : [from, to];
  const [x0, x1] = [Math.max(0, Math.min(...ends)), Math.min(total, Math.max(...ends))];
  return clampView(x0, x1, total);
}
