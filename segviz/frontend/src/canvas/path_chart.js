// Draws the α path: ranks above, level shares below, on one axis that can be dragged. The picture
// is painted when the path is another; a drag moves a line over it.

import { button, cleared, element, isNews, make, placeIn } from "../shared/dom.js";
import { edgePairs } from "../shared/links.js";
import { levelName, nameOf } from "./answer.js";
import { onFrame, onScores, schedule } from "./scheduler.js";
import { polygon, stroke, vertical } from "./glyphs.js";
import { levelCounts, propagator } from "./propagate.js";
import { select } from "./navigation.js";
import { pathOf, retrievedAt, short, sign } from "./path.js";
import { change, report } from "./settings.js";

const [LEFT, RIGHT, TOP, GAP, SHARES, FOOT] = [50, 12, 8, 12, 54, 18];
const SLICE_MS = 6; // of a frame, so that a long path does not hold up a drag
const TAKEN = 0.62; // share of the height for the ranks that are retrieved
const NEAR = 6; // pixels

/** @param {State} s
 * @param {HTMLElement} parent */
export function buildPath(s, parent) {
  const root = element("section", "path", parent);
  const head = element("div", "head", root);
  const title = element("span", "", head);
  const over = button("", head, "", () => {
    s.path.over = s.path.over === "alpha" ? "horizon" : "alpha";
    follow(s);
  });
  const plot = element("div", { className: "plot", tabIndex: 0, role: "slider" }, root);
  const canvas = element("canvas", "", plot);
  const now = element("div", "now", plot);
  const said = element("div", "said", plot);
  const holder = make("div");
  const twin = element("details", "twin", root, make("summary", "", "Table"), holder);
  twin.addEventListener("toggle", () => schedule(s));
  listen(s, plot, said);
  onScores(s.frames, follow);
  onFrame(s.frames, showPath);
  return { over: /** @type {"alpha" | "horizon"} */ ("alpha"), initial: /** @type {Float32Array} */ (new Float32Array(0)), key: /** @type {unknown[]} */ ([]),
    run: /** @type {Generator<undefined, Path> | null} */ (null),
    found: /** @type {Path | null} */ (null), drawn: /** @type {unknown[]} */ ([]),
    tabled: /** @type {unknown[]} */ ([]), held: false,
    hover: /** @type {number | null} */ (null),
    elements: { root, title, over, plot, canvas, now, twin, holder } };
}

// --- computing ---------------------------------------------------------------------------

/** @type {(a: Float32Array, b: Float32Array) => boolean} */
const sameNumbers = (a, b) =>
  a === b || (a.length === b.length && a.every((value, i) => value === b[i]));

/** Computes the path anew where what it depends on has changed, in slices between frames.
 * @param {State} s */
function follow(s) {
  const { scene: { data }, settings: { setting, held }, path } = s;
  path.elements.root.hidden = !setting;
  if (!setting || held) return;
  const { policy, alpha, horizon } = setting;
  const live = /** @type {Live} */ (data.live);
  const key = [path.over, policy, path.over === "alpha" ? horizon : alpha,
    live.k, live.budget, live.deduplicate, String(live.levels), data.identity, String(data.gold)];
  const known = sameNumbers(path.initial, data.initial);
  path.initial = data.initial;
  if (!isNews(path.key, key) && known) return;
  // Hops of its own: those of the picture belong to the setting that is shown.
  const scores = propagator(data.initial, { ...data, edges: edgePairs(data) });
  path.run = pathOf(data, scores, { ...setting }, path.over);
  path.elements.root.dataset.ready = "false";
  advance(s, path.run);
}

/** @type {(s: State, run: Generator<undefined, Path>) => void} */
function advance(s, run) {
  setTimeout(() => {
    const { path } = s;
    const until = performance.now() + SLICE_MS;
    while (path.run === run) {
      const { done, value } = run.next();
      if (done) {
        Object.assign(path, { run: null, found: value });
        path.elements.root.dataset.ready = "true";
        return schedule(s);
      }
      if (performance.now() > until) return advance(s, run);
    }
    return undefined;
  });
}

// --- drawing -----------------------------------------------------------------------------

