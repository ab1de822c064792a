"""Keeps finished replies by content in SQLite: a rebuild costs nothing, a killed build goes on.

A key is the sha-256 of kind, endpoint identity and full request, so neither texts asked
nor any secret can be read back from it; the replies themselves are kept in the clear.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from segviz.tree import Vector

T = TypeVar("T")

_CHUNK = 500  # keys in one SELECT
_VERSION = 1
_BUSY_SECONDS = 30.0
LEASE = 5.0
"""Seconds after which a claim that is not renewed is over: its process was killed."""

# ``n`` counts up over both tables, so that the oldest entry of all can be found.
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS completions (n INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL,"
    " text TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS embeddings (n INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL,"
    " vector BLOB NOT NULL, tokens INTEGER NOT NULL DEFAULT 0)",
    # Who is asking for what, until when (seconds since 1970).
    "CREATE TABLE IF NOT EXISTS claims (key BLOB PRIMARY KEY, owner BLOB NOT NULL,"
    " until REAL NOT NULL) WITHOUT ROWID",
)
_CLAIM = (
    "INSERT OR IGNORE INTO claims SELECT :key, :owner, :until"
    " WHERE NOT EXISTS (SELECT 1 FROM completions WHERE key = :key)"
    " AND NOT EXISTS (SELECT 1 FROM embeddings WHERE key = :key)"
)
_NEXT = (
    "1 + max(coalesce((SELECT max(n) FROM completions), 0),"
    " coalesce((SELECT max(n) FROM embeddings), 0))"
)


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
    """Returns the key of a request: ``request`` is anything JSON can write."""
    content = json.dumps(["1", kind, identity, request], ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(content.encode("ascii")).digest()


class ModelCache:
    """Stores completions and embeddings; every ``keep_…`` is on file when it returns.

    Safe for several threads of one process (share one object) and for several processes
    (one object each, same path). ``path=None`` keeps everything in memory. With
    ``limit_bytes`` the oldest entries go first once the content grows beyond it.

    The cache never stops a build: a damaged file is set aside and a new one begun, a file
    that cannot be written is passed over. ``notes`` says so, for the screen.

    ``accepted`` says by address and model which parameters a server took (True) or refused
    (False); it lasts as long as the object.
    """

    def __init__(self, path: Path | str | None = None, *, limit_bytes: int | None = None) -> None:
        if limit_bytes is not None and limit_bytes < 100_000:
            raise ValueError(f"limit_bytes is {limit_bytes}; legal range: 100000 and more, or None")
        self.path = Path(path) if path is not None else None
        self.limit_bytes = limit_bytes
        self.accepted: dict[str, dict[str, bool]] = {}
        self._notes: list[str] = []
        self._lock = threading.RLock()
        self._db = self._opened()

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong with the file, as sentences for people; each said once."""
        with self._lock:
            return tuple(self._notes)

    def completion(self, key: bytes) -> Completion | None:
        """Returns the kept answer, or None."""
        rows = self._run("SELECT text, tokens_in, tokens_out FROM completions WHERE key = ?", key)
        return Completion(*rows[0]) if rows else None

    def keep_completion(self, key: bytes, completion: Completion) -> None:
        """Writes an answer; what is already there stays."""
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
        """Writes vectors, all of them or none; what is already there stays."""
        values = [
            (np.asarray(row.vector, dtype="<f4").tobytes(), row.tokens, key)
            for key, row in rows.items()
        ]
        self._write("embeddings (vector, tokens, key, n)", values)

    @contextlib.contextmanager
    def claimed(self, keys: Sequence[bytes]) -> Iterator[tuple[set[bytes], Callable[[], None]]]:
        """Claims those of ``keys`` that are neither kept nor claimed, by whatever thread or
        process; whoever claims a key asks for it, the others wait for its entry.

        Yields the claimed keys and a function that renews the claim: call it at least every
        LEASE seconds. The claim ends with the context. Where the file fails all keys count as
        claimed.
        """
        owner, renewed = os.urandom(16), time.monotonic()

        def renew() -> None:
            nonlocal renewed
            if time.monotonic() - renewed > LEASE / 4:
                renewed = time.monotonic()
                until = time.time() + LEASE
                self._run("UPDATE claims SET until = ? WHERE owner = ?", until, owner)

        mine = self._tried(lambda db: _claim(db, keys, owner), set(keys))
        try:
            yield mine, renew
        finally:
            if mine:
                self._run("DELETE FROM claims WHERE owner = ?", owner)

    def counts(self) -> tuple[int, int]:
        """How many completions and embeddings are kept."""
        rows = self._run(
            "SELECT (SELECT count(*) FROM completions), (SELECT count(*) FROM embeddings)"
        )
        return (rows[0][0], rows[0][1]) if rows else (0, 0)

    @property
    def size(self) -> int:
        """Bytes in use, of at most ``limit_bytes``."""
        return self._tried(_content_bytes, 0)

    def clear(self) -> None:
        """Forgets everything, waivers and kept wrong answers too, and give the room back."""
        self._tried(_clear, None)

    def close(self) -> None:
        """Closes the file; the object cannot be used afterwards."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> ModelCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> sqlite3.Connection:
        db = self._connected()
        weakref.finalize(self, db.close)  # for objects that are dropped without close()
        return db

    def _connected(self) -> sqlite3.Connection:
        if self.path is not None:
            try:
                return _connect(self.path)
            except (sqlite3.Error, OSError) as error:
                if _is_damage(error):
                    # Another process may have replaced the file in between.
                    if not _is_sound(self.path):
                        self._note(_set_aside(self.path))
                    try:
                        return _connect(self.path)
                    except (sqlite3.Error, OSError) as again:
                        error = again
                self._note(
                    f"The model cache {self.path} cannot be used ({error}); "
                    "replies are kept in memory until the program ends."
                )
        return _connect(None)

    def _note(self, note: str) -> None:
        if note not in self._notes:
            self._notes.append(note)

    def _trouble(self, error: sqlite3.Error) -> None:
        """Notes an error of the file and, where the file is damaged, begin a new one."""
        if not _is_damage(error):
            self._note(f"The model cache could not be read or written ({error}).")
            return
        self._db.close()
        # Another process may have set the file aside already; connecting finds out.
        if self.path is not None and not _is_sound(self.path):
            self._note(_set_aside(self.path))
        self._db = self._opened()

    def _tried(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What ``work`` makes of the file, or ``otherwise`` where the file fails."""
        with self._lock:
            try:
                return work(self._db)
            except sqlite3.Error as error:
                self._trouble(error)
                return otherwise

    def _run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self._tried(lambda db: db.execute(statement, values).fetchall(), [])

    def _write(self, target: str, rows: Sequence[tuple[object, ...]]) -> None:
        if not rows:
            return
        with self._lock:
            for _ in range(2):  # once more where a damaged file was replaced
                try:
                    _insert(self._db, target, rows, self.limit_bytes)
                    return
                except sqlite3.Error as error:
                    self._trouble(error)
                    if not _is_damage(error):
                        return


