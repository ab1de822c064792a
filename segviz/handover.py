"""Checks what code from outside segviz returns: vectors, scores, texts.

Parts of segviz are trusted. A part from elsewhere (an argument or a plug-in) may raise, or return
something that its contract forbids. That causes a HandoverError, which names the part; the returned
value is not used. Imports only ``segviz.text``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.text.captions import printable

LARGEST = 1e100
"""Largest score, so that sums and squares of scores are finite."""

_UNIT = 0.01
"""Largest difference between the length of a vector and 1."""


class HandoverError(ValueError):
    """Error of a part from outside segviz that failed or returned what its contract forbids."""


def built_in(part: object) -> bool:
    """Returns True if a part, or the class of one, is defined in segviz, not in other code."""
    module = getattr(part, "__module__", None) or type(part).__module__
    return str(module).partition(".")[0] == "segviz"


def named(part: object) -> str:
    """Returns the name of a part for messages: its class, and its registered name if any."""
    name = getattr(part, "name", None)
    kind = getattr(part, "__name__", None) or type(part).__name__
    return f"{kind} ({name})"[:80] if isinstance(name, str) and name else str(kind)[:80]


@contextmanager
def calling(part: object) -> Iterator[None]:
    """Converts errors inside the ``with`` block to a HandoverError that names the part.

    ``sys.exit`` counts as an error. Errors of a part of segviz, and errors that segviz defines,
    pass unchanged.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        if built_in(part) or built_in(error):
            raise
        what = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise HandoverError(f"{named(part)} failed: {what}{str(error)[:300]}") from error


def check_vectors(rows: Any, count: int, part: object) -> NDArray[np.float32]:
    """Checks the vectors that an embedder made of ``count`` texts; returns float32 (count, d).

    Raises:
        HandoverError: the vectors are not finite, or not of length 1 (0 for a text without words).
    """
    vectors = _numbers(rows, part, np.float32)
    if vectors.ndim != 2 or len(vectors) != count or (count and not vectors.shape[1]):
        raise _other(
            part, f"an array of shape {vectors.shape}", f"({count}, d), a row for each text"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.add.reduce(np.square(vectors), axis=1))
        # NaN fails this comparison, too.
        wrong = np.flatnonzero(~((np.abs(lengths - 1) <= _UNIT) | (lengths == 0)))
    if len(wrong):
        first = f"a vector of length {lengths[wrong[0]]:.3g}"
        raise _other(part, first, "finite numbers and length 1, or 0 of a text without words")
    return vectors


def check_scores(
    values: Any, shape: tuple[int, ...], part: object, least: float = -LARGEST
) -> NDArray[np.float64]:
    """Checks the scores that a part returned; returns them as float64.

    Raises:
        HandoverError: the scores are not of ``shape``, or not from ``least`` to ``LARGEST``.
    """
    scores = _numbers(values, part, np.float64)
    if scores.shape != shape:
        raise _other(part, f"scores of shape {scores.shape}", f"{shape}")
    wrong = ~((scores >= least) & (scores <= LARGEST))
    if wrong.any():
        legal = "finite numbers" if least == -LARGEST else f"finite numbers from {least:g} up"
        raise _other(part, f"a score {scores[wrong][0]:g}", legal)
    return scores


def check_text(text: Any, part: object) -> str:
    """Returns what an annotator wrote, printable; HandoverError if it is not a text."""
    if not isinstance(text, str):
        raise _other(part, f"{text!r:.80} ({type(text).__name__})", "a text")
    plain: str = str.__str__(text)  # also of a subclass with methods of its own
    try:
        plain.encode()
    except UnicodeEncodeError:
        raise _other(part, f"{plain!r:.80}", "a text of whole characters") from None
    return printable(plain)[0]


def check_pairs(values: Any, count: int, part: object) -> NDArray[np.int64]:
    """Checks the transitions of a policy over ``count`` nodes; returns int64 (m, 2).

    Raises:
        HandoverError: they are not pairs of nodes from 0 to ``count`` - 1.
    """
    pairs = np.asarray(values)
    if pairs.dtype.kind not in "iu" or pairs.ndim != 2 or pairs.shape[1] != 2:
        form = f"{pairs.dtype} of shape {pairs.shape}"
        raise _other(part, form, "integers of shape (m, 2), a row for each transition")
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < count):
        raise _other(part, f"nodes {pairs.min()} to {pairs.max()}", f"nodes 0 to {count - 1}")
    return pairs.astype(np.int64)


def _numbers(values: Any, part: object, kind: type[Any]) -> NDArray[Any]:
    """Returns a part's numbers as an array of ``kind``; raises HandoverError for other values."""
    try:
        numbers = np.asarray(values)
        if numbers.dtype.kind not in "fiu":
            raise TypeError
    except (TypeError, ValueError):
        form = f"{values!r:.60} ({type(values).__name__})"
        raise _other(part, form, "an array of numbers") from None
    with np.errstate(over="ignore"):
        return numbers.astype(kind)  # a copy, because the part may use its array again


def _other(part: object, found: str, expected: str) -> HandoverError:
    return HandoverError(f"{named(part)} handed over {found}; expected {expected}")
