"""The side tables of systems on Grow; the course of retrieval on Ask."""

import plotly.io
import pytest
from streamlit.testing.v1 import AppTest

from segviz.construct import Tabulates
from segviz.systems import SYSTEMS
from segviz.view.palette import LEVEL_COLOURS
from tests.app.conftest import clean, grow, on_canvas, page, texts
from tests.app.test_inspector import data

pytestmark = pytest.mark.usefixtures("small")


def panel(app):
    """The expander of side tables, if the page has one."""
    return next((e for e in app.expander if e.label == "Tables"), None)


def opened(system, **state):
    app = grow().run()
    for name, value in ({"system": system, "tables-panel": True} | state).items():
        app.session_state[name] = value
    return clean(app.run())


@pytest.mark.parametrize("system", ["h-mem", "memforest", "dense"])
def test_every_table_of_a_system_is_shown_at_every_step(system):
    app = opened(system)
    if not isinstance(SYSTEMS[system](), Tabulates):
        assert panel(app) is None
        return
    app.session_state["tables-panel"] = False
    before = len(clean(app.run()).get("plotly_chart"))
    assert not app.dataframe  # a closed panel draws nothing
    app.session_state["tables-panel"] = True
    memory = list(app.session_state["memories"].values())[-1]
    for name, rows in memory.model.tables(memory.structure, memory.steps).items():
        app.session_state[f"side-table-{system}"] = name
        clean(app.run())
        (shown,) = (f.value for f in app.dataframe if [*f.value.columns] == [*rows[0]])
        assert len(shown) == len(rows)
        assert len(app.get("plotly_chart")) - before == ("start" in rows[0]), name
    total = int(app.slider[0].max)
    for step in (1, total // 3):
        clean(app.slider[0].set_value(step).run())


def levels_drawn(app: AppTest, key: str) -> str:
    """What a chart of shares by level draws, in the words that stand below it."""
    (found,) = [c.proto for c in app.get("plotly_chart") if key in c.proto.id]
    bars = [bar for bar in plotly.io.from_json(found.spec).data if bar.type == "bar"]
    assert bars[0].marker.color == LEVEL_COLOURS[0]
    assert sum(bar.y[0] for bar in bars) == pytest.approx(1, abs=0.001)
    rows = [
        f"{name}: " + ", ".join(f"{bar.name} {bar.y[place]:.0%}" for bar in bars)
        for place, name in enumerate(bars[0].x)
    ]
    return "; ".join(rows)


@pytest.mark.parametrize("system", ["h-mem", "xmemory", "dense"])
def test_the_course_of_retrieval(system):
    app = page("ask").run()
    app.session_state["system"] = system
    app = clean(app.run())
    app.session_state[f"method-{system}"] = "native"
    app = clean(app.run())
    told = texts(app)
    assert "**How the system retrieves, stage by stage**" in told
    assert " examined: " in told
    assert on_canvas(app)["score_names"] == ["relevance", "system"]
    assert on_canvas(app)["live"] is None
    names = getattr(SYSTEMS[system], "level_names", ("leaf",))
    assert f"{names[0]} " in told or f"{names[1]} " in told
    assert levels_drawn(app, "visited-chart") in told
    stages = [e for e in app.expander if " examined, " in e.label]
    assert stages
    for number in range(1, 9):
        app.session_state[f"stage-{number}"] = True
    app = clean(app.run())
    lists = [data(app, f"stage-nodes-{number}") for number in range(1, 9)]
    rows = [g for listed in lists if listed for g in listed["groups"]]
    assert {g["title"] for g in rows} <= {"Kept", "Not kept"}
    assert any(g["title"] == "Kept" for g in rows)


def test_levels_go_by_the_names_of_the_system():
    app = page("ask").run()
    app.session_state["more-settings"] = True
    app.session_state["system"] = "xmemory"
    app = clean(app.run())
    levels = next(m for m in app.multiselect if m.label == "Admissible levels")
    assert levels.options == ["message", "episode", "statement", "theme"]
