"""The cache's SQLite file: opening, inserting, trimming, setting a damaged one aside."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

VERSION = 1
BUSY_SECONDS = 30.0

# ``n`` counts up over both tables, so that the oldest entry of all can be found.
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS completions (n INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL,"
    " text TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS embeddings (n INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL,"
    " vector BLOB NOT NULL, tokens INTEGER NOT NULL DEFAULT 0)",
)
_NEXT = (
    "1 + max(coalesce((SELECT max(n) FROM completions), 0),"
    " coalesce((SELECT max(n) FROM embeddings), 0))"
)


class ForeignFileError(sqlite3.DatabaseError):
    """The file is a database, but of another version of segviz."""


def connect(path: Path | None) -> sqlite3.Connection:
    """A connection in write-ahead mode with both tables; sqlite3.Error or OSError if not."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)  # conversations are private
    db = sqlite3.connect(
        path or ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
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
    with transaction(db):
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise ForeignFileError(f"written by another version ({version})")
        for statement in _SCHEMA:
            db.execute(statement)
        columns = [row[1] for row in db.execute("PRAGMA table_info(embeddings)")]
        if "tokens" not in columns:  # a file from before tokens of embeddings were kept
            db.execute("ALTER TABLE embeddings ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0")
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("SELECT text, tokens_in, tokens_out, key, n FROM completions LIMIT 1").fetchone()
    db.execute("SELECT vector, tokens, key, n FROM embeddings LIMIT 1").fetchone()


def _write_ahead(db: sqlite3.Connection) -> None:
    """Switch the file to write-ahead mode. While another process does the same, SQLite
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
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; the write lock is taken at the start, so that ``n`` never clashes."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def insert(
    db: sqlite3.Connection,
    target: str,
    rows: Sequence[tuple[object, ...]],
    limit_bytes: int | None,
) -> None:
    """Insert into ``target``, a table with its columns, ``n`` last; commit; trim."""
    marks = ",".join("?" * len(rows[0]))
    statement = f"INSERT OR IGNORE INTO {target} VALUES ({marks}, {_NEXT})"
    with transaction(db):
        for row in rows:
            db.execute(statement, row)
    if limit_bytes is not None:
        _trim(db, limit_bytes)


def content_bytes(db: sqlite3.Connection) -> int:
    """Bytes of the pages in use; what deletions freed is reused and not counted."""
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def clear(db: sqlite3.Connection) -> None:
    """Delete all entries and shrink the file."""
    with transaction(db):
        db.execute("DELETE FROM completions")
        db.execute("DELETE FROM embeddings")
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _trim(db: sqlite3.Connection, limit_bytes: int) -> None:
    """Delete the oldest tenth at a time until the content fits."""
    while content_bytes(db) > limit_bytes:
        with transaction(db):
            total, oldest = db.execute(
                "SELECT count(*), min(n) FROM"
                " (SELECT n FROM completions UNION ALL SELECT n FROM embeddings)"
            ).fetchone()
            if not total:
                return
            row = db.execute(
                "SELECT n FROM (SELECT n FROM completions UNION ALL SELECT n FROM embeddings)"
                " ORDER BY n LIMIT 1 OFFSET ?",
                (total // 10,),
            ).fetchone()
            bound = row[0] if row[0] > oldest else oldest + 1
            db.execute("DELETE FROM completions WHERE n < ?", (bound,))
            db.execute("DELETE FROM embeddings WHERE n < ?", (bound,))


def is_damage(error: Exception) -> bool:
    """Whether the error means that the file itself is unusable, not that it is busy."""
    if isinstance(error, ForeignFileError):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    damaged = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    missing = "no such table" in str(error) or "no such column" in str(error)
    return isinstance(error, sqlite3.Error) and (
        missing or (isinstance(code, int) and code & 0xFF in damaged)
    )


def is_sound(path: Path) -> bool:
    """Whether the file passes SQLite's own check (reads all of it; for trouble only)."""
    try:
        db = connect(path)
    except (sqlite3.Error, OSError) as error:
        return not is_damage(error)
    try:
        return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.Error as error:
        return not is_damage(error)
    finally:
        db.close()


def set_aside(path: Path) -> str:
    """Rename the file and its companions out of the way; what to tell the user.

    Where renaming fails the file stays, and opening it again will say so.
    """
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
