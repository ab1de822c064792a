// Rows about nodes, in groups: what is kept of one node, and other nodes to go to. A click
// or Enter on a row that names a node tells Python which.

import { element, make } from "../shared/dom.js";
import {
  allOf, firstPart, lengthOf, lineBlocks, matchedPieces, moreButton, replaceRows,
} from "../shared/lines.js";
import { reading } from "../shared/component.js";

/** @param {NodeItem} item
 * @param {(node: number) => void} pick */
function nodeRow(item, pick) {
  const line = make("button", { type: "button", className: "entry" },
    make("div", "head", make("span", "place", item.head),
      item.note && make("span", "move", item.note)),
    make("div", "text", ...lineBlocks([["same", item.text]])));
  line.dataset.node = String(item.node);
  line.onclick = () => pick(Number(item.node));
  return line;
}

/** @param {NodeListing} list
 * @param {NodeItem} item
 * @param {string} key */
function textRow(list, item, key) {
  const shown = list.opened.has(key) ? allOf(item) : firstPart(item.text);
  return make("div", "fact", item.head && make("div", "head", item.head),
    make("div", "body", ...lineBlocks(matchedPieces(shown, item.matches))),
    moreButton(list, key, item, fill, item.head || "text"));
}

/** @param {NodeListing} list */
function fill(list) {
  replaceRows(list, list.groups.flatMap(({ title, items }, i) => [
    ...title ? [make("div", { className: "session", role: "heading", ariaLevel: "4" }, title)] : [],
    ...items.map((item, j) => (item.node === undefined
      ? textRow(list, item, `${i} ${j} ${lengthOf(item)}`) : nodeRow(item, list.pick)))]));
}

export default reading(mount);

/** @param {Mount<any>} component */
function mount({ data, parentElement, setTriggerValue }) {
  let list = /** @type {NodeListing | null} */ (parentElement.querySelector(".nodes"));
  if (!list) {
    list = /** @type {NodeListing} */ (/** @type {HTMLElement} */ (
      element("div", { className: "nodes", tabIndex: 0, role: "region" }, parentElement)));
    list.opened = new Set();
  }
  list.ariaLabel = data.label;
  list.style.maxHeight = data.height + "px";
  list.groups = data.groups;
  list.pick = (node) => setTriggerValue("node", node);
  list.whole = (name) => setTriggerValue("whole", name);
  const another = list.dataset.about !== data.about;
  if (another) list.opened.clear();
  list.dataset.about = data.about;
  fill(list);
  if (another) list.scrollTop = 0;
}
