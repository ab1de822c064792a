// Finding text in nodes: the field, how many hits there are, and the way from one to the
// next. The browser searches the texts it was sent, which may be cut or absent; where Python
// can be asked, its answer over the full texts takes the place of this one. By meaning Python finds
// the nodes most relevant to the query. On Ask a search can be pinned: its hits stay, in a colour.

import { button, element, make, rewrite } from "../shared/dom.js";
import { markedParts } from "../shared/lines.js";
import { CONTROLS } from "../shared/text.js";
import { dot, plus, triangle } from "./glyphs.js";
import { schedule } from "./scheduler.js";
import { select, walkTo } from "./navigation.js";
import { labelOf, whenOf } from "./answer.js";

const TYPED_MS = 300;
const LISTED = 50; // hits that are listed
const [BEFORE, AROUND] = [24, 120]; // characters before a hit, and in all
/** How pinned searches look, in words of the legend and on nodes; more cannot be pinned.
 * @type {{ mark: string, sign: Sign, colour: string }[]} */
export const LAYERS = [{ mark: "●", sign: dot, colour: "#008f68" },
  { mark: "▼", sign: triangle, colour: "#b0489a" }, { mark: "+", sign: plus, colour: "#0a84b5" }];

/** @param {State} s
 * @param {HTMLElement} parent */
export function buildFind(s, parent) {
  const root = element("div", { className: "find", role: "search" }, parent);
  const input = element("input", { type: "search", ariaLabel: "Find text in the nodes" }, root);
  const mark = element("i", "hit", root);
  const words = element("span", "tally", root);
  const before = button("", root, "‹", () => walkHit(s, true), "Hit before (Shift Enter)");
  const next = button("", root, "›", () => walkHit(s, false), "Next hit (Enter)");
  input.addEventListener("input", () => seek(s, input.value));
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // Enter ends a word, not the search
    if (event.key === "Enter") walkHit(s, event.shiftKey);
    else if (event.key === "Escape") endSearch(s);
    else return;
    event.preventDefault();
  });
  const panel = element("div", "panel", root);
  const ways = element("div", "ways", panel);
  // The keyboard stays in the field, so that the panel stays open.
  panel.addEventListener("pointerdown", (event) => event.preventDefault());
  const by = Object.fromEntries(["words", "meaning"].map((way) =>
    [way, button("", ways, `by ${way}`, () => seek(s, input.value, way))]));
  const pin = button("pin", ways, "Pin as layer", () => pinSearch(s));
  pin.title = "Keep these hits on the tree, in a colour";
  return { root, input, mark, words, before, next, ways, by, pin, list: element("div", "hits", panel) };
}

/** The pinned searches, as part of the legend.
 * @type {(s: State, parent: HTMLElement) => HTMLElement} */
export const buildPins = (s, parent) => element("div", "pins", parent);

/** @param {State} s */
function pinSearch(s) {
  const { pins, query, by, hits } = s.search;
  const look = LAYERS.find((one) => !pins.some((pin) => pin.look === one));
  if (!look || !hits.length) return;
  pins.push({ query, by, hits, look });
  endSearch(s);
}

/** Searches for something else, or in another way.
 * @type {(s: State, query: string, by?: string) => void} */
function seek(s, query, by = s.search.by) {
  const { search } = s;
  Object.assign(search, { query, by, at: -1 });
  refind(s);
  clearTimeout(search.timer);
  search.timer = setTimeout(() => ask(s), TYPED_MS);
  schedule(s, true);
}

/** Finds anew after a change of the query or of the data.
 * @param {State} s */
export function refind(s) {
  const { search, scene: { data } } = s;
  const query = normalised(search.query);
  const current = search.hits[search.at];
  const { by } = search;
  const answer = data.found && data.found.query === query && data.found.by === by ? data.found : null;
  const nodes = (answer?.nodes ?? (by === "words" ? findText(query, data.labels, data) : []))
    .filter((node) => data.level[node] >= 0);
  search.waits = Boolean(query && by !== "words" && !answer);
  search.hits = nodes;
  search.excerpts = answer?.excerpts ?? {};
  search.at = nodes.indexOf(current);
  showFind(s);
}

