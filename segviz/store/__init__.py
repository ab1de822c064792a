"""Reads and writes memories on disk, as versioned JSON without pickle.

Format ``segviz-memory`` version 2, one JSON object:

``format, version``   ``"segviz-memory"``, ``2`` (``1`` is read too)
``view``              in a session file only: the page and its view, as the parameters of a
                      link
``conversation``      id, speakers, source_format, sessions [id, start (ISO or null),
                      raw_date, turns [id, speaker, text, caption]], questions [text, answer,
                      category, evidence, unresolved, adversarial, and asked_at where a
                      question stands at a turn]
``unit``              the unit rule
``system``            name and settings (plain values)
``embedder``          name of the model the vectors come from
``chat``              name of the chat model used, ``""`` for none
``steps``             unit index, note, decision, cost, events
``vectors``           dtype ``float32``, dimension, count and base64 of the little-endian
                      rows; events refer to rows by number, equal rows are stored once

Events are arrays: ``["add", node, level, start, stop, text, row]``,
``["link", parent, child]``, ``["unlink", parent, child]``,
``["revise", node, start, stop, text, row]``, ``["retire", node]``,
``["relate", source, target, label, weight]``. Version 2 added ``relate``, an ``operation``
in steps that are not the arrival of a unit, and at the end of ``add`` and ``revise``, both
or neither: kind and facts, new level and facts (null: unchanged).

A cost is ``[calls, tokens, annotated, inspected, modified]``, followed by ``output,
embedded, embedding_tokens`` where one of them is not 0.

The same memory gives the same bytes. Wall-clock times, keys and cache counts are never written.

``codec`` encodes the records, ``document`` decodes them with models that check the file;
:func:`schema` is their JSON Schema. May import ``retrieval`` and the packages below it (it uses
``conversation`` and ``tree``), not ``systems``. Public face: the names below.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from segviz import files
from segviz.loaders.budget import GZIP, Budget, gunzip
from segviz.loaders.errors import LoadError
from segviz.store.codec import FORMAT, READABLE, VERSION, Saved, Shown, StoreError, encode
from segviz.tree.invariants import check

__all__ = [
    "FORMAT",
    "VERSION",
    "Saved",
    "Shown",
    "StoreError",
    "dump",
    "parse",
    "read",
    "schema",
    "write",
]


def dump(saved: Saved) -> bytes:
    """The JSON document of a memory, as UTF-8."""
    return json.dumps(encode(saved), ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what :func:`dump` writes."""
    from segviz.store.document import schema  # pydantic takes a quarter of a second to load

    return schema()


def write(saved: Saved, path: str | Path) -> None:
    """Write atomically (:func:`segviz.files.write`): readers see the old file or the new one.

    A name ending in ``.gz`` is compressed, one ending in ``.npz`` holds columns
    (``segviz.store.container``). OSError passes through.
    """
    if Path(path).suffix == COLUMNS:
        from segviz.store import container

        files.write(path, lambda stream: container.write(saved, stream))
        return
    data = dump(saved)
    files.write(path, _gzipped(data) if Path(path).suffix == ".gz" else data)


def _gzipped(data: bytes) -> bytes:
    """The data as gzip without a time and with the operating system "unknown" (byte 9), which
    Python fills in differently before 3.13: the same memory gives the same bytes."""
    packed = gzip.compress(data, mtime=0)
    return packed[:9] + b"\xff" + packed[10:]


COLUMNS = ".npz"
"""How the name of a memory ends that is saved as columns."""

_FIRST = b"PK\x03\x04", b"memory.json"
"""How such a file begins, and the name of its first member at byte 30."""

_MARK = re.compile(rb'"format"\s{0,99}:\s{0,99}"segviz-memory"')
_OVERLAP = 300
"""More bytes than the mark takes."""

_PART = 1 << 20


def recognises(source: str | Path | bytes) -> bool:
    """Whether a file, given by its path or content, is a saved memory, whatever its name.

    The mark is looked for anywhere in it, since JSON may be written again in another order and
    with other spaces. Inside a text the quotes would be escaped. False for what cannot be read.
    """
    try:
        with _stream(source) as stream:
            if _is_columns(stream):
                return True
            before, first = b"", True
            for part in _unpacked(stream):
                if first and not part.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
                    return False
                first = False
                if _MARK.search(before + part):
                    return True
                before = part[-_OVERLAP:]
    except (OSError, ValueError, RuntimeError):
        pass
    return False


def _is_columns(stream: BinaryIO) -> bool:
    size = stream.seek(0, 2)  # 0 for files of the kernel, which might wait for ever
    stream.seek(0)
    start = stream.read(min(size, 41))
    stream.seek(0)
    return (start[:4], start[30:]) == _FIRST


def _stream(source: str | Path | bytes) -> BinaryIO:
    return BytesIO(source) if isinstance(source, bytes) else files.opened(Path(source).expanduser())


def _unpacked(stream: BinaryIO) -> Iterator[bytes]:
    """The JSON text in parts, of packed and unpacked files. LoadError when damaged."""
    size = stream.seek(0, 2)
    stream.seek(0)
    packed = stream.read(len(GZIP)) == GZIP
    stream.seek(0)
    if packed:
        yield from gunzip(stream, Budget(None))
    while size > 0 and not packed and (part := stream.read(min(size, _PART))):
        size -= len(part)
        yield part


def read(path: str | Path) -> Saved:
    """Read and verify a memory. StoreError says what is wrong with the path or the file, and
    what to do about it."""
    name = repr(str(path))
    try:
        with _stream(path) as stream:
            return _parsed(stream)
    except FileNotFoundError:
        raise StoreError(
            f"there is no file {name}; give the path of a memory that segviz saved"
        ) from None
    except IsADirectoryError:
        raise StoreError(f"{name} is a folder; name the memory file itself") from None
    except StoreError:
        raise
    # RuntimeError: no home for a ~name; ValueError: a NUL in the path
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise StoreError(
            f"{name} cannot be read ({why}); check the path and its permissions"
        ) from None


def parse(data: bytes) -> Saved:
    """As :func:`read`, from bytes."""
    return _parsed(BytesIO(data))


def _parsed(stream: BinaryIO) -> Saved:
    from segviz.store.document import decode  # loads pydantic, which building needs not

    if _is_columns(stream):
        from segviz.store import container

        return _sound(lambda: container.read(stream))
    try:
        document = json.loads(b"".join(_unpacked(stream)), object_pairs_hook=_once)
    except LoadError as error:
        raise StoreError(f"not a segviz memory: {error}") from None
    except (ValueError, RecursionError) as error:
        raise StoreError(f"not a segviz memory: the file is not readable JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise StoreError(f'not a segviz memory: no "format": "{FORMAT}" at the top')
    if document.get("version") not in READABLE:
        raise StoreError(
            f"the file has version {document.get('version')!r:.80}; this segviz reads versions "
            f"{', '.join(map(str, READABLE))}. Open it with the version that wrote it, or build "
            "again."
        )
    return _sound(lambda: decode(document))


def _sound(decoded: Callable[[], Saved]) -> Saved:
    """What a file says, if its events make a structure with the general invariants. StoreError."""
    try:
        saved = decoded()
        structure = saved.structure
        violations = check(structure)
    except LoadError as error:
        raise StoreError(f"not a segviz memory: {error}") from None
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


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which every key stands once: of two ``steps`` one would be passed over."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in found if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r:.80} stands twice in an object")
    return found
