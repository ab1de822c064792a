"""Adds options for model servers, opens clients for the models that the options name.

Keys come from the environment, for one server each: other users could read a command line.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from segviz.cli.command import OK, Option, Options, UsageError, section, together, user_errors
from segviz.cli.console import Console
from segviz.embedding import EMBEDDERS, NEURAL, Cached, Embedder, get_embedder
from segviz.llm import PRESETS, ChatByRole, Endpoint, ModelCache, OpenAIChat, OpenAIEmbedder, price
from segviz.llm.endpoint import CACHE_BYTES, RANGES, at, cache_path, key_for
from segviz.llm.probe import ServerReport, probe
from segviz.llm.prompts import overrides
from segviz.llm.usage import Metered
from segviz.memory import CallEstimate, known_prompts

_LIMITS = {
    "timeout": "Longest silence of the server, seconds.",
    "retries": "Tries after the first.",
    "concurrency": "Requests at once.",
    "max_tokens": "Longest answer, tokens.",
    "temperature": "0 makes answers as reproducible as the server can.",
    "seed": "Seed of the answers, if the server accepts one.",
    "prompt_tokens": "Longest prompt, tokens; longer texts are shortened.",
}

_model = section(
    "Real models",
    "Nothing is sent unless a model is named here. Keys come from the environment: OPENAI_API_KEY "
    "for api.openai.com alone, SEGVIZ_API_KEY for the server in SEGVIZ_BASE_URL alone. Replies are "
    "kept below SEGVIZ_CACHE (default: ~/.cache/segviz).",
)


def _limit(name: str, about: str) -> Option:
    """Returns the option of a limit of the endpoint, with its legal range."""
    default, (low, high) = getattr(Endpoint, name), RANGES[name]
    whole = name not in ("timeout", "temperature")
    kind = click.IntRange(int(low), int(high)) if whole else click.FloatRange(low, high)
    flag = f"--{name.replace('_', '-')}"
    default = f"{default}, or the preset's"
    return _model(flag, about, default, type=kind, metavar="N")


embedder_option = section("Building a memory")(
    "--embedder",
    f"Embeddings made on this machine: auto, {', '.join(EMBEDDERS)} or {NEURAL}MODEL, a "
    "sentence-transformers model in a folder or of the hub, which may download it. auto is "
    "wordllama, or hashing where it has no wheel.",
    default="auto",
    metavar="NAME",
)

_ROLES = {
    "decision": "Chat model that decides where units join, and other small judgements.",
    "annotation": "Chat model that writes the texts of nodes.",
    "answer": "Chat model that answers questions.",
}
_SERVER = f"Address of a server with the OpenAI API, or one of {', '.join(PRESETS)}."
_PROMPTS = "TOML file that replaces prompts by name (segviz/llm/prompts.toml)."
model_options = together(
    _model("--server", _SERVER, "SEGVIZ_BASE_URL", metavar="NAME|URL"),
    _model("--model", "Chat model, for parts that need one.", metavar="NAME"),
    *(
        _model(f"--{role}-model", about, "--model", metavar="NAME")
        for role, about in _ROLES.items()
    ),
    _model("--embedding-model", "Embed with this model of the server.", metavar="NAME"),
    _model("--prompts", _PROMPTS, type=click.Path(), metavar="FILE"),
    *(_limit(name, about) for name, about in _LIMITS.items()),
)
"""Options for a server with the OpenAI API and its limits."""

judge_options = together(
    _model("-y --yes", "Start without asking.", is_flag=True),
    _model("--judge", "Chat model that grades answers; no model does by default.", metavar="NAME"),
    _model("--judge-server", "Server of the judge.", "--server", metavar="NAME|URL"),
)
"""Options for the model that grades answers, and ``--yes`` for starting without being asked."""


@dataclass(frozen=True)
class Models:
    """Embedder (``remote``: of a server) and chat models of a command; ``reports`` of servers."""

    embedder: Embedder
    chat: ChatByRole | None = None
    remote: bool = False
    reports: dict[Endpoint, ServerReport] = field(default_factory=dict)


@contextmanager
def models(options: Options, console: Console) -> Iterator[Models]:
    """Opens the models that the options name, and closes them when the command ends.

    Before the first text is sent, a note names the server. At the end a note says if no part of
    the command used the chat model.

    Raises:
        UsageError: For a server or limit that cannot be used.
    """
    endpoint = _endpoint(options)
    if endpoint is None:
        with user_errors(ValueError, ImportError):
            offline = get_embedder(options.embedder)
        yield Models(offline)
        return
    with user_errors(ValueError, OSError):
        texts = Path(options.prompts).read_text("utf-8") if options.prompts else None
        prompts = {} if texts is None else overrides(texts, known_prompts())
        cache = ModelCache(cache_path(os.environ), limit_bytes=CACHE_BYTES)
        # All clients of a server share a counter, which announces the first request.
        meter = _Sending(endpoint, console)

        def client(at: Endpoint, meter: Metered = meter) -> OpenAIChat:
            return OpenAIChat(at, cache, total=meter, prompts=prompts)

        named = _named(options).items()
        by_role = {role: client(replace(endpoint, model=model)) for role, model in named}
        if judge := _judge(options, endpoint):
            elsewhere = judge.address != endpoint.address
            by_role["grade"] = client(judge, _Sending(judge, console) if elsewhere else meter)
        chat = ChatByRole(client(endpoint), by_role) if endpoint.model else None
        embeds = options.embedding_model
        embedder = OpenAIEmbedder(endpoint, cache, total=meter) if embeds else None
    for note in cache.notes:
        console.note(note)
    # Lend the models to the command, then say if none of its parts used the chat model.
    try:
        embedding = Cached(embedder) if embedder else get_embedder(options.embedder)
        yield Models(embedding, chat, embedder is not None)
        used = chat and (chat.counts()["answered"] or chat.counts()["calls"])
        if chat and not used and getattr(options, "workers", 1) == 1:
            builds = hasattr(options, "system")
            console.note(
                f"nothing used the model {endpoint.model}"
                + "; to build a segment tree with it give --set compatibility=batch and --set "
                "annotate=llm" * builds
            )
    finally:
        for each in (chat, embedder):
            if each is not None:
                each.close()
        cache.close()


class _Sending(Metered):
    """Counters of requests, which print where texts are sent before the first request."""

    def __init__(self, endpoint: Endpoint, console: Console) -> None:
        super().__init__()
        self._announcing = threading.Lock()
        self._note = partial(
            console.note, f"texts of the conversation are sent to {endpoint.address}"
        )

    def count(self, **more: int) -> None:
        """Adds to the counters; prints the address of the server before its first request."""
        with self._announcing:
            if more.get("calls") and not self.usage.calls:
                self._note()
            super().count(**more)


def _named(options: Options) -> dict[str, str]:
    """Returns the model of each role for which an option names one."""
    return {role: name for role in _ROLES if (name := getattr(options, f"{role}_model"))}


def agree(
    expected: Callable[[], Mapping[str, CallEstimate]],
    clients: Models,
    options: Options,
    console: Console,
) -> None:
    """Prints the expected calls of models and asks whether to start, unless ``--yes`` is given.

    Args:
        expected: returns the expected calls by role.
        clients: the models.
        options: options of the command, with ``yes``.
        console: output.

    Raises:
        click.exceptions.Exit: the user does not agree.
        UsageError: the command does not run in a terminal, so the user cannot be asked.
    """
    if options.yes and options.quiet:
        return
    console.note("estimating the calls of models")
    for line in expectations(expected(), clients):
        console.note(line)
    if options.yes:
        return  # what is wrong with a server is said by the first request, once
    problems = {at.address: report.problem for at, report in clients.reports.items()}
    for problem in filter(None, problems.values()):
        console.note(problem)
    if not sys.stdin or not sys.stdin.isatty():
        raise UsageError("give --yes to start without being asked")
    try:
        started = click.confirm("Start?", err=True)
    except click.Abort:
        started = False
    if not started:
        console.note("nothing was asked")
        raise click.exceptions.Exit(OK)


_WORK = {"decision": "decisions", "annotation": "texts", "answer": "answers", "grade": "grades"}


def expectations(expected: Mapping[str, CallEstimate], clients: Models) -> Iterator[str]:
    """Yields, by role, model, calls, tokens, time (a server is tested once) and cost."""
    for role, needed in expected.items():
        if clients.chat is None or not needed.calls:
            continue
        endpoint = clients.chat.of(role).endpoint
        if endpoint not in clients.reports:
            clients.reports[endpoint] = probe(endpoint)
        seconds = clients.reports[endpoint].seconds(needed.tokens_in, needed.tokens_out)
        lasts = ", time unknown"
        if seconds is not None:
            minutes = seconds / 60 / endpoint.concurrency
            lasts = f", about {minutes:,.0f} minutes" if minutes >= 1 else ", under a minute"
        spent = needed.dollars(price(endpoint, endpoint.model))
        cost = f", ${spent:.2f}" if spent is not None else ""
        yield f"{_WORK[role]} by {endpoint.model}: about {needed}{lasts}{cost}"
    yield "Replies in the cache cost nothing."


def server_at(place: str, **settings: Any) -> Endpoint:
    """Returns the endpoint for the name of a preset or an address, with these ``settings``.

    Raises:
        UsageError: the address or a setting cannot be used.
    """
    presets = {name.lower(): preset for name, preset in PRESETS.items()}
    with user_errors():
        return replace(presets.get(place.lower()) or at(place), **settings)


def _endpoint(options: Options) -> Endpoint | None:
    """Returns the server, model and limits of the options; None if they name neither.

    Raises UsageError for a model without a server, or a server or limits without a model.
    """
    named = _named(options)
    model = options.model or next(iter(named.values()), "")
    wanted = options.server or model or options.embedding_model
    if not wanted:
        judges = getattr(options, "judge", None) or getattr(options, "judge_server", None)
        if _limits(options) or options.prompts or judges:
            raise UsageError("settings of a model are given, but no model; name one with --model")
        return None
    place = options.server or os.environ.get("SEGVIZ_BASE_URL", "")
    if not place:
        raise UsageError(
            "no server is named for the model; give --server (an address that speaks the "
            f"OpenAI API, or one of {', '.join(PRESETS)}) or set SEGVIZ_BASE_URL"
        )
    endpoint = _at(place, options, model)
    with user_errors():
        endpoint = replace(endpoint, embedding_model=options.embedding_model or "")
    if not endpoint.model and not endpoint.embedding_model:
        raise UsageError("a server is named, but no model; add --model or --embedding-model")
    return endpoint


def _judge(options: Options, endpoint: Endpoint) -> Endpoint | None:
    """Returns the server and model that grade answers; None if the options name no judge."""
    model, place = getattr(options, "judge", None), getattr(options, "judge_server", None)
    if place is None:
        return replace(endpoint, model=model) if model else None
    judge = _at(place, options, model or "")
    if not judge.model:
        raise UsageError("a server is named for the judge, but no model; add --judge")
    return judge


def _at(place: str, options: Options, model: str) -> Endpoint:
    """Returns the server with its key, limits and ``model``, by default that of the preset."""
    endpoint = server_at(place, embedding_model="", **_limits(options))
    with user_errors():
        endpoint = replace(endpoint, model=model or endpoint.model)
        return replace(endpoint, key=key_for(endpoint, os.environ))


def _limits(options: Options) -> dict[str, Any]:
    return {name: value for name in _LIMITS if (value := getattr(options, name)) is not None}
