import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from segviz.llm import ModelCache, OpenAIChat, Prompt
from segviz.llm.cache import Completion, content_key
from tests.data import ROOT
from tests.llm import server as wire
from tests.llm.conftest import KEY, Bench

PROMPT = Prompt("s", "u")


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
    rows = {key(1): np.array([0.6, 0.8], np.float32), key(2): np.array([1, 0], np.float32)}
    with ModelCache(path) as cache:
        cache.keep_completion(key(0), Completion("täxt\x00", 3, 4, "stop", "fp"))
        cache.keep_completion(key(0), Completion("later", 0, 0))
        cache.keep_embeddings(rows)
        cache.keep_embeddings({})
    with ModelCache(path) as cache:
        assert cache.completion(key(0)) == ("täxt\x00", 3, 4, "stop", "fp")
        assert cache.completion(key(9)) is None
        found = cache.embeddings([key(2), key(1), key(9)])
        assert set(found) == set(rows)
        assert all(np.array_equal(found[k], rows[k]) for k in rows)
        assert found[key(1)].dtype == np.float32
        assert cache.embeddings([]) == {}
        assert len(cache.embeddings([key(n) for n in range(1, 2000)])) == 2
        assert cache.counts() == (1, 2)
        assert cache.notes == ()
    assert path.stat().st_mode & 0o077 == 0


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
        assert other.completion(key(0)) == ("again", 1, 1, "", "")
        assert (cache.notes, other.notes) == ((), ())
    assert path.stat().st_size < 100_000


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
"""


@pytest.mark.slow
def test_several_processes_build_with_one_file(bench: Bench):
    bench.server.delay = 0.02
    builders = [run(BUILDER, bench.server.url, str(bench.path), "39") for _ in range(3)]
    for builder in builders:
        _, errors = builder.communicate(timeout=120)
        assert builder.returncode == 0, errors
    assert bench.cache.counts() == (39, 2)


def test_the_first_of_two_answers_to_one_prompt_counts(bench: Bench):
    """A build that runs at the same time as another gets what a rebuild will get."""

    def answer(request: wire.Body) -> str:
        if len(bench.server.requests) > 1:
            return "first"
        with ModelCache(bench.path) as cache:  # another process is faster
            OpenAIChat(bench.endpoint, cache).reply(PROMPT)
        return "second"

    bench.server.answer = answer
    assert [bench.chat().reply(PROMPT).text for _ in range(2)] == ["first", "first"]
    assert bench.cache.counts() == (1, 0)


@pytest.mark.parametrize("content", [b"not a database" * 100, None])
def test_a_file_that_cannot_be_used_is_said_and_left_as_it_is(tmp_path: Path, content):
    path = tmp_path / "models.sqlite" if content else tmp_path / "file" / "models.sqlite"
    damaged = path if content else path.parent
    damaged.write_bytes(content or b"in the way")
    with ModelCache(path) as cache:
        assert "kept in memory" in cache.notes[0]
        cache.keep_completion(key(0), Completion("a", 0, 0))
        assert cache.completion(key(0))
    assert damaged.read_bytes() == (content or b"in the way")


def test_damage_while_open_stops_nothing(path: Path):
    with ModelCache(path) as cache:
        for number in range(200):
            cache.keep_completion(key(number), Completion("x" * 2000, 0, 0))
    with ModelCache(path) as cache:
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (path.stat().st_size - 4096))
        for number in range(200):
            cache.completion(key(number))
        kept = cache.keep_completion(key(999), Completion("after", 0, 0))
        assert kept.text == "after"
        assert "could not be read or written" in cache.notes[0]


def test_a_file_beyond_the_limit_loses_the_older_half_when_opened(path: Path):
    with ModelCache(path, limit_bytes=300_000) as cache:
        for number in range(100):
            cache.keep_completion(key(number), Completion("x" * 3000, 1, 1))
            cache.keep_embeddings({key(1000 + number): np.ones(9, np.float32)})
        assert cache.counts() == (100, 100)
    for _ in range(2):
        with ModelCache(path, limit_bytes=300_000) as cache:
            assert cache.counts() in ((50, 50), (49, 50))
            assert cache.completion(key(99))
            assert cache.completion(key(0)) is None
            assert cache.size < 300_000


def test_neither_key_nor_question_is_in_the_file(bench: Bench):
    bench.chat().reply(Prompt("system words", "secret question"))
    bench.embedder().embed(["secret text"])
    for file in bench.path.parent.iterdir():
        content = file.read_bytes()
        for secret in (KEY, "system words", "secret question", "secret text"):
            assert secret.encode() not in content


def listing(**traits: object) -> list[wire.Body]:
    return [{"id": "small", "object": "model", "created": 1, **traits}]


def test_replies_are_kept_by_model_and_not_by_address(bench: Bench):
    bench.chat().reply(PROMPT)
    with wire.ModelServer() as elsewhere:
        assert bench.chat(base_url=elsewhere.url).reply(PROMPT).cached
        assert elsewhere.requests == []


def test_weights_that_are_swapped_under_one_name_are_asked_again(bench: Bench):
    bench.server.models = listing(meta={"n_params": 494_032_768})
    bench.chat().reply(PROMPT)
    assert bench.chat().reply(PROMPT).cached
    bench.server.models = listing(meta={"n_params": 1_543_714_304})
    assert not bench.chat().reply(PROMPT).cached
    assert bench.chat().about("decision")["fingerprint"]


def test_kept_replies_are_found_while_the_server_is_away(bench: Bench):
    bench.server.models = listing(root="/models/small.gguf")
    known = bench.chat()
    known.reply(PROMPT)
    bench.server.models = []  # as of a server that does not answer
    away = bench.chat()
    assert away.reply(PROMPT).cached
    assert away.about("decision")["fingerprint"] == known.about("decision")["fingerprint"]


def test_what_changes_by_the_hour_or_setting_is_no_fingerprint(bench: Bench):
    bench.server.models = listing(created=1, permission=["a"], meta={"size": 9, "n_ctx": 4096})
    bench.chat().reply(PROMPT)
    bench.server.models = listing(created=2, permission=["b"], meta={"size": 9, "n_ctx": 2048})
    assert bench.chat().reply(PROMPT).cached
