"""The app as a person meets it."""

import json
import re
from contextlib import suppress
from random import Random
from urllib.parse import parse_qs, parse_qsl, urlencode, urlparse

from PIL import Image
from playwright.sync_api import TimeoutError as NotClickable

import segviz
from segviz.conversation import TITLES, sample_path
from segviz.retrieval import OPENING, PRESETS
from tests.browser.conftest import App


def upload(app, name, data):
    app.open_memory()
    app.page.get_by_text("Upload", exact=True).first.click()
    app.settle()
    app.page.locator('.st-key-upload input[type="file"]').set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": data}
    )
    return app.settle()


def press(app, key):
    app.page.locator(f".st-key-{key} button").first.click()
    return app.settle()


class TestGrow:
    def test_opens_on_the_sample_draws_every_node_and_steps(self, app, memory):
        app.open()
        assert app.attribute("grow-tree", "total") == str(
            int(memory.structure.collapsed.active.sum())
        )
        assert app.attribute("grow-tree", "step") == str(len(memory.steps))
        line = app.page.locator(".st-key-decided")
        assert "joins “Bristol to Viana, 2025” (S18: 0.07, needed 0.04)" in line.inner_text()
        end = line.bounding_box()["y"] + line.bounding_box()["height"]
        stage = app.tree("grow-tree").locator(".stage").bounding_box()
        assert end <= stage["y"]  # the reason is above the tree
        main = app.page.locator('[data-testid="stMainBlockContainer"]').inner_text()
        # Nothing stands above the transport bar.
        assert main.split()[0] in ("Play", "play_arrow", "skip_previous")
        # Steps redraw it, by buttons and by the keyboard.
        press(app, "go-skip_previous")
        app.until("grow-tree", "step", "1")
        assert app.attribute("grow-tree", "total") == "1"
        for _ in range(3):
            press(app, "go-chevron_right")
        app.until("grow-tree", "step", "4")
        assert app.attribute("grow-tree", "total") == str(int(memory.at(4).collapsed.active.sum()))
        press(app, "go-chevron_left")
        app.until("grow-tree", "step", "3")
        slider = app.page.locator('[data-testid="stSlider"] input[type="range"]').first
        slider.focus()
        slider.press("ArrowRight")
        app.until("grow-tree", "step", "4")

    def test_play_moves_on_by_itself_and_pause_stops_it(self, app):
        app.open()
        press(app, "go-skip_previous")
        app.until("grow-tree", "step", "1")
        app.page.locator(".st-key-play button").first.click()
        app.until("grow-tree", "step", lambda step: int(step) >= 4)
        app.page.locator(".st-key-play button").first.click()
        app.settle()
        stopped = app.attribute("grow-tree", "step")
        app.page.wait_for_timeout(800)
        assert app.attribute("grow-tree", "step") == stopped

    def test_rapid_clicks_leave_the_page_alive(self, app):
        """Runs cut short by the next click once broke Streamlit's message cache for good."""
        app.open()
        random = Random(3)
        keys = ("play", "go-chevron_left", "go-chevron_right", "go-skip_previous", "go-skip_next")
        for _ in range(10):
            button = app.page.locator(f".st-key-{random.choice(keys)} button").first
            # A button that is disabled or being replaced just then is not clicked.
            with suppress(NotClickable):
                button.click(timeout=300, force=True)
            app.page.wait_for_timeout(random.randrange(0, 250))
        # Wherever that ended, and playing or not: to the end, and from there to the beginning.
        with suppress(NotClickable):
            app.page.locator(".st-key-go-skip_next button").first.click(timeout=5_000)
        app.until("grow-tree", "step", "161")
        press(app.settle(), "go-skip_previous")
        app.until("grow-tree", "step", "1")

    def test_a_click_selects_the_node_that_python_shows(self, app, memory):
        app.open()
        canvas = app.tree("grow-tree").locator("canvas.over")
        box = canvas.bounding_box()
        # The middle of the drawing, well inside the leaf row or an inner node.
        canvas.click(position={"x": box["width"] * 0.4, "y": box["height"] * 0.75})
        app.settle()
        node = int(app.attribute("grow-tree", "selected"))
        text = app.text()
        assert f"· node {node}" in text
        start, stop = int(memory.structure.start[node]), int(memory.structure.stop[node])
        expected = f"unit {start} " if stop - start == 1 else f"units {start}–{stop - 1} "
        assert expected in text
        shown = app.page.locator(".st-key-node-text .nodes").text_content()
        assert shown == memory.structure.text[node].replace("\n", "")
        lit = app.page.locator(".st-key-grow-transcript .turn.covered").first
        assert lit.get_attribute("data-turn") == memory.turn_ids(node)[0]

    def test_node_link_view_draws_every_node_and_can_be_saved(self, app, memory):
        app.open()
        app.page.get_by_text("Node-link", exact=True).click()
        app.settle()
        frame = app.page.frame_locator("iframe").first
        frame.locator("canvas").wait_for()
        assert (
            f"All {int(memory.structure.collapsed.active.sum())} nodes, coloured by session"
            in app.text()
        )
        with app.page.expect_download() as download:
            app.page.get_by_role("button", name="This drawing (HTML)").click()
        assert download.value.suggested_filename == "segviz-ines-theo-node-link.html"


