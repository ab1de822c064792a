"""Tests a server for a few seconds: its models, structured output and speed."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace

from segviz.llm.cache import ModelCache
from segviz.llm.chat import OpenAIChat
from segviz.llm.client import Loaded, RequestError, context_in
from segviz.llm.endpoint import RANGES, Endpoint
from segviz.llm.prompts import tokens_of
from segviz.llm.protocols import LabelError, ModelError, Prompt

SECONDS = 5.0
"""Longest time a test takes."""

_CHERRY = "Answer with the one word cherry."
_FRUIT, _FRUITS = "Which fruit do you like? ", ("apple", "pear")
_MANY = 80  # repetitions of that question, some 500 tokens, to time the reading of a prompt
_COUNT = Prompt("", "Write the numbers from one to sixty as words, nothing else.")
_COUNTED = 96  # tokens of that answer at most
_SHARE = 0.3  # of the time for that answer; a slow server is cut off then
_WRITING = 0.2  # least share of the time of a reply that writing it takes
_LATE = (
    f"no answer in the {SECONDS:.0f} seconds of the test; the server may be busy, or load its "
    "model and answer at the next test"
)
_TOKENS = re.compile(rb'"(?:content|reasoning|reasoning_content)": ?"(?!")')


@dataclass(frozen=True)
class ServerReport:
    """Result of the test of a server.

    ``models`` are those the server lists. ``schema`` is the form of structured output it obeys,
    "ignored" if it accepts one and answers otherwise, "none" if it accepts none, "" if untested.
    ``context`` is the longest context it lists for the model, in tokens. ``reads`` and ``writes``
    are the tokens of a prompt and of an answer that it processes in a second, None if not measured.
    ``problem`` says why the test failed; "" if it did not.
    """

    models: tuple[str, ...] = ()
    schema: str = ""
    context: int | None = None
    writes: float | None = None
    reads: float | None = None
    problem: str = ""

    def seconds(self, tokens_in: float, tokens_out: float) -> float | None:
        """Estimates the seconds for successive requests from their tokens; None without a speed."""
        if not self.writes or not self.reads:
            return None
        return tokens_out / self.writes + tokens_in / self.reads

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Results of the test as pairs of name and value, in words; a problem comes first."""
        forms = {"ignored": "taken, but ignored", "none": "not supported"}
        pace = [(self.reads, "read"), (self.writes, "written")]
        speed = " and ".join(
            f"{tokens:.{0 if tokens >= 10 else 1}f} tokens {how}" for tokens, how in pace if tokens
        )
        known = [
            ("Problem", self.problem),
            ("Models listed", ", ".join(self.models)),
            ("Schema", forms.get(self.schema, self.schema and f"kept to ({self.schema})")),
            ("Context", f"{self.context:,} tokens" if self.context else ""),
            ("Speed", speed and f"{speed} a second"),
        ]
        # The problem says why a value is unknown.
        if self.problem:
            return [(name, value) for name, value in known if value]
        return [(name, value or "unknown") for name, value in known[1:]]


class _Timed(OpenAIChat):
    """Chat model that times a streamed reply and cuts it off at the time ``until``."""

    def __init__(self, endpoint: Endpoint, until: float) -> None:
        # Nothing is cached: a cached reply would say nothing about the speed.
        super().__init__(endpoint, ModelCache(None))
        self.until, self.began, self.events = until, time.monotonic(), 0
        self.first = self.last = 0.0
        self.cut = False
        self._loaded[endpoint.model] = Loaded()  # or it would be asked for within the time

    def heard(self, piece: bytes) -> bool:
        """Notes when a piece of a reply arrives; returns False after ``until``, to cut it off."""
        self.last = time.monotonic()
        self.events += len(_TOKENS.findall(piece))
        self.first = self.first or (self.last if self.events else 0.0)
        self.cut = self.last >= self.until
        return not self.cut

    def writes(self) -> float | None:
        """Returns how many tokens the server wrote in a second; None if nothing came.

        A reply that was cut off does not say its tokens; then each event counts as one.
        """
        taken, writing = self.last - self.began, self.last - self.first
        tokens = self.usage.tokens_out or self.events
        # A reply in one piece, or of a proxy that collects the events, shows no time of writing.
        return tokens / (writing if writing > _WRITING * taken else taken) if tokens else None

    def reads(self, prompt: Prompt) -> float | None:
        """Returns how many tokens of ``prompt``, sent just now, the server read in a second."""
        tokens = self.usage.tokens_in or tokens_of(prompt.system + prompt.user)
        return tokens / (self.first - self.began) if self.first else None


def probe(endpoint: Endpoint) -> ServerReport:
    """Tests the server of an endpoint, in about ``SECONDS``.

    To a chat model it sends two or three short requests, without any text of a conversation.

    Args:
        endpoint: the server and its model; without a model only the list of models is requested.

    Returns:
        Everything measured before the first failure.
    """
    end = time.monotonic() + SECONDS

    def client(share: float = 1.0, max_tokens: int = _COUNTED) -> _Timed:
        left = max(RANGES["timeout"][0], end - time.monotonic())
        known = replace(endpoint, timeout=left, retries=0, max_tokens=max_tokens)
        return _Timed(replace(known, model=endpoint.model or "none"), end - (1 - share) * left)

    listed = client().listed(SECONDS / 2)
    report = ServerReport(tuple(str(row["id"]) for row in listed))
    row = next((row for row in listed if row["id"] == endpoint.model), {})
    report = replace(report, context=context_in(row))
    if not endpoint.model:
        return replace(report, problem="" if listed else "it lists no models")
    last = first = client(_SHARE)
    try:
        first.reply(_COUNT)
        # A number that differs each time, so that no server has read the prompt before.
        choice = Prompt(f"{time.time_ns()}. {_CHERRY}", _FRUIT, _FRUITS)
        last = second = client()
        report = replace(report, writes=first.writes(), reads=first.reads(_COUNT))
        report = replace(report, schema=_schema(second, choice))
        report = replace(report, reads=second.reads(choice))
    except ModelError as error:
        # A stream cut off after its first event is empty, which is another error.
        late = last.cut or (isinstance(error, RequestError) and error.kind == "timeout")
        return replace(report, problem=_LATE if late else str(error))
    if (report.reads or 0) * (end - time.monotonic()) > _MANY * tokens_of(_FRUIT):
        third, long = client(max_tokens=1), Prompt("", f"{time.time_ns()}. {_FRUIT * _MANY}")
        with suppress(ModelError):  # models that reason first end in one
            third.reply(long)
        report = replace(report, reads=third.reads(long) or report.reads)
    return report


def _schema(chat: _Timed, choice: Prompt) -> str:
    """Returns the form of structured output that a server obeys (``ServerReport.schema``)."""
    try:
        chat.reply(choice)
        obeyed = True
    except LabelError as error:  # a reply that was cut off shows its beginning alone
        obeyed = chat.cut and error.answer.startswith("{")
    if chat.form == "text":
        return "none"
    return chat.form if obeyed else "ignored"
