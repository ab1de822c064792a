"""Large lists: items found in the bytes as json finds them, conversations read one by one."""

import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.conversation import Corpus, Entry
from segviz.loaders import LazyCorpus, LoadError, load
from segviz.loaders.json_scanner import Item, NotItems, find_items
from segviz.loaders.lazy import KEPT, Shelf

hard = st.text(st.sampled_from('"\\[]{},:é\U0001f600 \n'), max_size=6)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), hard)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(hard, inner, max_size=3)),
    max_leaves=12,
)
containers = st.one_of(st.lists(values, max_size=3), st.dictionaries(hard, values, max_size=3))


def items(data: bytes, block: int = 1 << 22) -> list[Item]:
    """All items of these bytes."""
    return list(find_items(io.BytesIO(data), block))


def outline(value: object) -> object:
    """The slow restatement: an item with null for what is nested in it."""

    def flat(inner: object) -> object:
        return None if isinstance(inner, dict | list) else inner

    if isinstance(value, dict):
        return {key: flat(inner) for key, inner in value.items()}
    return [flat(inner) for inner in value] if isinstance(value, list) else value


def opened(value: object, kind: type, depth: int) -> int:
    """How many containers of this kind stand ``depth`` levels below the value."""
    level = [value]
    for _ in range(depth):
        inner = [
            v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)
        ]
        level = [each for group in inner for each in group]
    return sum(isinstance(each, kind) for each in level)


# --- items ---------------------------------------------------------------------------


@given(
    st.lists(containers, max_size=4),
    st.integers(1, 40),
    st.booleans(),
    st.sampled_from([None, 1]),
    st.sampled_from([b"", b"\xef\xbb\xbf", b" \r\n"]),
)
def test_items_are_those_of_json(
    document: list[object], block: int, ascii_only: bool, indent: int | None, before: bytes
) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    data = before + text.encode() + b"\n"
    block = max(block, len(before))
    read = items(data, block)
    assert [json.loads(data[item.start : item.stop]) for item in read] == document
    for item, value in zip(read, document, strict=True):
        assert json.loads(item.outline) == outline(value)
        for depth in range(4):
            assert item.objects[depth] == opened(value, dict, depth)
            assert item.lists[depth] == opened(value, list, depth)
    assert items(data, 1 << 22) == read


@given(st.one_of(values, st.lists(values, max_size=4)), st.integers(1, 40))
def test_other_json_is_told_apart(document: object, block: int) -> None:
    data = json.dumps(document).encode()
    if isinstance(document, list) and all(isinstance(each, dict | list) for each in document):
        assert len(items(data, block)) == len(document)
    else:
        with pytest.raises(NotItems):
            items(data, block)


@given(st.binary(max_size=60), st.integers(1, 20))
def test_any_bytes(data: bytes, block: int) -> None:
    for noise in (data, b"[" + data, b"[{}" + data + b"]"):
        try:
            read = items(noise, block)
        except NotItems:
            continue
        assert all(0 < item.start < item.stop < len(noise) for item in read)


@pytest.mark.parametrize(
    "text",
    '|[|[{}|[{}{}]|[{},]|[,{}]|[{},,{}]|{}|[1]|[{}] x|[{}][]|["a"]|[{"a'.split("|"),
)
def test_what_is_no_list_of_items(text: str) -> None:
    with pytest.raises(NotItems):
        items(text.encode())


def test_a_long_outline_is_left_empty() -> None:
    (item,) = items(json.dumps([{"a": "x" * 100_000, "b": [1]}]).encode())
    assert item.outline == b""
    assert item.scalars() == {}


# --- conversations on demand ---------------------------------------------------------


def instance(number: int, *sessions: int, **extra: object) -> dict[str, object]:
    """A LongMemEval instance; ``sessions`` are their numbers of turns. The id comes last."""
    turns = [
        [
            {"role": "user" if i % 2 == 0 else "assistant", "content": f'{number} "[{i}"'}
            for i in range(n)
        ]
        for n in sessions
    ]
    return {
        "haystack_sessions": turns,
        "haystack_dates": ["2023/05/28 (Sun) 19:47"] * len(sessions),
        "haystack_session_ids": ["s"] * len(sessions),
        "question": f"question {number}?",
        "answer": number,
        "question_id": f"q{number}",
        **extra,
    }


def write(path: Path, document: object) -> Path:
    """A JSON file."""
    path.write_text(json.dumps(document))
    return path


def both(path: Path) -> tuple[Corpus, LazyCorpus]:
    """The file read whole and by items."""
    lazy = load(path, by_items=1)
    assert isinstance(lazy, LazyCorpus)
    return load(path), lazy