class TestAnyPage:
    def test_the_first_request_of_a_server_may_name_a_page(self, tab):
        """Streamlit once took the folder of our pages for its own and knew no other."""
        assert tab.first == ("/ask", 0)

    def test_the_address_names_the_view_on_every_page_and_brings_it_back(self, app, tmp_path):
        """Opening a page once cleared the address; a reload then opened the sample."""
        two = [sample_path(name) for name in ("topic-switching", "recurrence")]
        file = tmp_path / "two.json"
        file.write_text(json.dumps([part for one in two for part in json.loads(one.read_text())]))
        view = {"conversation": "recurrence", "question": "3", "alpha": "0.3", "step": "20"}
        link = {"path": str(file), **view, "node": "9"}
        app.open(f"?{urlencode(link)}")
        for page in ("Ask", "Sweep", "Compare", "Guide", "Grow"):
            app.page.get_by_role("link", name=page, exact=True).first.click()
            app.settle()
            address = app.page.url
            assert dict(parse_qsl(urlparse(address).query)) == link, page
            if page in ("Ask", "Grow"):
                shown = self.shown(app)
                app.page.reload()
                app.settle()
                assert (app.page.url, self.shown(app)) == (address, shown), page
        assert app.attribute("grow-tree", "step") == "20"
        assert app.attribute("grow-tree", "selected") == "9"

    @staticmethod
    def shown(app):
        """The words on the page, and the state of the canvases; build times differ."""
        roots = app.page.locator(".segviz[data-selected]").all()
        drawn = [
            [one.get_attribute(f"data-{n}") for n in ("selected", "step", "alpha")] for one in roots
        ]
        return re.sub(r"\d[\d.]*", "", app.text()).split(), drawn

    def test_a_phone_shows_the_page_and_whole_tables(self, app):
        app.page.set_viewport_size({"width": 390, "height": 844})
        app.open("guide")
        side = app.page.get_by_test_id("stSidebar").bounding_box()
        assert side is None or side["x"] + side["width"] <= 0
        table = app.page.locator(".segviz-table").filter(has_text="says").first
        says = table.locator("td:nth-child(2) p").all()
        assert min(cell.bounding_box()["width"] for cell in says) > 60  # not a word a line
        last = table.locator("th").last
        last.scroll_into_view_if_needed()
        box = last.bounding_box()
        assert box["x"] + box["width"] <= 390


class TestAsk:
    def test_shows_what_python_retrieves(self, app, memory):
        app.open("ask?question=0")
        question = memory.conversation.questions[0]
        result = memory.ask(question.text, PRESETS[OPENING])
        assert app.retrieved() == list(result.after)
        # Picking evidence lights its turns.
        nodes = [int(each.get_attribute("data-node")) for each in app.evidence().all()]
        node = next(each for each in nodes if len(memory.turn_ids(each)) < 6)
        app.evidence().nth(nodes.index(node)).click()
        app.settle()
        lit = app.page.locator(".st-key-ask-transcript .turn.covered").all()
        assert [row.get_attribute("data-turn") for row in lit] == list(memory.turn_ids(node))
        # A question of one's own.
        app.ask_own("What is the dog called now?")
        result = memory.ask("What is the dog called now?", PRESETS[OPENING])
        assert app.retrieved() == list(result.after)


