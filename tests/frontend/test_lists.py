"""Evidence list, transcript and diff in a real browser, with hostile and long text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from segviz.frontend import script, stylesheet

pytestmark = pytest.mark.browser

HEBREW = "\u05d3\u05e0\u05d9"
MOUNT = """([script, styles, data]) => {
  const host = document.createElement("div");
  document.body.append(host);
  window.root = host.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = styles;
  root.append(style);
  window.sent = [];
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return import(url).then((module) => {
    window.show = (data) => module.default({
      data, parentElement: root, setTriggerValue: (...what) => sent.push(what) });
    show(data);
  });
}"""


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    opened = chromium.new_page(viewport={"width": 500, "height": 900})
    yield opened
    opened.close()


def mount(page: Any, component: str, data: dict[str, Any]) -> None:
    page.evaluate(MOUNT, [script(component), stylesheet("lists"), json.loads(json.dumps(data))])


def facts(*texts: str) -> dict[str, Any]:
    group = {"title": "", "items": [{"head": "", "text": text} for text in texts]}
    return {"groups": [group], "height": 600, "label": "texts", "about": "1"}


def test_each_line_has_its_own_direction_and_an_isolated_name(page: Any) -> None:
    text = f"{HEBREW}: I said no.\nAnn: {HEBREW} {HEBREW}\nno name here\n\nAnn: x: y"
    mount(page, "nodes", facts(text))
    lines = page.locator(".body .line")
    directions = [line.evaluate("(e) => getComputedStyle(e).direction") for line in lines.all()]
    assert directions[:3] == ["ltr", "rtl", "ltr"]
    assert page.locator("bdi.speaker").all_inner_texts() == [HEBREW, "Ann", "Ann"]
    assert lines.nth(0).text_content() == f"{HEBREW}: I said no."
    assert lines.nth(4).text_content() == "Ann: x: y"
    assert lines.nth(3).bounding_box()["height"] > 10  # an empty line stays a line
    name, line = (page.locator(s).first.bounding_box() for s in ("bdi.speaker", ".body .line"))
    assert name["x"] - line["x"] < 2  # the name stands in front of English words


def test_markup_stays_text(page: Any) -> None:
    mount(page, "nodes", facts("<img src=x onerror=alert(1)>: <b>hi</b>"))
    assert page.locator(".body img, .body b").count() == 0


def turn(**changes: Any) -> dict[str, Any]:
    return {"id": "D1:1", "speaker": "Ann", "text": "x"} | changes


def turns(*rows: dict[str, Any], height: int = 400, about: str = "") -> dict[str, Any]:
    """A transcript of these in one block."""
    blocks = [[str(hash(json.dumps(rows))), rows]]
    more = {"before": False, "after": False}
    sent = {"blocks": blocks, "headings": {"D1:1": ["Session 1", "#abc"]}, "said": {}, "more": more}
    return sent | {"focus": "", "height": height, "about": about}


def test_a_long_turn_is_cut_until_asked_for(page: Any) -> None:
    long = "a" * 1999 + "\U0001f469" + "b" * 198_000
    data = turns(turn(text=long), turn(id="D1:2", text="c" * 2000))
    mount(page, "transcript", data)
    body = page.locator(".turn .body > bdi:nth-of-type(2)")
    assert body.nth(0).text_content() == "a" * 1999 + "…"  # no half character
    assert body.nth(1).text_content() == "c" * 2000
    assert page.locator(".more").count() == 1
    page.locator(".more").click()
    assert body.nth(0).text_content() == long
    page.evaluate("(data) => show(data)", data)  # an update keeps it open
    assert body.nth(0).text_content() == long
    page.locator(".more").click()
    assert len(body.nth(0).text_content()) == 2000


def test_an_end_that_is_scrolled_to_asks_for_more_and_keeps_its_place(page: Any) -> None:
    def block(first: int) -> list[Any]:
        return [f"{first}", [turn(id=f"D1:{first + i}", text="x " * 80) for i in range(10)]]

    data = turns() | {"blocks": [block(20), block(30)], "more": {"before": True, "after": True}}
    mount(page, "transcript", data | {"focus": "D1:30"})
    page.wait_for_timeout(50)
    assert page.evaluate("sent") == []  # the ends are out of sight
    page.evaluate("root.querySelector('.transcript').scrollTop = 0")
    page.wait_for_function("sent.length")
    assert page.evaluate("sent") == [["more", "before"]]
    top = page.locator("[data-turn='D1:20']").bounding_box()["y"]
    # Blocks that came before are known by their names.
    data["blocks"] = [block(10), ["20", None], ["30", None]]
    data["more"] = {"before": False, "after": True}
    page.evaluate("(data) => show(data)", json.loads(json.dumps(data | {"focus": "D1:30"})))
    assert page.locator("[data-turn='D1:20']").bounding_box()["y"] == pytest.approx(top, abs=1)
    assert page.locator(".turn").count() == 30
    page.evaluate("root.querySelector('.transcript').scrollTop = 1e6")
    page.wait_for_function("sent.length === 2")
    assert page.evaluate("sent[1]") == ["more", "after"]
    data["blocks"] = [["forgotten", None]]
    page.evaluate("(data) => show(data)", json.loads(json.dumps(data)))
    assert page.evaluate("sent[2][0]") == "missing"


def test_a_diff_is_set_line_by_line(page: Any) -> None:
    pieces = [["same", f"{HEBREW}: I "], ["gone", "was"], ["new", "am"], ["same", " here\nAnn: b"]]
    pieces += [["new", "\n" * 20_000]]
    mount(page, "diff", {"items": [{"title": "node 1", "pieces": pieces}]})
    lines = page.locator(".line")
    assert lines.nth(0).text_content() == f"{HEBREW}: I wasam here"
    assert lines.nth(0).locator("del").text_content() == "was"
    assert lines.nth(0).locator("ins").text_content() == "am"
    assert page.locator("bdi.speaker").all_inner_texts() == [HEBREW, "Ann"]
    assert lines.count() <= 500
    whole = page.locator(".body").text_content()
    assert whole.count("\n") + lines.count() > 20_000  # nothing is lost


def test_a_diff_leads_to_its_step(page: Any) -> None:
    items = [{"title": "Step 7", "pieces": [], "step": 7}, {"title": "no step", "pieces": []}]
    mount(page, "diff", {"items": items})
    assert page.locator(".more").all_inner_texts() == ["go to step 7"]
    page.locator(".more").press("Enter")
    assert page.evaluate("sent") == [["step", 7]]


def nodes(about: str = "1", **row: Any) -> dict[str, Any]:
    hostile = "<img src=x onerror=alert(1)>: <b>hi</b>"
    groups = [
        {"title": "<i>Kept</i>", "items": [{"head": hostile, "text": "y" * 5000}]},
        {"title": "", "items": [{"node": 7, "head": hostile, "text": hostile} | row] * 30},
    ]
    return {"groups": groups, "height": 200, "label": "Nodes", "about": about}


def test_a_row_of_a_node_is_picked_by_keyboard(page: Any) -> None:
    mount(page, "nodes", nodes(note="0.5"))
    assert page.locator("img, b, .session i").count() == 0
    assert page.locator(".session").all_inner_texts() == ["<i>Kept</i>"]
    assert page.locator(".entry .move").first.inner_text() == "0.5"
    page.locator(".entry").first.press("Enter")
    assert page.evaluate("sent") == [["node", 7]]
    assert page.locator(".nodes").bounding_box()["height"] == 200


def test_a_long_fact_is_cut_until_asked_for_and_another_node_starts_at_the_top(page: Any) -> None:
    mount(page, "nodes", nodes())
    body = page.locator(".fact .body")
    assert len(body.text_content()) == 2001
    page.locator(".fact .more").click()
    assert body.text_content() == "y" * 5000
    page.evaluate("(data) => show(data)", nodes())  # an update keeps it open
    assert body.text_content() == "y" * 5000
    page.evaluate("root.querySelector('.nodes').scrollTop = 90")
    page.evaluate("(data) => show(data)", nodes())
    assert page.evaluate("root.querySelector('.nodes').scrollTop") == 90
    page.evaluate("(data) => show(data)", nodes(about="2"))
    assert page.evaluate("root.querySelector('.nodes').scrollTop") == 0
    assert len(body.text_content()) == 2001
