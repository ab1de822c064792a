"""Dumps of memories of other makers, as texts."""

import gzip
import json
import sqlite3
from pathlib import Path

import pytest

from segviz.loaders import LoadError
from segviz.loaders.stored import read_stored, stored_texts

STORES = Path(__file__).parent / "stores"
EXPECTED = {
    "mem0": ["m1: Owns a bicycle, D1:1, session_2, 2024-05-01 10:00:00+00:00"],
    "graphiti": [
        "e1: Ann owns a bicycle, 2024-05-01 10:00:00+00:00, 2024-06-01 00:00:00+00:00",
        "n1: Ann rides",
    ],
    "letta": ["human: Name: Ann", "p: A bicycle, 2024-05-01 10:00:00+00:00"],
    "langgraph": ["k1: Owns a bicycle, 2024-05-01 10:00:00+00:00"],
    "langmem": ["k1: Owns a bicycle, 2024-05-01 10:00:00+00:00"],
    "postgres": ["k1: Owns a bicycle, 2024-05-01 10:00:00+00:00"],
    "hindsight": ["h: Ann rides, 2024-05-01 10:00:00+00:00"],
    "texts": ["memory 1: a", "memory 2: b"],
    "facts": ["memory 1: a"],
    "by_user": ["7: a"],
    "one_id_twice": ["1: a", "1#2: b"],
}


@pytest.mark.parametrize("make", EXPECTED)
def test_every_make_is_read_by_its_keys(make):
    told = []
    for each in read_stored(STORES / f"{make}.json"):
        known = (*each.sources, each.session, each.time, each.ended)
        told.append(f"{each.id}: {', '.join([each.text, *(str(one) for one in known if one)])}")
    assert told == EXPECTED[make]


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


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        '{"messages": [{"role": "user", "content": "said"}]}',
        '[3, {"text": 5}]',
        "words",
    ],
)
def test_a_file_without_texts_is_refused_by_name(tmp_path, content):
    path = tmp_path / "store.json"
    path.write_text(content)
    with pytest.raises(LoadError, match=r"store\.json"):
        read_stored(path)


def chroma(path, *extra):
    """A file with chroma's tables, in the write-ahead mode of a store that is in use."""
    with sqlite3.connect(path) as database:
        database.executescript(
            "PRAGMA journal_mode=WAL;"
            "CREATE TABLE embeddings (id INTEGER PRIMARY KEY, embedding_id TEXT);"
            "CREATE TABLE embedding_metadata (id INTEGER, key TEXT, string_value TEXT,"
            " int_value INTEGER, float_value REAL, bool_value INTEGER);"
        )
        database.execute("INSERT INTO embeddings VALUES (1, 'a')")
        rows = [("chroma:document", "Owns a bicycle"), ("turn", "D1:1"), *extra]
        database.executemany(
            "INSERT INTO embedding_metadata (id, key, string_value) VALUES (1, ?, ?)", rows
        )
    database.close()
    return path


def test_a_chroma_file_has_its_documents_and_metadata(tmp_path):
    (text,) = read_stored(chroma(tmp_path / "chroma.sqlite3"))
    assert (text.id, text.text, text.sources) == ("a", "Owns a bicycle", ("D1:1",))


def test_a_chroma_file_names_the_collection_of_a_document(tmp_path):
    path = chroma(tmp_path / "chroma.sqlite3")
    with sqlite3.connect(path) as database:
        database.executescript(
            "ALTER TABLE embeddings ADD COLUMN segment_id TEXT;"
            "UPDATE embeddings SET segment_id='s';"
            "CREATE TABLE segments (id TEXT, collection TEXT);"
            "CREATE TABLE collections (id TEXT, name TEXT);"
            "INSERT INTO segments VALUES ('s', 'c'); INSERT INTO collections VALUES ('c', 'mine');"
        )
    database.close()
    (text,) = read_stored(path)
    assert text.owner == "mine"


@pytest.mark.parametrize("damage", ["tables", "bytes", "view"])
def test_another_sqlite_file_is_an_error(tmp_path, damage):
    path = tmp_path / "other.sqlite3"
    if damage == "bytes":
        path.write_bytes(b"SQLite format 3\0" + b"x" * 200)
    else:
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE embedding_metadata (id)")
            if damage == "view":  # that computes for ever
                database.execute(
                    "CREATE VIEW embeddings AS WITH RECURSIVE n(i) AS "
                    "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n"
                )
        database.close()
    with pytest.raises(LoadError, match=r"other\.sqlite3: (its tables|the SQLite file)"):
        read_stored(path)
