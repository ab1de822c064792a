// The evidence list: retrieved nodes in rank order. A click or Enter on an entry tells
// Python which node was picked; a button below a clamped text shows all of it.

import { make } from "../shared/dom.js";
import {
  allOf, firstPart, lengthOf, lineBlocks, LONG, moreButton, replaceRows, toggling,
} from "./lines.js";

/** @param {string} label
 * @param {string} value
 * @param {number} share
 * @param {string} className */
function bar(label, value, share, className) {
  const line = make("div", "score");
  const track = make("i");
  const fill = make("b", className);
  fill.style.width = (100 * share).toFixed(1) + "%";
  track.append(fill);
  line.append(make("span", "name", label), track, make("span", "number", value));
  return line;
}

/** @param {EvidenceItem} item
 * @param {[string, string]} names
 * @param {boolean} open
 * @param {(node: number) => void} pick
 * @param {() => void} toggle */
function entry(item, names, open, pick, toggle) {
  const line = make("button", "entry" + (item.selected ? " selected" : ""));
  line.type = "button";
  line.dataset.node = String(item.node);
  line.setAttribute("aria-pressed", String(item.selected));
  const head = make("div", "head");
  head.append(make("span", "rank", String(item.rank)), make("span", "place", item.place));
  if (item.move) head.append(make("span", "move", item.move));
  if (item.gold) head.append(make("span", "gold", item.gold));
  const text = make("div", "text");
  text.append(...lineBlocks([["same", open ? allOf(item) : firstPart(item.text)]]));
  const scores = make("div", "scores");
  scores.append(
    bar(names[0], item.initial, item.initialShare, "initial"),
    bar(names[1], item.final, item.finalShare, "final"),
  );
  line.append(head, scores, text);
  line.onclick = () => pick(item.node);
  const whole = make("div", "item" + (open ? " open" : ""));
  whole.append(line, moreButton(String(item.node), open, `evidence ${item.rank}`, toggle));
  return whole;
}

/** Shows the buttons of those entries that hide something, or have been opened.
 * @param {EvidenceList} list */
function offerMore(list) {
  /** @param {Element} text */
  const clamped = (text) => text.scrollHeight > text.clientHeight + 1;
  [...list.children].forEach((whole, i) => {
    const [text] = whole.getElementsByClassName("text");
    const more = /** @type {HTMLElement} */ (whole.querySelector(".more"));
    more.hidden = !(whole.classList.contains("open") || list.items[i].text.length > LONG
      || clamped(text));
  });
}

/** @param {EvidenceList} list */
function fill(list) {
  const entries = list.items.map((item) => {
    const key = `${item.node} ${lengthOf(item)}`;
    const toggle = toggling(list, key, item, fill);
    return entry(item, list.names, list.opened.has(key), list.pick, toggle);
  });
  replaceRows(list, entries);
  offerMore(list);
}

/** @param {Mount<any>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  let list = /** @type {EvidenceList | null} */ (parentElement.querySelector(".evidence"));
  if (!list) {
    /** @type {HTMLElement} */
    const box = make("div", "evidence");
    const made = list = /** @type {EvidenceList} */ (box);
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", "Retrieved evidence, best first");
    list.opened = new Set();
    parentElement.append(list);
    new ResizeObserver(() => offerMore(made)).observe(made);
  }
  list.style.maxHeight = data.height + "px";
  /** @param {EvidenceItem[] | undefined} items */
  const nodes = (items) => String(items?.map(({ node }) => node));
  const same = nodes(list.items) === nodes(data.items);
  list.items = data.items;
  list.names = data.names;
  list.pick = (node) => setTriggerValue("node", node);
  list.whole = (name) => setTriggerValue("whole", name);
  fill(list);
  if (!same) list.scrollTop = 0; // another answer starts at its best
}
