"""The pages without a browser: Streamlit's AppTest runs the real scripts."""

import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

import segviz
from segviz.retrieval import OPENING, PRESETS
from segviz.ui import security
from segviz.ui.main import about
from segviz.ui.pages.grow.decision import telling_words
from tests.app.conftest import (
    ask_own,
    clean,
    entry,
    grow,
    labelled,
    messages,
    on_canvas,
    open_path,
    page,
    settings,
    shown,
    tables,
    texts,
)


def set_in_header(app: AppTest, **setting) -> AppTest:
    """What the header of the canvas does; AppTest runs no component."""
    (key,) = app.session_state["memories"]
    unset = ("segment-tree", key, PRESETS[OPENING])
    system, key, before = app.session_state.get("settings", unset)
    app.session_state["settings"] = (system, key, replace(before, **setting))
    return clean(app.run())


def evidence_scores(app: AppTest) -> list[list[float]]:
    """What is retrieved and its scores, as the canvas was sent them."""
    sent = on_canvas(app)
    return [sent[name] for name in ("final", "top_initial", "top_final", "initial")]


def decided(app: AppTest) -> str:
    """The line above the tree."""
    lines = [each.value for each in app.markdown if each.value.startswith("“")]
    return lines[0].replace("\\", "")


class TestGrow:
    def test_the_line_above_the_tree_gives_the_reason_in_words(self):
        app = grow().run()
        app.slider[0].set_value(60).run()
        assert decided(clean(app)) == (
            "“What? He's been Kanel for six weeks! You can't keep…” joins "
            "“Kevin, Denmark” (S7: 0.17, needed 0.04) on level 1."
        )
        listed = [table["words"].tolist() for table in tables(app) if "words" in table]
        assert any("Kevin, Denmark" in words for words in listed)
        app.button(key="go-chevron_left").click().run()
        assert "Kanel" not in decided(clean(app))

    @pytest.mark.parametrize(
        ("system", "step", "told"),
        [
            ("memtree", 35, "and “Storm Petrel” (S3: 0.55, needed 0.40) form the topic “"),
            ("xmemory", 10, "opens a new episode: the session changed; nearest “"),
        ],
    )
    def test_other_systems_say_it_without_the_numbers_of_nodes(
        self, monkeypatch, begun_file, system, step, told
    ):
        monkeypatch.setenv("SEGVIZ_FILE", str(begun_file))
        app = grow()
        app.session_state["system"] = system
        app.run().slider[0].set_value(step).run()
        line = decided(clean(app))
        assert told in line
        assert not re.search(r"(node|cluster|theme|topic|episode) \d", line)

    def test_words_that_any_two_texts_share_are_not_marked(self):
        said = "Ann: You told me of the boat.", "Ben: Did you give Ann a boat for me?"
        assert telling_words(*said, ["Ann", "Ben"]) == {"boat"}

    def test_it_opens_on_the_whole_sample_and_steps_through_it(self):
        app = clean(grow().run())
        total = app.slider[0].max
        assert app.slider[0].value == total > 100
        assert f"Step **{total:.0f}** / {total:.0f}" in texts(app)
        built = "161 leaves by exchange, Segment tree (SegTreeMem), calibrated"
        assert built in [each.label for each in app.expander]
        app.button(key="go-chevron_left").click().run()
        assert clean(app).slider[0].value == total - 1
        assert built in [each.label for each in app.expander]
        app.button(key="go-skip_previous").click().run()
        assert decided(clean(app)) == (
            "“Theo, are you sitting down? I have done something either…” is the first leaf."
        )
        assert app.button(key="go-chevron_left").disabled
        app.button(key="go-chevron_right").click().run()
        assert clean(app).slider[0].value == 2
        shown(app, "jump").set_value(5).run()
        assert "Session 6" in str(shown(app, "jump").options[5])
        assert 1 < clean(app).slider[0].value < total
        assert shown(app, "jump").value is None
        # Two clicks of which the second arrives before the page is drawn again.
        key = entry(app.slider[0].key)
        app.button(key="go-chevron_left").click()
        app.session_state[key] = 1
        app.run()
        assert clean(app).slider[0].value == 1
        app.button(key="go-skip_next").click().run()
        assert clean(app).slider[0].value == total

    @pytest.mark.usefixtures("small")
    def test_play_starts_over_at_the_end_pauses_and_ends_with_another_memory(self):
        app = grow().run()
        app.button(key="play").click().run()
        assert clean(app).slider[0].value < app.slider[0].max
        assert app.button(key="play").label == "Pause"
        app.button(key="play").click().run()
        assert clean(app).button(key="play").label == "Play"
        app.button(key="play").click().run()
        for unit in ("turn", "exchange"):
            app.selectbox(key="unit").set_value(unit).run()
            assert clean(app).button(key="play").label == "Play"

    def test_another_unit_rule_and_model_rebuild(self):
        app = grow().run()
        before = app.slider[0].max
        app.selectbox(key="unit").set_value("turn").run()
        assert clean(app).slider[0].max > before
        app.selectbox(key="unit").set_value("paper").run()
        assert "turns are in no leaf, which takes all evidence from" in texts(clean(app))
        app.selectbox(key="segment-tree.compatibility").set_value("cosine").run()
        assert "Most similar" in texts(clean(app)) or "stays below" in texts(app)


