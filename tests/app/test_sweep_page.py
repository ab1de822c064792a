"""The Sweep page without a browser."""

import json
from textwrap import shorten
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from segviz.embedding import HashingEmbedder
from segviz.evaluation import MEASURES
from segviz.evaluation.compare import RETRIEVED_BY
from segviz.evaluation.measures import CHOICES, sees
from segviz.figures.compare import marks
from segviz.figures.significance import judge
from segviz.figures.sweep import tried_sentence, verdict_sentence
from segviz.retrieval import RELEVANCE
from segviz.ui.pages.sweep import measuring
from segviz.ui.widgets import measures
from segviz.ui.widgets.captions import unmarked
from tests.app.conftest import (
    clean,
    labelled,
    messages,
    page,
    tables,
    talk_file,
    texts,
    unfolded,
)
from tests.memories import sample

pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def waiting(monkeypatch):
    """As with a conversation so large that a sweep waits for a click."""
    monkeypatch.setattr(measures, "_AUTOMATIC", 0)


def swept_by(app: AppTest, relevance: str = "hybrid"):
    """The sweep of a relevance, measured last."""
    sweeps = app.session_state["sweeps"].values()
    *_, found = (one for one in sweeps if one.settings.relevance == relevance)
    return found


def named(app: AppTest) -> str:
    """The setting named below the picture, whose numbers follow it."""
    (line,) = (one.value for one in app.main.markdown if ", relevance hybrid**" in one.value)
    return line.partition(", relevance ")[0].removeprefix("**")


def shown_measures(app: AppTest) -> list[str]:
    return labelled(app.selectbox, "Measured by").options


@pytest.mark.parametrize(("units", "quick"), [(355, True), (3550, False)])
def test_two_seconds_of_work_are_done_without_asking(units, quick):
    memory = SimpleNamespace(units=range(units), embedder=HashingEmbedder())
    session = SimpleNamespace(memory=memory, moments=[None] * 190)
    assert measures.at_once(session) == quick


@pytest.mark.usefixtures("waiting")
def test_a_long_run_waits_for_a_click_and_says_how_long_it_takes():
    app = clean(page("sweep").run())
    assert "Takes about 1 second." in texts(app)
    assert "**Propagation " not in texts(app)
    app.button(key="run-sweep").click().run()
    assert "**Propagation " in texts(clean(app))
    # The other relevances wait, too, with what all of them take.
    # The charts are three policies and one small map; all else is folded.
    assert len(app.get("plotly_chart")) == 4
    assert texts(app).count("not measured") == len(RELEVANCE) - 1
    app.button(key="run-maps").click().run()
    assert len(clean(app).get("plotly_chart")) == 3 + len(RELEVANCE)
    assert not [button for button in app.button if "maps" in (button.key or "")]


def details(app: AppTest) -> str:
    """What stands behind the verdict, the first line of the page."""
    return next(one.help for one in app.main.markdown if one.value.startswith("**Propagation "))


def test_a_short_run_shows_best_setting_categories_and_failures(monkeypatch, begun_file):
    monkeypatch.setenv("SEGVIZ_FILE", str(begun_file))  # in the small conversation nothing fails
    app = unfolded(page("sweep"))
    swept = swept_by(clean(app.run()))
    judged = judge(swept, "in_evidence", sweeps=len(RELEVANCE))
    best = judged.best().cell
    assert app.main.markdown[0].value == verdict_sentence(judged)
    assert tried_sentence(judged) in [one.value for one in app.main.caption]
    for cell in (best, swept.baseline):
        assert f"{cell.outcomes.value('in_evidence'):.3f} [" in details(app)
    found = next(t for t in tables(app) if "all questions" in t.columns)
    assert {"without 5", "no propagation", "5 adversarial"} <= set(found.columns)
    assert len(found) == sum(sees(name, best.policy) for name in MEASURES)
    # One setting is named, and everything below is of it.
    assert named(app) == f"{best.policy}, α {best.alpha:g}, H {best.horizon}"
    rows = next(f.value for f in app.dataframe if "question" in f.value.columns)
    assert list(rows.columns[3:]) == [
        "no propagation",
        f"α {best.alpha:g}",  # A and B stand first
        *(f"α {alpha:g}" for alpha in swept.alphas if alpha != best.alpha),
        *(policy for policy in swept.policies if policy != best.policy),
    ]
    for place, question in enumerate(sample(sessions=6).questions):
        row = rows[rows["question"] == cut(question.text)].iloc[0]
        assert row["no propagation"] == marks(swept.baseline.outcomes.fates[place])
        assert row[f"α {best.alpha:g}"] == marks(best.outcomes.fates[place])
    app.session_state["sweep-atlas-dots-open"] = True
    (dots,) = (sent for sent in messages(clean(app.run())) if "dots" in sent)
    assert dots["sides"] == ["A: no propagation", f"B: α {best.alpha:g}"]
    won = [dot for dot in dots["dots"] if dots["groups"][dot["group"]] == "gains"]
    assert len(won) == (rows["B against A"] == "gains").sum()


