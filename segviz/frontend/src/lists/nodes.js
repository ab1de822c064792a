// Rows about nodes, in groups: what is kept of one node, and other nodes to go to. A click
// or Enter on a row that names a node tells Python which.

import { make } from "../shared/dom.js";
import {
  allOf, firstPart, lengthOf, lineBlocks, LONG, matchedPieces, moreButton, replaceRows, toggling,
} from "../shared/lines.js";

/** @param {NodeItem} item
 * @param {(node: number) => void} pick */
function nodeRow(item, pick) {
  const line = make("button", "entry");
  line.type = "button";
  line.dataset.node = String(item.node);
  const head = make("div", "head");
  head.append(make("span", "place", item.head));
  if (item.note) head.append(make("span", "move", item.note));
  const text = make("div", "text");
  text.append(...lineBlocks([["same", item.text]]));
  line.append(head, text);
  line.onclick = () => pick(Number(item.node));
  return line;
}

/** @param {NodeItem} item
 * @param {string} key
 * @param {boolean} open
 * @param {() => void} toggle */
function textRow(item, key, open, toggle) {
  const line = make("div", "fact");
  if (item.head) line.append(make("div", "head", item.head));
  const body = make("div", "body");
  const shown = open ? allOf(item) : firstPart(item.text);
  body.append(...lineBlocks(matchedPieces(shown, item.matches)));
  line.append(body);
  if (lengthOf(item) > LONG) {
    const count = lengthOf(item).toLocaleString("en");
    line.append(moreButton(key, open, `${item.head || "text"}, ${count} characters`, toggle));
  }
  return line;
}

/** @param {NodeListing} list */
function fill(list) {
  /** @type {HTMLElement[]} */
  const rows = [];
  list.groups.forEach((group, i) => {
    if (group.title) {
      const title = make("div", "session", group.title);
      title.setAttribute("role", "heading");
      title.setAttribute("aria-level", "4");
      rows.push(title);
    }
    group.items.forEach((item, j) => {
      if (item.node !== undefined) return rows.push(nodeRow(item, list.pick));
      const key = `${i} ${j} ${lengthOf(item)}`;
      const toggle = toggling(list, key, item, fill);
      return rows.push(textRow(item, key, list.opened.has(key), toggle));
    });
  });
  replaceRows(list, rows);
}

/** @param {Mount<any>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  let list = /** @type {NodeListing | null} */ (parentElement.querySelector(".nodes"));
  if (!list) {
    list = /** @type {NodeListing} */ (/** @type {HTMLElement} */ (make("div", "nodes")));
    list.tabIndex = 0;
    list.setAttribute("role", "region");
    list.opened = new Set();
    parentElement.append(list);
  }
  list.setAttribute("aria-label", data.label);
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
