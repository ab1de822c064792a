"""The one-file page: what is in it, and what it does when opened from disk."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from playwright.sync_api import expect

import segviz
from segviz.export import View
from segviz.export.html import html_page, picture_height
from segviz.export.text import legal
from segviz.tree.icicle_layout import unfold
from segviz.view.palette import SURFACE
from tests.export.views import HOSTILE, ask_view, grow_view
from tests.frontend.test_payload import unpack


class Reader(HTMLParser):
    """Elements, attributes, and the raw text of scripts and styles."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.text = ""
        self.inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag in self.raw:
            self.inside = tag
            self.raw[tag].append("")

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = ""

    def handle_data(self, data):
        if self.inside:
            self.raw[self.inside][-1] += data
        else:
            self.text += data


def digest(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def data(page: Reader) -> dict:
    return json.loads(page.raw["script"][0])


TAGS = """html head meta link title style body header h1 dl div dt dd label select option button
span figure main section h2 p ol li bdi noscript script""".split()


@pytest.mark.parametrize("text", HOSTILE)
def test_foreign_text_makes_no_element_and_no_attribute(hostile, text):
    page = html_page(ask_view(hostile, text, k=30))
    harmless = html_page(ask_view(hostile, "harmless", k=30))
    found = Reader(page)
    assert {tag for tag, _ in found.found} <= set(TAGS)
    assert [tag for tag, _ in found.found].count("script") == 2
    for _, attributes in found.found:
        assert not any(name.startswith("on") for name in attributes)
        assert not {"src", "style", "srcdoc", "action"} & set(attributes)
    assert sorted({tag for tag, _ in found.found}) == sorted(
        {tag for tag, _ in Reader(harmless).found}
    )
    assert legal(text) in found.text
    page.encode("utf-8")


def test_the_policy_forbids_everything_but_what_is_there(memory):
    page = Reader(html_page(ask_view(memory, "Saturn?")))
    policy = next(a["content"] for t, a in page.found if t == "meta" and "http-equiv" in a)
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    assert parts["default-src"] == "'none'"
    assert parts["script-src"] == f"'{digest(page.raw['script'][1])}'"
    assert parts["style-src"] == f"'{digest(page.raw['style'][0])}'"
    assert "unsafe" not in policy
    assert "http" not in policy.replace("http-equiv", "")


def test_the_message_is_the_canvas_payload(memory):
    view = ask_view(memory, "Saturn?", policy="both", alpha=0.4, horizon=3, k=4, levels=(0, 1))
    head, columns = unpack(base64.b64decode(data(Reader(html_page(view)))["message"]))
    assert {"level", "edges", "initial", "gold"} < set(columns)
    assert columns["final"] == view.result.final.astype("<f4").tolist()
    assert columns["top_final"] == list(view.result.after)
    live = head["live"]
    assert (live["policy"], live["alpha"], live["horizon"], live["k"]) == ("both", 0.4, 3, 4)
    assert live["levels"] == [0, 1]


def test_texts_of_all_nodes_are_there(hostile):
    found = data(Reader(html_page(grow_view(hostile))))
    assert found["texts"] == [legal(text) for text in hostile.structure.text]
    assert found["edges"] == hostile.structure.edges.ravel().tolist()


def test_setting_and_evidence_are_readable_without_script(memory):
    view = ask_view(memory, "What colour is the bicycle?")
    text = Reader(html_page(view)).text
    for name, value in view.setting:
        assert name in text
        assert value in text
    for item in view.result.evidence:
        assert item.text in text
        assert f"propagated ×{item.final * view.structure.active.sum():.2f}" in text
    assert f"the average of {view.structure.active.sum()} nodes" in text


def test_the_same_view_gives_the_same_bytes(memory):
    assert html_page(grow_view(memory, step=4)) == html_page(grow_view(memory, step=4))


# --- in the browser --------------------------------------------------------------------------


class Opened:
    """The page in a browser without a network; notes what should not happen."""

    def __init__(self, chromium, folder, view: View, scheme: str = "light", page=html_page):
        path = folder / "page.html"
        path.write_text(page(view), encoding="utf-8")
        self.context = chromium.new_context(
            viewport={"width": 1300, "height": 900}, color_scheme=scheme
        )
        self.context.set_offline(True)
        self.page = self.context.new_page()
        self.trouble: list[str] = []
        self.requests: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", lambda dialog: self.trouble.append(dialog.message))
        self.title = view.heading
        self.page.goto(path.as_uri())
        self.tree = self.page.locator("#tree .segviz")
        # The page forbids eval, with which wait_for_function would look a second time.
        self.page.locator("#tree [data-painted]").wait_for(state="attached")

    def attribute(self, name: str) -> str:
        return self.tree.get_attribute(f"data-{name}")

    def until(self, name: str, value: str) -> None:
        expect(self.tree).to_have_attribute(f"data-{name}", value)

    def close(self) -> None:
        assert self.trouble == []
        own = [url for url in self.requests if not url.startswith(("blob:", "data:"))]
        assert set(own) <= {self.page.url, self.page.url.partition("#")[0]}
        self.context.close()


@pytest.fixture
def opened(chromium, tmp_path):
    tabs = []

    def open_(view: View, scheme: str = "light", page=html_page) -> Opened:
        tabs.append(Opened(chromium, tmp_path, view, scheme, page))
        return tabs[-1]

    yield open_
    for tab in tabs:
        tab.close()


@pytest.mark.browser
class TestInTheBrowser:
    def test_it_shows_the_nodes_and_answers_to_click_and_keyboard(self, opened, memory):
        view = ask_view(memory, "How many gears?", policy="both", alpha=0.3)
        tab = opened(view)
        assert tab.attribute("total") == str(int(view.structure.active.sum()))
        assert tab.attribute("top") == ",".join(map(str, view.result.after))
        canvas = tab.tree.locator("canvas.over")
        canvas.focus()
        tab.page.keyboard.press("Home")
        tab.page.keyboard.press("Enter")
        tab.until("selected", "0")
        details = tab.page.locator("#details")
        assert "Node 0" in details.inner_text()
        assert view.structure.text[0] in details.inner_text()
        left, width, top, height = map(float, tab.attribute("plot").split(","))
        last = len(memory.units) - 1
        box = canvas.bounding_box()
        x = box["x"] + left + width * (last + 0.5) / len(memory.units)
        tab.page.mouse.click(x, box["y"] + top + height + 8)
        leaf = view.structure.leaves[last]
        tab.until("selected", str(leaf))
        assert view.structure.text[leaf] in details.inner_text()
        tab.page.mouse.click(box["x"] + left / 4, box["y"] + top + height + 8)  # beside the tree
        tab.until("selected", "")
        assert "Select a node" in details.inner_text()

    def test_moving_alpha_gives_pythons_scores(self, opened, memory):
        tab = opened(ask_view(memory, "How many gears?", policy="both", alpha=0.1))
        slider = tab.tree.locator("input.alpha")
        slider.focus()
        for _ in range(40):
            tab.page.keyboard.press("ArrowRight")
        tab.until("alpha", "0.5")
        there = memory.ask("How many gears?", policy="both", alpha=0.5)
        tab.until("top", ",".join(map(str, there.after)))
        # What the page says follows: setting, list, levels, and the list on paper.
        assert "both, α 0.5, H 2" in tab.page.inner_text(".setting")
        listed = tab.tree.locator(".evidence li:not(.out) > .entry").all()
        nodes = [int(each.get_attribute("data-node")) for each in listed]
        assert sorted(nodes, key=there.after.index) == list(there.after)
        before, after = there.levels("initial"), there.levels("final")
        assert tab.attribute("counts") == ",".join(f"{before[n]}>{after[n]}" for n in before)
        tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        paper = tab.page.locator("#evidence li")
        assert [each.get_attribute("value") for each in paper.all()] == [
            str(item.rank_after) for item in there.evidence
        ]
        for each, item in zip(paper.all(), there.evidence, strict=True):
            assert f"node {item.node} " in each.text_content()
            assert item.text in each.text_content()

    def test_what_does_not_follow_time_is_unfolded(self, opened, memory):
        built = segviz.build(memory.conversation, "memforest", "turn", embedder=memory.embedder)
        view = ask_view(built, "How many gears?")
        found = unfold(view.structure)
        tab = opened(view)
        assert tab.attribute("total") == str(len(found.structure))
        assert "does not follow time" in tab.page.inner_text("body")
        for item in view.result.evidence:
            (place,) = found.first([item.node])
            # It may be folded into the row of a better one.
            tab.tree.locator(f'.evidence [data-node="{place}"]').dispatch_event("click")
            tab.until("selected", str(place))
            assert f"Node {item.node}" in tab.page.inner_text("#details")
            assert item.text in tab.page.inner_text("#details")

    def test_the_dark_page_is_dark_and_follows_a_change(self, opened, memory):
        tab = opened(ask_view(memory, "Saturn?"), scheme="dark")
        colour = "getComputedStyle(document.body).backgroundColor"
        assert tab.page.evaluate(colour) == "rgb(23, 22, 20)"
        painted = int(tab.attribute("painted"))
        tab.page.emulate_media(color_scheme="light")
        assert tab.page.evaluate(colour) == "rgb(255, 255, 255)"
        expect(tab.tree).not_to_have_attribute("data-painted", str(painted))

    def test_the_png_is_the_picture_at_the_chosen_scale(self, opened, memory, tmp_path):
        tab = opened(ask_view(memory, "Saturn?"))
        tab.page.select_option("#scale", "1")
        with tab.page.expect_download() as download:
            tab.page.click("#png")
        assert download.value.suggested_filename == "segviz-chat-ask.png"
        path = tmp_path / "saved.png"
        download.value.save_as(path)
        raw = path.read_bytes()
        assert raw[:8] == b"\x89PNG\r\n\x1a\n"
        height = picture_height(ask_view(memory, "Saturn?"))
        assert np.frombuffer(raw[16:24], ">u4").tolist() == [1400, height]
        assert f"1400 × {height}" in tab.page.inner_text("#said")

    def test_the_svg_is_what_is_on_the_screen(self, opened, memory):
        tab = opened(ask_view(memory, "How many gears?", policy="both", alpha=0.1), scheme="dark")
        tab.tree.locator("input.alpha").focus()
        tab.page.keyboard.press("ArrowRight")
        with tab.page.expect_download() as download:
            tab.page.click("#svg")
        assert download.value.suggested_filename == "segviz-chat-ask.svg"
        picture = download.value.path().read_text("utf-8")
        assert "Propagation both, α 0.11, H 2" in picture
        assert f'fill="{SURFACE["dark"][0]}"' in picture

    def test_the_printed_page_is_vectors_with_the_texts(self, opened, memory):
        tab = opened(ask_view(memory, "Saturn?"))
        printed = tab.page.pdf(prefer_css_page_size=True)
        assert printed.startswith(b"%PDF-")
        assert not re.search(rb"/Subtype\s*/Image", printed)  # the canvas would be one
        assert not tab.page.locator("#picture svg").is_visible()
        tab.page.emulate_media(media="print")
        assert tab.page.locator("#picture svg").is_visible()
        assert not tab.page.locator("#tree").is_visible()
        assert tab.page.locator("#evidence li").first.is_visible()

    def test_hostile_text_stays_text(self, opened, hostile):
        for question in HOSTILE[:2]:  # the others are among the texts of every page
            tab = opened(ask_view(hostile, question, k=30))
            for place in range(3):
                tab.tree.locator(".evidence .entry").nth(place).dispatch_event("click")
            tab.tree.locator("canvas.over").focus()
            for _ in range(4):
                tab.page.keyboard.press("ArrowLeft")
            assert tab.page.title().endswith("– segviz")
            assert tab.page.evaluate("document.scripts.length") == 2
            assert tab.page.evaluate("document.querySelectorAll('img, iframe, b').length") == 0
