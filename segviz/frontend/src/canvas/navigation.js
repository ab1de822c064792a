// What a person can do with the view, the selection and the keyboard's focus,
// whichever way it was asked for.

import { isolateText } from "../shared/text.js";
import { nodeRect } from "./boxes.js";
import { schedule } from "./frame.js";
import { pointAt } from "./linked.js";
import { hideTip, nodeLines, showNode, showTip } from "./tooltip.js";
import { clampView, goBack, insideView, moveView, remember, zoomView } from "./view.js";

/** Length of the axis, which never is nothing.
 * @param {State} state */
export const unitsOf = ({ data }) => data.total_units || 1;

/** Shows another part of the conversation, from which Escape leads back. `kind` names the
 *  move; a slide is for jumps, not for what follows the pointer.
 * @param {State} s
 * @param {View} view
 * @param {string} kind
 * @param {boolean} [slides] */
export function jumpTo(s, view, kind, slides = true) {
  const { goal, history } = s;
  if (view.x0 === goal.x0 && view.x1 === goal.x1) return;
  remember(history, goal, unitsOf(s), kind, performance.now());
  goTo(s, view, slides);
}

/** @param {State} s
 * @param {View} view
 * @param {boolean} slides */
function goTo(s, view, slides) {
  hideTip(s); // it belongs to a place that moves away
  moveView(s, view, slides);
  schedule(s, true);
}

/** Returns to the view before; without one, to the whole. Was there anything to do?
 * @param {State} s */
export function stepBack(s) {
  const total = unitsOf(s);
  const goal = goBack(s.history, s.goal, total) ?? { x0: 0, x1: total };
  if (goal.x0 === s.goal.x0 && goal.x1 === s.goal.x1) return false;
  goTo(s, goal, true);
  return true;
}

/** Zooms at the node a person is at, if that is in view, otherwise at the middle.
 * @param {State} s
 * @param {number} factor */
export function zoomBy(s, factor) {
  const { x0, x1 } = s.goal;
  let anchor = (x0 + x1) / 2;
  if (s.trail !== null) {
    const middle = (s.tree.start[s.trail] + s.tree.stop[s.trail]) / 2;
    if (middle > x0 && middle < x1) anchor = middle;
  }
  jumpTo(s, zoomView(s.goal, factor, anchor, unitsOf(s)), "zoom");
}

/** Moves the view by a share of its own length.
 * @param {State} s
 * @param {number} share
 * @param {string} kind
 * @param {boolean} [slides] */
export function panBy(s, share, kind, slides = true) {
  const { x0, x1 } = s.goal;
  const units = share * (x1 - x0);
  jumpTo(s, insideView(x0 + units, x1 + units, unitsOf(s)), kind, slides);
}

/** The node fills the view; null stands for the whole conversation.
 * @param {State} s
 * @param {number | null} node */
export function fitNode(s, node) {
  const total = unitsOf(s);
  if (node === null) return jumpTo(s, { x0: 0, x1: total }, "fit");
  const [start, stop] = [s.tree.start[node], s.tree.stop[node]];
  const margin = (stop - start) * 0.04;
  return jumpTo(s, clampView(start - margin, stop + margin, total), "fit");
}

/** Pans so far that the node is in view.
 * @param {State} s
 * @param {number} node */
export function reveal(s, node) {
  const [start, stop] = [s.tree.start[node], s.tree.stop[node]];
  const half = (s.goal.x1 - s.goal.x0) / 2;
  if (stop > s.goal.x0 && start < s.goal.x1) return;
  const middle = (start + stop) / 2;
  jumpTo(s, insideView(middle - half, middle + half, unitsOf(s)), "reveal");
}

/** @param {State} s
 * @param {number | null} node */
export function select(s, node) {
  if (node !== null) s.focus = node;
  s.trail = node;
  if (node !== s.selected) {
    s.selected = node;
    s.send(node);
  }
  schedule(s);
}

/** @param {State} s
 * @param {number | null} node
 * @param {number | null} session
 * @param {number} [x]
 * @param {number} [y] */
export function hover(s, node, session, x = 0, y = 0) {
  if (node !== s.hover) schedule(s);
  s.hover = node;
  pointAt(s, node);
  hideTip(s);
  if (node !== null) showNode(s, node, x, y);
  else if (session !== null && session >= 0) {
    showTip(s, [["head", isolateText(s.data.session_titles[session])]], x, y);
  }
}

/** Moves the keyboard focus, brings it into view and says what it is, after what `before`
 *  says of the way there; `excerpt` takes the place of the node's text.
 * @param {State} s
 * @param {number} node
 * @param {string} [before]
 * @param {string | null} [excerpt] */
export function walkTo(s, node, before = "", excerpt = null) {
  if (node < 0) return;
  s.focus = s.trail = node;
  pointAt(s, node);
  reveal(s, node);
  let lines = nodeLines(s, node);
  if (excerpt) {
    lines = [...lines.filter(([kind]) => kind !== "text"), ["text", isolateText(excerpt)]];
  }
  s.live.textContent = before + lines.map(([, text]) => text).filter(Boolean).join(". ");
  const rect = nodeRect({ ...s, view: s.goal }, 0, node); // where it will be after the slide
  if (rect) {
    showNode(s, node, rect.x + rect.w / 2, rect.y + rect.h / 2);
    if (excerpt) showTip(s, lines, ...s.tipAt);
  }
  schedule(s);
}
