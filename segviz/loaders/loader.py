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
"""Conversations of a document, and notes on repairs and omissions."""


@dataclass(frozen=True, slots=True)
class Loader:
    """Loader of one format, called ``label`` on screen.

    ``matches(document)`` tells whether a document has the format's shape; it never raises.
    ``read(document, name, options)`` makes conversations; it raises LoadError if there is no turn.
    ``name`` is the file's name, for conversations without one. ``asks`` names the ``Options`` used.
    ``entry`` describes a conversation by its outline; formats with a conversation per list item
    have it, so that large files are read by items. ``about`` is what is read and what is left out.
    """

    label: str
    matches: Callable[[object], bool]
    read: Callable[[object, str, Options], Reading]
    asks: tuple[str, ...] = ()
    entry: Callable[[Item], Entry] | None = None
    about: tuple[str, str] = ("", "")
