// The keyboard on the canvas, and the panel that names all keys and what the mouse does.

import { button, element, make } from "../shared/dom.js";
import { holdNone } from "./change_summary.js";
import { schedule } from "./scheduler.js";
import { showIsolated } from "./legend.js";
import { fitNode, hover, panBy, select, unitsOf, walkTo, zoomBy } from "./navigation.js";
import { neighbour } from "./rows.js";
import { endSearch, walkHit } from "./search.js";

/** @param {State} s */
export function listenKeys(s) {
  const { elements } = s;
  elements.over.addEventListener("keydown", (event) => {
    if (s.scene.data && s.sight.geom) pressKey(s, event);
  });
  // Outside of text fields "/" goes to the search of the first tree on the page.
  /** @param {KeyboardEvent} event */
  const toSearch = (event) => {
    const { find, root } = elements;
    if (event.key !== "/" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey
      || isTyped(event) || !find.input.checkVisibility()) return;
    event.preventDefault();
    find.input.focus();
    root.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", toSearch, true);
  elements.unslash = () => document.removeEventListener("keydown", toSearch, true);
  elements.over.addEventListener("keyup", ({ key }) => { if (key === "b" || key === "B") holdNone(s, false); });
  elements.over.addEventListener("focus", () => schedule(s));
  elements.over.addEventListener("blur", () => {
    hover(s, null, null);
    holdNone(s, false);
    schedule(s);
  });
}

/** Whether a key is typed into a field.
 * @param {KeyboardEvent} event */
const isTyped = (event) => {
  const at = /** @type {HTMLElement} */ (event.composedPath()[0]);
  return at.isContentEditable || at.matches?.("textarea, select, input:not([type=range], [type=radio], [type=checkbox])");
};

const PAN_SHARE = 0.2;

/** @type {(s: State, event: KeyboardEvent) => void} */
function pressKey(s, event) {
  const { attention } = s;
  const { key, shiftKey } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = attention.focus ?? attention.selected;
  if (key === "Escape") {
    if (!leave(s)) return;
  } else if (key === "+" || key === "-") zoomBy(s, key === "+" ? 1.6 : 1 / 1.6);
  else if (key === "Enter" && attention.focus !== null) select(s, attention.focus);
  else if (key === "0") fitNode(s, null);
  else if (key === "f" && at !== null) fitNode(s, at);
  else if (key === "/") s.elements.find.input.focus({ preventScroll: true });
  else if (key === "?") showHelp(s.elements, true);
  else if (key === "b" || key === "B") holdNone(s, true);
  else if (key === "n" || key === "N") walkHit(s, shiftKey);
  else if (shiftKey && (key === "ArrowLeft" || key === "ArrowRight")) {
    panBy(s, key === "ArrowLeft" ? -PAN_SHARE : PAN_SHARE);
  } else if (key.startsWith("Arrow") || key === "Home" || key === "End") {
    const first = key === "Home" ? key : "End"; // without a focus, start at the newest leaf
    walkTo(s, at === null ? neighbour(s.scene.tree, -1, first) : neighbour(s.scene.tree, at, key));
  } else return;
  event.preventDefault();
}

/** Escape: the help closes, or all colours come back, or the whole conversation, or a search
 *  ends.
 * @param {State} s */
function leave(s) {
  const { scene, sight: { view } } = s;
  if (!s.elements.help.hidden) showHelp(s.elements, false);
  else if (scene.isolated) showIsolated(s, scene.isolated.kind, scene.isolated.key);
  else if (view.x1 - view.x0 < unitsOf(scene)) fitNode(s, null);
  else if (s.search.query) endSearch(s);
  else return false;
  return true;
}

// --- the panel -------------------------------------------------------------------------

const KEYS = [
  ["↑ ↓", "parent, first child"],
  ["← →", "neighbour on the level"],
  ["Home End", "first leaf, newest leaf"],
  ["Enter", "select the node"],
  ["+ −", "zoom in, zoom out"],
  ["Shift ← →", "pan"],
  ["F", "fill the view with the node"],
  ["0", "show the whole conversation"],
  ["Esc", "end what is shown alone, or show the whole conversation"],
  ["/", "find text"],
  ["N, Shift N", "next hit, the one before"],
  ["B", "hold: compare with no propagation"],
  ["P", "present: larger, without controls; Esc ends it"],
  ["?", "this list"],
];
const MOUSE = [
  ["Click", "select a node; on the axis or in the legend: show that alone"],
  ["Double click", "fill the view with it; beside the tree: show all"],
  ["Drag", "pan, where the view is zoomed"],
  ["Ctrl wheel", "zoom at the pointer"],
  ["Strip below", "drag the frame, or click where it shall go"],
];

/** @type {(elements: Elements, parent: HTMLElement) => void} */
export function buildHelp(elements, parent) {
  const root = element("div", { className: "help", hidden: true, tabIndex: -1, role: "dialog",
    ariaLabel: "Keys and mouse" }, parent);
  button("", root, "×", () => showHelp(elements, false), "Close");
  for (const { title, rows } of [{ title: "Keys, with the tree in focus", rows: KEYS },
    { title: "Mouse", rows: MOUSE }]) {
    element("div", "part", root, make("div", "head", title), make("dl", "",
      ...rows.flatMap(([key, meaning]) => [make("dt", "", key), make("dd", "", meaning)])));
  }
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" && event.key !== "?") return;
    event.preventDefault();
    showHelp(elements, false);
  });
  elements.help = root;
}

/** Opens or closes the panel; the keyboard goes in, and back to the tree.
 * @type {(elements: Elements, open: boolean) => void} */
export function showHelp(elements, open) {
  elements.help.hidden = !open;
  elements.tools.help.ariaExpanded = String(open);
  (open ? elements.help : elements.over).focus({ preventScroll: true });
}
