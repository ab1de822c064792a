"""Reads and writes memories as columns in one file, for those too large for JSON.

An ``.npz`` file without compression: ``memory.json`` is the JSON document of a memory without
turns, steps and vectors, every other member an array that ``numpy.load`` reads:

=================================== =============================================================
``text``, ``text_end``              uint8, the UTF-8 of all texts; int64, where each ends
``turns``                           int32 (turns, 4): id, speaker, text, caption (-1: none), rows
                                    of the texts
``session_end``                     int64, one past the last turn of each session
``steps`` … ``vectors``             the columns of the history (``segviz.tree.columns``)
=================================== =============================================================

Arrays begin at multiples of 64 bytes, so that they are mapped as they lie. Every value is checked
on opening, as in JSON; texts, turns and steps are made when they are asked for.
"""

from __future__ import annotations

import codecs
import json
import math
import mmap
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from typing import Any, BinaryIO, Final
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from segviz.conversation import Lazy, Turn, bounds
from segviz.files import check_room
from segviz.store.codec import Saved, StoreError, encode
from segviz.store.document import EXACT, INT32, Facts, decode, fault
from segviz.tree import Columns, History, Vector, columns_of
from segviz.tree.columns import ADD, LINK, RELATE, RETIRE, REVISE, UNLINK
from segviz.tree.structure import sealed

HEAD: Final = "memory.json"
_EDGE = 64
_NODE, _TURN = 500, 1_000  # bytes of memory, measured on a million turns of 80 characters
_PART = 1 << 24  # bytes of text that are decoded together
_TOGETHER = 1 << 18  # numbers that are looked at together: what a processor keeps at hand
_COLUMNS: Final = {
    "text": ("|u1", 0),
    "text_end": ("<i8", 0),
    "turns": ("<i4", 4),
    "session_end": ("<i8", 0),
    "steps": ("<i4", 7),
    "costs": ("<i8", 8),
    "candidates": ("<i4", 3),
    "numbers": ("<f8", 2),
    "events": ("<i4", 9),
    "weights": ("<f8", 0),
    "vectors": ("<f4", -1),
}
"""The type of every array and its numbers in a row: 0 for a flat one, -1 for any."""
_MOST_HEAD = 1 << 30
_NO_TEXT = "text: expected texts in UTF-8"


# --- writing -----------------------------------------------------------------------------------


def write(saved: Saved, stream: BinaryIO) -> None:
    """Write a memory as columns; the same memory gives the same bytes."""
    rows: dict[str, int] = {}

    def row(text: str) -> int:
        return rows.setdefault(text, len(rows))

    sessions = saved.conversation.sessions
    turns = [
        [row(t.id), row(t.speaker), row(t.text), -1 if t.caption is None else row(t.caption)]
        for session in sessions
        for t in session.turns
    ]
    columns, vectors = columns_of(saved.steps, row)
    parts = [each.encode() for each in rows]
    text = b"".join(parts)
    bare = replace(saved.conversation, sessions=tuple(replace(s, turns=()) for s in sessions))
    head = json.dumps(encode(replace(saved, conversation=bare, steps=())), ensure_ascii=False)
    arrays: dict[str, NDArray[Any]] = {
        "text_end": np.cumsum([len(part) for part in parts], dtype=np.int64),
        "turns": np.array(turns, np.int32).reshape(-1, 4),
        "session_end": np.cumsum([len(s.turns) for s in sessions], dtype=np.int64),
        **{name: getattr(columns, name) for name in _HISTORY},
    }
    with ZipFile(stream, "w") as archive:
        _member(archive, stream, HEAD, [head.encode()])
        _member(archive, stream, "text.npy", _array((len(text),), "|u1", [text]))
        for name, array in arrays.items():
            made = np.ascontiguousarray(array, _COLUMNS[name][0])
            _member(archive, stream, f"{name}.npy", _array(made.shape, made.dtype.str, [made.data]))
        shape = (len(vectors), len(vectors[0]) if vectors else 0)
        _member(archive, stream, "vectors.npy", _array(shape, "<f4", _blocks(vectors)))


_HISTORY = ("steps", "costs", "candidates", "numbers", "events", "weights")


