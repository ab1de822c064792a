"""What colours a node, what is written on it and what stands alone, run by node."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from segviz.frontend.canvas import javascript
from segviz.view.look import COLOURS, LABELS
from segviz.view.palette import (
    COHERENCE_RAMP_DARK,
    COHERENCE_RAMP_LIGHT,
    GOLD_COLOURS,
    LEVEL_COLOURS,
    SCORE_RAMP_LIGHT,
    session_colours,
)
from tests.frontend.node import run
from tests.view.test_palette import contrast

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

ARABIC = "\u0645\u0631\u062d\u0628\u0627 "
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The component as an ES module file."""
    path = tmp_path_factory.mktemp("js") / "tree.mjs"
    path.write_text(javascript(), encoding="utf-8")
    return path


#       6            level 2
#   4       5        level 1
# 0   1   2   3      leaves, two sessions
STATE = """
const state = (changes = {}, look = {}, picture = "scores") => {
  const data = { mode: picture === "grow" ? "grow" : "scores", nodes: 7, root_scale: true,
    initial: Float64Array.from([0.4, 0.1, 0, 0.2, 0.1, 0.1, 0.1]),
    final: Float64Array.from([0.1, 0.4, 0, 0.2, 0.1, 0.1, 0.1]),
    coherence: Float64Array.from([0.1, 0.9, NaN, 0.5, 0.5, 1, -0.2]), coherent: true,
    gold: Int32Array.from([0, 3]), origin: new Int32Array(0),
    top_initial: Int32Array.from([0, 6]), top_final: Int32Array.from([1, 4]),
    level: Int32Array.from([0, 0, 0, 0, 1, 1, 2]),
    start: Int32Array.from([0, 1, 2, 3, 0, 2, 0]), stop: Int32Array.from([1, 2, 3, 4, 2, 4, 4]),
    parent: Int32Array.from([4, 4, 5, 5, 6, 6, -1]), edges: new Int32Array(0), levels_total: 3,
    session_labels: ["S1", "S2"], session_titles: ["S1 · 2 May", "S2 · 3 May"],
    session_colours: ["#440000", "#ffee88"],
    frontier: [], revised: [], added: [], chosen: null,
    labels: ["zero", "one", "two", "three", "four", "five", "six"], ...changes };
  const tree = m.buildTree(data);
  const runs = m.sessionRuns([0, 0, 1, 1]);
  const s = { data, tree, runs, runOf: Int32Array.from([0, 0, 1, 1]), picture,
    look: { colour: "", labels: "", ...look }, alone: null, gold: [], cache: new Map(),
    most: 0.4, marks: m.markWeights(data),
    theme: { background: "#ffffff", unknown: "#cccccc", levels: ["#aa0000", "#bb0000"],
      gold: { found: "#f", covered: "#c", missed: "#m", above: "#a", other: "#o" },
      table: m.rampTable(["#000000", "#ffffff"]),
      changeTable: m.rampTable(["#000000", "#ffffff"]),
      coherenceTable: m.rampTable(["#000000", "#ffffff"]) } };
  s.shades = m.shadesOf(s);
  return s;
};
"""


def on(module: Path, body: str, **arguments: Any) -> Any:
    """Run a body that may make states."""
    return run(module, STATE + body, **arguments)


class TestChoices:
    def test_only_what_the_data_shows_is_on_offer(self, module: Path) -> None:
        body = """
          const none = new Float64Array(0);
          return [state(), state({ gold: [] }), state({ final: none, top_final: [] }),
            state({ coherent: false }), state({ initial: none, final: none }),
            state({}, {}, "grow"), state({ coherent: false, labels: [] }, {}, "grow")]
            .map(({ data }) => [m.coloursFor(data), m.labelsFor(data)].map(
              (offered) => offered.map(([choice]) => choice)));
        """
        everything = ["", *COLOURS]
        scores = ["initial", "propagated", "change"]
        every_label = ["", *LABELS]
        assert on(module, body) == [
            [everything, every_label],
            [[c for c in everything if c != "gold"], every_label],
            [[c for c in everything if c not in ("propagated", "change")], every_label],
            [[c for c in everything if c != "coherence"], every_label],
            [[c for c in everything if c not in scores], every_label],
            [["", "level", "coherence"], every_label],
            [["", "level"], ["", "session", "node"]],
        ]

    def test_each_half_has_its_own_score_until_something_is_chosen(self, module: Path) -> None:
        body = """
          return [state(), state({}, {}, "change"), state({}, {}, "grow"),
            state({}, { colour: "gold" }), state({}, { colour: "gold" }, "grow"),
            state({ gold: [] }, { colour: "gold" })].map((s) => s.shades);
        """
        own = ["initial", "propagated"]
        assert on(module, body) == [own, ["change"], ["session"], ["gold"] * 2, ["session"], own]


