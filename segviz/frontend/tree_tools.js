// tree_tools.js: the row above the tree: where one is, finding, zooming, help.

import { buildCrumbs } from "./tree_crumbs.js";
import { buildFind } from "./tree_find.js";
import { showHelp } from "./tree_help.js";
import { fitNode, stepBack, zoomBy } from "./tree_moves.js";
import { element } from "./tree_words.js";

export function buildTools(s, parent) {
  const row = element("div", "tools", parent);
  buildCrumbs(s, row);
  buildFind(s, row);
  const buttons = element("div", "buttons", row);
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

/** What of the row follows from the view. */
export function showTools(s) {
  const { goal, data, history } = s;
  const span = goal.x1 - goal.x0;
  s.zoomOut.disabled = s.fit.disabled = span >= data.total_units;
  s.zoomIn.disabled = span <= 3;
  s.backButton.disabled = !history.views.length;
}
