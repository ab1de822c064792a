"""The one error that loading a file may raise, and its kinds that ask for something."""

from __future__ import annotations

from copy import copy

from segviz.text.captions import size

WHOLE = 200 * 1024**2
"""Bytes of a file, or of what an archive expands to, that are read whole. A JSON file of 264
MB takes 2.3 GB of memory when read whole."""


class LoadError(ValueError):
    """A file that cannot be used, told so that its owner can act on it.

    ``what`` was found, ``where`` in the file ("" where the place says nothing),
    what was ``expected`` instead and what to do about it (``remedy``); the last two are
    phrases without a full stop. ``str()`` joins them into one or two sentences:
    ``chat.json, line 3, column 7: not valid JSON. Expected …; export it anew.``
    """

    def __init__(self, what: str, where: str = "", expected: str = "", remedy: str = "") -> None:
        """Positional arguments, so that the error survives pickling."""
        super().__init__(what, where, expected, remedy)
        self.what, self.where, self.expected, self.remedy = what, where, expected, remedy

    def __str__(self) -> str:
        """``where: what. Expected expected; remedy.`` without the parts that are empty."""
        found = f"{self.where}: {self.what}." if self.where else f"{self.what}."
        wanted = self.expected and f"expected {self.expected}"
        advice = "; ".join(filter(None, (wanted, self.remedy)))
        return f"{found} {advice[0].upper()}{advice[1:]}." if advice else found

    def in_file(self, name: str, expected: str) -> LoadError:
        """The same error with the file's name before the place. ``expected`` is used where this
        error does not say itself what it expected."""
        found = copy(self)
        found.where = ", ".join(filter(None, (name, self.where)))
        found.expected = self.expected or expected
        return found


class OtherKind(LoadError):
    """A file of a known kind that holds no conversation."""


class NotJson(LoadError):
    """The text is not one JSON document; it may be in another format."""


class NeedsColumns(LoadError):
    """A table or list of records in which no column is known to hold the texts.

    ``headers`` are the columns there are; loading again with ``columns={"text": …}`` helps.
    """

    headers: tuple[str, ...] = ()


def unreadable(error: OSError, where: str, remedy: str) -> LoadError:
    """The error for a file that the system does not let read."""
    why = error.strerror or type(error).__name__
    return LoadError(f"the file cannot be read ({why})", where, remedy=remedy)


def too_large(found: int, limit: int, where: str, remedy: str) -> LoadError:
    """The error that names the limit and what to do instead."""
    what = f"the file has {size(found)}, more than the {size(limit)} that are read at once"
    return LoadError(what, where, f"at most {size(limit)}", remedy)
