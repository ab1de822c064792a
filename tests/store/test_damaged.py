"""Files that are damaged or hostile: they are refused in one line, or open as something sound."""

import base64
import gzip
import io
import json
import random
import zipfile

import numpy as np
import pytest

import segviz
from segviz import store
from segviz.embedding import HashingEmbedder
from segviz.store import StoreError
from segviz.tree.columns import ADD
from tests.store.samples import every_form
from tests.trees import small_chat


@pytest.fixture(scope="module")
def packed():
    return store.pack(segviz.build(small_chat(), embedder=HashingEmbedder()).saved)


@pytest.fixture
def document():
    return json.loads(store.dump(every_form()))


def refused(data: bytes | dict) -> str:
    """What the refusal says."""
    with pytest.raises(StoreError) as raised:
        store.parse(data if isinstance(data, bytes) else json.dumps(data).encode())
    assert "\n" not in str(raised.value)
    return str(raised.value)


# --- the container -----------------------------------------------------------------------------


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize("part", ["anywhere", "the directory"])
def test_none_of_sixty_flipped_bits_opens(packed, part):
    for whole in (packed, store.pack(every_form())):
        begin = 0 if part == "anywhere" else whole.index(b"PK\x01\x02")
        for bit in random.Random(60).sample(range(8 * begin, 8 * len(whole)), 60):
            refused(flipped(whole, bit))


def test_a_file_cut_short_or_continued_is_refused(packed):
    for length in (0, 40, 1000, len(packed) // 2, len(packed) - 1):
        refused(packed[:length])
    refused(packed + b"\0")


def test_the_damaged_member_is_named(packed):
    assert "steps.npy" in refused(flipped(packed, 8 * packed.index(b"\x93NUMPY") + 1600))


def zipped(members, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return stream.getvalue()


def members_of(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda members: zipped(members, zipfile.ZIP_DEFLATED), "compressed"),
        (lambda members: zipped([*members, members[1]]), "twice"),
        (zipped, "checksum"),
        (lambda members: zipped(members[:-1]), "checksum"),
    ],
)
def test_a_container_of_another_make_is_refused(packed, change, said):
    assert said in refused(change(members_of(packed)))


def test_pickles_are_not_read(packed, tmp_path):
    class Harm:
        def __reduce__(self):
            import os

            return os.mkdir, (str(tmp_path / "harm"),)

    stream = io.BytesIO()
    np.save(stream, np.array([Harm()], dtype=object))
    members = [
        (name, stream.getvalue() if name == "weights.npy" else data)
        for name, data in members_of(packed)
    ]
    refused(zipped(members))
    assert not (tmp_path / "harm").exists()


# --- tables ------------------------------------------------------------------------------------


def put(*place_and_value):
    *place, value = place_and_value

    def change(rows):
        for key in place[:-1]:
            rows = rows[key]
        rows[place[-1]] = value

    return change


def of(code, column, value):
    """Changes a number of the first event of a kind."""

    def change(rows):
        next(row for row in rows if row[0] == code)[column] = value

    return change


@pytest.mark.parametrize(
    ("table", "change", "place"),
    [
        ("steps", put(0, 0, 3), "steps.unit"),
        ("steps", put(2, 3, 99), "steps.chosen"),
        ("steps", put(-1, 5, 0), "steps.candidates"),
        ("steps", list.pop, "costs and numbers"),
        ("steps", lambda rows: rows[0].pop(), "steps"),
        ("steps", lambda rows: [row.pop() for row in rows], "steps"),
        ("steps", put(0, 7), "steps"),
        ("steps", put(0, 0, 0.5), "steps"),
        ("costs", put(0, 0, -1), "costs"),
        ("candidates", put(0, 0, 77), "candidates.node"),
        ("numbers", put(0, 0, None), "numbers"),
        ("events", put(0, 0, 6), "events.code"),
        ("events", of(ADD, 1, -1), "events.node"),
        ("events", of(ADD, 4, 10), "events.stop"),
        ("events", of(ADD, 5, 10**6), "events.text"),
        ("events", of(ADD, 8, 0), "events.facts"),
        ("events", of(ADD, 1, 3), "step 0"),
        ("events", put(7, 2, 2**31 - 1), "level 2147483647"),
        ("weights", list.pop, "events.start"),
        ("vectors", put(0, "not base64"), "vectors"),
        ("vectors", put(0, base64.b64encode(np.full(3, np.nan, "<f4")).decode()), "vectors"),
        ("vectors", list.clear, "events.vector"),
    ],
)
def test_a_wrong_number_is_named_by_its_place(document, table, change, place):
    change(document[table])
    assert f"damaged: {place}" in refused(document)


