from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from segviz.llm import ModelCache, ModelError, OpenAIChat, OpenAIEmbedder, Prompt
from segviz.llm.cache import Completion, Embedding, content_key
from tests.llm import server as wire
from tests.llm.conftest import KEY, Bench

ROOT = Path(__file__).parents[2]


def key(number: int) -> bytes:
    return content_key("chat", "e", number)


def run(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "er" / "models.sqlite"


def test_what_is_kept_comes_back_also_later(path: Path):
    rows = {
        key(1): Embedding(np.array([0.6, 0.8], np.float32), 7),
        key(2): Embedding(np.array([1, 0], np.float32)),
    }
    with ModelCache(path) as cache:
        cache.keep_completion(key(0), Completion("täxt\x00", 3, 4))
        cache.keep_completion(key(0), Completion("later", 0, 0))
        cache.keep_embeddings(rows)
        cache.keep_embeddings({})
    with ModelCache(path) as cache:
        assert cache.completion(key(0)) == ("täxt\x00", 3, 4)
        assert cache.completion(key(9)) is None
        found = cache.embeddings([key(2), key(1), key(9)])
        assert set(found) == set(rows)
        assert all(np.array_equal(found[k].vector, rows[k].vector) for k in rows)
        assert [found[key(n)].tokens for n in (1, 2)] == [7, 0]
        assert found[key(1)].vector.dtype == np.float32
        assert cache.embeddings([]) == {}
        assert len(cache.embeddings([key(n) for n in range(2000)])) == 2
        assert cache.counts() == (1, 2)
        assert cache.notes == ()
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_without_tokens_of_embeddings_is_read_and_goes_on(path: Path):
    with ModelCache(path) as cache:
        cache.keep_embeddings({key(1): Embedding(np.ones(2, np.float32), 5)})
    db = sqlite3.connect(path)
    db.execute("ALTER TABLE embeddings DROP COLUMN tokens")
    db.close()
    with ModelCache(path) as cache:
        cache.keep_embeddings({key(2): Embedding(np.ones(2, np.float32), 5)})
        assert [cache.embeddings([key(n)])[key(n)].tokens for n in (1, 2)] == [0, 5]
        assert cache.notes == ()


def test_clearing_forgets_everything_and_gives_the_room_back(path: Path):
    with ModelCache(path) as cache, ModelCache(path) as other:
        for number in range(200):
            cache.keep_completion(key(number), Completion("x" * 5000, 1, 1))
        assert cache.size > 1_000_000
        other.clear()
        assert cache.counts() == (0, 0)
        assert cache.completion(key(0)) is None
        assert other.size < 100_000
        cache.keep_completion(key(0), Completion("again", 1, 1))
        assert other.completion(key(0)) == ("again", 1, 1)
        assert (cache.notes, other.notes) == ((), ())
    assert path.stat().st_size < 100_000


def test_in_memory():
    with ModelCache() as one, ModelCache() as two:
        one.keep_completion(key(0), Completion("a", 0, 0))
        assert one.completion(key(0))
        assert two.completion(key(0)) is None


def test_keys_depend_on_everything():
    keys = {
        content_key(kind, identity, request)
        for kind in ("chat", "embedding")
        for identity in ("a", "b")
        for request in ("x", ["x"], ["x", ""], ["", "x"], "x\ud800")
    }
    assert len(keys) == 20
    assert content_key("chat", "a", {"p": 1, "q": 2}) == content_key("chat", "a", {"q": 2, "p": 1})


def test_several_threads_share_one_object(path: Path):
    def work(start: int) -> None:
        for number in range(start, start + 50):
            cache.keep_completion(key(number), Completion(str(number), 1, 1))
            found = cache.completion(key(number))
            assert found is not None
            assert found.text == str(number)

    with ModelCache(path) as cache:
        threads = [threading.Thread(target=work, args=(start * 40,)) for start in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert cache.counts() == (250, 0)
        assert cache.notes == ()


WRITER = """
import sys, numpy as np
from segviz.llm.cache import Completion, Embedding, ModelCache, content_key
start = int(sys.argv[2])
with ModelCache(sys.argv[1]) as cache:
    for number in range(start, start + 100):
        cache.keep_completion(content_key("chat", "e", number), Completion(str(number), 1, 1))
        cache.keep_embeddings(
            {content_key("embedding", "e", number): Embedding(np.ones(3, np.float32))}
        )
    assert cache.notes == (), cache.notes
"""


@pytest.mark.slow
def test_several_processes_share_one_file(path: Path):
    writers = [run(WRITER, str(path), str(start)) for start in (0, 50, 100)]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors
    with ModelCache(path) as cache:
        assert cache.counts() == (200, 200)


def ask(bench: Bench) -> None:
    """What one of several processes on one cache does; the file is opened anew."""
    with ModelCache(bench.path) as cache:
        chat = OpenAIChat(bench.endpoint, cache)
        for number in range(10):
            assert chat.reply(Prompt("s", f"unit {number}")).text.startswith("Answer")
        texts = [f"text {number}" for number in range(300)]
        assert OpenAIEmbedder(bench.endpoint, cache).embed(texts).any(axis=1).all()
        assert cache.notes == ()


def ask_at_once(bench: Bench, threads: int) -> None:
    others = [threading.Thread(target=ask, args=(bench,)) for _ in range(threads)]
    for other in others:
        other.start()
    for other in others:
        other.join()


def test_what_is_asked_at_the_same_time_is_asked_once(bench: Bench):
    bench.server.delay = 0.05
    ask_at_once(bench, 3)
    assert len(bench.server.chats) == 10
    assert len(bench.server.embedded) == len(set(bench.server.embedded)) == 300
    assert bench.cache.counts() == (10, 300)


def test_a_claim_lasts_while_its_holder_waits(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("segviz.llm.cache.LEASE", 0.8)
    bench.server.script(wire.hang(2))
    ask_at_once(bench, 2)
    assert len(bench.server.chats) == 10


def test_a_claim_of_the_dead_is_over_in_time(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("segviz.llm.cache.LEASE", 0.5)
    prompt, began = Prompt("s", "unit"), time.monotonic()
    with bench.cache.claimed([bench.chat()._key("chat", prompt)]) as (mine, _):
        assert len(mine) == 1
        assert bench.chat().reply(prompt).text.startswith("Answer")  # nobody renews the claim
    assert 0.4 < time.monotonic() - began < 20
    assert len(bench.server.requests) == 1
    tries: list[object] = []
    whole = bench.cache.claimed
    monkeypatch.setattr(bench.cache, "claimed", lambda keys: tries.append(keys) or whole(keys))
    embedder = bench.embedder()
    with ModelCache(bench.path) as other, other.claimed([*embedder._keys(["b"]).values()]):
        assert embedder.embed(["a", "b"]).any(axis=1).all()
    assert bench.server.embedded == ["a", "b"]
    assert 3 <= len(tries) < 20, "it waits between two tries"
    monkeypatch.undo()
    later, owner = time.time() + 1000, b"before the clock was set back"
    bench.cache._db.execute("INSERT INTO claims VALUES (?, ?, ?)", (key(1), owner, later))
    with bench.cache.claimed([key(1), key(2)]) as (mine, _):
        assert mine == {key(1), key(2)}
        with ModelCache(bench.path) as other, other.claimed([key(2), key(3)]) as (rest, _):
            assert rest == {key(3)}
    bench.cache.keep_completion(key(2), Completion("kept", 0, 0))
    with bench.cache.claimed([key(2)]) as (mine, _):
        assert mine == set(), "what is kept is not asked for"


def test_a_failed_call_leaves_no_claim(bench: Bench):
    bench.server.script(wire.status(401), wire.status(401))
    for work in (lambda: bench.chat().reply(Prompt("s", "u")), lambda: bench.embedder().embed("a")):
        with pytest.raises(ModelError):
            work()
    assert bench.cache._run("SELECT * FROM claims") == []


BUILDER = """
import sys
from segviz.llm import Endpoint, ModelCache, OpenAIChat, OpenAIEmbedder
from segviz.llm import Prompt
endpoint = Endpoint(sys.argv[1], "small", "embed-small", key="k-12345678")
count = int(sys.argv[3])
cache = ModelCache(sys.argv[2])
OpenAIEmbedder(endpoint, cache).embed(["one", "two"])
chat = OpenAIChat(endpoint, cache)
for number in range(count):
    chat.reply(Prompt("s", f"unit {number}"))
    print(number, flush=True)
"""


@pytest.mark.slow
def test_several_processes_make_each_call_once(bench: Bench):
    bench.server.delay = 0.02
    builders = [run(BUILDER, bench.server.url, str(bench.path), "39") for _ in range(3)]
    for builder in builders:
        _, errors = builder.communicate(timeout=120)
        assert builder.returncode == 0, errors
    assert len(bench.server.chats) == 39
    assert sorted(bench.server.embedded) == ["one", "two"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.slow
def test_a_killed_build_has_lost_nothing_that_was_finished(bench: Bench):
    builder = run(BUILDER, bench.server.url, str(bench.path), "1000")
    assert builder.stdout is not None
    for line in builder.stdout:
        if line.strip() == "5":
            os.kill(builder.pid, signal.SIGKILL)
            break
    builder.communicate(timeout=120)
    assert builder.returncode == -signal.SIGKILL
    finished = [Prompt("s", f"unit {number}") for number in range(6)]
    before = len(bench.server.requests)
    assert all(reply.cached for reply in bench.chat().replies(finished))
    assert bench.embedder().embed(["two", "one"]).shape == (2, 16)
    assert len(bench.server.requests) == before


@pytest.mark.parametrize(
    "content", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000, b"{}"]
)
def test_a_damaged_file_is_set_aside_and_said(path: Path, content: bytes):
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with ModelCache(path) as cache:
        (note,) = cache.notes
        assert "models.sqlite.damaged-1" in note
        cache.keep_completion(key(0), Completion("new", 0, 0))
        assert cache.completion(key(0)) == ("new", 0, 0)
    assert path.with_name("models.sqlite.damaged-1").read_bytes() == content
    with ModelCache(path) as cache:
        assert cache.notes == ()
        assert cache.completion(key(0)) == ("new", 0, 0)


def test_damage_while_open_costs_only_what_was_kept(path: Path):
    with ModelCache(path) as cache:
        for number in range(200):
            cache.keep_completion(key(number), Completion("x" * 2000, 0, 0))
        cache._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
        cache._db.execute("PRAGMA shrink_memory")
        for number in range(200):
            cache.completion(key(number))
        cache.keep_completion(key(999), Completion("after", 0, 0))
        assert cache.completion(key(999)) == ("after", 0, 0)
        assert any("damaged" in note for note in cache.notes)
    assert path.with_name("models.sqlite.damaged-1").exists()


def test_two_objects_do_not_set_aside_each_others_new_file(path: Path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"rubbish" * 1000)
    with ModelCache(path) as one, ModelCache(path) as two:
        one.keep_completion(key(0), Completion("kept", 0, 0))
        two._trouble(sqlite_corrupt())
        assert two.completion(key(0)) == ("kept", 0, 0)
    assert not path.with_name("models.sqlite.damaged-2").exists()


def sqlite_corrupt() -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def test_a_file_of_another_version_is_set_aside(path: Path):
    path.parent.mkdir(parents=True)
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with ModelCache(path) as cache:
        assert "another version" in cache.notes[0]
        cache.keep_completion(key(0), Completion("a", 0, 0))
        assert cache.completion(key(0))


def test_a_place_that_cannot_be_written_is_said_and_passed_over(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    with ModelCache(tmp_path / "file" / "models.sqlite") as cache:
        assert "kept in memory" in cache.notes[0]
        cache.keep_completion(key(0), Completion("a", 0, 0))
        assert cache.completion(key(0))


def test_a_limit_drops_the_oldest_of_both_kinds(path: Path):
    with ModelCache(path, limit_bytes=200_000) as cache:
        for number in range(300):
            cache.keep_completion(key(number), Completion("x" * 1000, 1, 1))
            cache.keep_embeddings({key(1000 + number): Embedding(np.ones(250, np.float32))})
        texts = [number for number in range(300) if cache.completion(key(number))]
        rows = [n for n in range(300) if cache.embeddings([key(1000 + n)])]
        for left in (texts, rows):
            assert left == list(range(left[0], 300))
            assert 20 < len(left) < 150
        assert abs(texts[0] - rows[0]) <= 1
    assert path.stat().st_size < 600_000


def test_one_entry_beyond_the_limit_does_no_harm():
    with ModelCache(limit_bytes=100_000) as cache:
        cache.keep_completion(key(0), Completion("x" * 500_000, 1, 1))
        cache.keep_completion(key(1), Completion("y", 1, 1))
        assert cache.completion(key(1))
    with pytest.raises(ValueError, match=r"limit_bytes is 5; legal range"):
        ModelCache(limit_bytes=5)


def test_neither_key_nor_question_is_in_the_file(bench: Bench):
    url = bench.server.url.replace("http://", "http://user:passw0rd-long@")
    bench.chat(base_url=url).reply(Prompt("system words", "secret question"))
    bench.embedder(base_url=url).embed(["secret text"])
    for file in bench.path.parent.iterdir():
        content = file.read_bytes()
        for secret in (KEY, "passw0rd-long", "system words", "secret question", "secret text"):
            assert secret.encode() not in content
