// Word diffs: kept, removed and added text, line by line. The button of an entry that
// names a step tells Python to show that step.

import { button, make } from "../shared/dom.js";
import { lineBlocks } from "../shared/lines.js";

/** @type {Record<string, "del" | "ins">} */
const TAGS = { gone: "del", new: "ins" };

/** @param {Mount<any>} mount */
export default function ({ data, parentElement, setTriggerValue }) {
  let box = parentElement.querySelector(".diff");
  if (!box) {
    box = make("div", "diff");
    parentElement.append(box);
  }
  /** @param {DiffItem} item */
  const entry = (item) => {
    const block = make("div");
    const body = make("div", "body");
    if (item.pieces.length) {
      body.append(...lineBlocks(item.pieces, (kind) => TAGS[kind] ?? "span"));
    }
    const head = make("div", "head", item.title);
    if (item.step) {
      head.append(" ");
      button("more", head, `go to step ${item.step}`, () => setTriggerValue("step", item.step));
    }
    block.append(head, body);
    return block;
  };
  box.replaceChildren(...data.items.map(entry));
}
