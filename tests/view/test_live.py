"""The setting between browser and Python, and which of two answers counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from segviz.retrieval import POLICIES, RetrievalSettings
from segviz.view.look import DRAWINGS, Live, read_setting
from tests.scenes import tree_message
from tests.trees import toy

SENT = {"policy": "both", "alpha": 0.3, "horizon": 4, "drawing": "change", "sequence": 7}


def test_a_legal_setting_is_read() -> None:
    set_so = RetrievalSettings(policy="both", alpha=0.3, horizon=4)
    assert read_setting(SENT) == Live(set_so, "change", 7)
    assert read_setting(SENT | {"alpha": 0}) == Live(replace(set_so, alpha=0.0), "change", 7)


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy": "sideways"},
        {"policy": None},
        {"policy": ["both"]},
        {"alpha": 1},
        {"alpha": -0.1},
        {"alpha": float("nan")},
        {"alpha": "0.3"},
        {"alpha": None},
        {"horizon": 1.5},
        {"horizon": -1},
        {"horizon": float("inf")},
        {"horizon": "2"},
        {"drawing": "sideways"},
        {"drawing": None},
        {"sequence": "7"},
        {"sequence": None},
    ],
)
def test_anything_else_is_no_setting(wrong: dict[str, Any]) -> None:
    assert read_setting(SENT | wrong) is None


@pytest.mark.parametrize("sent", [None, 3, "both", [], {}, {"policy": "both"}])
def test_what_has_no_fields_is_no_setting(sent: object) -> None:
    assert read_setting(sent) is None


def test_the_payload_carries_what_the_browser_computes_with() -> None:
    structure = toy()
    scores = np.arange(11) / 55
    live = Live(RetrievalSettings(k=4, levels=(0, 2), literal=True))
    message = tree_message(
        structure,
        unit_sessions=[0] * 7,
        session_labels=["S1"],
        identity="x",
        initial=scores,
        live=live,
    )
    sent = message["live"]
    assert (sent["policy"], sent["alpha"], sent["horizon"]) == ("top-down", 0.1, 2)
    assert (sent["k"], sent["levels"]) == (4, [0, 2])
    assert list(message["policies"]) == list(POLICIES)
    assert sent["drawing"] in DRAWINGS
    top = message["top"]
    assert top.tolist() == structure.top.tolist()
    initial = message["initial"]
    assert initial.tolist() == scores.astype(np.float32).tolist()
