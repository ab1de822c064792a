"""One endpoint's client: requests, limits in time, retries, and what to say when all fail.

The ``openai`` package sends the requests and reads the server's errors, and its ``timeout``
bounds the silence of a server. Its own retries (``max_retries``) are switched off, because
they cannot do what is done here:

* count every request sent, also the failed ones, which servers charge for;
* end a wait at once, or let it be watched (``segviz.llm.waiting``): a deadline for the whole
  reply, where a timeout bounds one silence, and a heartbeat between two tries;
* ask again for what arrived with status 200 and is no use: broken JSON, an empty or cut off
  answer, a label outside the set (then with a reminder in the prompt);
* go by the ``Retry-After`` of any length up to LONGEST_RETRY_AFTER, and not retry an account
  without credit, which also answers 429;
* leave out a parameter the server refuses and go on;
* stop reading a reply that does not end (LARGEST_REPLY);
* name the fault, the tries and a remedy in one sentence without the key in it.

The waits are the same as the package's: half a second, doubled up to 8, without its jitter.
Redirects are switched off too; they would carry texts to an address nobody chose.
"""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from segviz.llm import waiting
from segviz.llm.cache import ModelCache
from segviz.llm.endpoint import Endpoint
from segviz.llm.protocols import ModelError
from segviz.llm.usage import Metered

if TYPE_CHECKING:
    import openai

Body = dict[str, Any]
Route = Literal["chat", "embeddings"]
T = TypeVar("T")

FIRST_WAIT = 0.5
"""Seconds between the first failed try and the second."""
LONGEST_WAIT = 8.0
"""Longest wait in seconds between two tries when the server does not name one."""

LONGEST_RETRY_AFTER = 60.0
"""A server that asks to wait longer is asked again after this many seconds."""

LARGEST_REPLY = {"chat": 8_000_000, "embeddings": 50_000_000}
"""Bytes of a reply read at most: four million tokens take less, and so do 256 vectors of 8192
numbers."""

KEPT = "Finished work is kept; build again to go on."
_SAID = 300
_ADAPTABLE = (400, 422, 500, 501)
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


