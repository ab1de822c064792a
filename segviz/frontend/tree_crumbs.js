// tree_crumbs.js: the path from the root to the node a person is at, as buttons.

import { pathTo } from "./tree_kin.js";
import { select } from "./tree_moves.js";
import { spanText } from "./tree_text.js";
import { element } from "./tree_words.js";

const MOST = 9; // of a longer path the ends are shown
const HINT = "Select a node to see the path to it.";

export function buildCrumbs(s, parent) {
  const root = element("nav", "crumbs", parent);
  root.setAttribute("aria-label", "Path to the node");
  s.crumbs = { root, list: null, shown: [] };
}

/** The ends of a long path; null stands for what is left out. */
export function pathEnds(path, most = MOST) {
  if (path.length <= most) return path;
  return [path[0], null, ...path.slice(2 - most)];
}

export function showCrumbs(s) {
  const { crumbs, tree, trail } = s;
  const depends = [tree, trail, s.selected, s.stage.clientWidth];
  if (depends.every((part, i) => part === crumbs.shown[i])) return;
  crumbs.shown = depends;
  const focused = crumbs.list?.contains(s.root.getRootNode().activeElement);
  crumbs.root.replaceChildren();
  s.root.dataset.path = "";
  if (trail === null) {
    element("span", "hint", crumbs.root, s.tree.active ? HINT : "");
    return;
  }
  const path = pathTo(tree, trail);
  s.root.dataset.path = path.slice(-MOST).join(" ");
  crumbs.list = element("ol", "", crumbs.root);
  for (const node of pathEnds(path)) crumb(s, crumbs.list, node);
  fit(crumbs.list);
  if (focused) crumbs.list.lastChild.querySelector("button")?.focus();
}

function crumb(s, list, node) {
  const item = element("li", "", list);
  if (node === null) {
    element("span", "", item, "…");
    return;
  }
  const { level, start, stop } = s.tree;
  const here = node === s.trail;
  const where = spanText(start[node], stop[node]);
  const button = element("button", "", item, here ? `L${level[node]} · ${where}` : `L${level[node]}`);
  button.type = "button";
  button.title = `Select node ${node}: level ${level[node]}, ${where}`;
  button.setAttribute("aria-label", button.title);
  if (here) button.setAttribute("aria-current", "true");
  button.addEventListener("click", () => select(s, node));
}

/** Leaves out ancestors, from the second on, until the rest has room. */
function fit(list) {
  let gap = list.children.length > 1 && !list.children[1].querySelector("button");
  while (list.scrollWidth > list.clientWidth && list.children.length > 2 + gap) {
    list.children[1 + gap].remove();
    if (gap) continue;
    const item = document.createElement("li");
    element("span", "", item, "…");
    list.children[0].after(item);
    gap = true;
  }
}
