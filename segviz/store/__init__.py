"""Reads and writes memories on disk: a container with checksums, and a JSON export.

Format ``segviz-memory`` version 6. Both forms are one document:

``format, version``   ``"segviz-memory"``, ``6``
``view``              in a session file only: the page and the parameters of its link
``conversation``      id, speakers, source_format, sessions (id, start: ISO or null, raw_date,
                      turns: id, speaker, text, caption), questions (index, text, answer, category,
                      evidence, unresolved, adversarial, asked_at, disputed: what an audit says,
                      null without one, missing in older files)
``unit``              the unit rule
``system``            name and settings (plain values)
``embedder``          name of the model that made the vectors
``chat``              name of the chat model used, ``""`` for none
``provenance``        if a chat model was used: ``versions`` of segviz and openai; ``prompts``, the
                      hash of all prompts; ``own_prompts``, those that the user replaced;
                      ``models`` by role (decision, annotation): model, server, temperature, seed,
                      max_tokens, prompt_tokens, fingerprint of the weights, and the fingerprints
                      that the server reported
``texts``             all texts of the history; tables refer to them by row
``steps`` …           the tables of the history: ``steps``, ``costs``, ``candidates``, ``numbers``,
                      ``events``, ``weights``, ``vectors`` (``segviz.tree.columns``)

In the container the tables are arrays (``segviz.store.container``). In JSON they are lists of rows,
``vectors`` a list of base64, float32 little-endian. :func:`schema` is the JSON Schema.

The same memory gives the same bytes. Wall-clock times, keys and cache counts are never written.

May import ``retrieval`` and the packages below it (it uses ``conversation`` and ``tree``), not
``systems``. Public face: the names below.
"""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from segviz import files
from segviz.loaders.budget import GZIP, Budget, gunzip
from segviz.loaders.errors import LoadError
from segviz.store.saved import Saved, SavedView, StoreError
from segviz.tree.invariants import check

__all__ = [
    "Saved",
    "SavedView",
    "StoreError",
    "dump",
    "pack",
    "parse",
    "read",
    "recognises",
    "schema",
    "write",
]

# ``document`` and ``container`` are imported on use: pydantic takes a quarter of a second to load.

JSON = (".json", ".gz")
"""Endings of files that are written as JSON, compressed or not."""


def pack(saved: Saved) -> bytes:
    """Returns the container of a memory; StoreError if it could not be opened again."""
    from segviz.store import container

    return _written(saved, container.pack)


def dump(saved: Saved) -> bytes:
    """Returns the JSON export of a memory, as UTF-8; StoreError as :func:`pack`."""
    from segviz.store import document

    return _written(saved, document.to_text)


def _written(saved: Saved, write: Callable[[dict[str, Any]], bytes]) -> bytes:
    """Returns the bytes of a memory after parsing them again; StoreError if that fails."""
    from segviz.store import document

    try:
        data = write(document.encode(saved))
        parse(data)
    except (ValueError, TypeError, OverflowError) as error:
        raise StoreError(f"this memory cannot be saved: {error}") from None
    return data


def schema() -> dict[str, Any]:
    """Returns the JSON Schema (draft 2020-12) of the output of :func:`dump`."""
    from segviz.store.document import schema

    return schema()


def write(saved: Saved, path: str | Path) -> None:
    """Writes a memory atomically (:func:`segviz.files.write`): readers see the old file or the new.

    Args:
        saved: the memory.
        path: a name that ends in ``.json`` gives the JSON export, ``.gz`` the same compressed, any
            other name the container, with a warning unless the ending is ``.npz`` or missing. The
            case of letters does not matter.

    Raises:
        StoreError: as :func:`pack`.
        OSError: the file cannot be written, or is read-only.
    """
    ending = Path(path).suffix.lower()
    if ending not in ("", ".npz", *JSON):
        what = f"{path} becomes a memory file of segviz, not a file of the kind {ending!r}"
        warnings.warn(f"{what}; usual endings are .npz, .json and .json.gz", stacklevel=3)
    data = dump(saved) if ending in JSON else pack(saved)
    if ending == ".gz":
        # The same memory gives the same bytes: no time, and "unknown" as the operating system,
        # which is byte 9 and differs between versions of Python.
        packed = gzip.compress(data, mtime=0)
        data = packed[:9] + b"\xff" + packed[10:]
    files.write(path, data)


_MARK = re.compile(rb'"format"\s{0,99}:\s{0,99}"segviz-memory"')
_PART = 1 << 20
_MOST = 1 << 30  # bytes of JSON; parsing takes some ten times as much memory
_BOM = b"\xef\xbb\xbf"


