// What is said about an answer: who came and left, gold, levels, what a node would need.

import assert from "node:assert/strict";
import { test } from "node:test";

import { dayOf, whenOf, wordsOf } from "../src/canvas/answer.js";
import { isGone } from "../src/canvas/classes.js";
import { changeParts } from "../src/canvas/change_summary.js";
import { evidenceRows, moveText } from "../src/canvas/evidence.js";
import { needed, retrievedAt } from "../src/canvas/path.js";
import { crossings } from "../src/canvas/node_color.js";
import { verdictOf } from "../src/shared/verdict.js";
import { sceneOf } from "./scene.js";

// By initial score 0, 3, then 1, 4, 5, 6 alike; by propagated score 1, 3, then 0, 4, 5, 6.
const two = { top_initial: Int32Array.from([0, 3]), top_final: Int32Array.from([1, 3]) };

test("who entered and left, and from which rank to which", () => {
  const { answer } = sceneOf(two);
  assert.deepEqual([answer.entered, answer.left, answer.moved], [[1], [0], 0]);
  assert.deepEqual([answer.was.get(1), answer.is.get(0)], [3, 3]); // ties go to the older node
  assert.deepEqual(answer.gold.before.found, ["D1:1", "D2:2"]);
  assert.deepEqual(answer.gold.after, { missed: ["D1:1"], quoted: [], answered: [], found: ["D2:2"] });
  assert.deepEqual(answer.levels.after, [2, 0, 0]);
  assert.deepEqual(answer.held.get(6), ["D1:1", "D2:2"]);
});

test("ranks of what entered and left are Python's until a control moves", () => {
  const { answer } = sceneOf({ ...two, ranks: { 0: 5, 1: 4 } });
  assert.deepEqual([answer.was.get(1), answer.is.get(0)], [4, 5]);
});

test("the verdict and the line of what changed, and of what did not", () => {
  const parts = (changes) => changeParts(sceneOf(changes)).map((part) => part.join(" "));
  const plain = (text) => text.replace(/[\u2068\u2069]/g, "");
  assert.deepEqual(parts(two).map(plain),
    ["worse Loses 1 gold turn, now 1 of 2: rank 1 → 3, as others received more · 1 enters", "enters “one” 3→1", "leaves “zero” 1→3", "gold 2/2 → 1/2", "levels as before"]);
  const same = { top_initial: Int32Array.from([0, 3]), top_final: Int32Array.from([3, 0]) };
  assert.deepEqual(parts(same), ["same All gold found, before and after · same 2 nodes, 2 swapped", "gold 2/2 → 2/2"]);
  const later = { ...same, gold_asked: 3, gold_later: 1 };
  assert.equal(parts(later)[0], "same Gold in evidence as before · same 2 nodes, 2 swapped · 1 gold not said yet");
  assert.equal(parts({ ...later, gold: new Int32Array(0) })[0], "same Same 2 nodes, 2 swapped · 1 gold not said yet");
  const up = { ...two, top_final: Int32Array.from([4, 3]) };
  assert.equal(plain(parts(up).at(-1)), "levels leaf 2→1, level 1 0→1");
  const { initial, final } = sceneOf().data;
  const found = { initial: final, final: initial, top_initial: two.top_final, top_final: two.top_initial };
  assert.equal(parts(found)[0], "better Gains 1 gold turn, now 2 of 2: rank 3 → 1 · 1 enters");
  const why = parts({ ...two, matches: { 0: { one: 1, two: 1, three: 1, four: 1 } } }).map(plain)[4];
  assert.equal(why, "missed has only “one, two, three” and 1 more, needs its score ×2.0");
  const missed = { top_initial: Int32Array.from([1, 2]), top_final: Int32Array.from([2, 5]) };
  assert.equal(parts(missed)[0], "same Gold still missed: rank 2 → 2, 1 → 3 · 1 enters");
  const wide = { top_initial: Int32Array.from([2, 1]), top_final: Int32Array.from([4, 1]) };
  assert.equal(parts(wide)[0], "better Gains 1 gold turn, now 1 of 2, quoted by a wider node: rank 4 → 1 · 1 enters");
  assert.equal(parts(up)[3], "gold 2/2 → 1/2, 1 quoted by a wider node");
});

