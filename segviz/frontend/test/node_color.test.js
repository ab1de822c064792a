// What colours a node, what is written on it and what stands alone.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { visibleBoxes } from "../src/canvas/boxes.js";
import { colourClasses, isMember, toggleIsolated } from "../src/canvas/classes.js";
import { adoptLook, createLook, tellLook } from "../src/canvas/colour_menu.js";
import { geometry } from "../src/canvas/geometry.js";
import {
  drawLabels, fitLabel, labelChoice, labelsFor, labelTexts, placeText, wrapText,
} from "../src/canvas/labels.js";
import { coloursFor, fillOf, goldClasses } from "../src/canvas/node_color.js";
import { columnWeights } from "../src/canvas/weights.js";
import { recording, sceneOf } from "./scene.js";

const ARABIC = "\u0645\u0631\u062d\u0628\u0627 ";
const COLOURS = ["session", "level", "initial", "propagated", "change", "gold", "coherence"];
const LABELS = ["words", "marked", "none", "session", "node", "score"];
const none = new Float64Array(0);

describe("choices", () => {
  const choices = (...given) => {
    const { data } = sceneOf(...given);
    return [coloursFor(data), labelsFor(data)].map((offered) => offered.map(([choice]) => choice));
  };
  const colours = (...given) => choices(...given)[0];
  const without = (...names) => ["", ...COLOURS].filter((name) => !names.includes(name));

  test("only what the data shows is on offer", () => {
    assert.deepEqual(choices(), [["", ...COLOURS], LABELS]);
    assert.deepEqual(colours({ gold: [] }), without("gold"));
    assert.deepEqual(colours({ final: none, top_final: [] }), without("propagated", "change"));
    assert.deepEqual(colours({ measures: [] }), without("coherence"));
    assert.deepEqual(choices({ initial: none, final: none }),
      [without("initial", "propagated", "change"), LABELS]);
    assert.deepEqual(choices({}, {}, "grow"),
      [["", "level", "coherence"], LABELS.filter((name) => name !== "marked")]);
    assert.deepEqual(choices({ measures: [], names: [] }, {}, "grow"),
      [["", "level"], ["none", "session", "node"]]);
  });

  test("each half has its own score until something is chosen", () => {
    const own = ["initial", "propagated"];
    assert.deepEqual([sceneOf(), sceneOf({}, {}, "change"), sceneOf({}, {}, "grow"),
      sceneOf({}, { colour: "gold" }), sceneOf({ gold: [] }, { colour: "gold" })]
      .map((scene) => scene.shades), [own, ["change"], ["session"], ["gold", "gold"], own]);
  });
});

describe("ghosts", () => {
  const ghost = Int32Array.from([0, 1, 0, 0, 0, 0, 0]);

  test("are pale by every colour", () => {
    for (const colour of ["session", "level", "gold", "coherence"]) {
      const scene = sceneOf({ ghost }, { colour });
      assert.deepEqual(fillOf(scene, 0, 1), { colour: "#ededed", pattern: null });
      assert.notDeepEqual(fillOf(scene, 0, 0), fillOf(scene, 0, 1));
    }
  });
});

