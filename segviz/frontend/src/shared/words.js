// The words of a text in every script, as segviz/text/words.py cuts them.

// Scripts that are cut into pairs of neighbouring signs: Han, Hiragana, Katakana, Hangul, Thai and
// Lao, Burmese and Khmer.
const SCRIPTS = [
  "\\u3005-\\u3007\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}",
  "\\u3041-\\u309f",
  "\\u30a1-\\u30fa\\u30fc-\\u30ff\\u31f0-\\u31ff\\uff66-\\uff9f",
  "\\u1100-\\u11ff\\u3130-\\u318f\\uac00-\\ud7a3",
  "\\u0e01-\\u0e3a\\u0e40-\\u0e4e\\u0e50-\\u0e59\\u0e81-\\u0edf",
  "\\u1000-\\u1049\\u1050-\\u109f\\u1780-\\u17d3\\u17e0-\\u17e9",
];
const MARK = "(?:(?=[\\u0300-\\u1aff])\\p{M})";
const LETTERS = `(?:(?![${SCRIPTS.join("")}])[\\p{L}\\p{N}_])`;
const RUNS = `(${SCRIPTS.map((script) => `[${script}]+`).join("|")})`
  + `|${LETTERS}+(?:(?:(?![${SCRIPTS.join("")}])${MARK})+${LETTERS}*)*`;
const WORDS = new RegExp(RUNS, "gu");
// Of a word of more signs (an image, a key) only so many are read.
const LONGEST = 256;
const IN_LONG = `[^\\s${SCRIPTS.join("")}.,:;!?"'()<>{}\\[\\]&]`;
const LONG = new RegExp(`(${IN_LONG}{${LONGEST}})${IN_LONG}+`, "gu");
const NAMES = /^[^\n:]{1,60}: /gmu;
const SIGN = new RegExp(`(?!${MARK})[^]${MARK}*|${MARK}+`, "gu");

/** Where the words of a text start and stop, in order; pairs of signs overlap. In `lines` the name
 *  of who speaks is passed over.
 * @param {string} text
 * @param {boolean} [lines]
 * @returns {Generator<[number, number]>} */
export function* wordSpans(text, lines = false) {
  let said = lines ? text.replace(NAMES, (name) => " ".repeat(name.length)) : text;
  if (said.length > LONGEST) {
    said = said.replace(LONG, (run, first) => first.padEnd(run.length));
  }
  for (const { 0: run, 1: signs, index } of said.matchAll(WORDS)) {
    const places = signs ? Array.from(signs.matchAll(SIGN), (sign) => index + sign.index) : [];
    if (places.length < 2) yield [index, index + run.length];
    places.push(index + run.length);
    for (let i = 2; i < places.length; i++) yield [places[i - 2], places[i]];
  }
}