/** Where Python listens, it searches the full texts.
 * @param {Scene} scene */
const asks = ({ data }) => data.found !== undefined;

/** @param {State} s */
function ask(s) {
  const { search } = s;
  clearTimeout(search.timer);
  search.timer = 0;
  const query = normalised(search.query);
  const wanted = `${search.by} ${query}`;
  if (!asks(s.scene) || wanted === search.asked) return;
  search.asked = wanted;
  s.tell("query", [search.by, query]);
}

/** Lists the hits with what stands around the words; a click goes to one.
 * @param {State} s */
function listHits(s) {
  const { elements: { find }, search, scene: { data } } = s;
  const query = normalised(search.query);
  rewrite(find.list, [query, search.by, search.hits, search.excerpts], () => {
    search.hits.slice(0, LISTED).forEach((node, i) => {
      const text = search.excerpts[node] ?? data.labels[node] ?? "";
      const near = text.toLowerCase().indexOf(query) - BEFORE;
      const blank = text.indexOf(" ", near);
      const from = near <= 0 ? 0 : blank >= 0 && blank < near + BEFORE ? blank + 1 : near; // at a word
      const line = button("entry", find.list, "", () => goTo(s, i));
      line.append(make("span", "when", whenOf(s.scene, node).filter(Boolean).join(" · ")),
        make("span", "called", labelOf(data, node)), make("bdi", "words",
          ...markedParts(text.slice(from, from + AROUND).replace(CONTROLS, " "), query)));
    });
    const leaves = search.hits.filter((node) => data.level[node] === 0).length;
    const above = search.hits.length - leaves;
    if (leaves && above) {
      const [counted, next] = [leaves === 1 ? "leaf" : "leaves", search.by === "words" ? ", then" : " and"];
      find.list.prepend(make("div", "more", `${leaves} ${counted}${next} ${above} above`)); // by meaning the best is first
    }
    if (query && !search.hits.length && search.by === "words" && data.by_meaning && !find.ways.hidden)
      element("div", "more", find.list, "No text has exactly these words. Search by meaning finds others.");
    const more = search.hits.length - LISTED;
    if (more > 0) element("div", "more", find.list, `and ${more} more`);
  });
}

/** Selects the next hit, or the one before.
 * @type {(s: State, back: boolean) => void} */
export function walkHit(s, back) {
  const { search } = s;
  if (search.timer) ask(s);
  if (search.hits.length) goTo(s, nextHit(search.at, search.hits.length, back));
}

/** @type {(s: State, at: number) => void} */
function goTo(s, at) {
  const { search } = s;
  search.at = at;
  const node = search.hits[at];
  walkTo(s, node, `${hitWords(search)}: `, search.excerpts[node]);
  select(s, node);
  showFind(s);
  s.elements.find.list.querySelectorAll(".entry")[at]?.scrollIntoView({ block: "nearest" });
}

/** Forgets the search; the keyboard returns to the tree.
 * @param {State} s */
export function endSearch(s) {
  s.elements.find.input.value = "";
  seek(s, "");
  ask(s);
  s.elements.over.focus({ preventScroll: true });
}

/** Empties the field for another conversation.
 * @param {State} s */
export function resetSearch(s) {
  clearTimeout(s.search.timer);
  Object.assign(s.search, createSearch());
  s.elements.find.input.value = "";
}

