"""``segviz.show``: what a notebook is given, and what Chromium makes of it."""

import pytest

import segviz
from segviz.conversation import Question, sample_path
from segviz.embedding import HashingEmbedder
from segviz.evaluation import MEASURES
from segviz.export import view_of
from segviz.export.html import html_page
from segviz.notebook import Shown
from segviz.tree import thumbnail
from tests.export.test_export_page import Reader
from tests.export.views import HOSTILE, build, hostile_chat
from tests.trees import chat


def test_a_notebook_gets_one_sandboxed_frame_with_the_page(memory):
    shown = segviz.show(memory, "How many gears?", policy="both", alpha=0.3, height=500)
    (style, _), (tag, attributes) = Reader(shown._repr_html_()).found
    assert (style, tag) == ("style", "iframe")
    assert attributes["srcdoc"] == shown.html
    assert "allow-same-origin" not in attributes["sandbox"].split()
    assert "height:500px" in attributes["style"]
    assert "src" not in attributes
    expected = view_of(memory, "How many gears?", policy="both", alpha=0.3)
    assert shown.html == html_page(expected)
    assert (
        shown.view.result.evidence
        == memory.ask("How many gears?", policy="both", alpha=0.3).evidence
    )


def test_the_bundle_holds_what_is_asked_for_and_the_page_can_be_saved(memory, tmp_path):
    shown = segviz.show(memory)
    shown.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes().decode("utf-8") == shown.html
    plain = f"Shown(segment-tree of {memory.conversation.id!r}, {len(memory.structure)} nodes)"
    assert repr(shown) == plain
    assert shown._repr_mimebundle_() == {"text/html": shown._repr_html_(), "text/plain": plain}
    assert shown._repr_mimebundle_(include=["text/plain"]) == {"text/plain": plain}
    assert list(shown._repr_mimebundle_(exclude=["text/html"])) == ["text/plain"]
    assert shown._repr_mimebundle_(include=["image/png"]) == {}


def test_a_moment_and_a_question_of_the_data_set_can_be_shown():
    conversation = segviz.load(sample_path("recurrence"))[0]
    memory = segviz.build(conversation, embedder="hashing")
    early = segviz.show(memory, step=5, node=2)
    assert len(early.view.structure) == len(memory.at(5))
    assert (early.view.moment, early.view.bookmark.node) == (5, 2)
    asked = segviz.show(memory, number=1, step=9)
    assert (asked.view.page, asked.view.moment) == ("ask", 9)
    assert asked.view.question == conversation.questions[1]
    assert conversation.questions[1].text in repr(asked)
    # Its text names it, too.
    by_text = segviz.show(memory, conversation.questions[1].text)
    assert by_text.view.question == conversation.questions[1]
    assert by_text.html == segviz.show(memory, number=1).html
    assert segviz.show(memory, "Is there another?").view.question is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"height": 20}, "height is 20"),
        ({"policy": "both"}, "policy: these settings need a question"),
        ({"node": 999}, "there is no node 999"),
        ({"number": 5}, "there is no question 5"),
        ({"question": "a", "number": 0}, "not both"),
    ],
)
def test_what_cannot_be_shown_is_told(memory, settings, said):
    with pytest.raises(ValueError, match=said):
        segviz.show(memory, **settings)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_question_stays_an_attribute(memory, text):
    shown = segviz.show(memory, text)
    assert [tag for tag, _ in Reader(shown._repr_html_()).found] == ["style", "iframe"]
    assert "\n" not in repr(shown)