describe("fill", () => {
  test("every shade has its colour and pattern", () => {
    const fills = (colour, nodes) => {
      const scene = sceneOf({}, { colour });
      return nodes.map((node) => Object.values(fillOf(scene, 1, node)));
    };
    const grey = `#${"80".repeat(3)}`;
    assert.deepEqual(fills("level", [0, 4, 6]),
      [["#aa0000", null], ["#bb0000", null], ["#bb0000", null]]);
    assert.deepEqual(fills("initial", [0, 1, 2]),
      [["#ffffff", null], [grey, null], ["#000000", null]]);
    assert.deepEqual(fills("", [0, 1]), [[grey, null], ["#ffffff", null]]);
    // The last retrieved have .1 before and after: one falls to that line, one rises from it.
    assert.deepEqual(fills("change", [0, 1, 2]),
      [["#000000", "hatch"], ["#ffffff", null], ["#808080", null]]);
    assert.deepEqual(fills("gold", [0, 3, 4, 1]),
      [["#q", "hatch"], ["#m", "cross"], ["#a", null], ["#o", null]]);
    assert.deepEqual(fills("coherence", [5, 2, 6]),
      [["#ffffff", null], ["#cccccc", "dots"], ["#000000", null]]);
    assert.deepEqual(fills("session", [0, 3]), [["#440000", null], ["#ffee88", null]]);
  });

  test("a gold leaf is found, quoted, answered or missed", () => {
    const { tree, data } = sceneOf();
    const fate = (top) => [...goldClasses(tree, data, top)].sort();
    const above = [[4, "above"], [5, "above"], [6, "above"]];
    assert.deepEqual([[0, 3], [4], [], [6]].map(fate), [
      [[0, "found"], [3, "found"], ...above],
      [[0, "quoted"], [3, "missed"], ...above],
      [[0, "missed"], [3, "missed"], ...above],
      [[0, "quoted"], [3, "quoted"], ...above],
    ]);
    const states = { ...data, gold_answers: { 6: ["D2:2"] } };
    assert.deepEqual([...goldClasses(tree, states, [6])].sort(), [[0, "quoted"], [3, "answered"], ...above]);
  });

  test("a node above that has no gold turn changes no fate", () => {
    const { tree, data } = sceneOf({ gold_turns: { 0: ["D1:1"], 3: ["D2:2"], 6: ["D2:2"] } });
    const classes = goldClasses(tree, data, [4, 6]);
    assert.deepEqual([classes.get(0), classes.get(3)], ["missed", "quoted"]);
  });

  test("a leaf drawn twice has one fate", () => {
    // Leaves 0 and 2 are one node of the memory; only the copy of 4 was named as retrieved.
    const { tree, data } = sceneOf({ gold: [0, 2], gold_turns: { 6: ["D1:1"], 9: ["D1:1"] },
      origin: Int32Array.from([9, 8, 9, 7, 6, 5, 4]) });
    const found = goldClasses(tree, data, [4]);
    assert.deepEqual([found.get(0), found.get(2)], ["quoted", "quoted"]);
  });

});

describe("which of several nodes in one pixel column is seen", () => {
  const best = (colour, isolated = null, picture = "scores") => {
    const scene = sceneOf({ added: [1] }, { colour }, picture);
    scene.isolated = isolated;
    return columnWeights(scene).map((weights) =>
      [0, 1, 2, 3].sort((a, b) => weights[b] - weights[a] || a - b)[0]);
  };

  test("it follows the colour", () => {
    assert.deepEqual(best(""), [0, 1]);
    assert.deepEqual(best("initial"), [0, 0]);
    assert.deepEqual(best("propagated"), [1, 1]);
    assert.deepEqual(best("change"), [0, 0]);
    assert.deepEqual(best("gold"), [3, 3]); // missed
    assert.deepEqual(best("coherence"), [0, 0]); // the least coherent that is known
    assert.deepEqual(best("level"), [0, 1]); // all one colour: the higher score
    assert.deepEqual(best("", null, "grow"), [1]); // the new one
    assert.deepEqual(best("coherence", null, "grow"), [0]);
  });

  test("what stands alone comes first", () => {
    assert.deepEqual(best("coherence", { kind: "coherence", key: 4 }), [1, 1]);
    assert.deepEqual(best("coherence", { kind: "coherence", key: -1 }), [2, 2]);
    assert.deepEqual(best("gold", { kind: "gold", key: "found" }), [0, 3]);
    assert.deepEqual(best("", { kind: "top", key: 0 }), [0, 1]);
    assert.deepEqual(best("", { kind: "session", key: 1 }), [0, 1]);
  });
});

