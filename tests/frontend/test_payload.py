"""What Python sends: columns, defaults, hostile input and the packed message."""

from __future__ import annotations

import json
import struct
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from segviz.frontend.message import pack
from segviz.frontend.payload import tree_payload
from segviz.tree import Decision, Judgement, Structure
from segviz.view.captions import MAX_LABELLED
from segviz.view.scene import Scene
from tests.scenes import leaves, tree_message

#       6            level 2
#   4       5        level 1
# 0   1   2   3      leaves; node 7 is retired
LEVEL = [0, 0, 0, 0, 1, 1, 2, 1]
START = [0, 1, 2, 3, 0, 2, 0, 0]
STOP = [1, 2, 3, 4, 2, 4, 4, 1]
EDGES = [(4, 0), (4, 1), (5, 2), (5, 3), (6, 4), (6, 5)]


def structure(
    edges: list[tuple[int, int]] | None = None, text: tuple[str, ...] | None = None
) -> Structure:
    """The tree drawn above."""
    n = len(LEVEL)
    return Structure(
        level=np.array(LEVEL, np.int32),
        start=np.array(START, np.int32),
        stop=np.array(STOP, np.int32),
        text=text or tuple(f"text {i}" for i in range(n)),
        vector=np.zeros((n, 0), np.float32),
        active=np.array([True] * 7 + [False]),
        edges=np.array(EDGES if edges is None else edges, np.int32).reshape(-1, 2),
    )


def payload(tree: Structure | None = None, **options: Any) -> dict[str, Any]:
    """A payload of the tree above over five units of two sessions."""
    given: dict[str, Any] = {
        "unit_sessions": [0, 0, 1, 1, 1],
        "session_labels": ["S1", "S2"],
        "identity": "demo",
    }
    return tree_message(structure() if tree is None else tree, **given | options)


def column(message: dict[str, Any], name: str) -> list[Any]:
    """A column as a flat list."""
    values: list[Any] = message[name].ravel().tolist()
    return values


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """The inverse of pack(), restated naively."""
    (length,) = struct.unpack_from("<I", message)
    head = json.loads(message[4 : 4 + length])
    body = message[4 + length :]
    columns = {
        name: np.frombuffer(body[at : at + size], dtype=dtype).tolist()
        for name, (dtype, at, size) in head.pop("columns").items()
    }
    return head, columns


def test_what_a_store_calls_untrue_is_sent_for_every_box() -> None:
    """Node 1 has two boxes, one under each of its parents."""
    tree = structure([*EDGES, (5, 1)])
    ended = {1: "no longer true; replaced by: x"}
    scene = Scene(structure=tree, unit_sessions=[0] * 4, ended=ended, by_time=False).drawn()
    sent = tree_payload(scene)["ended"]
    assert len(sent) == 2
    assert {scene.node(int(box)) for box in sent} == {1}
    assert {*sent.values()} == {*ended.values()}


def test_columns_describe_the_tree_and_hide_retired_nodes() -> None:
    message = payload()
    assert column(message, "level") == [0, 0, 0, 0, 1, 1, 2, -1]
    assert column(message, "start") == START
    assert column(message, "stop") == STOP
    assert column(message, "parent") == [4, 4, 5, 5, 6, 6, -1, -1]
    assert column(message, "edges") == []  # one parent each: the parent column says it all
    assert column(message, "unit_session") == [0, 0, 1, 1, 1]
    assert message["nodes"] == 8
    assert message["levels_total"] == 3
    assert message["total_units"] == 5
    assert message["frontier"] == [3, 5, 6]


def chained() -> Structure:
    """The tree drawn above, but leaf 2 is under node 4 and node 5 repeats its only child."""
    texts = (*(f"text {i}" for i in range(5)), "text 3", "text 6", "")
    return structure([(4, 0), (4, 1), (4, 2), (5, 3), (6, 4), (6, 5)], texts).collapsed


def test_a_same_text_chain_is_one_node_that_reaches_higher() -> None:
    decision = Decision((Judgement(3, score=0.2), Judgement(5, score=0.4)), chosen=5, why="")
    message = payload(chained(), decision=decision, selected=3)
    assert column(message, "level") == [0, 0, 0, 0, 1, -1, 2, -1]
    assert column(message, "top") == [0, 0, 0, 1, 1, -1, 2, -1]
    assert column(message, "parent") == [4, 4, 4, 6, 6, -1, -1, -1]
    rows = [(c["node"], c["level"], c["taken"]) for c in message["candidates"]]
    assert rows == [(3, 0, False), (3, 1, True)]
    assert message["summary"].endswith(
        "6 nodes on 3 levels over 4 of 5 units; node 3 (levels 0–1, same text) selected."
    )


def test_all_edges_travel_where_a_node_has_two_parents() -> None:
    edges = [*EDGES, (4, 2)]
    message = payload(structure(edges))
    assert column(message, "parent")[2] == 5  # the parent linked first
    assert column(message, "edges") == [end for edge in edges for end in edge]


