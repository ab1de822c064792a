"""Evidence list, transcript and diff in a real browser, with hostile and long text."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from segviz.frontend import script, stylesheet
from segviz.frontend.message import pack

pytestmark = pytest.mark.browser

HEBREW = "\u05d3\u05e0\u05d9"
MOUNT = """async ([name, script, styles]) => {
  const host = document.createElement("div");
  document.body.append(host);
  const root = host.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = styles;
  root.append(style);
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: component } = await import(url);
  window.sent = [];
  window[name] = { root, show: (data) => { window[name].end = component({ parentElement: root,
    data: Uint8Array.from(atob(data), (c) => c.charCodeAt(0)),
    setTriggerValue: (...what) => sent.push(what) }); } };
}"""


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    opened = chromium.new_page(viewport={"width": 500, "height": 900})
    yield opened
    opened.close()


def show(page: Any, data: dict[str, Any], name: str = "mounted") -> None:
    """Hands a mounted component its next message."""
    page.evaluate(f"(data) => {name}.show(data)", base64.b64encode(pack(data)).decode())


def mount(page: Any, component: str, data: dict[str, Any], name: str = "mounted") -> None:
    """Mounts a component; ``sent`` keeps what it tells Python."""
    sheet = component if component in ("canvas", "outline") else "lists"
    page.evaluate(MOUNT, [name, script(component), stylesheet(sheet)])
    show(page, data, name)


def nodes_of(*items: dict[str, Any]) -> dict[str, Any]:
    group = {"title": "", "items": items}
    return {"groups": [group], "height": 600, "label": "texts", "about": "1"}


def facts(*texts: str) -> dict[str, Any]:
    return nodes_of(*({"head": "", "text": text} for text in texts))


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


def test_another_node_starts_at_the_top(page: Any) -> None:
    top = "mounted.root.querySelector('.nodes').scrollTop"
    mount(page, "nodes", nodes())
    page.evaluate(f"{top} = 90")
    show(page, nodes())
    assert page.evaluate(top) == 90
    show(page, nodes(about="2"))
    assert page.evaluate(top) == 0


def test_markup_stays_text(page: Any) -> None:
    mount(page, "nodes", facts("<img src=x onerror=alert(1)>: <b>hi</b>"))
    assert page.locator(".body img, .body b").count() == 0


def turn(**changes: Any) -> dict[str, Any]:
    return {"id": "D1:1", "speaker": "Ann", "text": "x"} | changes


def turns(*rows: dict[str, Any], height: int = 400, about: str = "") -> dict[str, Any]:
    """A transcript of these."""
    heading = {"heading": "Session 1", "colour": "#abc"}
    more = {"before": False, "after": False}
    sent = {"rows": [heading, *rows], "more": more, "focus": ""}
    return sent | {"height": height, "about": about}


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
    show(page, data)  # an update keeps it open
    assert body.nth(0).text_content() == long
    page.locator(".more").click()
    assert len(body.nth(0).text_content()) == 2000


def test_an_end_that_is_scrolled_to_asks_for_more_and_keeps_its_place(page: Any) -> None:
    def rows(start: int) -> list[Any]:
        return [turn(id=f"D1:{n}", text="x " * 80) for n in range(start, 40)]

    data = turns(*rows(20)) | {"more": {"before": True, "after": True}, "focus": "D1:30"}
    mount(page, "transcript", data)
    page.wait_for_timeout(50)
    assert page.evaluate("sent") == []  # the ends are out of sight
    page.evaluate("mounted.root.querySelector('.transcript').scrollTop = 0")
    page.wait_for_function("sent.length")
    assert page.evaluate("sent") == [["more", "before"]]
    top = page.locator("[data-turn='D1:20']").bounding_box()["y"]
    show(page, data | {"rows": rows(10), "more": {"before": False, "after": True}})
    assert page.locator("[data-turn='D1:20']").bounding_box()["y"] == pytest.approx(top, abs=1)
    assert page.locator(".turn").count() == 30
    page.evaluate("mounted.root.querySelector('.transcript').scrollTop = 1e6")
    page.wait_for_function("sent.length === 2")
    assert page.evaluate("sent[1]") == ["more", "after"]


def test_a_diff_is_set_line_by_line(page: Any) -> None:
    pieces = [["same", f"{HEBREW}: I "], ["gone", "was"], ["new", "am"], ["same", " here\nAnn: b"]]
    mount(page, "diff", {"items": [{"title": "node 1", "pieces": pieces}]})
    lines = page.locator(".line")
    assert lines.nth(0).text_content() == f"{HEBREW}: I wasam here"
    assert lines.nth(0).locator("del").text_content() == "was"
    assert lines.nth(0).locator("ins").text_content() == "am"
    assert page.locator("bdi.speaker").all_inner_texts() == [HEBREW, "Ann"]


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


WHOLE = "word " * 10_000
ALL = {"text": WHOLE, "length": len(WHOLE), "name": "the long one"}
PART = ALL | {"text": WHOLE[:20_000], "cut": True}


@pytest.mark.parametrize(
    ("component", "data"),
    [
        ("nodes", lambda text: nodes_of({"head": "", **text})),
        ("transcript", lambda text: turns(turn(**text))),
    ],
)
def test_the_rest_of_a_very_long_text_is_asked_for_by_name(
    page: Any, component: str, data: Any
) -> None:
    mount(page, component, data(PART))
    text, more = page.locator(".body"), page.locator(".more")
    more.click()
    assert page.evaluate("sent") == [["whole", "the long one"]]
    assert "…" in text.text_content()
    show(page, data(ALL))
    assert more.inner_text() == "show less"
    assert WHOLE.strip() in text.text_content()
    more.click()
    assert page.evaluate("sent")[1:] == [["whole", ""]]
    assert len(text.text_content()) < 2_500