describe("classes", () => {
  test("they are counted", () => {
    const counts = (colour) => {
      const found = colourClasses(sceneOf({}, { colour }));
      return found && [found.kind, found.counted,
        found.items.map(({ key, name, count }) => [key, name, count])];
    };
    assert.deepEqual(counts("session"), ["session", "leaf", [[0, "S1", 2], [1, "S2", 2]]]);
    assert.deepEqual(counts("level"),
      ["level", "node", [[0, "L0", 4], [1, "L1", 2], [2, "L2", 1]]]);
    assert.deepEqual(counts("gold"), ["gold", "node", [["found", "found", 0],
      ["quoted", "quoted", 1], ["answered", "answered", 0], ["missed", "missed", 1], ["above", "above", 3],
      ["other", "other", 2]]]);
    assert.deepEqual(counts("coherence"), ["coherence", "node", [[0, "below 0.2", 2],
      [1, "0.2–0.4", 0], [2, "0.4–0.6", 2], [3, "0.6–0.8", 0], [4, "0.8–1.0", 2],
      [-1, "none", 1]]]);
    assert.deepEqual([counts(""), counts("initial")], [null, null]);
  });

  for (const colour of ["level", "gold", "coherence"]) {
    test(`members of a class of ${colour} are those it counts`, () => {
      const scene = sceneOf({}, { colour });
      const found = colourClasses(scene);
      for (const { key, count } of found.items) {
        scene.isolated = { kind: found.kind, key };
        assert.equal([0, 1, 2, 3, 4, 5, 6].filter((n) => isMember(scene, 1, n)).length, count);
      }
    });
  }

  test("a second call brings everything back", () => {
    const scene = sceneOf();
    const seen = [1, 2, 2].map((key) => {
      toggleIsolated(scene, "level", key);
      return scene.isolated && scene.isolated.key;
    });
    assert.deepEqual(seen, [1, 2, null]);
  });
});