class TestFill:
    def test_every_shade_has_its_colour_and_pattern(self, module: Path) -> None:
        body = """
          const fills = (colour, nodes) => {
            const s = state({}, { colour });
            return nodes.map((node) => Object.values(m.fillOf(s, 1, node)));
          };
          return { level: fills("level", [0, 4, 6]), initial: fills("initial", [0, 1, 2]),
            own: fills("", [0, 1]), change: fills("change", [0, 1, 2]),
            gold: fills("gold", [0, 3, 4, 1]), coherence: fills("coherence", [5, 2, 6]),
            session: fills("session", [0, 3]) };
        """
        grey = 2 * f"{round(0.25**0.5 * 255):02x}"
        assert on(module, body) == {
            "level": [["#aa0000", None], ["#bb0000", None], ["#bb0000", None]],
            "initial": [["#ffffff", None], [f"#{grey}80", None], ["#000000", None]],
            "own": [[f"#{grey}80", None], ["#ffffff", None]],
            # A change of three quarters of the highest score, by the fourth root.
            "change": [["#090909", "hatch"], ["#f6f6f6", None], ["#808080", None]],
            "gold": [["#c", "hatch"], ["#m", "cross"], ["#a", None], ["#o", None]],
            "coherence": [["#ffffff", None], ["#cccccc", "dots"], ["#000000", None]],
            "session": [["#440000", None], ["#ffee88", None]],
        }

    def test_a_gold_leaf_is_found_covered_or_missed(self, module: Path) -> None:
        body = """
          const { tree, data } = state();
          const fate = (top) => Array.from(m.goldClasses(tree, data, top)).sort();
          return [[0, 3], [4], [], [6]].map(fate);
        """
        above = [[4, "above"], [5, "above"], [6, "above"]]
        assert on(module, body) == [
            [[0, "found"], [3, "found"], *above],
            [[0, "covered"], [3, "missed"], *above],
            [[0, "missed"], [3, "missed"], *above],
            [[0, "covered"], [3, "covered"], *above],
        ]

    def test_a_leaf_drawn_twice_has_one_fate(self, module: Path) -> None:
        # Leaves 0 and 2 are one node of the memory; only the copy of 4 was named as retrieved.
        body = """
          const origin = Int32Array.from([9, 8, 9, 7, 6, 5, 4]);
          const { tree, data } = state({ gold: [0, 2], origin });
          return Object.fromEntries(m.goldClasses(tree, data, [4]));
        """
        found = on(module, body)
        assert (found["0"], found["2"]) == ("covered", "covered")

    def test_a_chain_of_single_children_finds_its_leaf(self, module: Path) -> None:
        body = """
          const s = state({ gold: [0], start: Int32Array.from([0, 1, 2, 3, 0, 2, 0]),
            stop: Int32Array.from([1, 2, 3, 4, 1, 4, 4]),
            parent: Int32Array.from([4, 6, 5, 5, 6, 6, -1]) });
          return m.goldClasses(s.tree, s.data, [4]).get(0);
        """
        assert on(module, body) == "found"


class TestBrightest:
    """Which of several nodes in one pixel column is the one to be seen."""

    def best(self, module: Path, colour: str, alone: Any = None, picture: str = "scores") -> Any:
        body = """
          const s = state({ added: [1] }, { colour }, picture);
          s.alone = alone;
          return m.columnWeights(s).map((weights) => {
            const order = [0, 1, 2, 3].sort((a, b) => weights[b] - weights[a] || a - b);
            return order[0];
          });
        """
        return on(module, body, colour=colour, alone=alone, picture=picture)

    def test_it_follows_the_colour(self, module: Path) -> None:
        assert self.best(module, "") == [0, 1]
        assert self.best(module, "initial") == [0, 0]
        assert self.best(module, "propagated") == [1, 1]
        assert self.best(module, "change") == [0, 0]
        assert self.best(module, "gold") == [3, 3]  # missed
        assert self.best(module, "coherence") == [0, 0]  # the least coherent that is known
        assert self.best(module, "level") == [0, 1]  # all one colour: the higher score
        assert self.best(module, "", picture="grow") == [1]  # the new one
        assert self.best(module, "coherence", picture="grow") == [0]

    def test_what_stands_alone_comes_first(self, module: Path) -> None:
        assert self.best(module, "coherence", {"kind": "coherence", "key": 4}) == [1, 1]
        assert self.best(module, "coherence", {"kind": "coherence", "key": -1}) == [2, 2]
        assert self.best(module, "gold", {"kind": "gold", "key": "found"}) == [0, 3]
        assert self.best(module, "", {"kind": "top", "key": 0}) == [0, 1]
        assert self.best(module, "", {"kind": "session", "key": 1}) == [0, 1]


