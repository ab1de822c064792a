"""Sends requests to one endpoint and explains failures.

The ``openai`` package sends the requests, bounds the silence of a server (``timeout``) and
tries again after 408, 409, 429, 5xx, timeouts and lost connections (``max_retries``). It waits
as long as ``Retry-After`` says, else half a second, doubled up to 8.

This module adds what the package does not know about:

* It joins the events of a streamed reply, and repeats a request whose stream breaks off.
* It counts every request, also the failed ones, which servers charge for.
* It repeats a request whose reply is unusable: broken JSON, an empty or cut off answer, a label
  outside the set, a text that fails its checks. A reply that came whole but cannot be used is
  asked for twice more at most, each time differently (``Fault.again``).
* It leaves out a parameter that the server refuses.
* It names the fault, the tries and a remedy in one sentence without the key in it.

Redirects are switched off; they would carry texts to an address nobody chose.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from segviz.llm.cache import NOTE, Completion, ModelCache, content_key
from segviz.llm.endpoint import Endpoint
from segviz.llm.protocols import ModelError
from segviz.llm.usage import Metered
from segviz.waiting import check_cancelled

if TYPE_CHECKING:
    import openai

Body = dict[str, Any]
Route = Literal["chat", "embeddings"]
T = TypeVar("T")

_END = b"\n\ndata: [DONE]\n\n"  # of a stream
_SAID = 300
_MOST_BYTES = 50_000_000  # of one reply; the vectors of the largest request take a third
_LONGEST = 20  # timeouts that one reply may take as a whole
_ADAPTABLE = (400, 422, 500, 501)
_PASSING = (408, 409, 425, 429)
_UNFIT = ("label", "text", "empty", "length")
_AGAIN = 2  # more tries after a complete but unusable reply
_LISTING_SECONDS = 2.0
# Names for it on different servers; the length used comes before that of the training.
_CONTEXT = ("n_ctx", "max_model_len", "loaded_context_length", "context_length", "n_ctx_train")
_TOO_LONG = re.compile(r"context (?:size|length|window)|too (?:long|many tokens)", re.I)
_LASTING_TRAITS = ("meta", "root", "parent", "digest")  # fields that do not change over time
_OF_ONE_REQUEST = ("empty", "length", 400, 413, 422)
_OF_THE_SERVER = (402, 500)
_ADVICE = {
    "timeout": "Check that the server is not overloaded, or raise the timeout.",
    "connection": "Check the address, that the server is running, and the network.",
    "body": "Check that the base URL is that of an OpenAI-compatible API (it often ends in /v1).",
    "label": "Choose another model, or let the fallback decide.",
    "text": "Choose another model, or let the fallback write.",
    "length": "Raise max_tokens; models that reason first need room for it.",
    "empty": "Try again, or choose another model.",
    "vectors": "Check that the embedding model is the one meant; a model that changed under the "
    "same name needs a new cache.",
    400: "Check the model name and its settings.",
    401: "Check the key for this endpoint.",
    402: "Check the account's credit.",
    403: "This key may not use this model or address; check the account, or choose another model.",
    404: "Check the base URL (it often ends in /v1) and the model name.",
    413: "Give the server a longer context, or lower prompt_tokens here.",
    429: "Wait a while, or lower the number of requests at once.",
    500: "The server has trouble of its own; try again later.",
}


# Called before each request that is sent in this thread, also by the retries of ``openai``.
_ON_SEND: ContextVar[Callable[[], None]] = ContextVar("on_send", default=lambda: None)


class Loaded(NamedTuple):
    """Description of a model by the server that has loaded it.

    ``fingerprint`` is a hash that tells weights apart that were replaced under one name, "" if
    unknown. ``context`` is the longest context in tokens, 0 if unknown.
    """

    fingerprint: str = ""
    context: int = 0


class Client(Metered):
    """Base class of the clients of a server: sends requests, tries again, and explains failures."""

    def __init__(self, endpoint: Endpoint, cache: ModelCache | None, total: Metered | None) -> None:
        """Imports ``openai`` and prepares a client; sends nothing yet.

        Args:
            endpoint: the server and its models.
            cache: store of replies; None keeps them in memory.
            total: counters to which the client's counts are added.

        Raises:
            ValueError: ``openai`` is not installed.
        """
        try:
            import openai
        except ImportError:
            raise ValueError(
                "a model server needs the package openai, which is not installed here"
            ) from None

        super().__init__(total)
        self.endpoint = endpoint
        self.cache = cache if cache is not None else ModelCache()
        self._package = openai  # for its classes of errors
        authorization = f"Bearer {endpoint.key or 'none'}"
        # Key, address and header are all given, so that none is read from the environment:
        # a key meant for one server never reaches another.
        self._openai = openai.OpenAI(
            api_key=endpoint.key or "none",
            base_url=endpoint.address,
            default_headers={"Authorization": authorization},
            timeout=endpoint.timeout,
            http_client=openai.DefaultHttpxClient(
                timeout=endpoint.timeout,
                follow_redirects=False,
                event_hooks={
                    "request": [lambda request: _ON_SEND.get()()],
                    "response": [self._bound],
                },
            ),
        )
        self._listing = threading.Lock()
        self._loaded: dict[str, Loaded] = {}
        self._close = weakref.finalize(self, self._openai.close)

    def close(self) -> None:
        """Closes the connections to the server, as deleting the client does; not the cache."""
        self._close()

    def listed(self, seconds: float = _LISTING_SECONDS) -> list[Body]:
        """Returns the server's descriptions of its models; [] if none come within ``seconds``."""
        client = self._openai.with_options(max_retries=0, timeout=seconds)
        try:
            listed = json.loads(client.models.with_raw_response.list().content)["data"]
        except (self._package.APIError, ValueError, KeyError, TypeError, RecursionError):
            return []
        rows = listed if isinstance(listed, list) else []
        return [row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]

    def loaded(self, model: str) -> Loaded:
        """Returns how a server on this machine describes a model; for others an empty description.

        Its digest is part of the keys of replies. While the server is down its last one applies.
        """
        if not self.endpoint.local:
            return Loaded()
        with self._listing:
            if model in self._loaded:
                return self._loaded[model]
            key = content_key("loaded", self.endpoint.address, model)
            if rows := self.listed():
                row = next((row for row in rows if row["id"] == model), {})
                traits = {name: row[name] for name in _LASTING_TRAITS if row.get(name)}
                # llama.cpp: sizes of the weights; the context is a setting, not a trait
                if isinstance(meta := traits.get("meta"), dict):
                    traits["meta"] = {name: of for name, of in meta.items() if name != "n_ctx"}
                content = json.dumps(traits, sort_keys=True).encode("ascii")
                digest = hashlib.sha256(content).hexdigest()[:12] if traits else ""
                loaded = Loaded(digest, context_in(row) or 0)
                note = Completion(json.dumps(loaded), 0, 0, NOTE)
                self.cache.keep_completion(key, note, replace=True)
            else:
                known = self.cache.completion(key)
                loaded = Loaded(*json.loads(known.text)) if known else Loaded()
            self._loaded[model] = loaded
        return loaded

    def _ask(
        self,
        route: Route,
        build: Callable[[Fault | None], Body],
        read: Callable[[Body], T],
        adapt: Callable[[Body, int, str], bool] = lambda body, status, answer: False,
    ) -> T:
        """Sends a request until its reply can be used, in a limited number of tries.

        Args:
            route: kind of the request.
            build: returns the body of the request; receives the fault of the last try, if any.
            read: returns the result for a reply, or raises a Fault.
            adapt: receives a body that the server refused (``_ADAPTABLE``), status and words. It
                returns True if the next ``build`` differs; tries are then counted anew.

        Raises:
            RequestError: All tries failed; says why, how many there were, and what to do.
        """
        started = time.monotonic()
        most = self.endpoint.retries + 1
        tries = again = 0

        def on_send() -> None:
            nonlocal tries
            check_cancelled()
            tries += 1
            self.count(calls=1)

        _ON_SEND.set(on_send)
        fault: Fault | None = None
        while tries < most:
            # Retries by ``openai`` count, too: ``on_send`` is called before each.
            body = build(fault)
            try:
                return read(self._send(route, body, most - tries - 1))
            except Fault as latest:
                fault = latest
                again += fault.kind in _UNFIT  # complete but unusable
                fault.again = again
            # Without a parameter the server refuses, the request is another and starts anew.
            if fault.status in _ADAPTABLE and adapt(body, fault.status, fault.answer):
                tries = 0
            elif fault.final or again > _AGAIN:
                break
        # Raised outside the except clause: the package's exception holds the request and its
        # headers, and must not become this one's context.
        assert fault is not None
        seconds = time.monotonic() - started
        tried = "Tried once." if tries == 1 else f"Tried {tries} times in {seconds:.0f} s."
        advice = _ADVICE.get(fault.kind, _ADVICE[400])
        where = f"{self.endpoint.address} ({body['model']})"
        raise RequestError(f"{where}: {fault}. {tried} {advice}", fault)

    def _send(self, route: Route, body: Body, retries: int) -> Body:
        """Sends a request, with ``retries`` by ``openai``; returns JSON or raises a Fault."""
        client = self._openai.with_options(max_retries=retries)
        resource = client.chat.completions if route == "chat" else client.embeddings
        try:
            with resource.with_streaming_response.create(**body) as response:
                streamed = response.headers.get("content-type", "").startswith("text/event-stream")
                content = self._content(response, streamed)
        except self._package.APIStatusError as error:
            raise _from_status(error.status_code, self._reason(error)) from None
        except self._package.APITimeoutError:
            raise self._silent(final=True) from None
        except self._package.APIConnectionError as error:
            what = f"the connection failed ({type(error.__cause__).__name__})"
            raise Fault(what, "connection", final=True) from None
        try:
            reply = _joined(content) if streamed else json.loads(content)
        # Also invalid UTF-8, nesting a thousand deep, or events that are no objects.
        except (ValueError, RecursionError, TypeError, AttributeError):
            reply = None
        if not isinstance(reply, dict):
            raise Fault("the reply was not valid JSON, or cut off", "body")
        if streamed and reply["error"]:
            answer = self.endpoint.scrub(str(reply["error"]))
            raise Fault(f"the server broke off: {_line(answer)}", 500, answer=answer)
        return reply

    def _bound(self, response: Any) -> None:
        """Ends a response, whatever its status, after so many bytes and so many timeouts."""
        # The HTTP package below ``openai``, which is another one by version.
        package = import_module(type(response).__module__.partition(".")[0])
        stream, until = response.stream, time.monotonic() + _LONGEST * self.endpoint.timeout

        class Bounded(package.SyncByteStream):  # type: ignore[misc, name-defined]
            def __iter__(bounded) -> Iterator[bytes]:
                size = 0
                for piece in stream:
                    size += len(piece)
                    self._check_size(size)
                    if time.monotonic() > until:
                        what = f"the reply took longer than {_LONGEST} timeouts of "
                        what += f"{self.endpoint.timeout:g} s"
                        raise Fault(what, "timeout", final=True)
                    yield piece

            def close(bounded) -> None:
                stream.close()

        response.stream = Bounded()

    def _check_size(self, size: int) -> None:
        if size > _MOST_BYTES:
            what = f"the reply was longer than {_MOST_BYTES / 1e6:.0f} MB"
            raise Fault(what, "body", final=True)

    def _content(self, response: openai.APIResponse[Any], streamed: bool) -> bytes:
        """Reads the body of a response, for as long as the server goes on sending pieces of it."""
        pieces: list[bytes] = []
        size = 0  # once unpacked
        try:
            for piece in response.iter_bytes():
                pieces.append(piece)
                size += len(piece)
                self._check_size(size)
                if not self.heard(piece) and streamed:
                    pieces.append(_END)
                    break
            return b"".join(pieces)
        except Fault:
            raise
        except Exception as error:  # of the HTTP package below ``openai``
            name = type(error).__name__
            if "Timeout" in name:
                raise self._silent() from None
            raise Fault(f"the reply broke off ({name})", "connection") from None

    def heard(self, piece: bytes) -> bool:
        """Receives a piece of a streamed reply; returns False to cut the reply off after it."""
        return True

    def _silent(self, final: bool = False) -> Fault:
        """Returns the fault of a server that sent nothing for the length of the timeout."""
        what = f"the server was silent for {self.endpoint.timeout:g} s"
        return Fault(what, "timeout", final=final)

    def _reason(self, error: openai.APIStatusError) -> str:
        """Returns the server's own words about a failed request, without secrets."""
        answer: object = error.body
        if isinstance(answer, dict):
            parts = [answer.get("message"), answer.get("code")]
            answer = " ".join(part for part in parts if isinstance(part, str)) or answer
        return self.endpoint.scrub(str(answer or ""))


