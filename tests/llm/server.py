"""A loopback server that speaks the wire protocol of an OpenAI-compatible API.

    with ModelServer() as server:
        server.script(status(429, retry_after="1"), None, drop())
        chat = OpenAIChat(Endpoint(server.url, "m", timeout=0.3))

Faults are used up one per request in the order of arrival; ``None`` is a normal reply.
``server.fault`` (a callable of the request) gives faults by content, for tests with several
requests at once. ``server.requests`` holds every request body.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
DIMENSIONS = 16


@dataclass(frozen=True)
class Fault:
    """How one reply departs from a normal one; the default departs in nothing."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: str | None = None  # message of an error body
    code: str | int | None = None
    body: bytes | None = None  # sent as it is
    text: str | None = None  # the completion's text
    finish: str = "stop"
    change: Callable[[Body], Body] | None = None  # edits the normal reply
    cut: float = 1.0  # send this much of the body, as if complete
    drop: bool = False  # promise all of the body, send half, hang up
    hang: float = 0.0  # seconds before replying
    echo: bool = False  # repeat the Authorization header in the error
    drip: float = 0.0  # seconds between two bytes of the body, or two events of a stream


def status(
    number: int, retry_after: str = "0.001", error: str = "scripted fault", code: str | None = None
) -> Fault:
    """By default the client is to try again at once, so that tests are fast."""
    headers = {"Retry-After": retry_after}
    return Fault(status=number, headers=headers, error=error, code=code)


def hang(seconds: float = 5.0) -> Fault:
    return Fault(hang=seconds)


def drop() -> Fault:
    return Fault(drop=True)


def broken() -> Fault:
    return Fault(body=b'{"choices": [{]}')


def truncated() -> Fault:
    return Fault(cut=0.6)


def say(text: str, finish: str = "stop") -> Fault:
    return Fault(text=text, finish=finish)


def empty() -> Fault:
    return Fault(text="")


def missing(name: str = "choices") -> Fault:
    return Fault(change=lambda reply: {k: v for k, v in reply.items() if k != name})


def refuse(parameter: str) -> Fault:
    return status(400, error=f"Unsupported parameter: '{parameter}' is not supported here")


def resize(dimensions: int) -> Fault:
    def change(reply: Body) -> Body:
        data = [{**item, "embedding": [1.0] * dimensions} for item in reply["data"]]
        return {**reply, "data": data}

    return Fault(change=change)


def echo_key(code: int = 401) -> Fault:
    return Fault(status=code, error="wrong key", echo=True)


def enum(request: Body) -> list[str]:
    """The labels a request allows by its schema; [] for free text."""
    try:
        form = request["response_format"]
        schema = form.get("json_schema", form)["schema"]
        return list(schema["properties"]["label"]["enum"])
    except (KeyError, TypeError):
        return []


_PART = re.compile(r"^\d+\. ([^\n]*)\n(`{3,})\n(.*?)\n\2$", re.DOTALL | re.MULTILINE)


def quoted(user: str) -> list[tuple[str, str]]:
    """The parts of a user message: heading and text of each, in order."""
    return [(head, text) for head, _, text in _PART.findall(user)]


def texts_under(request: Body, head: str) -> list[str]:
    """The texts of a request whose heading begins so."""
    return [
        text for name, text in quoted(request["messages"][-1]["content"]) if name.startswith(head)
    ]


def default_answer(request: Body) -> str:
    """The first label, or a short text that depends on the prompt alone."""
    allowed = enum(request)
    if allowed:
        return allowed[0]
    digest = hashlib.sha256(json.dumps(request["messages"]).encode()).hexdigest()[:8]
    return f"Answer {digest}"