def test_longmemeval_by_items_is_the_same_as_whole(tmp_path: Path) -> None:
    whole, lazy = both(
        write(tmp_path / "s.json", [instance(1, 2, 3), instance(2, 1), instance(1, 4)])
    )
    assert not isinstance(whole, LazyCorpus)
    assert lazy.ids == whole.ids == ("q1", "q2", "q1#2")
    assert lazy.entries == (
        Entry("q1", 2, 5, "question 1?"),
        Entry("q2", 1, 1, "question 2?"),
        Entry("q1#2", 1, 4, "question 1?"),
    )
    assert [(e.sessions, e.turns) for e in lazy.entries] == [
        (e.sessions, e.turns) for e in whole.entries
    ]
    assert list(lazy) == list(whole)
    assert lazy["q1#2"] == lazy[2] == lazy[-1] == whole[2]
    assert lazy[0:2] == whole[0:2]
    assert (len(lazy), lazy.report.kept) == (3, whole.report.kept)
    with pytest.raises(IndexError):
        lazy[3]
    with pytest.raises(KeyError, match="no conversation 'q9'; the file holds q1, q2, q1#2"):
        lazy["q9"]


@pytest.mark.parametrize("name", ["chatgpt", "claude", "sharegpt"])
def test_exports_by_items(name: str, tmp_path: Path) -> None:
    node = {
        "parent": None,
        "children": [],
        "message": {"author": {"role": "user"}, "content": "hi"},
    }
    chat = {
        "chatgpt": {"title": "T", "mapping": {"a": node}, "current_node": "a"},
        "claude": {"name": "T", "chat_messages": [{"sender": "human", "text": "hi"}]},
        "sharegpt": {"id": "T", "conversations": [{"from": "human", "value": "hi"}]},
    }[name]
    whole, lazy = both(write(tmp_path / "c.json", [chat, chat, {**chat}]))
    assert lazy.ids == whole.ids == ("T", "T#2", "T#3")
    assert lazy.entries[0] == Entry("T", None, None)
    assert list(lazy) == list(whole)


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    good, bad = instance(1, 2), instance(2, 0, question="?")
    path = write(tmp_path / "s.json", [good, bad, {**good, "question_id": None}])
    lazy = load(path, by_items=1)
    assert lazy.ids == ("q1", "q2", "3")
    assert lazy.report.findings == ()
    assert len(lazy[0].turns) == 2
    with pytest.raises(LoadError) as caught:
        lazy[1]
    assert str(caught.value).startswith("s.json, [1]: The file was read, but it has no messages")
    assert lazy[2].id == "3"
    assert [f.where for f in lazy.report_of(2).findings] == ["question_id"]
    assert (lazy.report_of(0).kept, lazy.report_of(0).source_format) == (2, "LongMemEval")
    whole = load(write(tmp_path / "good.json", [good]))
    assert whole.report_of(0) is whole.report


def test_few_conversations_are_held(tmp_path: Path) -> None:
    lazy = load(write(tmp_path / "s.json", [instance(n, 1) for n in range(9)]), by_items=1)
    assert lazy[3] is lazy[3]
    first = lazy[0]
    for position in range(1, KEPT + 1):
        lazy[position]
    assert lazy[0] == first
    assert lazy[0] is not first
    assert isinstance(lazy.conversations, Shelf)


def test_a_file_that_changes_is_not_misread(tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", [instance(1, 2), instance(2, 2)])
    lazy = load(path, by_items=1)
    write(path, [instance(12345, 2), instance(2, 2)])
    with pytest.raises(LoadError, match="the file has changed since it was listed"):
        lazy[1]
    os.remove(path)
    with pytest.raises(LoadError, match="changed since it was listed"):
        lazy[0]


def test_a_broken_item_is_met_when_it_is_read(tmp_path: Path) -> None:
    text = json.dumps([instance(1, 2), instance(2, 2)]).replace('"question 2?"', "nonsense")
    (tmp_path / "s.json").write_text(text)
    lazy = load(tmp_path / "s.json", by_items=1)
    assert len(lazy[0].turns) == 2
    with pytest.raises(LoadError, match=r"s.json, \[1\].*not valid JSON"):
        lazy[1]


@pytest.mark.parametrize(
    "document",
    [
        [{"speaker": "Ann", "text": "x"}],  # one conversation, not one per item
        {"session_1": [{"speaker": "A", "text": "x"}]},
        [{"role": "user", "content": "x"}],
    ],
)
def test_other_shapes_are_read_whole(document: object, tmp_path: Path) -> None:
    corpus = load(write(tmp_path / "x.json", document), by_items=1)
    assert not isinstance(corpus, LazyCorpus)
    assert corpus.report.kept == 1


def test_encodings_that_need_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(json.dumps([instance(1, 2)]).encode("utf-16"))
    assert not isinstance(load(path, by_items=1), LazyCorpus)
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps([instance(1, 2)]).encode())
    assert load(path, by_items=1)[0].id == "q1"
