"""The setting between browser and Python, and which of two answers counts."""

from dataclasses import replace
from typing import Any

import pytest

from segviz.retrieval import RetrievalSettings
from segviz.view.coloring import Live, read_setting

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