test("a node that states the answer is named in the verdict", () => {
  const wide = { top_initial: Int32Array.from([2, 1]), top_final: Int32Array.from([4, 1]),
    gold_answers: { 4: ["D1:1"] } };
  const parts = (changes) => changeParts(sceneOf(changes)).map((part) => part.join(" ").replace(/[\u2068\u2069]/g, ""));
  const { answer } = sceneOf(wide);
  assert.deepEqual(answer.gold.after, { found: [], quoted: [], answered: ["D1:1"], missed: ["D2:2"] });
  assert.equal(parts(wide)[0], "better Gains 1 gold turn, now 1 of 2, answered by “four” on level 1, rank 1 · 1 enters");
  assert.equal(parts(wide)[3], "gold 0/2 → 0/2, 1 answered by a node above");
  const more = { ...wide, top_final: Int32Array.from([4, 6]), gold_answers: { 4: ["D1:1"], 6: ["D1:1", "D2:2"] } };
  assert.equal(parts(more)[0], "better Gains all 2 gold turns, answered by “four” on level 1, rank 1, and 1 more · 2 enter");
  const back = { ...wide, top_initial: wide.top_final, top_final: wide.top_initial };
  assert.equal(parts(back)[0], "worse Loses 1 gold turn, now 0 of 2, answered before · 1 enters");
  const same = { ...wide, top_initial: wide.top_final };
  assert.equal(parts(same)[0], "same Gold 1 of 2 in evidence as before, missed: rank 2 → 2 · same 2 nodes, same order");
  const all = { ...same, gold: Int32Array.from([0]), gold_asked: 1 };
  assert.equal(parts(all)[0], "same Gold in evidence as before: answered by “four” on level 1, rank 1 · same 2 nodes, same order");
});

test("missed leaves beyond the first two are counted, and what a single one lacks is said", () => {
  const places = new Map([[0, 5], [1, 3], [2, 9]]);
  const held = new Map([[0, ["a"]], [1, ["b"]], [2, ["c"]]]);
  const fates = { found: [], quoted: [], answered: [], missed: ["a", "b", "c"] };
  const judged = { entered: [], left: [], after: [7, 8], moved: 0, gold: { asked: 3, later: 0, before: fates, after: fates }, was: places, is: places, held };
  const verdict = (given) => verdictOf({ ...judged, ...given }, [0, 1, 2], String, "has only “boat”")[1];
  assert.equal(verdict({}), "Gold still missed: rank 3 → 3, 5 → 5, and 1 more, the first has only “boat” · same 2 nodes, same order");
  assert.equal(verdict({ held: new Map([[1, ["b"]]]) }),
    "Gold still missed: rank 3 → 3, has only “boat” · same 2 nodes, same order");
});

test("gaps in the ranks of a list move nothing, and what leaves is counted where nothing enters", () => {
  const gaps = { top_initial: Int32Array.from([0, 3]), top_final: Int32Array.from([0, 3]), places_initial: [1, 3], places_final: [1, 3] };
  assert.match(changeParts(sceneOf(gaps))[0][1], /same 2 nodes, same order$/);
  const fewer = { top_initial: Int32Array.from([0, 1, 3]), top_final: Int32Array.from([3, 0]) };
  assert.match(changeParts(sceneOf(fewer))[0][1], / · 1 leaves$/);
  assert.equal(changeParts(sceneOf({ ...fewer, gold: new Int32Array(0), gold_asked: 0 }))[0][1], "1 leaves");
});

test("a class of gold that another question does not have stands alone no longer", () => {
  const alone = (changes) => isGone({ ...sceneOf(changes, { colour: "gold" }), isolated: { kind: "gold", key: "missed" } });
  assert.equal(alone({}), false);
  assert.equal(alone({ gold: new Int32Array(0), gold_asked: 0, gold_turns: {} }), true);
});

test("what is found by itself and then only answered is no loss", () => {
  const changes = { top_initial: Int32Array.from([0, 3]), top_final: Int32Array.from([4, 3]),
    gold_answers: { 4: ["D1:1"] } };
  const [[tone, words]] = changeParts(sceneOf(changes));
  assert.deepEqual([tone, /loses/i.test(words)], ["same", false]);
});

test("a node of several days has both in the search, and their months in the list", () => {
  const scene = sceneOf({ days: ["28 May", "2 June"], unit_day: [0, 0, 1, 1] });
  assert.deepEqual([4, 6].map((node) => whenOf(scene, node)), [["S1", "28 May"], ["S1 – S2", "28 May – 2 June"]]);
  assert.deepEqual([4, 6].map((node) => dayOf(scene, node)), ["28 May", "May – June"]);
  assert.equal(dayOf(sceneOf({ days: ["28 May"], unit_day: [-1, -1, 0, 0] }), 6), "28 May"); // the first has no date
  const bare = sceneOf({ days: [], unit_day: [-1, -1, -1, -1] });
  assert.deepEqual([4, 6].map((node) => dayOf(bare, node)), ["S1", "S1 – S2"]);
});

test("evidence best first, what has left at the end", () => {
  const scene = sceneOf({ top_initial: Int32Array.from([0, 3]), top_final: Int32Array.from([3, 1]) });
  assert.deepEqual(evidenceRows(scene).map((row) => [row.node, row.out, moveText(row)]),
    [[3, false, "▲"], [1, false, "enters"], [0, true, "leaves"]]);
});

