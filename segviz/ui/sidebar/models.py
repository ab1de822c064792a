"""Sidebar panel: chooses chat and embedding models, their server and limits.

The key is in a password field of this browser session (or comes from the environment or Streamlit's
secrets). Only the client receives it. A new address, key or limit makes a new client; its counters
continue.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from segviz.embedding import Cached, get_embedder
from segviz.figures.cost import money
from segviz.llm import (
    PRESETS,
    ChatByRole,
    Endpoint,
    Metered,
    ModelCache,
    OpenAIChat,
    OpenAIEmbedder,
    Price,
    Usage,
    cost,
    overrides,
    price,
)
from segviz.llm.endpoint import CACHE_BYTES, NAMES, RANGES, at, cache_path, key_for
from segviz.llm.probe import SECONDS, ServerReport, probe
from segviz.memory import CallEstimate, known_prompts
from segviz.text.captions import duration
from segviz.ui import keys, security
from segviz.ui.state import fingerprint, remember
from segviz.ui.widgets.captions import counted, trouble
from segviz.ui.widgets.waiting import waiting
from segviz.waiting import waited_for

OFFLINE = "None: stay offline"
CUSTOM = "Another server"

_LIMITS = {
    "timeout": (
        "Longest silence, seconds",
        "A request fails if the server sends nothing for so long",
    ),
    "retries": ("Tries after the first", "After 0.5, 1, 2, 4, 8 s, or as long as the server asks"),
    "concurrency": ("Requests at once", "Lower it when the server answers 429"),
    "max_tokens": ("Longest answer, tokens", "Models that reason first need room for it"),
    "temperature": ("Temperature", "0 makes answers as reproducible as the server can"),
    "seed": ("Seed", "Seed of the answers, if the server accepts one"),
    "prompt_tokens": ("Longest prompt, tokens", "Longer texts are shortened evenly"),
}


@dataclass(frozen=True)
class ChosenModels:
    """The models this browser session builds and asks with."""

    embedder: Cached
    chat: ChatByRole | None = None

    @property
    def remote_embeddings(self) -> bool:
        """True if embedding a text sends it to a server."""
        return isinstance(self.embedder.inner, OpenAIEmbedder)


# Replies are about the texts of visitors: on a public server each visit has a cache of its own.
@st.cache_resource(show_spinner=False, scope="session" if security.public() else "global")
def _cache() -> ModelCache:
    """Returns the cache of model replies; all sessions share it, except on a public server."""
    if security.public():
        return ModelCache()
    return ModelCache(cache_path(os.environ), limit_bytes=CACHE_BYTES)


def _known_key(endpoint: Endpoint) -> str:
    """Returns the API key for this server from the environment or Streamlit's secrets."""
    if security.public():  # a visitor spends no key but their own
        return ""
    known = dict(os.environ)
    with suppress(StreamlitSecretNotFoundError):  # there is no secrets file
        known = {name: str(st.secrets[name]) for name in NAMES if name in st.secrets} | known
    return key_for(endpoint, known)


def point_here() -> None:
    """Opens the panel Models in the next run, because the server refused a setting made there."""
    st.session_state[keys.OPEN_MODELS] = True


def models_panel() -> Any:
    """Returns the panel for models."""
    if st.session_state.pop(keys.OPEN_MODELS, False):
        st.session_state[keys.MODELS_PANEL] = True
    # The label never changes: Streamlit would treat another label as a new, closed expander.
    return st.expander(
        "Models",
        icon=":material/cloud:",
        key=keys.MODELS_PANEL,
        on_change="rerun",
    )


