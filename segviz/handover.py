"""Checks what code from outside segviz hands over: vectors, scores, texts.

Parts of segviz are trusted. A part from elsewhere, an argument or a plug-in, that raises or hands
over something else than its contract says causes a HandoverError. The error names the part, and
nothing of what was handed over is used. Imports nothing of segviz.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e100
"""Scores are smaller, so that sums and squares of them are finite."""

_UNIT = 0.01
"""So far the length of a vector may be from 1."""


class HandoverError(ValueError):
    """Error of code or data from outside segviz, which failed or is not what a part expects."""


def built_in(part: object) -> bool:
    """Returns True if a part, or the class of one, is defined in segviz, not in other code."""
    module = getattr(part, "__module__", None) or type(part).__module__
    return str(module).partition(".")[0] == "segviz"


def named(part: object) -> str:
    """Returns how errors call a part: its registered name, or its class."""
    name = getattr(part, "name", None)
    kind = getattr(part, "__name__", None) or type(part).__name__
    return f"{kind} ({name})"[:80] if isinstance(name, str) and name else str(kind)[:80]


@contextmanager
def calling(part: object) -> Iterator[None]:
    """Turns an error of a part from outside into a HandoverError that names the part.

    Errors of segviz that pass through it, such as a model that does not answer, stay as they are.
    """
    try:
        yield
    except Exception as error:
        if built_in(part) or built_in(error):
            raise
        what = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise HandoverError(f"{named(part)} failed: {what}{str(error)[:300]}") from error


def check_vectors(rows: Any, count: int, part: object) -> NDArray[np.float32]:
    """Returns the rows that an embedder made of ``count`` texts, float32 (count, d).

    Raises:
        HandoverError: they are not finite, or not of length 1 (0 for a text without words).
    """
    found = _numbers(rows, part, np.float32)
    if found.ndim != 2 or len(found) != count or (count and not found.shape[1]):
        raise _other(part, f"an array of shape {found.shape}", f"({count}, d), a row for each text")
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.add.reduce(np.square(found), axis=1))
        # NaN fails this comparison, too.
        wrong = np.flatnonzero(~((np.abs(lengths - 1) <= _UNIT) | (lengths == 0)))
    if len(wrong):
        first = f"a vector of length {lengths[wrong[0]]:.3g}"
        raise _other(part, first, "finite numbers and length 1, or 0 of a text without words")
    return found


def check_scores(
    values: Any, shape: tuple[int, ...], part: object, least: float = -LARGEST
) -> NDArray[np.float64]:
    """Returns scores as float64.

    Raises:
        HandoverError: they have another shape, or are not numbers from ``least`` to ``LARGEST``.
    """
    found = _numbers(values, part, np.float64)
    if found.shape != shape:
        raise _other(part, f"scores of shape {found.shape}", f"{shape}")
    wrong = ~((found >= least) & (found <= LARGEST))
    if wrong.any():
        legal = "finite numbers" if least == -LARGEST else f"finite numbers from {least:g} up"
        raise _other(part, f"a score {found[wrong][0]:g}", legal)
    return found


def check_text(text: Any, part: object) -> str:
    """Returns the text an annotator wrote. Raises HandoverError where it is none."""
    if not isinstance(text, str):
        raise _other(part, f"{text!r:.80} ({type(text).__name__})", "a text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _other(part, f"{text!r:.80}", "a text of whole characters") from None
    return text


def _numbers(values: Any, part: object, kind: type[Any]) -> NDArray[Any]:
    try:
        found = np.asarray(values)
        if found.dtype.kind not in "fiu":
            raise TypeError
    except (TypeError, ValueError):
        said = f"{values!r:.60} ({type(values).__name__})"
        raise _other(part, said, "an array of numbers") from None
    with np.errstate(over="ignore"):
        return found.astype(kind, copy=False)


def _other(part: object, found: str, expected: str) -> HandoverError:
    return HandoverError(f"{named(part)} handed over {found}; expected {expected}")
