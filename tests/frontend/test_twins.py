"""What the browser and Python both know is the same: messages, choices, inks."""

from __future__ import annotations

from segviz.frontend.message import pack
from segviz.retrieval import RetrievalSettings
from segviz.view.coloring import COLOURS, LABELS, Live, read_setting
from segviz.view.palette import (
    GOLD_COLOURS,
    LEVEL_COLOURS,
    RAMPS,
    session_colours,
)
from tests.frontend.node import needs_node, run
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
