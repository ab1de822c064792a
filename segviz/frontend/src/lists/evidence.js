// The evidence list: retrieved nodes in rank order. A click or Enter on an entry tells
// Python which node was picked; a button below a clamped text shows all of it.

import { make } from "../shared/dom.js";
import { allOf, firstPart, lengthOf, lineBlocks, LONG, moreButton, replaceRows, toggling } from "./lines.js";

function bar(label, value, share, className) {
  const line = make("div", "score");
  const track = make("i");
  const fill = make("b", className);
  fill.style.width = (100 * share).toFixed(1) + "%";
  track.append(fill);
  line.append(make("span", "name", label), track, make("span", "number", value));
  return line;
}

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

/** Shows the buttons of those entries that hide something, or have been opened. */
function offerMore(list) {
  const clamped = (text) => text.scrollHeight > text.clientHeight + 1;
  const needed = [...list.children].map((whole, i) =>
    whole.classList.contains("open") || list.items[i].text.length > LONG
      || clamped(whole.querySelector(".text")));
  needed.forEach((need, i) => { list.children[i].querySelector(".more").hidden = !need; });
}

function fill(list) {
  const entries = list.items.map((item) => {
    const key = `${item.node} ${lengthOf(item)}`;
    const toggle = toggling(list, key, item, fill);
    return entry(item, list.names, list.opened.has(key), list.pick, toggle);
  });
  replaceRows(list, entries);
  offerMore(list);
}

export default function ({ data, parentElement, setTriggerValue }) {
  let list = parentElement.querySelector(".evidence");
  if (!list) {
    list = make("div", "evidence");
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", "Retrieved evidence, best first");
    list.opened = new Set();
    parentElement.append(list);
    new ResizeObserver(() => offerMore(list)).observe(list);
  }
  list.style.maxHeight = data.height + "px";
  const nodes = (items) => String(items?.map(({ node }) => node));
  const same = nodes(list.items) === nodes(data.items);
  list.items = data.items;
  list.names = data.names;
  list.pick = (node) => setTriggerValue("node", node);
  list.whole = (name) => setTriggerValue("whole", name);
  fill(list);
  if (!same) list.scrollTop = 0; // another answer starts at its best
}