/** @param {State} s */
function showPath(s) {
  const { scene, settings: { setting }, path, attention: { selected } } = s;
  const { elements } = path;
  if (!setting || elements.root.hidden) return;
  const { over } = path;
  const [name, value] = [sign(over), setting[over]];
  const other = over === "alpha" ? `H ${setting.horizon}` : `α ${setting.alpha.toFixed(2)}`;
  elements.title.textContent = `Ranks over ${name}, ${setting.policy}, ${other}`;
  elements.over.textContent = `over ${over === "alpha" ? "H" : "α"}`;
  Object.assign(elements.plot, { ariaLabel: `${name}: ranks of the retrieved nodes over its range`,
    ariaValueNow: String(value), ariaValueText: `${name} ${value}` });
  const { clientWidth: width, clientHeight: height } = elements.plot;
  if (!path.found || !width) return;
  const x = placeOf(path.found, width, value);
  elements.now.style.transform = `translateX(${x}px)`;
  elements.now.dataset.value = `${name} ${short(path.over, value)}`;
  elements.now.classList.toggle("end", x > width - 60);
  if (isNews(path.drawn, [path.found, width, height, scene.theme, selected, path.hover])) {
    draw(s, path.found, cleared(elements.canvas, width, height), width, height);
  }
  if (isNews(path.tabled, [path.found, value, elements.twin.open])) writeTable(s);
}

/** Pixel of a value of the axis.
 * @type {(path: Path, width: number, value: number) => number} */
const placeOf = ({ values }, width, value) =>
  LEFT + ((value - values[0]) / (values[values.length - 1] - values[0] || 1)) * (width - LEFT - RIGHT);

/** How many are retrieved at most, and the pixel of a rank in a plot so high.
 * @param {Path} found
 * @param {number} height */
function rankScale(found, height) {
  const upper = height - SHARES - GAP - FOOT;
  const size = Math.max(1, ...found.tops.map((top) => top.length));
  const most = Math.max(size + 2, ...found.ranks.map((ranks) => Math.max(...ranks)));
  /** @param {number} rank */
  const y = (rank) => rankPlace(rank, size, most, upper);
  return { upper, size, most, y };
}

/** Pixel of a rank: evenly up to the last that is retrieved, then by its logarithm.
 * @type {(rank: number, size: number, most: number, height: number) => number} */
function rankPlace(rank, size, most, height) {
  const line = TAKEN * height;
  if (rank <= size) return TOP + ((rank - 0.5) / size) * (line - TOP);
  const share = Math.log(rank / (size + 0.5)) / Math.log(Math.max(most, size + 2) / (size + 0.5));
  return line + 5 + Math.min(1, share) * (height - line - 9);
}

/** @type {(s: State, found: Path, ctx: Ctx, width: number, height: number) => void} */
function draw(s, found, ctx, width, height) {
  const { scene: { theme, data }, attention: { selected }, path } = s;
  const { upper, size, most, y } = rankScale(found, height);
  const line = TAKEN * upper;
  ctx.font = theme.font;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  ctx.fillStyle = theme.band;
  ctx.fillRect(LEFT, TOP, width - LEFT - RIGHT, line - TOP);
  ctx.fillStyle = theme.muted;
  const ticks = [1, Math.round(size / 2), size, ...[2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000,
    10000, 50000].map((m) => m * 10).filter((rank) => rank > size * 1.6 && rank <= most)];
  let last = -Infinity;
  for (const rank of ticks) {
    if (y(rank) - last < 12) continue;
    ctx.fillText(String(rank), LEFT - 6, last = y(rank));
  }
  vertical(ctx, theme.text, "rank", 8, upper / 2);
  const gold = new Set(data.gold);
  const known = new Set([...data.gold, selected, path.hover]);
  const order = found.nodes.map((_, i) => i)
    .sort((a, b) => Number(known.has(found.nodes[a])) - Number(known.has(found.nodes[b])));
  for (const i of order) {
    const node = found.nodes[i];
    const strong = gold.has(node);
    ctx.strokeStyle = node === selected || node === path.hover ? theme.text
      : strong ? theme.gold.found : theme.faint;
    ctx.lineWidth = strong || node === selected || node === path.hover ? 2.25 : 1.25;
    trace(ctx, found, found.ranks[i], width, y);
    if (strong) marks(s, ctx, found, i, width, y);
  }
  ctx.setLineDash([5, 4]);
  ctx.strokeStyle = theme.text;
  stroke(ctx, 1, [LEFT, line + 0.5], [width - RIGHT, line + 0.5]);
  ctx.setLineDash([]);
  drawShares(s, ctx, found, width, height - FOOT - SHARES);
  ctx.textAlign = "center";
  ctx.fillStyle = theme.muted;
  const steps = found.over === "alpha" ? [0, 0.25, 0.5, 0.75, 0.99] : found.values;
  for (const value of steps) {
    ctx.fillText(short(found.over, value), placeOf(found, width, value), height - FOOT / 2 + 1);
  }
}

