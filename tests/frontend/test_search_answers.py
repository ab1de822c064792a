"""Text search in Python for the canvas: complete, in order, and as the browser's own."""

from __future__ import annotations

import json

import pytest

from segviz.frontend.message import pack
from segviz.frontend.search import MOST_EXCERPTS, find_text, read_query
from tests.frontend.node import needs_node, run
from tests.scenes import leaves, tree_message


def found(texts: list[str], query: str, active: list[bool] | None = None) -> dict[str, object]:
    tree = leaves(*texts, active=active or ())
    payload = tree_message(
        tree, unit_sessions=[0] * len(texts), session_labels=["S1"], identity="x"
    )
    answer = find_text(payload, tree.text, query)
    assert pack({**payload, "found": answer})  # it can travel
    return answer


def test_full_texts_are_searched_far_beyond_what_the_browser_holds() -> None:
    texts = ["x" * 9_000 + " the Lighthouse at night", "lighthouse", "no"]
    answer = found(texts, "lighthouse")
    assert answer["nodes"] == [0, 1]
    excerpt = answer["excerpts"]["0"]
    assert "the Lighthouse at night" in excerpt
    assert excerpt.startswith("…the Lighthouse")
    assert len(excerpt) < 400


def test_an_excerpt_begins_at_a_word() -> None:
    text = "a bakery " * 40 + "with an oven"
    assert found([text], "oven")["excerpts"]["0"].startswith(("…a bakery", "…bakery"))


def test_retired_nodes_are_not_found() -> None:
    assert found(["oven", "oven"], "oven", [True, False])["nodes"] == [0]


def test_leaves_come_first_then_each_level_in_reading_order() -> None:
    payload = {"level": [1, 0, 0, 2], "start": [0, 3, 1, 0], "stop": [4, 4, 2, 9]}
    assert find_text(payload, ["oven"] * 4, "oven")["nodes"] == [2, 1, 0, 3]


def test_excerpts_are_bounded_hits_are_not() -> None:
    answer = found(["oven"] * (MOST_EXCERPTS + 5), "oven")
    assert len(answer["nodes"]) == MOST_EXCERPTS + 5
    assert len(answer["excerpts"]) == MOST_EXCERPTS


@pytest.mark.parametrize(
    ("sent", "query"),
    [
        (["words", "  The OVEN "], ("words", "the oven")),
        (["meaning", ""], ("meaning", "")),
        (["hearsay", "oven"], None),
        (["words", 7], None),
        (["words"], None),
        *((sent, None) for sent in ("oven", None, 7, {"words": "oven"})),
    ],
)
def test_what_a_browser_sends_is_checked(sent: object, query: tuple[str, str] | None) -> None:
    assert read_query(sent) == query


def test_a_query_has_a_length() -> None:
    assert read_query(["words", "x" * 10_000]) == ("words", "x" * 200)


@needs_node
def test_python_and_browser_find_the_same() -> None:
    texts = ["The OVEN", "oven (new)", "Straße", "STRASSE", "مرحبا", "a\u0301b", "<script>", ""]
    queries = ["oven", "(", "straße", "strasse", "مرحبا", "a", "<script", "nowhere"]
    columns = {
        "level": [0] * len(texts),
        "start": list(range(len(texts))),
        "stop": list(range(1, len(texts) + 1)),
    }
    body = "return queries.map((query) => m.findText(query, texts, columns));"
    there = run(body, queries=queries, texts=texts, columns=columns)
    assert there == [found(texts, query)["nodes"] for query in queries]
    assert json.dumps(there)
