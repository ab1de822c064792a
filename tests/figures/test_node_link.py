"""The node-link page: what is shown, how large, how marked, and that it asks for nothing."""

import itertools
import json
import re
from dataclasses import fields
from typing import Any

import pytest

from segviz.figures.node_link import Marks, Page, node_link_html
from segviz.tree import Structure
from tests.trees import grown, toy

RAMP = ("#000001", "#000002", "#000003")


def draw(structure: Structure, **options: Any) -> tuple[str, int]:
    of_page: dict[str, Any] = {"background": "#171614", "foreground": "#edebe8"}
    of_page |= {
        field.name: options.pop(field.name) for field in fields(Page) if field.name in options
    }
    colours = ["#123456"] * len(structure)
    return node_link_html(structure, colours, Page(**of_page), Marks(**options))


def nodes(structure: Structure, **options: Any) -> dict[int, dict[str, Any]]:
    """The drawn nodes as the drawing library gets them."""
    page, shown = draw(structure, **options)
    found = re.search(r"nodes = new vis\.DataSet\((\[.*?\])\);", page, re.DOTALL)
    assert found
    rows = {int(row["id"].removeprefix("n")): row for row in json.loads(found[1])}
    assert len(rows) == shown
    return rows


def chain(levels: int) -> Structure:
    """A tree in which every level adds one node over one unit more."""
    leaves = [(0, i, i + 1) for i in range(levels)]
    inner = [(level, 0, level + 1) for level in range(1, levels)]
    return grown([*leaves, *inner], [])


@pytest.mark.parametrize("structure", [toy(), chain(12), chain(341)])
def test_nodes_stay_inside_their_row(structure: Structure) -> None:
    drawn = nodes(structure)
    heights = sorted({row["y"] for row in drawn.values()})
    gap = min(b - a for a, b in itertools.pairwise(heights))
    assert min(row["size"] for row in drawn.values()) >= 8
    assert max(row["size"] for row in drawn.values()) <= max(8, 0.3 * gap + 1e-9)


def test_of_too_many_the_highest_and_all_above_what_is_marked_are_kept() -> None:
    tree = toy()
    total = int(tree.active.sum())
    by_level = sorted(range(total), key=lambda node: (-int(tree.level[node]), node))
    assert set(nodes(tree, limit=4)) == set(by_level[:4])
    assert set(nodes(tree, limit=1, retrieved=[0])) == {0, 7, 10}


def test_labels_only_where_they_have_room() -> None:
    assert nodes(toy())[10]["label"] == "10"
    assert nodes(toy())[0]["label"] == " "
    assert {row["label"] for row in nodes(chain(341)).values()} == {" "}


def test_a_label_is_whole_and_breaks_between_words() -> None:
    names = ["Convention, films, a cozy room and a long walk home from it"] * 11
    label = nodes(toy(), names=names)[10]["label"]
    assert label.split() == names[10].split()
    assert "\n" not in nodes(toy(), names=["Films, room"] * 11)[10]["label"]


def test_scores_colour_through_the_ramp() -> None:
    scores = [0.0, float("nan"), -1.0, 0.25, *[0.0] * 6, 1.0]
    drawn = nodes(toy(), scores=scores, ramp=RAMP)
    fills = [drawn[i]["color"]["background"] for i in (0, 1, 2, 3, 10)]
    assert fills == [RAMP[0], RAMP[0], RAMP[0], RAMP[1], RAMP[2]]
    assert "score 0.25" in drawn[3]["title"]
    for root, colour in ((True, RAMP[1]), (False, RAMP[0])):
        drawn = nodes(toy(), scores=[0.0, 0.2, *[1.0] * 9], ramp=RAMP, root=root)
        assert drawn[1]["color"]["background"] == colour


def test_marks_differ_by_more_than_colour() -> None:
    plain = nodes(toy())
    drawn = nodes(toy(), retrieved=(1, 2), gold=(2, 3), selected=4, accent="#ff9457")
    assert [drawn[i]["shape"] for i in range(5)] == ["dot", "dot", "diamond", "diamond", "dot"]
    assert [drawn[i]["color"]["border"] for i in (1, 2, 4)] == ["#ff9457", "#ff9457", "#edebe8"]
    assert drawn[1]["borderWidth"] > plain[1]["borderWidth"]
    assert "retrieved" in drawn[1]["title"]
    assert "gold evidence" in drawn[2]["title"]
    assert "selected" in drawn[4]["title"]
    assert drawn[0] == plain[0]
    assert set(list(drawn)[-4:]) == {1, 2, 3, 4}  # drawn last, on top
    assert not any(row["id"].isdigit() for row in drawn.values())  # or JavaScript sorts them


def test_the_page_has_its_own_background_and_asks_for_nothing() -> None:
    page, _ = draw(toy())
    style = page[: page.index("</head>")].rsplit("<style>", 1)[1]
    assert "margin:0" in style
    assert "background:#171614" in style
    assert "border:0" in style
    assert not re.search(r"(?:src|href)=\"https?://", page)


def test_texts_cannot_leave_their_string() -> None:
    structure = toy()
    hostile = ("</script><script>alert(1)</script>", *structure.text[1:])
    changed = Structure(**{**vars(structure), "text": hostile})
    page, _ = draw(changed)
    assert "<script>alert(1)" not in page


@pytest.mark.parametrize("colour", ["red;}", "#fff", ""])
def test_colours_that_would_break_the_style_are_refused(colour: str) -> None:
    with pytest.raises(ValueError, match="expected #rrggbb"):
        draw(toy(), background=colour)
