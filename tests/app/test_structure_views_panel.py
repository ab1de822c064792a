"""The views of what is special in a memory, on Grow; the course of retrieval on Ask."""

from __future__ import annotations

import plotly.io
import pytest
from streamlit.testing.v1 import AppTest

from segviz.figures.groups import size_rows
from segviz.systems import SYSTEMS
from segviz.view.palette import LEVEL_COLOURS
from tests.app.conftest import clean, grow, on_canvas, page, texts
from tests.app.test_inspector import data

pytestmark = pytest.mark.usefixtures("small")

VIEWS = {
    "h-mem": ["Time windows", "Forgetting", "Relations"],
    "memforest": ["Families of trees"],
    "xmemory": ["Splits and merges"],
}


def panel(app):
    """The expander of the special views, if the page has one."""
    titles = [", ".join(views) for views in VIEWS.values()]
    return next((e for e in app.expander if e.label in titles), None)


def opened(system, **state):
    app = grow().run()
    for name, value in ({"system": system, "special-panel": True} | state).items():
        app.session_state[name] = value
    return clean(app.run())


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_every_system_offers_what_its_data_hold(system):
    app = grow().run()
    app.session_state["system"] = system
    app = clean(app.run())
    offered = VIEWS.get(system)
    found = panel(app)
    if not offered:
        assert found is None
        return
    assert found is not None
    assert found.label == ", ".join(offered)
    before = len(app.get("plotly_chart")) + len(app.get("iframe"))
    for view in offered:
        app.session_state["special-panel"] = True
        app.session_state[f"special-{len(offered)}-{offered[0]}"] = view
        app = clean(app.run())
        drawn = len(app.get("plotly_chart")) + len(app.get("iframe"))
        charts = 2 if view == "Splits and merges" else 1
        assert drawn == before + charts, view
    total = int(app.slider[0].max)
    for step in (1, total // 3):
        app.slider[0].set_value(step)
        app = clean(app.run())


def test_the_sizes_of_groups_as_a_table():
    app = opened("xmemory", **{"special-panel": True, "twin-groups-chart": True})
    shown = next(f.value for f in app.dataframe if "middle size" in f.value.columns)
    steps = list(app.session_state["memories"].values())[-1].steps
    assert shown.to_dict("records") == size_rows(steps)
    assert 1 < len(shown) < len(steps)


def test_a_closed_panel_draws_nothing():
    app = opened("memforest", **{"special-panel": False})
    assert panel(app) is not None
    assert "nodes above items" not in texts(app)
    app.session_state["special-panel"] = True
    assert "nodes above items" in texts(clean(app.run()))


def test_forgetting_goes_on_with_time():
    app = opened("h-mem", **{"special-3-Time windows": "Forgetting"})

    def median(app):
        line = next(c.value for c in app.caption if "are remembered at" in c.value)
        return float(line.split("in the middle at ")[1].split(". ")[0])

    now = median(app)
    slider = next(s for s in app.slider if s.label.startswith("Days after"))
    slider.set_value(730)
    later = median(clean(app.run()))
    assert later < now
    assert "τ = 365 days" in texts(app)


def test_relations_around_one_node():
    app = opened("h-mem", **{"special-3-Time windows": "Relations"})
    box = next(s for s in app.selectbox if s.label == "Around")
    everyone = len(box.options)
    assert f"of {everyone} nodes with relations" in texts(app)
    box.set_value(box.options and int(box.options[0].rsplit(" ", 1)[1])).run()
    assert f"of {everyone} nodes with relations" in texts(clean(app))


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


@pytest.mark.parametrize("system", ["h-mem", "memforest", "xmemory", "memtree", "dense"])
def test_the_course_of_retrieval(system):
    app = page("ask").run()
    app.session_state["system"] = system
    app = clean(app.run())
    app.session_state[f"method-{system}"] = "own"
    app = clean(app.run())
    told = texts(app)
    assert "**How the system went about it**" in told
    assert " looked at: " in told
    assert on_canvas(app)["score_names"] == ["relevance", "system"]
    assert on_canvas(app)["live"] is None
    names = getattr(SYSTEMS[system], "level_names", ("leaf",))
    assert f"{names[0]} " in told or f"{names[1]} " in told
    assert levels_drawn(app, "visited-chart") in told
    stages = [e for e in app.expander if " looked at, " in e.label]
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