def cut(question: str) -> str:
    """A question as the atlas has it: whole, or its first words."""
    return shorten(question, 68, placeholder=" …")


def test_any_measure_is_shown_for_the_policies_it_sees():
    app = clean(page("sweep").run())
    for measure in {sees(name, "bottom-up"): name for name in CHOICES}.values():  # one of each kind
        clean(app.selectbox(key="measured-by").set_value(measure).run())
        drawn = {chart.proto.id for chart in app.get("plotly_chart")}
        for policy in ("top-down", "bottom-up", "both"):
            assert any(f"heat-{policy}" in name for name in drawn) == sees(measure, policy)
        blind = "Bottom-up cannot change" in texts(app)
        assert blind == (not sees(measure, "bottom-up"))


def test_a_clicked_setting_is_left_where_the_measure_cannot_see_it():
    app = unfolded(page("sweep"))
    app.session_state["sweep-cell"] = ("bottom-up", 0.1, 1)
    clean(app.run())
    assert named(app) == "bottom-up, α 0.1, H 1"
    found = next(t for t in tables(app) if "all questions" in t.columns)
    assert len(found) == sum(sees(name, "bottom-up") for name in MEASURES)
    labelled(app.selectbox, "Measured by").set_value("recall").run()
    assert "bottom-up" not in named(clean(app))
    app.slider(key="sweep-k").set_value(5).run()
    assert "Here K is 5 nodes" in clean(app).selectbox(key="measured-by").help
    assert not [toggle for toggle in app.toggle if toggle.key == "adversarial"]  # none is asked


def test_category_5_counts_or_not(monkeypatch, begun_file):
    monkeypatch.setenv("SEGVIZ_FILE", str(begun_file))
    app = clean(unfolded(page("sweep")).run())
    both = swept_by(app).baseline.outcomes
    assert f"n = {both.mean('in_evidence', adversarial=False).n}" in details(app)
    labelled(app.toggle, "Count category 5").set_value(False).run()
    assert f"Over {both.mean('in_evidence', adversarial=False).n} questions" in details(clean(app))
    assert "With category 5: " in details(app)
    assert "over all questions but those of category 5" in texts(app)


def test_without_answers_measures_of_answers_are_not_offered(tmp_path, small_file, monkeypatch):
    (talk,) = json.loads(small_file.read_text())
    for asked in talk["qa"]:
        del asked["answer"]
    path = tmp_path / "silent.json"
    path.write_text(json.dumps([talk]))
    monkeypatch.setenv("SEGVIZ_FILE", str(path))
    app = clean(page("sweep").run())
    labels = {MEASURES[name].label for name in CHOICES if not MEASURES[name].answer}
    assert set(shown_measures(app)) == labels


def test_a_sweep_that_was_stopped_waits_for_a_click(monkeypatch):
    whole = measuring.sweep

    def cut_short(*args, **more):
        raise StopException  # what a click on Stop does to the running script

    monkeypatch.setattr(measuring, "sweep", cut_short)
    app = page("sweep").run()
    app.button(key="stop-sweep").click().run()
    assert not app.get("plotly_chart")
    monkeypatch.setattr(measuring, "sweep", whole)
    app.button(key="run-sweep").click().run()
    assert "Here K is 10 nodes" in labelled(clean(app).selectbox, "Measured by").help


