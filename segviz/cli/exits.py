"""Defines how a command ends: exit codes and the errors that lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

OK, FAILED, USAGE, UNFINISHED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141

MEANINGS = {
    OK: "done",
    USAGE: "the request cannot be met as it was put; the message says why",
    UNFINISHED: "a model gave up; what is done is kept, the same command goes on there",
    INTERRUPTED: "interrupted (Ctrl+C)",
}
"""What every command's help says; 1 is a failed check or server, 141 a reader that left."""


class UsageError(Exception):
    """The request cannot be met; the message says why. Exit code 2."""


class Unfinished(Exception):
    """A model gave up; the message says why and how to go on. Exit code 3."""


@contextmanager
def user_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Turn the errors that a wrong setting or file raises (default: ValueError) into UsageError."""
    expected = kinds or (ValueError,)
    try:
        yield
    except expected as error:
        raise UsageError(_sentence(error)) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return ": ".join(filter(None, (str(error.filename or ""), error.strerror or str(error))))
    # str() of a KeyError is the repr of its message.
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
