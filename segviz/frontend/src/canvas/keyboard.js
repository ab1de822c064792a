// The keyboard on the canvas.

import { schedule } from "./frame.js";
import { showIsolated } from "./legend.js";
import { fitNode, hover, panBy, select, stepBack, walkTo, zoomBy } from "./navigation.js";
import { neighbour } from "./rows.js";
import { endSearch, walkHit } from "./search.js";
import { showHelp } from "./toolbar.js";

/** @param {State} s */
export function listenKeys(s) {
  s.over.addEventListener("keydown", (event) => {
    if (s.data && s.geom) pressKey(s, event);
  });
  s.over.addEventListener("focus", () => schedule(s));
  s.over.addEventListener("blur", () => {
    hover(s, null, null);
    schedule(s);
  });
}

const PAN_SHARE = 0.2;

/** @param {State} s
 * @param {KeyboardEvent} event */
function pressKey(s, event) {
  const { key, shiftKey } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = s.focus ?? s.selected;
  if (key === "Escape") {
    if (!leave(s)) return;
  } else if (key === "+" || key === "-") zoomBy(s, key === "+" ? 1.6 : 1 / 1.6);
  else if (key === "Enter" && s.focus !== null) select(s, s.focus);
  else if (key === "0") fitNode(s, null);
  else if (key === "f" && at !== null) fitNode(s, at);
  else if (key === "/") s.find.input.focus({ preventScroll: true });
  else if (key === "?") showHelp(s, true);
  else if (key === "n" || key === "N") walkHit(s, shiftKey);
  else if (shiftKey && (key === "ArrowLeft" || key === "ArrowRight")) {
    panBy(s, key === "ArrowLeft" ? -PAN_SHARE : PAN_SHARE, "pan");
  } else if (key.startsWith("Arrow") || key === "Home" || key === "End") {
    const first = key === "Home" ? key : "End"; // without a focus, start at the newest leaf
    walkTo(s, at === null ? neighbour(s.tree, -1, first) : neighbour(s.tree, at, key));
  } else return;
  event.preventDefault();
}

/** Escape: the help closes, or all colours come back, or the view goes back, or a search
 *  ends.
 * @param {State} s */
function leave(s) {
  if (!s.help.hidden) showHelp(s, false);
  else if (s.isolated) showIsolated(s, s.isolated.kind, s.isolated.key);
  else if (stepBack(s)) return true;
  else if (s.search.query) endSearch(s);
  else return false;
  return true;
}
