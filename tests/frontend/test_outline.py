"""What Python sends to the outline."""

from __future__ import annotations

from typing import Any

import numpy as np

from segviz.frontend.outline import MAX_TEXTS
from segviz.tree import Structure
from tests.scenes import leaves, outline_message


def payload(made: Structure, **changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "kinds": ["leaf"],
        "kind": np.zeros(len(made)),
        "unit_sessions": [0] * len(made),
        "session_labels": ["S1"],
        "identity": "x",
    }
    return outline_message(made, **given | changes)


def test_texts_travel_whole_while_they_are_few_else_on_request() -> None:
    few = payload(leaves(*["word " * 200] * 3))
    assert set(few["texts"]) == {"0", "1", "2"}
    assert len(few["texts"]["0"]) == 161
    many = payload(leaves(*["x"] * (MAX_TEXTS + 1)), wanted=[5, MAX_TEXTS, -1, MAX_TEXTS + 1])
    assert set(many["texts"]) == {"5", str(MAX_TEXTS)}
