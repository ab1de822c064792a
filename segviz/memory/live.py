"""Builds the memory of a JSON Lines file turn by turn, while an agent is writing it.

Reading continues if the bytes read so far still have the same hash. Otherwise the file is read
again from the start, into a new tree. So an agent may append, rewrite the file, or rename another
over it. Hashing takes about a millisecond per megabyte, and happens only when the file has changed.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from segviz import files
from segviz.construct import LOOK_BACK, Arrival, Services, as_settings
from segviz.conversation import Conversation, Session, Turn, Unit
from segviz.embedding import get_embedder
from segviz.loaders import GAP_HOURS, LoadError, read_document
from segviz.loaders.chat import Message, SessionRule
from segviz.loaders.formats.records import messages_in
from segviz.loaders.multi_conversation import stem
from segviz.memory.memory import Memory
from segviz.systems.common.annotation import prepared
from segviz.systems.segment_tree import SegmentTree, SegmentTreeBuilder
from segviz.tree import Record, Vector

READ_AT_ONCE = 1 << 20
LONGEST_LINE = 8 << 20
"""Bytes; a longer line is no message and is left out."""

_TICK = 2_000_000_000
"""Nanoseconds within which a file may change twice without a new time stamp."""


class Tail:
    """Reader that returns each whole line of a growing file once.

    If lines that were read have changed, it starts again at the first line. ``offset`` is the
    position of the next line, in bytes. Threads must not share a reader.
    """

    def __init__(self, path: str | Path) -> None:
        """Opens nothing: the file need not exist yet."""
        self._path = Path(path)
        self._seen: tuple[int, ...] = ()
        self._restart()

    def lines(self) -> tuple[bool, list[bytes]]:
        """Reads new lines, at most about 1 MB.

        Returns True and lines from the first on if lines that were read have changed, else False
        and the lines after those that were read. A last line without a line end is left for later,
        unless it is a whole JSON object. Raises OSError if the path is not a regular file.
        """
        try:
            stream = files.opened(self._path)
        except FileNotFoundError:
            return False, []  # not there yet, or about to be replaced
        with stream:
            if again := self._changed(stream):
                self._restart()
            stream.seek(self.offset)
            # A line longer than one reading is read on, so that it is not taken for a half one.
            data = stream.read(READ_AT_ONCE)
            if b"\n" not in data and len(data) == READ_AT_ONCE:
                data += stream.read(LONGEST_LINE - READ_AT_ONCE)
        data = data[: _whole(data)]
        self.offset += len(data)
        self._read.update(data)
        return again, [line for line in data.split(b"\n") if line.strip()]

    def _restart(self) -> None:
        self.offset, self._read = 0, sha256()

    def _changed(self, stream: BufferedReader) -> bool:
        """Returns True if bytes of the file that were read have changed since."""
        status = os.fstat(stream.fileno())
        # The time of the last change of its status cannot be set back, unlike that of its content.
        times = status.st_mtime_ns, status.st_ctime_ns
        seen = (status.st_dev, status.st_ino, status.st_size, *times)
        if seen == self._seen:
            return False
        # A file that has just changed may change again without a new time stamp.
        self._seen = seen if time.time_ns() - max(times) > _TICK else ()
        there, left = sha256(), self.offset
        while left and (part := stream.read(min(left, READ_AT_ONCE))):
            there.update(part)
            left -= len(part)
        return there.digest() != self._read.digest()


def _whole(data: bytes) -> int:
    """Returns the number of bytes in ``data`` up to the end of its last whole line.

    A last line without a line end counts too if it is a whole JSON object. So does a line longer
    than ``LONGEST_LINE``, so that it is skipped in pieces.
    """
    end = data.rfind(b"\n") + 1
    rest = data[end:].strip()
    if len(data) == LONGEST_LINE and not end:
        return len(data)
    if rest[:1] != b"{" or rest[-1:] != b"}":
        return end
    try:
        json.loads(rest)
    except (ValueError, RecursionError):
        return end
    return len(data)


class Watched:
    """Segment tree of a growing file; each call of ``poll`` inserts the new lines.

    ``turns`` counts the turns in the tree, ``skipped`` the lines without a message. ``readings``
    counts how often the file was read from its first line: more than once if lines that were read
    have changed. One thread may poll while others read.
    """

    def __init__(self, path: str | Path) -> None:
        """Prepares an empty tree of a JSON Lines file, which need not exist yet."""
        self.path = Path(path)
        self._system = SegmentTree()
        self._embedder = get_embedder()
        services = Services(self._embedder)
        self._compatibility = prepared(self._system.compatibility, services)
        self._annotate = prepared(self._system.annotate, services)
        self._lock = threading.Lock()
        self._tail = Tail(self.path)
        self.readings = 0
        self._start()

    @property
    def memory(self) -> Memory | None:
        """Memory with all turns inserted so far; None before the first turn."""
        _, _, memory = self.now()
        return memory

    def now(self) -> tuple[int, int, Memory | None]:
        """Returns ``readings``, ``turns`` and ``memory`` of one moment; another thread may poll."""
        with self._lock:
            return self.readings, self.turns, self._memory()

    def poll(self) -> int:
        """Inserts the lines written since the last call, at most about 1 MB.

        Returns:
            The number of turns in these lines.

        Raises:
            OSError: The file cannot be read.
        """
        again, lines = self._tail.lines()
        if again:
            with self._lock:
                self._start()
        # Embedding is slow, so it is done for all lines at once and without the lock.
        messages: list[Message] = []
        for line in lines:
            try:
                document, _ = read_document(line)
            except LoadError:
                document = None
            of_line = messages_in(document)
            self.skipped += not of_line
            messages += of_line
        turns = [Turn("", each.speaker, each.text, time=each.time) for each in messages]
        texts = [turn.spoken for turn in turns if turn.content]
        vectors = iter(self._embedder.embed(texts) if texts else ())
        for each, turn in zip(messages, turns, strict=True):
            with self._lock:
                self._take(each, turn, next(vectors) if turn.content else None)
        return len(messages)

    def _start(self) -> None:
        """Starts with an empty tree, for a reading from the first line."""
        self.readings += 1
        self.turns = self.skipped = 0
        self._rule = SessionRule(GAP_HOURS)
        self._shown: Memory | None = None
        self._before: Vector = self._embedder.embed([""])[:0]  # of the last turns, oldest first
        self._sessions: list[tuple[Session, list[Turn]]] = []
        self._time: datetime | None = None  # of the last turn of the session that has one
        self._speakers: dict[str, None] = {}
        self._units: list[Unit] = []
        self._record = Record()
        self._builder = SegmentTreeBuilder(self._annotate, self._embedder, "eager")

    def _take(self, message: Message, turn: Turn, vector: Vector | None) -> None:
        """Adds a turn to its session, or to a new one; a turn with a vector enters the tree."""
        if self._rule.begins(message):  # remembers the message
            self._time = message.when
            raw = f"{self._time:%Y-%m-%d %H:%M}" if self._time else message.raw
            name = f"session_{len(self._sessions) + 1}"
            self._sessions.append((Session(name, self._time, raw, ()), []))
        self._time = message.when or self._time
        _, turns = self._sessions[-1]
        turn = replace(turn, id=f"S{len(self._sessions)}:{len(turns) + 1}")
        turns.append(turn)
        self._speakers[turn.speaker] = None
        self.turns += 1
        self._shown = None  # the memory shown before lacks this turn
        if vector is not None:
            self._insert(turn.id, turn.spoken, vector)

    def _insert(self, turn_id: str, text: str, vector: Vector) -> None:
        """Adds a leaf to the tree as the next arrival."""
        number, index = len(self._sessions) - 1, len(self._units)
        arrival = Arrival(
            index=index,
            turn_ids=(turn_id,),
            session=number,
            text=text,
            time=self._time,
            vector=vector,
            opens_session=index > 0 and self._units[-1].session != number,
            before=self._before,
        )
        # One step of Algorithm 1.
        step = self._builder.insert(arrival, self._compatibility, settles=False)
        self._before = np.vstack([self._before, vector])[-LOOK_BACK:]
        self._units.append(arrival.unit)
        self._record.take(step)

    def _memory(self) -> Memory | None:
        """Returns the memory of the turns so far, made anew after a turn; None without units."""
        if self._shown is None and self._units:
            system, units = self._system, tuple(self._units)
            conversation = Conversation(
                stem(self.path.name),
                tuple(self._speakers),
                tuple(replace(each, turns=tuple(turns)) for each, turns in self._sessions),
                source_format="watched",
            )
            self._shown = Memory(
                conversation,
                "turn",
                system.name,
                system.invariants,
                as_settings(system),
                self._embedder,
                self._record.history(units),
                built_with=system,
            )
            # The units are known already, so the conversation need not be cut again.
            vars(conversation)["_units_by_rule"] = {"turn": units}
        return self._shown


class Watch:
    """Writer of an agent's messages into a file that ``segviz watch`` shows.

    Two lines in the agent's loop::

        watch = segviz.Watch("agent.jsonl")
        watch(message)  # {"role": …, "content": …}, or watch("user", "Hello")

    A turn is one line with the time as ``timestamp``. It is written whole or not at all, even if
    several processes write to one file (:func:`segviz.files.append`).
    """

    def __init__(self, path: str | Path) -> None:
        """Stores the path; the first turn creates the file."""
        self.path = Path(path).expanduser()

    def __call__(self, message: Any, text: str | None = None) -> None:
        """Appends a message.

        Args:
            message: a mapping or a reply of the OpenAI API (``model_dump``), or the name of a
                speaker.
            text: what the speaker says.

        Raises:
            TypeError: The message is anything else.
            OSError: The line cannot be written whole.
        """
        if isinstance(message, str) and isinstance(text, str):
            fields: Mapping[str, Any] = {"speaker": message, "text": text}
        elif hasattr(message, "model_dump"):
            fields = message.model_dump(mode="json")
        elif isinstance(message, Mapping) and text is None:
            fields = message
        else:
            what = "a message such as {'role': …, 'content': …}, or a speaker and a text"
            raise TypeError(f"expected {what}, found {type(message).__name__}")
        files.append(self.path, json.dumps({"timestamp": datetime.now(UTC).isoformat(), **fields}))
