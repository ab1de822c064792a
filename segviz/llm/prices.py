"""What a number of tokens costs. Edit ``PRICES`` when a price changes."""

from __future__ import annotations

from typing import NamedTuple

from segviz.llm.endpoint import Endpoint
from segviz.llm.usage import Usage


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
"""Host, then model. The same model costs something else elsewhere, so the host counts."""


def price(
    endpoint: Endpoint, model: str, prices: dict[str, dict[str, Price]] = PRICES
) -> Price | None:
    """The price of ``model`` at this endpoint; None where it is not known (never 0)."""
    return prices.get(endpoint.host, {}).get(model)


def cost(usage: Usage, prices: Price | None) -> float | None:
    """US dollars for what was used; None where the price or a token count is unknown."""
    if prices is None or usage.unknown_usage:
        return None
    return (usage.tokens_in * prices.input + usage.tokens_out * prices.output) / 1_000_000
