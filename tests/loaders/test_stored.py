"""Dumps of memories of other makers, as texts."""

from __future__ import annotations

import gzip
import json
from datetime import datetime

import pytest

from segviz.conversation import StoredText
from segviz.loaders import LoadError
from segviz.loaders.stored import read_stored, stored_texts

WHEN = "2024-05-01T10:00:00Z"
TIME = datetime(2024, 5, 1, 10)
MEM0 = {
    "results": [
        {
            "id": "m1",
            "memory": "Owns a bicycle",
            "hash": "x",
            "metadata": {"session_id": "session_2", "turns": ["D1:1"]},
            "created_at": WHEN,
            "categories": ["hobby"],
            "user_id": "ann",
        }
    ],
    "relations": [{"source": "ann", "relationship": "owns", "target": "bicycle"}],
}
GRAPHITI = {
    "edges": [
        {
            "uuid": "e1",
            "name": "OWNS",
            "fact": "Ann owns a bicycle",
            "created_at": WHEN,
            "invalid_at": "2024-06-01T00:00:00Z",
            "episodes": ["p1"],
            "attributes": {},
        }
    ],
    "nodes": [{"uuid": "n1", "name": "Ann", "summary": "Ann rides", "labels": ["Entity"]}],
}
LETTA = {
    "blocks": [{"label": "human", "value": "Name: Ann", "limit": 5000}],
    "messages": [{"role": "user", "content": "I bought it"}],
    "passages": [{"id": "p", "text": "A bicycle", "created_at": WHEN, "embedding": [0.1]}],
}
LANGGRAPH = [
    {
        "namespace": ["memories", "ann"],
        "key": "k1",
        "value": {"content": "Owns a bicycle", "context": "shop"},
        "created_at": WHEN,
    }
]
HINDSIGHT = {"results": [{"id": "h", "text": "Ann rides", "type": "world", "mentioned_at": WHEN}]}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (MEM0, [StoredText("m1", "Owns a bicycle", ("D1:1",), "session_2", TIME)]),
        (
            GRAPHITI,
            [
                StoredText("e1", "Ann owns a bicycle", (), "", TIME, datetime(2024, 6, 1)),
                StoredText("n1", "Ann rides"),
            ],
        ),
        (LETTA, [StoredText("human", "Name: Ann"), StoredText("p", "A bicycle", (), "", TIME)]),
        (LANGGRAPH, [StoredText("k1", "Owns a bicycle", (), "", TIME)]),
        (HINDSIGHT, [StoredText("h", "Ann rides", (), "", TIME)]),
        (["a", " ", "b"], [StoredText("memory 1", "a"), StoredText("memory 2", "b")]),
        ({"facts": ["a"], "tags": ["no"]}, [StoredText("memory 1", "a")]),
        ({"user": {"memories": [{"id": 7, "text": "a"}]}}, [StoredText("7", "a")]),
        ([{"id": 1, "text": "a"}, {"id": 1, "text": "b"}], [("1", "a"), ("1#2", "b")]),
        ({"messages": [{"role": "user", "content": "said"}]}, []),
        ([3, None, {"text": 5}, {"x": "y"}], []),
    ],
)
def test_every_make_is_read_by_its_keys(document, expected):
    found = list(stored_texts(document))
    if expected and isinstance(expected[0], tuple):
        found = [(each.id, each.text) for each in found]
    assert found == expected


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv", "gz"])
def test_files_of_every_kind_say_the_same(tmp_path, kind):
    rows = [{"memory": f"fact {i}", "turns": json.dumps([f"D1:{i}"])} for i in (1, 2)]
    path = tmp_path / f"store.{kind}"
    if kind == "csv":
        lines = ["memory,turns", *(f'fact {i},"[""D1:{i}""]"' for i in (1, 2))]
        path.write_text("\n".join(lines))
    elif kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        text = json.dumps(rows).encode()
        path.write_bytes(gzip.compress(text) if kind == "gz" else text)
    found = [(each.text, each.sources) for each in read_stored(path)]
    assert found == [("fact 1", ("D1:1",)), ("fact 2", ("D1:2",))]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("MEMORY.md", "# Ann\n\n- Ann, it seems, rides\n* 1. is no mark here\n"),
        ("notes.txt", "1. Ann, it seems, rides\n2) 1. is no mark here"),
        ("one.csv", 'fact\n"Ann, it seems, rides"\n1. is no mark here\n'),
        ("list.txt", '["Ann, it seems, rides", "1. is no mark here"]'),
    ],
)
def test_lines_of_notes_and_of_a_table_with_one_column_are_texts(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    found = [each.text for each in read_stored(tmp_path / name)]
    assert found == ["Ann, it seems, rides", "1. is no mark here"]


@pytest.mark.parametrize("cell", ["D1:1 D1:2", "D1:1, D1:2", "D1:1;D1:2 x", "D1:1|D1:2"])
def test_a_cell_may_list_several_turns(cell):
    (found,) = stored_texts([{"text": "a", "turns": cell}])
    assert found.among({"D1:1", "D1:2"}).sources == ("D1:1", "D1:2")
    assert found.among({cell}).sources == (cell,)


@pytest.mark.parametrize("content", ["[]", "{}", '{"messages": []}', "just words", "[[[["])
def test_a_file_without_texts_is_refused_by_name(tmp_path, content):
    path = tmp_path / "store.json"
    path.write_text(content)
    with pytest.raises(LoadError, match=r"store\.json"):
        read_stored(path)