# --- the rest ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not readable JSON"),
        (b"\x1f\x8bnonsense", "the archive is damaged"),
        (b"[1, 2]", 'no "format"'),
        (b'{"format": "segviz-memory", "version": 99}', "version 99; this segviz reads version 6"),
        (b'{"format": "segviz-memory", "version": 3}', "versions 1 to 5: segviz 0.1.0"),
    ],
)
def test_other_files_are_refused(data, said):
    assert said in refused(data)


def test_a_damaged_archive_is_refused(document):
    data = gzip.compress(json.dumps(document).encode())
    assert "it ends too early" in refused(data[: len(data) // 2])
    assert "the archive is damaged" in refused(data[:10] + b"\xff" * 30 + data[40:])


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("conversation", "sessions", 0, "turns", 1, "text"), ["x"]),
        (("conversation", "sessions", 0, "start"), "May"),
        (("conversation", "sessions", 0, "turns", 1, "time"), "noon"),
        (("conversation", "speakers"), "Ada"),
        (("system", "settings"), []),
        (("texts", 0), 7),
        (("view", "link", "question"), 7),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_by_its_place(document, place, value):
    put(*place, value)(document)
    assert ".".join(map(str, place)) in refused(document)


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("unit",), "word", "unknown unit rule 'word'"),
        (("conversation", "id"), "\ud800", "not readable JSON"),
        (("system", "settings"), json.loads("[" * 300 + "]" * 300), "not readable JSON"),
    ],
)
def test_a_value_that_means_nothing_is_refused(document, place, value, said):
    put(*place, value)(document)
    assert said in refused(document)


def test_vectors_of_another_dimension_are_refused(packed):
    document = json.loads(store.dump(store.parse(packed)))
    document["vectors"] = [base64.b64encode(b"1234").decode()] * len(document["vectors"])
    saved = store.parse(json.dumps(document).encode())
    with pytest.raises(StoreError, match="have 1 dimensions, those of hashing-256@2 have 256"):
        segviz.memory.from_saved(saved)


# --- at random ---------------------------------------------------------------------------------

VALUES = (None, True, 0, 1, -1, 2**31, 10**40, 0.5, 1e999, "", "x", "turn", [], {}, ["x"], [0, 1])


def mutate(document, rng):
    """Changes one value: another kind, gone, doubled, moved by one."""
    holder, key = document, rng.choice(list(document))
    while isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.8:
        holder = holder[key]
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    match rng.randrange(4):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, holder[rng.randrange(len(holder))])
        case 2 if isinstance(holder[key], int):
            holder[key] += rng.choice([-1, 1])
        case _:
            holder[key] = rng.choice(VALUES)


def test_a_mutated_document_opens_and_works_or_is_refused(packed):
    """Whatever is changed: the memory can be asked and saved again, or a StoreError says why."""
    written = store.dump(store.parse(packed))
    rng, opened = random.Random("mutations 6"), 0
    for _ in range(150):
        document = json.loads(written)
        mutate(document, rng)
        try:
            memory = segviz.memory.from_saved(store.parse(json.dumps(document).encode()))
        except StoreError as error:
            assert "\n" not in str(error)
            continue
        opened += 1
        if memory.steps:
            memory.ask("boat", relevance="lexical")
        assert memory.check() == []
        again = store.dump(memory.saved)
        assert store.dump(store.parse(again)) == again
    assert 10 < opened < 140  # both outcomes were met
