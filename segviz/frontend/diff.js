// A word diff: kept, removed and added text, shown literally (textContent only).

export default function ({ data, parentElement }) {
  let box = parentElement.querySelector(".diff");
  if (!box) {
    box = document.createElement("div");
    box.className = "diff";
    parentElement.append(box);
  }
  const piece = ([kind, text]) => {
    const element = document.createElement({ gone: "del", new: "ins" }[kind] || "span");
    element.textContent = text;
    return element;
  };
  const entry = (item) => {
    const block = document.createElement("div");
    const head = document.createElement("div");
    head.className = "head";
    head.textContent = item.title;
    const body = document.createElement("bdi");
    body.dir = "auto";
    body.append(...item.pieces.map(piece));
    block.append(head, body);
    return block;
  };
  box.replaceChildren(...data.items.map(entry));
}