class TestClasses:
    def test_they_are_counted(self, module: Path) -> None:
        body = """
          const counts = (colour, picture) => {
            const found = m.colourClasses(state({}, { colour }, picture));
            return found && [found.kind, found.counted,
              found.items.map(({ key, name, count }) => [key, name, count])];
          };
          return ["session", "level", "gold", "coherence", "", "initial"].map((c) => counts(c));
        """
        assert on(module, body) == [
            ["session", "leaf", [[0, "S1", 2], [1, "S2", 2]]],
            ["level", "node", [[0, "L0", 4], [1, "L1", 2], [2, "L2", 1]]],
            [
                "gold",
                "node",
                [
                    ["found", "found", 0],
                    ["covered", "covered", 1],
                    ["missed", "missed", 1],
                    ["above", "above", 3],
                    ["other", "other", 2],
                ],
            ],
            [
                "coherence",
                "node",
                [
                    [0, "below 0.2", 2],
                    [1, "0.2–0.4", 0],
                    [2, "0.4–0.6", 2],
                    [3, "0.6–0.8", 0],
                    [4, "0.8–1.0", 2],
                    [-1, "none", 1],
                ],
            ],
            None,
            None,
        ]

    def test_members_of_a_class_are_those_it_counts(self, module: Path) -> None:
        body = """
          return ["level", "gold", "coherence"].map((colour) => {
            const s = state({}, { colour });
            const found = m.colourClasses(s);
            return found.items.map(({ key, count }) => {
              s.alone = { kind: found.kind, key };
              return [0, 1, 2, 3, 4, 5, 6].filter((n) => m.isMember(s, 1, n)).length === count;
            }).every(Boolean);
          });
        """
        assert on(module, body) == [True, True, True]

    def test_a_second_call_brings_everything_back(self, module: Path) -> None:
        body = """
          const s = state();
          const seen = [];
          for (const [kind, key] of [["level", 1], ["level", 2], ["level", 2], ["top", 0]]) {
            m.toggleAlone(s, kind, key);
            seen.push(s.alone && s.alone.key);
          }
          return seen;
        """
        assert on(module, body) == [1, 2, None, 0]


