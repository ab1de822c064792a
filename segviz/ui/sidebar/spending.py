"""What this browser session asked of models, whatever became of the clients it used.

A client is made anew whenever an address, a key or a limit changes; the accounts stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from segviz.figures.cost import money
from segviz.llm import Endpoint, Price, Usage, cost
from segviz.llm.usage import Metered


@dataclass
class Account:
    """Everything one model at one address was asked in this session."""

    model: str
    address: str
    price: Price | None = None
    meter: Metered = field(default_factory=Metered)

    def line(self) -> str:
        """Requests, tokens and cost in words; an unknown price is called unknown."""
        usage: Usage = self.meter.usage
        requests = f"{usage.calls} request" + ("" if usage.calls == 1 else "s")
        tokens = f"{usage.tokens_in + usage.tokens_out:,} tokens"
        return f"{self.model}: {requests}, {tokens}, {money(cost(usage, self.price))}"


def account(kind: str, endpoint: Endpoint, model: str) -> Account:
    """The account of a model, ``kind`` "chat" or "embeddings", at this server."""
    accounts: dict[tuple[str, str, str], Account] = st.session_state.setdefault("accounts", {})
    name = (kind, endpoint.address, model)
    return accounts.setdefault(name, Account(model, endpoint.address))


def price_of(name: str) -> Price | None:
    """The price entered for the client of this ``name``; None where there is none."""
    prices: dict[str, Price | None] = st.session_state.get("prices", {})
    return prices.get(name)


def keep_price(name: str, price: Price | None) -> None:
    """Remember the price of a client by its ``name``, for memories it built."""
    st.session_state.setdefault("prices", {})[name] = price


def spending_place() -> None:
    """Mark where the totals stand; filled now, and again by ``show_spending``."""
    st.session_state["spending-place"] = st.empty()
    show_spending()


def show_spending() -> None:
    """Write the totals as they are now into their place, if there is one."""
    accounts: dict[object, Account] = st.session_state.get("accounts", {})
    used = [entry for entry in accounts.values() if entry.meter.usage.calls]
    place = st.session_state.get("spending-place")
    if place is None or not used:
        return
    # One literal text: names of models are the user's own words.
    place.text("\n".join(["Used in this session", *(entry.line() for entry in used)]))