/** @type {(ctx: Ctx, found: Path, ranks: Int32Array, width: number,
 *    y: (rank: number) => number) => void} */
function trace(ctx, found, ranks, width, y) {
  ctx.beginPath();
  found.values.forEach((value, i) => {
    if (!ranks[i]) return;
    const x = placeOf(found, width, value);
    if (i && ranks[i - 1]) ctx.lineTo(x, y(ranks[i]));
    else ctx.moveTo(x, y(ranks[i]));
  });
  ctx.stroke();
}

/** Diamonds where a gold leaf begins and ends and where it crosses the line.
 * @type {(s: State, ctx: Ctx, found: Path, i: number, width: number,
 *    y: (rank: number) => number) => void} */
function marks({ scene: { theme } }, ctx, found, i, width, y) {
  const inside = found.tops.map((top) => top.includes(found.nodes[i]));
  found.values.forEach((value, at) => {
    const end = at === 0 || at === found.values.length - 1;
    if (!found.ranks[i][at] || !(end || inside[at] !== inside[at - 1])) return;
    const x = placeOf(found, width, value);
    const there = y(found.ranks[i][at]);
    polygon(ctx, [x, there - 4], [x + 4, there], [x, there + 4], [x - 4, there]);
    ctx.fillStyle = inside[at] ? theme.gold.found : theme.background;
    ctx.fill();
    ctx.lineWidth = 1.5;
    ctx.stroke();
  });
}

/** @type {(s: State, ctx: Ctx, found: Path, width: number, top: number) => void} */
function drawShares({ scene: { theme, data, tree } }, ctx, found, width, top) {
  const { values, tops } = found;
  const half = (placeOf(found, width, values[1] ?? 1) - LEFT) / 2;
  values.forEach((value, i) => {
    const middle = placeOf(found, width, value);
    const [from, to] = [Math.max(LEFT, middle - half), Math.min(width - RIGHT, middle + half)];
    let y = top + SHARES;
    levelCounts(tops[i], data.level, tree.highest + 1).forEach((count, level) => {
      const h = (count / Math.max(1, tops[i].length)) * SHARES;
      ctx.fillStyle = full(data, level);
      ctx.fillRect(Math.floor(from), y - h, Math.ceil(to) - Math.floor(from), h);
      y -= h;
    });
  });
  vertical(ctx, theme.text, "levels", 8, top + SHARES / 2);
  const step = Math.min(12, SHARES / (tree.highest + 1));
  const named = Math.ceil(10 / step); // every so many levels, so that their names keep apart
  let at = top + SHARES - step / 2;
  ctx.textAlign = "right";
  for (let level = 0; level <= tree.highest; level++, at -= step) {
    ctx.fillStyle = full(data, level);
    ctx.fillRect(LEFT - 12, at - step / 2 + 1, 8, step - 2);
    ctx.fillStyle = theme.muted;
    if (level % named === 0) ctx.fillText(`L${level}`, LEFT - 15, at);
  }
}

/** A level's colour at full strength: here it stands for itself, and nothing is written on it.
 * @type {(data: Message, level: number) => string} */
const full = ({ level_colours: all }, level) => all[Math.min(level, all.length - 1)];

// --- pointer and keys ----------------------------------------------------------------------

