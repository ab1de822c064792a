import io
import os
import random
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import segviz
from segviz import files, store
from segviz.conversation import Question, Session, Turn
from segviz.embedding import HashingEmbedder
from segviz.store import StoreError
from segviz.store.container import _COLUMNS, HEAD
from segviz.systems import SYSTEMS
from segviz.tree import Add, Fold, History, Link, Relate, ReplayError, Revise, Step, replay
from segviz.tree.columns import LINK
from tests.benchmarks.synthetic import conversation
from tests.store.test_store import same
from tests.trees import chat

COLUMNS = ("level", "start", "stop", "vector", "active", "edges", "chain", "top")
LISTS = ("text", "kind", "facts", "relations")


def alike(a, b):
    """Two structures, byte for byte."""
    return all(same(getattr(a, name), getattr(b, name)) for name in COLUMNS) and all(
        getattr(a, name) == getattr(b, name) for name in LISTS
    )


def one_by_one(steps):
    """What ``replay`` means."""
    fold = Fold()
    for number, step in enumerate(steps):
        fold.take(number, step)
    return fold.freeze()


@pytest.fixture(scope="module", params=SYSTEMS)
def built(request):
    return segviz.build(conversation(90), request.param, unit="turn", embedder=HashingEmbedder())


class TestRoundTrip:
    def test_everything_comes_back(self, built, tmp_path):
        built.save(tmp_path / "m.npz")
        again = segviz.open(tmp_path / "m.npz")
        assert isinstance(again.steps, History)
        assert again.conversation == built.conversation
        assert again.units == built.units
        assert same(again.steps, built.steps)
        assert store.dump(again.saved) == store.dump(built.saved)
        assert alike(again.structure, built.structure)
        for step in (0, 1, 17, 40, 89):
            assert alike(again.at(step), one_by_one(built.steps[:step]))
        asked = [
            memory.ask("the guitar in Bergen", relevance="lexical") for memory in (again, built)
        ]
        assert asked[0].after == asked[1].after

    def test_the_same_bytes(self, built, tmp_path):
        built.save(tmp_path / "a.npz")
        segviz.open(tmp_path / "a.npz").save(tmp_path / "b.npz")
        assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()

    @pytest.mark.parametrize("unit", ["exchange", "paper", "turn"])
    def test_units_are_found_without_turns(self, unit, tmp_path):
        """A session without turns, turns without words, captions, speakers who are not named."""
        odd = Session(
            "odd",
            None,
            "",
            (Turn("a", "Ada", " \u2003"), Turn("b", "Ada", "", "a sloop"), Turn("c", "Cy", "")),
        )
        talk = conversation(50)
        talk = replace(talk, sessions=(odd, replace(odd, id="none", turns=()), *talk.sessions))
        memory = segviz.build(talk, unit=unit, embedder=HashingEmbedder())
        memory.save(tmp_path / "m.npz")
        again = segviz.open(tmp_path / "m.npz")
        assert (again.conversation, again.units) == (talk, memory.units)

    def test_kinds_facts_relations_operations_and_questions(self, memory, tmp_path):
        n, root = len(memory.structure), memory.structure.roots[0]
        vector, span = memory.structure.vector[0], (0, len(memory.units))
        facts = {"mentions": 2, "share": 0.5, "type": "pers\u00f6n", "seen": None, "known": True}
        events = (
            Add(n, 9, span, "Ines", vector, "entity", facts),
            Link(n, root),
            Relate(n, root, "about", 0.5, {"since": "May"}),
            Revise(n, span, "Ines", vector, 10, {}),
            Revise(n, span, "Inês", vector, None, {"mentions": 3}),
        )
        late = Step(memory.units[-1], "An entity.", None, events, operation="name")
        asked = Question(0, "why?", None, "odd", ("D1:1",), ("D9:9",), "no", "D1:3")
        talk = replace(memory.conversation, questions=(asked,))
        memory = replace(memory, conversation=talk, steps=(*memory.steps, late))
        memory.save(tmp_path / "m.npz")
        again = segviz.open(tmp_path / "m.npz")
        assert same(again.steps[-1], late)
        assert again.conversation == talk
        assert alike(again.structure, memory.structure)

    def test_a_memory_without_steps(self, tmp_path):
        segviz.build(chat([[]]), embedder=HashingEmbedder()).save(tmp_path / "m.npz")
        again = segviz.open(tmp_path / "m.npz")
        assert (again.steps, again.check()) == ((), [])

    def test_numpy_reads_it_and_nothing_is_copied(self, memory, tmp_path):
        memory.save(tmp_path / "m.npz")
        with np.load(tmp_path / "m.npz", allow_pickle=False) as arrays:
            assert len(arrays["turns"]) == len(memory.conversation.turns)
            assert same(arrays["vectors"][: len(memory.structure)], memory.structure.vector)
        opened = segviz.open(tmp_path / "m.npz").structure.vector
        assert not opened.flags.owndata
        assert not opened.flags.writeable

    def test_one_that_numpy_wrote(self, memory, tmp_path):
        """Its arrays lie at no edge."""
        memory.save(tmp_path / "m.npz")
        with np.load(tmp_path / "m.npz") as found:
            arrays = {name: found[name] for name in _COLUMNS}
        with zipfile.ZipFile(tmp_path / "m.npz") as archive:
            head = archive.read(HEAD)
        np.savez(tmp_path / "n.npz", **arrays)
        with zipfile.ZipFile(tmp_path / "n.npz", "a") as archive:
            archive.writestr(HEAD, head)
        # Its head is the last member, so that it is not taken for one of ours by its beginning.
        assert not store.recognises(tmp_path / "n.npz")
        again = store.container.read(io.BytesIO((tmp_path / "n.npz").read_bytes()))
        assert alike(replay(again.steps), memory.structure)

    def test_recognised_by_content(self, memory, tmp_path):
        memory.save(tmp_path / "m.npz")
        os.rename(tmp_path / "m.npz", tmp_path / "m.txt")
        assert store.recognises(tmp_path / "m.txt")
        assert store.recognises((tmp_path / "m.txt").read_bytes())
        assert store.parse((tmp_path / "m.txt").read_bytes()).unit == "turn"


