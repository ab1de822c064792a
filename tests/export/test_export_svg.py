"""The picture: well-formed, complete, inert."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.export import file_name, tree_svg
from segviz.export.elements import cut, length, mix
from segviz.export.layout import FINEST, boxes, rows
from segviz.export.text import legal, one_line
from segviz.view.palette import ACCENT, session_colours
from tests.export.views import (
    HOSTILE,
    ask_view,
    by_hand,
    chain,
    dag,
    forest,
    grow_view,
    holding,
    nothing,
)
from tests.trees import toy

SVG = "{http://www.w3.org/2000/svg}"
INERT = {"svg", "title", "desc", "g", "rect", "text", "polygon", "path"}


def parsed(picture: str) -> ET.Element:
    return ET.fromstring(picture)


def drawn(root: ET.Element) -> list[int]:
    return [int(g.get("data-node")) for g in root.iter(f"{SVG}g") if g.get("data-node")]


def words(root: ET.Element) -> str:
    return "\n".join("".join(item.itertext()) for item in root.iter(f"{SVG}text"))


def test_every_active_node_is_drawn_once_per_half(memory):
    active = np.flatnonzero(memory.structure.active).tolist()
    assert sorted(drawn(parsed(tree_svg(grow_view(memory))))) == active
    asked = parsed(tree_svg(ask_view(memory, "How many gears?")))
    assert sorted(drawn(asked)) == sorted(active * 2)


@pytest.mark.parametrize("make", [toy, forest, dag, lambda: chain(1), lambda: chain(300)])
def test_structures_by_hand_are_drawn(memory, make):
    structure = make()
    root = parsed(tree_svg(holding(memory, structure)))
    assert sorted(set(drawn(root))) == np.flatnonzero(structure.active).tolist()


def test_what_does_not_follow_time_is_unfolded_and_says_so(memory):
    view = holding(replace(memory, laws="dag"), dag())
    root = parsed(tree_svg(view))
    assert sorted(drawn(root)) == [0, 1, 1, 2, 3, 4]  # leaf 1 under both of its parents
    assert "in the order of branches" in words(root)


def test_nothing_is_a_picture_without_nodes():
    assert drawn(parsed(tree_svg(nothing()))) == []


def test_a_nodes_text_and_scores_are_its_title(memory):
    view = ask_view(memory, "How many gears?")
    groups = {g.get("data-node"): g for g in parsed(tree_svg(view)).iter(f"{SVG}g")}
    best = view.result.after[0]
    title = groups[str(best)].find(f"{SVG}title").text
    assert title.endswith(view.structure.text[best][:300])
    assert f"propagated {view.result.final[best]:.3g} (rank 1)" in title


def test_marks_and_words(memory):
    view = ask_view(memory, "What colour is the bicycle?", node=0, policy="both", alpha=0.3)
    picture = tree_svg(view)
    said = words(parsed(picture))
    assert "What colour is the bicycle?" in said
    assert "both, α 0.3, H 2" in said
    for word in ("S1", "S2", "L0", "initial", "propagated", "retrieved", "selected: node 0"):
        assert word in said
    assert picture.count(ACCENT["light"]) > len(view.result.after)
    assert "gold evidence" not in said
    dark = tree_svg(view, dark=True)
    assert ACCENT["dark"] in dark
    assert ACCENT["light"] not in dark


def test_sessions_have_the_colours_of_the_canvas(memory):
    picture = tree_svg(grow_view(memory))
    for colour in session_colours(2):
        assert f'fill="{colour}"' in picture


def test_no_band_of_the_axis_lies_over_a_word(memory):
    items = list(parsed(tree_svg(grow_view(memory))))
    labels = [i for i, item in enumerate(items) if item.text in ("S1", "S2")]
    axis = items[labels[0]].get("y")
    bands = [
        i
        for i, item in enumerate(items)
        if item.tag == f"{SVG}rect" and abs(float(item.get("y")) - float(axis) + 17) < 0.1
    ]
    assert bands
    assert labels[0] > bands[-1]


def test_it_is_inert_and_foreign_text_is_literal(hostile):
    for text in HOSTILE:
        view = ask_view(hostile, text, k=30)
        for picture in (tree_svg(view), tree_svg(grow_view(hostile))):
            root = parsed(picture)
            assert {item.tag.removeprefix(SVG) for item in root.iter()} <= INERT
            for item in root.iter():
                assert not any("href" in name or name.startswith("on") for name in item.attrib)
                assert not any("url(" in value for value in item.attrib.values())
        assert one_line(text, 2000) == (parsed(tree_svg(view)).find(f"{SVG}title").text or "")
    titles = [t.text for t in parsed(tree_svg(view)).iter(f"{SVG}title")]
    for text in HOSTILE:
        assert any(legal(text).strip()[:250] in title for title in titles if title), text


def test_the_same_view_gives_the_same_bytes(memory):
    assert tree_svg(ask_view(memory, "Saturn?")) == tree_svg(ask_view(memory, "Saturn?"))


# --- layout ----------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(1, 9)), max_size=25))
def test_boxes_of_one_lane_never_overlap(spans):
    structure = by_hand([(level, start, start + size) for level, start, size in spans], [])
    stacked = rows(structure)
    places: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for node in range(len(structure)):
        key = (int(structure.level[node]), stacked.lane[node])
        assert stacked.lane[node] < stacked.lanes[key[0]]
        places.setdefault(key, []).append((int(structure.start[node]), int(structure.stop[node])))
    for spans_there in places.values():
        ordered = sorted(spans_there)
        assert all(a[1] <= b[0] for a, b in pairwise(ordered))
    for level, lanes in enumerate(stacked.lanes):  # as few lanes as overlap at one place
        at = [
            sum(structure.start[n] <= u < structure.stop[n] for n in stacked.nodes[level])
            for u in range(22)
        ]
        assert lanes == max(1, *at)


def test_a_box_is_as_wide_as_its_span():
    structure = toy()
    found = boxes(structure, rows(structure), 7, 700.0, [0.0] * 11)
    by_node = {box.node: box for box in found}
    assert (by_node[9].x, by_node[9].width) == (400.0, 300.0)
    assert by_node[9].away > by_node[4].away


def test_of_boxes_too_fine_to_be_seen_the_weightiest_stays(memory):
    n = 10_000
    structure = by_hand([(0, i, i + 1) for i in range(n)], [])
    weight = [0.0] * n
    weight[7777] = 1.0
    found = boxes(structure, rows(structure), n, 1000.0, weight)
    assert len(found) == 1000 / FINEST
    assert 7777 in {box.node for box in found}
    said = words(parsed(tree_svg(holding(memory, structure))))
    assert f"of {n} boxes" in said


# --- words -----------------------------------------------------------------------------------


@given(st.text(), st.text(min_size=1, max_size=8))
def test_a_file_name_is_one_on_every_system(conversation, ending):
    name = file_name(conversation, "view", "svg")
    assert name.startswith("segviz-")
    assert name.endswith("view.svg")
    assert name.isascii()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.")
    assert len(name) < 90


@pytest.mark.parametrize(
    ("conversation", "name"),
    [
        ("conv-47", "segviz-conv-47-view.svg"),
        ("../../etc/passwd", "segviz-etc-passwd-view.svg"),
        ("Zoë & José", "segviz-Zoe-Jose-view.svg"),
        ("日本", "segviz-view.svg"),
        ("", "segviz-view.svg"),
    ],
)
def test_file_names(conversation, name):
    assert file_name(conversation, "view", "svg") == name


@given(st.text())
def test_legal_text_survives_an_xml_reader(text):
    written = ET.tostring(ET.Element("a", {"b": "c"}), encoding="unicode")
    assert written
    element = ET.Element("a")
    element.text = legal(text)
    assert (ET.fromstring(ET.tostring(element)).text or "") == legal(text)
    assert legal(legal(text)) == legal(text)


def test_a_cut_text_fits():
    assert cut("short", 100, 12) == "short"
    shown = cut("w" * 500, 100, 12)
    assert shown.endswith("…")
    assert length(shown, 12) <= 100
    assert one_line("a\n\u202eb  c", 10) == "a b c"
    assert one_line("abcdef", 4) == "abc…"


def test_colours_mix():
    assert mix("#ff0000", "#0000ff", 1) == "#ff0000"
    assert mix("#ff0000", "#0000ff", 0) == "#0000ff"
    assert mix("#ffffff", "#000000", 0.5) == "#808080"