/** @param {State} s */
function showFind(s) {
  const { elements: { find }, search, scene: { data } } = s;
  const limit = searchedLength(data.labels);
  const blind = data.nodes > 0 && !data.labels.length && !asks(s.scene);
  find.input.disabled = blind;
  find.input.placeholder = blind ? "no texts here" : "Find  /";
  find.input.title = blind ? "So many nodes are sent without their texts"
    : asks(s.scene) || limit === Infinity ? "Find text in the nodes, in capitals or not (/)"
      : `Find text in the first ${limit} characters of each node (/)`;
  const words = hitWords(search);
  find.words.textContent = words;
  const scored = data.mode === "scores" && data.legend;
  find.ways.hidden = !scored;
  for (const [way, made] of Object.entries(find.by)) {
    made.hidden = !data.by_meaning;
    made.ariaPressed = String(way === search.by);
  }
  find.pin.disabled = !search.hits.length || search.pins.length === LAYERS.length;
  showPins(s);
  find.mark.hidden = !search.hits.length;
  find.root.classList.toggle("active", words !== "");
  find.before.disabled = find.next.disabled = !search.hits.length;
  listHits(s);
}

/** @param {State} s */
function showPins(s) {
  const { search, elements: { pins } } = s;
  rewrite(pins, search.pins.map(({ query, look }) => [query, look.colour]), () => {
    search.pins.forEach((pin) => {
      const { query, by, hits, look } = pin;
      const chip = button("class", pins, "", () => {
        search.pins.splice(search.pins.indexOf(pin), 1);
        showFind(s);
        schedule(s, true);
      });
      chip.title = `${hits.length} nodes found by ${by}. Press to remove.`;
      const sign = element("b", "", chip, look.mark);
      sign.style.color = look.colour;
      chip.append(make("bdi", "", query), make("span", "", String(hits.length)), make("span", "", "×"));
    });
  });
}

// --- searching: pure functions -----------------------------------------------------------

export const createSearch = () => ({
  query: "", by: "words", hits: /** @type {number[]} */ ([]), at: -1, asked: "words ", waits: false,
  /** @type {{ query: string, by: string, hits: number[], look: typeof LAYERS[number] }[]} */
  pins: [],
  timer: /** @type {Timer} */ (0), excerpts: /** @type {Record<string, string>} */ ({}),
});

/** @param {string} query */
export const normalised = (query) => query.trim().toLowerCase();

/** Active nodes whose text holds the query in any case: by level, leaves first, each in reading
 *  order.
 * @type {(query: string, labels: string[],
 *    given: { level: Ids, start: Ids, stop: Ids }) => number[]} */
export function findText(query, labels, { level, start, stop }) {
  const wanted = normalised(query);
  /** @type {number[]} */
  const hits = [];
  if (!wanted) return hits;
  for (let id = 0; id < labels.length; id++) {
    if (level[id] >= 0 && labels[id].toLowerCase().includes(wanted)) hits.push(id);
  }
  return hits.sort((a, b) => level[a] - level[b] || start[a] - start[b] || stop[a] - stop[b] || a - b);
}

/** Place of the hit after `at`, or before it; -1 stands before the first. Round and round.
 * @type {(at: number, count: number, back: boolean) => number} */
export function nextHit(at, count, back) {
  if (!count) return -1;
  if (at < 0) return back ? count - 1 : 0;
  return (at + (back ? -1 : 1) + count) % count;
}

/** How many characters of each text the browser holds; Infinity if none is cut.
 * @param {string[]} labels */
export function searchedLength(labels) {
  let most = 0;
  for (const label of labels) {
    if (label.endsWith("…")) most = Math.max(most, label.length - 1);
  }
  return most || Infinity;
}

/** What the search says: "3 of 17", "17 found", "none".
 * @param {Pick<Search, "query" | "hits" | "at"> & Partial<Search>} given */
export function hitWords({ query, hits, at, waits }) {
  if (!normalised(query)) return "";
  if (waits) return "searching";
  if (!hits.length) return "none";
  return at < 0 ? `${hits.length} found` : `${at + 1} of ${hits.length}`;
}
