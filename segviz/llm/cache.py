"""Finished replies by content, in SQLite: a rebuild costs nothing, a killed build goes on.

A key is the sha-256 of kind, endpoint identity and full request, so neither texts asked
nor any secret can be read back from it; the replies themselves are kept in the clear.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from segviz.llm import database
from segviz.tree import Vector

_CHUNK = 500


class Completion(NamedTuple):
    """A kept answer and the tokens it took when it was asked for."""

    text: str
    tokens_in: int
    tokens_out: int


class Embedding(NamedTuple):
    """A kept vector, float32 (d,), and the share of tokens its text took when embedded."""

    vector: Vector
    tokens: int = 0


def content_key(kind: str, identity: str, request: object) -> bytes:
    """The key of a request: ``request`` is anything JSON can write."""
    content = json.dumps(["1", kind, identity, request], ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(content.encode("ascii")).digest()


class ModelCache:
    """Keeps completions and embeddings; every ``keep`` is on file when it returns.

    Safe for several threads of one process (share one object) and for several processes
    (one object each, same path). ``path=None`` keeps everything in memory. With
    ``limit_bytes`` the oldest entries go first once the content grows beyond it.

    The cache never stops a build: a damaged file is set aside and a new one begun, a file
    that cannot be written is passed over. ``notes`` says so, for the screen.
    """

    def __init__(self, path: Path | str | None = None, *, limit_bytes: int | None = None) -> None:
        """Open or create the file, and the folder it is in."""
        if limit_bytes is not None and limit_bytes < 100_000:
            raise ValueError(f"limit_bytes is {limit_bytes}; legal range: 100000 and more, or None")
        self.path = Path(path) if path is not None else None
        self.limit_bytes = limit_bytes
        self._notes: list[str] = []
        self._lock = threading.RLock()
        self._db = self._opened()

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong with the file, as sentences for people; each said once."""
        with self._lock:
            return tuple(self._notes)

    def completion(self, key: bytes) -> Completion | None:
        """The kept answer, or None."""
        rows = self._run("SELECT text, tokens_in, tokens_out FROM completions WHERE key = ?", key)
        return Completion(*rows[0]) if rows else None

    def keep_completion(self, key: bytes, completion: Completion) -> None:
        """Write an answer; what is already there stays."""
        self._write("completions (text, tokens_in, tokens_out, key, n)", [(*completion, key)])

    def embeddings(self, keys: Sequence[bytes]) -> dict[bytes, Embedding]:
        """What is kept of ``keys``; the vectors are read-only."""
        found: dict[bytes, Embedding] = {}
        for start in range(0, len(keys), _CHUNK):
            part = keys[start : start + _CHUNK]
            marks = ",".join("?" * len(part))
            statement = f"SELECT key, vector, tokens FROM embeddings WHERE key IN ({marks})"
            for key, blob, tokens in self._run(statement, *part):
                if blob and len(blob) % 4 == 0:
                    row = np.frombuffer(blob, dtype="<f4").astype(np.float32, copy=False)
                    found[key] = Embedding(row, tokens)
        return found

    def keep_embeddings(self, rows: Mapping[bytes, Embedding]) -> None:
        """Write vectors, all of them or none; what is already there stays."""
        values = [
            (np.asarray(row.vector, dtype="<f4").tobytes(), row.tokens, key)
            for key, row in rows.items()
        ]
        self._write("embeddings (vector, tokens, key, n)", values)

    def counts(self) -> tuple[int, int]:
        """How many completions and embeddings are kept."""
        rows = self._run(
            "SELECT (SELECT count(*) FROM completions), (SELECT count(*) FROM embeddings)"
        )
        return (rows[0][0], rows[0][1]) if rows else (0, 0)

    @property
    def size(self) -> int:
        """Bytes in use, of at most ``limit_bytes``."""
        with self._lock:
            try:
                return database.content_bytes(self._db)
            except sqlite3.Error as error:
                self._trouble(error)
                return 0

    def clear(self) -> None:
        """Forget everything, waivers and kept wrong answers too, and give the room back."""
        with self._lock:
            try:
                database.clear(self._db)
            except sqlite3.Error as error:
                self._trouble(error)

    def close(self) -> None:
        """Close the file; the object cannot be used afterwards."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> ModelCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> sqlite3.Connection:
        db = self._connect()
        weakref.finalize(self, db.close)  # for objects that are dropped without close()
        return db

    def _connect(self) -> sqlite3.Connection:
        if self.path is not None:
            try:
                return database.connect(self.path)
            except (sqlite3.Error, OSError) as error:
                if database.is_damage(error):
                    # Another process may have replaced the file in between.
                    if not database.is_sound(self.path):
                        self._note(database.set_aside(self.path))
                    try:
                        return database.connect(self.path)
                    except (sqlite3.Error, OSError) as again:
                        error = again
                self._note(
                    f"The model cache {self.path} cannot be used ({error}); "
                    "replies are kept in memory until the program ends."
                )
        return database.connect(None)

    def _note(self, note: str) -> None:
        if note not in self._notes:
            self._notes.append(note)

    def _trouble(self, error: sqlite3.Error) -> None:
        """Note an error of the file and, where the file is damaged, begin a new one."""
        if not database.is_damage(error):
            self._note(f"The model cache could not be read or written ({error}).")
            return
        self._db.close()
        # Another process may have set the file aside already; connecting finds out.
        if self.path is not None and not database.is_sound(self.path):
            self._note(database.set_aside(self.path))
        self._db = self._opened()

    def _run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._db.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                self._trouble(error)
                return []

    def _write(self, target: str, rows: Sequence[tuple[object, ...]]) -> None:
        if not rows:
            return
        with self._lock:
            for _ in range(2):  # once more where a damaged file was replaced
                try:
                    database.insert(self._db, target, rows, self.limit_bytes)
                    return
                except sqlite3.Error as error:
                    self._trouble(error)
                    if not database.is_damage(error):
                        return
