// A word diff: kept, removed and added text, line by line. Uses lines.js.

const TAGS = { gone: "del", new: "ins" };

export default function ({ data, parentElement }) {
  let box = parentElement.querySelector(".diff");
  if (!box) {
    box = make("div", "diff");
    parentElement.append(box);
  }
  const entry = (item) => {
    const block = make("div");
    const body = make("div", "body");
    body.append(...lineBlocks(item.pieces, (kind) => TAGS[kind] ?? "span"));
    block.append(make("div", "head", item.title), body);
    return block;
  };
  box.replaceChildren(...data.items.map(entry));
}