def test_the_other_relevances_can_be_stopped_and_go_on_where_they_were(monkeypatch):
    whole, begun, known = measuring.sweep, [], {}

    def third_cut_short(*args, relevance, keep, **more):
        begun.append(relevance)
        known[relevance] = len(more["known"])

        def stop(cell):
            keep(cell)
            if len(begun) == 3:
                raise StopException

        return whole(*args, relevance=relevance, keep=stop, **more)

    monkeypatch.setattr(measuring, "sweep", third_cut_short)
    app = unfolded(page("sweep")).run()
    # The page is there, with two of the small maps, while the third is measured.
    assert begun == ["hybrid", "contextual", "dense"]
    charts = {chart.proto.id.rsplit("-", 1)[-1] for chart in app.get("plotly_chart")}
    assert {"hybrid", "contextual", "categories"} <= charts
    assert "dense" not in charts
    app.button(key="stop-maps-dense").click().run()
    assert len(begun) == 3
    assert texts(clean(app)).count("not measured") == 3
    app.button(key="run-maps").click().run()
    assert begun[3:] == ["dense", "lexical", "softmax"]
    assert known == {"hybrid": 0, "contextual": 0, "dense": 1, "lexical": 0, "softmax": 0}
    assert "not measured" not in texts(clean(app))


def test_open_in_ask_asks_the_question_that_changes_most(monkeypatch, begun_file):
    monkeypatch.setenv("SEGVIZ_FILE", str(begun_file))  # in the small conversation none changes
    app = page("sweep")
    app.session_state["sweep-cell"] = ("bottom-up", 0.95, 3)
    clean(app.run())
    swept = swept_by(app)
    best = swept.cell("bottom-up", 0.95, 3)
    pairs = zip(
        swept.baseline.outcomes.values["in_evidence"],
        best.outcomes.values["in_evidence"],
        strict=True,
    )
    changes = [(abs(after - before), after > before) for before, after in pairs]
    most = max(range(len(changes)), key=lambda at: (changes[at], -at))
    assert changes[most][0] > 0
    said = app.button(key="open-ask").help
    assert said.endswith(unmarked(sample(sessions=6).questions[most].text))


def test_a_conversation_without_questions_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("SEGVIZ_FILE", str(talk_file(tmp_path, [f"t {i}" for i in range(6)])))
    app = clean(page("sweep").run())
    assert "needs questions with gold evidence or answers" in texts(app)


def test_two_runs_are_compared_question_by_question(monkeypatch, begun_file):
    monkeypatch.setenv("SEGVIZ_FILE", str(begun_file))
    app = unfolded(page("sweep"))
    app.session_state["sweep-cell"] = ("both", 0.7, 2)
    clean(app.run())
    side = {box.label: box for box in app.selectbox if box.label in "AB"}
    assert (side["A"].value, side["B"].value) == ("no propagation", "as shown")
    side["A"].set_value("top-down, α 0.3, H 1").run()
    clean(app)
    sides = [swept_by(app).cell(*side) for side in (("top-down", 0.3, 1), ("both", 0.7, 2))]
    before, after = (one.outcomes.column("in_evidence") for one in sides)
    rows = next(f.value for f in app.dataframe if "B against A" in f.value.columns)
    assert list(rows.columns[3:5]) == ["top-down, α 0.3, H 1", "α 0.7"]  # A and B are in sight
    told = dict(zip(rows["question"], rows["B against A"], strict=True))
    for question, change in zip(sample(sessions=6).questions, after - before, strict=True):
        won = "gains" if change > 0 else "loses" if change < 0 else ""
        assert told.get(cut(question.text), "") == won


def test_a_parameter_of_construction_is_swept():
    app = page("sweep").run()
    app.segmented_control(key="swept-over").set_value("construction").run()
    app.selectbox(key="varied-system").set_value("memtree").run()
    app.selectbox(key="varied-parameter").set_value("base").run()
    app.text_input(key="varied-values").set_value("0.2, 9").run()
    assert "9" in clean(app).warning[0].value
    app.text_input(key="varied-values").set_value("0.2, 0.6").run()
    app.button(key="run-varied").click().run()
    (found,) = clean(app).session_state["varied"].values()
    told = next(t for t in tables(app) if "retrieved by" in t.columns)
    assert list(told["retrieved by"]) == [RETRIEVED_BY[row.method] for row in found.rows]
    assert [row.name for row in found.rows] == ["0.2"] * 3 + ["0.6"] * 3
