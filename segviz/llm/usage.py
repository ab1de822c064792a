"""Counts the requests and tokens of models, safely across threads, and computes costs."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import NamedTuple

from segviz.llm.endpoint import Endpoint

# A count beyond this is a server's mistake, not a bill.
_MOST_TOKENS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests and tokens so far; ``unknown_usage`` counts replies that named no tokens."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    unknown_usage: int = 0


_COUNTERS = (
    *("calls", "tokens", "answered", "answered_tokens", "answered_output", "from_cache"),
    *("waived_texts", "shortened", "refused"),
    *("decided", "decided_instead", "written", "written_instead"),
)


class Metered:
    """Counters of a client, which also count in ``total``; that may outlive the client.

    Every request sent counts, even if it failed or its answer was refused: servers charge for
    those.
    """

    def __init__(self, total: Metered | None = None) -> None:
        self._total = total
        self.calls = self.tokens = self.tokens_in = self.tokens_out = self.unknown_usage = 0
        self.answered = self.answered_tokens = self.answered_output = 0
        self.from_cache = self.waived_texts = self.shortened = self.refused = 0
        self.decided = self.decided_instead = self.written = self.written_instead = 0
        self._counting = threading.Lock()

    @property
    def usage(self) -> Usage:
        """A consistent copy of the counters."""
        with self._counting:
            return Usage(self.calls, self.tokens_in, self.tokens_out, self.unknown_usage)

    def counts(self) -> dict[str, int]:
        """Returns the counters by name, see ``Chat``."""
        with self._counting:
            return {name: getattr(self, name) for name in _COUNTERS}

    def count_call(self) -> None:
        """Counts a request that was sent."""
        with self._counting:
            self.calls += 1
        if self._total is not None:
            self._total.count_call()

    def count_answer(self, tokens_in: int, tokens_out: int, cached: bool = False) -> None:
        """Counts a prompt answered by the server or the cache, with its original tokens.

        Unlike the other counters these do not depend on cached replies or on repeated requests.
        """
        with self._counting:
            self.answered += 1
            self.answered_tokens += tokens_in + tokens_out
            self.answered_output += tokens_out
            self.from_cache += cached

    def count_waived(self, text: bool) -> None:
        """Counts a prompt that goes without an answer, for a free ``text`` or for a label."""
        with self._counting:
            self.waived_texts += text

    def count_refused(self) -> None:
        """Counts a prompt whose replies could not be used."""
        with self._counting:
            self.refused += 1

    def count_made(self, *, text: bool, by_model: bool) -> None:
        """Counts a text or a decision that the model made, or that was made in its place."""
        with self._counting:
            self.written += text and by_model
            self.written_instead += text and not by_model
            self.decided += not text and by_model
            self.decided_instead += not text and not by_model

    def count_shortened(self, texts: int) -> None:
        """Counts the texts of a prompt that were shortened to keep its budget."""
        with self._counting:
            self.shortened += texts

    def count_tokens(self, reply: dict[str, object], output: bool = True) -> tuple[int, int]:
        """Adds a reply's input and output tokens; missing numbers count 0.

        Replies without ``output`` (embeddings) give the input only.
        """
        named = reply.get("usage")
        named = named if isinstance(named, dict) else {}
        tokens_in, tokens_out = _number(named, "prompt_tokens"), _number(named, "completion_tokens")
        if not output:
            tokens_out = 0
        with self._counting:
            self.unknown_usage += tokens_in is None or tokens_out is None
            self.tokens_in += tokens_in or 0
            self.tokens_out += tokens_out or 0
            self.tokens = self.tokens_in + self.tokens_out
        if self._total is not None:
            self._total.count_tokens(reply, output)
        return tokens_in or 0, tokens_out or 0


def _number(named: dict[str, object], name: str) -> int | None:
    value = named.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_TOKENS:
        return None
    return value


class Price(NamedTuple):
    """US dollars for a million tokens."""

    input: float
    output: float


PRICES: dict[str, dict[str, Price]] = {
    # List prices without batch or caching discounts, as quoted for mid-2026.
    "api.openai.com": {
        "gpt-5.4-mini": Price(0.75, 4.50),
        "gpt-4o-mini": Price(0.15, 0.60),
        "text-embedding-3-small": Price(0.02, 0.0),
    },
    # qwen3.5-flash is left out: its price depends on region and prompt length.
}
"""Prices by host, then model: the same model has another price at another host."""


def price(endpoint: Endpoint, model: str) -> Price | None:
    """Looks up the price of a model.

    Args:
        endpoint: the server; the same model has another price elsewhere.
        model: its name there.

    Returns:
        The price; None if it is unknown (never 0).
    """
    return PRICES.get(endpoint.host, {}).get(model)


def cost(usage: Usage, prices: Price | None) -> float | None:
    """Computes the cost of requests.

    Args:
        usage: requests and tokens.
        prices: prices of the model.

    Returns:
        US dollars; None if the price or a token count is unknown.
    """
    if prices is None or usage.unknown_usage:
        return None
    return (usage.tokens_in * prices.input + usage.tokens_out * prices.output) / 1_000_000
