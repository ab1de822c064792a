// The transcript: session headings and turns.
//
// Every text goes in through textContent, so chat text can never become markup, a link or
// a request. The scroll position is kept across updates; it moves only when the row that
// Python wants in view ("focus") changes, and while another view points at turns that are
// out of sight. Of a long text only the beginning is laid out until someone asks for the
// rest.
//
// The arrow keys walk from turn to turn. Other views of the memory ("about") are told the
// unit of the turn that the pointer or the keyboard is on.

import { element, focusedBeside, make } from "../shared/dom.js";
import { ending, reading } from "../shared/component.js";
import { holds, listenPointing, point } from "../shared/pointing.js";
import { allOf, firstPart, lengthOf, moreButton, replaceRows } from "../shared/lines.js";

const STATE = "segvizTranscript";
const HEADING = 28; // the session's line stays at the top, over the turns

const END = 60; // pixels before the end of the list where more of it is asked for

/** Asks for the turns beyond an end that somebody has scrolled to, once; those before push nothing
 *  away.
 * @param {Transcript} list */
function askForMore(list) {
  if (list.scrollTop === list.still) return; // where the list was put
  const below = list.scrollHeight - list.clientHeight - list.scrollTop;
  for (const [side, left] of /** @type {const} */ ([["before", list.scrollTop], ["after", below]])) {
    if (left > END || !list.more[side]) continue;
    list.more[side] = false;
    list.fromEnd = side === "before" ? list.scrollHeight - list.scrollTop : null;
    list.tell("more", side);
  }
}

/** @param {SessionItem} item */
function sessionRow({ heading, colour }) {
  const swatch = make("i");
  swatch.style.background = colour;
  return make("div", { className: "session", role: "heading", ariaLevel: "4" },
    swatch, make("bdi", "", heading));
}

/** @param {Transcript} list
 * @param {TurnItem} item */
function turnRow(list, item) {
  const { id, unit } = item;
  const caption = item.caption || "";
  const key = `${id} ${lengthOf(item)}`; // another conversation's turn is not open
  const [said, seen] = list.opened.has(key) ? [allOf(item), caption]
    : [item.text, caption].map(firstPart);
  const body = make("div", { className: "body", dir: "auto" },
    make("bdi", "speaker", item.speaker), " ", make("bdi", "", said));
  if (caption) body.append(" ", make("bdi", "caption", "image: " + seen));
  const more = moreButton(list, key, item, fill, `turn ${id}`, caption);
  if (more) body.append(" ", more);
  const line = make("div", { className: ["turn", ...item.marks ?? []].join(" "), role: "group",
    ariaLabel: `turn ${id}`, tabIndex: -1 },
  make("span", "id", id), body, make("span", "flag", item.flag));
  line.dataset.turn = id;
  if (Number.isInteger(unit)) line.dataset.unit = String(unit);
  return line;
}

/** @param {Transcript} list */
function fill(list) {
  replaceRows(list,
    list.rows.map((item) => ("heading" in item ? sessionRow(item) : turnRow(list, item))));
  keepStop(list, turnOf(focusedBeside(list)));
  light(list, list.lit);
}

// --- pointing --------------------------------------------------------------------------

/** @param {any} element
 * @returns {HTMLElement | null} */
