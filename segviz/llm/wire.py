"""One endpoint's connection: send a request, read the reply, try again within limits."""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from segviz.llm import faults, waiting
from segviz.llm.endpoint import Endpoint
from segviz.llm.faults import FinalFault, PassingFault
from segviz.llm.protocols import ModelError
from segviz.llm.usage import Metered

if TYPE_CHECKING:
    import openai

Body = dict[str, Any]
Route = Literal["chat", "embeddings"]
T = TypeVar("T")

FIRST_WAIT = 0.5
LONGEST_WAIT = 8.0


def _backoff(attempt: int) -> float:
    """Seconds to wait after the ``attempt``-th failure: 0.5, 1, 2, 4, then always 8."""
    return float(min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT))


class Wire:
    """Sends requests to one endpoint. The package's own retries, its 600 s timeout and
    redirects (which would carry texts to an address nobody chose) are switched off.

    Every request under way has a connection of its own, so that one that is overdue or
    no longer wanted can be closed without touching the others."""

    def __init__(
        self,
        endpoint: Endpoint,
        meter: Metered,
        sleep: Callable[[float], None] = waiting.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Import ``openai`` and set up the connection; nothing is sent yet."""
        import openai

        self.endpoint = endpoint
        self._meter = meter
        self._sleep = sleep
        self._clock = clock
        self._package = openai
        self._idle: list[openai.OpenAI] = []
        self._close = weakref.finalize(self, _close_all, self._idle)

    def close(self) -> None:
        """Close the connections; also done when the object is dropped."""
        self._close()

    def ask(
        self,
        route: Route,
        build: Callable[[PassingFault | None], Body],
        read: Callable[[Body], T],
        adapt: Callable[[Body, str], bool] = lambda body, text: False,
    ) -> T:
        """Send what ``build`` makes and return what ``read`` makes of the reply.

        ``build`` is told the last fault, if any. ``read`` raises PassingFault for a reply
        that is worth asking for again. ``adapt`` is shown a request the server refused as
        malformed and what it said; True means it changed what ``build`` makes next, and
        that try is not counted, so it must not say so for ever.

        Raises ModelError, or the fault's own ``error``, after ``retries`` more tries.
        """
        started = self._clock()
        fault: PassingFault | FinalFault | None = None
        tries = 0
        while tries <= self.endpoint.retries:
            body = build(fault if isinstance(fault, PassingFault) else None)
            tries += 1
            try:
                return read(self._send(route, body))
            except FinalFault as refused:
                fault = refused
            except PassingFault as passing:
                fault = passing
            if isinstance(fault, FinalFault):
                if fault.status in (400, 422) and adapt(body, fault.said):
                    tries -= 1
                    continue
                break
            if tries <= self.endpoint.retries and not fault.at_once:
                self._sleep(_backoff(tries) if fault.wait is None else fault.wait)
        # Raised out here so that no exception of the package, which holds the request and
        # its headers, hangs on to this one.
        raise self._error(fault, body["model"], tries, self._clock() - started)

    def _send(self, route: Route, body: Body) -> Body:
        """One request; the reply as JSON object. ``read`` counts its tokens."""
        started = self._clock()
        try:
            content = self._post(route, body)
        except self._package.APIStatusError as error:
            raise faults.from_status(error.status_code, error.response, self._said(error)) from None
        except self._package.APITimeoutError:
            raise PassingFault(f"no reply within {self.endpoint.timeout:g} s", "timeout") from None
        except TimeoutError:
            what = f"the reply was not complete within {self.endpoint.deadline:g} s"
            raise PassingFault(what, "timeout") from None
        except self._package.APIConnectionError as error:
            cause = type(error.__cause__).__name__
            raise PassingFault(f"the connection failed ({cause})", "connection") from None
        finally:
            self._meter.count_call(self._clock() - started)
        try:
            reply = json.loads(content)
        except ValueError:  # also what is not UTF-8
            reply = None
        except RecursionError:  # nested a thousand deep
            reply = None
        if not isinstance(reply, dict):
            raise PassingFault("the reply was not valid JSON, or cut off", "body")
        return reply

    def _post(self, route: Route, body: Body) -> bytes:
        try:
            client = self._idle.pop()
        except IndexError:
            client = self._connect()

        def call() -> bytes:
            if route == "chat":
                return client.chat.completions.with_raw_response.create(**body).content
            return client.embeddings.with_raw_response.create(**body).content

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
            default_headers={"Authorization": authorization},
            max_retries=0,
            timeout=endpoint.timeout,
            http_client=self._package.DefaultHttpxClient(
                timeout=endpoint.timeout, follow_redirects=False
            ),
        )

    def _said(self, error: openai.APIStatusError) -> str:
        """What the server wrote about an error: its message, else its text."""
        said: object = error.body
        if isinstance(said, dict):
            parts = [str(said[name]) for name in ("message", "code") if said.get(name)]
            said = " ".join(parts) or said
        return self.endpoint.scrub(str(said or ""))

    def _error(
        self, fault: PassingFault | FinalFault | None, model: str, tries: int, seconds: float
    ) -> ModelError:
        assert fault is not None
        if isinstance(fault, PassingFault) and fault.error is not None:
            return fault.error(tries)
        return faults.explain(fault, self.endpoint.address, model, tries, seconds)


def _close_all(clients: list[openai.OpenAI]) -> None:
    while clients:
        clients.pop().close()