def recognises(source: str | Path | bytes) -> bool:
    """Returns True if a path or content is a saved memory: a container, or JSON of the format.

    False for an unreadable file.
    """
    try:
        with _stream(source) as stream:
            if _is_container(stream):
                return True
            first = next(_unpacked(stream), b"").removeprefix(_BOM).lstrip()
            return first.startswith(b"{") and _MARK.search(first) is not None
    except (OSError, ValueError, RuntimeError):
        return False


def _is_container(stream: BinaryIO) -> bool:
    """Returns True if a file begins as a container does; rewinds the stream."""
    size = stream.seek(0, 2)  # 0 for files of the kernel, where reading may block for ever
    stream.seek(0)
    start = stream.read(min(size, 41))
    stream.seek(0)
    return (start[:4], start[30:]) == (b"PK\x03\x04", b"memory.json")


def _stream(source: str | Path | bytes) -> BinaryIO:
    return BytesIO(source) if isinstance(source, bytes) else files.opened(Path(source).expanduser())


def _unpacked(stream: BinaryIO, most: int = _MOST) -> Iterator[bytes]:
    """Yields the JSON text of a file, compressed or not, in parts; LoadError for a damaged one."""
    size, budget = stream.seek(0, 2), Budget(most)
    stream.seek(0)
    packed = stream.read(len(GZIP)) == GZIP
    stream.seek(0)
    if packed:
        yield from gunzip(stream, budget)
    while size > 0 and not packed and (part := stream.read(min(size, _PART))):
        budget.take(len(part))
        size -= len(part)
        yield part


def read(path: str | Path) -> Saved:
    """Reads and verifies a memory.

    Args:
        path: a container or a JSON export, compressed or not.

    Raises:
        StoreError: says what is wrong with the path or the file, and what to do.
    """
    name = repr(str(path))
    try:
        with _stream(path) as stream:
            if _is_container(stream):
                size = stream.seek(0, 2)
                what = f"a memory file of {size:,} bytes"
                files.check_room(3 * size, what, "open it on a larger machine")
            return _parsed(stream)
    except FileNotFoundError:
        raise StoreError(
            f"there is no file {name}; give the path of a memory that segviz saved"
        ) from None
    except IsADirectoryError:
        raise StoreError(f"{name} is a folder; name the memory file itself") from None
    except StoreError:
        raise
    except files.NoRoom as error:
        raise StoreError(str(error)) from None
    # RuntimeError: no home for a ~name; ValueError: a NUL in the path
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise StoreError(
            f"{name} cannot be read ({why}); check the path and its permissions"
        ) from None


def parse(data: bytes, most: int = _MOST) -> Saved:
    """Reads and verifies the bytes of a file as :func:`read`, at most ``most`` unpacked."""
    return _parsed(BytesIO(data), most)


def _parsed(stream: BinaryIO, most: int = _MOST) -> Saved:
    """Reads a memory; StoreError if its structure violates one of the general invariants."""
    from pydantic_core import from_json

    from segviz.store import container, document

    # The content decides the form, its first fields the version.
    if _is_container(stream):
        content = container.unpack(stream)
    else:
        try:
            content = from_json(b"".join(_unpacked(stream, most)).removeprefix(_BOM))
        except LoadError as error:
            raise StoreError(f"not a segviz memory: {error}") from None
        except ValueError as error:
            what = f"not a segviz memory: the file is not readable JSON ({error})"
            raise StoreError(what) from None
    if not isinstance(content, dict) or content.get("format") != "segviz-memory":
        raise StoreError('not a segviz memory: no "format": "segviz-memory" at the top')
    version = content.get("version")
    if version != document.VERSION:
        raise StoreError(
            f"the file has version {version!r:.80}; this segviz reads version {document.VERSION}. "
            "Open it with the segviz that wrote it (versions 1 to 5: segviz 0.1.0 until November "
            "2026, which saves them as version 6), or build again."
        )
    # The document fits its schema, its events make a structure, and that is sound.
    try:
        saved = document.decode(content)
        structure = saved.structure
        violations = check(structure)
    except (ValueError, OverflowError) as error:
        raise StoreError(f"the memory file is damaged: {error}") from None
    if violations:
        raise StoreError(f"the memory file is damaged: {violations[0]}")
    if len(structure) <= structure.level.max(initial=0) > 0:
        raise StoreError(
            f"the memory file is damaged: level {structure.level.max()} in a structure of "
            f"{len(structure)} nodes"
        )
    return saved
