"""Sidebar panel: which real models may be used, where, and what they cost.

The key lives in a password field of this browser session (or comes from the environment
or Streamlit's secrets). It is handed to the client and goes nowhere else.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from segviz.embed import Cached, get_embedder
from segviz.models import (
    PRESETS,
    Endpoint,
    ModelCache,
    OpenAIChat,
    OpenAIEmbedder,
    Price,
    cost,
    price,
)
from segviz.models.settings import KEY_NAMES

OFFLINE = "None: stay offline"
CUSTOM = "Another server"


@dataclass(frozen=True)
class Models:
    """What this browser session builds and asks with."""

    embedder: Cached
    chat: OpenAIChat | None = None
    endpoint: Endpoint | None = None
    price: Price | None = None

    @property
    def remote_embeddings(self) -> bool:
        """Whether embedding a text sends it away."""
        return isinstance(self.embedder.inner, OpenAIEmbedder)

    def spent(self) -> str:
        """Calls, tokens and cost so far, in words; an unknown price is called unknown."""
        if self.chat is None:
            return ""
        usage = self.chat.usage
        money = cost(usage, self.price)
        worth = "cost unknown" if money is None else f"${money:.4f}"
        return f"{usage.calls} calls, {usage.tokens_in + usage.tokens_out:,} tokens, {worth}"


@st.cache_resource(show_spinner=False)
def _cache() -> ModelCache:
    """One cache of replies for the process; it is keyed by content and holds no key."""
    folder = os.environ.get("SEGVIZ_CACHE")
    if folder is None:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        folder = str(Path(base).expanduser() / "segviz")
    return ModelCache(Path(folder) / "models.sqlite")


def _key_found(endpoint: Endpoint) -> str:
    """The key the environment or Streamlit's secrets hold for this very server.

    OPENAI_API_KEY goes to api.openai.com alone and SEGVIZ_API_KEY to the host of
    SEGVIZ_BASE_URL alone: an address somebody types must never receive the host's key.
    """
    known = dict(os.environ)
    try:
        names = (*KEY_NAMES, "SEGVIZ_BASE_URL")
        known = {name: str(st.secrets[name]) for name in names if name in st.secrets} | known
    except StreamlitSecretNotFoundError:
        pass  # there is no secrets file
    if endpoint.address == PRESETS["gpt-5.4-mini"].address:
        return known.get("OPENAI_API_KEY", "").strip()
    try:
        meant = Endpoint(known.get("SEGVIZ_BASE_URL", "")).address
    except ValueError:
        return ""
    return known.get("SEGVIZ_API_KEY", "").strip() if meant == endpoint.address else ""


def models_panel() -> Models:
    """Draw the panel; the models to use now. Nothing is sent by choosing one."""
    with st.expander("Models", icon=":material/cloud_off:"):
        preset = st.selectbox(
            "Model server",
            [OFFLINE, *PRESETS, CUSTOM],
            key="preset",
            help="Anything that speaks the OpenAI API",
            persist_state="session",
        )
        if preset == OFFLINE:
            st.caption("Everything is computed on this machine; nothing is sent anywhere.")
            return Models(get_embedder())
        base = PRESETS.get(preset, Endpoint("http://localhost:8000/v1"))
        try:
            return _chosen(base, preset)
        except ValueError as error:
            st.error("These settings cannot be used.")
            st.text(str(error))
            return Models(get_embedder())


def _chosen(base: Endpoint, preset: str) -> Models:
    def field(label: str, value: str, name: str) -> str:
        return st.text_input(label, value, key=f"model-{name}-{preset}", persist_state="session")

    url = field("Base URL", base.base_url, "url")
    model = field("Chat model", base.model, "chat")
    embedding = field("Embedding model", base.embedding_model, "embedding")
    aim = replace(base, base_url=url)
    found = _key_found(aim)
    typed = st.text_input(
        "Key",
        type="password",
        # One field per server: a key typed for one is never sent to another.
        key=f"api-key-{aim.address}",
        placeholder="taken from the environment" if found else "none",
        help="For this server only; kept in this browser session, never saved, logged or exported",
        persist_state="session",
    )
    endpoint = replace(
        base, base_url=url, model=model, embedding_model=embedding, key=typed or found
    )
    embeds = False
    if endpoint.embedding_model:
        embeds = st.toggle(
            "Use its embeddings too",
            key="embeds",
            help="Otherwise similarity stays on this machine",
            persist_state="session",
        )
    questions = " and of your questions" if embeds else ""
    st.caption(f"After you press Build, the text of the conversation{questions} is sent to:")
    st.text(endpoint.address)
    chosen = _clients(endpoint, embeds)
    for note in _cache().notes:
        st.caption(note)
    spent = chosen.spent()
    if spent:
        st.caption(f"Used in this session: {spent}")
    return chosen


def _clients(endpoint: Endpoint, embeds: bool) -> Models:
    """Clients for this endpoint, kept for the session so that their counters go on."""
    secret = hashlib.sha256(endpoint.key.encode()).hexdigest()
    identity = (endpoint, embeds, secret)
    kept = st.session_state.get("clients")
    if kept is None or kept[0] != identity:
        chat = OpenAIChat(endpoint, _cache()) if endpoint.model else None
        embedder = Cached(OpenAIEmbedder(endpoint, _cache())) if embeds else get_embedder()
        kept = (identity, chat, embedder)
        st.session_state["clients"] = kept
    known = price(endpoint, endpoint.model)
    return Models(kept[2], kept[1], endpoint, _prices(endpoint, known))


def _prices(endpoint: Endpoint, known: Price | None) -> Price | None:
    """The price, editable; empty fields mean unknown, never zero."""
    key = f"price-{endpoint.address}-{endpoint.model}"
    left, right = st.columns(2)
    values = [
        column.number_input(
            f"$ per 1M tokens {side}",
            min_value=0.0,
            value=amount,
            placeholder="unknown",
            key=f"{key}-{side}",
            persist_state="session",
        )
        for column, side, amount in (
            (left, "in", known.input if known else None),
            (right, "out", known.output if known else None),
        )
    ]
    if values[0] is None or values[1] is None:
        return None
    return Price(values[0], values[1])
