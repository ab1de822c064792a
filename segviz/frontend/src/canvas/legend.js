// What colours and marks mean, and how many nodes are of each colour. Every
// class of colours is a button that lets it stand alone; Escape or a second click ends it.

import { button as newButton, cleared, element, make, rewrite } from "../shared/dom.js";
import { isolateText, number } from "../shared/text.js";
import { colourClasses, counted, toggleIsolated } from "./classes.js";
import { onFrame, onScores, schedule } from "./scheduler.js";
import { bar, bracket, diamond, plus, strike, triangle } from "./glyphs.js";
import { powerOf } from "./node_color.js";
import { drawDot, plate } from "./rank_marks.js";

export const SWATCH = 14; // pixels across
const ROW = 24; // pixels of a line of the legend

/** @type {Builder} */
export function buildLegend(s, parent) {
  const { scene, elements } = s;
  elements.legend = element("div", "legend", parent);
  elements.count = element("div", "count", parent);
  onScores(s.frames, writeLegend);
  onFrame(s.frames, showCount);
  elements.legend.addEventListener("keydown", (event) => {
    const { isolated } = scene;
    if (event.key === "Escape" && isolated) showIsolated(s, isolated.kind, isolated.key);
    else walkRamp(event);
  });
}

/** How many nodes are drawn, where several share a pixel column.
 * @param {State} s */
function showCount(s) {
  const { sight: { boxes: [first] }, elements: { count } } = s;
  if (!first) return; // no tree
  const { shown, inView } = first;
  count.textContent = shown < inView ? countText(s.scene, shown, inView) : "";
}

/** How many of what is in view have a box of their own.
 * @type {(scene: Scene, shown: number, inView: number) => string} */
export function countText({ data }, shown, inView) {
  const [few, all] = [shown, inView].map((count) => count.toLocaleString("en"));
  const what = data.origin.length ? "places; a node stands below each of its parents" : "nodes";
  return `showing ${few} of ${all} ${what}`;
}

/** Lets a class stand alone, or ends that.
 * @type {(s: State, kind: string, key: number | string) => void} */
export function showIsolated(s, kind, key) {
  const session = () => (s.scene.isolated?.kind === "session" ? Number(s.scene.isolated.key) : -1);
  const before = session();
  toggleIsolated(s.scene, kind, key);
  if (session() !== before) s.tell("session", session()); // -1 stands for none
  writeLegend(s);
  schedule(s, true);
}

/** Brings the legend to the present colours; rebuilt only where its words have changed, as
 *  most frames of a drag change nothing in it.
 * @param {State} s */
function writeLegend(s) {
  const { scene, elements: { legend } } = s;
  legend.hidden = !scene.data.legend;
  if (legend.hidden) return;
  const classes = colourClasses(scene);
  const marks = markEntries(scene);
  const { shades, most, theme, isolated } = scene;
  rewrite(legend, [classes, marks, shades, most, theme.ramp, isolated], () => {
    if (classes) writeClasses(s, classes);
    else writeScale(s);
    for (const mark of marks) writeMark(s, mark);
    writeChip(s, classes);
  }, "key");
}

/** @type {(s: State, colourClasses: ColourClasses) => void} */
function writeClasses(s, { kind, counted: what, items, ramped: ramp }) {
  const group = element("div", { className: ramp ? "classes ramped" : "classes", role: "group",
    ariaLabel: `Colours: ${kind}. Press one to see it alone.` }, s.elements.legend);
  if (ramp) element("span", "", group, items[0].name);
  const holder = ramp ? element("div", "segments", group) : group;
  const chosen = items.findIndex(({ key }) => isIsolated(s.scene, kind, key));
  items.forEach((item, i) => {
    const button = isolateButton(s, holder, ramp ? "segment" : "class", kind, item.key,
      `${isolateText(item.title)}: ${counted(item.count, what)}`);
    // One stop of the Tab key for a whole ramp; arrow keys walk it.
    if (ramp) {
      button.tabIndex = i === Math.max(0, chosen) ? 0 : -1;
      button.ariaLabel = isolateText(item.title);
      button.style.background = gradient(item.colours);
    } else {
      paintSwatch(s.scene.theme, element("canvas", "swatch", button), item);
      button.append(make("span", "", item.name), make("b", "", String(item.count)));
    }
  });
  if (ramp) element("span", "", group, items[items.length - 1].name);
}

/** @type {(theme: Theme, swatch: HTMLCanvasElement, colourClass: ColourClass) => void} */
function paintSwatch(theme, swatch, { colours, pattern }) {
  const ctx = cleared(swatch, SWATCH, SWATCH);
  const wide = SWATCH / colours.length;
  colours.forEach((colour, i) => {
    ctx.fillStyle = colour;
    ctx.fillRect(i * wide, 2, wide, 10);
  });
  if (!pattern) return;
  ctx.fillStyle = theme.patterns[pattern];
  ctx.fillRect(0, 2, SWATCH, 10);
}

/** @type {(scene: Scene, kind: string, key: number | string) => boolean} */
const isIsolated = ({ isolated }, kind, key) => isolated?.kind === kind && isolated.key === key;

/** @type {(s: State, parent: HTMLElement, className: string, kind: string,
 *    key: number | string, title: string) => HTMLButtonElement} */
function isolateButton(s, parent, className, kind, key, title) {
  const button = newButton(className, parent, "", () => showIsolated(s, kind, key));
  const pressed = isIsolated(s.scene, kind, key);
  button.dataset.key = `${kind}:${key}`;
  const act = pressed ? "Shown alone; press again to end." : "Press to see it alone.";
  return Object.assign(button, { title: `${title}. ${act}`, ariaPressed: String(pressed) });
}

