"""A file that is still being written: its lines, the tree built of it, and who writes it."""

import json
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import segviz
from segviz.conversation import sample_path
from segviz.memory import Watched, live
from segviz.memory.live import LONGEST_LINE, Tail
from segviz.tree import replay

TURNS = [turn for each in segviz.load(sample_path("ines-theo")) for turn in each.turns][:160]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.jsonl"


def line(number, **more):
    turn = TURNS[number % len(TURNS)]
    return json.dumps({"role": turn.speaker, "content": turn.text or "…", **more}) + "\n"


def written(path, numbers, **more):
    with path.open("a") as stream:
        stream.writelines(line(number, **more) for number in numbers)


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


def test_a_line_is_read_once_and_only_when_it_has_its_end(path):
    tail = Tail(path)
    assert tail.lines() == (False, [])  # not there yet
    path.write_bytes(b"one\ntw")
    assert tail.lines() == (False, [b"one"])
    assert tail.lines() == (False, [])
    with path.open("ab") as stream:
        stream.write(b"o\n\nthree\n")
    assert tail.lines() == (False, [b"two", b"three"])
    assert tail.offset == path.stat().st_size


def test_a_whole_object_needs_no_end_of_line(path):
    path.write_bytes(b'{"a": 1}\n{"a": {"b": 2}')
    tail = Tail(path)
    assert tail.lines() == (False, [b'{"a": 1}'])
    with path.open("ab") as stream:
        stream.write(b"}")
    assert tail.lines() == (False, [b'{"a": {"b": 2}}'])
    with path.open("ab") as stream:
        stream.write(b'\n{"a": 3}')
    assert tail.lines() == (False, [b'{"a": 3}'])


