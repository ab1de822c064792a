// Numbers and foreign text as the tree view writes them. Pure functions.

/** A number for a person: two decimals, or what is needed for tiny and huge ones.
 * @param {number} value */
export function number(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.001 || size >= 1e5) return value.toExponential(1);
  return value.toFixed(size >= 100 ? 0 : size < 0.095 ? 3 : 2);
}

// Of these every one is a character by itself: no need to look for whole graphemes, which is
// slow while the view moves and every label is cut anew in every frame.
const SINGLE = /^[\u0020-\u02ff\u2010-\u2027]*$/;

/** At most `limit` user-perceived characters, cut after a word where one ends nearby.
 * @type {(text: string, limit: number) => string} */
export function cutText(text, limit) {
  if (text.length <= limit) return text;
  let end = limit;
  if (!SINGLE.test(text)) {
    const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" });
    end = 0;
    let count = 0;
    for (const { index, segment } of segments.segment(text.slice(0, limit * 8))) {
      if (count++ === limit) break;
      end = index + segment.length;
    }
  }
  if (end >= text.length) return text;
  const head = text.slice(0, end);
  const space = head.search(/\s\S*$/);
  return (space > end * 0.7 ? head.slice(0, space) : head).replace(/[\s,;:]+$/, "") + "…";
}

/** Control and bidi characters, which have no place in a single line of foreign text. */
// eslint-disable-next-line no-control-regex -- it is these that are taken out
export const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** Foreign text for one line: no control or bidi characters, direction isolated.
 * @param {string} text */
export function isolateText(text) {
  const plain = text.replace(CONTROLS, " ");
  return plain && `\u2068${plain}\u2069`;
}

/** "level 1", or "levels 0–2, same text" of a same-text chain.
 * @type {(level: number, top: number) => string} */
export const levelsText = (level, top) =>
  (level === top ? `level ${level}` : `levels ${level}–${top}, same text`);

/** "unit 45" or "units 45–50" (the last one included, counted from 0 as Unit.index).
 * @type {(start: number, stop: number) => string} */
export function spanText(start, stop) {
  return stop - start === 1 ? `unit ${start}` : `units ${start}–${stop - 1}`;
}
