// The row above the tree (where one is, finding, zooming) and the panel that names all keys
// and what the mouse does.

import { element } from "../shared/dom.js";
import { buildBreadcrumb } from "./breadcrumb.js";
import { onFrame } from "./frame.js";
import { fitNode, stepBack, zoomBy } from "./navigation.js";
import { buildFind } from "./search.js";

const KEYS = [
  ["↑ ↓", "parent, first child"],
  ["← →", "neighbour on the level"],
  ["Home End", "first leaf, newest leaf"],
  ["Enter", "select the node"],
  ["+ −", "zoom in, zoom out"],
  ["Shift ← →", "pan"],
  ["F", "fill the view with the node"],
  ["0", "show the whole conversation"],
  ["Esc", "end what is shown alone, or back to the view before"],
  ["/", "find text"],
  ["N, Shift N", "next hit, the one before"],
  ["?", "this list"],
];
const MOUSE = [
  ["Click", "select a node; on the axis or in the legend: show that alone"],
  ["Double click", "fill the view with it; beside the tree: show all"],
  ["Drag", "pan, where the view is zoomed"],
  ["Ctrl wheel", "zoom at the pointer"],
  ["Strip below", "drag the frame, its edges, or a new one"],
];

/** @param {State} s
 * @param {HTMLElement} parent */
export function buildHelp(s, parent) {
  const root = element("div", "help", parent);
  root.hidden = true;
  root.tabIndex = -1;
  root.setAttribute("role", "dialog");
  root.setAttribute("aria-label", "Keys and mouse");
  const close = element("button", "", root, "×");
  close.type = "button";
  close.title = "Close (Esc)";
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => showHelp(s, false));
  for (const { title, rows } of [{ title: "Keys, with the tree in focus", rows: KEYS },
    { title: "Mouse", rows: MOUSE }]) {
    const part = element("div", "part", root);
    element("div", "head", part, title);
    const list = element("dl", "", part);
    for (const [key, meaning] of rows) {
      element("dt", "", list, key);
      element("dd", "", list, meaning);
    }
  }
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" && event.key !== "?") return;
    event.preventDefault();
    showHelp(s, false);
  });
  s.help = root;
}

/** Opens or closes the panel; the keyboard goes in, and back to the tree.
 * @param {State} s
 * @param {boolean} open */
export function showHelp(s, open) {
  s.help.hidden = !open;
  s.helpButton.setAttribute("aria-expanded", String(open));
  s.root.dataset.help = String(open);
  (open ? s.help : s.over).focus({ preventScroll: true });
}

// --- the row -------------------------------------------------------------------------

/** @param {State} s
 * @param {HTMLElement} parent */
export function buildTools(s, parent) {
  const row = element("div", "tools", parent);
  onFrame(s, showTools);
  buildBreadcrumb(s, row);
  buildFind(s, row);
  const buttons = element("div", "buttons", row);
  /** @param {string} text
   * @param {string} label
   * @param {() => void} act */
  const button = (text, label, act) => {
    const made = element("button", "", buttons, text);
    made.type = "button";
    made.title = label;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", () => s.data && act());
    return made;
  };
  s.backButton = button("back", "Back to the view before (Esc)", () => stepBack(s));
  s.zoomIn = button("+", "Zoom in", () => zoomBy(s, 1.6));
  s.zoomOut = button("−", "Zoom out", () => zoomBy(s, 1 / 1.6));
  s.fit = button("fit", "Show the whole conversation", () => fitNode(s, null));
  s.helpButton = button("?", "Keys and mouse", () => showHelp(s, s.help.hidden));
  s.helpButton.setAttribute("aria-expanded", "false");
}

/** What of the row follows from the view.
 * @param {State} s */
function showTools(s) {
  const { goal, data, history } = s;
  const span = goal.x1 - goal.x0;
  s.zoomOut.disabled = s.fit.disabled = span >= data.total_units;
  s.zoomIn.disabled = span <= 3;
  s.backButton.disabled = !history.views.length;
}