def test_the_tally_follows_the_setting_and_opens_the_questions_it_counts():
    for group, verb, sign in (("gains", "gains on", 1), ("loses", "loses on", -1)):
        app = set_in_header(page("ask").run(), policy="neighbours", alpha=0.9, horizon=3)
        conversation = app.session_state["last"].corpus[0]
        evidence = {each.text: len(each.evidence) for each in conversation.questions}
        app.session_state[f"atlas-{group}"] = True
        rows = next(iter(clean(app.run()).dataframe)).value
        labels = [each.proto.popover.label for each in app.get("popover")]
        assert f"{verb} {len(rows)}" in labels
        worth = [
            [sum(map(marks.count, "●◐◉")) for marks in rows[name]] for name in ("before", "after")
        ]
        changes = [sign * (after - before) for before, after in zip(*worth, strict=True)]
        assert changes == sorted(changes, reverse=True)
        assert min(changes) > 0
        asked = [evidence[question] for question in rows["question"]]
        assert [len(marks) for marks in rows["before"]] == asked
        lost = [stage.startswith("written, not ranked: rank ") for stage in rows["stage"]]
        assert lost == ["○" in marks for marks in rows["after"]]
        (atlas,) = (sent for sent in messages(app) if "dots" in sent)
        members = [atlas["groups"][dot["group"]] for dot in atlas["dots"]]
        assert members.count(group) == len(rows)
        assert len(members) == sum(count > 0 for count in evidence.values())
        assert atlas["sides"] == ["no propagation", "custom"]


WHY_MISSED = {
    "sample=ines-theo&question=33": "D8:8 was missed: of the question's words, its leaf has only "
    "“day”, “ines”, “sugar”.",
    "sample=ines-theo&question=6": "D15:8 was missed: its leaf fell from rank 8 to 11, because "
    "others received more.",
    "sample=noor-caleb&question=5": "D6:12 was missed: of the question's words, its leaf has none.",
    "sample=ines-theo&question=33&levels=2": "D8:8 was missed: the level of its leaf is not "
    "admitted.",
}


@pytest.mark.parametrize("link", WHY_MISSED)
def test_a_missed_turn_says_why(link):
    """It says “sugar” and “day”, and no rice pudding; it was retrieved without propagation."""
    app = page("ask", linked=True)
    app.query_params.update(parse_qsl(link))
    assert WHY_MISSED[link] in texts(clean(app.run()))