def vector(text: str) -> list[float]:
    """Counts of hashed words, so that texts sharing words are alike; not unit length."""
    row = [0.0] * DIMENSIONS
    for word in text.lower().split():
        row[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
    return row


def as_events(reply: Body, counted: bool) -> bytes:
    """A reply as a stream, an event for each word; with its tokens if they are ``counted``."""
    choice = reply["choices"][0]
    words = re.findall(r"\s*\S+|\s+", choice["message"]["content"])
    deltas: list[Body] = [{"role": "assistant", "content": None}, *({"content": w} for w in words)]
    events: list[Body] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    events.append({"choices": [end]})
    if counted:
        events.append({"choices": [], "usage": reply["usage"]})
    # As most servers do, every other character is sent as it is.
    sent = [json.dumps(event, ensure_ascii=False) for event in events]
    return "".join(f"data: {event}\n\n" for event in [*sent, "[DONE]"]).encode(errors="replace")


class ModelServer:
    """The server as a context manager."""

    def __init__(self) -> None:
        self.requests: list[Body] = []
        self.authorizations: list[str] = []
        self.paths: list[str] = []
        self.answer: Callable[[Body], str] = default_answer
        self.fault: Callable[[Body], Fault | None] = lambda request: None
        self.models: list[Body] = []  # as listed by /v1/models
        self.refuses: set[str] = set()  # parameters answered with 400 whenever present
        self.streams = True  # else a request for a stream gets its reply in one piece
        self.delay = 0.0
        self.most_at_once = 0
        self._now = 0
        self._script: deque[Fault | None] = deque()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._connections: set[socket.socket] = set()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def chats(self) -> list[Body]:
        return [request for request in self.requests if "messages" in request]

    @property
    def asked(self) -> list[Body]:
        """The chats that are no test of the server's speed (``segviz.llm.probe``)."""
        tests = ("Which fruit", "Write the numbers")
        return [one for one in self.chats if not any(t in str(one["messages"]) for t in tests)]

    @property
    def embedded(self) -> list[str]:
        """Every text sent for embedding, in order of arrival."""
        return [text for request in self.requests for text in request.get("input", [])]

    def script(self, *faults: Fault | None) -> None:
        """Faults for the next requests, one each; replaces what is left of the last ones."""
        with self._lock:
            self._script = deque(faults)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._thread.join()
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._http.server_close()

    def take(self, path: str, authorization: str, request: Body) -> Fault:
        """Record a request and decide how to answer it."""
        with self._lock:
            self.requests.append(request)
            self.paths.append(path)
            self.authorizations.append(authorization)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            fault = self._script.popleft() if self._script else None
            refused = sorted(self.refuses & set(request))
        if fault is None and refused:
            fault = refuse(refused[0])
        fault = fault or self.fault(request) or Fault()
        if fault.echo:
            fault = replace(fault, error=f"{fault.error}: {authorization}")
        self._stopping.wait(fault.hang + self.delay)
        return fault

    def done(self) -> None:
        with self._lock:
            self._now -= 1

    def normal(self, path: str, request: Body, fault: Fault) -> Body:
        """A normal reply to this request."""
        if path.endswith("/embeddings"):
            texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
            data = [
                {"object": "embedding", "index": place, "embedding": vector(text)}
                for place, text in enumerate(texts)
            ]
            tokens = sum(len(text.split()) for text in texts)
            usage = {"prompt_tokens": tokens, "total_tokens": tokens}
            return {"object": "list", "data": data, "model": request["model"], "usage": usage}
        text = fault.text
        if text is None:
            text = self.answer(request)
            text = json.dumps({"label": text}) if enum(request) else text
        message = {"role": "assistant", "content": text, "refusal": None}
        spent = sum(len(part["content"].split()) for part in request["messages"])
        given = len(text.split())
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": request["model"],
            "choices": [
                {"index": 0, "message": message, "finish_reason": fault.finish, "logprobs": None}
            ],
            "usage": {
                "prompt_tokens": spent,
                "completion_tokens": given,
                "total_tokens": spent + given,
            },
        }


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    owner: ModelServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def setup(self) -> None:
        super().setup()
        self.server.owner._connections.add(self.connection)

    def finish(self) -> None:
        self.server.owner._connections.discard(self.connection)
        super().finish()

    def do_GET(self) -> None:
        listing = json.dumps({"object": "list", "data": self.server.owner.models}).encode()
        known = self.path == "/v1/models"
        self._send(Fault(status=200 if known else 404), listing if known else b"{}")

    def do_POST(self) -> None:
        owner = self.server.owner
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            fault = owner.take(self.path, self.headers.get("Authorization", ""), request)
            self._send(fault, self._body(fault, request))
        finally:
            owner.done()

    def _body(self, fault: Fault, request: Body) -> bytes:
        if fault.body is not None:
            return fault.body
        if fault.error is not None:
            error = {"message": fault.error, "type": "scripted", "param": None, "code": fault.code}
            return json.dumps({"error": error}).encode()
        if self.path not in ("/v1/chat/completions", "/v1/embeddings"):
            return json.dumps({"error": "no such path"}).encode()
        reply = self.server.owner.normal(self.path, request, fault)
        if request.get("stream") and self.server.owner.streams and not fault.change:
            return as_events(reply, "include_usage" in request.get("stream_options", {}))
        reply = fault.change(reply) if fault.change else reply
        return json.dumps(reply).encode()

    def _send(self, fault: Fault, body: bytes) -> None:
        sent = body[: len(body) // 2] if fault.drop else body[: int(len(body) * fault.cut)]
        promised = len(body) if fault.drop else len(sent)
        self.send_response(fault.status)
        kind = "text/event-stream" if body.startswith(b"data:") else "application/json"
        headers = {"Content-Type": kind, "Content-Length": str(promised)}
        for name, value in (headers | fault.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self._write(sent, fault.drip)
        if fault.drop:
            self.wfile.flush()
            self.close_connection = True

    def _write(self, data: bytes, pause: float) -> None:
        if not pause:
            self.wfile.write(data)
            return
        events = data.startswith(b"data:")
        for piece in re.findall(rb".*?\n\n" if events else b"(?s:.)", data):
            self.wfile.write(piece)
            if self.server.owner._stopping.wait(pause):
                return

    def log_message(self, format: str, *args: object) -> None:
        """Keep test output clean."""
