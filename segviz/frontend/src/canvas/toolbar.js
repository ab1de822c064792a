// The row above the tree: finding, zooming; and the path to the node, below it.

import { button, element, focusedBeside, isNews, make } from "../shared/dom.js";
import { pathTo } from "../shared/links.js";
import { isolateText, levelsText, spanText } from "../shared/text.js";
import { onFrame } from "./scheduler.js";
import { showHelp } from "./keyboard.js";
import { switchClock } from "./layout.js";
import { fitNode, select, zoomBy } from "./navigation.js";
import { buildFind } from "./search.js";

/** @param {State} s
 * @param {HTMLElement} parent */
export function buildTools(s, parent) {
  const { elements } = s;
  const row = element("div", "tools", parent);
  onFrame(s.frames, showTools);
  onFrame(s.frames, showBreadcrumb);
  const crumbs = make("nav", { className: "crumbs", ariaLabel: "Path to the node" });
  elements.find = buildFind(s, row);
  // On Ask what is rarely needed is in a panel that a button opens.
  const more = button("more", row, "⋯", () => openMore(s, more.ariaExpanded !== "true"), "Zoom, colours, labels, keys");
  const panel = element("div", "extra", row);
  openMore(s, false, more);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") openMore(s, false, more).focus();
  });
  const buttons = element("div", "buttons", panel);
  /** @type {(text: string, label: string, act: () => void) => HTMLButtonElement} */
  const tool = (text, label, act) => button("", buttons, text, () => s.scene.data && act(), label);
  const closer = tool("+", "Zoom in", () => zoomBy(s, 1.6));
  const wider = tool("−", "Zoom out", () => zoomBy(s, 1 / 1.6));
  const whole = tool("fit", "Show the whole conversation (Esc)", () => fitNode(s, null));
  const taller = tool("tall", "A taller drawing, with room for more titles", () => {
    s.sight.taller = !s.sight.taller;
    giveHeight(s);
  });
  taller.ariaPressed = "false";
  const clock = tool("clock", "Draw time by clock, with the waits between turns; long ones are cut (//)",
    () => switchClock(s));
  clock.ariaPressed = "false";
  const help = tool("?", "Keys and mouse", () => showHelp(elements, elements.help.hidden));
  help.ariaExpanded = "false";
  return { crumbs, more, panel, shown: /** @type {unknown[]} */ ([]), closer, wider, whole, taller, clock, help };
}

/** Opens or closes the panel of rare tools.
 * @type {(s: State, open: boolean, more?: HTMLElement) => HTMLElement} */
function openMore(s, open, more = s.elements.tools.more) {
  return Object.assign(more, { ariaExpanded: String(open) });
}

const TALLER = 1.7; // times the height that the page gives
const [LEAST, AROUND] = [260, 264]; // pixels of a stage, and of the page around it

/** As high as the page wants it, or a person.
 * @param {State} s */
export function giveHeight({ elements: { root, stage, tools }, sight: { taller }, scene: { data } }) {
  const times = taller ? TALLER : 1;
  // The first screen holds a tree that stands alone, and the list beside it.
  const alone = data.stage_height && !taller ? `min(${data.stage_height}px, max(${LEAST}px, 100vh - ${AROUND}px))` : "";
  stage.style.height = alone || (data.stage_height ? `${data.stage_height * times}px` : "");
  root.style.height = data.height ? `calc(${times} * ${data.height})` : "";
  tools.taller.ariaPressed = String(taller);
  tools.taller.hidden = !data.stage_height && !data.height;
}

/** What of the row follows from the view.
 * @param {State} s */
function showTools(s) {
  const { elements: { tools }, sight: { view }, scene: { data, look } } = s;
  tools.clock.hidden = !data.waits.length;
  tools.clock.ariaPressed = String(!!look.axis && data.waits.length > 0);
  const span = view.x1 - view.x0;
  tools.wider.disabled = tools.whole.disabled = span >= data.total_units;
  tools.closer.disabled = span <= 3;
}

// --- the path from the root to the node a person is at, as buttons -------------------------

const MOST = 9; // of a longer path the ends are shown

/** The ends of a long path; null stands for what is left out.
 * @param {number[]} path */
export const pathEnds = (path) =>
  (path.length <= MOST ? path : [path[0], null, ...path.slice(2 - MOST)]);

/** @param {State} s */
function showBreadcrumb(s) {
  const { elements: { tools: { crumbs, shown }, root, stage }, scene: { tree } } = s;
  const { trail, selected } = s.attention;
  if (!isNews(shown, [tree, trail, selected, stage.clientWidth])) return;
  const focused = crumbs.contains(focusedBeside(root));
  root.dataset.path = "";
  if (trail === null) {
    crumbs.replaceChildren();
    return;
  }
  const path = pathTo(tree, trail);
  root.dataset.path = path.slice(-MOST).join(" ");
  const list = make("ol", "", ...pathEnds(path).map((node) => crumb(s, node)));
  crumbs.replaceChildren(list);
  if (focused) [...list.querySelectorAll("button")].at(-1)?.focus();
}

/** @type {(s: State, node: number | null) => HTMLLIElement} */
function crumb(s, node) {
  if (node === null) return make("li", "", make("span", "", "…"));
  const { level, top, start, stop } = s.scene.tree;
  const here = node === s.attention.trail;
  const where = spanText(start[node], stop[node]);
  const called = s.scene.data.names[node];
  const place = `L${level[node]}${top[node] > level[node] ? `–${top[node]}` : ""}`;
  const name = called ? isolateText(called) : place;
  const text = here && !called ? `${place} · ${where}` : name; // the line below says the rest
  const item = make("li");
  const made = button("", item, text, () => select(s, node),
    `Select node ${node}: ${levelsText(level[node], top[node])}, ${where}`);
  if (here) made.ariaCurrent = "true";
  return item;
}