NAMED = ".st-key-sweep-cell-row p strong"  # the setting below the picture


class TestSweep:
    def test_a_clicked_setting_opens_in_ask_with_the_same_numbers(self, app, memory):
        app.open("sweep")
        app.page.locator(NAMED).wait_for()
        app.settle()
        cell = app.page.locator(".st-key-heat-both .scatterlayer .point").nth(12)
        cell.scroll_into_view_if_needed()
        box = cell.bounding_box()
        app.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        app.settle()
        chosen = app.page.locator(NAMED).inner_text().partition(", relevance")[0]
        press(app, "open-ask")
        app.evidence().first.wait_for()
        app.settle()
        _, alpha, horizon = (part.split()[-1] for part in chosen.split(", "))
        how = {"policy": "both", "alpha": float(alpha), "horizon": int(horizon)}
        asked = int(parse_qs(urlparse(app.page.url).query)["question"][0])
        result = memory.ask(memory.conversation.questions[asked], relevance="hybrid", **how)
        assert app.retrieved() == list(result.after)

    def test_a_click_on_a_small_map_makes_it_the_large_one(self, app):
        app.open("sweep?texts=extracts&sweep-cell=both,0.5,2")
        small = app.page.locator(".st-key-map-dense .scatterlayer .point").nth(4)
        small.wait_for(state="attached")
        app.settle()
        app.page.locator(NAMED, has_text="both, α 0.5, H 2, relevance hybrid").wait_for()
        for name in ("dense", "lexical", "dense"):  # the same cell again, too
            small = app.page.locator(f".st-key-map-{name} .scatterlayer .point").nth(4)
            small.scroll_into_view_if_needed()
            box = small.bounding_box()
            app.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            app.page.locator(NAMED, has_text=f"relevance {name}").wait_for()
            app.settle()
            assert not app.page.locator(NAMED, has_text="both, α 0.5, H 2").count()
        # Another page opens although the address names what was chosen here.
        assert "sweep-relevance=dense" in app.page.url
        press(app, "open-ask")
        app.evidence().first.wait_for()
        assert "relevance=dense" in app.settle().page.url

    def test_verdict_and_cells_stand_on_a_small_screen_and_the_button_below_on_a_phone(self, app):
        app.page.set_viewport_size({"width": 1024, "height": 768})
        app.open("sweep")
        cells = app.page.locator(".st-key-heat-top-down .scatterlayer .point")
        cells.first.wait_for()
        app.settle()
        verdict = app.page.get_by_text(re.compile("Propagation does not")).first.bounding_box()
        choices = app.page.get_by_text("Measured by").first.bounding_box()
        boxes = [cell.bounding_box() for cell in cells.all()]
        assert len(boxes) == 21  # seven α by H 1 to 3
        assert verdict["y"] < min(box["y"] for box in boxes)
        assert max(box["y"] + box["height"] for box in boxes) <= min(choices["y"], 768)
        app.page.set_viewport_size({"width": 390, "height": 844})
        app.settle()
        key = app.page.get_by_text("the setting below").first.bounding_box()
        save = app.page.get_by_role("button", name="Sweep (CSV)").bounding_box()
        assert save["y"] >= key["y"] + key["height"]