const turnOf = (element) => element?.closest?.(".turn") ?? null;
/** @param {Transcript} list */
const turnsOf = (list) =>
  [.../** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(".turn"))];

/** One turn can be reached by Tab: the one that was last, else the first marked one.
 * @param {Transcript} list
 * @param {HTMLElement | null} turn */
function keepStop(list, turn) {
  const rows = turnsOf(list);
  const known = rows.find((row) => row.dataset.turn === list.stop);
  const stop = turn ?? known ?? rows.find((row) => row.matches(".covered, .new")) ?? rows[0];
  for (const row of rows) row.tabIndex = row === stop ? 0 : -1;
}

/** Tells the other views which unit a turn belongs to; null lets go.
 * @param {Transcript} list
 * @param {HTMLElement | null} turn */
function tell(list, turn) {
  const unit = turn?.dataset.unit;
  if (unit === list.told) return;
  list.told = unit;
  point(list, list.about, unit === undefined ? [] : [[Number(unit), Number(unit) + 1]]);
}

/** Lights the turns another view is on. Where none of them can be seen the list moves to
 *  the first, and back when the other lets go.
 * @param {Transcript} list
 * @param {Span[]} spans */
function light(list, spans) {
  list.lit = spans;
  const lit = turnsOf(list).filter((row) => {
    const on = row.dataset.unit !== undefined && holds(spans, Number(row.dataset.unit));
    row.classList.toggle("pointed", on);
    return on;
  });
  const top = list.scrollTop;
  /** @param {any} row */
  const place = (row) => row.offsetTop - list.offsetTop;
  /** @param {any} row */
  const seen = (row) => place(row) + row.offsetHeight > top + HEADING
    && place(row) < top + list.clientHeight;
  if (lit.length && !lit.some(seen)) {
    list.away ??= top;
    list.scrollTop = place(lit[0]) - HEADING - 8;
    list.still = list.scrollTop;
  } else if (!lit.length && list.away !== null) {
    list.scrollTop = list.still = list.away;
    list.away = null;
  }
}

/** @param {Transcript} list
 * @param {KeyboardEvent} event */
function pressKey(list, event) {
  const turn = turnOf(event.target);
  if (!turn || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = turnsOf(list);
  /** @type {Record<string, number>} */
  const places = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };
  const by = places[event.key];
  if (!by) return;
  const to = Math.max(0, Math.min(rows.length - 1, rows.indexOf(turn) + by));
  rows[to].focus();
  event.preventDefault();
}

/** @param {any} parentElement */
function createList(parentElement) {
  const list = /** @type {Transcript} */ (/** @type {HTMLElement} */ (element("div",
    { className: "transcript", role: "region", ariaLabel: "Transcript" }, parentElement)));
  Object.assign(list, { opened: new Set(), rows: [], lit: [], away: null, fromEnd: null, calls: 0,
    about: "" });
  /** @param {string} name
   * @param {(event: any) => void} act */
  const on = (name, act) => list.addEventListener(name, act);
  on("pointerover", (event) => tell(list, turnOf(event.target)));
  on("pointerleave", () => tell(list, null));
  on("focusin", (event) => {
    const turn = turnOf(event.target);
    if (!turn) return;
    list.stop = turn.dataset.turn;
    keepStop(list, turn);
    if (event.target.matches(":focus-visible")) tell(list, turn);
  });
  on("focusout", (event) => { if (!list.contains(event.relatedTarget)) tell(list, null); });
  on("keydown", (event) => pressKey(list, event));
  on("wheel", () => { list.away = null; }); // who scrolls wants to stay there
  on("scroll", () => askForMore(list));
  list.silence = listenPointing(list, () => list.about, (spans) => light(list, spans));
  return list;
}

export default reading(mount);

/** @param {Mount<any>} component */
function mount({ data, parentElement, setTriggerValue }) {
  /** @type {Transcript} */
  const list = parentElement[STATE] ??= createList(parentElement);
  if (list.about !== data.about) {
    tell(list, null);
    Object.assign(list, { about: data.about, lit: [], away: null });
  }
  list.style.height = data.height + "px";
  list.rows = data.rows;
  list.tell = setTriggerValue;
  list.whole = (name) => setTriggerValue("whole", name);
  fill(list);
  list.more = { ...data.more };
  if (list.fromEnd !== null) list.scrollTop = list.scrollHeight - list.fromEnd;
  list.fromEnd = null;
  show(list, data);
  list.still = list.scrollTop;
  return ending(list, () => {
    tell(list, null);
    list.silence();
    list.remove();
    delete parentElement[STATE];
  });
}

/** Brings the turn into view that Python wants there, once.
 * @param {Transcript} list
 * @param {any} data */
function show(list, data) {
  const wanted = `${data.about} ${data.focus} ${data.height}`;
  if (wanted === list.dataset.wanted) return;
  list.dataset.wanted = wanted;
  const target = turnsOf(list).find((line) => line.dataset.turn === data.focus);
  if (!target) return;
  const middle = target.offsetTop - list.offsetTop - (list.clientHeight - target.offsetHeight) / 2;
  list.scrollTop = Math.max(0, middle);
  list.away = null;
}