class TestLabels:
    def test_what_may_stand_on_a_node(self, module: Path) -> None:
        body = """
          const texts = (labels, node, look = {}, changes = {}, half = 0) => {
            const s = state(changes, { labels, ...look });
            return m.labelTexts(s, half, node, m.labelChoice(s)).texts;
          };
          const origin = Int32Array.from([9, 8, 7, 6, 5, 40, 3]);
          const initial = Float64Array.from([0.000123, 0, 0, 0, 0, 0, 0]);
          return [texts("node", 5), texts("node", 5, {}, { origin }),
            texts("session", 0), texts("session", 6), texts("words", 3),
            texts("score", 0), texts("score", 0, {}, {}, 1),
            texts("score", 0, { colour: "change" }), texts("score", 1, { colour: "coherence" }),
            texts("score", 2, { colour: "coherence" }), texts("score", 1, { colour: "level" }),
            texts("score", 2), texts("score", 0, {}, { initial })];
        """
        assert on(module, body) == [
            ["5"],
            ["40"],
            ["S1 · 2 May", "S1"],
            ["S1 – S2"],
            ["three"],
            ["0.40"],
            ["0.10"],
            ["−0.30"],
            ["0.90"],
            [],
            ["0.10"],
            ["0"],
            ["0.00012"],
        ]

    @pytest.mark.parametrize("text", ["word " * 30, ARABIC * 9, FAMILY * 40, "\u202eab\n" * 40])
    @pytest.mark.parametrize("room", [10, 40, 200, 2000])
    def test_a_text_is_cut_to_its_room(self, module: Path, text: str, room: int) -> None:
        body = """
          const measure = (t) => 7 * [...t].length;
          return [m.fitLabel({ texts: [text], cut: true }, measure, room),
            m.fitLabel({ texts: [text, "S7"], cut: false }, measure, room)];
        """
        cut, whole = on(module, body, text=text, room=room)
        for label in (cut, whole):
            assert 7 * len(label) <= room
            if label:  # its direction stays its own
                assert label[0] + label[-1] == "\u2068\u2069"
                assert not set(label[1:-1]) & set("\u202e\n\u2068\u2069")
        if room == 40:
            assert whole == "\u2068S7\u2069"
        if cut and room < 7 * len(text):
            assert cut[-2] == "…"

    def test_ink_is_read_on_every_colour_of_every_shade(self, module: Path) -> None:
        colours = [
            *session_colours(31),
            *LEVEL_COLOURS,
            *SCORE_RAMP_LIGHT,
            *COHERENCE_RAMP_LIGHT,
            *COHERENCE_RAMP_DARK,
            *GOLD_COLOURS["light"].values(),
            *GOLD_COLOURS["dark"].values(),
            *(f"#{i:02x}{i:02x}{i:02x}" for i in range(256)),
        ]
        inks = on(module, "return colours.map(m.inkOn);", colours=colours)
        assert min(map(contrast, inks, colours)) > 4.5

    def test_text_over_two_colours_takes_on_each_the_ink_read_there(self, module: Path) -> None:
        body = """
          const s = state({}, { labels: "session", colour: "session" });
          Object.assign(s, { labelled: [], fitted: new Map(), view: { x0: 0, x1: 4 },
            geom: m.geometry(800, 300, "scores", false, s.tree.laneCount),
            stage: { clientHeight: 300 } });
          s.theme.font = "f";
          globalThis.devicePixelRatio = 1;
          s.boxes = [0, 1].map(() => m.visibleBoxes(s.tree, s.view, s.geom.width, null));
          const ops = [];
          const ctx = new Proxy({ measureText: () => ({ width: 600 }) }, {
            get: (target, name) => target[name]
              ?? ((...args) => ops.push([name, target.fillStyle, ...args])),
            set: (target, name, value) => { target[name] = value; return true; },
          });
          m.drawLabels(s, ctx, 0);
          return ops.filter(([name]) => name === "rect" || name === "fillText")
            .map(([name, style, ...rest]) => (name === "rect" ? Math.round(rest[2])
              : [style, rest[0]]));
        """
        # Only the root is wide enough for so long a text: half of it on dark, half on light.
        assert on(module, body) == [
            370,
            ["#ffffff", "\u20682 · S1 – S2\u2069"],
            369,  # a pixel of gap to the next node
            ["#000000", "\u20682 · S1 – S2\u2069"],
        ]


class TestWordFromPython:
    BODY = """
      const s = { look: m.createLook(), data: { look: { colour: "", labels: "" } }, sent: [] };
      s.sendLook = (look) => s.sent.push(look);
      const says = (colour) => {
        s.data = { look: { colour, labels: "" } };
        m.adoptLook(s);
        return s.look.colour;
      };
      const chooses = (colour) => { s.look.colour = colour; m.tellLook(s); };
      says("");
    """

    def test_an_echo_of_an_older_choice_does_not_undo_a_newer_one(self, module: Path) -> None:
        body = """
          chooses("level");
          chooses("gold");
          return [says(""), says("level"), says("gold"), says("gold")];
        """
        assert run(module, self.BODY + body) == ["gold"] * 4

    def test_news_are_taken(self, module: Path) -> None:
        body = """
          const opened = says("level");
          chooses("gold");
          return [opened, says("gold"), says("change"), says("change"), s.sent.length];
        """
        assert run(module, self.BODY + body) == ["level", "gold", "change", "change", 1]

    def test_a_choice_that_was_lost_is_told_again(self, module: Path) -> None:
        body = """
          chooses("gold");
          const soon = [says(""), s.sent.length];
          s.look.sentAt -= 3000;
          return [soon, says(""), s.sent.length];
        """
        assert run(module, self.BODY + body) == [["gold", 1], "gold", 2]
