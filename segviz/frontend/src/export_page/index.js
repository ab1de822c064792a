// The exported page around the canvas component. It takes the place of Streamlit:
// hands over the message, hears of clicks.
//
// The page comes from the view's JSON alone; foreign text is only ever set as textContent.

import { contextOf, element, make } from "../shared/dom.js";
import { linksOf, reached } from "../shared/links.js";
import { scoreWords } from "../canvas/answer.js";
import { evidenceRows } from "../canvas/evidence.js";
import { onFrame, showScores } from "../canvas/scheduler.js";
import { draw, stateOf } from "../canvas/index.js";
import { unpack } from "../shared/message.js";
import { cutText, levelsText, spanText } from "../shared/text.js";
import { recompute } from "../canvas/settings.js";
import { pictureOf } from "./picture.js";

/** @template {HTMLElement} [E=HTMLElement]
 * @param {string} id */
const byId = (id) => /** @type {E} */ (document.getElementById(id));

const wanted = new URLSearchParams(location.hash.slice(1));
const asked = wanted.get("picture");

const view = JSON.parse(document.querySelector('script[type="application/json"]')?.textContent ?? "");
const LISTED = 60; // units of a wide node that are listed
const TITLE_LENGTH = 300; // characters of a node's text in its title

const sent = unpack(Uint8Array.from(atob(view.message), (c) => c.charCodeAt(0)));

// A node of the memory may be drawn at several places; `view.node` names it for each.
const { level, start, stop } = view;
let { selected } = sent;
const { children } = linksOf(view.edges);

// --- component -----------------------------------------------------------------------

const host = byId("tree");
if (view.height) host.style.height = `${view.height}px`;
const shadow = host.attachShadow({ mode: "open" });
const sheet = new CSSStyleSheet();
sheet.replaceSync(view.css);
shadow.adoptedStyleSheets = [sheet];

function mount() {
  draw({ data: { ...sent, selected }, parentElement: /** @type {any} */ (shadow),
    setTriggerValue: onTrigger });
}

/** @param {string} name
 * @param {unknown} value */
function onTrigger(name, value) {
  // Settings concern Python alone.
  if (name !== "selected") return;
  const [place] = /** @type {[number, number]} */ (value);
  select(place < 0 ? null : place);
}

/** @param {number | null} place */
function select(place) {
  selected = place;
  const node = place === null ? null : view.node[place];
  details(node, place);
  mount();
}

// --- details -------------------------------------------------------------------------

/** @template {keyof HTMLElementTagNameMap} K
 * @param {Element} parent
 * @param {K} tag
 * @param {string} [className]
 * @param {string} [text] */
const add = (parent, tag, className = "", text = undefined) =>
  Object.assign(element(tag, className, parent, text), { dir: "auto" });

const box = byId("details");
const hint = /** @type {Element} */ (box.querySelector(".hint"));

/** @type {Element | null} */
let scores = null; // of the selected node

/** The setting that the canvas shows, as the page writes it; "" where it has none.
 * @param {State} s */
function settingOf({ settings: { setting } }) {
  return setting ? `${setting.policy}, α ${setting.alpha}, H ${setting.horizon}` : "";
}

/** What the page says about the answer follows the controls of the canvas.
 * @param {State} s */
function follow(s) {
  const { scene } = s;
  const { data, answer } = scene;
  const spread = document.querySelector('[data-of="Propagation"]');
  const count = document.querySelector('[data-of="Retrieved"]');
  if (spread && settingOf(s)) spread.textContent = settingOf(s);
  if (count && answer) {
    count.textContent = (count.textContent ?? "").replace(/^\d+/, String(answer.after.length));
  }
  if (scores && selected !== null && data.final.length) {
    scores.textContent = scoreWords(scene, selected);
  }
}

/** The list of the evidence as the canvas has it, for paper.
 * @param {State} s */
function writeEvidence(s) {
  const list = document.querySelector("#evidence ol");
  if (!list || !settingOf(s)) return;
  list.replaceChildren();
  for (const row of evidenceRows(s.scene).filter(({ out }) => !out)) {
    const node = view.node[row.node];
    const item = add(list, "li");
    item.value = row.is;
    add(item, "bdi", "", [`node ${node}`, row.level, spanText(start[node], stop[node]),
      row.gold.length ? `gold ${row.gold.join(", ")}` : "", row.was === row.is ? ""
        : `was rank ${row.was}`].filter(Boolean).join(" · "));
    add(item, "div", "text", view.texts[node]);
  }
}

/** @param {number | null} node
 * @param {number | null} place */
function details(node, place) {
  box.replaceChildren();
  scores = null;
  add(box, "h2", "", node === null ? "Node" : `Node ${node}`);
  if (node === null || place === null) {
    box.append(hint);
    return;
  }
  const levels = levelsText(level[node], sent.top[place]);
  const units = spanText(start[node], stop[node]);
  const below = children.get(node)?.length ?? 0;
  const held = below ? ` · ${below} ${below === 1 ? "child" : "children"}` : "";
  add(box, "p", "meta", `${levels} · ${units}${held}`);
  if (sent.initial.length) {
    scores = add(box, "p", "meta", "");
    if (stateOf(shadow)) follow(stateOf(shadow));
  }
  add(box, "div", "text", view.texts[node]);
  if (level[node] > 0) listLeaves(node);
  else add(box, "p", "meta", turns(node));
}

