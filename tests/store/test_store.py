"""Memory files: what is saved opens again as it was."""

import os
import pickle
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import segviz
from segviz import files, store
from segviz.conversation import Conversation, Session, Turn, sample_path
from segviz.embedding import HashingEmbedder
from segviz.store import StoreError
from segviz.tree import Link, Step, replay
from tests.benchmarks.synthetic import conversation
from tests.store.samples import alike, every_form, same
from tests.trees import chat

NAMES = ("m.npz", "m", "m.json", "M.Json.GZ")


def equal(found: store.Saved, expected: store.Saved) -> bool:
    """Whether two files hold the same."""
    plain = ("conversation", "unit", "system", "settings", "embedder", "chat", "shown")
    return same(tuple(found.steps), tuple(expected.steps)) and all(
        getattr(found, name) == getattr(expected, name) for name in plain
    )


def first_add(saved: store.Saved, **changes: Any) -> Step:
    """The first step with changes to its event."""
    (event,) = saved.steps[0].events
    return replace(saved.steps[0], events=(replace(event, **changes),))


class TestRoundTrip:
    @pytest.mark.parametrize("name", NAMES)
    def test_every_form_comes_back(self, tmp_path, name):
        store.write(every_form(), tmp_path / name)
        again = store.read(tmp_path / name)
        assert equal(again, every_form())
        assert equal(pickle.loads(pickle.dumps(again)), every_form())
        assert alike(again.structure, replay(every_form().steps))

    @pytest.mark.parametrize("system", ["segment-tree", "raptor", "h-mem", "memforest"])
    def test_the_memory_of_a_system_comes_back(self, system, tmp_path):
        built = segviz.build(conversation(40), system, unit="turn", embedder=HashingEmbedder())
        built.save(tmp_path / "m.npz")
        again = segviz.open(tmp_path / "m.npz")
        assert equal(again.saved, built.saved)
        assert (again.units, again.invariants) == (built.units, built.invariants)
        for step in (0, 1, 20, 40):
            assert alike(again.at(step), replay(tuple(built.steps)[:step]))
        found, wanted = (
            memory.ask("the guitar in Bergen", relevance="lexical") for memory in (again, built)
        )
        assert found.after == wanted.after

    @pytest.mark.parametrize("name", NAMES)
    def test_saving_again_gives_the_same_bytes(self, memory, tmp_path, name):
        memory.save(tmp_path / name)
        first = (tmp_path / name).read_bytes()
        segviz.open(tmp_path / name).save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
        # Steps that are no columns yet, and the first of those that are.
        replace(memory, steps=tuple(memory.steps)).save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
        part = replace(memory, steps=memory.steps[:3]).saved
        assert store.pack(part) == store.pack(replace(part, steps=tuple(part.steps)))

    def test_odd_sessions_come_back(self, tmp_path):
        """A session without turns, turns without words, captions, speakers who are not named."""
        turns = (Turn("a", "Ada", " \u2003"), Turn("b", "Ada", "", "a sloop"), Turn("c", "Cy", ""))
        sessions = (Session("odd", None, "", turns), Session("none", None, "", ()))
        talk = conversation(50)
        talk = replace(talk, sessions=(*sessions, *talk.sessions))
        memory = segviz.build(talk, embedder=HashingEmbedder())
        memory.save(tmp_path / "m.npz")
        again = segviz.open(tmp_path / "m.npz")
        assert (again.conversation, again.units) == (talk, memory.units)

    @pytest.mark.parametrize("talk", [chat([[]]), Conversation("nobody", (), ())])
    def test_a_memory_without_steps_comes_back(self, tmp_path, talk):
        segviz.build(talk, embedder=HashingEmbedder()).save(tmp_path / "m.npz")
        again = segviz.open(tmp_path / "m.npz")
        assert (again.steps, again.check(), again.conversation) == ((), [], talk)

    def test_numpy_reads_the_tables(self, memory, tmp_path):
        memory.save(tmp_path / "m.npz")
        with np.load(tmp_path / "m.npz", allow_pickle=False) as tables:
            assert len(tables["steps"]) == len(memory.steps)
            assert tables["vectors"].shape[1] == memory.structure.vector.shape[1]

    @pytest.mark.parametrize("name", NAMES)
    def test_a_memory_is_recognised_by_its_content(self, memory, tmp_path, name):
        memory.save(tmp_path / name)
        kinds = {".json": b"{", ".gz": b"\x1f\x8b"}
        start = kinds.get(Path(name).suffix.lower(), b"PK")
        assert (tmp_path / name).read_bytes().startswith(start)
        os.rename(tmp_path / name, tmp_path / "m.txt")
        assert store.recognises(tmp_path / "m.txt")
        assert store.recognises((tmp_path / "m.txt").read_bytes())
        assert store.parse((tmp_path / "m.txt").read_bytes()).unit == "turn"


class TestHistory:
    def test_a_part_of_a_history_is_one(self):
        steps = store.parse(store.pack(every_form())).steps
        assert same(steps[1:3], every_form().steps[1:3])
        assert same(steps[-1], every_form().steps[-1])
        assert alike(replay(steps[:2]), replay(every_form().steps[:2]))
        with pytest.raises(IndexError):
            steps[len(steps)]


