"""Labels of one's own, opened beside a conversation in the app."""

from __future__ import annotations

import json

import pytest

from segviz.ui import keys
from tests.app.conftest import clean, grow, keyed, on_canvas, texts

pytestmark = pytest.mark.usefixtures("small")


def upload(app, what, rows):
    app.session_state[keys.MODELS_PANEL] = True
    app.run()
    data = rows if isinstance(rows, bytes) else json.dumps(rows).encode()
    (box,) = (each for each in app.file_uploader if each.label == what)
    return box.set_value(("own.json", data, "application/json")).run()


def turns(app):
    return app.session_state["last"].corpus[0].turns


def test_labels_colour_the_tree():
    app = clean(grow().run())
    assert on_canvas(app)["own_names"] == []
    said = turns(app)
    rows = [
        {"turn": turn.id, "mood": "<b>glad</b>" if n % 3 else "sad", "loud": n % 2}
        for n, turn in enumerate(said)
    ]
    app = clean(upload(app, "Labels by turn or node", [*rows, {"turn": "nobody", "mood": "x"}]))
    drawn = on_canvas(app)
    assert drawn["own_names"] == ["<b>glad</b>", "sad"]
    assert drawn["look"]["colour"] == "own"
    assert len(drawn["own"]) == drawn["nodes"]
    assert set(drawn["own"]) <= {-1, 0, 1}
    assert len(drawn["own_colours"]) == 2
    assert f"{len(said)} turns and 0 nodes with a label; 1 id of nothing here" in texts(app)
    keyed(app.selectbox, "own-column-")[0].set_value("loud").run()
    app.session_state[keys.MODELS_PANEL] = False  # closed, they hold
    app.run()
    assert sorted(on_canvas(clean(app))["own_names"]) == ["0", "1"]
    app = clean(upload(app, "Labels by turn or node", b"not a table"))
    assert "These labels are not used." in texts(app)
    assert on_canvas(app)["own_names"] == []
