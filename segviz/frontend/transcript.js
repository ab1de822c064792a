// The transcript: session headings and turns. Uses lines.js.
//
// Every text goes in through textContent, so chat text can never become markup, a link or
// a request. The scroll position is kept across updates; it moves only when the row that
// Python wants in view ("focus") changes. Of a long text only the beginning is laid out
// until someone asks for the rest.

function sessionRow(item) {
  const line = make("div", "session");
  line.setAttribute("role", "heading");
  line.setAttribute("aria-level", "4");
  const swatch = make("i");
  swatch.style.background = item.colour;
  line.append(swatch, make("bdi", "", item.text));
  return line;
}

function turnRow(item, open, toggle) {
  const line = make("div", ["turn", ...item.marks].join(" "));
  line.dataset.turn = item.id;
  const shown = open ? (text) => text : firstPart;
  const body = make("div", "body");
  body.dir = "auto";
  body.append(make("bdi", "speaker", item.speaker), " ", make("bdi", "", shown(item.text)));
  const caption = item.caption || "";
  if (caption) body.append(" ", make("bdi", "caption", "image: " + shown(caption)));
  if (Math.max(item.text.length, caption.length) > LONG) {
    const count = (item.text.length + caption.length).toLocaleString("en");
    body.append(" ", moreButton(item.id, open, `turn ${item.id}, ${count} characters`, toggle));
  }
  line.append(make("span", "id", item.id), body, make("span", "flag", item.flag || ""));
  return line;
}

function fill(list) {
  const rows = list.rows.map((item) => {
    if (item.kind === "session") return sessionRow(item);
    const key = `${item.id} ${item.text.length}`; // another conversation's turn is not open
    const toggle = () => {
      if (!list.opened.delete(key)) list.opened.add(key);
      fill(list);
    };
    return turnRow(item, list.opened.has(key), toggle);
  });
  replaceRows(list, rows);
}

export default function ({ data, parentElement }) {
  let list = parentElement.querySelector(".transcript");
  if (!list) {
    list = make("div", "transcript");
    list.tabIndex = 0;
    list.setAttribute("role", "region");
    list.setAttribute("aria-label", "Transcript");
    list.opened = new Set();
    parentElement.append(list);
  }
  list.style.height = data.height + "px";
  list.rows = data.rows;
  fill(list);
  const wanted = `${data.focus} ${data.height}`;
  if (wanted === list.dataset.wanted) return;
  list.dataset.wanted = wanted;
  const target = [...list.children].find((line) => line.dataset.turn === data.focus);
  if (!target) return;
  const middle = target.offsetTop - list.offsetTop - (list.clientHeight - target.offsetHeight) / 2;
  list.scrollTop = Math.max(0, middle);
}