test("a row begins with the sentence that has the rarest words of the question", () => {
  const said = "Ann: Hey dog!\nBo: One two. The bread is three four. Dog? Five.";
  const late = "Bo: one two three four five six seven dog";
  const scene = sceneOf({ ...two, texts: { 1: said, 3: late }, labels: [],
    matches: { 1: { dog: 1, bread: 1, two: 0.5 }, 3: { dog: 1 } } });
  const words = evidenceRows(scene).map((row) => row.words.replace(/[\u2068\u2069]/g, ""));
  assert.deepEqual(words.slice(0, 2), ["The bread is three four. Dog? Five", "… six seven dog"]);
});

test("a row begins with the sentence that has the known answer, where there is one", () => {
  const said = "The dog and the bread. Then Bo, with the boat. The boat is called Alzira.";
  const first = (answering) => evidenceRows(sceneOf({ ...two, texts: { 1: said }, labels: [],
    matches: { 1: { dog: 1, bread: 1, boat: 1 } }, answering }))[0].words.replace(/[\u2068\u2069]/g, "");
  assert.deepEqual([first({}), first({ 1: ["alzira"] }), first({ 3: ["alzira"] })],
    ["The dog and the bread. Then Bo, with the boat. The boat is called Alzira", "The boat is called Alzira",
      "The dog and the bread. Then Bo, with the boat. The boat is called Alzira"]);
});

test("a row whose sentence stands above names the row that has it", () => {
  const scene = sceneOf({ top_initial: Int32Array.from([2, 1]), top_final: Int32Array.from([1, 4, 5]), labels: [],
    texts: { 1: "Ann: The bread.", 4: "The bread. And more.", 5: "The bread.", 2: "The bread." } });
  assert.deepEqual(evidenceRows(scene).map(({ is, same }) => [is, same]), [[1, 1], [2, 2], [3, 1], [7, 1]]);
});

test("a node that repeats the text of a better one is folded into its row", () => {
  const folds = (changes) => evidenceRows(sceneOf({ gold_turns: {}, top_initial: Int32Array.from([0, 4]),
    top_final: Int32Array.from([1, 4, 0, 3]), ...changes })).map(({ node, into }) => [node, into]);
  const plain = [[1, null], [4, null], [0, null], [3, null]];
  const quoted = Int32Array.from([1, 4, 0, 4]); // node 4 quotes 0 and 1
  assert.deepEqual(folds({}), plain);
  // 0 does not repeat the first of the row, so it stands.
  assert.deepEqual(folds({ quoted }), plain.with(1, [4, 1]));
  assert.deepEqual(folds({ quoted, places_final: [3, 4, 1, 2] }), plain); // repeats are skipped already
  assert.deepEqual(folds({ same_text: Int32Array.from([0, 1, 2, 1, 4, 5, 6]) }), plain.with(3, [3, 1]));
  // Node 4 quotes gold of node 0 that node 1 does not hold; node 0 holds no more than that.
  const gold_turns = { 0: ["D1:1"], 4: ["D1:1"] };
  assert.deepEqual(folds({ quoted, gold_turns }), plain.with(2, [0, 4]));
});

test("words of a node: its own, without who said them, in a line of its direction", () => {
  const { data } = sceneOf({ texts: { 2: "Ann: A b c d e f g h." }, labels: [] });
  assert.equal(wordsOf(data, 2, 3), "\u2068A b c…\u2069");
  assert.equal(wordsOf(data, 1), "unit 1");
});

test("what a node would need is the nearest value that retrieves it", () => {
  const path = { over: "alpha", values: [0, 0.25, 0.5, 0.75], nodes: [7, 8, 9], ranks: [],
    tops: [[7], [8], [8], [7, 9]].map((top) => Int32Array.from(top)) };
  assert.deepEqual(retrievedAt(path, 7), [[0, 0], [0.75, 0.75]]);
  assert.deepEqual([needed(path, 7, 0.25), needed(path, 7, 0.5), needed(path, 5, 0.5)],
    ["α ≤ .00", "α ≥ .75", ""]);
  assert.equal(needed({ ...path, over: "horizon", values: [0, 1, 2, 3] }, 9, 0), "H ≥ 3");
});

test("a change is as large as what it takes to cross the last rank", () => {
  const data = { initial: [0.4, 0.2, 0.1, 0], final: [0.2, 0.1, 0.1, 0], top_initial: [0, 1],
    top_final: [0, 1] };
  // The line halves: only node 2 comes nearer to it, all the way.
  assert.deepEqual([0, 1, 2, 3].map((node) => crossings(data)(node)), [0, 0, 1, 0]);
});
