"""What can go wrong with a request, which of it may pass, and how to say it to people."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Protocol

from segviz.llm.protocols import ModelError

LONGEST_RETRY_AFTER = 60.0
"""A server that asks to wait longer is asked again after this many seconds."""

KEPT = "Finished work is kept; build again to go on."
_SAID = 300
_PASSING = (408, 409, 425, 429)
_OF_ONE_REQUEST = ("empty", "length", 400, 413, 422)
_OF_THE_SERVER = (402, 500)
_ADVICE = {
    "timeout": "Check that the server is not overloaded, or raise the timeout.",
    "connection": "Check the address, that the server is running, and the network.",
    "body": "Check that the base URL is that of an OpenAI-compatible API (it often ends in /v1).",
    "length": "Raise max_tokens; models that reason first need room for it.",
    "empty": "Try again, or choose another model.",
    "vectors": "Check that the embedding model is the one meant; a model that changed under the "
    "same name needs a new cache.",
    400: "Check the model name and its settings.",
    401: "Check the key for this endpoint.",
    402: "Check the account's credit.",
    403: "This key may not use this model or address; check the account, or choose another model.",
    404: "Check the base URL (it often ends in /v1) and the model name.",
    413: "The text is too long for this server.",
    429: "Wait a while, or lower the number of requests at once.",
    500: "The server has trouble of its own; try again later.",
}


class PassingFault(Exception):
    """A fault worth another try. ``kind`` picks the advice, ``wait`` overrides the backoff
    in seconds, ``at_once`` skips it, ``error`` makes the final error from the number of
    tries."""

    def __init__(
        self,
        what: str,
        kind: str | int,
        *,
        wait: float | None = None,
        at_once: bool = False,
        error: Callable[[int], ModelError] | None = None,
    ) -> None:
        """Keep what happened."""
        super().__init__(what)
        self.kind = kind
        self.wait = wait
        self.at_once = at_once
        self.error = error


class FinalFault(Exception):
    """The server refused the request; ``said`` is its reason, secrets blanked out."""

    def __init__(self, what: str, status: int, said: str) -> None:
        """Keep what happened."""
        super().__init__(what)
        self.status = status
        self.said = said


class RequestError(ModelError):
    """A ModelError for a request that failed for good: ``reason`` is what happened, in
    short; ``lasting``: it lies with this one request, others may fare better;
    ``settable``: other settings of the endpoint may help."""

    def __init__(self, message: str, kind: str | int, reason: str) -> None:
        """``kind`` is a name or an HTTP status, as in the advice."""
        super().__init__(message)
        self.reason = reason
        self.lasting = kind in _OF_ONE_REQUEST
        self.settable = kind not in _OF_THE_SERVER


class RefusedError(RequestError):
    """A RequestError for a request the server refused with an HTTP status; ``said`` is its
    reason, secrets blanked out. ``for_all``: other requests would fare the same."""

    def __init__(self, message: str, status: int, reason: str, said: str) -> None:
        """Keep status and reason."""
        super().__init__(message, status, reason)
        self.status = status
        self.said = said
        self.for_all = not self.lasting


class _Response(Protocol):
    @property
    def headers(self) -> Mapping[str, str]: ...


def from_status(status: int, response: _Response, said: str) -> PassingFault | FinalFault:
    """The fault of an error status. An account without credit also answers 429, but
    waiting does not help there."""
    if status == 429 and "insufficient_quota" in said:
        return FinalFault("the account has no credit left (429 insufficient_quota)", 402, said)
    if status in _PASSING or status >= 500:
        what = f"the server answered {status}"
        kind = status if status == 429 else 500
        return PassingFault(_with(what, said), kind, wait=retry_after(response.headers))
    if 300 <= status < 400:
        return FinalFault(f"the server sends to another address ({status})", 404, "")
    # A refused key is often repeated in the answer, in part or in full: say nothing of it.
    said = "" if status == 401 else said
    return FinalFault(_with(f"the server refused the request ({status})", said), status, said)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a server asks to wait, at most LONGEST_RETRY_AFTER; None if it does not say.

    A date is read against the server's own Date header where there is one, so that a
    wrong clock here does not matter.
    """
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            until = parsedate_to_datetime(value).timestamp()
        except ValueError:
            return None
        try:
            seconds = until - parsedate_to_datetime(headers.get("date", "")).timestamp()
        except ValueError:
            seconds = until - time.time()
    if seconds != seconds:  # NaN
        return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


def explain(
    fault: PassingFault | FinalFault, address: str, model: str, tries: int, seconds: float
) -> RequestError:
    """The error for people: what happened, how often it was tried, what to do."""
    kind = fault.kind if isinstance(fault, PassingFault) else fault.status
    tried = "Tried once." if tries == 1 else f"Tried {tries} times in {seconds:.0f} s."
    advice = _ADVICE.get(kind, _ADVICE[400])
    message = f"{address} ({model}): {fault}. {tried} {advice} {KEPT}"
    if isinstance(fault, FinalFault):
        return RefusedError(message, fault.status, str(fault), fault.said)
    return RequestError(message, kind, str(fault))


def _with(what: str, said: str) -> str:
    """``what`` and the server's words, shortened, without line breaks and control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in said).split())
    line = line if len(line) <= _SAID else line[:_SAID] + "…"
    return f"{what}: {line.rstrip('.')}" if line else what
