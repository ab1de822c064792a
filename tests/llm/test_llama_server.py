"""A real peer: llama.cpp's server with a tiny model of random weights, made here.

Skips where there is no server: ``pip install "llama-cpp-python[server]"`` (it is compiled, some
ten minutes), or name one by SEGVIZ_LLAMA_SERVER, such as ``llama-server`` or
``/other/bin/python -m llama_cpp.server``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import segviz
from segviz.embedding import HashingEmbedder
from segviz.llm import Endpoint, ModelError, OpenAIChat, OpenAIEmbedder, Prompt
from tests.llm.server import Body, Fault, ModelServer, drop
from tests.trees import small_chat

COMMAND = shlex.split(os.environ.get("SEGVIZ_LLAMA_SERVER", "")) or (
    [sys.executable, "-m", "llama_cpp.server"] if importlib.util.find_spec("llama_cpp") else []
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not COMMAND, reason="no llama.cpp server: neither llama_cpp nor SEGVIZ_LLAMA_SERVER"
    ),
]

WIDTH, CONTEXT = 64, 8192
WORDS = [
    f"▁{word}" for word in "boat thesis choir bakery met on Monday and said that it is".split()
]


def gguf(chance: np.random.Generator) -> bytes:
    """A llama of one layer whose tokens are bytes and WORDS, in the format GGUF 3."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{n:02X}>" for n in range(256)), *WORDS]
    kinds = [2, 3, 3, *[6] * 256, *[1] * len(WORDS)]
    shapes = {
        "token_embd": (len(tokens), WIDTH),
        "output": (len(tokens), WIDTH),
        "output_norm": (WIDTH,),
        "blk.0.attn_norm": (WIDTH,),
        "blk.0.ffn_norm": (WIDTH,),
        **{f"blk.0.attn_{part}": (WIDTH, WIDTH) for part in ("q", "k", "v", "output")},
        **{f"blk.0.ffn_{part}": (WIDTH, WIDTH) for part in ("gate", "up", "down")},
    }

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def value(given: Any, whole: int = 4) -> bytes:
        """Type and value: 4 a count (5 in lists), 6 a number, 8 a text, 9 a list."""
        if isinstance(given, list):
            parts = [value(part, 5) for part in given]
            head = struct.pack("<I", 9) + parts[0][:4] + struct.pack("<Q", len(parts))
            return head + b"".join(part[4:] for part in parts)
        if isinstance(given, str):
            return struct.pack("<I", 8) + text(given)
        return (
            struct.pack("<If", 6, given)
            if type(given) is float
            else struct.pack("<Ii", whole, given)
        )

    facts = {
        "general.architecture": "llama",
        "llama.block_count": 1,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": WIDTH,
        "llama.attention.head_count": 2,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // 2,
        "llama.vocab_size": len(tokens),
        "llama.pooling_type": 1,  # the mean over tokens
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * len(tokens),
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(shapes), len(facts))
    head += b"".join(text(name) + value(given) for name, given in facts.items())
    body = b""
    for name, shape in shapes.items():
        sizes = struct.pack(f"<{len(shape)}Q", *reversed(shape))
        head += text(f"{name}.weight") + struct.pack("<I", len(shape)) + sizes
        head += struct.pack("<IQ", 0, len(body))  # float32
        body += chance.normal(size=shape).astype("<f4").tobytes()
    return head + b"\0" * (-len(head) % 32) + body


class Relay(ModelServer):
    """Stands before the real server: records what passes, spoils replies as scripted, and adds
    ``added`` to every request."""

    def __init__(self, target: str) -> None:
        super().__init__()
        self.target = target
        self.added: Body = {}
        self.refused = 0

    def take(self, path: str, authorization: str, request: Body) -> Fault:
        fault = super().take(path, authorization, request)
        asked = urllib.request.Request(
            self.target + path,
            json.dumps(request | self.added).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(asked, timeout=120) as reply:
                return replace(fault, status=reply.status, body=reply.read())
        except urllib.error.HTTPError as error:
            self.refused += 1
            return replace(fault, status=error.code, body=error.read())


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the real server."""
    folder = tmp_path_factory.mktemp("llama")
    model = folder / "tiny.gguf"
    model.write_bytes(gguf(np.random.default_rng(0)))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--embedding", "true", "--n_ctx", str(CONTEXT), "--chat_format", "chatml"]
    if "llama_cpp" not in " ".join(COMMAND):
        options = ["--embeddings", "-c", str(CONTEXT), "--pooling", "mean"]
    with (folder / "log").open("wb") as log:
        address = ["--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(
            [*COMMAND, "--model", str(model), *address, *options], stdout=log, stderr=log
        )
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "log").read_text()[-3000:]
                time.sleep(0.25)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def relay(target: str) -> Iterator[Relay]:
    with Relay(target) as running:
        yield running


def endpoint(relay: Relay) -> Endpoint:
    return Endpoint(relay.url, "tiny", "tiny", max_tokens=24, timeout=120, concurrency=1)


def test_labels_and_summaries_build_a_memory(relay: Relay):
    chat = OpenAIChat(endpoint(relay))
    memory = segviz.build(
        small_chat(),
        unit="turn",
        embedder=HashingEmbedder(),
        compatibility="batch",
        annotate="llm",
        chat=chat,
    )
    assert memory.check() == []
    # Every label was legal at the first try and every summary there: nothing was made offline.
    assert chat.calls == len(relay.chats) == chat.answered + relay.refused
    forms = [r["response_format"]["type"] for r in relay.chats if "response_format" in r]
    assert forms[relay.refused :] == [forms[-1]] * len(forms[relay.refused :])
    assert forms[-1] in ("json_schema", "json_object")
    assert chat.unknown_usage == 0


def test_vectors(relay: Relay):
    embedder = OpenAIEmbedder(endpoint(relay))
    rows = embedder.embed(["the boat", "a bakery", "", "the boat"])
    assert rows.shape == (4, WIDTH)
    assert np.allclose(np.linalg.norm(rows[[0, 1, 3]], axis=1), 1, atol=1e-5)
    assert np.array_equal(rows[0], rows[3])
    assert not np.allclose(rows[0], rows[1])
    assert embedder.charged(["the boat"]) > 0


def test_cut_connections_are_tried_again(relay: Relay):
    chat = OpenAIChat(endpoint(relay))
    prompt = Prompt("You summarise.", "A said hello.")
    relay.script(drop(), drop())
    text = chat.reply(prompt).text
    assert text == OpenAIChat(endpoint(relay)).reply(prompt).text
    relay.script(*[drop()] * 5)
    with pytest.raises(ModelError, match="the connection failed"):
        chat.reply(Prompt("You choose.", "Join or new?", ("join", "new")))
    relay.script(drop())
    embedder = OpenAIEmbedder(endpoint(relay))
    assert embedder.embed(["the boat"]).any()


def test_a_stream_nobody_asked_for_is_refused(relay: Relay):
    relay.added = {"stream": True}
    chat = OpenAIChat(replace(endpoint(relay), retries=0))
    prompt = Prompt("You summarise.", "A said hello.")
    with pytest.raises(ModelError, match="not valid JSON"):
        chat.reply(prompt)
    relay.added = {}
    assert chat.reply(prompt).text
