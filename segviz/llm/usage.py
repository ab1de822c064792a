"""Counts the requests and tokens of models, safely across threads, and computes costs."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, fields
from typing import NamedTuple

from segviz.llm.endpoint import Endpoint
from segviz.llm.protocols import Chat
from segviz.text.captions import counted, duration

# A count beyond this is a server's mistake, not a bill.
_MOST_TOKENS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests to a server and their tokens; ``unknown_usage`` counts replies that name none."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    unknown_usage: int = 0

    @property
    def tokens(self) -> int:
        """Sum of input and output tokens."""
        return self.tokens_in + self.tokens_out


class Metered:
    """Counters of a client of a server, safe across threads.

    Every request sent counts, even if it failed or its answer was refused: servers charge for
    those. ``total`` receives all counts too; it adds up several clients and may outlive them.
    """

    def __init__(self, total: Metered | None = None) -> None:
        self._total = total
        self._counts = Counter[str]()
        self._counting = threading.Lock()

    @property
    def calls(self) -> int:
        """Number of requests sent so far."""
        return self.counts()["calls"]

    @property
    def usage(self) -> Usage:
        """Requests to the server and their tokens so far."""
        counts = self.counts()
        return Usage(*(counts[field.name] for field in fields(Usage)))

    def counts(self) -> Counter[str]:
        """Returns a copy of the counters by name, see ``Chat``; a name not in it counts 0."""
        with self._counting:
            return self._counts.copy()

    def count(self, **more: int) -> None:
        """Adds each number to the counter of its name, here and in ``total``."""
        with self._counting:
            self._counts.update(more)
        if self._total is not None:
            self._total.count(**more)

    def count_made(self, *, text: bool, by_model: bool) -> None:
        """Counts a text or a decision of a build, made by the model or offline in its place."""
        name = "written" if text else "decided"
        self.count(**{name if by_model else f"{name}_instead": 1})

    def count_tokens(self, reply: dict[str, object], output: bool = True) -> tuple[int, int]:
        """Counts and returns a reply's tokens in and out (0 if missing, or no ``output``)."""
        named = reply.get("usage")
        named = named if isinstance(named, dict) else {}
        tokens_in = _number(named, "prompt_tokens")
        tokens_out = _number(named, "completion_tokens") if output else 0
        unknown = tokens_in is None or tokens_out is None
        tokens = tokens_in or 0, tokens_out or 0
        self.count(tokens_in=tokens[0], tokens_out=tokens[1], unknown_usage=unknown)
        return tokens


def _number(named: dict[str, object], name: str) -> int | None:
    """Returns the number of tokens a server gives under ``name``; None if it is no such number."""
    value = named.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_TOKENS:
        return None
    return value


class Tries(NamedTuple):
    """Requests that the replies to prompts of one kind took so far.

    ``prompts`` were answered by ``requests``, which include those repeated after unusable replies.
    The model ``wrote`` so many tokens in all; ``expected`` were as many as ``expected_tokens``.
    """

    prompts: int = 0
    requests: int = 0
    wrote: int = 0
    expected: int = 0


class Pace:
    """Progress, in words, of work that may wait for a model.

    The time left follows from the model's new replies if their number is known in advance, else
    from the finished parts. Until the next one the time counts down.
    """

    def __init__(self, chat: Chat | None = None, expected: float = 0) -> None:
        """Takes the model and its expected number of replies; 0 if that is unknown."""
        self._chat, self._expected = chat, round(expected)
        self._before = self._counts()
        self._passed = -1
        self._began = self._ends = 0.0

    def _counts(self) -> Counter[str]:
        return Counter(self._chat.counts() if self._chat is not None else ())

    def phrase(self, done: int, total: int, now: float) -> str:
        """Returns replies, calls, tokens and the time left, each after a comma; "" for none.

        Args:
            done: number of finished parts.
            total: number of all parts.
            now: the time in seconds, by a clock that never goes back.
        """
        counts, parts = self._counts(), [""]
        counts.subtract(self._before)
        replies, cached = counts["answered"], counts["from_cache"]
        if self._chat is not None:
            of = f"{replies:,} of about " if self._expected >= max(replies, 1) else ""
            noun = counted(self._expected if of else replies, "reply", "replies")
            parts.append(f"{of}{noun}{f' ({cached:,} from the cache)' if cached else ''}")
        if counts["calls"]:
            parts += [
                counted(counts["calls"], "call"),
                f"{counts['tokens_in'] + counts['tokens_out']:,} tokens",
            ]
        # The first part includes preparations, such as embedding.
        passed, rest, begun = max(done - 1, 0), total - done, done > 1
        if self._expected:
            passed, rest, begun = replies - cached, self._expected - replies, counts["calls"] > 0
        if not begun or self._passed < 0:
            self._began = now
        if passed != self._passed:
            self._passed = passed
            self._ends = now + (now - self._began) / max(passed, 1) * rest
        if self._ends - now >= 1:
            parts.append(f"about {duration(self._ends - now)} left")
        return ", ".join(parts)


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
    """Returns the price of a model on the endpoint's server; None if it is unknown (never 0)."""
    return PRICES.get(endpoint.host, {}).get(model)


def cost(usage: Usage, prices: Price | None) -> float | None:
    """Returns the cost of requests in US dollars; None if the price or a count is unknown."""
    if prices is None or usage.unknown_usage:
        return None
    return (usage.tokens_in * prices.input + usage.tokens_out * prices.output) / 1_000_000