def _blocks(vectors: Sequence[Vector], size: int = 1 << 13) -> Iterator[memoryview]:
    for first in range(0, len(vectors), size):
        yield np.array(vectors[first : first + size], "<f4").data


def _array(shape: tuple[int, ...], dtype: str, parts: Any) -> Iterator[Any]:
    """The parts of an array's member, its header first."""
    header = BytesIO()
    npy.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": shape})
    yield header.getvalue()
    yield from parts


def _member(archive: ZipFile, stream: BinaryIO, name: str, parts: Any) -> None:
    info = ZipInfo(name)  # of 1980, as a time would differ
    # 20 bytes are the sizes that zipfile adds, 4 the head of what fills up to the edge.
    gap = -(stream.tell() + 30 + len(name) + 20 + 4) % _EDGE
    info.extra = struct.pack("<HH", 0xD935, gap) + b"\0" * gap
    with archive.open(info, "w", force_zip64=True) as member:
        for part in parts:
            if len(part):
                member.write(part)


# --- reading -----------------------------------------------------------------------------------


class Texts(Sequence[str]):
    """Texts as one UTF-8 array and their ends; each is made when it is asked for."""

    def __init__(self, text: NDArray[np.uint8], end: NDArray[np.int64]) -> None:
        """StoreError where the ends do not cut the array into texts."""
        self._data = np.ascontiguousarray(text).data
        self.end = np.concatenate([[0], end])
        self._ends = self.end.data  # gives plain numbers, in half the time
        if self.end[-1] != len(text) or (np.diff(self.end) < 0).any():
            raise StoreError(f"text_end: expected numbers that rise to {len(text)}")
        inner = self.end[self.end < len(text)]
        broken = np.flatnonzero((text[inner] & 0xC0) == 0x80)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for place in range(0, len(text), _PART):
                decoder.decode(self._data[place : place + _PART])
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise StoreError(_NO_TEXT) from None
        if len(broken):
            raise StoreError(_NO_TEXT)

    def __len__(self) -> int:
        return len(self.end) - 1

    def __getitem__(self, row: Any) -> Any:
        return str(self._data[self._ends[row] : self._ends[row + 1]], "utf-8")

    def blank(self, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether the texts of these rows are empty or spaces."""
        first = np.frombuffer(self._data, np.uint8)[np.minimum(self.end[rows], len(self._data) - 1)]
        blank: NDArray[np.bool_] = (first <= 0x20) | (first >= 0x7F)
        blank |= self.end[rows] == self.end[rows + 1]
        for place in np.flatnonzero(blank).tolist():
            blank[place] = not self[rows[place]].strip()
        return blank


def read(stream: BinaryIO) -> Saved:
    """The memory of a file that :func:`write` wrote. What its events mean is not checked here.

    StoreError names the place, what was expected and what was found. A file on the disk is mapped:
    it must not be changed in its place while the memory is used (:func:`segviz.files.write`
    replaces it).
    """
    head, arrays = _members(stream)
    events, vectors = arrays["events"], arrays["vectors"]
    nodes = int(np.count_nonzero(events[:, 0] == ADD))
    # Its own columns and texts, and a copy of the vectors of the nodes shown once it is asked.
    needed = nodes * (_NODE + 4 * vectors.shape[1]) + len(arrays["turns"]) * _TURN
    check_room(needed, f"a memory of {nodes:,} nodes", "open it on a larger machine")
    try:
        saved = decode(json.loads(head))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{HEAD}: {error}") from None
    texts = Texts(arrays.pop("text"), arrays.pop("text_end"))
    turns, ends = arrays.pop("turns"), arrays.pop("session_end")
    known = saved.conversation
    if len(ends) != len(known.sessions) or (np.diff(ends, prepend=0, append=len(turns)) < 0).any():
        raise StoreError("session_end: expected a number for each session that rises to the turns")
    if ends[-1:].sum() != len(turns):
        raise StoreError(f"session_end: expected {len(turns)} at the end")
    _within("turns", turns[:, :3], 0, len(texts) - 1)
    _within("turns", turns[:, 3], -1, len(texts) - 1)

    def turn(index: int) -> Turn:
        name, who, said, caption = turns[index].tolist()
        return Turn(texts[name], texts[who], texts[said], None if caption < 0 else texts[caption])

    sessions = tuple(
        replace(session, turns=Lazy(turn, range(*between)))
        for session, between in zip(known.sessions, pairwise([0, *ends.tolist()]), strict=True)
    )
    speakers = known.speakers or tuple(texts[row] for row in dict.fromkeys(turns[:, 1].tolist()))
    conversation = replace(known, sessions=sessions, speakers=speakers)
    columns = Columns(texts=texts, **arrays)
    _check(columns, _units(turns, ends, texts, speakers, saved.unit))
    steps = History(columns, lambda: conversation.units(saved.unit))
    return replace(saved, conversation=conversation, steps=steps)


def _members(stream: BinaryIO) -> tuple[bytes, dict[str, Any]]:
    """The head and the arrays of a file, as they lie in it."""
    size = stream.seek(0, 2)
    try:
        archive = ZipFile(stream)
        found = {info.filename: info for info in archive.infolist()}
        data: Any = (
            stream.getbuffer()
            if isinstance(stream, BytesIO)
            else memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        )
        where = {name: _place(info, data, size) for name, info in found.items()}
    except (BadZipFile, struct.error, OSError, EOFError, ValueError, RuntimeError) as error:
        raise StoreError(f"the file is damaged ({error}); save it again") from None
    names = {HEAD, *(f"{name}.npy" for name in _COLUMNS)}
    if set(found) != names or len(archive.infolist()) != len(names):
        raise StoreError(f"expected the members {', '.join(sorted(names))}, each once")
    first, last = where[HEAD]
    if last - first > _MOST_HEAD:
        raise StoreError(f"{HEAD}: expected at most {_MOST_HEAD:,} bytes, found {last - first:,}")
    arrays = {name: _read(name, data, *where[f"{name}.npy"]) for name in _COLUMNS}
    return bytes(data[first:last]), arrays


def _place(info: ZipInfo, data: Any, size: int) -> tuple[int, int]:
    """The first byte of a member and one past its last."""
    if info.compress_type or info.flag_bits & 1:
        raise BadZipFile(f"{info.filename[:80]!r} is packed, expected it as it is")
    if not 0 <= info.header_offset <= size - 30:
        raise BadZipFile(f"{info.filename[:80]!r} lies outside")
    name, extra = struct.unpack_from("<HH", data, info.header_offset + 26)
    first = info.header_offset + 30 + name + extra
    if info.compress_size != info.file_size or first + info.file_size > size:
        raise BadZipFile(f"{info.filename[:80]!r} ends too early")
    return first, first + info.file_size


# What numpy writes before the numbers; nothing is evaluated.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([^']{1,9})', 'fortran_order': False, "
    rb"'shape': \((\d{1,15}),(?: (\d{1,9}))?\), \} *\n",
    re.DOTALL,
)


def _read(name: str, data: Any, first: int, last: int) -> NDArray[Any]:
    """An array as it lies in the file, read-only; a copy where it does not lie at an edge."""
    dtype, width = _COLUMNS[name]
    header = _HEADER.match(bytes(data[first : min(last, first + 200)]))
    if header is None:
        raise StoreError(f"{name}: expected an array of numpy in one or two dimensions")
    found, shape = header[1].decode(), tuple(int(part) for part in header.groups()[1:] if part)
    if found != dtype or len(shape) != 1 + (width != 0) or (width > 0 and shape[1] != width):
        expected = f"numbers {dtype}" + (f" in rows of {width}" if width > 0 else "")
        raise fault(name, expected, f"{found} {shape}")
    begin, count = first + header.end(), math.prod(shape)
    size = count * np.dtype(dtype).itemsize
    if size != last - begin:
        raise fault(name, f"{size} bytes", last - begin)
    values = np.frombuffer(data, dtype, count, begin).reshape(shape)
    return sealed(np.require(values, requirements="A"))


def _units(
    turns: NDArray[np.int32], ends: NDArray[np.int64], texts: Texts, speakers: Any, rule: str
) -> int:
    """Number of units, found without making a turn. ValueError for an unknown rule."""
    session = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    captions = turns[:, 3]
    # As of Turn.content: a text of spaces says nothing, a caption of them something.
    spoken = ~texts.blank(turns[:, 2]) | (captions >= 0) & (np.diff(texts.end)[captions] > 0)
    codes = turns[spoken, 1].tolist()
    number = {texts[row]: row for row in np.unique(turns[:, 1]).tolist()}
    return len(bounds(session[spoken], codes, [number.get(name, -1) for name in speakers], rule))


def _check(c: Columns, units: int) -> None:
    """Every number of a history is one that can stand there."""
    texts, events, steps = len(c.texts) - 1, c.events, c.steps
    if len(c.costs) != len(steps) or len(c.numbers) != len(c.candidates):
        raise StoreError("costs and numbers: expected as many rows as steps and candidates have")
    _within("steps.unit", steps[:, 0], 0, units - 1)
    for column, name, least in ((1, "note", 0), (2, "why", -1), (4, "operation", 0)):
        _within(f"steps.{name}", steps[:, column], least, texts)
    _within("costs", c.costs, 0, EXACT)
    code = events[:, 0]
    for column, name, ends in ((5, "candidates", len(c.candidates)), (6, "events", len(events))):
        if (np.diff(steps[:, column], prepend=0) < 0).any() or steps[-1:, column].sum() != ends:
            raise StoreError(f"steps.{name}: expected numbers that rise to {ends}")
    known = np.searchsorted(np.flatnonzero(code == ADD), steps[:, 6])  # nodes after each step
    _below("steps.chosen", steps[:, 3], known, -1)
    nodes = np.repeat(known, np.diff(steps[:, 5], prepend=0))
    _below("candidates.node", c.candidates[:, 0], nodes, 0)
    _within("candidates.label", c.candidates[:, 1], 0, texts)
    _within("candidates.numbers", c.candidates[:, 2], 0, 3)
    _check_events(c, units)
    for row in np.unique(events[events[:, 8] >= 0, 8]).tolist():
        try:
            _FACTS.validate_json(c.texts[row], strict=True)
        except ValidationError as error:
            raise StoreError(f"events.facts: {error.errors()[0]['msg']}") from None
    step = max(1, _TOGETHER // max(1, np.shape(c.vectors)[1]))
    for first in range(0, len(c.vectors), step):
        if not np.isfinite(c.vectors[first : first + step]).all():
            raise StoreError("vectors: expected finite numbers, found NaN or infinity")


def _check_events(c: Columns, units: int) -> None:
    texts, vectors = len(c.texts) - 1, len(c.vectors) - 1
    node, child, none = ("node", 0, INT32), ("child", 0, INT32), ("", -1, -1)
    text, facts = ("text", 0, texts), ("facts", -1, texts)
    shown = *[("span", 0, units)] * 2, text, ("vector", 0, vectors)
    allowed = {  # by code, what every column may hold
        ADD: (node, ("level", 0, INT32), *shown, ("kind", 0, texts), facts),
        REVISE: (node, ("level", -1, INT32), *shown, none, facts),
        LINK: (node, child, *[none] * 6),
        UNLINK: (node, child, *[none] * 6),
        RETIRE: (node, *[none] * 7),
        RELATE: (node, child, ("weight", 0, len(c.weights) - 1), none, text, none, none, facts),
    }
    for first in range(0, len(c.events), _TOGETHER // 9):
        events = c.events[first : first + _TOGETHER // 9]
        code = events[:, 0].copy()
        _within("events.code", code, 0, RELATE)
        for kind in np.flatnonzero(np.bincount(code)).tolist():
            columns = np.compress(code == kind, events, axis=0).T[1:].copy()
            for column, (name, least, most) in zip(columns, allowed[kind], strict=True):
                _within(f"events.{name}".rstrip("."), column, least, most)


_FACTS: TypeAdapter[dict[str, Any]] = TypeAdapter(Facts)


def _within(name: str, values: NDArray[Any], least: int, most: int) -> None:
    """StoreError unless all values are from ``least`` to ``most``."""
    if values.size and (values.min() < least or values.max() > most):
        _below(name, values, most + 1, least)


def _below(name: str, values: NDArray[Any], end: Any, least: int) -> None:
    wrong = (values < least) | (values >= end)
    if wrong.any():
        found = int(values[wrong].flat[0])
        raise fault(name, f"whole numbers from {least} to {np.max(end) - 1}", found)
