"""Builds the memory of a conversation that is still being written, turn by turn.

A :class:`Tail` reads whole lines off a growing JSON Lines file, :class:`Watched` inserts what
they say into a segment tree as Algorithm 1 does, one leaf per turn, and :class:`Watch` writes
such a file from an agent's loop. A turn costs the same however much was said before it.

Memory is bounded: after :data:`PART` turns the tree is saved as a memory of its own and the next
turn begins another, so a million turns a day leave two hundred files, and at most one part, about
60 MB, is held. The state is kept in a folder beside the file: ``part-0001.npz`` and so on are
finished parts, which open like any memory; ``watch.json`` says how far the file was read. It is
written after every tenth of a part's turns, so whoever goes on after a kill inserts no more than
that again.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from io import RawIOBase
from pathlib import Path
from typing import Any

import numpy as np

from segviz import files, store
from segviz.construct import LOOK_BACK, Arrival, Services, as_settings
from segviz.conversation import Conversation, Session, Turn, Unit
from segviz.embedding import Cached, Embedder, get_embedder
from segviz.loaders.columns import guess, plain_value
from segviz.loaders.dates import read_time
from segviz.loaders.decode import read_document
from segviz.loaders.document import Options, PlainText
from segviz.loaders.errors import LoadError
from segviz.loaders.formats import loader_of
from segviz.loaders.multi_conversation import stem
from segviz.loaders.report import Note, Tally
from segviz.memory.memory import Memory, open_memory
from segviz.systems.common.annotation import prepared
from segviz.systems.segment_tree import SegmentTree
from segviz.systems.segment_tree.builder import SegmentTreeBuilder
from segviz.tree import Record, Vector

PART = 2_500
"""Turns after which a tree is saved and another begins."""

READ_AT_ONCE = 1 << 20
LONGEST_LINE = 8 << 20
"""Bytes; a longer line is no message and is left out."""

_HEAD = 200
_FORMAT, _STATE = "segviz-watch", "watch.json"


class Tail:
    """Reads the whole lines of a file that others append to, each once.

    A last line without its end waits. Another file under the name (rotation) is begun once the
    old one, which stays open, has been read to its end; a file that was cut, or whose beginning
    has changed, is begun anew; either adds to ``begun``. ``offset`` is where the next line begins,
    ``head`` tells the file by its first bytes. Not safe to share between threads.
    """

    def __init__(self, path: str | Path, offset: int = 0, head: str = "") -> None:
        """Goes on at ``offset`` where the file still begins as ``head`` says."""
        self._path = Path(path)
        self.offset, self.head = offset, head
        self.begun = 0
        self._stream: RawIOBase | None = None
        self._overlong = False

    def lines(self) -> list[tuple[int, bytes]]:
        """The next lines, with the offset behind each; at most about a megabyte of them. None
        where the file is not there yet. OSError for what is no regular file."""
        if self._stream is None:
            try:
                # Without a buffer, which would go on with what the file no longer holds.
                self._stream = files.opened(self._path).detach()
            except FileNotFoundError:
                return []
        if self._changed(self._stream):
            self._begin()
        found = self._whole(self._stream)
        if not found and self._moved(self._stream):
            self._stream.seek(self.offset)
            rest = self._stream.read(LONGEST_LINE)
            self.close()
            self._begin()
            return [(0, rest)] if rest.strip() else []
        return found

    def close(self) -> None:
        """Lets the file go."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _begin(self) -> None:
        self.offset, self.head, self._overlong = 0, "", False
        self.begun += 1

    def _changed(self, stream: RawIOBase) -> bool:
        if os.fstat(stream.fileno()).st_size < self.offset:
            return True
        length = int(self.head.partition(":")[0] or 0)
        return length > 0 and _head(stream, length) != self.head

    def _moved(self, stream: RawIOBase) -> bool:
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            return False  # the next one is still to come
        here = os.fstat(stream.fileno())
        return (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino)

    def _whole(self, stream: RawIOBase) -> list[tuple[int, bytes]]:
        stream.seek(self.offset)
        data = stream.read(READ_AT_ONCE)
        if b"\n" not in data and len(data) == READ_AT_ONCE:
            data += stream.read(LONGEST_LINE - len(data))
        if b"\n" not in data:
            if len(data) == LONGEST_LINE:
                self.offset, self._overlong = self.offset + len(data), True
            return []
        found = []
        for line in data[: data.rindex(b"\n") + 1].splitlines(keepends=True):
            self.offset += len(line)
            found.append((self.offset, line))
        if self._overlong:  # the rest of a line whose beginning was passed over
            self._overlong = False
            found[0] = (found[0][0], b"?")
        if int(self.head.partition(":")[0] or 0) < _HEAD:
            self.head = _head(stream, min(_HEAD, self.offset))
        return found