class Client(Metered):
    """Asks an endpoint what its cache does not hold; chat model and embedder derive from it.

    Every request under way has a connection of its own, so that one that is overdue or
    no longer wanted can be closed without touching the others.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        cache: ModelCache | None,
        total: Metered | None,
        sleep: Callable[[float], None],
    ) -> None:
        """Imports ``openai``; nothing is sent yet. Without ``cache`` what is answered is kept
        in memory; ``total`` counts along and may outlive the client."""
        import openai

        super().__init__(total)
        self.endpoint = endpoint
        self.cache = cache if cache is not None else ModelCache()
        self._sleep = sleep
        self._package = openai
        self._idle: list[openai.OpenAI] = []
        self._close = weakref.finalize(self, _close_all, self._idle)

    def close(self) -> None:
        """Closes the connections, as dropping the object does; the cache is left open."""
        self._close()

    @contextmanager
    def _claimed(self, keys: Sequence[bytes]) -> Iterator[set[bytes]]:
        """As the cache's ``claimed``, renewed while its holder waits for the server."""
        with self.cache.claimed(keys) as (mine, renew), waiting.heartbeat(renew):
            yield mine

    def _ask(
        self,
        route: Route,
        build: Callable[[Fault | None], Body],
        read: Callable[[Body], T],
        adapt: Callable[[Body, int, str], bool] = lambda body, status, said: False,
    ) -> T:
        """Sends the request from ``build`` and returns what ``read`` makes of the reply.

        ``build`` is told the last fault, if any. ``read`` raises a Fault for a reply
        that is worth asking for again. ``adapt`` is shown a request that the server refused as
        malformed or failed at (400, 422, 500, 501), the status and what the server said; True
        means it changed what ``build`` makes next, and that try is not counted, so it must not
        say so for ever.

        Raises ModelError, or the fault's own ``error``, after ``retries`` more tries.
        """
        started = time.monotonic()
        # At most ``retries + 1`` counted tries. A refusal ends the loop unless ``adapt`` could
        # change the request; a passing fault waits: as the server asked, else by the backoff.
        fault: Fault | None = None
        tries = 0
        while tries <= self.endpoint.retries:
            body = build(fault)
            tries += 1
            try:
                return read(self._send(route, body))
            except Fault as found:
                fault = found
            if fault.status in _ADAPTABLE and adapt(body, fault.status, fault.said):
                tries -= 1
                continue
            if not fault.passing:
                break
            if tries <= self.endpoint.retries and not fault.at_once:
                wait = min(FIRST_WAIT * 2 ** (tries - 1), LONGEST_WAIT)
                self._sleep(wait if fault.wait is None else fault.wait)
        # Raised out here so that no exception of the package, which holds the request and
        # its headers, hangs on to this one.
        assert fault is not None
        seconds = time.monotonic() - started
        raise fault.error(tries) if fault.error else self._failed(fault, body, tries, seconds)

    def _send(self, route: Route, body: Body) -> Body:
        """Sends one request and counts it; the reply as a JSON object, or a fault."""
        try:
            content = self._post(route, body)
        except self._package.APIStatusError as error:
            raise _from_status(
                error.status_code, error.response.headers, self._said(error)
            ) from None
        except self._package.APITimeoutError:
            raise Fault(f"no reply within {self.endpoint.timeout:g} s", "timeout") from None
        except TimeoutError:
            what = f"the reply was not complete within {self.endpoint.deadline:g} s"
            raise Fault(what, "timeout") from None
        except _ReplyError as error:
            raise Fault(str(error), "body") from None
        except self._package.APIConnectionError as error:
            cause = error.__cause__
            if isinstance(cause, _ReplyError):  # some versions wrap it
                raise Fault(str(cause), "body") from None
            what = f"the connection failed ({type(cause).__name__})"
            raise Fault(what, "connection") from None
        finally:
            self.count_call()
        try:
            reply = json.loads(content)
        except (ValueError, RecursionError):  # also what is not UTF-8, or nested a thousand deep
            reply = None
        if not isinstance(reply, dict):
            raise Fault("the reply was not valid JSON, or cut off", "body")
        return reply

    def _post(self, route: Route, body: Body) -> bytes:
        """The raw reply within the deadline. A connection goes back to the idle ones only when
        its request is over; one that is overdue or abandoned is closed."""
        try:
            client = self._idle.pop()
        except IndexError:
            client = self._connect()

        def call() -> bytes:
            requests = client.chat.completions if route == "chat" else client.embeddings
            return requests.with_raw_response.create(**body).content

        over = False
        try:
            content = waiting.within(self.endpoint.deadline, call)
            over = True
        except self._package.APIError:
            over = True
            raise
        finally:
            if over and self._close.alive:
                self._idle.append(client)
            else:
                client.close()  # which also ends a request that is still under way
        return content

    def _connect(self) -> openai.OpenAI:
        endpoint = self.endpoint
        authorization = endpoint.authorization or f"Bearer {endpoint.key or 'none'}"
        # Key, address and header are all given, so that none is read from the environment:
        # a key meant for one server never reaches another.
        return self._package.OpenAI(
            api_key=endpoint.key or "none",
            base_url=endpoint.address,
            default_headers={"Authorization": authorization, "Accept-Encoding": "identity"},
            max_retries=0,
            timeout=endpoint.timeout,
            http_client=self._package.DefaultHttpxClient(
                timeout=endpoint.timeout,
                follow_redirects=False,
                event_hooks={"response": [_bound]},
            ),
        )

    def _said(self, error: openai.APIStatusError) -> str:
        """What the server wrote about an error: its message, else its text."""
        said: object = error.body
        if isinstance(said, dict):
            parts = [str(said[name]) for name in ("message", "code") if said.get(name)]
            said = " ".join(parts) or said
        return self.endpoint.scrub(str(said or ""))

    def _failed(self, fault: Fault, body: Body, tries: int, seconds: float) -> RequestError:
        """The error for people: what happened, how often it was tried, what to do."""
        tried = "Tried once." if tries == 1 else f"Tried {tries} times in {seconds:.0f} s."
        advice = _ADVICE.get(fault.kind, _ADVICE[400])
        where = f"{self.endpoint.address} ({body['model']})"
        return RequestError(f"{where}: {fault}. {tried} {advice} {KEPT}", fault)