def choose_models(built_with: str = "", use: Callable[[], None] | None = None) -> ChosenModels:
    """Draws the choice of models; returns those to use now. Nothing is sent by choosing one.

    Args:
        built_with: the parts of the memory that use a chat model, in words; "" for none.
        use: selects parts that use the model; None if no memory is built.
    """
    st.session_state.pop(keys.SPENDING_PLACE, None)  # left by the previous run
    servers = security.model_servers()
    if servers == ():
        st.caption("Models are off: this server was started without a model server.")
        return ChosenModels(get_embedder())
    preset = st.selectbox(
        "Model server",
        [OFFLINE, *(servers or (*PRESETS, CUSTOM))],
        key=keys.MODEL_SERVER,
        help="Any server with the OpenAI API",
        persist_state="session",
    )
    if preset == OFFLINE:
        st.caption("Everything is computed on this machine; nothing is sent anywhere.")
        spending_place()
        return ChosenModels(get_embedder())
    base = PRESETS.get(preset, Endpoint("http://localhost:8000/v1"))
    try:
        if servers is not None:
            base = Endpoint(preset if preset in servers else servers[0])
        return _chosen(base, preset, built_with, use)
    except ValueError as error:
        trouble("These settings cannot be used.", error)
        return ChosenModels(get_embedder())


def _chosen(
    base: Endpoint, preset: str, built_with: str, use: Callable[[], None] | None
) -> ChosenModels:
    """Draws the controls of a server; returns its models. ValueError for bad settings."""

    def field(label: str, value: str, name: str) -> str:
        return st.text_input(label, value, key=f"model-{name}-{preset}", persist_state="session")

    limited = security.model_servers() is not None
    url = base.base_url if limited else field("Base URL", base.base_url, "url")
    if preset == CUSTOM:
        base = at(url)
    _listed(url, preset)
    model = field("Chat model", base.model, "chat")
    embedding = field("Embedding model", base.embedding_model, "embedding")
    aim = replace(base, base_url=url)
    known = _known_key(aim)
    typed = st.text_input(
        "Key",
        type="password",
        # One field per server: a key typed for one is never sent to another.
        key=f"api-key-{aim.address}",
        placeholder="taken from the environment" if known else "none",
        help="For this server only; kept in this browser session, never saved, logged or exported",
        persist_state="session",
    )
    embeds = False
    if embedding:
        embeds = st.toggle(
            "Use its embeddings too",
            key="embeds",
            help="Otherwise similarity is computed on this machine",
            persist_state="session",
        )
    endpoint = replace(
        base,
        base_url=url,
        model=model,
        embedding_model=embedding,
        key=typed or known,
        **_limits(base, preset),
    )
    by_role = _roles(preset) if model else {}
    chosen = _clients(endpoint, embeds, _own_prompts(preset) if model else {}, by_role)
    _purpose(chosen, endpoint, built_with, use)
    _test(endpoint)
    spending_place()
    _cached_replies()
    return chosen


def _listed(url: str, preset: str) -> None:
    """Draws a choice of the models that the last test of this server listed; sets the model."""
    report = report_of(url)
    if report is None or not report.models:
        return

    def take() -> None:
        name = st.session_state.get(f"listed-{preset}")
        if name:
            st.session_state[f"model-chat-{preset}"] = name

    st.selectbox(
        "Models of this server",
        report.models,
        index=None,
        key=f"listed-{preset}",
        placeholder=f"{len(report.models)} listed",
        on_change=take,
    )


_ROLE_NOUNS = {
    "decision": ("Decides", "Where units join, and other small judgements"),
    "annotation": ("Writes", "Texts of nodes"),
    "answer": ("Answers", "Questions, from the retrieved evidence"),
    "grade": ("Grades", "Answers; a model never grades its own answers unless it is named here"),
}


def _roles(preset: str) -> dict[str, str]:
    """Draws a model for each role; returns those that are named."""
    named: dict[str, str] = {}
    with st.popover("A model for each role", icon=":material/groups:", width="stretch"):
        for role, (label, meaning) in _ROLE_NOUNS.items():
            named[role] = st.text_input(
                label,
                key=f"model-{role}-{preset}",
                placeholder="none" if role == "grade" else "the chat model",
                help=meaning,
                persist_state="session",
            ).strip()
    return {role: name for role, name in named.items() if name}


