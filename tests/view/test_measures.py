"""Node measures: a row in the registry is all a new colour of the canvas takes."""

from __future__ import annotations

import numpy as np
import pytest

from segviz.frontend.message import pack
from segviz.frontend.payload import MEASURE, tree_payload
from segviz.view import look, measures
from segviz.view.measures import MEASURES, NodeMeasure
from segviz.view.scene import scene_of


@pytest.mark.parametrize("name", MEASURES)
def test_values_are_one_per_node_and_mostly_within_the_ramp(memory, name):
    found = MEASURES[name].known(memory.structure, True)
    assert found is not None
    assert found.shape == (len(memory.structure),)
    known = found[~np.isnan(found)]
    assert len(known)
    assert (known <= 1 + 1e-6).all()
    assert name in look.COLOURS


def test_a_new_row_travels_with_its_words_and_values(memory, monkeypatch):
    span = NodeMeasure(
        "share of the conversation it spans",
        "span",
        lambda s, asked: (s.stop - s.start) / s.stop.max(),
    )
    monkeypatch.setitem(measures.MEASURES, "span", span)
    scene = scene_of(memory, memory.structure, identity="x", look=look.Look("span"), selected=None)
    payload = tree_payload(scene)
    assert {"name": "span", "meaning": span.meaning, "unit": "span"} in payload["measures"]
    sent = np.frombuffer(payload[MEASURE + "span"], "<f8")
    assert np.array_equal(sent, span.known(memory.structure, True))
    assert b"measure:span" in pack(payload)
    none = NodeMeasure("never known", "nothing", lambda s, asked: None)
    monkeypatch.setitem(measures.MEASURES, "none", none)
    again = scene_of(memory, memory.structure, identity="x", look=look.Look(), selected=None)
    assert "none" not in again.measures