@pytest.mark.usefixtures("small")
class TestAsk:
    def test_a_dataset_question_comes_with_gold(self):
        app = clean(page("ask").run())
        assert "Gold evidence," in texts(app)
        assert "Gold answer:" in texts(app)
        sent = on_canvas(app)
        assert sent["gold_asked"] == len(
            {turn for turns in sent["gold_turns"].values() for turn in turns}
        )
        (memory,) = app.session_state["memories"].values()
        whole = memory.structure.collapsed.text
        for node in sent["top_final"]:  # what the label says whole is not said again
            label, rest = sent["labels"][node], sent["texts"].get(str(node))
            assert (label if rest is None else label[:-1] + rest) == whole[node]

    def test_every_node_can_be_shown_and_without_an_admissible_level_none_is_retrieved(self):
        app = page("ask")
        app.session_state["more-settings"] = True
        app.run()
        labelled(app.toggle, "Show every node").set_value(True).run()
        assert settings(app).literal
        labelled(app.multiselect, "Admissible").set_value([]).run()
        assert "No level is admissible" in texts(clean(app))
        assert on_canvas(app)["words"] == 0

    def test_every_view_has_the_controls_and_the_evidence(self):
        app = set_in_header(page("ask").run(), policy="both", alpha=0.37, horizon=4)
        before = evidence_scores(app)
        assert not on_canvas(app)["bare"]
        for view in ("Node-link", "Outline"):
            labelled(app.selectbox, "View").set_value(view).run()
            assert [s.value for s in clean(app).slider if s.label in "αH"] == [0.37, 4]
            assert on_canvas(app)["bare"]
            assert on_canvas(app)["live"]["alpha"] == 0.37
            assert evidence_scores(app) == before

    def test_a_preset_is_one_click_and_the_one_in_force_is_marked(self):
        app = page("ask")
        app.session_state["more-settings"] = True
        app = clean(app.run())
        presets, relevance = "scoring-preset", "relevance-shown"
        assert shown(app, presets).value == "tree at work"
        assert shown(app, relevance).value == "hybrid"
        before = evidence_scores(app)
        shown(app, presets).set_value("paper, bottom-up").run()
        assert settings(clean(app)).propagation == ("bottom-up", 0.1, 2)
        assert shown(app, relevance).value == "dense"
        assert evidence_scores(app) != before
        set_in_header(app, policy="top-down")
        assert shown(app, presets).value == "paper, top-down"
        set_in_header(app, alpha=0.4)
        assert shown(app, presets).value == "custom"
        shown(app, presets).set_value("best evidence").run()
        assert settings(clean(app)).alpha == 0.1
        assert shown(app, relevance).value == "contextual"
        # Back to the last setting that was no preset.
        shown(app, presets).set_value("custom").run()
        assert (settings(app).policy, settings(app).alpha) == ("top-down", 0.4)
        assert shown(app, relevance).value == "dense"
        shown(app, relevance).set_value("lexical").run()
        assert settings(clean(app)).relevance == "lexical"
        shown(app, relevance).set_value("contextual").run()
        assert settings(app).relevance is None

    def test_questions_are_suggested_where_there_are_none_and_nodes_have_names(
        self, monkeypatch, tmp_path
    ):
        path = tmp_path / "talk.txt"
        path.write_text("Ada: The boat leaks.\nBen: And the bakery burns.\nAda: The boat!\n")
        app = open_path(page("ask").run(), path)

        def offered() -> list[str]:
            return next(box for box in app.selectbox if "question-box" in str(box.key)).options

        assert offered()
        assert all(question.startswith("What was said about ") for question in offered())
        monkeypatch.setattr("segviz.view.captions.MAX_LABELLED", 0)
        app = clean(app.run())
        assert not offered()

    def test_a_systems_own_retrieval_stands_beside_the_presets(self):
        app = page("ask").run()
        app.session_state["more-settings"] = True
        app.session_state["system"] = "memtree"
        app = clean(app.run())
        presets, relevance = "scoring-preset", "relevance-shown"
        assert shown(app, presets).value == "the system's own"
        assert shown(app, relevance).value == "dense"
        assert "dense, its paper's" in shown(app, relevance).options
        own = evidence_scores(app)
        shown(app, presets).set_value("no propagation").run()
        assert shown(clean(app), relevance).value == "contextual"
        assert "dense, its paper's" not in shown(app, relevance).options
        assert evidence_scores(app) != own
        shown(app, presets).set_value("the system's own").run()
        assert evidence_scores(clean(app)) == own

    def test_an_own_question_has_no_gold_and_is_offered_again(self):
        app = page("ask").run()
        for text in ("What *is* it?", "Where is the boat?"):
            ask_own(app, text)
        assert on_canvas(clean(app))["words"] > 0
        assert "Gold" not in texts(app)
        assert labelled(app.selectbox, "Question").options[:2] == [
            "Where is the boat?",
            "What *is* it?",
        ]
        labelled(app.selectbox, "Question").set_value("What *is* it?").run()
        assert labelled(clean(app).selectbox, "Question").value == "What *is* it?"
        labelled(app.selectbox, "Question").set_value(2).run()
        assert "Gold answer:" in texts(clean(app))


def test_a_rule_that_makes_no_leaf(tmp_path):
    path = tmp_path / "mono.json"
    path.write_text(json.dumps([{"speaker": "A", "text": f"line {i}"} for i in range(3)]))
    app = open_path(grow().run(), path)
    app.selectbox(key="unit").set_value("paper").run()
    assert "makes no leaf from this conversation" in texts(clean(app))


@pytest.mark.parametrize("public", ["", "1"])
def test_about_says_version_licence_citation_and_where_texts_go(monkeypatch, public):
    monkeypatch.setenv(security.PUBLIC, public)
    said = about()
    for part in (f"segviz {segviz.__version__}", "MIT licence", "arXiv:2606.04555", "Shared files"):
        assert part in said
    assert ("Nothing leaves this machine, unless" in said) == (not public)
    assert ("goes to this server" in said) == bool(public)