def test_axis_and_rows_can_be_longer_than_the_tree() -> None:
    message = payload(total_units=9, levels_total=6)
    assert column(message, "unit_session") == [0, 0, 1, 1, 1, -1, -1, -1, -1]
    assert message["levels_total"] == 6
    short = payload(total_units=1, levels_total=1)
    assert (short["total_units"], short["levels_total"]) == (4, 3)  # never shorter than it


def test_empty_structure() -> None:
    message = payload(leaves())
    assert message["labels"] == []
    assert message["levels_total"] == 1
    assert pack(message)


def test_candidates_keep_what_is_missing_missing() -> None:
    decision = Decision(
        candidates=(
            Judgement(4, score=0.41, threshold=0.38),
            Judgement(5, score=float("nan"), threshold=float("inf")),
            Judgement(6, score=0.178, threshold=0.182, label="no"),
        ),
        chosen=4,
        why="",
    )
    message = payload(decision=decision)
    rows = [(c["node"], c["level"], c["score"], c["threshold"]) for c in message["candidates"]]
    assert rows == [(4, 1, 0.41, 0.38), (5, 1, None, None), (6, 2, 0.178, 0.182)]
    assert [c["taken"] for c in message["candidates"]] == [True, False, False]
    assert [c["numbers"] for c in message["candidates"]] == ["0.41 ≥ 0.38", "", "0.178 < 0.182"]
    assert message["gutter"] is True
    assert payload()["gutter"] is False
    assert payload(gutter=True)["gutter"] is True


def test_the_outcome_is_told_where_no_candidate_was_taken() -> None:
    judged = (Judgement(4, label="MERGE_1"), Judgement(5, label="MERGE_2"))
    none = Decision(judged, None, "")
    assert payload(decision=none, added=[3, 6])["outcome"] == {"text": "none: new root", "level": 2}
    assert payload(decision=none, added=[3])["outcome"] == {"text": "none taken", "level": 2}
    assert payload(decision=Decision(judged, 4, ""), added=[3])["outcome"] is None
    assert payload(decision=Decision((), None, ""), added=[3])["outcome"] is None
    assert payload()["outcome"] is None


def test_scores_travel_as_finite_float32() -> None:
    scores = [0.1, float("nan"), float("inf"), -1.0, 0.5, 0.0, 1 / 3, 0.0]
    message = payload(initial=scores)
    wanted = np.array([0.1, 0.0, 0.0, -1.0, 0.5, 0.0, 1 / 3, 0.0], np.float32)
    assert column(message, "initial") == wanted.tolist()
    assert message["initial"].dtype == np.float32
    assert column(payload(), "final") == []


def test_ranks_of_what_entered_and_left_travel() -> None:
    message = payload(initial=[0.5] * 8, before=[1], after=[3], ranks={3: 4, 1: 2})
    assert message["ranks"] == {"3": 4, "1": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"initial": [0.1]}, "8 nodes"),
        ({"added": [8]}, r"outside 0\.\.7"),
        ({"gold": [-1]}, r"outside 0\.\.7"),
    ],
)
def test_wrong_input_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        payload(**options)


def test_dates_and_titles() -> None:
    morning = datetime(2023, 8, 12, 9, 30)
    message = payload(unit_dates=[morning, morning.replace(hour=20), None])
    assert message["days"] == ["12 Aug"]
    assert message["unit_day"][:3].tolist() == [0, 0, -1]
    assert message["session_titles"] == ["S1 · 12 Aug 2023", "S2"]
    given = payload(unit_dates=[datetime(2023, 8, 2), "late"])
    assert given["days"] == ["2 Aug", "late"]
    winter = payload(unit_dates=[datetime(2023, 8, 12), datetime(2024, 1, 2)])
    assert winter["days"] == ["12 Aug", "2 Jan"]
    years = payload(unit_dates=[datetime(2023, 8, 12), datetime(2024, 8, 12)])
    assert years["days"] == ["12 Aug ’23", "12 Aug ’24"]


def test_waits_are_sent_where_there_are_times() -> None:
    start = datetime(2023, 8, 12)
    times = [start + timedelta(hours=hour) for hour in (0, 1, 2, 400)]
    message = payload(unit_dates=times)
    assert len(message["waits"]) == message["total_units"]
    assert message["shortened"] == {"3": "2 weeks"}
    for dates in ([start] * 4, ["late"], []):
        assert len(payload(unit_dates=dates)["waits"]) == 0


def test_long_texts_are_cut_and_many_are_left_out() -> None:
    texts = ("x" * 10_000, *["y"] * 7)
    labels = payload(structure(text=texts))["labels"]
    assert len(labels[0]) == 1001
    assert labels[1] == "y"
    assert payload(leaves(*["t"] * (MAX_LABELLED + 1)))["labels"] == []


def test_packed_message_gives_everything_back() -> None:
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    texts = ("<script>alert(1)</script>", "\u202eevil", "\ud83d", "\x00", "مرحبا", family, "", "z")
    message = payload(structure(text=texts), initial=[0.5] * 8, gold=[1], after=[3, 2])
    raw = pack(message)
    head, columns = unpack(raw)
    assert {"level", "initial", "gold"} < set(columns)
    for name in columns:
        assert columns[name] == column(message, name)
    assert head == {key: value for key, value in message.items() if key not in columns}
    assert tuple(head["labels"]) == texts
