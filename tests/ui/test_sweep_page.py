"""The Sweep page without a browser."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from tests.ui.test_pages import clean, open_path, texts


def _sweep_page() -> None:
    from segviz.ui import sweep
    from segviz.ui.sidebar import sidebar

    session = sidebar()
    if session is not None:
        sweep.render(session)


def sweep_page() -> AppTest:
    return AppTest.from_function(_sweep_page, default_timeout=60)


def test_nothing_runs_before_it_is_asked_for():
    app = clean(sweep_page().run())
    assert "One run takes a second or two" in texts(app)
    assert "Best:" not in texts(app)


def test_a_run_shows_best_setting_categories_and_failures():
    app = sweep_page().run()
    app.button(key="run-sweep").click().run()
    shown = texts(clean(app))
    assert "without propagation (95 % bootstrap intervals)" in shown
    assert "**By category**" in shown
    assert "**Worst questions first**" in shown
    tables = [frame.value for frame in app.dataframe]
    categories = next(t for t in tables if "MRR" in t.columns)
    assert categories["category"].tolist()[0] == "all"
    assert len(categories) == 6
    failures = next(t for t in tables if "question" in t.columns)
    assert failures["recall"].is_monotonic_increasing


def test_another_setting_needs_another_run():
    app = sweep_page().run()
    app.button(key="run-sweep").click().run()
    app.slider(key="sweep-k").set_value(5).run()
    assert "Best:" not in texts(clean(app))
    app.button(key="run-sweep").click().run()
    assert "recall@5" in texts(clean(app))


def test_a_conversation_without_questions_says_so(tmp_path):
    path = tmp_path / "talk.json"
    turns = [{"speaker": "AB"[i % 2], "dia_id": f"D1:{i + 1}", "text": f"t {i}"} for i in range(6)]
    path.write_text(json.dumps({"speaker_a": "A", "speaker_b": "B", "session_1": turns}))
    app = open_path(sweep_page().run(), path)
    assert "no questions with gold evidence" in texts(app)
