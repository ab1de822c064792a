import numpy as np
import pytest

from segviz.llm import ModelError, OpenAIEmbedder, embedder
from segviz.text.words import EXAMINED
from tests.llm import server as wire
from tests.llm.conftest import Bench, limit, with_slow_timeout


def expected(texts: list[str]) -> np.ndarray:
    """The server's vectors at unit length."""
    rows = np.array([wire.vector(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_rows_are_unit_float32_and_in_order(bench: Bench):
    texts = ["red fox", "blue sea and sky", "red fox jumps"]
    model = bench.embedder()
    rows = model.embed(texts)
    assert rows.dtype == np.float32
    assert np.allclose(rows, expected(texts), atol=1e-6)
    assert bench.server.paths == ["/v1/embeddings"]
    sent = bench.server.requests[0]
    assert sent == {"model": "embed-small", "input": texts, "encoding_format": "float"}
    assert model.name == "openai:embed-small@" + bench.endpoint.host


def test_replies_out_of_order_are_put_right(bench: Bench):
    fault = wire.Fault(change=lambda reply: {**reply, "data": reply["data"][::-1]})
    bench.server.script(fault, wire.Fault(change=without_index))
    one = bench.embedder().embed(["a", "b", "c c d"])
    two = OpenAIEmbedder(bench.endpoint).embed(["a", "b", "c c d"])
    assert np.array_equal(one, two)


def without_index(reply: wire.Body) -> wire.Body:
    return {**reply, "data": [{"embedding": item["embedding"]} for item in reply["data"]]}


def test_empty_texts_are_zero_rows_and_never_sent(bench: Bench):
    model = bench.embedder()
    rows = model.embed(["", "word", " \n\t", "word"])
    assert not rows[[0, 2]].any()
    assert np.array_equal(rows[1], rows[3])
    assert model.embed([]).shape == (0, 16)
    assert model.embed([""]).shape == (1, 16)
    assert bench.server.embedded == ["word"]


def test_only_empty_texts_still_have_the_models_dimensions(bench: Bench):
    assert bench.embedder().embed([]).shape[0] == 0
    assert bench.server.requests == []
    for _ in range(2):
        assert bench.embedder().embed(["", ""]).shape == (2, 16)
        assert bench.server.embedded == ["text"]


def test_each_text_is_sent_once(bench: Bench):
    bench.embedder().embed(["a", "b", "a"])
    again = bench.embedder()
    rows = again.embed(["c", "b", "a"])
    assert bench.server.embedded == ["a", "b", "c"]
    assert again.usage.calls == 1
    assert np.array_equal(rows, OpenAIEmbedder(bench.endpoint).embed(["c", "b", "a"]))


def test_models_do_not_share_vectors_and_addresses_of_one_model_do(bench: Bench):
    bench.embedder().embed(["a"])
    bench.embedder(embedding_model="other").embed(["a"])
    with wire.ModelServer() as elsewhere:
        bench.embedder(base_url=elsewhere.url).embed(["a"])
        assert elsewhere.embedded == []
    assert bench.server.embedded == ["a", "a"]


def test_batches_are_bounded_by_count_and_characters(bench: Bench):
    bench.embedder(concurrency=1).embed([f"word {number}" for number in range(600)])
    assert [len(request["input"]) for request in bench.server.requests] == [256, 256, 88]
    bench.server.requests.clear()
    texts = [f"{number} " + "x" * 18_000 for number in range(25)]
    bench.embedder(concurrency=1).embed(texts)
    sizes = [sum(map(len, request["input"])) for request in bench.server.requests]
    assert max(sizes) <= embedder.BATCH_CHARACTERS
    assert len(sizes) == 3


def test_batches_run_at_once_within_the_bound(bench: Bench):
    bench.server.delay = 0.05
    texts = [f"word {number}" for number in range(256 * 6)]
    rows = bench.embedder(concurrency=3, timeout=5).embed(texts)
    assert 2 <= bench.server.most_at_once <= 3
    assert np.allclose(rows, expected(texts), atol=1e-6)


def replaced(embedding: object) -> wire.Fault:
    def change(reply: wire.Body) -> wire.Body:
        return {**reply, "data": [{**item, "embedding": embedding} for item in reply["data"]]}

    return wire.Fault(change=change)


def uneven(reply: wire.Body) -> wire.Body:
    first, *others = reply["data"]
    return {**reply, "data": [{**first, "embedding": [1.0]}, *others]}


FAULTS = {
    "count": wire.Fault(change=lambda r: {**r, "data": r["data"][:-1]}),
    "no data": wire.missing("data"),
    "numbered wrongly": wire.Fault(
        change=lambda r: {**r, "data": [{**item, "index": 0} for item in r["data"]]}
    ),
    "uneven": wire.Fault(change=uneven),
    "empty vector": replaced([]),
    "text": replaced("AACAPw=="),
    "NaN": replaced([float("nan")] * 16),
    "huge": replaced([10**400] * 16),
    "too large for a length": replaced([1e308] * 16),
    "too small for a length": replaced([1e-320] * 16),
    "500": wire.status(500),
    "broken": wire.broken(),
    "timeout": wire.hang(),
}


@pytest.mark.parametrize("name", with_slow_timeout(FAULTS))
def test_a_passing_fault_is_tried_again_and_a_lasting_one_reported(bench: Bench, name: str):
    bench.server.script(FAULTS[name])
    assert bench.embedder(**limit(name)).embed(["a", "b"]).shape == (2, 16)
    bench.server.script(*[FAULTS[name]] * 2)
    with pytest.raises(ModelError, match=r"embed-small.*Tried 2 times"):
        bench.embedder(retries=1, **limit(name)).embed(["c", "d"])
    assert bench.cache.counts() == (0, 2)


def test_other_dimensions_than_before_are_not_mixed_in(bench: Bench):
    model = bench.embedder(retries=1)
    model.embed(["a"])
    bench.server.fault = lambda request: wire.resize(7)
    with pytest.raises(ModelError, match=r"\[7\] dimensions, 16 expected"):
        model.embed(["b"])
    with pytest.raises(ModelError, match="dimensions"):
        bench.embedder(retries=0).embed(["a", "b"])


def test_a_cache_of_two_minds_is_reported(bench: Bench):
    bench.embedder().embed(["a"])
    bench.server.fault = lambda request: wire.resize(7)
    bench.embedder().embed(["b"])
    with pytest.raises(ModelError, match="Use a new cache"):
        bench.embedder().embed(["a", "b"])


def test_batches_that_finished_are_kept_when_one_fails(bench: Bench):
    texts = [f"word {number}" for number in range(256 * 4)]
    bench.server.fault = lambda r: wire.status(500) if "word 300" in r["input"] else None
    with pytest.raises(ModelError, match="500"):
        bench.embedder(retries=1, concurrency=1).embed(texts)
    assert bench.cache.counts() == (0, 256)
    bench.server.fault = lambda request: None
    bench.server.requests.clear()
    bench.embedder(concurrency=1).embed(texts)
    assert bench.server.embedded == texts[256:]


def test_a_server_with_a_smaller_batch_limit(bench: Bench):
    error = "batch size is invalid, it should not be larger than 10"
    bench.server.fault = lambda r: wire.status(400, error=error) if len(r["input"]) > 10 else None
    texts = [f"word {number}" for number in range(400)]
    rows = bench.embedder(concurrency=1).embed(texts)
    assert rows.shape == (400, 16)
    assert np.array_equal(rows, OpenAIEmbedder(bench.endpoint).embed(texts))


def test_a_text_too_long_for_the_server_is_cut_without_touching_the_others(bench: Bench):
    error = "This model's maximum context length is 2048 tokens"

    def fault(request: wire.Body) -> wire.Fault | None:
        return wire.status(400, error=error) if max(map(len, request["input"])) > 3000 else None

    bench.server.fault = fault
    long = "long words " * 2000
    rows = bench.embedder().embed(["a", long, "b"])
    alone = OpenAIEmbedder(bench.endpoint)
    assert np.array_equal(rows[[0, 2]], alone.embed(["a", "b"]))
    assert np.array_equal(rows[[1]], alone.embed([long]))
    bench.server.fault = lambda request: wire.status(400, error="text too long, whatever you do")
    with pytest.raises(ModelError, match="too long"):
        bench.embedder().embed(["another"])


def test_hostile_text(bench: Bench):
    rows = bench.embedder().embed(["\ud800", "\x00", "x" * 100_000])
    assert rows.shape == (3, 16)
    assert bench.server.embedded[0] == "?"
    assert max(map(len, bench.server.embedded)) == EXAMINED


def test_an_embedding_model_must_be_named(bench: Bench):
    with pytest.raises(ValueError, match="embedding_model is empty"):
        bench.embedder(embedding_model="")