def test_a_name_of_another_kind_of_file_gives_a_memory_and_is_named_in_a_warning(tmp_path):
    with pytest.warns(UserWarning, match=r"m\.csv .* '\.csv'"):
        store.write(every_form(), tmp_path / "m.csv")
    assert equal(store.read(tmp_path / "m.csv"), every_form())


class TestWriting:
    @pytest.mark.slow
    def test_a_killed_process_leaves_a_whole_file(self, tmp_path):
        """SIGKILL in the middle of saving: readers find the file before or the one after."""
        target = tmp_path / "memory.npz"
        script = (
            "import sys, segviz\n"
            f"memory = segviz.build(segviz.load({str(sample_path('recurrence'))!r})[0])\n"
            "memory.save(sys.argv[1])\n"
            "print('saved', flush=True)\n"
            "while True:\n"
            "    memory.save(sys.argv[1])\n"
        )
        command = [sys.executable, "-c", script, str(target)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "saved\n"
        time.sleep(0.02)
        process.kill()
        process.wait()
        process.stdout.close()
        assert segviz.open(target).check() == []

    def test_a_read_only_file_is_not_replaced(self, memory, tmp_path):
        target = tmp_path / "m.npz"
        target.write_text("old")
        target.chmod(stat.S_IRUSR)
        with pytest.raises(PermissionError) as raised:
            memory.save(target)
        assert raised.value.filename == str(target)
        assert target.read_text() == "old"

    @pytest.mark.parametrize(
        "change",
        [
            lambda s: replace(s, unit="word"),
            lambda s: replace(s, embedder="\ud800"),
            lambda s: replace(s, settings={"a": object()}),
            lambda s: replace(s, steps=(*s.steps, replace(s.steps[-1], events=(Link(0, 99),)))),
            lambda s: replace(s, steps=s.steps[1:]),
            lambda s: replace(s, steps=(s.steps[0], replace(s.steps[1], events=(Link(0, 0),)))),
            lambda s: replace(s, steps=(first_add(s, level=9), *s.steps[1:])),
            lambda s: replace(s, steps=(first_add(s, vector=np.ones(2, "f4")), *s.steps[1:])),
        ],
    )
    @pytest.mark.parametrize("name", ["m.npz", "m.json"])
    def test_what_would_not_open_is_not_saved(self, tmp_path, change, name):
        with pytest.raises(StoreError, match="this memory cannot be saved"):
            store.write(change(every_form()), tmp_path / name)
        assert not list(tmp_path.iterdir())

    def test_a_memory_with_vectors_of_another_embedder_is_not_saved(self, memory, tmp_path):
        class Other(HashingEmbedder):
            def embed(self, texts):
                return super().embed(texts)[:, :9]

        with pytest.raises(StoreError, match="its vectors have 256 dimensions"):
            replace(memory, embedder=Other()).save(tmp_path / "m.npz")


class TestRoom:
    """What does not fit into the memory that is free is said before it begins."""

    @pytest.fixture
    def little(self, monkeypatch):
        monkeypatch.setattr(files, "free_memory", lambda: 1_000)

    def test_a_build(self, memory, little):
        with pytest.raises(files.NoRoom, match="building 9 leaves"):
            segviz.build(memory.conversation, unit="turn", embedder=HashingEmbedder())

    def test_opening(self, memory, tmp_path, monkeypatch):
        memory.save(tmp_path / "m.npz")
        monkeypatch.setattr(files, "free_memory", lambda: 1_000)
        with pytest.raises(StoreError, match=r"a memory file of .* a larger machine"):
            segviz.open(tmp_path / "m.npz")

    @pytest.mark.parametrize("relevance", ["contextual", "dense", "lexical"])
    def test_a_relevance(self, memory, relevance, little):
        with pytest.raises(files.NoRoom, match=f"preparing the relevance '{relevance}'"):
            replace(memory).ask("why?", relevance=relevance)

    def test_nothing_is_refused_where_the_system_does_not_tell(self, memory, monkeypatch):
        monkeypatch.setattr(files, "free_memory", lambda: None)
        assert replace(memory).ask("why?", relevance="lexical").after is not None


@pytest.mark.parametrize("path", ["nothing.npz", ".", "a/b.json", "x" * 5000, "a\0b"])
def test_a_path_that_cannot_be_read_is_named(tmp_path, path):
    (tmp_path / "a").write_text("")
    with pytest.raises(StoreError, match=r"there is no file|is a folder|cannot be read"):
        segviz.open(f"{tmp_path}/{path}")
    with pytest.raises(StoreError, match="cannot be read"):
        segviz.open("~nobody-of-this-name/m.json")


def test_a_file_without_permission_says_so(tmp_path, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store.files, "opened", refused)
    with pytest.raises(StoreError, match=r"\(Permission denied\); check the path"):
        segviz.open(tmp_path / "secret.json")


def test_settings_name_the_components_and_their_parameters(memory):
    assert memory.settings["compatibility"] == {"name": "cosine", "threshold": 0.175}
    assert memory.settings["annotate"]["name"] == "extractive"
    assert memory.settings["refresh"] == "eager"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{"format":"segviz-memory","version":2', True),
        (b'\xef\xbb\xbf {"version": 2,\n "format" :  "segviz-memory"', True),
        (b'[{"format":"segviz-memory"}]', False),
        (b"\x1f\x8b\x08", False),
        (b"", False),
        (b"[1]", False),
    ],
)
def test_what_counts_as_a_saved_memory(head, expected):
    assert store.recognises(head) is expected
