"""Small inputs that cost much: each of 1 MB or less, and made to take memory, time or both.

``python -m tests.loaders.bombs`` reads those whose paths it is told, each in a process of its own,
and prints what each took.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from segviz import store
from segviz.loaders import LoadError, load
from tests.malformed_inputs.archives import zipped

MB = 1_000_000


def _listed(item: bytes, count: int) -> bytes:
    return b"[" + ((item + b",") * count)[:-1] + b"]"


def _rows(item: str, size: int) -> bytes:
    return _listed(item.encode(), size // (len(item) + 1))


def _deep(inner: bytes, depth: int = 490) -> bytes:
    return b"[" * depth + inner + b"]" * depth


def _table(header: str, row: str, size: int) -> bytes:
    return (header + "\n" + (row + "\n") * ((size - len(header)) // (len(row) + 1))).encode()


def _session(steps: bytes) -> bytes:
    return b'{"format":"segviz-memory","version":2,"steps":' + steps + b"}"


_MESSAGE = '{"role":"user","content":"a"}'
_CHUNK = 9_900_000  # as much as any input may expand to
_FILL = random.Random(1).randbytes(900_000)  # does not pack, so that more may expand beside it


def _filled(text: bytes) -> bytes:
    """A zip of the text, of nearly 1 MB."""
    return zipped({"a": text, "b.bin": _FILL})


BOMBS: dict[str, Callable[[], bytes]] = {
    "zip of empty objects": lambda: zipped({"a.json": _rows("{}", _CHUNK)}),
    "zip of small objects": lambda: zipped({"a.json": _rows('{"":0}', _CHUNK)}),
    "zip of small lists": lambda: zipped({"a.json": _rows("[0]", _CHUNK)}),
    "zip of bad strings": lambda: zipped({"a.json": _rows('"\\u0000"', _CHUNK)}),
    "zip of bad messages": lambda: zipped({"a.json": _rows('{"role":1,"content":[]}', _CHUNK)}),
    "zip of many members": lambda: zipped({f"{i}.json": b"{}" for i in range(7_000)}),
    "zip of many chats": lambda: zipped({f"{i}.txt": b"A: b" for i in range(7_000)}),
    "zip of repeated keys": lambda: zipped({"a.json": _rows('{"a":0,"a":0}', _CHUNK)}),
    "full zip of empty objects": lambda: _filled(_rows("{}", 670_000)),
    "full zip of small objects": lambda: _filled(_rows('{"":0}', 1_560_000)),
    "full zip of small lists": lambda: _filled(_rows("[0]", 890_000)),
    "full zip of bad strings": lambda: _filled(_rows('"\\u0000"', 4_000_000)),
    "full zip of messages": lambda: _filled(_rows(_MESSAGE, 4_400_000)),
    "full zip of JSON lines": lambda: _filled(b"{}\n" * 222_000),
    "full zip of a chat": lambda: _filled(b"A: b\n" * 444_000),
    "full zip of a chat of near dates": lambda: _filled(b"A: 1 may 2023 x\n" * 444_000),
    "full zip of a WhatsApp chat": lambda: _filled(b"01/02/2023, 10:10 - A: b\n" * 440_000),
    "full zip of a table": lambda: _filled(_table("text,speaker", "a,b", 880_000)),
    "full zip of broken lines": lambda: _filled(b"{\n" * 222_000),
    "full zip of strings": lambda: _filled(_rows('"a"', 1_770_000)),
    "full zip of one text": lambda: _filled(b"ab c" * 4_400_000),
    "full zip of Python strings": lambda: _filled(
        json.dumps([{"context": "[" + "'a' " * 4_000_000 + "]", "questions": ["q"]}]).encode()
    ),
    "gzip of 100,000 empty members": lambda: gzip.compress(b"", mtime=0) * 50_000,
    "gzip of messages": lambda: gzip.compress(_rows(_MESSAGE, _CHUNK)),
    "gzip of JSON lines": lambda: gzip.compress(b"{}\n" * (_CHUNK // 3)),
    "gzip of broken lines": lambda: gzip.compress(b"{\n" * (_CHUNK // 2)),
    "gzip of a chat": lambda: gzip.compress(b"A: b\n" * (_CHUNK // 5)),
    "gzip of line ends": lambda: gzip.compress(b"\n" * _CHUNK),
    "gzip of a table": lambda: gzip.compress(_table("text,speaker", "a,b", _CHUNK)),
    "gzip of a wide table": lambda: gzip.compress(_table("," * (_CHUNK // 2), "a", _CHUNK)),
    "gzip of a WhatsApp chat": lambda: gzip.compress(
        b"01/02/2023, 10:10 - A: b\n" * (_CHUNK // 25)
    ),
    "gzip of a Python list": lambda: gzip.compress(
        json.dumps([{"context": "[" + "0," * 1_500_000 + "]", "questions": ["q"]}]).encode()
    ),
    "gzip of non-Latin text": lambda: gzip.compress(("\U0001f600" * (_CHUNK // 4)).encode()),
    "session file of zeros": lambda: gzip.compress(_session(b"0" * _CHUNK)),
    "session file of steps": lambda: gzip.compress(_session(_rows("{}", _CHUNK))),
    "session file beyond the ratio": lambda: gzip.compress(_session(_rows("{}", 200 * MB))),
    "deep lists": lambda: _deep(_rows("[0]", MB - 1_000)),
    "deeper lists": lambda: b"[" * 400_000 + b"]" * 400_000,
    "deep bad strings": lambda: _deep(_rows('"\\u0000"', MB - 1_000)),
    "integers of 310 digits": lambda: _rows("1" * 310, MB),
    "integers of 4,300 digits": lambda: _rows("1" * 4_300, MB),
    "a wide header": lambda: _table("a," * 200_000 + "text", "x", MB),
    "one long line": lambda: b"a" * MB,
    "blanks": lambda: b" " * MB + b"a",
    "colons": lambda: b": " * (MB // 2),
    "digits and slashes": lambda: b"1/1/1 " * (MB // 6),
    "digits": lambda: b"1" * MB,
    "open brackets": lambda: b"[{" * (MB // 2),
    "quotes": lambda: b'"' * MB,
    "backslashes": lambda: b'["' + b"\\" * MB,
    "quoted table": lambda: b'text,a\n"' + b'""' * (MB // 2),
    "evidence": lambda: json.dumps(
        [
            {
                "conversation": {"session_1": [{"speaker": "a", "dia_id": "D1:1", "text": "b"}]},
                "qa": [{"question": "q", "evidence": ["D1:1 " * 190_000]}],
            }
        ]
    ).encode(),
}


def main(path: str) -> None:
    """Read one, and print the seconds, the megabytes at most, and what came of it.

    To be called in a process that was forked: its peak is counted from what it began with.
    """
    began = time.process_time()
    try:
        if store.recognises(path):
            store.read(path)
            told = "a memory"
        else:
            told = str(load(path).report)
    except (LoadError, store.StoreError) as error:
        told = str(error)
    # Not from getrusage, which counts what the process was before it was forked.
    status = Path("/proc/self/status").read_text()
    most = int(re.search(r"VmHWM:\s*([0-9]+) kB", status)[1]) // 1024
    print(json.dumps([time.process_time() - began, most, told]), flush=True)  # noqa: T201


def serve() -> None:
    """One line for every path on standard input; a process that was ended says by what."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(120)
                main(line.rstrip("\n"))
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if status:
            print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)  # noqa: T201


if __name__ == "__main__":
    serve()
