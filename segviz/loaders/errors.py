"""Defines LoadError, the only error that loading a file raises, and its kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from types import MappingProxyType

from segviz.text.captions import size

WHOLE = 200 * 1024**2
"""Bytes of a file, or of what an archive expands to, that are read whole. A JSON file of 264
MB takes 2.3 GB of memory when read whole."""


class LoadError(ValueError):
    """Raised for a file that cannot be used; says what was found, expected and what to do."""

    def __init__(self, what: str, where: str = "", expected: str = "", remedy: str = "") -> None:
        """Takes what was found, its place, what was expected, and what to do.

        All are positional, so that the error survives pickling.
        """
        super().__init__(what, where, expected, remedy)
        self.what, self.where, self.expected, self.remedy = what, where, expected, remedy

    def __str__(self) -> str:
        """Returns ``where: what. Expected expected; remedy.`` without the empty parts."""
        problem = f"{self.where}: {self.what}." if self.where else f"{self.what}."
        wanted = self.expected and f"expected {self.expected}"
        advice = "; ".join(filter(None, (wanted, self.remedy)))
        return f"{problem} {advice[0].upper()}{advice[1:]}." if advice else problem

    def in_file(self, name: str, expected: str) -> LoadError:
        """Returns the same error with the file's name before the place.

        ``expected`` is used if the error does not say what was expected.
        """
        error = copy(self)
        error.where = ", ".join(filter(None, (name, self.where)))
        error.expected = self.expected or expected
        return error


class OtherKind(LoadError):
    """Raised for a file of a known kind that holds no conversation."""


class NotJson(LoadError):
    """Raised for a text that is not one JSON document; it may be in another format."""


class NeedsColumns(LoadError):
    """Raised for a table or list of records in which no column is known to hold the texts.

    ``mapping`` is a guess from the values: the column of each meaning.
    """

    headers: tuple[str, ...] = ()
    mapping: Mapping[str, str] = MappingProxyType({})


@contextmanager
def opening(where: str, remedy: str = "check the path and its permissions") -> Iterator[None]:
    """Turns errors of opening and reading files in the block into LoadError.

    ``where`` is the place in the message, ``remedy`` the advice for a file that cannot be read.
    """
    try:
        yield
    except LoadError:
        raise
    except (FileNotFoundError, ValueError):  # ValueError: a zero byte in the path
        what, remedy = "there is no such file", "check the spelling of the path"
        raise LoadError(what, where, remedy=remedy) from None
    except OSError as error:
        what = f"the file cannot be read ({error.strerror or type(error).__name__})"
        raise LoadError(what, where, remedy=remedy) from None


def too_large(count: int, limit: int, where: str, remedy: str) -> LoadError:
    """Returns the error for a file of more bytes than the limit, with a remedy."""
    what = f"the file has {size(count)}, more than the {size(limit)} that are read at once"
    return LoadError(what, where, f"at most {size(limit)}", remedy)
