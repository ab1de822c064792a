// The evidence list: retrieved nodes in rank order, shown literally (textContent only).
// A click or Enter on an entry tells Python which node was picked.

function span(className, text) {
  const element = document.createElement("span");
  element.className = className;
  element.textContent = text;
  return element;
}

function bar(label, value, share, className) {
  const line = document.createElement("div");
  line.className = "score";
  const track = document.createElement("i");
  const fill = document.createElement("b");
  fill.className = className;
  fill.style.width = (100 * share).toFixed(1) + "%";
  track.append(fill);
  line.append(span("name", label), track, span("number", value));
  return line;
}

function entry(item, pick) {
  const line = document.createElement("button");
  line.type = "button";
  line.className = "entry" + (item.selected ? " selected" : "");
  line.dataset.node = String(item.node);
  line.setAttribute("aria-pressed", String(item.selected));
  const head = document.createElement("div");
  head.className = "head";
  head.append(span("rank", String(item.rank)), span("place", item.place));
  if (item.move) head.append(span("move", item.move));
  if (item.gold) head.append(span("gold", item.gold));
  const text = document.createElement("bdi");
  text.className = "text";
  text.dir = "auto";
  text.textContent = item.text;
  const scores = document.createElement("div");
  scores.className = "scores";
  scores.append(
    bar("initial", item.initial, item.initialShare, "initial"),
    bar("final", item.final, item.finalShare, "final"),
  );
  line.append(head, scores, text);
  line.onclick = () => pick(item.node);
  return line;
}

export default function ({ data, parentElement, setTriggerValue }) {
  let list = parentElement.querySelector(".evidence");
  if (!list) {
    list = document.createElement("div");
    list.className = "evidence";
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", "Retrieved evidence, best first");
    parentElement.append(list);
  }
  list.style.maxHeight = data.height + "px";
  // Rebuilding the buttons would drop keyboard focus: put it back where it was.
  const focused = parentElement.activeElement?.dataset?.node;
  list.replaceChildren(...data.items.map((item) => entry(item, (n) => setTriggerValue("node", n))));
  if (focused) list.querySelector(`[data-node="${CSS.escape(focused)}"]`)?.focus();
}
