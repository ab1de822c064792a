"""Types of decoded values: each function returns its value or raises StoreError with the
place, what was expected there and what was found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

INT32 = 2**31 - 1
EXACT = 2**53
"""Largest whole number that every JSON reader keeps exactly."""
DEEPEST = 20


class StoreError(ValueError):
    """A file is not a memory this version can open; the message says why."""


def fault(place: str, expected: str, found: Any) -> StoreError:
    """The error for a value that does not belong at ``place``."""
    return StoreError(f"{place}: expected {expected}, found {_shown(found)}")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with {len(value)} entries"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    written = repr(value)
    return written if len(written) <= 60 else f"{written[:57]}..."


def text(value: Any, place: str) -> str:
    """A string that can be written as UTF-8 (JSON may smuggle in lone surrogates)."""
    if not isinstance(value, str):
        raise fault(place, "text", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise fault(place, "text without lone surrogates", value) from None
    return value


def whole(value: Any, place: str, low: int = 0, high: int = EXACT) -> int:
    """A whole number from ``low`` to ``high``; booleans and 1.0 are none."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        expected = "nothing (no number is possible here)" if high < low else ""
        raise fault(place, expected or f"a whole number from {low} to {high}", value)
    return value


def number(value: Any, place: str) -> float:
    """A number. Infinities and NaN pass: a model's scale may have them."""
    if isinstance(value, float):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > EXACT:
        raise fault(place, "a number", value)
    return value


def optional(kind: Callable[[Any, str], T], value: Any, place: str) -> T | None:
    """None, or what ``kind`` accepts."""
    return None if value is None else kind(value, place)


def items(value: Any, place: str, length: int | None = None) -> list[Any]:
    """A list, of this length where one is given."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise fault(place, "a list" if length is None else f"a list of {length}", value)
    return value


def every(kind: Callable[[Any, str], T], value: Any, place: str) -> tuple[T, ...]:
    """A list whose entries ``kind`` accepts."""
    return tuple(kind(item, f"{place}[{i}]") for i, item in enumerate(items(value, place)))


def table(value: Any, place: str, *names: str) -> dict[str, Any]:
    """An object that has at least these entries."""
    if not isinstance(value, dict):
        raise fault(place, "an object", value)
    for name in names:
        if name not in value:
            raise StoreError(f"{place}: {name!r} is missing")
    return value


def plain(value: Any, place: str, depth: int = DEEPEST) -> Any:
    """A JSON value that is not nested beyond reason and can be written again."""
    if isinstance(value, str):
        return text(value, place)
    if isinstance(value, dict | list) and not depth:
        raise fault(place, "a value, not a further level of nesting", value)
    if isinstance(value, dict):
        return {text(k, place): plain(v, f"{place}.{k}", depth - 1) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v, f"{place}[{i}]", depth - 1) for i, v in enumerate(value)]
    return value