# --- the SQLite file ---------------------------------------------------------------------------


class _ForeignFileError(sqlite3.DatabaseError):
    """The file is a database, but of another version of segviz."""


def _connect(path: Path | None) -> sqlite3.Connection:
    """A connection in write-ahead mode with both tables; sqlite3.Error or OSError if not."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)  # conversations are private
    db = sqlite3.connect(
        path or ":memory:", timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(db)
    except sqlite3.Error:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection) -> None:
    _write_ahead(db)
    # A commit outlives the process; a power cut may cost the last replies, no more.
    db.execute("PRAGMA synchronous = NORMAL")
    with _transaction(db):
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise _ForeignFileError(f"written by another version ({version})")
        for statement in _SCHEMA:
            db.execute(statement)
        columns = [row[1] for row in db.execute("PRAGMA table_info(embeddings)")]
        if "tokens" not in columns:  # a file from before tokens of embeddings were kept
            db.execute("ALTER TABLE embeddings ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0")
        db.execute(f"PRAGMA user_version = {_VERSION}")
    db.execute("SELECT text, tokens_in, tokens_out, key, n FROM completions LIMIT 1").fetchone()
    db.execute("SELECT vector, tokens, key, n FROM embeddings LIMIT 1").fetchone()


def _write_ahead(db: sqlite3.Connection) -> None:
    """Switches the file to write-ahead mode. While another process does the same, SQLite
    reports 'locked' at once instead of waiting, hence the waiting here."""
    for _ in range(100):
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            time.sleep(0.05)


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; the write lock is taken at the start, so that ``n`` never clashes."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _insert(
    db: sqlite3.Connection,
    target: str,
    rows: Sequence[tuple[object, ...]],
    limit_bytes: int | None,
) -> None:
    """Inserts into ``target``, a table with its columns, ``n`` last; commit; trim."""
    marks = ",".join("?" * len(rows[0]))
    statement = f"INSERT OR IGNORE INTO {target} VALUES ({marks}, {_NEXT})"
    with _transaction(db):
        for row in rows:
            db.execute(statement, row)
    if limit_bytes is not None:
        _trim(db, limit_bytes)


def _claim(db: sqlite3.Connection, keys: Sequence[bytes], owner: bytes) -> set[bytes]:
    """The keys that are ``owner``'s from now on. A claim far ahead of the clock is over, too:
    the clock was set back."""
    now = time.time()
    with _transaction(db):
        db.execute("DELETE FROM claims WHERE until NOT BETWEEN ? AND ?", (now, now + 2 * LEASE))
        for key in keys:
            db.execute(_CLAIM, {"key": key, "owner": owner, "until": now + LEASE})
        return {row[0] for row in db.execute("SELECT key FROM claims WHERE owner = ?", (owner,))}


def _content_bytes(db: sqlite3.Connection) -> int:
    """Bytes of the pages in use; pages freed by deletions are reused and not counted."""
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _clear(db: sqlite3.Connection) -> None:
    with _transaction(db):
        db.execute("DELETE FROM completions")
        db.execute("DELETE FROM embeddings")
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _trim(db: sqlite3.Connection, limit_bytes: int) -> None:
    """Deletes the oldest tenth at a time until the content fits."""
    while _content_bytes(db) > limit_bytes:
        with _transaction(db):
            entries = "(SELECT n FROM completions UNION ALL SELECT n FROM embeddings)"
            total = db.execute(f"SELECT count(*) FROM {entries}").fetchone()[0]
            if not total:
                return
            last = max(total // 10, 1) - 1
            ordered = f"SELECT n FROM {entries} ORDER BY n LIMIT 1 OFFSET ?"
            bound = db.execute(ordered, (last,)).fetchone()
            db.execute("DELETE FROM completions WHERE n <= ?", bound)
            db.execute("DELETE FROM embeddings WHERE n <= ?", bound)


def _is_damage(error: Exception) -> bool:
    """Whether the error means that the file itself is unusable, not that it is busy."""
    if isinstance(error, _ForeignFileError):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    damaged = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    missing = "no such table" in str(error) or "no such column" in str(error)
    return isinstance(error, sqlite3.Error) and (
        missing or (isinstance(code, int) and code & 0xFF in damaged)
    )


def _is_sound(path: Path) -> bool:
    """Whether the file passes SQLite's own check (reads all of it; for trouble only)."""
    try:
        db = _connect(path)
    except (sqlite3.Error, OSError) as error:
        return not _is_damage(error)
    try:
        return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.Error as error:
        return not _is_damage(error)
    finally:
        db.close()


def _set_aside(path: Path) -> str:
    """Renames the file and its companions out of the way; what to tell the user. Where renaming
    fails the file stays, and opening it again will say so."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    try:
        path.rename(aside)
        for suffix in ("-wal", "-shm"):
            companion = path.with_name(path.name + suffix)
            if companion.exists():
                companion.rename(aside.with_name(aside.name + suffix))
    except OSError as error:
        return f"The model cache {path} is damaged and could not be renamed ({error})."
    return (
        f"The model cache {path} was damaged or of another version. It is kept as {aside.name}; "
        "a new one was begun, and what it held is asked for again when needed."
    )