/** @param {number} leaf */
const turns = (leaf) => `turns ${view.units.slice(start[leaf], stop[leaf]).join(", ")}`;

/** The leaves below a node, in order, each once.
 * @param {number} node */
function listLeaves(node) {
  const leaves = [...reached(children, node)].filter((id) => level[id] === 0);
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

/** The picture of what the canvas shows now; with `titled`, every node has its texts.
 * @param {boolean} [titled] */
function drawn(titled = false) {
  const s = stateOf(shadow);
  const now = settingOf(s);
  const setting = view.picture.setting.map((/** @type {string} */ line) =>
    (now ? line.replace(/^Propagation [^·]*[^· ]/, () => `Propagation ${now}`) : line));
  return pictureOf(s, { ...view.picture, setting },
    titled ? (box) => cutText(view.texts[view.node[box]], TITLE_LENGTH) : null);
}

/** @param {string} picture */
const parsed = (picture) => document.importNode(
  new DOMParser().parseFromString(picture, "image/svg+xml").documentElement, true);

/** Hands a file over to whoever looks at the page.
 * @param {Blob} content
 * @param {string} ending */
function save(content, ending) {
  const href = URL.createObjectURL(content);
  make("a", { href, download: `${view.file}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

const SVG_TYPE = { type: "image/svg+xml" };

/** Draws the picture at the chosen scale and hands it over. */
async function savePng() {
  const { value: scale } = /** @type {HTMLSelectElement} */ (document.getElementById("scale"));
  const [width, height] = [view.picture.width, view.picture.height]
    .map((size) => Number(scale) * size);
  const scaled = parsed(drawn());
  scaled.setAttribute("width", String(width)); // scaled as a vector picture, not as pixels
  scaled.setAttribute("height", String(height));
  const url = URL.createObjectURL(
    new Blob([new XMLSerializer().serializeToString(scaled)], SVG_TYPE));
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
    const paper = make("canvas", { width, height });
    contextOf(paper).drawImage(image, 0, 0);
    const blob = await new Promise((/** @type {BlobCallback} */ done) => {
      paper.toBlob(done, "image/png");
    });
    if (!blob) throw new Error("too large");
    save(blob, "png");
    said.textContent = `Saved ${width} × ${height} pixels.`;
  } catch {
    said.textContent = "The browser cannot draw a picture of this size; choose a smaller scale.";
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Colours of a theme, whatever the screen's; "" follows the screen.
 * @param {string} theme */
function themed(theme) {
  document.documentElement.dataset.theme = theme;
  mount();
}

// Paper has the picture in place of the canvas, and is light.
addEventListener("beforeprint", () => {
  themed("light");
  byId("picture").replaceChildren(parsed(drawn()));
  writeEvidence(stateOf(shadow));
  themed("");
});

/** The page is the picture alone, for a browser that segviz runs to make a file of it
 * (pictures.py). It is there before the page counts as loaded.
 * @param {string} kind */
function showPicture(kind) {
  const picture = drawn(kind === "svg");
  let bytes = "";
  for (const byte of new TextEncoder().encode(picture)) bytes += String.fromCharCode(byte);
  document.documentElement.dataset.picture = kind === "svg" ? btoa(bytes) : "";
  document.body.replaceChildren(kind === "webp" ? film() : parsed(picture));
}

/** The picture at every α, in rows and columns. A frame has a shadow tree of its own, for the names
 * in its picture are those of every other. */
function film() {
  const { width, height, film: [columns, rows] } = view.picture;
  const sheet = make("div");
  Object.assign(sheet.style, { display: "grid", gridTemplateColumns: `repeat(${columns}, ${width}px)`,
    gridAutoRows: `${height}px`, lineHeight: "0" });
  const s = stateOf(shadow);
  for (let i = 0; i < columns * rows; i++) {
    const alpha = i / (columns * rows);
    s.settings.setting = { .../** @type {LiveSetting} */ (s.settings.setting), alpha };
    recompute(s);
    showScores(s);
    element("div", "", sheet).attachShadow({ mode: "open" }).append(parsed(drawn()));
  }
  return sheet;
}

byId("svg").addEventListener("click", () => save(new Blob([drawn(true)], SVG_TYPE), "svg"));
byId("png").addEventListener("click", savePng);
byId("print").addEventListener("click", () => print());
// The component reads its colours when it is given data.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => mount());
document.documentElement.dataset.script = "on";
if (asked) document.documentElement.dataset.theme = wanted.get("theme") ?? "light";
select(selected);
onFrame(stateOf(shadow).frames, follow);
if (asked) showPicture(asked);