@pytest.fixture
def notebook(chromium):
    """A page that shows cells as a notebook does, without a network."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    context.set_offline(True)
    page = context.new_page()
    trouble: list[str] = []
    page.on("request", lambda request: trouble.append(request.url[:200]))
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))

    def show(shown: Shown):
        page.set_content(f"<title>notebook</title><h1>cell</h1>{shown._repr_html_()}")
        frame = page.frames[-1]
        frame.wait_for_function(
            "document.querySelector('#tree').shadowRoot.querySelector('[data-painted]')"
        )
        return page, frame

    yield show
    assert [line for line in trouble if not line.startswith(("blob:", "data:", "about:"))] == []
    context.close()


@pytest.mark.browser
class TestInTheBrowser:
    def test_hostile_text_is_text_and_the_frame_is_shut_in(self, notebook):
        memory = build(hostile_chat())
        page, frame = notebook(segviz.show(memory, HOSTILE[0]))
        assert frame.locator("h1").inner_text() == HOSTILE[0]
        assert (page.title(), frame.title()) == ("notebook", f"{HOSTILE[0]} – segviz")
        assert frame.evaluate("window.origin") == "null"
        reach = "() => { try { return parent.document.title } catch { return 'shut in' } }"
        assert frame.evaluate(reach) == "shut in"
        first = memory.ask(HOSTILE[0]).evidence[0]
        assert first.text in frame.locator("#evidence .text").first.text_content()

    @pytest.mark.parametrize(
        ("marked", "dark"),
        [('data-jp-theme-light="true"', False), ('data-vscode-theme-kind="vscode-dark"', True)],
    )
    def test_the_frame_follows_the_theme_of_the_notebook(self, notebook, memory, marked, dark):
        page, _ = notebook(segviz.show(memory))
        page.emulate_media(color_scheme="null")  # an emulated scheme would win in every frame
        page.set_content(f"<body {marked}>{segviz.show(memory)._repr_html_()}")
        frame = page.frames[-1]
        frame.wait_for_selector("#tree")
        assert frame.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == dark


class TestNotebookManners:
    """Objects as cells show them, and as other libraries take them."""

    def test_pictures_hold_no_markup_of_the_chat(self):
        evil = "<img src=x onerror=alert(1)>"
        memory = segviz.build(chat([[(evil, evil)] * 3]), unit="turn", embedder=HashingEmbedder())
        for shown in (memory, memory.ask(evil)):
            page = shown._repr_html_()
            assert "<svg" in page
            assert evil not in page
            assert page.count("<img") == 0

    def test_marked_nodes_are_filled_and_all_are_drawn(self, memory):
        s = memory.structure.collapsed
        picture = thumbnail(s, [0, 3])
        assert picture.count("<rect") == int(s.active[s.nodes].sum())
        assert picture.count('fill="#a83209"') == 2
        assert "<rect" not in thumbnail(segviz.build(chat([])).structure)

    def test_frames(self, memory):
        questions = [Question(i, "red bicycle", None, 1, ("D1:1",)) for i in range(3)]
        result = memory.ask("red bicycle")
        frame = result.frame()
        assert frame["node"].tolist() == list(result.after)
        assert frame["final"].tolist() == [each.final for each in result.evidence]
        outcomes = segviz.evaluate(memory, questions).outcomes.frame()
        assert len(outcomes) == 3
        assert outcomes["category"].tolist() == [1, 1, 1]
        assert set(MEASURES) <= set(outcomes.columns)
        axes = {"policies": ("bottom-up",), "alphas": (0.5,), "horizons": (1, 2)}
        frame = segviz.sweep(memory, questions, **axes).frame()
        assert frame["horizon"].tolist()[1:] == [1, 2]
        assert frame["recall"].isna().tolist() == [False, True, True]

    def test_a_graph(self, memory):
        graph = memory.to_networkx()
        s = memory.structure
        children = [(a, b) for a, b, kind in graph.edges(data="type") if kind == "child"]
        assert sorted(children) == sorted(map(tuple, s.edges.tolist()))
        assert [graph.nodes[n]["text"] for n in sorted(graph)] == [
            s.text[n] for n in s.nodes.tolist()
        ]
        assert len(memory.to_networkx(2)) == len(memory.at(2).nodes)