def parts(memory):
    """The members of a memory's file."""
    stream = io.BytesIO()
    store.container.write(memory.saved, stream)
    with zipfile.ZipFile(stream) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def changed(members, name, change):
    """The file with another array."""
    stream = io.BytesIO(members[f"{name}.npy"])
    array = change(np.load(stream).copy())
    stream = io.BytesIO()
    np.save(stream, array)
    return packed({**members, f"{name}.npy": stream.getvalue()})


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def beside_a_link(column, value):
    """A change of a number that says nothing where an event is a link."""

    def change(array):
        array[np.flatnonzero(array[:, 0] == LINK)[0], column] = value
        return array

    return change


class TestHostile:
    @pytest.mark.parametrize(
        ("name", "change", "told"),
        [
            ("turns", put((1, 2), 10**6), "turns: expected whole numbers"),
            ("turns", put((1, 3), -2), "turns: expected whole numbers from -1"),
            ("session_end", put(0, 99), "session_end"),
            ("session_end", lambda a: a[:-1], "session_end"),
            ("text_end", put(3, 0), "text_end: expected numbers that rise"),
            ("text_end", lambda a: a[:-1], "text_end"),
            ("text", put(0, 0xFF), "text: expected texts in UTF-8"),
            ("text", put(0, 0x80), "text: expected texts in UTF-8"),
            ("steps", put((0, 0), 9), "steps.unit: expected whole numbers from 0 to 8, found 9"),
            ("steps", put((2, 3), 999), "steps.chosen"),
            ("steps", put((2, 1), -1), "steps.note"),
            ("steps", put((-1, 5), 0), "steps.candidates: expected numbers that rise"),
            ("steps", put((-1, 6), 3), "steps.events"),
            ("steps", lambda a: a[:-1], "costs and numbers"),
            ("steps", lambda a: a[:, :6], "steps: expected numbers <i4 in rows of 7"),
            ("steps", lambda a: a.astype(np.int64), "steps: expected numbers <i4"),
            ("costs", put((0, 0), -1), "costs: expected whole numbers from 0"),
            ("candidates", put((0, 0), 77), "candidates.node"),
            ("candidates", put((0, 2), 4), "candidates.numbers"),
            ("events", put((0, 0), 6), "events.code: expected whole numbers from 0 to 5, found 6"),
            ("events", put((0, 1), -1), "events.node"),
            ("events", put((0, 2), -1), "events.level"),
            ("events", put((0, 4), 10), "events.span"),
            ("events", put((0, 5), 10**6), "events.text"),
            ("events", put((0, 6), -1), "events.vector"),
            ("events", put((0, 7), -1), "events.kind"),
            ("events", put((0, 8), 0), "events.facts"),
            ("events", beside_a_link(5, 2**17), "events: expected whole numbers from -1 to -1"),
            ("events", put((0, 1), 5), "step 0: Add.5.: expected node 0"),
            ("events", put((0, 4), 9), "damaged"),
            ("vectors", put((1, 1), np.nan), "vectors: expected finite numbers"),
            ("vectors", lambda a: a.astype(np.float64), "vectors: expected numbers <f4"),
            ("vectors", lambda a: np.asfortranarray(a), "vectors: expected an array of numpy"),
            ("vectors", lambda a: a[:, 0].copy(), "vectors: expected numbers <f4"),
        ],
    )
    def test_a_wrong_number_is_named(self, memory, name, change, told):
        with pytest.raises(StoreError, match=told):
            store.parse(changed(parts(memory), name, change))

    def test_pickles_are_not_read(self, memory, tmp_path):
        class Harm:
            def __reduce__(self):
                return os.mkdir, (str(tmp_path / "harm"),)

        def harmful(array):
            return np.array([Harm()] * len(array), dtype=object)

        with pytest.raises(StoreError, match="weights: expected"):
            store.parse(changed(parts(memory), "weights", harmful))
        assert not (tmp_path / "harm").exists()

    def test_a_packed_one(self, memory):
        with pytest.raises(StoreError, match="is packed, expected it as it is"):
            store.parse(packed(parts(memory), zipfile.ZIP_DEFLATED))

    @pytest.mark.parametrize("name", [HEAD, "text.npy", "vectors.npy"])
    def test_a_member_too_few(self, memory, name):
        members = parts(memory)
        data = packed({other: data for other, data in members.items() if other != name})
        with pytest.raises(StoreError, match=r"members|not readable"):
            store.parse(data)

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_a_member_twice(self, memory):
        stream = io.BytesIO(packed(parts(memory)))
        with zipfile.ZipFile(stream, "a") as archive:
            archive.writestr("steps.npy", parts(memory)["steps.npy"])
        with pytest.raises(StoreError, match="each once"):
            store.parse(stream.getvalue())

    def test_an_array_that_says_it_is_longer(self, memory):
        members = parts(memory)
        longer = members["vectors.npy"].replace(b"256), }", b"999), }")
        with pytest.raises(StoreError, match=r"vectors: expected [0-9]+ bytes"):
            store.parse(packed({**members, "vectors.npy": longer}))

    def test_any_byte_changed_or_cut(self, memory):
        """It opens as something sound, or is refused in one line."""
        stream = io.BytesIO()
        store.container.write(memory.saved, stream)
        whole = stream.getvalue()
        rng = random.Random(3)
        for number in range(300):
            data = bytearray(whole)
            place = rng.choice([rng.randrange(len(data)), rng.randrange(6000)])
            data[place] = rng.randrange(256)
            if number % 3 == 0:
                del data[rng.randrange(len(data)) :]
            try:
                saved = store.parse(bytes(data))
            except StoreError as error:
                assert "\n" not in str(error)
            else:
                assert tuple(saved.steps)

    def test_a_huge_directory_offset(self, memory):
        stream = io.BytesIO()
        store.container.write(memory.saved, stream)
        data = stream.getvalue()
        with pytest.raises(StoreError):
            store.parse(data[:-6] + struct.pack("<I", 2**32 - 2) + data[-2:])