def _head(stream: RawIOBase, length: int) -> str:
    stream.seek(0)
    return f"{length}:{sha256(stream.read(length)).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class _Heard:
    """A turn with its time, as read and as shown, and the name of its session."""

    turn: Turn
    time: datetime | None = None
    raw: str = ""
    session: str | None = None

    @property
    def said(self) -> str:
        """The text of its leaf, as ``segviz.conversation.units`` cuts it."""
        return self.turn.spoken


@dataclass(slots=True)
class _Now:
    """The session that goes on: its number, the turns in it, when it began, the time of the last
    turn that has one, and its name."""

    number: int = 0
    row: int = 0
    start: datetime | None = None
    raw: str = ""
    last: datetime | None = None
    name: str | None = None

    def opens(self, heard: _Heard, gap: float) -> bool:
        """Whether this turn begins another session, as ``segviz.loaders.chat`` has it."""
        if not self.number or heard.session is not None or self.name is not None:
            return not self.number or heard.session != self.name
        if heard.time is None or self.last is None:
            return False
        return abs((heard.time - self.last).total_seconds()) > gap


class Watched:
    """The segment tree of a file that grows; ``poll`` takes in what was written since.

    ``memory`` is the part that grows now, ``part`` its number from 1, ``turns`` how many turns
    were taken in ever. One thread may poll while others look.
    """

    def __init__(
        self,
        path: str | Path,
        folder: str | Path | None = None,
        *,
        system: SegmentTree | None = None,
        embedder: str | Embedder = "auto",
        gap_hours: float = 8.0,
        part: int = PART,
    ) -> None:
        """Goes on where the state in ``folder`` (default: the file's name with ``.segviz`` behind
        it) says; a silence of ``gap_hours`` begins a session. ValueError for a system with lazy
        refresh, and for a state that cannot be used: it says why and what to do.
        """
        self.path = Path(path)
        self.folder = Path(folder or self.path.with_name(f"{self.path.name}.segviz"))
        self._system = system or SegmentTree()
        if self._system.refresh != "eager":
            raise ValueError("a tree that is watched is refreshed at every step, not lazily")
        found = get_embedder(embedder) if isinstance(embedder, str) else embedder
        # What was said long ago is not said again: its vectors stay in the tree alone.
        self._embedder = Cached(found.inner, LOOK_BACK) if isinstance(found, Cached) else found
        services = Services(self._embedder)
        self._compatibility = prepared(self._system.compatibility, services)
        self._annotate = prepared(self._system.annotate, services)
        self._gap, self._full = gap_hours * 3600, part
        self._lock = threading.Lock()
        self._shown: Memory | None = None
        self._before: Vector  # of the last turns, oldest first
        self._builder: SegmentTreeBuilder
        self._tally = Tally()
        self._tail = Tail(self.path)
        self._at = 0, ""
        self._now = _Now()
        self.part, self.turns, self._saved, self._lines = 1, 0, 0, 0
        self._start_part()
        if (self.folder / _STATE).exists():
            self._resume()

    # --- what is there -------------------------------------------------------------------------

    @property
    def memory(self) -> Memory | None:
        """The part that grows now, as it is; None before its first turn."""
        with self._lock:
            return self._memory()

    def now(self) -> tuple[int, int, Memory | None]:
        """``part``, ``turns`` and ``memory`` at one moment."""
        with self._lock:
            return self.part, self.turns, self._memory()

    @property
    def unsaved(self) -> int:
        """Turns taken in since the state was written."""
        return self.turns - self._saved

    @property
    def skipped(self) -> int:
        """Lines that held no message."""
        return self._tally.report("", "", ()).count("skipped")

    # --- growing -------------------------------------------------------------------------------

    def poll(self) -> int:
        """Takes in the lines written since, at most about a megabyte; how many turns they held.

        OSError where the file or the folder of the state cannot be used.
        """
        begun = self._tail.begun
        read = [(end, self._heard(line)) for end, line in self._tail.lines()]
        if self._tail.begun > begun:
            what = "the file was begun anew; the tree goes on"
            self._tally.add(None, [Note("repaired", (), what)])
        texts = [each.said for _, heard in read for each in heard if each.turn.content]
        vectors = iter(self._embedder.embed(texts) if texts else ())
        before = self.turns
        for end, heard in read:
            with self._lock:
                for each in heard:
                    self._take(each, next(vectors) if each.turn.content else None)
                self._at = end, self._tail.head
                full = self._memory() if len(self._units) >= self._full else None
                if full is not None:
                    self.part += 1
                    self._start_part()
            if full is not None:
                store.write(full.saved, self._made(f"part-{self.part - 1:04}.npz"))
                self.save()
        if self.unsaved >= max(1, self._full // 10):
            self.save()
        return self.turns - before

    def close(self) -> None:
        """Lets the file go."""
        self._tail.close()

    def save(self) -> None:
        """Writes the state: all that was taken in so far will not be inserted again. OSError
        names the file."""
        with self._lock:
            memory, now, turns = self._memory(), self._now, self.turns
            name = f"part-{self.part:04}-{len(self._units)}.npz" if memory else ""
            state = {
                "format": _FORMAT,
                "version": 1,
                "offset": self._at[0],
                "head": self._at[1],
                "lines": self._lines,
                "turns": turns,
                "part": self.part,
                "memory": name,
                "session": list(astuple(now)),
            }
        if memory is not None:
            store.write(memory.saved, self._made(name))
        # Until this file takes the place of the one before, that one and its memory hold.
        files.write(self._made(_STATE), json.dumps(state, indent=1, default=datetime.isoformat))
        for left in self.folder.glob("part-*-*.npz"):
            if left.name != name:
                with suppress(PermissionError):  # Windows keeps a file that is still mapped
                    left.unlink(missing_ok=True)
        self._saved = turns

    def _made(self, name: str) -> Path:
        self.folder.mkdir(exist_ok=True)
        return self.folder / name

    def _heard(self, line: bytes) -> list[_Heard]:
        """The turns of a line; none, and a finding, where it holds no message."""
        self._lines += 1
        if not line.strip():
            return []
        try:
            document, _ = read_document(line)
            loader = None if isinstance(document, PlainText) else loader_of([document], Options())
            if loader is None:
                raise LoadError("this line is no message")
            conversations, _ = loader.read([document], self.path.name, Options())
        except LoadError as error:
            self._tally.skipped(error.what, f"line {self._lines}")
            return []
        record: Mapping[str, object] = document if isinstance(document, Mapping) else {}
        keys = guess(list(record))
        time, name = (record.get(keys.get(each, "")) for each in ("time", "session"))
        when = read_time(time)
        raw = f"{when:%Y-%m-%d %H:%M}" if when else plain_value(time)
        return [
            _Heard(turn, when, raw, plain_value(name) or None)
            for conversation in conversations
            for turn in conversation.turns
        ]

    def _take(self, heard: _Heard, vector: Vector | None) -> None:
        now = self._now
        if opens := now.opens(heard, self._gap):
            now = _Now(now.number + 1, 0, heard.time, heard.raw, now.last, heard.session)
        self._now = now = replace(now, row=now.row + 1, last=heard.time or now.last)
        if opens or not self._sessions:
            self._sessions.append((Session(f"session_{now.number}", now.start, now.raw, ()), []))
        turn = replace(heard.turn, id=f"S{now.number}:{now.row}")
        self._sessions[-1][1].append(turn)
        self._speakers[turn.speaker] = None
        self.turns += 1
        self._shown = None
        if vector is not None:
            self._insert(turn.id, heard.said, vector)

    def _insert(self, turn_id: str, text: str, vector: Vector) -> None:
        session, index = len(self._sessions) - 1, len(self._units)
        arrival = Arrival(
            index,
            (turn_id,),
            session,
            text,
            self._now.start,
            vector=vector,
            opens_session=index > 0 and self._units[-1].session != session,
            before=self._before,
        )
        step = self._builder.insert(arrival, self._compatibility, closes_session=False)
        self._before = np.vstack([self._before, vector])[-LOOK_BACK:]
        self._units.append(arrival.unit)
        self._record.take(step)

    def _memory(self) -> Memory | None:
        if self._shown is None and self._units:
            name, system, units = stem(self.path.name), self._system, tuple(self._units)
            conversation = Conversation(
                name if self.part == 1 else f"{name} {self.part}",
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
            )
            # What cutting the conversation would give, without doing so.
            vars(conversation)["_units_by_rule"] = {"turn": units}
        return self._shown

    def _start_part(self) -> None:
        self._shown = None
        self._before = self._embedder.embed([""])[:0]
        self._sessions: list[tuple[Session, list[Turn]]] = []
        self._speakers: dict[str, None] = {}
        self._units: list[Unit] = []
        self._record = Record()
        self._builder = SegmentTreeBuilder(self._annotate, self._embedder, lazy=False)

    def _resume(self) -> None:
        """Goes on where the state says: nothing that it holds is embedded or inserted again."""
        try:
            state = json.loads(files.read(self.folder / _STATE))
            if (state["format"], state["version"]) != (_FORMAT, 1):
                raise ValueError("it is no state of this version")
            number, row, start, raw, last, name = state["session"]
            self._now = _Now(number, row, _date(start), raw, _date(last), name)
            self._at = int(state["offset"]), str(state["head"])
            self.part, self._lines = int(state["part"]), int(state["lines"])
            self.turns = self._saved = int(state["turns"])
            if state["memory"]:
                self._go_on(open_memory(self.folder / Path(state["memory"]).name, self._embedder))
        except (ValueError, TypeError, KeyError, OSError) as error:
            raise ValueError(
                f"the state in {str(self.folder)!r} cannot be used ({error}); move the folder "
                "away to build from the start of the file"
            ) from None
        self._tail = Tail(self.path, *self._at)

    def _go_on(self, memory: Memory) -> None:
        settings = as_settings(self._system)
        if memory.settings != settings:
            raise ValueError(f"it was built with {memory.settings}, not {settings}")
        sessions = memory.conversation.sessions
        self._sessions = [(replace(each, turns=()), list(each.turns)) for each in sessions]
        self._speakers = dict.fromkeys(memory.conversation.speakers)
        self._units = list(memory.units)
        for step in memory.steps:
            self._record.take(step)
        structure = memory.structure
        self._builder = SegmentTreeBuilder.resumed(self._annotate, self._embedder, structure)
        self._before = structure.vector[list(structure.leaves[-LOOK_BACK:])]


def _date(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written)


class Watch:
    """Writes what an agent says into a file that ``segviz watch`` shows.

    Two lines in the agent's loop::

        watch = segviz.Watch("agent.jsonl")
        watch(message)  # {"role": …, "content": …}, or watch("user", "Hello")

    A turn is one line, appended in one piece with the time as ``timestamp``, so that several
    processes may write one file. A process that ends, however it does, leaves whole lines.
    """

    def __init__(self, path: str | Path) -> None:
        """The file is made with the first turn."""
        self.path = Path(path).expanduser()

    def __call__(self, message: Any, text: str | None = None) -> None:
        """Appends a message: a mapping as the OpenAI API takes it, what that API answers with
        (anything with ``model_dump``), or a speaker and a ``text``. TypeError for anything else;
        OSError where the file cannot be written."""
        if isinstance(message, str) and isinstance(text, str):
            said: Mapping[str, Any] = {"speaker": message, "text": text}
        elif hasattr(message, "model_dump"):
            said = message.model_dump(mode="json")
        elif isinstance(message, Mapping) and text is None:
            said = message
        else:
            what = "a message such as {'role': …, 'content': …}, or a speaker and a text"
            raise TypeError(f"expected {what}, found {type(message).__name__}")
        line = json.dumps({"timestamp": datetime.now(UTC).isoformat(), **said}) + "\n"
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            os.write(handle, line.encode("utf-8"))
        finally:
            os.close(handle)
