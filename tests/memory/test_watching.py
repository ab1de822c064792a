"""A file that grows: what is read off it, what is built of it, and what a restart goes on with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import segviz
from segviz.conversation import sample_path
from segviz.memory import Watched, open_memory
from segviz.memory.watching import LONGEST_LINE, Tail
from segviz.tree import replay

TURNS = [turn for each in segviz.load(sample_path("ines-theo")) for turn in each.turns][:160]


def line(number, **more):
    turn = TURNS[number % len(TURNS)]
    return json.dumps({"role": turn.speaker, "content": turn.text or "…", **more}) + "\n"


def written(path, numbers, **more):
    with path.open("a") as stream:
        stream.writelines(line(number, **more) for number in numbers)


OPEN = []


def watching(*given, **more):
    OPEN.append(Watched(*given, **more))
    return OPEN[-1]


@pytest.fixture(autouse=True)
def _closed():
    yield
    while OPEN:
        OPEN.pop().close()


def drained(watched):
    while watched.poll():
        pass
    return watched


def plain(steps):
    """Steps as values that compare: all but vectors and seconds."""
    return [
        (
            step.unit,
            step.note,
            step.decision and (step.decision.chosen, step.decision.why),
            [
                tuple(getattr(e, name) for name in type(e).__slots__ if name != "vector")
                for e in step.events
            ],
            (step.cost.annotated, step.cost.inspected, step.cost.modified),
        )
        for step in steps
    ]


def same(grown, other):
    assert grown.conversation.turns == other.conversation.turns
    assert plain(grown.steps) == plain(other.steps)
    ours, theirs = grown.structure, replay(other.steps)
    assert ours.text == theirs.text
    assert np.array_equal(ours.edges, theirs.edges)
    assert np.allclose(ours.vector, theirs.vector, atol=1e-5)
    assert not grown.check()


# --- lines ---------------------------------------------------------------------------------------


def read(tail):
    return [text for _, text in tail.lines()]


def test_a_line_is_read_once_and_only_when_it_has_its_end(tmp_path):
    path = tmp_path / "a.jsonl"
    tail = Tail(path)
    assert read(tail) == []  # not there yet
    path.write_bytes(b"one\ntw")
    assert read(tail) == [b"one\n"]
    assert read(tail) == []
    with path.open("ab") as stream:
        stream.write(b"o\r\nthree\n")
    assert read(tail) == [b"two\r\n", b"three\n"]
    assert (tail.offset, tail.begun) == (path.stat().st_size, 0)
    tail.close()


@pytest.mark.parametrize("left", [b"", b"five\n", b"another beginning\n" * 40])
def test_a_file_that_was_cut_or_written_over_is_begun_anew(tmp_path, left):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"a line of some length\n" * 30)
    tail = Tail(path)
    assert len(read(tail)) == 30
    with path.open("r+b") as stream:  # the same file
        stream.truncate(0)
        stream.write(left)
    assert read(tail) == left.splitlines(keepends=True)
    assert tail.begun == 1
    tail.close()


def test_of_a_file_that_was_moved_away_nothing_is_lost(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    tail = Tail(path)
    assert read(tail) == [b"one\n"]
    writer = path.open("ab")
    path.rename(tmp_path / "a.jsonl.1")
    writer.write(b"two\nthr")  # who writes has not noticed yet
    writer.flush()
    assert read(tail) == [b"two\n"]
    writer.write(b"ee")
    writer.close()
    path.write_bytes(b"four\n")
    assert read(tail) == [b"three"]
    assert read(tail) == [b"four\n"]
    assert (tail.begun, tail.offset) == (1, 5)
    tail.close()


def test_a_line_without_end_is_passed_over_within_bounds(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * (LONGEST_LINE + 10))
    tail = Tail(path)
    tracemalloc.start()
    assert [read(tail), read(tail)] == [[], []]
    assert tracemalloc.get_traced_memory()[1] < 3 * LONGEST_LINE
    tracemalloc.stop()
    with path.open("ab") as stream:
        stream.write(b"yy\nnext\n")
    assert read(tail) == [b"?", b"next\n"]
    tail.close()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a pipe"):
        Tail(tmp_path / "pipe").lines()


# --- trees ---------------------------------------------------------------------------------------


def test_it_grows_into_the_tree_that_a_build_gives(tmp_path):
    path = tmp_path / "a.jsonl"
    watched = watching(path)
    assert (watched.poll(), watched.memory) == (0, None)
    for first in range(0, 150, 30):
        written(path, range(first, first + 30))
        assert watched.poll() == 30
        now = watched.memory
        assert now is watched.memory
        built = segviz.build(now.conversation, unit="turn")
        same(now, built)
        assert now.units == now.conversation.units("turn") == built.units
    fresh = segviz.load(path)[0]
    assert [(t.id, t.text) for t in fresh.turns] == [(t.id, t.text) for t in now.conversation.turns]


def test_every_shape_of_line_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": [{"type": "text", "text": "One"}]},
        {"speaker": "Ada", "text": "Two", "timestamp": "2025-03-01T10:00:00"},
        {"messages": [{"role": "user", "content": "Three"}, {"role": "assistant", "content": "F"}]},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"conversations": [{"from": "human", "value": "Five"}, {"from": "gpt", "value": "Six"}]},
        {"role": "user", "content": "<script>alert(1)</script>\u0000"},
    ]
    text = "".join(json.dumps(each) + "\n" for each in lines)
    path.write_text(f"\n{text}not json\n[1, 2]\nnull\n", encoding="utf-8")
    watched = drained(watching(path))
    said = [(t.speaker, t.text) for t in watched.memory.conversation.turns]
    assert [text for _, text in said[:6]] == ["One", "Two", "Three", "F", "Five", "Six"]
    assert said[6] == ("user", "<script>alert(1)</script>\ufffd")
    assert watched.skipped == 5  # system, a call of a tool, three that are none


def test_sessions_begin_by_name_and_by_silence(tmp_path):
    path = tmp_path / "a.jsonl"
    written(path, [0, 1], timestamp="2025-03-01T10:00:00")
    written(path, [2], timestamp="2025-03-02T10:00:00")
    written(path, [3], session="evening")
    written(path, [4], session="evening", timestamp="2025-04-02T10:00:00")
    written(path, [5], session="morning")
    watched = drained(watching(path))
    conversation = watched.memory.conversation
    assert [len(each.turns) for each in conversation.sessions] == [2, 1, 2, 1]
    assert [each.start and each.start.day for each in conversation.sessions] == [1, 2, None, None]
    assert conversation.turns[-1].id == "S4:1"
    same(watched.memory, segviz.build(conversation, unit="turn"))


# --- restarts ------------------------------------------------------------------------------------


class Counting:
    """An embedder that counts the texts it is given."""

    def __init__(self):
        self._inner, self.texts = segviz.embedding.get_embedder("auto"), 0
        self.name = self._inner.name

    def embed(self, texts):
        self.texts += len([text for text in texts if text])
        return self._inner.embed(texts)


def test_a_restart_inserts_nothing_again(tmp_path):
    path = tmp_path / "a.jsonl"
    written(path, range(70))
    first = drained(watching(path))
    first.save()
    undisturbed = drained(watching(path, tmp_path / "other"))
    counting = Counting()
    second = watching(path, embedder=counting)
    counting.texts = 0
    assert (second.poll(), counting.texts) == (0, 0)
    same(second.memory, undisturbed.memory)
    written(path, range(70, 140))
    drained(second), drained(undisturbed)
    same(second.memory, undisturbed.memory)
    assert second.turns == 140


def test_what_came_after_the_last_save_is_built_again_after_a_kill(tmp_path):
    path = tmp_path / "a.jsonl"
    written(path, range(30))
    drained(watching(path, part=1_000)).save()
    written(path, range(30, 45))
    lost = drained(watching(path, part=1_000))
    assert lost.unsaved == 15  # and is never saved
    after = drained(watching(path, part=1_000))
    assert after.turns == 45
    same(after.memory, lost.memory)


def test_parts_are_saved_and_memory_stays_bounded(tmp_path):
    path = tmp_path / "a.jsonl"
    watched = watching(path, part=40)
    written(path, range(100))
    drained(watched)
    assert (watched.part, watched.turns, len(watched.memory.steps)) == (3, 100, 20)
    parts = [open_memory(watched.folder / f"part-000{n}.npz") for n in (1, 2)]
    together = [t for m in (*parts, watched.memory) for t in m.conversation.turns]
    assert [t.text for t in together] == [TURNS[n].text or "…" for n in range(100)]
    assert [t.id for t in together] == [f"S1:{n}" for n in range(1, 101)]
    for memory in (*parts, watched.memory):
        same(memory, segviz.build(memory.conversation, unit="turn"))
    again = drained(watching(path, part=40))
    assert (again.part, again.turns) == (3, 100)
    assert sorted(each.name for each in watched.folder.iterdir()) == [
        "part-0001.npz", "part-0002.npz", "part-0003-20.npz", "watch.json",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "state",
    ["", "{}", "[]", '{"format": "segviz-watch", "version": 2}', "\x00", '{"offset": "x"}'],
)
def test_a_damaged_state_is_refused_with_what_to_do(tmp_path, state):
    path = tmp_path / "a.jsonl"
    written(path, range(3))
    drained(watching(path)).save()
    (tmp_path / "a.jsonl.segviz" / "watch.json").write_text(state)
    with pytest.raises(ValueError, match=r"a\.jsonl\.segviz.* cannot be used .* move the folder"):
        watching(path)


def test_a_state_of_another_embedder_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    written(path, range(3))
    drained(watching(path)).save()
    with pytest.raises(ValueError, match="embedded with"):
        watching(path, embedder="hashing")


def test_a_rotated_file_goes_on_with_the_same_tree(tmp_path):
    path = tmp_path / "a.jsonl"
    written(path, range(10))
    watched = drained(watching(path))
    path.rename(tmp_path / "old")
    written(path, range(10, 20))
    for _ in range(3):
        watched.poll()
    assert len(watched.memory.steps) == 20
    same(watched.memory, segviz.build(watched.memory.conversation, unit="turn"))
    watched.save()
    assert drained(watching(path)).turns == 20  # the state speaks of the new file


def test_lazy_refresh_cannot_be_watched(tmp_path):
    with pytest.raises(ValueError, match="lazily"):
        watching(tmp_path / "a.jsonl", system=segviz.SegmentTree(refresh="lazy"))


# --- writing -------------------------------------------------------------------------------------


class Dumped:
    def model_dump(self, mode):
        return {"role": "assistant", "content": "From an API", "refusal": None}


def test_an_agent_writes_what_is_watched(tmp_path):
    path = tmp_path / "a.jsonl"
    watch = segviz.Watch(path)
    watch({"role": "user", "content": "A question\nin two lines"})
    watch(Dumped())
    watch("Ada", "By name")
    for wrong in (3, "no text", None):
        with pytest.raises(TypeError, match="expected a message"):
            watch(wrong)
    watched = drained(watching(path))
    assert [(t.speaker, t.text) for t in watched.memory.conversation.turns] == [
        ("user", "A question\nin two lines"),
        ("assistant", "From an API"),
        ("Ada", "By name"),
    ]
    assert watched.memory.conversation.sessions[0].start is not None


def test_several_processes_write_one_file(tmp_path):
    path = tmp_path / "a.jsonl"
    script = (
        "import sys; from segviz.memory import Watch; w = Watch(sys.argv[1]);"
        "[w('agent ' + sys.argv[2], 'turn ' * 400 + str(n)) for n in range(60)]"
    )
    command = [sys.executable, "-c", script, str(path)]
    running = [subprocess.Popen([*command, str(n)]) for n in range(2)]
    assert [each.wait(120) for each in running] == [0, 0]
    watched = drained(watching(path))
    assert (watched.turns, watched.skipped) == (120, 0)
