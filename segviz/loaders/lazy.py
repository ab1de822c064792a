"""Lists the conversations of a large file in one pass, and reads one at a time.

Only formats with a conversation per item of a JSON list are read so. The pass finds the place and
the outline of each item (``segviz.loaders.json_scanner``). ``corpus[3]`` then reads the bytes of
that item alone, with the same loader as a small file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

from segviz import files
from segviz.conversation import Conversation, Corpus, Entry, LoadReport, distinct
from segviz.loaders.decode import read_document
from segviz.loaders.document import Options, PlainText
from segviz.loaders.errors import WHOLE, LoadError, opening, too_large
from segviz.loaders.formats import loader_of
from segviz.loaders.json_scanner import Item, NotItems, find_items
from segviz.loaders.loader import Loader
from segviz.loaders.report import Notes
from segviz.loaders.unread import note_unread

BY_ITEMS = 16 * 1024**2
"""Size in bytes from which a file is listed and read by items, if its format allows."""

KEPT = 2
"""Conversations kept in memory; one of LongMemEval-M has about five million characters."""

_LOOKED_AT = 3

_Read = tuple[Conversation, LoadReport]


@dataclass(frozen=True)
class LazyCorpus(Corpus):
    """Corpus of a large file, whose conversations are read on access."""

    listed: tuple[Entry, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Ids and sizes of the conversations, which are known without reading them."""
        return self.listed

    def report_of(self, position: int) -> LoadReport:
        """Reads one conversation and returns its load report."""
        shelf = self.conversations
        return shelf.read(position)[1] if isinstance(shelf, Shelf) else self.report


class Shelf(Sequence[Conversation]):
    """Sequence of a large file's conversations, each read when asked for; safe for threads."""

    def __init__(
        self,
        path: Path,
        label: str,
        loader: Loader,
        options: Options,
        items: Sequence[tuple[int, int, str]],
    ) -> None:
        """Takes the items of the list: first byte, byte after the last, and id of each."""
        self._path, self._label, self._loader, self._options = path, label, loader, options
        self._items = items
        self._version = _version(path)
        self._kept = lru_cache(KEPT)(self._read)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, key: Any) -> Any:
        """Reads a conversation by its position; raises LoadError if it has no turn."""
        if isinstance(key, slice):
            return tuple(self[i] for i in range(*key.indices(len(self))))
        return self.read(key)[0]

    def read(self, position: int) -> _Read:
        """Returns a conversation and its load report; raises IndexError beyond the end."""
        return self._kept(range(len(self))[position])

    def _read(self, place: int) -> _Read:
        """Reads the conversation at a place of the list, with its load report."""
        start, stop, name = self._items[place]
        where = f"{self._label}, [{place}]"
        if stop - start > WHOLE:
            raise too_large(stop - start, WHOLE, where, "split the file")
        if _version(self._path) != self._version:
            what = "the file has changed since it was listed"
            raise LoadError(what, where, remedy="load it again")
        with opening(where, "check that it is still there"), files.opened(self._path) as stream:
            stream.seek(start)
            data = stream.read(stop - start)
        try:
            document, notes = read_document(data)
            if isinstance(document, PlainText):
                raise document.error
            conversations, more = self._loader.read(document, self._label, self._options)
            note_unread(document, conversations, more, notes)
        except LoadError as error:
            raise error.in_file(where, f"a conversation of {self._loader.label}") from None
        conversation = replace(conversations[0], id=name)
        whole = Notes()
        whole.take(notes, more, document=document)
        return conversation, whole.report(self._label, self._loader.label, [conversation])


def list_file(
    path: Path, label: str, options: Options, progress: Callable[[int, int], None]
) -> LazyCorpus | None:
    """Lists the conversations of a large file, a JSON list, without reading them.

    Returns None if the file is no list of a format that is read by items. ``progress`` is called
    with the bytes scanned so far and the bytes of the file. Raises OSError if the file cannot be
    read.
    """
    total = path.stat().st_size
    listing: list[tuple[int, int, Entry]] = []
    with files.opened(path) as stream:
        items = find_items(stream)
        try:
            # The first items decide the format.
            first = list(islice(items, _LOOKED_AT))
            loader = _loader(path, first, options)
            if loader is None or loader.entry is None:
                return None
            for item in chain(first, items):
                listing.append((item.start, item.stop, loader.entry(item)))
                progress(item.stop, total)
        except NotItems:
            return None
    # Items without an id are called by their position.
    names = distinct([entry.id or f"{row}" for row, (*_, entry) in enumerate(listing, start=1)])
    named = list(zip(listing, names, strict=True))
    entries = tuple(replace(entry, id=name) for (*_, entry), name in named)
    spans = [(start, stop, name) for (start, stop, _), name in named]
    report = LoadReport(label, loader.label, sum(entry.turns or 0 for entry in entries))
    return LazyCorpus(Shelf(path, label, loader, options, spans), report, entries)


def _loader(path: Path, first: Sequence[Item], options: Options) -> Loader | None:
    """Returns the loader of the first item that one can read; None without such an item."""
    for item in first:
        if item.stop - item.start > WHOLE:
            continue
        with files.opened(path) as stream:
            stream.seek(item.start)
            try:
                document, _ = read_document(stream.read(item.stop - item.start))
            except LoadError:
                continue
        if (loader := loader_of([document], options)) is not None:
            return loader
    return None


def _version(path: Path) -> tuple[int, int]:
    """Returns a file's time of change and its size, to notice a change; -1 if it is gone."""
    try:
        facts = path.stat()
    except OSError:
        return (-1, -1)
    return facts.st_mtime_ns, facts.st_size
