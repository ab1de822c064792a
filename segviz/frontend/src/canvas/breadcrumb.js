// The path from the root to the node a person is at, as buttons.

import { element, focusedBeside } from "../shared/dom.js";
import { spanText } from "../shared/text.js";
import { onFrame } from "./frame.js";
import { pathTo } from "./lineage.js";
import { select } from "./navigation.js";

const MOST = 9; // of a longer path the ends are shown
const HINT = "Select a node to see the path to it.";

/** @param {State} s
 * @param {HTMLElement} parent */
export function buildBreadcrumb(s, parent) {
  const root = element("nav", "crumbs", parent);
  root.setAttribute("aria-label", "Path to the node");
  onFrame(s, showBreadcrumb);
  s.breadcrumb = { root, list: null, shown: [] };
}

/** The ends of a long path; null stands for what is left out.
 * @param {number[]} path
 * @param {number} [most] */
export function pathEnds(path, most = MOST) {
  if (path.length <= most) return path;
  return [path[0], null, ...path.slice(2 - most)];
}

/** @param {State} s */
function showBreadcrumb(s) {
  const { breadcrumb, tree, trail } = s;
  const depends = [tree, trail, s.selected, s.stage.clientWidth];
  if (depends.every((part, i) => part === breadcrumb.shown[i])) return;
  breadcrumb.shown = depends;
  const focused = breadcrumb.list?.contains(focusedBeside(s.root));
  breadcrumb.root.replaceChildren();
  s.root.dataset.path = "";
  if (trail === null) {
    element("span", "hint", breadcrumb.root, s.tree.active ? HINT : "");
    return;
  }
  const path = pathTo(tree, trail);
  s.root.dataset.path = path.slice(-MOST).join(" ");
  breadcrumb.list = element("ol", "", breadcrumb.root);
  for (const node of pathEnds(path)) crumb(s, breadcrumb.list, node);
  fit(breadcrumb.list);
  const buttons = breadcrumb.list.querySelectorAll("button");
  if (focused) buttons[buttons.length - 1]?.focus();
}

/** @param {State} s
 * @param {HTMLElement} list
 * @param {number | null} node */
function crumb(s, list, node) {
  const item = element("li", "", list);
  if (node === null) {
    element("span", "", item, "…");
    return;
  }
  const { level, start, stop } = s.tree;
  const here = node === s.trail;
  const where = spanText(start[node], stop[node]);
  const name = `L${level[node]}`;
  const button = element("button", "", item, here ? `${name} · ${where}` : name);
  button.type = "button";
  button.title = `Select node ${node}: level ${level[node]}, ${where}`;
  button.setAttribute("aria-label", button.title);
  if (here) button.setAttribute("aria-current", "true");
  button.addEventListener("click", () => select(s, node));
}

/** Leaves out ancestors, from the second on, until the rest has room.
 * @param {HTMLElement} list */
function fit(list) {
  let gap = list.children.length > 1 && !list.children[1].querySelector("button") ? 1 : 0;
  while (list.scrollWidth > list.clientWidth && list.children.length > 2 + gap) {
    list.children[1 + gap].remove();
    if (gap) continue;
    const item = document.createElement("li");
    element("span", "", item, "…");
    list.children[0].after(item);
    gap = 1;
  }
}