class _ReplyError(Exception):
    """A reply is not read to its end."""


def _bound(response: Any) -> None:
    """Has the body of an HTTP response, of whatever status, read up to LARGEST_REPLY. What is
    packed has no size that could be trusted; only plain bodies were asked for."""
    if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise _ReplyError("the reply was compressed, though a plain one was asked for")
    route = "embeddings" if response.url.path.endswith("/embeddings") else "chat"
    most, read = LARGEST_REPLY[route], response.iter_raw

    def counted(*arguments: Any, **named: Any) -> Iterator[bytes]:
        size = 0
        for part in read(*arguments, **named):
            size += len(part)
            if size > most:
                raise _ReplyError(f"the reply was longer than {most:,} bytes")
            yield part

    response.iter_raw = counted


def _close_all(clients: list[openai.OpenAI]) -> None:
    while clients:
        clients.pop().close()


def clean(text: str) -> str:
    """``text`` without lone surrogates, which no request and no file can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


# --- what can go wrong ---------------------------------------------------------------------


class Fault(Exception):
    """One try that failed. ``kind``, a name or an HTTP status, picks the advice; ``passing``: it is
    worth another try, after ``wait`` seconds in place of the backoff, or ``at_once``. ``error``
    makes the final error from the number of tries. ``status`` is that of a server that refused
    the request or is in trouble, ``said`` its reason, secrets blanked out."""

    def __init__(
        self,
        what: str,
        kind: str | int,
        *,
        passing: bool = True,
        wait: float | None = None,
        at_once: bool = False,
        error: Callable[[int], ModelError] | None = None,
        status: int = 200,
        said: str = "",
    ) -> None:
        super().__init__(what)
        self.kind, self.passing, self.wait, self.at_once = kind, passing, wait, at_once
        self.error, self.status, self.said = error, status, said


class RequestError(ModelError):
    """A ModelError for a request that failed for good: ``reason`` is what happened, in short,
    ``status`` and ``said`` as of the fault; ``lasting``: it lies with this one request, others
    may fare better; ``settable``: other settings of the endpoint may help."""

    def __init__(self, message: str, fault: Fault) -> None:
        super().__init__(message)
        self.reason, self.status, self.said = str(fault), fault.status, fault.said
        self.lasting = fault.kind in _OF_ONE_REQUEST
        self.settable = fault.kind not in _OF_THE_SERVER
        self.for_all = not fault.passing and not self.lasting


def _from_status(status: int, headers: Mapping[str, str], said: str) -> Fault:
    """The fault of an error status. An account without credit also answers 429, but waiting does
    not help there."""
    if status == 429 and "insufficient_quota" in said:
        return _refused("the account has no credit left (429 insufficient_quota)", 402, said)
    if status in _PASSING or status >= 500:
        what = _with(f"the server answered {status}", said)
        kind = status if status == 429 else 500
        return Fault(what, kind, wait=retry_after(headers), status=status, said=said)
    if 300 <= status < 400:
        return _refused(f"the server sends to another address ({status})", 404, "")
    # A refused key is often repeated in the answer, in part or in full: say nothing of it.
    said = "" if status == 401 else said
    return _refused(_with(f"the server refused the request ({status})", said), status, said)


def _refused(what: str, status: int, said: str) -> Fault:
    return Fault(what, status, passing=False, status=status, said=said)


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


def _with(what: str, said: str) -> str:
    """``what`` and the server's words, shortened, without line breaks and control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in said).split())
    line = line if len(line) <= _SAID else line[:_SAID] + "…"
    return f"{what}: {line.rstrip('.')}" if line else what
