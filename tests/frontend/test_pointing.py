"""Canvas and transcript in a real browser, pointing at each other's units; the outline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from segviz.tree import Structure
from tests.frontend.test_lists import mount, show, turn, turns
from tests.scenes import outline_message, tree_message
from tests.trees import grown

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)> \u202e hi"


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    opened = chromium.new_page(viewport={"width": 900, "height": 900})
    failures: list[str] = []
    opened.on("pageerror", lambda error: failures.append(str(error)))
    opened.evaluate(
        """() => { window.listening = 0;
          const { addEventListener: add, removeEventListener: remove } = document;
          document.addEventListener = (...a) => { listening++; add.apply(document, a); };
          document.removeEventListener = (...a) => { listening--; remove.apply(document, a); }; }"""
    )
    yield opened
    opened.close()
    assert failures == []


def structure() -> Structure:
    """Four leaves, pairs above them, a root."""
    nodes = [*((0, i, i + 1) for i in range(4)), (1, 0, 2), (1, 2, 4), (2, 0, 4)]
    edges = [(4, 0), (4, 1), (5, 2), (5, 3), (6, 4), (6, 5)]
    return grown(nodes, edges, [f"{HOSTILE} {n}" for n in range(7)])


def canvas(page: Any, about: str = "one", **extra: Any) -> None:
    made = tree_message(structure(), unit_sessions=[0] * 4, session_labels=["S1"], identity=about)
    mount(page, "canvas", made | extra | {"height": "220px"}, "canvas")
    page.wait_for_function("canvas.root.querySelector('.segviz').dataset.painted")


def outline_of(about: str = "one", **changes: Any) -> dict[str, Any]:
    return outline_message(
        structure(),
        kinds=["leaf", HOSTILE],
        kind=[0, 0, 0, 0, 1, 1, 1],
        unit_sessions=[0] * 4,
        session_labels=["S1"],
        identity=about,
        height=210,
        **changes,
    )


def outline(page: Any, **changes: Any) -> None:
    if page.evaluate("Boolean(window.outline)"):
        show(page, outline_of(**changes), "outline")
    else:
        mount(page, "outline", outline_of(**changes), "outline")


def transcript_of(count: int = 8) -> dict[str, Any]:
    rows = [turn(id=f"D1:{i}", unit=i // 2) for i in range(count)]
    return turns(*rows, height=90, about="one")


def transcript(page: Any, count: int = 8) -> None:
    mount(page, "transcript", transcript_of(count), "turns")


def lit(page: Any) -> list[str]:
    """Turns that are lit."""
    return page.evaluate(
        "[...turns.root.querySelectorAll('.pointed')].map((row) => row.dataset.turn)"
    )


def linked(page: Any) -> str:
    """Leaves the canvas marks."""
    page.wait_for_timeout(60)
    return page.evaluate("canvas.root.querySelector('.segviz').dataset.linked")


def walk(page: Any, *keys: str) -> None:
    page.evaluate("canvas.root.querySelector('canvas.over').focus()")
    for key in keys:
        page.keyboard.press(key)


def test_from_canvas_to_transcript_and_back(page: Any) -> None:
    canvas(page)
    transcript(page)
    walk(page, "End", "ArrowUp")  # the newest leaf, its parent: units 2 and 3
    assert lit(page) == ["D1:4", "D1:5", "D1:6", "D1:7"]
    page.evaluate("canvas.root.querySelector('canvas.over').blur()")
    assert lit(page) == []
    page.locator(".turn").nth(3).hover()
    assert linked(page) == "1"
    page.mouse.move(5, 5)
    page.locator(".turn").first.evaluate("(row) => row.focus()")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    assert linked(page) == "3"
    page.evaluate("turns.root.activeElement.blur()")
    assert linked(page) == ""
    assert page.evaluate("sent") == []  # Python hears nothing of it


def test_pointing_by_mouse_lights_the_turns_and_shows_them(page: Any) -> None:
    canvas(page)
    transcript(page, count=80)
    page.evaluate("turns.root.querySelector('.transcript').scrollTop = 900")
    box = page.evaluate("canvas.root.querySelector('canvas.over').getBoundingClientRect().toJSON()")
    plot = page.evaluate("canvas.root.querySelector('.segviz').dataset.plot").split(",")
    left, width = float(plot[0]), float(plot[1])
    low = float(plot[2]) - 6
    page.mouse.move(box["x"] + left + width / 8, box["y"] + low)
    assert lit(page) == ["D1:0", "D1:1"]
    assert page.evaluate("turns.root.querySelector('.transcript').scrollTop") < 100
    page.mouse.move(2, 2)
    assert lit(page) == []
    assert page.evaluate("turns.root.querySelector('.transcript').scrollTop") == 900


def test_two_memories_do_not_mix(page: Any) -> None:
    canvas(page, about="another")
    transcript(page)
    walk(page, "Home")
    assert lit(page) == []
    page.locator(".turn").first.hover()
    assert linked(page) == ""


def test_a_drawing_out_of_time_points_at_its_units(page: Any) -> None:
    canvas(page, axis_units=[3, 1, 0, 2])
    transcript(page)
    walk(page, "Home", "ArrowUp")  # positions 0 and 1 hold units 3 and 1
    assert lit(page) == ["D1:2", "D1:3", "D1:6", "D1:7"]
    page.evaluate("canvas.root.querySelector('canvas.over').blur()")
    page.locator(".turn").first.hover()  # unit 0, which lies at position 2
    assert linked(page) == "2"


def test_nothing_listens_after_the_end(page: Any) -> None:
    canvas(page)
    transcript(page)
    outline(page)
    for _ in range(3):
        show(page, transcript_of(0), "turns")
        outline(page)
    assert page.evaluate("listening") == 4
    page.evaluate("[canvas, turns, outline].forEach((mounted) => mounted.end())")
    assert page.evaluate("listening") == 0
    assert page.locator(".turn, .place, .segviz").count() == 0


def test_texts_that_were_not_sent_are_asked_for_once(page: Any) -> None:
    bare = outline_of("late") | {"texts": {}}
    mount(page, "outline", bare, "outline")
    page.wait_for_function("sent.length")
    show(page, bare, "outline")
    page.wait_for_timeout(250)
    assert page.evaluate("sent") == [["wanted", [6, 4, 5]]]
    show(page, bare | {"texts": {"6": "a", "4": "b", "5": "c"}}, "outline")
    assert page.locator(".words").all_inner_texts() == ["a", "b", "c"]
