// The transcript: session headings and turns, shown literally.
//
// Every text goes in through textContent, so chat text can never become markup, a link or
// a request. The scroll position is kept across updates; it moves only when the row that
// Python wants in view ("focus") changes.

function row(item) {
  const line = document.createElement("div");
  if (item.kind === "session") {
    line.className = "session";
    line.setAttribute("role", "heading");
    line.setAttribute("aria-level", "4");
    const swatch = document.createElement("i");
    swatch.style.background = item.colour;
    const title = document.createElement("bdi");
    title.textContent = item.text;
    line.append(swatch, title);
    return line;
  }
  line.className = ["turn", ...item.marks].join(" ");
  line.dataset.turn = item.id;
  const id = document.createElement("span");
  id.className = "id";
  id.textContent = item.id;
  const body = document.createElement("div");
  body.className = "body";
  body.dir = "auto";
  const speaker = document.createElement("bdi");
  speaker.className = "speaker";
  speaker.textContent = item.speaker;
  const text = document.createElement("bdi");
  text.textContent = item.text;
  body.append(speaker, " ", text);
  if (item.caption) {
    const caption = document.createElement("bdi");
    caption.className = "caption";
    caption.textContent = "image: " + item.caption;
    body.append(" ", caption);
  }
  const flag = document.createElement("span");
  flag.className = "flag";
  flag.textContent = item.flag || "";
  line.append(id, body, flag);
  return line;
}

export default function ({ data, parentElement }) {
  let list = parentElement.querySelector(".transcript");
  if (!list) {
    list = document.createElement("div");
    list.className = "transcript";
    list.tabIndex = 0;
    list.setAttribute("role", "region");
    list.setAttribute("aria-label", "Transcript");
    parentElement.append(list);
  }
  const scrolled = list.scrollTop;
  list.style.height = data.height + "px";
  list.replaceChildren(...data.rows.map(row));
  const wanted = `${data.focus} ${data.height}`;
  if (wanted === list.dataset.wanted) {
    list.scrollTop = scrolled; // replacing the rows has reset it
    return;
  }
  list.dataset.wanted = wanted;
  const target = [...list.children].find((line) => line.dataset.turn === data.focus);
  if (!target) return;
  const middle = target.offsetTop - list.offsetTop - (list.clientHeight - target.offsetHeight) / 2;
  list.scrollTop = Math.max(0, middle);
}
