// What a person can do with the view, the selection and the keyboard's focus,
// whichever way it was asked for.

import { tellSelected } from "../shared/component.js";
import { isolateText } from "../shared/text.js";
import { schedule } from "./scheduler.js";
import { pointAt, shareView } from "./linked.js";
import { nodeLines, readOut } from "./readout.js";
import { clampView, insideView, zoomView } from "./view.js";

/** Length of the axis, which never is nothing.
 * @param {Scene} scene */
export const unitsOf = ({ data }) => data.total_units || 1;

/** Shows another part of the conversation.
 * @type {(s: State, view: View) => void} */
export function jumpTo(s, view) {
  if (view.x0 === s.sight.view.x0 && view.x1 === s.sight.view.x1) return;
  s.sight.view = view;
  schedule(s, true);
  shareView(s);
}

/** Zooms at the node a person is at, if that is in view, otherwise at the middle.
 * @type {(s: State, factor: number) => void} */
export function zoomBy(s, factor) {
  const { scene, attention } = s;
  const { x0, x1 } = s.sight.view;
  let anchor = (x0 + x1) / 2;
  if (attention.trail !== null) {
    const middle = (scene.tree.left[attention.trail] + scene.tree.right[attention.trail]) / 2;
    if (middle > x0 && middle < x1) anchor = middle;
  }
  jumpTo(s, zoomView(s.sight.view, factor, anchor, unitsOf(scene)));
}

/** Moves the view by a share of its own length.
 * @type {(s: State, share: number) => void} */
export function panBy(s, share) {
  const { x0, x1 } = s.sight.view;
  const units = share * (x1 - x0);
  jumpTo(s, insideView(x0 + units, x1 + units, unitsOf(s.scene)));
}

/** The node fills the view; null stands for the whole conversation.
 * @type {(s: State, node: number | null) => void} */
export function fitNode(s, node) {
  const { scene } = s;
  const total = unitsOf(scene);
  if (node === null) return jumpTo(s, { x0: 0, x1: total });
  const [start, stop] = [scene.tree.left[node], scene.tree.right[node]];
  const margin = (stop - start) * 0.04;
  return jumpTo(s, clampView(start - margin, stop + margin, total));
}

/** Pans so far that the node is in view.
 * @type {(s: State, node: number) => void} */
export function reveal(s, node) {
  const { scene, sight } = s;
  const [start, stop] = [scene.tree.left[node], scene.tree.right[node]];
  const half = (sight.view.x1 - sight.view.x0) / 2;
  if (stop > sight.view.x0 && start < sight.view.x1) return;
  const middle = (start + stop) / 2;
  jumpTo(s, insideView(middle - half, middle + half, unitsOf(scene)));
}

/** @type {(s: State, node: number | null) => void} */
export function select(s, node) {
  const { attention } = s;
  if (node !== null) attention.focus = node;
  attention.trail = node;
  if (node !== attention.selected) tellSelected(s, node);
  readOut(s);
  schedule(s);
}

/** @type {(s: State, node: number | null, session: number | null) => void} */
export function hover(s, node, session) {
  if (node !== s.attention.hover) schedule(s);
  s.attention.hover = node;
  pointAt(s, node);
  const title = session === null || node !== null ? "" : s.scene.data.session_titles[session];
  readOut(s, title ? [["head", isolateText(title)]] : null);
}

/** Moves the keyboard focus, brings it into view and says what it is, after what `before`
 *  says of the way there; `excerpt` takes the place of the node's text.
 * @type {(s: State, node: number, before?: string, excerpt?: string | null) => void} */
export function walkTo(s, node, before = "", excerpt = null) {
  const { attention } = s;
  if (node < 0) return;
  attention.focus = attention.trail = node;
  attention.hover = null;
  attention.excerpt = excerpt ? { node, text: excerpt } : null;
  pointAt(s, node);
  reveal(s, node);
  const words = nodeLines(s.scene, node).map(([kind, text]) =>
    (kind === "text" && excerpt ? isolateText(excerpt) : text));
  s.elements.live.textContent = before + words.filter(Boolean).join(". ");
  readOut(s);
  schedule(s);
}
