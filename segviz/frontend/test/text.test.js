// Numbers, foreign text and colours.

import assert from "node:assert/strict";
import { test } from "node:test";

import { changeIndex, levelStrength, mix, rampIndex, rampTable } from "../src/canvas/colour.js";
import { matchedPieces } from "../src/shared/lines.js";
import { cutText, isolateText, number } from "../src/shared/text.js";
import { wordSpans } from "../src/shared/words.js";

const FAMILY = "\u{1f469}\u200d\u{1f469}\u200d\u{1f467}";

test("numbers have as many digits as they need", () => {
  assert.deepEqual([0, 0.0421, 1234567, 1e-9].map((value) => number(value)),
    ["0", "0.042", "1.2e+6", "1.0e-9"]);
});

test("text is cut between what a reader sees as characters", () => {
  assert.equal(cutText(FAMILY.repeat(20), 5), `${FAMILY.repeat(5)}…`);
  assert.equal(cutText("word ".repeat(20), 23), "word word word word…");
  assert.equal(cutText("short", 10), "short");
  assert.equal(isolateText("a\u202eb\nc"), "\u2068a b c\u2069");
  assert.equal(isolateText(""), "");
  assert.equal(cutText("x".repeat(400), 280).length, 281);
});

test("words that match are marked, in any case, the speaker is not", () => {
  const text = "Dog: a dog, DOGS\nToString constructor café";
  const matches = { dog: 1, dogs: 0.55, café: 0.5, bread: 1 };
  const pieces = matchedPieces(text, matches);
  assert.equal(pieces.map(([, part]) => part).join(""), text);
  assert.deepEqual(pieces.filter(([kind]) => kind !== "same"),
    [["heard", "dog"], ["alike", "DOGS"], ["alike", "café"]]);
  assert.deepEqual(matchedPieces(text), [["same", text]]);
  assert.deepEqual(matchedPieces("", matches), []);
});

// As test_words.py has them for Python.
test("words are cut as in Python, in scripts without blanks into pairs of signs", () => {
  const words = (/** @type {string} */ text) =>
    Array.from(wordSpans(text), ([start, stop]) => text.slice(start, stop));
  for (const [text, ...expected] of [
    ["I've a 3.5 m_x", "I", "ve", "a", "3", "5", "m_x"],
    ["打印机 坏", "打印", "印机", "坏"],
    ["猫はプリンター", "猫", "は", "プリ", "リン", "ンタ", "ター"],
    ["고양이, 배", "고양", "양이", "배"],
    ["ที่นี่", "ที่นี่"],
    ["किताब cafe\u0301", "किताब", "cafe\u0301"],
    [`see ${"aB+/".repeat(100_000)}= in`, "see", ...Array(64).fill("aB"), "in"],
    ["中".repeat(300), ...Array(299).fill("中中")],
    ["5\ufe0f\u20e3 \u{1f469}\u200d\u{1f467}", "5"],
  ]) assert.deepEqual(words(text), expected);
});

test("overlapping pairs of signs are one mark", () => {
  assert.deepEqual(matchedPieces("小玛: 打印机坏了\n打印", { 打印: 1, 印机: 1, 小玛: 1 }),
    [["same", "小玛: "], ["heard", "打印机"], ["same", "坏了\n"], ["heard", "打印"]]);
});

test("colours are mixed and found on a ramp", () => {
  const table = rampTable(["#000000", "#ffffff"]);
  assert.equal(mix("#ff0000", "#000000", 0.5), "#800000");
  assert.deepEqual([table[0], table[128], table[255]], ["#000000", "#808080", "#ffffff"]);
  assert.deepEqual([rampIndex(0.25, 1), rampIndex(0.25, 1, 0.5), rampIndex(-1, 1),
    rampIndex(NaN, 1), rampIndex(1, 0), rampIndex(9, 1)], [64, 128, 0, 0, 0, 255]);
  assert.deepEqual([-2, -1, 0, 0.0625, 1, 2].map((change) => changeIndex(change) + 0),
    [0, 0, 128, 136, 255, 255]);
  assert.ok([0, 1, 52].every((level) => levelStrength(level, 53) > 0.3));
});
