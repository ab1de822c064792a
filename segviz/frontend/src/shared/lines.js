// Foreign text as lines of HTML, shown literally (textContent only).

import { among, focusedBeside, make } from "./dom.js";
import { wordSpans } from "./words.js";

// As SPEAKER in segviz/conversation/turns.py: a list item, or an indented line, is none.
const SPEAKER = /^(?![\s\-*#>•|]|\d+[.)])([^\n:*]{1,60}): /;

/** [kind, text] pieces cut at line ends: one list of pieces for each line.
 * @param {Piece[]} pieces */
function splitLines(pieces) {
  /** @type {Piece[][]} */
  const lines = [[]];
  for (const [kind, text] of pieces) {
    text.split("\n").forEach((part, i) => {
      if (i) lines.push([]);
      if (part) lines[lines.length - 1].push([kind, part]);
    });
  }
  return lines;
}

/** A text in pieces: words that are the question's ("heard") or similar to one of it ("alike"),
 *  and the rest ("same"). In `lines` who speaks is not marked.
 * @param {string} text
 * @param {Record<string, number> | null} [matches] cosines of words in lower case
 * @param {boolean} [lines]
 * @returns {Piece[]} */
export function matchedPieces(text, matches, lines = true) {
  /** @type {Piece[]} */
  const pieces = [];
  let done = 0;
  for (const [start, stop] of matches ? wordSpans(text, lines) : []) {
    const known = text.slice(start, stop).toLowerCase();
    if (!matches || !Object.hasOwn(matches, known)) continue;
    const kind = matches[known] < 1 ? "alike" : "heard";
    const last = pieces[pieces.length - 1];
    if (last && start < done) { // pairs of signs overlap: one mark for both
      if (kind === "heard") last[0] = kind;
      last[1] += text.slice(done, stop);
    } else {
      if (start > done) pieces.push(["same", text.slice(done, start)]);
      pieces.push([kind, text.slice(start, stop)]);
    }
    done = stop;
  }
  if (done < text.length) pieces.push(["same", text.slice(done)]);
  return pieces;
}

/** A text with the first place of a query marked, in capitals or not.
 * @type {(text: string, query: string) => (string | Node)[]} */
export function markedParts(text, query) {
  const wanted = query.trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const found = wanted ? new RegExp(wanted, "iu").exec(text) : null;
  if (!found) return [text];
  const end = found.index + found[0].length;
  return [text.slice(0, found.index), make("mark", "heard", found[0]), text.slice(end)];
}

/** One block per line. Each takes its direction from its own words; the speaker's name in
 *  front is isolated, so that a name written from right to left moves nothing else. The
 *  words are no <bdi>: dir=auto would pass over them.
 * @param {Piece[]} pieces
 * @param {(kind: string) => "span" | "del" | "ins" | "mark"} [tagOf] */
export function lineBlocks(pieces, tagOf = (kind) => (kind === "same" ? "span" : "mark")) {
  return splitLines(pieces).map((line) => {
    const block = make("div", { className: "line", dir: "auto" });
    line.forEach(([kind, text], i) => {
      const name = i ? undefined : SPEAKER.exec(text)?.[1];
      const tag = tagOf(kind);
      block.append(make(tag, tag === "mark" ? kind : "",
        name && make("bdi", "speaker", name), name ? text.slice(name.length) : text));
    });
    if (!line.length) block.append(make("br"));
    return block;
  });
}

// --- long texts ----------------------------------------------------------------------

const LONG = 2000;

/** The first 2,000 characters, never half of one.
 * @param {string} text */
export function firstPart(text) {
  if (text.length <= LONG) return text;
  const high = /[\uD800-\uDBFF]/.test(text[LONG - 1]);
  return text.slice(0, high ? LONG - 1 : LONG) + "…";
}

/** As Python sends it, a very long text lacks its end (cut) until its name is asked for.
 * @param {LongText} item */
export const lengthOf = (item) => item.length ?? item.text.length;
/** @param {LongText} item */
export const allOf = (item) => item.text + (item.cut ? "…" : "");

/** The button that shows and hides the rest of a long text, which is open under this key; none for
 *  a short one.
 * @template {OpenList} List
 * @param {List} list
 * @param {string} key
 * @param {LongText} item
 * @param {(list: List) => void} fill
 * @param {string} what
 * @param {string} [caption] */
export function moreButton(list, key, item, fill, what, caption = "") {
  if (Math.max(lengthOf(item), caption.length) <= LONG) return undefined;
  const open = list.opened.has(key);
  const text = open ? "show less" : "show all";
  const count = (lengthOf(item) + caption.length).toLocaleString("en");
  const button = make("button", { type: "button", className: "more", ariaExpanded: String(open),
    ariaLabel: `${text}: ${what}, ${count} characters` }, text);
  button.dataset.more = key;
  button.onclick = () => {
    list.opened[open ? "delete" : "add"](key);
    if (item.name !== undefined) list.whole(open ? "" : item.name);
    fill(list);
  };
  return button;
}

/** Replaces the children; neither the scroll position nor the keyboard's place is lost.
 * @type {(list: OpenList, children: Node[]) => void} */
export function replaceRows(list, children) {
  const scrolled = list.scrollTop;
  const focused = focusedBeside(list)?.dataset ?? {};
  list.replaceChildren(...children);
  const name = ["more", "turn", "node"].find((each) => focused[each] !== undefined);
  if (name) among(list, name, focused[name] ?? "")?.focus({ preventScroll: true });
  list.scrollTop = scrolled;
}
