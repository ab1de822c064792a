from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from segviz.llm import Endpoint, ModelCache, OpenAIChat, OpenAIEmbedder
from tests.llm.server import ModelServer

KEY = "sk-test-4f9c2a7788e1d0b3"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def endpoint(server: ModelServer) -> Endpoint:
    """With a limit that no answer of the loopback server passes, however busy the machine."""
    return Endpoint(server.url, "small", "embed-small", key=KEY, timeout=30)


def with_slow_timeout(faults: Iterable[str]) -> list[Any]:
    """The names to parametrize with: waiting for a server that hangs takes real seconds."""
    return [pytest.param(n, marks=pytest.mark.slow) if n == "timeout" else n for n in faults]


def limit(name: str) -> dict[str, float]:
    """What a client is given to run into a fault: of a server that hangs, a short timeout."""
    return {"timeout": 1.5} if name == "timeout" else {}


class Bench:
    """Clients on one server and one cache."""

    def __init__(self, server: ModelServer, endpoint: Endpoint, path: Path) -> None:
        self.server = server
        self.endpoint = endpoint
        self.path = path
        self.cache = ModelCache(path)

    def chat(self, **changes: Any) -> OpenAIChat:
        changed = replace(self.endpoint, **changes)
        return OpenAIChat(changed, self.cache)

    def embedder(self, **changes: Any) -> OpenAIEmbedder:
        changed = replace(self.endpoint, **changes)
        return OpenAIEmbedder(changed, self.cache)


@pytest.fixture
def bench(server: ModelServer, endpoint: Endpoint, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(server, endpoint, tmp_path / "models.sqlite")
    yield made
    made.cache.close()