def _purpose(
    chosen: ChosenModels, endpoint: Endpoint, built_with: str, use: Callable[[], None] | None
) -> None:
    """Says what is sent, when and where to, or that nothing uses the model."""
    parts = [built_with] if built_with and chosen.chat else []
    parts += ["embeddings"] if chosen.remote_embeddings else []
    if parts:
        st.caption(f"After you press Build, texts are sent for {' and '.join(parts)} to:")
        st.text(endpoint.address)
    elif chosen.chat is not None:
        st.caption("Builds do not use this model. Ask can answer with it, at this address:")
        st.text(endpoint.address)
        if use is not None:
            st.button("Build with it", key=keys.MODELS_UNUSED, on_click=use)


def report_of(url: str, model: str = "") -> ServerReport | None:
    """Returns the last test of a server, of this model if one is named."""
    reports: dict[tuple[str, str], ServerReport] = st.session_state.get(keys.SERVER_REPORT, {})
    if model:
        return reports.get((url, model))
    return next((reports[about] for about in reversed(reports) if about[0] == url), None)


def expected_calls(needed: CallEstimate, client: OpenAIChat) -> str:
    """Returns a phrase with the calls, tokens, time and dollars that a model is needed for.

    The time needs a measured speed of the server, dollars a known price.
    """
    parts = [needed.phrase, f"{needed.tokens_in + needed.tokens_out:,.0f} tokens"]
    tested = report_of(client.endpoint.base_url, client.endpoint.model)
    seconds = tested and tested.seconds(needed.tokens_in, needed.tokens_out)
    if seconds:
        parts.append(f"{duration(seconds)} at the measured speed")
    spent = needed.dollars(price(client.endpoint, client.endpoint.model))
    if spent is not None:
        parts.append(money(spent))
    return f"about {', '.join(parts)}"


def _test(endpoint: Endpoint) -> None:
    """Draws the offer to test the server, and the result of the last test."""
    if st.button("Test this server", icon=":material/speed:", key="test-server", width="stretch"):
        reports = st.session_state.setdefault(keys.SERVER_REPORT, {})
        with waiting(f"Testing the server, at most {SECONDS:.0f} s", "stop-test"):
            reports[endpoint.base_url, endpoint.model] = waited_for(lambda: probe(endpoint))
        st.rerun()
    report = report_of(endpoint.base_url, endpoint.model)
    if report is not None:
        st.text("\n".join(f"{name}: {value}" for name, value in report.lines))


def _limits(base: Endpoint, preset: str) -> dict[str, Any]:
    """Draws timeouts, retries and sizes of requests; returns legal values only."""
    values: dict[str, Any] = {}
    with st.popover("Limits", icon=":material/tune:", width="stretch"):
        columns = st.columns(2)
        for place, (name, (label, meaning)) in enumerate(_LIMITS.items()):
            # The server's default, and the range that the endpoint accepts.
            default = getattr(base, name)
            whole = name not in ("timeout", "temperature")
            kind = int if whole else float
            low, high = RANGES[name]
            values[name] = columns[place % 2].number_input(
                label,
                format=None if whole else "%.1f",
                min_value=kind(low),
                max_value=kind(high),
                value=kind(default),
                step={"temperature": 0.1, "max_tokens": 64, "prompt_tokens": 500}.get(
                    name, kind(1)
                ),
                help=f"{meaning}. {low:,g} to {high:,g}",
                key=f"limit-{name}-{preset}",
                persist_state="session",
            )
        st.caption(
            "Replies are kept. After a change of temperature, seed or longest answer all are asked "
            "for again, after a lower limit for prompts only those whose prompts it shortens."
        )
    return values