/** @type {(s: State, plot: HTMLElement, said: HTMLElement) => void} */
function listen(s, plot, said) {
  /** @param {PointerEvent} event */
  const set = (event) => {
    const { found } = s.path;
    if (!found) return;
    const width = plot.clientWidth - LEFT - RIGHT;
    const share = Math.min(1, Math.max(0, (placeIn(event).x - LEFT) / width));
    go(Math.round(share * (found.values.length - 1)));
  };
  /** @param {number} index */
  const go = (index) => {
    const { over, found } = s.path;
    const value = found?.values[Math.min(found.values.length - 1, Math.max(0, index))];
    if (value === undefined || value === s.settings.setting?.[over]) return;
    change(s, { [over]: value });
    schedule(s, true);
  };
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const node = nodeAt(s, placeIn(event));
    if (node !== null) return select(s, node);
    s.path.held = true;
    plot.setPointerCapture(event.pointerId);
    set(event);
  });
  plot.addEventListener("pointermove", (event) => {
    if (s.path.held) return set(event);
    const node = nodeAt(s, placeIn(event));
    said.textContent = node === null ? "" : lineWords(s, node);
    plot.style.cursor = node === null ? "ew-resize" : "pointer";
    if (node !== s.path.hover) {
      s.path.hover = node;
      schedule(s);
    }
    return undefined;
  });
  const let_go = () => {
    if (s.path.held) report(s);
    s.path.held = false;
  };
  plot.addEventListener("pointerup", let_go);
  plot.addEventListener("pointercancel", let_go);
  plot.addEventListener("pointerleave", () => {
    s.path.hover = null;
    said.textContent = "";
    schedule(s);
  });
  plot.addEventListener("keydown", (event) => {
    const values = s.path.found?.values ?? [];
    const at = values.indexOf(s.settings.setting?.[s.path.over] ?? NaN);
    const next = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1,
      PageUp: at + 10, PageDown: at - 10, Home: 0, End: values.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    go(next);
  });
}

/** The node whose line is under the pointer, gold first; null if none is.
 * @type {(s: State, at: { x: number, y: number }) => null} */
function nodeAt({ path: { found, elements: { plot } }, scene: { data } }, { x, y }) {
  if (!found || x < LEFT) return null;
  const { clientWidth: width, clientHeight: height } = plot;
  const { y: place } = rankScale(found, height);
  const at = Math.round(((x - LEFT) / (width - LEFT - RIGHT)) * (found.values.length - 1));
  let best = null;
  let nearest = NEAR;
  found.nodes.forEach((node, i) => {
    const rank = found.ranks[i][at];
    if (!rank) return;
    const away = Math.abs(place(rank) - y) - (data.gold.includes(node) ? 2 : 0);
    if (away < nearest) [nearest, best] = [away, node];
  });
  return best;
}

/** @type {(s: State, node: number) => string} */
function lineWords({ scene: { data }, path: { found, over } }, node) {
  return `${nameOf(data, node)} · ${levelName(data, data.level[node])} · ${runText(found, over, node)}`;
}

/** @type {(found: Path | null, over: string, node: number) => string} */
function runText(found, over, node) {
  const runs = found ? retrievedAt(found, node) : [];
  return runs.length ? `retrieved at ${sign(over)} ${runs.map(([a, b]) =>
    (a === b ? short(over, a) : `${short(over, a)}–${short(over, b)}`)).join(", ")}` : "never retrieved";
}

// --- the same as a table ---------------------------------------------------------------------

/** @param {State} s */
function writeTable(s) {
  const { path: { found, over, elements: { twin, holder } }, scene: { data }, settings: { setting } } = s;
  holder.replaceChildren();
  if (!twin.open || !found || !setting) return;
  const last = found.values.length - 1;
  const places = [0, found.values.indexOf(setting[over]), last];
  /** @type {(tag: "th" | "td", texts: string[]) => HTMLTableRowElement} */
  const row = (tag, texts) => make("tr", "", ...texts.map((text) => make(tag, "", text)));
  element("table", "", holder, make("thead", "", row("th", ["node", "level", "gold",
    `rank at ${sign(over)} ${short(over, found.values[0])}`, "now",
    `at ${short(over, found.values[last])}`, "retrieved"])),
  make("tbody", "", ...found.nodes.map((node, i) => row("td", [nameOf(data, node),
    levelName(data, data.level[node]), data.gold.includes(node) ? "gold" : "",
    ...places.map((at) => String(found.ranks[i][at] || "")), runText(found, over, node)]))));
}