describe("labels", () => {
  test("what may stand on a node", () => {
    const texts = (labels, node, look = {}, changes = {}, half = 0) => {
      const scene = sceneOf(changes, { labels, ...look });
      return labelTexts(scene, half, node, labelChoice(scene));
    };
    const origin = Int32Array.from([9, 8, 7, 6, 5, 40, 3]);
    assert.deepEqual(texts("node", 5), ["5"]);
    assert.deepEqual(texts("node", 5, {}, { origin }), ["40"]);
    assert.deepEqual(texts("session", 0), ["S1 · 2 May", "S1"]);
    assert.deepEqual(texts("session", 6), ["S1 – S2"]);
    assert.deepEqual(texts("words", 3), ["three"]);
    assert.deepEqual(texts("score", 0), ["×2.80"]);
    assert.deepEqual(texts("score", 0, {}, {}, 1), ["×0.70"]);
    assert.deepEqual(texts("score", 0, { colour: "change" }), ["−×2.10"]);
    assert.deepEqual(texts("score", 1, { colour: "coherence" }), ["0.90"]);
    assert.deepEqual(texts("score", 2, { colour: "coherence" }), []);
    assert.deepEqual(texts("score", 1, { colour: "level" }), ["×0.70"]);
    assert.deepEqual(texts("score", 2), ["×0.00"]);
  });

  for (const text of ["word ".repeat(30), ARABIC.repeat(9), "\u202eab\n".repeat(40)]) {
    test(`${JSON.stringify(text.slice(0, 8))}… is cut to its room, its direction its own`, () => {
      const measure = (t) => 7 * [...t].length;
      for (const room of [40, 200, 2000]) {
        const cut = fitLabel([text], true, measure, room);
        assert.ok(measure(cut) <= room);
        if (!cut) continue;
        assert.equal(cut[0] + cut.at(-1), "\u2068\u2069");
        assert.doesNotMatch(cut.slice(1, -1), /[\u202e\n\u2068\u2069]/);
        if (room < measure(text)) assert.equal(cut.at(-2), "…");
      }
      assert.equal(fitLabel([text, "S7"], false, measure, 40), "\u2068S7\u2069");
    });
  }

  const measure = (text) => 6 * [...text].filter((sign) => !/[\u2068\u2069]/.test(sign)).length;
  const plain = ({ lines }) => lines.map((line) => line.replace(/[\u2068\u2069]/g, ""));

  test("a title breaks at words, not at commas, and loses none that has room", () => {
    const title = "Convention, films, cozy room";
    const lines = (text, room, most) => plain(wrapText(text, measure, room, most));
    assert.deepEqual(lines(title, 200, 1), [title]);
    assert.deepEqual(lines(title, 108, 2), ["Convention, films,", "cozy room"]);
    assert.deepEqual(lines(title, 108, 1), ["Convention, films…"]);
    assert.deepEqual(lines(title, 102, 1), ["Convention…"]); // a cut line ends with a whole word
    assert.deepEqual([lines(title, 60, 0), lines("", 60, 2), lines("A boat", 30, 1)], [[], [], ["A bo…"]]);
    assert.deepEqual(lines("船とパン屋、父の心臓", 24, 3), ["船とパン", "屋、父の", "心臓"]);
    const whole = ({ words, whole: all }) => [words, all];
    assert.deepEqual([[108, 2], [108, 1], [30, 1]].map(([room, most]) =>
      whole(wrapText(title, measure, room, most))), [[4, true], [2, false], [0, false]]);
  });

  test("a narrow box turns its title where more words fit so", () => {
    const placed = (across, high, length, lines, text = "A sloop and a bakery") => {
      const found = placeText(text, measure, across, high, length, lines);
      return [plain(found), found.turned];
    };
    assert.deepEqual(placed(140, 70, 70, 11), [["A sloop and a bakery"], false]);
    assert.deepEqual(placed(80, 70, 70, 6), [["A sloop and", "a bakery"], false]);
    assert.deepEqual(placed(26, 70, 140, 2), [["A sloop and a bakery"], true]);
    assert.deepEqual(placed(26, 70, 78, 2), [["A sloop and", "a bakery"], true]);
    assert.deepEqual(placed(14, 70, 70, 1), [["A sloop…"], true]);
    assert.deepEqual(placed(14, 20, 20, 1), [[], false]);
    // Neither way has room for its first word: the way with more of it.
    assert.deepEqual(placed(26, 70, 70, 2, "Supervisor, viva"), [["Superviso…"], true]);
    assert.deepEqual(placed(60, 30, 36, 4, "Supervisor, viva"), [["Supervi…"], false]);
  });

  test("text over two colours has one ink, on a plate of the wider one", () => {
    const scene = sceneOf({}, { labels: "session", colour: "session" });
    const view = { x0: 0, x1: 4 };
    const geom = geometry(800, 300, "scores", false, scene.tree.laneCount);
    const boxes = [0, 1].map(() => visibleBoxes(scene.tree, view, geom.width, null));
    scene.theme.font = "f";
    const { ctx, ops } = recording(632);
    drawLabels({ scene, sight: { view, geom, boxes, labels: [] },
      frames: { fitted: new Map() } }, ctx, 0);
    const seen = ops.filter(([name]) => name === "fillRect" || name === "fillText")
      .map(([name, style, , text]) => (name === "fillText" ? [style, text] : style));
    // Only the root is wide enough for so long a text: half of it on dark, half on light.
    assert.deepEqual(seen, ["#fff3ac", ["#000000", "\u2068S1 – S2\u2069"]]);
  });

  test("a gold leaf of two trees has its sign on the axis and its words in the whole box", () => {
    const scene = sceneOf({ gold: Int32Array.from([0]), top_initial: new Int32Array(0), top_final: new Int32Array(0) });
    const geom = geometry(320, 600, "scores", false, scene.tree.laneCount);
    const view = { x0: 0, x1: 4 };
    const boxes = [0, 1].map(() => visibleBoxes(scene.tree, view, geom.width, null));
    const sight = { view, geom, boxes, labels: [] };
    scene.theme.font = "f";
    scene.answer = null; // so no badge needs room
    for (const half of [0, 1]) drawLabels({ scene, sight, attention: {}, frames: { fitted: new Map() } }, recording(30).ctx, half);
    const leaves = sight.labels.map((half) => half.filter(({ node }) => node < 4).map(({ node }) => node));
    assert.deepEqual(leaves, [[0, 1, 2, 3], [0, 1, 2, 3]]);
  });
});

test("an echo of an older look does not undo a newer choice, news are taken", () => {
  const scene = { look: createLook(), data: null };
  const s = { scene, tell: () => {} };
  const says = (colour) => {
    scene.data = { look: { colour, labels: "", axis: "" } };
    adoptLook(s);
    return scene.look.colour;
  };
  const opened = says("initial");
  for (const colour of ["level", "gold"]) {
    scene.look.colour = colour;
    tellLook(s);
  }
  assert.deepEqual([opened, says("initial"), says("level"), says("gold"), says("change")],
    ["initial", "gold", "gold", "gold", "change"]);
});
