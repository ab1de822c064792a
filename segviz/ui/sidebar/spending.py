"""Counts what this browser session asked of models, and what it cost.

A client is made anew whenever an address, a key or a limit changes; its usage stays counted."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from segviz.figures.cost import money
from segviz.llm import Endpoint, Price, Usage, cost
from segviz.llm.usage import Metered
from segviz.ui import keys
from segviz.ui.widgets.captions import counted


@dataclass
class ModelUsage:
    """Everything that was asked of one model at one address in this session."""

    model: str
    address: str
    price: Price | None = None
    meter: Metered = field(default_factory=Metered)

    def line(self) -> str:
        """Returns requests, tokens and cost in words; an unknown price is called unknown."""
        usage: Usage = self.meter.usage
        requests = counted(usage.calls, "request")
        tokens = f"{usage.tokens_in + usage.tokens_out:,} tokens"
        return f"{self.model}: {requests}, {tokens}, {money(cost(usage, self.price))}"


def usage_of(kind: str, endpoint: Endpoint, model: str) -> ModelUsage:
    """Returns what a model, ``kind`` "chat" or "embeddings", was asked at this server."""
    used: dict[tuple[str, str, str], ModelUsage] = st.session_state.setdefault(keys.USAGE, {})
    name = (kind, endpoint.address, model)
    return used.setdefault(name, ModelUsage(model, endpoint.address))


def price_of(name: str) -> Price | None:
    """Returns the price entered for the client of this ``name``; None where there is none."""
    prices: dict[str, Price | None] = st.session_state.get(keys.PRICES, {})
    return prices.get(name)


def keep_price(name: str, price: Price | None) -> None:
    """Remembers the price of a client by its ``name``, for memories it built."""
    st.session_state.setdefault(keys.PRICES, {})[name] = price


def spending_place() -> None:
    """Marks where the totals stand; filled now, and again by ``show_spending``."""
    st.session_state[keys.SPENDING_PLACE] = st.empty()
    show_spending()


def show_spending() -> None:
    """Writes the totals as they are now into their place, if there is one."""
    usages: dict[object, ModelUsage] = st.session_state.get(keys.USAGE, {})
    used = [entry for entry in usages.values() if entry.meter.usage.calls]
    place = st.session_state.get(keys.SPENDING_PLACE)
    if place is None or not used:
        return
    # One literal text: names of models are the user's own words.
    place.text("\n".join(["Used in this session", *(entry.line() for entry in used)]))