class TestFiles:
    def test_a_file_can_be_dropped_anywhere_on_the_page(self, app):
        app.open("guide")
        data = sample_path(list(TITLES)[1]).read_text("utf-8")
        dropped = app.page.evaluate_handle(
            "(text) => { const held = new DataTransfer();"
            " held.items.add(new File([text], 'other.json')); return held; }",
            data,
        )
        app.page.locator("h2").first.dispatch_event("dragenter", {"dataTransfer": dropped})
        zone = app.page.locator(".st-key-dropped [data-testid=stFileUploaderDropzone]")
        zone.wait_for()
        covers = "([x, y]) => document.elementFromPoint(x, y).closest('.st-key-dropped') !== null"
        assert all(app.page.evaluate(covers, at) for at in ([20, 20], [700, 500], [1390, 990]))
        zone.dispatch_event("drop", {"dataTransfer": dropped})
        app.page.get_by_text("Noor, Caleb").first.wait_for(state="attached")
        app.settle()
        assert not zone.is_visible()

    def test_a_session_file_shows_the_view_again(self, app, tmp_path):
        app.open("ask?question=2&policy=both&alpha=0.3&node=12&unit=turn")
        app.page.get_by_role("button", name="Export").first.click()
        app.settle()
        with app.page.expect_download() as download:
            app.page.get_by_role("button", name="Session", exact=True).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        shown = [app.attribute("ask-tree", n) for n in ("top", "selected", "total", "policy")]
        app.open()  # loaded anew, the server knows nothing of what was
        upload(app, path.name, path.read_bytes())
        app.until("ask-tree", "top", shown[0])
        again = [app.attribute("ask-tree", n) for n in ("top", "selected", "total", "policy")]
        assert again == shown
        assert shown[1:] == [
            "12",
            str(int(segviz.open(path).structure.collapsed.active.sum())),
            "both",
        ]
        assert "question=2&policy=both&alpha=0.3" in app.page.url

    def test_a_click_brings_the_picture(self, app):
        app.open("?sample=ines-theo&step=40")
        app.page.get_by_role("button", name="Export").first.click()
        app.settle()
        with app.page.expect_download(timeout=60_000) as download:
            app.page.get_by_role("button", name="Picture (PNG)").click()
        with Image.open(download.value.path()) as picture:
            assert picture.width == 2800
        app.settle()
        assert app.page.get_by_test_id("stDownloadButtonError").count() == 0


def test_the_page_works_where_a_browser_stores_nothing(chromium, server):
    """As it may in the frame of another site, such as a Space's."""
    context = chromium.new_context()
    refuse = "get() { throw new DOMException('denied', 'SecurityError'); }"
    context.add_init_script(f"Object.defineProperty(window, 'localStorage', {{ {refuse} }})")
    app = App(context.new_page(), server).open("grow")
    welcome = app.page.locator(".st-key-welcome")
    welcome.get_by_role("button", name="Dismiss").click()
    welcome.wait_for(state="hidden")
    assert app.errors == []
    context.close()


class TestUntrueTexts:
    def test_what_a_store_calls_untrue_is_struck_in_every_drawing(self, app, tmp_path):
        conversation = segviz.load(sample_path("recurrence"))[0]
        first, later = (conversation.turns[place] for place in (0, 40))
        rows = [
            {"id": turn.id, "text": f"Stored: {turn.text}", "turns": turn.id}
            for turn in conversation.turns[:60]
        ]
        ended = f"{conversation.sessions[0].start:%Y-%m-%d}"
        rows[0] |= {"invalid_at": ended, "superseded_by": later.id}
        made = segviz.memory_from(rows, conversation=conversation, unit="turn")
        ((node, old),) = made.ended_in(made.structure).items()
        assert old.turns == (first.id,)
        made.save(tmp_path / "m.json")
        upload(app.open(), "m.json", (tmp_path / "m.json").read_bytes())
        # The canvas: its message, its legend, and the words of the node.
        tree = app.tree("grow-tree")
        told = "(root) => Object.values(root.parentNode.segvizTree.scene.data.ended)"
        assert {*tree.evaluate(told)} == {str(old)}
        assert "no longer true" in tree.locator(".legend").inner_text()
        app.page.get_by_text("Outline", exact=True).first.click()
        app.settle()
        row = app.page.locator(f".st-key-grow-outline [data-node='{node}']")
        assert "no longer true" in row.inner_text()
        words = row.locator(".words")
        assert "line-through" in words.evaluate("(one) => getComputedStyle(one).textDecoration")
        row.click()
        app.settle()
        assert f"replaced by: Stored: {later.text}"[:60] in app.text()
        # The list of evidence.
        app.page.get_by_role("link", name="Ask", exact=True).first.click()
        app.settle()
        app.ask_own(first.text)
        called = app.page.locator(".evidence .ended .words").first
        assert "line-through" in called.evaluate("(one) => getComputedStyle(one).textDecoration")