def test_a_line_without_end_is_passed_over_within_bounds(path):
    path.write_bytes(b"x" * (LONGEST_LINE + 10))
    watched = Watched(path)
    tracemalloc.start()
    assert [watched.poll(), watched.poll()] == [0, 0]
    assert tracemalloc.get_traced_memory()[1] < 5 * LONGEST_LINE
    tracemalloc.stop()
    with path.open("a") as stream:
        stream.write(f"yy\n{line(0)}")
    assert (watched.poll(), watched.skipped) == (1, 2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a pipe"):
        Tail(tmp_path / "pipe").lines()


# --- trees ---------------------------------------------------------------------------------------


def test_it_grows_into_the_tree_that_a_build_gives(path):
    watched = Watched(path)
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


def test_every_shape_of_line_is_read(path):
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
    watched = drained(Watched(path))
    said = [(t.speaker, t.text) for t in watched.memory.conversation.turns]
    assert [text for _, text in said[:6]] == ["One", "Two", "Three", "F", "Five", "Six"]
    assert said[6] == ("user", "<script>alert(1)</script>\ufffd")
    assert watched.skipped == 5  # system, a call of a tool, three that are none


def test_sessions_begin_by_name_and_by_silence(path):
    written(path, [0, 1], timestamp="2025-03-01T10:00:00")
    written(path, [2], timestamp="2025-03-02T10:00:00")
    written(path, [3], session="evening")
    written(path, [4], session="evening", timestamp="2025-04-02T10:00:00")
    written(path, [5], session="morning")
    watched = drained(Watched(path))
    conversation = watched.memory.conversation
    assert [len(each.turns) for each in conversation.sessions] == [2, 1, 2, 1]
    assert [each.start and each.start.day for each in conversation.sessions] == [1, 2, None, None]
    assert conversation.turns[-1].id == "S4:1"
    same(watched.memory, segviz.build(conversation, unit="turn"))


# --- files that change ---------------------------------------------------------------------------


def in_place(path, text):
    with path.open("r+b" if path.exists() else "wb") as stream:
        stream.write(text.encode())
        stream.truncate()


def by_rename(path, text):
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


def in_halves(path, text):
    """Empties the file first, as ``open(path, "w")`` does; a write may come in parts."""
    with path.open("w") as stream:
        stream.write(text[: len(text) // 2])
        stream.flush()
        stream.write(text[len(text) // 2 :])


def after_removal(path, text):
    path.unlink(missing_ok=True)
    path.write_text(text)


def by_appending(path, text):
    """Only what is new, where the file is the beginning of it."""
    known = path.read_text() if path.exists() else ""
    if not text.startswith(known):
        return in_place(path, text)
    with path.open("a") as stream:
        stream.write(text[len(known) :])


WAYS = [in_place, by_rename, in_halves, after_removal, by_appending]


def said(watched):
    memory = watched.memory
    return [turn.text for turn in memory.conversation.turns] if memory else []


@pytest.mark.parametrize("write", WAYS)
@pytest.mark.parametrize("end", ["\n", ""])
def test_an_agent_that_writes_all_of_it_anew_makes_each_turn_one_leaf(path, write, end):
    watched = Watched(path)
    for count in range(1, 11):
        write(path, "".join(map(line, range(count))).rstrip("\n") + end)
        watched.poll()
        assert said(watched) == [TURNS[n].text or "…" for n in range(count)]
    assert (watched.turns, watched.readings) == (10, 1)
    same(watched.memory, segviz.build(watched.memory.conversation, unit="turn"))


HISTORIES = (
    [0, 1, 2, 30, 31],  # another file with the same first lines, shorter
    [0, 1, 2, *range(30, 60)],  # and longer
    [0, 1, 2, 3, 4, 25, *range(6, 20)],  # a turn in the middle is another
    [*range(5, 20), 40],  # the first turns are gone
    [0, 1],
    [],
)


@pytest.mark.parametrize(
    ("write", "numbers"),
    [*((write, HISTORIES[1]) for write in WAYS), *((in_place, those) for those in HISTORIES)],
)
def test_a_history_that_was_changed_is_read_again_and_said(path, write, numbers):
    written(path, range(20))
    watched = drained(Watched(path))
    # From the file's own beginning, or from nothing, it goes on.
    back = 2 if numbers == list(range(len(numbers))) else 3
    for others, readings in ((numbers, 2), (range(20), back)):
        write(path, "".join(map(line, others)))
        drained(watched)
        assert said(watched) == [TURNS[n].text or "…" for n in others]
        assert watched.readings == readings
    same(watched.memory, segviz.build(watched.memory.conversation, unit="turn"))


def test_a_rewrite_of_equal_size_with_an_old_time_is_noticed(path, monkeypatch):
    monkeypatch.setattr(live, "_TICK", 0)
    written(path, range(3))
    tail = Tail(path)
    assert len(tail.lines()[1]) == 3
    tail.lines()
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b"a", b"b"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    again, lines = tail.lines()
    assert again
    assert len(lines) == 3


# --- writing -------------------------------------------------------------------------------------


class Dumped:
    def model_dump(self, mode):
        return {"role": "assistant", "content": "From an API", "refusal": None}


def test_an_agent_writes_what_is_watched(path):
    watch = segviz.Watch(path)
    watch({"role": "user", "content": "A question\nin two lines"})
    watch(Dumped())
    watch("Ada", "By name")
    for wrong in (3, "no text", None):
        with pytest.raises(TypeError, match="expected a message"):
            watch(wrong)
    watched = drained(Watched(path))
    assert [(t.speaker, t.text) for t in watched.memory.conversation.turns] == [
        ("user", "A question\nin two lines"),
        ("assistant", "From an API"),
        ("Ada", "By name"),
    ]
    assert watched.memory.conversation.sessions[0].start is not None


def test_several_processes_write_one_file(path):
    script = (
        "import sys; from segviz.memory import Watch; w = Watch(sys.argv[1]);"
        "[w('agent ' + sys.argv[2], 'turn ' * 400 + str(n)) for n in range(60)]"
    )
    command = [sys.executable, "-c", script, str(path)]
    running = [subprocess.Popen([*command, str(n)]) for n in range(2)]
    assert [each.wait(120) for each in running] == [0, 0]
    watched = drained(Watched(path))
    assert (watched.turns, watched.skipped) == (120, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files")
def test_a_line_that_does_not_fit_is_an_error_and_leaves_no_part(path):
    script = (
        "import resource, signal, sys; from segviz.memory import Watch; w = Watch(sys.argv[1])\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "w('user', 'It fits')\n"
        "try:\n    w('user', 'long ' * 2000)\n"
        "except OSError as error:\n    print(error.filename)\n"
        "w('user', 'It fits, too')\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == f"{path}\n"
    watched = drained(Watched(path))
    assert said(watched) == ["It fits", "It fits, too"]
    assert watched.skipped == 0


def test_a_line_left_without_its_end_spoils_no_other(path):
    path.write_text('{"speaker": "Ada", "te')
    segviz.Watch(path)("Ben", "Whole")
    watched = drained(Watched(path))
    assert (said(watched), watched.skipped) == (["Whole"], 1)
