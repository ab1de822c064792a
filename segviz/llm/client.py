"""What both clients are: one endpoint, what it answered before, and counters."""

from __future__ import annotations

from collections.abc import Callable

from segviz.llm.cache import ModelCache
from segviz.llm.endpoint import Endpoint
from segviz.llm.usage import Metered
from segviz.llm.wire import Wire


class Client(Metered):
    """Asks an endpoint what its cache does not hold."""

    def __init__(
        self,
        endpoint: Endpoint,
        cache: ModelCache | None,
        total: Metered | None,
        sleep: Callable[[float], None],
        clock: Callable[[], float],
    ) -> None:
        """Nothing is sent yet; without ``cache`` what is answered is kept in memory.
        ``total`` counts along and may outlive the client."""
        super().__init__(total)
        self.endpoint = endpoint
        self.cache = cache if cache is not None else ModelCache()
        self._wire = Wire(endpoint, self, sleep, clock)

    def close(self) -> None:
        """Close the connections; the cache is left open."""
        self._wire.close()


def clean(text: str) -> str:
    """``text`` without lone surrogates, which no request and no file can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
