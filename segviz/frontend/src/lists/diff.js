// Word diffs: kept, removed and added text, line by line. The button of an entry that
// names a step tells Python to show that step.

import { button, element, make } from "../shared/dom.js";
import { lineBlocks } from "../shared/lines.js";
import { reading } from "../shared/component.js";

/** @type {Record<string, "del" | "ins">} */
const TAGS = { gone: "del", new: "ins" };

export default reading(mount);

/** @param {Mount<any>} component */
function mount({ data, parentElement, setTriggerValue }) {
  const box = parentElement.querySelector(".diff") ?? element("div", "diff", parentElement);
  /** @param {{ title: string, pieces: Piece[], step?: number }} item */
  const entry = ({ title, pieces, step }) => {
    const head = make("div", "head", title);
    if (step) {
      head.append(" ");
      button("more", head, `go to step ${step}`, () => setTriggerValue("step", step));
    }
    const lines = pieces.length ? lineBlocks(pieces, (kind) => TAGS[kind] ?? "span") : [];
    return make("div", "", head, make("div", "body", ...lines));
  };
  box.replaceChildren(...data.items.map(entry));
}
