"""What Python sends to the outline."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from segviz.frontend.message import pack
from segviz.frontend.outline import MAX_TEXTS
from segviz.tree import Structure
from tests.frontend.node import needs_node, run
from tests.scenes import outline_message


def structure(n: int, text: str = "x") -> Structure:
    units = np.arange(n, dtype=np.int32)
    return Structure(
        level=np.zeros(n, np.int32),
        start=units,
        stop=units + 1,
        text=(text,) * n,
        vector=np.zeros((n, 0), np.float32),
        active=np.ones(n, np.bool_),
        edges=np.zeros((0, 2), np.int32),
    )


def payload(made: Structure, **changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "kinds": ["leaf"],
        "kind": np.zeros(len(made)),
        "unit_sessions": [0] * len(made),
        "session_labels": ["S1"],
        "identity": "x",
    }
    return outline_message(made, **given | changes)


@needs_node
def test_the_message_is_read_as_it_was_written() -> None:
    made = payload(
        structure(3, "\u202e<b>\ud800"),
        initial=[0.5, np.nan, 0.25],
        final=[1, 2, 3],
        ranks=([1, 0, 2], [3, 2, 1]),
        selected=7,
        gold=[1],
    )
    body = """const p = m.unpack(Uint8Array.from(bytes));
      return { initial: [...p.initial], ranks: [...p.rank_final], stop: [...p.stop],
        selected: p.selected, gold: [...p.gold], text: p.texts[1] };"""
    got = run(body, bytes=list(pack(made)))
    assert got["initial"] == [0.5, 0, 0.25]
    assert got["ranks"] == [3, 2, 1]
    assert got["stop"] == [1, 2, 3]
    assert (got["selected"], got["gold"]) == (None, [1])  # nothing outside the structure
    assert got["text"].startswith("\u202e<b>")


def test_texts_travel_whole_while_they_are_few_else_on_request() -> None:
    few = payload(structure(3, "word " * 200))
    assert set(few["texts"]) == {"0", "1", "2"}
    assert len(few["texts"]["0"]) == 161
    many = payload(structure(MAX_TEXTS + 1), wanted=[5, MAX_TEXTS, -1, MAX_TEXTS + 1])
    assert set(many["texts"]) == {"5", str(MAX_TEXTS)}
    assert len(json.dumps(payload(structure(MAX_TEXTS + 1))["texts"])) == 2
