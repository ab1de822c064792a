"""The Sweep page without a browser."""

from __future__ import annotations

import json

import pytest
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from segviz.ui.pages.sweep import page
from tests.app.test_pages import clean, open_path, texts

pytestmark = pytest.mark.usefixtures("small")


def _sweep_page() -> None:
    from segviz.ui.pages.sweep import page as sweep
    from segviz.ui.sidebar.sidebar import sidebar

    session = sidebar()
    if session is not None:
        sweep.render(session)


def sweep_page() -> AppTest:
    return AppTest.from_function(_sweep_page, default_timeout=180)


def test_nothing_runs_before_it_is_asked_for():
    app = clean(sweep_page().run())
    assert "One run takes a second or two" in texts(app)
    assert "Best:" not in texts(app)


def test_a_run_shows_best_setting_categories_and_failures(monkeypatch):
    monkeypatch.delenv("SEGVIZ_FILE")  # the sample: in the small conversation nothing fails
    app = sweep_page().run()
    app.button(key="run-sweep").click().run()
    shown = texts(clean(app))
    assert "without propagation (95 % bootstrap intervals)" in shown
    assert "**By category**" in shown
    assert "**Worst questions first**" in shown
    categories = next(t.value for t in app.table if "MRR" in t.value.columns)
    assert categories["category"].tolist()[0] == "all"
    assert len(categories) == 6
    failures = next(f.value for f in app.dataframe if "question" in f.value.columns)
    assert failures["recall"].is_monotonic_increasing


def test_another_setting_needs_another_run():
    app = sweep_page().run()
    app.button(key="run-sweep").click().run()
    app.slider(key="sweep-k").set_value(5).run()
    assert "Best:" not in texts(clean(app))
    app.button(key="run-sweep").click().run()
    assert "recall@5" in texts(clean(app))


def test_a_sweep_cut_short_goes_on_where_it_stopped(monkeypatch):
    app = sweep_page().run()
    measured = []
    whole = page.sweep

    def cut_short(*args, keep, progress, known, **more):
        def report(count, total):
            progress(count, total)
            measured.append((count, len(known)))
            if len(measured) == 5:
                raise StopException  # what a click on Cancel does to the running script

        return whole(*args, keep=keep, progress=report, known=known, **more)

    monkeypatch.setattr(page, "sweep", cut_short)
    app.button(key="run-sweep").click().run()
    app.button(key="cancel-sweep").click().run()
    assert app.button(key="run-sweep").label == "Resume the sweep, 5 settings are done"
    app.button(key="run-sweep").click().run()
    assert "recall@10" in texts(clean(app))
    assert measured[5] == (1, 5)


def test_the_permutation_experiment_runs():
    app = sweep_page().run()
    app.session_state["permute"] = True
    app.run()
    app.slider(key="permute-seeds").set_value(1).run()
    app.button(key="run-permute").click().run()
    losses = next(t.value for t in clean(app).table if "loss" in t.value.columns)
    assert len(losses) == 2 * 2 * 3
    assert "Similarity clusters" in texts(app)


def test_a_conversation_without_questions_says_so(tmp_path):
    path = tmp_path / "talk.json"
    turns = [{"speaker": "AB"[i % 2], "dia_id": f"D1:{i + 1}", "text": f"t {i}"} for i in range(6)]
    path.write_text(json.dumps({"speaker_a": "A", "speaker_b": "B", "session_1": turns}))
    app = open_path(sweep_page().run(), path)
    assert "no questions with gold evidence" in texts(app)
