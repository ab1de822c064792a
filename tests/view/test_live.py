"""The setting between browser and Python, and which of two answers counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from segviz.retrieval import POLICIES, RetrievalSettings
from segviz.view.coloring import DRAWINGS, Live, read_setting
from tests.scenes import tree_message
from tests.trees import toy

SENT = {"policy": "both", "alpha": 0.3, "horizon": 4, "drawing": "change", "sequence": 7}


def test_a_legal_setting_is_read() -> None:
    set_so = RetrievalSettings(policy="both", alpha=0.3, horizon=4)
    assert read_setting(SENT) == Live(set_so, "change", 7)
    assert read_setting(SENT | {"alpha": 0}) == Live(replace(set_so, alpha=0.0), "change", 7)


@pytest.mark.parametrize(
    "sent",
    [
        *(SENT | {"policy": wrong} for wrong in ("sideways", None, ["both"])),
        *(SENT | {"alpha": wrong} for wrong in (1, -0.1, float("nan"), "0.3", None)),
        *(SENT | {"horizon": wrong} for wrong in (1.5, -1, float("inf"), "2")),
        *(SENT | {"drawing": wrong} for wrong in ("sideways", None)),
        *(SENT | {"sequence": wrong} for wrong in ("7", None)),
        *(None, 3, "both", [], {}, {"policy": "both"}),
    ],
)
def test_anything_else_is_no_setting(sent: Any) -> None:
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
