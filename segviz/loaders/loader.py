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
"""The conversations of a document, and notes on what was mended or left out, in any order."""


@dataclass(frozen=True, slots=True)
class Loader:
    """One format.

    ``label`` is its name for people. ``matches(document)`` looks at the shape of a document
    and never raises. ``read(document, name, options)`` gives the ``Reading``; ``name`` is the
    file's, and its stem names conversations that bear no name of their own. It raises LoadError
    when no turn is usable. ``asks`` names the ``Options`` it heeds. Where a document is a list
    with one conversation per item, ``entry(item)`` tells from the item's outline what a list of
    conversations shows, so that large files are read item by item. ``about`` says what is read and
    what is left out, for the table of formats.
    """

    label: str
    matches: Callable[[object], bool]
    read: Callable[[object, str, Options], Reading]
    asks: tuple[str, ...] = ()
    entry: Callable[[Item], Entry] | None = None
    about: tuple[str, str] = ("", "")
