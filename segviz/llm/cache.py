"""Stores finished replies in SQLite: a rebuild costs nothing, a killed build can continue.

Neither the texts sent nor any secret can be read back from a key, a sha-256; replies are not
encrypted. By SQLite's write-ahead log several threads and processes use one file.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from segviz.tree import Vector

_CHUNK = 500  # keys in one SELECT
_BUSY_SECONDS = 30.0

# ``n`` grows with every entry. ``value`` is text for a completion, float32 bytes for a vector.
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS kept (n INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL,"
    " value NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,"
    " finish TEXT NOT NULL, fingerprint TEXT NOT NULL)"
)
_INSERT = "INSERT OR {} INTO kept (key, value, tokens_in, tokens_out, finish, fingerprint)"
_DROP_OLDER_HALF = (
    "DELETE FROM kept WHERE n <="
    " (SELECT n FROM kept ORDER BY n LIMIT 1 OFFSET (SELECT count(*) / 2 FROM kept))"
)
# SQLite fills the pages freed by deletions again.
_SIZE = (
    "SELECT (page_count - freelist_count) * page_size"
    " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)


NOTE = "note"
"""``finish`` of a completion that is no reply, but a client's own note about a model."""


class Completion(NamedTuple):
    """Stored answer of a chat model, as received, with the tokens it was charged.

    ``finish`` is the server's ``finish_reason``, ``fingerprint`` its fingerprint of the model; both
    are "" if the server sent none.
    """

    text: str
    tokens_in: int
    tokens_out: int
    finish: str = ""
    fingerprint: str = ""


def content_key(kind: str, identity: str, request: object) -> bytes:
    """Returns the key of a reply: its kind ("chat"), the model with its settings, the request."""
    content = json.dumps(["2", kind, identity, request], ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(content.encode("ascii")).digest()


class ModelCache:
    """Store of the replies of models: completions and embeddings.

    When a method ``keep_…`` returns, the reply is on disk. Several threads may share one cache
    object; several processes may use one file through an object each. ``path=None`` stores
    everything in memory. A file larger than ``limit_bytes`` loses the older half of its entries
    when it is opened. A cache without a usable file stores replies in memory and never stops a
    build; ``notes`` then says so on screen.

    ``accepted`` holds, by address and model, the parameters a server accepted (True) or refused
    (False). It lasts as long as the object.
    """

    def __init__(self, path: Path | str | None = None, *, limit_bytes: int | None = None) -> None:
        self.path = Path(path) if path is not None else None
        self.limit_bytes = limit_bytes
        self.accepted: dict[str, dict[str, bool]] = {}
        self._notes: dict[str, None] = {}
        self._lock = threading.RLock()
        try:
            self._db = self._connect(self.path)
        except (sqlite3.Error, OSError) as error:
            self._db = self._connect(None)
            self._note(
                f"The model cache {self.path} cannot be used ({error}); replies are kept in memory "
                "until the program ends. If the file is damaged, delete it."
            )
        weakref.finalize(self, self._db.close)  # for objects that are dropped without close()

    def _connect(self, path: Path | None) -> sqlite3.Connection:
        """Opens the database at a path, or one in memory, and brings it within its size limit."""
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)  # conversations are private
        db = sqlite3.connect(path or ":memory:", timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            # This fails if another process does the same just now; its result is as good.
            with suppress(sqlite3.OperationalError):
                db.execute("PRAGMA journal_mode = WAL")
            # A commit outlives the process. A power cut may cost the last replies, no more.
            db.execute("PRAGMA synchronous = NORMAL")
            with db:
                db.execute("BEGIN IMMEDIATE")
                db.execute(_SCHEMA)
                (size,) = db.execute(_SIZE).fetchone()
                if self.limit_bytes is not None and size > self.limit_bytes:
                    db.execute(_DROP_OLDER_HALF)
        except sqlite3.Error:
            db.close()
            raise
        return db

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the screen about problems with the cache file, each once."""
        with self._lock:
            return tuple(self._notes)

    def completion(self, key: bytes) -> Completion | None:
        """Returns the stored answer of a chat model under this key; None without one."""
        columns = "value, tokens_in, tokens_out, finish, fingerprint"
        rows = self._run(f"SELECT {columns} FROM kept WHERE key = ?", key)
        return Completion(*rows[0]) if rows else None

    def keep_completion(
        self, key: bytes, completion: Completion, replace: bool = False
    ) -> Completion:
        """Stores an answer, unless there is one and no ``replace``; returns what is stored."""
        self._insert([(key, *completion)], "REPLACE" if replace else "IGNORE")
        return self.completion(key) or completion

    def embeddings(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Returns the stored vectors by key, float32 (d,), of those ``keys`` that have one."""
        vectors: dict[bytes, Vector] = {}
        for start in range(0, len(keys), _CHUNK):
            part = keys[start : start + _CHUNK]
            marks = ",".join("?" * len(part))
            statement = f"SELECT key, value FROM kept WHERE key IN ({marks})"
            for key, value in self._run(statement, *part):
                vectors[key] = np.frombuffer(value, dtype="<f4")
        return vectors

    def keep_embeddings(self, rows: Mapping[bytes, Vector]) -> None:
        """Stores embeddings by key, all of them or none; those stored before stay."""
        self._insert(
            [
                (key, np.asarray(row, dtype="<f4").tobytes(), 0, 0, "", "")
                for key, row in rows.items()
            ]
        )

    def counts(self) -> tuple[int, int]:
        """Returns the number of stored replies of chat models and that of stored embeddings."""
        statement = "SELECT typeof(value), count(*) FROM kept WHERE finish != ? GROUP BY 1"
        kinds = dict(self._run(statement, NOTE))
        return kinds.get("text", 0), kinds.get("blob", 0)

    @property
    def size(self) -> int:
        """Bytes that the stored replies of models take."""
        return int((self._run(_SIZE) or [(0,)])[0][0])

    def clear(self) -> None:
        """Deletes all stored replies, and frees the disk space."""
        self._run("DELETE FROM kept")
        self._run("VACUUM")
        self._run("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Closes the cache file; the cache object cannot be used afterwards."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> ModelCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _insert(self, rows: Sequence[tuple[object, ...]], instead: str = "IGNORE") -> None:
        """Stores rows; ``instead`` is what happens to a key stored before: IGNORE or REPLACE."""
        self._run(f"{_INSERT.format(instead)} VALUES (?, ?, ?, ?, ?, ?)", rows=rows)

    def _run(
        self, statement: str, *values: object, rows: Sequence[tuple[object, ...]] | None = None
    ) -> list[tuple[Any, ...]]:
        """Runs a statement, once for each of ``rows``; returns its rows, none after an error."""
        try:
            with self._lock, self._db:
                if rows is None:
                    return self._db.execute(statement, values).fetchall()
                self._db.executemany(statement, rows)
        except sqlite3.Error as error:
            self._note(f"The model cache could not be read or written ({error}).")
        return []

    def _note(self, note: str) -> None:
        """Adds a sentence about a problem to ``notes``, once."""
        with self._lock:
            self._notes[note] = None