/** Arrow keys, Home and End within a ramp of classes.
 * @param {KeyboardEvent} event */
function walkRamp(event) {
  const here = /** @type {HTMLElement} */ (event.target);
  if (!here.classList.contains("segment")) return;
  const all = /** @type {HTMLElement[]} */ ([...here.parentElement?.children ?? []]);
  const at = all.indexOf(here);
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  const there = all[Math.min(all.length - 1, Math.max(0, next))];
  here.tabIndex = -1;
  there.tabIndex = 0;
  there.focus();
}

/** What stands alone, where the legend has no button with its name.
 * @type {(s: State, classes: ColourClasses | null) => void} */
function writeChip(s, classes) {
  const { data, isolated } = s.scene;
  if (!isolated) return;
  const { kind, key } = isolated;
  const named = classes?.kind === kind && !classes.ramped;
  if (named || kind === "top") return;
  const item = classes?.kind === kind ? classes.items.find((one) => one.key === key) : null;
  const name = kind === "session" ? data.session_titles[Number(key)] : item?.title ?? String(key);
  const count = item && classes ? ` · ${counted(item.count, classes.counted)}` : "";
  const words = `${isolateText(name)}${count}`;
  const button = isolateButton(s, s.elements.legend, "class chip", kind, key, words);
  button.append(make("span", "", `only ${words}`), make("b", "", "×"));
}

// --- scales and marks ------------------------------------------------------------------

/** What a scale of scores runs from and to, and its colours.
 * @param {Scene} scene */
export function scaleOf(scene) {
  const { data, theme } = scene;
  const shade = scene.shades[scene.shades.length - 1];
  const root = powerOf(data) < 1 ? ", square-root scale" : "";
  const range = scene.most ? `0 to ${number(scene.most)}${root}` : "";
  const [words, ramp] = shade === "change"
    ? ["falls · little change · rises; full: enough to enter or leave", theme.change]
    : ["score, low to high", theme.ramp];
  return { words: range ? words : "no scores", range, ramp };
}

/** @param {State} s */
function writeScale(s) {
  const { words, range, ramp } = scaleOf(s.scene);
  const sample = make("i", "ramp");
  sample.style.background = gradient(ramp);
  element("span", { className: "mark", title: range }, s.elements.legend, sample, make("span", "", words));
}

/** The marks that can occur in this picture: [kind, words, sign]. One with a sign has two shapes, as
 *  an outline and, for narrow boxes, as that sign at the edge; gold has a diamond and its rank.
 * @param {Scene} scene */
export function markEntries({ data, picture }) {
  const k = Math.max(data.top_initial.length, data.top_final.length);
  /** @type {Mark[]} */
  const found = [];
  if (picture === "grow") {
    found.push(["frontier", "frontier", "bracket"], ["added", "new", "plus"],
      ["chosen", "chosen", "triangle"]);
  } else if (k) {
    if (picture === "scores") found.push(["before", "retrieved before"]);
    found.push(["top", picture === "scores" ? "after" : "retrieved"], ["entered", "enters"], ["left", "leaves"]);
  }
  if (data.gold.length) found.push(["diamond", "gold evidence; n: rank", "plate"]);
  if (Object.keys(data.ended).length) found.push(["ended", "no longer true"]);
  return found;
}

/** @type {(s: State, mark: Mark) => void} */
function writeMark(s, [kind, words, sign]) {
  const { scene: { theme }, elements: { legend } } = s;
  const item = element("span", "mark", legend);
  const ctx = cleared(element("canvas", "", item), sign ? 28 : SWATCH, ROW);
  drawMark(theme, ctx, kind, sign, 0, ROW / 2);
  element("span", "", item, words);
}

/** A mark: a rank on its plate, or in two shapes, around a box and as a sign at a narrow one.
 * @type {(theme: Theme, ctx: Ctx, kind: string, sign: string | undefined, x: number,
 *    y: number, picture?: string) => void} */
export function drawMark(theme, ctx, kind, sign, x, y, picture = "scores") {
  const { enters, chosen, text } = theme;
  if (kind === "diamond") {
    plate(theme, ctx, { x: x + 24, y }, { rank: "n", inside: true, kind: "gold" }, true);
    return diamond(theme, ctx, x + 7, y);
  }
  if (kind === "ended") return strike(theme, ctx, { x, y: y - 5, w: SWATCH, h: 10 });
  if (!sign) {
    const inside = kind !== "left";
    if (kind === "entered" || !inside) return plate(theme, ctx, { x: x + 7, y }, { rank: "n", inside, kind: inside ? "enters" : "leaves" }, true);
    return drawDot(theme, ctx, { x: x + 7, y, mark: { kind: picture === "scores" ? "same" : "alone" } }, kind !== "before");
  }
  const width = kind === "chosen" ? 3 : 1.5;
  // A swatch is narrow for a box: its outline is drawn as around a wide one.
  ctx.strokeStyle = kind === "frontier" ? text : kind === "chosen" ? chosen : enters;
  ctx.lineWidth = width;
  ctx.strokeRect(x + width / 2, y - 5 + width / 2, SWATCH - width, 10 - width);
  const place = { x: x + 22, y: y - 5, w: 2, h: 14 };
  if (sign === "triangle") {
    bar(theme, ctx, place, 0, chosen);
    triangle(theme, ctx, place, 0, chosen);
  } else if (sign === "plus") plus(theme, ctx, place, 0, enters);
  else bracket(theme, ctx, place, 0, text);
}

/** @param {string[]} colours */
const gradient = ([first, ...colours]) =>
  `linear-gradient(to right, ${[first, ...colours.length ? colours : [first]].join(", ")})`;
