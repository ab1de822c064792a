"""What nodes can be coloured by, and the choice of colour and label on its way back."""

from dataclasses import asdict

import numpy as np
import pytest

from segviz.frontend.message import pack
from segviz.frontend.payload import MEASURE, tree_payload
from segviz.view.coloring import COLOURS, LABELS, MEASURES, Look, NodeMeasure, read_look
from segviz.view.scene import scene_of


def test_every_choice_comes_back() -> None:
    for look in map(Look, ["", *COLOURS], ["", *LABELS, *[""] * len(COLOURS)]):
        assert read_look(asdict(look)) == look


@pytest.mark.parametrize(
    "sent",
    [
        None,
        "level",
        {},
        {"colour": "level"},
        {"colour": "level", "labels": None},
        {"colour": "<b>", "labels": ""},
        {"colour": "level", "labels": "everything"},
        {"colour": ["level"], "labels": ""},
    ],
)
def test_anything_else_is_no_choice(sent: object) -> None:
    assert read_look(sent) is None


@pytest.mark.parametrize("name", MEASURES)
def test_values_are_one_per_node_and_mostly_within_the_ramp(memory, name):
    found = MEASURES[name].known(memory.structure, True)
    assert found is not None
    assert found.shape == (len(memory.structure),)
    known = found[~np.isnan(found)]
    assert len(known)
    assert (known <= 1 + 1e-6).all()
    assert name in COLOURS


def test_a_new_row_travels_with_its_words_and_values(memory, monkeypatch):
    span = NodeMeasure(
        "share of the conversation it spans",
        "span",
        lambda s, asked: (s.stop - s.start) / s.stop.max(),
    )
    monkeypatch.setitem(MEASURES, "span", span)
    scene = scene_of(memory, memory.structure, identity="x", look=Look("span"), selected=None)
    payload = tree_payload(scene)
    assert {"name": "span", "meaning": span.meaning, "unit": "span"} in payload["measures"]
    sent = payload[MEASURE + "span"]
    assert np.allclose(sent, span.known(memory.structure, True))
    assert b"measure:span" in pack(payload)
    none = NodeMeasure("never known", "nothing", lambda s, asked: None)
    monkeypatch.setitem(MEASURES, "none", none)
    again = scene_of(memory, memory.structure, identity="x", look=Look(), selected=None)
    assert "none" not in again.measures
