"""The picture has the colours of the canvas, whatever the view is coloured by."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import segviz
from segviz.conversation import TITLES, sample_path
from segviz.export import View, html_page, tree_svg
from segviz.export.drawing import drawing
from segviz.export.html import _scene
from segviz.export.plan import LEFT, SURFACE, Plan
from segviz.export.shades import gold_classes, hatching, shade
from segviz.frontend.payload import COLUMNS, tree_payload
from segviz.view.bookmark import Bookmark
from segviz.view.look import COLOURS
from segviz.view.palette import ACCENT
from tests.frontend.node import needs_node, run

SVG = "{http://www.w3.org/2000/svg}"

CANVAS = """
  for (const name of Object.keys(data)) {
    if (Array.isArray(data[name]) && columns.includes(name)) {
      data[name] = Float64Array.from(data[name], (value) => value ?? NaN);
    }
  }
  const { ramp, change, measure } = data.ramps[theme];
  const s = { data, tree: m.buildTree(data), look: data.look, picture: data.mode, isolated: null,
    gold: [], cache: new Map(), runs: m.sessionRuns(data.unit_session), most: m.highestScore(data),
    theme: { background, unknown: "#000000", gold: data.gold_colours[theme],
      levels: data.level_colours.map((full) => m.mix(full, background, data.level_share)),
      table: m.rampTable(ramp), changeTable: m.rampTable(change),
      measureTable: m.rampTable(measure) } };
  s.shades = m.shadesOf(s);
  return s.shades.map((_, half) => Array.from(data.level,
    (_, node) => Object.values(m.fillOf(s, half, node))));
"""


@pytest.fixture(scope="module")
def sample():
    return segviz.build(segviz.load(sample_path(next(iter(TITLES))))[0])


def asked(memory, number=0, **settings):
    """The answer to one of the data set's questions."""
    result = memory.ask(memory.conversation.questions[number].text, k=settings.pop("k", 10))
    return View(memory, result.structure, Bookmark(question=number, **settings), result)


def fills(picture):
    """For each half, the colour of every node and whether it is hatched."""
    root = ET.fromstring(picture)
    found = []
    for group in root:
        nodes = [g for g in group if g.get("data-node")]
        if nodes:
            found.append(
                {
                    int(g.get("data-node")): (
                        g.find(f"{SVG}rect").get("fill"),
                        g.find(f"{SVG}path") is not None,
                    )
                    for g in nodes
                }
            )
    return found


@needs_node
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("colour", [c for c in COLOURS if c != "session"] + [""])
def test_every_node_has_the_canvas_colour(sample, colour, theme):
    view = asked(sample, colour=colour)
    payload = tree_payload(_scene(view))
    plain = {}
    dtypes = COLUMNS | {"measure:coherence": "<f8"}
    for name, value in payload.items():
        column = np.frombuffer(value, dtypes[name]).tolist() if name in dtypes else value
        plain[name] = [None if x != x else x for x in column] if name in dtypes else column
    arguments = {"columns": list(dtypes), "theme": theme, "background": SURFACE[theme][0]}
    canvas = run(CANVAS, data=plain, **arguments)
    picture = fills(tree_svg(view, dark=theme == "dark", titles=False))
    assert len(picture) == len(canvas) == 2
    for shown, wanted in zip(picture, canvas, strict=True):
        assert len(shown) == int(view.structure.active.sum())
        for node, (fill, hatched) in shown.items():
            expected, pattern = wanted[node]
            parts = zip(bytes.fromhex(fill[1:]), bytes.fromhex(expected[1:]), strict=True)
            assert max(abs(a - b) for a, b in parts) <= 2, node  # the canvas has 256 steps
            assert hatched == (pattern is not None)


def test_a_view_that_cannot_show_its_colour_has_the_pages_own(sample):
    grown = View(sample, sample.structure, Bookmark())
    for colour in COLOURS:
        view = replace(grown, bookmark=Bookmark(colour=colour))
        own = shade(Plan(drawing(view), False))
        assert own == (colour if colour in ("level", "coherence") else "session")
        assert tree_svg(view)
    result = sample.ask("What is the dog called now?")
    own_words = Bookmark(text=result.question, colour="gold")
    view = View(sample, result.structure, own_words, result)
    assert shade(Plan(drawing(view), False)) == "scores"
    flat = segviz.build(sample.conversation, system="dense")
    result = flat.ask("Who?")
    bookmark = Bookmark(text="Who?", colour="coherence", system="dense")
    view = View(flat, result.structure, bookmark, result)
    assert shade(Plan(drawing(view), False)) == "scores"
    assert "score 0 to" in tree_svg(view)


@pytest.mark.parametrize("system", ["segment-tree", "raptor"])
@pytest.mark.parametrize("k", [1, 10, 40])
def test_fates_of_gold_are_those_the_page_tells(sample, system, k):
    memory = (
        sample if system == "segment-tree" else segviz.build(sample.conversation, system=system)
    )
    seen = set()
    for number in range(8):
        question = memory.conversation.questions[number]
        result = memory.ask(question.text, k=k)
        view = View(memory, result.structure, Bookmark(question=number), result)
        plan = Plan(drawing(view), False)
        classes = dict(
            zip(plan.drawing.node.tolist(), gold_classes(plan, result.after), strict=True)
        )
        told = view.gold.fate(result.evidence)
        for leaf in view.gold.leaves:
            fates = {told[turn] for turn in view.gold.held[leaf]}
            assert fates == {classes[leaf].replace("found", "hit")}
            seen.add(classes[leaf])
    assert "found" in seen


def test_the_legend_names_the_colour(sample):
    texts = {
        "level": "L0",
        "initial": "initial score 0 to",
        "change": "falls hatched",
        "gold": "missed",
        "coherence": "coherence 0 to 1",
        "": "(√ of the share)",
    }
    for colour, text in texts.items():
        assert text in tree_svg(asked(sample, colour=colour))


def test_the_page_opens_with_the_views_colour(sample):
    view = asked(sample, colour="level", labels="node")
    payload = tree_payload(_scene(view))
    assert payload["look"] == {"colour": "level", "labels": "node"}
    assert ACCENT["light"] in html_page(view)


def test_hatching_stays_within_its_box():
    for width, height in ((1, 30), (40, 9), (400, 30), (0.1, 0.1)):
        drawn = hatching(LEFT, 10, width, height, "#fff", crossed=True)
        path = ET.fromstring(drawn).get("d")
        numbers = [float(n) for n in path.replace("M", " ").replace("L", " ").split()]
        for x, y in zip(numbers[::2], numbers[1::2], strict=True):
            assert LEFT - 0.01 <= x <= LEFT + width + 0.01
            assert 10 - 0.01 <= y <= 10 + height + 0.01
        ends = list(zip(numbers[::2], numbers[1::2], strict=True))
        for (ax, ay), (bx, by) in list(pairwise(ends))[::2]:
            assert abs(abs(bx - ax) - abs(by - ay)) < 0.03