def context_in(description: Body) -> int | None:
    """Returns the context in tokens by a server's description of a model; None if not in it."""
    meta = description.get("meta")
    traits = {**description, **(meta if isinstance(meta, dict) else {})}
    sizes = (traits.get(name) for name in _CONTEXT)
    return next((size for size in sizes if type(size) is int), None)


def text_of(content: object) -> str:
    """Returns the text of a message, or of its part in a stream; some servers send it in parts.

    A part is ``{"type": "text", "text": …}``. Parts of another type, such as reasoning, and None
    are "". Raises TypeError for anything else.
    """
    if isinstance(content, list):
        texts = [part for part in content if part.get("type") in ("text", "output_text")]
        return "".join(text_of(part.get("text")) for part in texts)
    if not isinstance(content, str | None):
        raise TypeError(f"content of type {type(content).__name__}")
    return content or ""


def clean(text: str) -> str:
    """Returns ``text`` with "?" for each lone surrogate, which no request or file can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


# --- faults --------------------------------------------------------------------------------


class Fault(Exception):
    """Failure of one try of a request.

    ``kind``, a name or an HTTP status, selects the advice. ``status`` is the HTTP status of the
    response. ``answer`` is the server's reason, or a wrong answer, without secrets. ``reply`` is a
    reply that came whole and cannot be used; ``again`` counts such replies to this request so far.
    A ``final`` fault is not tried again here: ``openai`` has done so.
    """

    def __init__(
        self,
        what: str,
        kind: str | int,
        *,
        status: int = 200,
        answer: str = "",
        reply: Completion | None = None,
        final: bool = False,
    ) -> None:
        super().__init__(what)
        self.kind, self.status, self.answer, self.reply = kind, status, answer, reply
        self.again = 0
        self.final = final


class RequestError(ModelError):
    """Error of a request whose tries have all failed.

    ``reason``, ``kind``, ``status``, ``answer`` and ``reply`` are those of the last fault.
    ``lasting`` is True if only this request fails, ``settable`` if other settings of the endpoint
    may help.
    """

    def __init__(self, message: str, fault: Fault) -> None:
        super().__init__(message)
        self.reason, self.kind = str(fault), fault.kind
        self.status, self.answer, self.reply = fault.status, fault.answer, fault.reply
        self.lasting = fault.kind in _OF_ONE_REQUEST
        self.settable = fault.kind not in _OF_THE_SERVER


def _from_status(status: int, answer: str) -> Fault:
    """Returns the fault of a response with an error status and the server's reason for it."""
    kind, what, shown = status, f"the server refused the request ({status})", answer
    if status == 429 and "insufficient_quota" in answer:
        kind, what = 402, "the account has no credit left (429 insufficient_quota)"
    elif status in _PASSING or status >= 500:
        kind, what = status if status == 429 else 500, f"the server answered {status}"
    elif status in (400, 422) and _TOO_LONG.search(answer):
        kind = 413
    elif 300 <= status < 400:
        kind, what, shown = 404, f"the server sends to another address ({status})", ""
    elif status == 401:  # a refused key is often repeated in the answer, in part or in full
        shown = answer = ""
    line = _line(shown)
    what = f"{what}: {line}" if line else what
    return Fault(what, kind, status=status, answer=answer, final=True)


def _line(text: str) -> str:
    """Returns a server's message as one printable line of bounded length."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return (line if len(line) <= _SAID else line[:_SAID] + "…").rstrip(".")


def _joined(content: bytes) -> Body:
    """Joins the events of a stream to a reply; ValueError, TypeError or AttributeError if bad."""
    message: dict[str, str] = {"content": "", "refusal": ""}
    reply: Body = {"usage": None, "system_fingerprint": None, "error": None}
    finish = None
    for line in content.split(b"\n"):
        field, _, value = line.partition(b":")
        if field != b"data":
            continue
        if value.strip() == b"[DONE]":
            break
        event = json.loads(value)
        reply |= {name: event[name] for name in reply if event.get(name)}
        for choice in event.get("choices") or ():
            for name in message:
                message[name] += text_of((choice.get("delta") or {}).get(name))
            finish = choice.get("finish_reason") or finish
    else:
        if finish is None and not reply["error"]:
            raise ValueError("the stream broke off")
    return {**reply, "choices": [{"message": message, "finish_reason": finish}]}
