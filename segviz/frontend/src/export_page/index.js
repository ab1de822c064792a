// The exported page around the canvas component. It takes the place of Streamlit:
// hands over the message, hears of clicks.
//
// The page comes from the view's JSON alone; foreign text is only ever set as textContent.

import { contextOf } from "../shared/dom.js";
import canvas from "../canvas/index.js";
import { unpack, withValues } from "../shared/message.js";

/** @template {HTMLElement} [E=HTMLElement]
 * @param {string} id */
const byId = (id) => /** @type {E} */ (document.getElementById(id));

const view = JSON.parse(byId("view").textContent);
const LISTED = 60; // units of a wide node that are listed

const bytes = Uint8Array.from(atob(view.message), (c) => c.charCodeAt(0));
const sent = unpack(bytes);

// A node of the memory may be drawn at several places; `view.node` names it for each.
const { level, start, stop } = view;
let { selected } = sent;
const { initial, final, score_names: names } = sent;
const children = new Map();
const picks = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".pick"));
for (let i = 0; i < view.edges.length; i += 2) {
  const [parent, child] = view.edges.slice(i, i + 2);
  if (!children.has(parent)) children.set(parent, []);
  children.get(parent).push(child);
}

// --- component -----------------------------------------------------------------------

const host = byId("tree");
host.style.height = `${view.height}px`;
const shadow = host.attachShadow({ mode: "open" });
const sheet = new CSSStyleSheet();
sheet.replaceSync(view.css);
shadow.adoptedStyleSheets = [sheet];

function mount() {
  const data = withValues(bytes, { selected });
  canvas({ data, parentElement: /** @type {any} */ (shadow), setTriggerValue: onTrigger });
}

/** @param {string} name
 * @param {unknown} value */
function onTrigger(name, value) {
  // Settings concern Python alone.
  if (name === "selected") select(Number(value) < 0 ? null : Number(value));
}

/** @param {number | null} place */
function select(place) {
  selected = place;
  const node = place === null ? null : view.node[place];
  for (const item of picks) {
    item.toggleAttribute("aria-current", Number(item.dataset.node) === node);
  }
  details(node, place);
  mount();
}

// --- details -------------------------------------------------------------------------

/** @param {Element} parent
 * @param {string} tag
 * @param {string} [className]
 * @param {string} [text] */
function add(parent, tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  made.dir = "auto";
  parent.append(made);
  return made;
}

const box = byId("details");
const hint = /** @type {Element} */ (box.querySelector(".hint"));

/** @param {number | null} node
 * @param {number | null} place */
function details(node, place) {
  box.replaceChildren();
  add(box, "h2", "", node === null ? "Node" : `Node ${node}`);
  if (node === null || place === null) {
    box.append(hint);
    return;
  }
  const units = stop[node] - start[node] === 1
    ? `unit ${start[node]}` : `units ${start[node]}–${stop[node] - 1}`;
  const below = children.get(node)?.length ?? 0;
  const held = below ? ` · ${below} ${below === 1 ? "child" : "children"}` : "";
  add(box, "p", "meta", `level ${level[node]} · ${units}${held}`);
  if (initial.length) {
    add(box, "p", "meta",
      `as exported: ${names[0]} ${initial[place].toPrecision(4)}, `
      + `${names[1]} ${final[place].toPrecision(4)}`);
  }
  add(box, "div", "text", view.texts[node]);
  if (view.cut) add(box, "p", "meta", `Texts of more than ${view.cut} characters are cut here.`);
  if (level[node] > 0) listLeaves(node);
  else add(box, "p", "meta", turns(node));
}

/** @param {number} leaf */
const turns = (leaf) => `turns ${view.units.slice(start[leaf], stop[leaf]).join(", ")}`;

/** The leaves below a node, in order, each once.
 * @param {number} node */
function listLeaves(node) {
  const seen = new Set([node]);
  const pending = [node];
  while (pending.length) {
    for (const child of children.get(pending.pop()) ?? []) {
      if (!seen.has(child)) pending.push(child);
      seen.add(child);
    }
  }
  const leaves = [...seen].filter((id) => level[id] === 0);
  leaves.sort((a, b) => start[a] - start[b] || a - b);
  const shown = leaves.slice(0, LISTED);
  const more = shown.length < leaves.length ? `, the first ${shown.length}` : "";
  add(box, "h3", "", `Leaves below: ${leaves.length}${more}`);
  const list = add(box, "ul", "leaves");
  for (const leaf of shown) {
    const item = add(list, "li");
    add(item, "span", "meta", turns(leaf));
    add(item, "div", "text", view.texts[leaf]);
  }
}

// --- picture -------------------------------------------------------------------------

const said = byId("said");

/** Draws the SVG picture on a canvas and hands it over as a file. */
async function savePng() {
  const picture = /** @type {Element} */ (document.querySelector(".picture svg"));
  const { value: scale } = /** @type {HTMLSelectElement} */ (document.getElementById("scale"));
  const [width, height] = ["width", "height"]
    .map((name) => Number(scale) * Number(picture.getAttribute(name)));
  const copy = /** @type {Element} */ (picture.cloneNode(true));
  copy.setAttribute("width", String(width)); // scaled as a vector picture, not as pixels
  copy.setAttribute("height", String(height));
  const source = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  const url = URL.createObjectURL(source);
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
    const paper = Object.assign(document.createElement("canvas"), { width, height });
    contextOf(paper).drawImage(image, 0, 0);
    const blob = await new Promise((/** @type {BlobCallback} */ done) => {
      paper.toBlob(done, "image/png");
    });
    if (!blob) throw new Error("too large");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = view.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    said.textContent = `Saved ${width} × ${height} pixels.`;
  } catch {
    said.textContent = "The browser cannot draw a picture of this size; choose a smaller scale.";
  } finally {
    URL.revokeObjectURL(url);
  }
}

byId("png").addEventListener("click", savePng);
byId("print").addEventListener("click", () => print());
for (const item of picks) {
  item.addEventListener("click", () => select(view.node.indexOf(Number(item.dataset.node))));
}
// The component reads its colours when it is given data.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", mount);
document.documentElement.dataset.script = "on";
select(selected);
