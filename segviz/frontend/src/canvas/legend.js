// What colours and marks mean, and how many nodes are of each colour. Every
// class of colours is a button that lets it stand alone; Escape or a second click ends it.

import { element } from "../shared/dom.js";
import { isolateText, number } from "../shared/text.js";
import { colourClasses, counted } from "./classes.js";
import { onFrame, onScores, schedule } from "./frame.js";
import { toggleIsolated } from "./isolate.js";
import { powerOf } from "./shades.js";

const NAMED = 8; // more classes than these become a ramp without words

export function buildLegend(s, parent) {
  s.legend = element("div", "legend", parent);
  s.count = element("div", "count", parent);
  onScores(s, writeLegend);
  onFrame(s, showCount);
  s.legend.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && s.isolated) showIsolated(s, s.isolated.kind, s.isolated.key);
    else walkRamp(event);
  });
}

/** How many nodes are drawn, where several share a pixel column. */
function showCount(s) {
  const { id, inView } = s.boxes[0];
  s.count.textContent = id.length < inView ? `showing ${id.length} of ${inView} nodes` : "";
}

/** Lets a class stand alone, or ends that. */
export function showIsolated(s, kind, key) {
  toggleIsolated(s, kind, key);
  writeLegend(s);
  schedule(s, true);
}

/** Brings the legend to the present colours; rebuilt only where its words have changed, as
 *  most frames of a drag change nothing in it. */
function writeLegend(s) {
  const { data, legend } = s;
  legend.hidden = !data.legend;
  if (!data.legend) return;
  const classes = colourClasses(s);
  const marks = markEntries(s);
  const said = JSON.stringify([classes, marks, s.shades, s.most, s.theme.ramp, s.isolated]);
  if (legend.dataset.said === said) return;
  legend.dataset.said = said;
  const focused = legend.getRootNode().activeElement?.dataset.key;
  legend.replaceChildren();
  if (classes) writeClasses(s, classes);
  else writeScale(s);
  for (const mark of marks) writeMark(s, mark);
  writeChip(s, classes);
  if (focused !== undefined) {
    [...legend.querySelectorAll("button")].find((b) => b.dataset.key === focused)?.focus();
  }
}

function writeClasses(s, { kind, counted: what, items }) {
  const ramp = items.length > NAMED;
  const group = element("div", ramp ? "classes ramped" : "classes", s.legend);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", `Colours: ${kind}. Press one to see it alone.`);
  if (ramp) element("span", "", group, items[0].name);
  const holder = ramp ? element("div", "segments", group) : group;
  const chosen = items.findIndex(({ key }) => isIsolated(s, kind, key));
  items.forEach((item, i) => {
    const button = isolateButton(s, holder, ramp ? "segment" : "class", kind, item.key,
      `${isolateText(item.title)}: ${counted(item.count, what)}`);
    // One stop of the Tab key for a whole ramp; arrow keys walk it.
    if (ramp) {
      button.tabIndex = i === Math.max(0, chosen) ? 0 : -1;
      button.setAttribute("aria-label", isolateText(item.title));
    }
    paintSwatch(ramp ? button : element("i", "swatch", button), item);
    if (ramp) return;
    element("span", "", button, item.name);
    element("b", "", button, String(item.count));
  });
  if (ramp) element("span", "", group, items.at(-1).name);
}

function paintSwatch(swatch, { colours, pattern }) {
  if (pattern) swatch.classList.add(pattern);
  swatch.style.backgroundColor = colours[0];
  if (colours.length > 1) swatch.style.backgroundImage = gradient(colours);
}

const isIsolated = ({ isolated }, kind, key) => isolated?.kind === kind && isolated.key === key;

function isolateButton(s, parent, className, kind, key, title) {
  const button = element("button", className, parent);
  const pressed = isIsolated(s, kind, key);
  button.type = "button";
  button.dataset.key = `${kind}:${key}`;
  button.title = `${title}. ${pressed ? "Shown alone; press again to end." : "Press to see it alone."}`;
  button.setAttribute("aria-pressed", String(pressed));
  button.addEventListener("click", () => showIsolated(s, kind, key));
  return button;
}

/** Arrow keys, Home and End within a ramp of classes. */
function walkRamp(event) {
  const here = event.target;
  if (!here.classList?.contains("segment")) return;
  const all = [...here.parentNode.children];
  const at = all.indexOf(here);
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  const there = all[Math.min(all.length - 1, Math.max(0, next))];
  here.tabIndex = -1;
  there.tabIndex = 0;
  there.focus();
}

/** What stands alone, where the legend has no button with its name. */
function writeChip(s, classes) {
  if (!s.isolated) return;
  const { kind, key } = s.isolated;
  const named = classes?.kind === kind && classes.items.length <= NAMED;
  if (named || kind === "top") return;
  const item = classes?.kind === kind ? classes.items.find((one) => one.key === key) : null;
  const name = kind === "session" ? s.data.session_titles[key] : item?.title ?? String(key);
  const count = item ? ` · ${counted(item.count, classes.counted)}` : "";
  const button = isolateButton(s, s.legend, "class chip", kind, key, `${isolateText(name)}${count}`);
  element("span", "", button, `only ${isolateText(name)}${count}`);
  element("b", "", button, "×");
}

// --- scales and marks ------------------------------------------------------------------

function writeScale(s) {
  const { data, theme } = s;
  const change = s.shades.at(-1) === "change";
  const root = { 1: "", 0.5: " (√)", 0.25: " (⁴√)" }[powerOf(data, s.shades.at(-1))];
  const range = s.most ? number(s.most) : "";
  if (!change) {
    const words = range ? `score 0–${range}${root}` : "no scores";
    entry(s.legend, "ramp", words).style.background = gradient(theme.ramp);
    return;
  }
  const words = range ? `−${range} to +${range}${root}` : "no scores";
  entry(s.legend, "ramp", words).style.background = gradient(theme.change);
  entry(s.legend, "fall", "falls").style.backgroundColor = theme.change[0];
  entry(s.legend, "rise", "rises").style.backgroundColor = theme.change.at(-1);
}

/** The marks that can occur in this picture: [kind, words, sign]. A mark has two shapes, as
 *  an outline and, for narrow boxes, as a sign outside. */
function markEntries({ data, picture }) {
  const k = Math.max(data.top_initial.length, data.top_final.length);
  const found = [];
  if (picture === "grow") {
    found.push(["frontier", "frontier", "bracket"], ["added", "new", "plus"],
      ["revised", "revised", "dashed"], ["chosen", "chosen", "triangle"]);
  } else if (k) {
    found.push(["top", `top ${k}`, "triangle"]);
    if (picture === "change") found.push(["revised", `left the top ${k}`, "dashed"]);
  }
  if (data.gold.length) found.push(["diamond", "gold evidence"]);
  return found;
}

/** The retrieved nodes can stand alone, too: their mark is a button. */
function writeMark(s, mark) {
  const [kind, words, sign] = mark;
  if (kind !== "top") return entry(s.legend, kind, words, sign);
  return fillEntry(isolateButton(s, s.legend, "class", "top", 0, `${words} retrieved nodes`), kind, words,
    sign);
}

const entry = (legend, kind, words, sign) =>
  fillEntry(element("span", "mark", legend), kind, words, sign);

function fillEntry(item, kind, words, sign) {
  const swatch = element("i", kind, item);
  if (sign) element("i", `sign ${sign}`, item);
  element("span", "", item, words);
  return swatch;
}

const gradient = (colours) => `linear-gradient(to right, ${colours.join(", ")})`;
