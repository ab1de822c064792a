"""Files -> Corpus. The format is told by shape, never by the file's name.

``load(path)`` and ``parse(bytes, name)`` return a Corpus whose report lists everything
that was repaired or skipped; they raise LoadError, and nothing else, when nothing usable
remains. To add a format: write a module with ``LABEL``, ``matches`` and ``read`` and add a
row to ``LOADERS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from segviz.conversation import Conversation, Corpus, LoadReport
from segviz.loaders import locomo, longmemeval, realmem
from segviz.loaders.clean import printable
from segviz.loaders.decode import read_document
from segviz.loaders.errors import LoadError
from segviz.loaders.notes import Note, in_file_order
from segviz.loaders.wording import describe, one_line, shorten

__all__ = ["LOADERS", "LoadError", "Loader", "load", "parse"]


@dataclass(frozen=True, slots=True)
class Loader:
    """One format.

    ``label`` is its name for people. ``matches(document)`` looks at the shape of a parsed
    JSON document and never raises. ``read(document, name)`` gives the conversations and
    notes in any order; it raises LoadError when no turn is usable.
    """

    label: str
    matches: Callable[[object], bool]
    read: Callable[[object, str], tuple[Sequence[Conversation], Sequence[Note]]]


LOADERS: dict[str, Loader] = {
    "locomo": Loader(locomo.LABEL, locomo.matches, locomo.read),
    "longmemeval": Loader(longmemeval.LABEL, longmemeval.matches, longmemeval.read),
    "realmem": Loader(realmem.LABEL, realmem.matches, realmem.read),
}
"""Name -> loader, in the order in which they are asked."""


def load(path: str | Path) -> Corpus:
    """Read a conversation file; ``~`` is the home folder.

    Raises LoadError when there is no readable file, and as ``parse`` does.
    """
    file = Path(path)
    shown = _label(str(file), limit=160)
    with suppress(RuntimeError):  # no home folder can be found: then ~ is just a name
        file = file.expanduser()
    try:
        if file.is_dir():
            what, remedy = "this is a folder", "name the conversation file inside it"
            raise LoadError(what, shown, _accepted(), remedy)
        if not file.exists():
            raise LoadError("there is no such file", shown, remedy="check the spelling of the path")
        if not file.is_file():
            # Devices and pipes may never end.
            raise LoadError("this is not an ordinary file", shown, _accepted())
        data = file.read_bytes()
    except OSError as error:
        reason = f"the file cannot be read ({error.strerror or type(error).__name__})"
        raise LoadError(reason, shown, remedy="check the path and its permissions") from None
    return parse(data, file.name)


def parse(data: bytes, name: str) -> Corpus:
    """Turn a file's bytes into a Corpus; ``name`` is only shown, never trusted.

    Raises LoadError naming the file, the place, what was expected and what to do.
    """
    label = _label(name)
    try:
        document, notes = read_document(data)
        loader = next((each for each in LOADERS.values() if each.matches(document)), None)
        if loader is None:
            what = f"no known conversation format: the file holds {describe(document)}"
            raise LoadError(what, remedy="convert the file to one of these formats")
        conversations, more = loader.read(document, label)
    except LoadError as error:
        raise error.in_file(label, _accepted()) from None
    return Corpus(
        tuple(conversations),
        LoadReport(
            name=label,
            source_format=loader.label,
            kept=sum(len(conversation.turns) for conversation in conversations),
            findings=in_file_order(document, [*notes, *more]),
        ),
    )


def _accepted() -> str:
    labels = ", ".join(loader.label for loader in LOADERS.values())
    return f"a JSON file in one of these formats: {labels}"


def _label(name: str, limit: int = 60) -> str:
    """A file name fit for one line of a message: printable, short, otherwise literal."""
    text, _ = printable(name)
    return shorten(one_line(text), limit, tail=20)