def _own_prompts(preset: str) -> dict[str, str]:
    """Draws the upload of a prompts file; returns the system messages in it, by name.

    Raises ValueError for an unusable file.
    """
    with st.popover("Prompts", icon=":material/edit_note:", width="stretch"):
        st.caption(
            "System messages for the models, by name. A TOML file replaces those it contains."
        )
        file = st.file_uploader("Your prompts", ["toml"], key=f"prompts-{preset}")
        known = known_prompts()
        mine = overrides(file.getvalue().decode("utf-8", "replace"), known) if file else {}
        name = st.selectbox("Prompt", list(known), key=f"prompt-{preset}")
        st.code(mine.get(name, known[name]).strip(), language=None, wrap_lines=True)
    return mine


def _clients(
    endpoint: Endpoint, embeds: bool, prompts: dict[str, str], by_role: dict[str, str]
) -> ChosenModels:
    """Returns the clients of this server, the same ones while its settings do not change."""

    def client(model: str) -> OpenAIChat:
        meter = usage_of("chat", endpoint, model).meter
        meant = replace(endpoint, model=model)
        return OpenAIChat(meant, _cache(), total=meter, prompts=prompts)

    def make() -> ChosenModels:
        chat, embedder = None, get_embedder()
        if endpoint.model:
            named = {role: client(model) for role, model in by_role.items()}
            chat = ChatByRole(client(endpoint.model), named)
        if embeds:
            meter = usage_of("embeddings", endpoint, endpoint.embedding_model).meter
            embedder = Cached(OpenAIEmbedder(endpoint, _cache(), total=meter))
        return ChosenModels(embedder, chat)

    return remember("clients", fingerprint(asdict(endpoint), embeds, prompts, by_role), 1, make)


def _cached_replies() -> None:
    """Draws problems and size of the cache of replies, and a button that empties it."""
    cache = _cache()
    for note in cache.notes:
        st.caption(note)
    with st.popover("Cached replies", icon=":material/database:", width="stretch"):
        answers, vectors = cache.counts()
        st.caption(
            f"{answers:,} answers and {vectors:,} embeddings, {cache.size / 1e6:.1f} MB, on "
            "the machine that runs segviz. They make rebuilding free. Beyond "
            f"{CACHE_BYTES / 1e9:.0f} GB the older half is deleted at the next start."
        )
        if security.beyond_loopback():
            return
        sure = st.checkbox("Delete them for all users of this segviz", key=keys.CACHE_SURE)
        st.button("Clear", key="cache-clear", disabled=not sure, on_click=_clear)


def _clear() -> None:
    _cache().clear()
    st.session_state[keys.CACHE_SURE] = False


# --- spending -------------------------------------------------------------------------


@dataclass
class ModelUsage:
    """Requests to one model at one address in this session."""

    model: str
    price: Price | None
    meter: Metered = field(default_factory=Metered)

    def line(self) -> str:
        """Returns requests, tokens and cost in words; an unknown price is called unknown."""
        usage: Usage = self.meter.usage
        requests = counted(usage.calls, "request")
        tokens = f"{usage.tokens_in + usage.tokens_out:,} tokens"
        return f"{self.model}: {requests}, {tokens}, {money(cost(usage, self.price))}"


def usage_of(kind: str, endpoint: Endpoint, model: str) -> ModelUsage:
    """Returns the requests to a model at this server; ``kind`` is "chat" or "embeddings"."""
    used: dict[tuple[str, str, str], ModelUsage] = st.session_state.setdefault(keys.USAGE, {})
    name = (kind, endpoint.address, model)
    return used.setdefault(name, ModelUsage(model, price(endpoint, model)))


def spending_place() -> None:
    """Reserves the place for totals of requests and costs; ``show_spending`` updates it."""
    st.session_state[keys.SPENDING_PLACE] = st.empty()
    show_spending()


def show_spending() -> None:
    """Writes the present totals of requests and costs into their place, if one is reserved."""
    usages: dict[object, ModelUsage] = st.session_state.get(keys.USAGE, {})
    used = [entry for entry in usages.values() if entry.meter.usage.calls]
    place = st.session_state.get(keys.SPENDING_PLACE)
    if place is None or not used:
        return
    # One literal text: names of models are the user's own words.
    place.text("\n".join(["Used in this session", *(entry.line() for entry in used)]))
