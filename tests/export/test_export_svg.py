"""The SVG picture that the canvas draws: well-formed, complete, inert."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import segviz
from segviz.export import FORMATS, View
from segviz.export.html import WIDTH, picture_height
from segviz.export.pictures import made
from segviz.export.text import legal
from segviz.retrieval.gold import GoldEvidence
from segviz.systems import SegmentTree
from segviz.view.palette import GOLD_COLOURS, LEVEL_COLOURS, MEANINGS, session_colours
from tests.export.views import HOSTILE, ask_view, dag, grow_view, holding, nothing
from tests.trees import chain, grown

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("drawer")]

SVG = "{http://www.w3.org/2000/svg}"
INERT = {"svg", "title", "desc", "g", "rect", "text", "path", "clipPath"}


def svg(view: View, dark: bool = False) -> str:
    return made(FORMATS["svg"], view, dark=dark).decode("utf-8")


def drawn(root: ET.Element) -> list[int]:
    return [int(g.get("data-node")) for g in root.iter(f"{SVG}g") if g.get("data-node")]


def words(root: ET.Element) -> str:
    return "\n".join("".join(item.itertext()) for item in root.iter(f"{SVG}text"))


def test_every_active_node_is_drawn_once_per_half_with_scores_and_text(memory):
    view = ask_view(memory, "What colour is the bicycle?", node=0, policy="both", alpha=0.3)
    picture = svg(view)
    root = ET.fromstring(picture)
    active = np.flatnonzero(view.structure.active).tolist()
    assert sorted(drawn(root)) == sorted(active * 2)
    assert (root.get("width"), root.get("height")) == (str(WIDTH), str(picture_height(view)))
    titles = {g.get("data-node"): g[0].text for g in root.iter(f"{SVG}g") if g.get("data-node")}
    best = view.result.after[0]
    assert titles[str(best)].endswith(view.structure.text[best][:250])
    assert "(rank 1)" in titles[str(best)]
    said = words(root)
    assert "both, α 0.3, H 2" in said
    for word in ("L0", "initial", "propagated", "retrieved before", "selected: node 0"):
        assert word in said
    assert root.find(f"{SVG}title").text == "What colour is the bicycle?"
    assert MEANINGS["light"]["enters"] in picture  # of what enters
    assert "gold evidence" not in said


def test_the_same_view_gives_the_same_bytes_and_the_colours_of_its_sessions(memory):
    picture = svg(grow_view(memory), dark=True)
    assert picture == svg(grow_view(memory), dark=True)
    assert sorted(drawn(ET.fromstring(picture))) == np.flatnonzero(memory.structure.active).tolist()
    for colour in session_colours(2):
        assert f'fill="{colour}"' in picture
    assert MEANINGS["dark"]["enters"] in picture
    assert MEANINGS["light"]["enters"] not in picture


@pytest.mark.parametrize(
    ("colour", "there"),
    [
        ("level", LEVEL_COLOURS[0]),
        ("change", "falls"),
        ("coherence", "below 0.2"),
        ("session", session_colours(2)[0]),
    ],
)
def test_the_picture_has_the_colours_and_labels_chosen(memory, colour, there):
    picture = svg(ask_view(memory, "How many gears?", colour=colour, labels="node"))
    root = ET.fromstring(picture)
    if colour == "level":
        assert "L0 " in words(root)
    else:
        assert there in picture
    assert "url(#" in picture or colour != "session"
    plain = svg(ask_view(memory, "How many gears?", colour=colour, labels="none"))
    ranks, numbers = (set(re.findall(r">\W*(\d+)\W*<", each)) for each in (plain, picture))
    assert {"1", "3"} < ranks < numbers  # of nodes that enter or are gold; with those of nodes


def test_gold_is_marked_and_its_fate_hatched(memory):
    view = ask_view(memory, "zzz", colour="gold", k=1)
    leaf = view.structure.leaves[0]
    view.__dict__["gold"] = GoldEvidence(("t",), (leaf,), {leaf: ("t",)})
    picture = svg(view)
    assert GOLD_COLOURS["light"]["missed"] in picture
    assert "gold evidence" in picture


@pytest.mark.parametrize("system", ["segment-tree", "memforest", "bm25"])
def test_trees_forests_and_flat_memories_can_be_drawn(memory, system):
    built = segviz.build(memory.conversation, system, "turn", embedder=memory.embedder)
    root = ET.fromstring(svg(ask_view(built, "How many gears?")))
    assert set(drawn(root)) == set(np.flatnonzero(built.structure.collapsed.active).tolist())


def test_what_does_not_follow_time_is_unfolded_and_says_so(memory):
    root = ET.fromstring(svg(holding(replace(memory, invariants=()), dag())))
    assert sorted(drawn(root)) == [0, 1, 1, 2, 3, 4]  # leaf 1 under both of its parents
    assert "in the order of branches" in words(root)


def test_nothing_is_a_picture_without_nodes_and_a_deep_one_has_all(memory):
    assert drawn(ET.fromstring(svg(nothing()))) == []
    assert len(drawn(ET.fromstring(svg(holding(memory, chain(300)))))) == 300


def test_of_boxes_too_fine_to_be_seen_it_says_how_many_there_are(memory):
    n = 3000
    structure = grown([(0, i, i + 1) for i in range(n)], [])
    root = ET.fromstring(
        svg(holding(replace(memory, invariants=SegmentTree.invariants), structure))
    )
    assert len(drawn(root)) < WIDTH
    assert f"of {n:,} nodes" in words(root)


def test_it_is_inert_and_foreign_text_is_literal(hostile):
    question = " ".join(HOSTILE[:5])
    picture = svg(ask_view(hostile, question, k=30, labels="words"))
    root = ET.fromstring(picture)
    assert {item.tag.removeprefix(SVG) for item in root.iter()} <= INERT
    for item in root.iter():
        for name, value in item.attrib.items():
            assert "href" not in name
            assert not name.startswith("on")
            assert "url(" not in value or re.fullmatch(r"url\(#clip\d+\)", value)
    assert root.find(f"{SVG}title").text == question
    titles = [g[0].text for g in root.iter(f"{SVG}g") if g.get("data-node")]
    for text in HOSTILE:
        start = " ".join(legal(text).split())[:40]
        assert any(start in " ".join(title.split()) for title in titles), text