class TestFolding:
    """``replay`` of columns against the events one by one."""

    def opened(self, memory, steps):
        stream = io.BytesIO()
        store.container.write(replace(memory.saved, steps=tuple(steps)), stream)
        stream.seek(0)
        return store.container.read(stream).steps

    @pytest.mark.parametrize(
        "events",
        [
            (Link(0, 1),),
            (Link(0, 99),),
            (Revise(99, (0, 1), "", np.zeros(256, np.float32)),),
            (Add(3, 0, (0, 1), "", np.zeros(256, np.float32)),),
        ],
    )
    def test_the_same_errors(self, memory, events):
        steps = [*memory.steps, replace(memory.steps[-1], events=events * 2)]
        with pytest.raises(ReplayError) as plain:
            one_by_one(steps)
        with pytest.raises(ReplayError) as columns:
            replay(self.opened(memory, steps))
        assert str(columns.value) == str(plain.value)

    def test_parts_of_a_history(self, memory):
        steps = self.opened(memory, memory.steps)
        assert len(steps[2:5]) == 3
        assert same(steps[2:5], memory.steps[2:5])
        assert same(steps[-1], memory.steps[-1])
        assert alike(replay(steps[:4]), one_by_one(memory.steps[:4]))
        with pytest.raises(IndexError):
            steps[len(memory.steps)]


class TestRoom:
    """What does not fit into the memory that is free is said before it begins."""

    @pytest.fixture(autouse=True)
    def little(self, monkeypatch):
        monkeypatch.setattr(files, "free_memory", lambda: 1_000)

    def test_a_build(self, memory):
        with pytest.raises(
            files.NoRoom, match=r"building 9 leaves takes about 0.0 GB of memory, and"
        ):
            segviz.build(memory.conversation, unit="turn", embedder=HashingEmbedder())

    def test_opening_columns(self, memory, tmp_path):
        memory.save(tmp_path / "m.npz")
        with pytest.raises(StoreError, match=r"a memory of 19 nodes takes .* a larger machine"):
            segviz.open(tmp_path / "m.npz")

    @pytest.mark.parametrize("relevance", ["contextual", "dense", "lexical"])
    def test_a_relevance(self, memory, relevance):
        again = replace(memory)
        with pytest.raises(files.NoRoom, match=rf"preparing the relevance '{relevance}' for"):
            again.ask("why?", relevance=relevance)

    def test_nothing_is_refused_where_the_system_does_not_tell(self, memory, monkeypatch):
        monkeypatch.setattr(files, "free_memory", lambda: None)
        assert replace(memory).ask("why?", relevance="lexical").after is not None
