"""What the browser and Python both know is the same: messages, choices, inks."""

from __future__ import annotations

from dataclasses import replace

from segviz.conversation import sample_texts
from segviz.frontend.message import pack
from segviz.frontend.payload import tree_payload
from segviz.retrieval import OPENING, PRESETS, RetrievalSettings
from segviz.retrieval.gold import FATES
from segviz.view.coloring import COLOURS, LABELS, Live, Look, read_setting
from segviz.view.palette import (
    GOLD_COLOURS,
    LEVEL_COLOURS,
    RAMPS,
    session_colours,
)
from segviz.view.scene import answered, scene_of
from tests.frontend.node import needs_node, run
from tests.memories import SAMPLE, built
from tests.scenes import leaves, tree_message
from tests.view.test_palette import contrast

pytestmark = needs_node

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"


def test_the_browser_reads_what_python_packs() -> None:
    structure = leaves("a", "\u202e<b>", FAMILY)
    payload = tree_message(
        structure,
        unit_sessions=[0, 0, 1],
        session_labels=["S1", "S2"],
        identity="x",
        initial=[0.25, 0.5, 0.75],
        gold=[2],
    )
    body = """
      const file = Uint8Array.from(bytes);
      const shifted = new Uint8Array(file.length + 3); // as inside a larger protobuf
      shifted.set(file, 3);
      const p = m.unpack(shifted.subarray(3));
      return [p.stop, p.unit_session, p.initial, p.gold, p.final].map((c) => Array.from(c))
        .concat([p.labels]);
    """
    assert run(body, bytes=list(pack(payload))) == [
        [1, 2, 3],
        [0, 0, 1],
        [0.25, 0.5, 0.75],
        [2],
        [0.25, 0.5, 0.75],
        ["a", "\u202e<b>", FAMILY],
    ]


def test_all_colours_and_labels_are_on_offer() -> None:
    body = """
      const data = { mode: "scores", initial: [1], final: [1], gold: [0],
        measures: [{ name: "coherence", meaning: "", unit: "" }],
        labels: ["x"], names: ["x"] };
      return [m.coloursFor(data), m.labelsFor(data)].map((all) => all.map(([choice]) => choice));
    """
    assert run(body) == [["", *COLOURS], ["words", *(one for one in LABELS if one != "words")]]


def test_ink_is_read_on_every_colour_of_every_shade() -> None:
    colours = [
        *session_colours(31),
        *LEVEL_COLOURS,
        *RAMPS["light"]["score"],
        *RAMPS["light"]["measure"],
        *RAMPS["dark"]["measure"],
        *GOLD_COLOURS["light"].values(),
        *GOLD_COLOURS["dark"].values(),
    ]
    inks = run("return colours.map(m.inkOn);", colours=colours)
    assert min(map(contrast, inks, colours)) > 4.5


def test_the_drawings_and_settings_of_the_browser_are_read() -> None:
    body = """
      const sent = [];
      const s = { settings: { ...m.createSettings(), sequence: 2, timer: 1, setting:
        { policy: "top-down", alpha: 0.4, horizon: 1, drawing: "mirrored" } },
        tell: (_, setting) => sent.push(setting) };
      m.report(s);
      return sent[0];
    """
    assert read_setting(run(body)) == Live(
        RetrievalSettings(policy="top-down", alpha=0.4, horizon=1), "mirrored", 2
    )


def test_fates_of_gold_turns_equal_pythons_under_a_token_budget() -> None:
    """The last text is cut: a turn counts if the beginning that is read has it."""
    memory = built().with_texts(sample_texts(SAMPLE))
    cases, wanted, cut = [], [], 0
    for question in memory.conversation.questions:
        for budget in (60, 90, 130, 300):
            result = memory.ask(question, PRESETS[OPENING], budget=budget)
            gold = memory.gold(question, result.structure)
            fate = gold.fate(result.evidence)
            cut += fate != gold.fate([replace(each, cut=False) for each in result.evidence])
            look = {"identity": "x", "look": Look(), "selected": None}
            scene = answered(scene_of(memory, result.structure, **look), result, gold)
            payload = tree_payload(scene)
            columns = "level start stop parent edges top tokens origin gold top_final".split()
            sent = {name: payload[name].tolist() for name in columns}
            others = ("gold_turns", "gold_answers", "gold_needs", "budget", "levels_total")
            sent |= {name: payload[name] for name in others}
            cases.append(sent)
            leaves = {leaf: {fate[turn] for turn in gold.by_node[leaf]} for leaf in gold.leaves}
            best = {str(leaf): min(some, key=FATES.index) for leaf, some in leaves.items()}
            wanted.append([fate, best])
    body = """
      return cases.map((data) => {
        const tree = m.buildTree(data);
        const classes = m.goldClasses(tree, data, data.top_final);
        return [m.goldFates(data, tree, data.top_final),
          Object.fromEntries(Array.from(data.gold, (leaf) => [leaf, classes.get(leaf)]))];
      });
    """
    for (fates, best), expected in zip(run(body, cases=cases), wanted, strict=True):
        assert [{turn: name for name in fates for turn in fates[name]}, best] == expected
    assert cut > 5
