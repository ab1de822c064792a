"""Defines Loader, which knows one format by its shape and makes conversations of a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from segviz.conversation import Conversation, Entry
from segviz.loaders.document import Options
from segviz.loaders.json_scanner import Item
from segviz.loaders.report import Note

Reading: TypeAlias = tuple[Sequence[Conversation], Sequence[Note]]
"""Conversations of a document, and notes on repairs and omissions, in any order."""


@dataclass(frozen=True, slots=True)
class Loader:
    """Loader of one format.

    ``label`` is its name on screen, ``about`` its row in the table of formats: what is read, what
    is left out. ``matches(document)`` checks the shape of a document and never raises.
    ``read(document, name, options)`` returns the ``Reading``, or raises LoadError without a usable
    turn; the stem of the file's ``name`` names conversations without a name. ``asks`` lists the
    ``Options`` it uses. ``entry(item)`` describes a conversation by its item's outline; formats
    with one conversation per item have it, so that large files are read item by item.
    """

    label: str
    matches: Callable[[object], bool]
    read: Callable[[object, str, Options], Reading]
    asks: tuple[str, ...] = ()
    entry: Callable[[Item], Entry] | None = None
    about: tuple[str, str] = ("", "")
