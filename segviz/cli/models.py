"""Adds options for real models and opens the clients they name.

Keys are taken from the environment alone, each for its own server: on a command line other
users of the machine could read them.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from segviz.cli.command import UsageError, user_errors
from segviz.cli.console import Console
from segviz.embedding import EMBEDDERS, NEURAL, Cached, Embedder, get_embedder
from segviz.llm import PRESETS, Endpoint, ModelCache, OpenAIChat, OpenAIEmbedder
from segviz.llm.endpoint import CACHE_BYTES, RANGES, cache_path, key_for

_LIMITS = {
    "timeout": (float, "longest silence of the server, seconds"),
    "retries": (int, "tries after the first"),
    "concurrency": (int, "requests at once"),
    "max_tokens": (int, "longest answer, tokens"),
    "temperature": (float, "0 answers as alike as the server can"),
}


def add_embedder(parser: argparse._ActionsContainer) -> None:
    """The offline embedder."""
    parser.add_argument(
        "--embedder",
        default="auto",
        metavar="NAME",
        help=f"embeddings made on this machine: auto, {', '.join(EMBEDDERS)} or {NEURAL}MODEL, a "
        "sentence-transformers model in a folder or of the hub, which may download it; auto is "
        "wordllama, or hashing where it has no wheel (default: %(default)s)",
    )


def add_models(parser: argparse.ArgumentParser) -> None:
    """A server that speaks the OpenAI API, and its limits."""
    group = parser.add_argument_group(
        "real models",
        "Nothing is sent unless a model is named here. Keys come from the environment:\n"
        "OPENAI_API_KEY for api.openai.com alone, SEGVIZ_API_KEY for the server in\n"
        "SEGVIZ_BASE_URL alone. Replies are kept below SEGVIZ_CACHE (default:\n"
        "~/.cache/segviz).",
    )
    group.add_argument(
        "--server",
        metavar="NAME|URL",
        help=f"address that speaks the OpenAI API, or one of {', '.join(PRESETS)} "
        "(default: SEGVIZ_BASE_URL)",
    )
    group.add_argument("--model", metavar="NAME", help="chat model, for parts that need one")
    group.add_argument(
        "--embedding-model", metavar="NAME", help="embed with this model of the server"
    )
    group.add_argument(
        "--waive",
        action="store_true",
        help="go on without an answer that never comes: that place is decided offline",
    )
    for name, (kind, meaning) in _LIMITS.items():
        low, high = RANGES[name]
        group.add_argument(
            f"--{name.replace('_', '-')}",
            type=kind,
            metavar="N",
            help=f"{meaning}; {low} to {high} (default: {getattr(Endpoint, name)}, or the "
            "preset's)",
        )


@dataclass(frozen=True)
class Models:
    """What a command builds and asks with; ``remote`` where embedding sends text away."""

    embedder: Embedder
    chat: OpenAIChat | None = None
    remote: bool = False


@contextmanager
def models(options: argparse.Namespace, console: Console) -> Iterator[Models]:
    """The models the options name, open until the command ends. Says on standard error what is sent
    where. UsageError for a server or limit that cannot be used."""
    endpoint = _endpoint(options)
    if endpoint is None:
        with user_errors(ValueError, ImportError):
            offline = get_embedder(options.embedder)
        yield Models(offline)
        return
    with user_errors():
        cache = ModelCache(cache_path(os.environ), limit_bytes=CACHE_BYTES)
        chat = OpenAIChat(endpoint, cache, waives=options.waive) if endpoint.model else None
        embedder = OpenAIEmbedder(endpoint, cache) if options.embedding_model else None
    for note in cache.notes:
        console.note(note)
    console.note(f"texts of the conversation are sent to {endpoint.address}")
    try:
        kept = Cached(embedder) if embedder else get_embedder(options.embedder)
        yield Models(kept, chat, embedder is not None)
    finally:
        for client in (chat, embedder):
            if client is not None:
                client.close()
        cache.close()


def _endpoint(options: argparse.Namespace) -> Endpoint | None:
    """The server to use; None where the options name no model."""
    limits = {n: v for n in _LIMITS if (v := getattr(options, n)) is not None}
    wanted = options.server or options.model or options.embedding_model
    if not wanted:
        if limits or options.waive:
            raise UsageError("limits of a model are given, but no model; name one with --model")
        return None
    place = options.server or os.environ.get("SEGVIZ_BASE_URL", "")
    if not place:
        raise UsageError(
            "no server is named for the model; give --server (an address that speaks the "
            f"OpenAI API, or one of {', '.join(PRESETS)}) or set SEGVIZ_BASE_URL"
        )
    presets = {name.lower(): preset for name, preset in PRESETS.items()}
    with user_errors():
        base = presets.get(place.lower()) or Endpoint(place)
        endpoint = replace(base, embedding_model=options.embedding_model or "", **limits)
        if options.model:
            endpoint = replace(endpoint, model=options.model)
        endpoint = replace(endpoint, key=key_for(endpoint, os.environ))
    if not endpoint.model and not endpoint.embedding_model:
        raise UsageError("a server is named, but no model; add --model or --embedding-model")
    return endpoint
