"""Tests a server for a few seconds: its models, structured output and speed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from segviz.llm.cache import ModelCache
from segviz.llm.chat import OpenAIChat
from segviz.llm.endpoint import RANGES, Endpoint
from segviz.llm.protocols import LabelError, ModelError, Prompt

SECONDS = 5.0
"""Longest time a test takes."""

_CONTEXT = ("n_ctx", "max_model_len", "loaded_context_length", "context_length", "n_ctx_train")
_FRUIT = ("apple", "pear")
_FRUITS = "Which fruit do you like? " * 80  # some 400 tokens, to time the reading of a prompt
_COUNT = Prompt("", "Write the numbers from one to sixty as words, nothing else.")
_COUNTED = 96  # tokens of that answer at most


@dataclass(frozen=True)
class ServerReport:
    """Result of a server test.

    ``models`` are those it lists. ``schema`` is the form of structured output it obeys, "ignored"
    if it accepts one and answers otherwise, "none" if it accepts none, "" if untested. ``context``
    is the longest context it lists for the model, in tokens. ``writes`` and ``reads`` are tokens a
    second, None if not measured. ``problem`` names the failure.
    """

    models: tuple[str, ...] = ()
    schema: str = ""
    context: int | None = None
    writes: float | None = None
    reads: float | None = None
    problem: str = ""

    def seconds(self, tokens_in: int, tokens_out: int) -> float | None:
        """Returns the seconds of consecutive requests with so many tokens; None without a speed."""
        if not self.writes:
            return None
        return tokens_out / self.writes + (tokens_in / self.reads if self.reads else 0.0)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Results as (name, value) lines."""
        forms = {"ignored": "taken, but ignored", "none": "not supported"}
        known = [
            ("Models listed", ", ".join(self.models)),
            ("Schema", forms.get(self.schema, self.schema and f"kept to ({self.schema})")),
            ("Context", f"{self.context:,} tokens" if self.context else ""),
            ("Speed", f"{self.writes:.0f} tokens a second" if self.writes else ""),
            ("Problem", self.problem),
        ]
        return [(name, value or "unknown") for name, value in known if value or name != "Problem"]


def probe(endpoint: Endpoint) -> ServerReport:
    """Tests a server in at most ``SECONDS``.

    For a chat model it sends two short requests, without any text of a conversation.
    """
    until = time.monotonic() + SECONDS

    def client() -> OpenAIChat:
        left = max(RANGES["timeout"][0], until - time.monotonic())
        # Nothing is cached: a cached reply would say nothing about the speed.
        limits = replace(endpoint, timeout=left, retries=0, max_tokens=_COUNTED)
        return OpenAIChat(replace(limits, model=endpoint.model or "none"), ModelCache(None))

    first = client()
    listed = first.listed(SECONDS / 2)
    found = ServerReport(tuple(str(row["id"]) for row in listed))
    row = next((row for row in listed if row["id"] == endpoint.model), {})
    traits = {**row, **(row["meta"] if isinstance(row.get("meta"), dict) else {})}
    sizes = (traits.get(name) for name in _CONTEXT)
    found = replace(found, context=next((size for size in sizes if type(size) is int), None))
    try:
        if not endpoint.model:
            return replace(found, problem="" if listed else "it lists no models")
        began = time.monotonic()
        found = replace(found, schema=_schema(first))
        read = time.monotonic() - began
        second, began = client(), time.monotonic()
        second.reply(_COUNT)
        wrote = time.monotonic() - began
    except ModelError as error:
        return replace(found, problem=str(error))
    if second.tokens_out:
        writes = second.tokens_out / wrote
        rest = read - first.tokens_out / writes
        reads = first.tokens_in / rest if rest > 0 and first.tokens_in else None
        found = replace(found, writes=writes, reads=reads)
    return found


def _schema(chat: OpenAIChat) -> str:
    """Returns the form of output a server obeys even if the prompt asks for another answer."""
    try:
        chat.reply(Prompt("Answer with the one word cherry.", _FRUITS, _FRUIT))
    except LabelError:
        return "ignored" if chat.form != "text" else "none"
    return chat.form if chat.form != "text" else "none"
