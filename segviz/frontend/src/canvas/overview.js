// While the view is zoomed, the whole conversation in one strip below the tree, with the visible
// part as a frame that can be moved. Keys on the tree can do that, too, so the strip takes no focus.

import { cleared, element, isNews, zoomOf } from "../shared/dom.js";
import { rightOf } from "./axis.js";
import { onFrame } from "./scheduler.js";
import { jumpTo, unitsOf } from "./navigation.js";
import { insideView } from "./view.js";

const HEIGHT = 24;
const LEAST_FRAME = 8; // a view of three units among 100,000 must still be seen and held

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
  for (const end of ["pointerup", "pointercancel"]) on(end, () => { s.elements.overview.held = null; });
  return { root, canvas, frame, width: 0, drawn: /** @type {unknown[]} */ ([]),
    /** Pixels from the frame's middle to where it is held. */
    held: /** @type {number | null} */ (null) };
}

// --- painting ------------------------------------------------------------------------

/** Brings the strip to the present view; its picture is drawn only if that has changed.
 * @param {State} s */
function showOverview(s) {
  const { scene, sight: { geom, view }, elements: { overview } } = s;
  const { data, theme } = scene;
  const whole = view.x1 - view.x0 >= unitsOf(scene); // the tree itself shows it then
  overview.root.hidden = !geom || !data.legend || whole;
  if (overview.root.hidden) return;
  const width = Math.round(geom.width);
  overview.width = width;
  overview.root.style.marginLeft = `${geom.left}px`;
  overview.root.style.width = `${width}px`;
  if (isNews(overview.drawn, [width, data, scene.axis, data.top_final, theme, s.search.hits])) {
    drawOverview(s, cleared(overview.canvas, width, HEIGHT), width);
  }
  const { x, w } = frameOf(view, unitsOf(scene), width);
  overview.frame.style.transform = `translateX(${x}px)`;
  overview.frame.style.width = `${w}px`;
}

/** @type {(s: State, ctx: Ctx, width: number) => void} */
function drawOverview(s, ctx, width) {
  const { scene, search } = s;
  const { data, theme, tree } = scene;
  const scale = width / unitsOf(scene);
  for (const run of scene.runs) {
    ctx.fillStyle = run.session < 0 ? theme.unknown : data.session_colours[run.session];
    const [x, right] = [Math.round(run.left * scale), Math.round(run.right * scale)];
    ctx.fillRect(x, 0, right - x, HEIGHT);
  }
  /** @param {number} node */
  const middle = (node) => Math.round(((tree.left[node] + tree.right[node]) / 2) * scale);
  if (scene.picture === "grow") {
    ctx.globalAlpha = 0.72; // what has not been said yet
    ctx.fillStyle = theme.background;
    ctx.fillRect(rightOf(scene.axis, tree.newest) * scale, 0, width, HEIGHT);
    ctx.globalAlpha = 1;
  }
  for (const node of data.top_final) {
    ctx.fillStyle = theme.background;
    ctx.fillRect(middle(node) - 2, HEIGHT - 9, 4, 9);
    ctx.fillStyle = theme.text;
    ctx.fillRect(middle(node) - 1, HEIGHT - 8, 2, 8);
  }
  ctx.fillStyle = theme.text;
  for (const node of search.hits) ctx.fillRect(middle(node) - 1, 0, 2, 4);
}

// --- pointer -------------------------------------------------------------------------

/** @type {(elements: Elements, pointerEvent: PointerEvent) => number} */
const placeOf = ({ overview: { root } }, { clientX }) =>
  (clientX - root.getBoundingClientRect().left) / zoomOf(root);
/** Takes hold of the frame; beside it, the frame comes to the pointer first.
 * @type {(s: State, event: PointerEvent) => void} */
function takeHold(s, event) {
  const { sight, elements: { overview } } = s;
  if (event.button !== 0) return;
  event.preventDefault(); // no selection of text, and the keyboard stays where it is
  const { x, w } = frameOf(sight.view, unitsOf(s.scene), overview.width);
  const away = placeOf(s.elements, event) - x - w / 2;
  overview.held = Math.abs(away) <= w / 2 ? away : 0;
  overview.root.setPointerCapture(event.pointerId);
  pull(s, event);
}

/** @type {(s: State, event: PointerEvent) => void} */
function pull(s, event) {
  const { sight: { view }, elements: { overview } } = s;
  if (overview.held === null) return;
  const total = unitsOf(s.scene);
  const middle = ((placeOf(s.elements, event) - overview.held) / overview.width) * total;
  const half = (view.x1 - view.x0) / 2;
  jumpTo(s, insideView(middle - half, middle + half, total));
}

/** Where the visible window lies on an overview of so many pixels.
 * @type {(view: View, total: number, width: number) => { x: number, w: number }} */
export function frameOf(view, total, width) {
  const w = Math.min(width, Math.max(LEAST_FRAME, ((view.x1 - view.x0) / total) * width));
  const middle = ((view.x0 + view.x1) / 2 / total) * width;
  return { x: Math.min(Math.max(0, middle - w / 2), width - w), w };
}
