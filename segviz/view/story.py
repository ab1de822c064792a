"""A story: a few views of one memory, with a sentence each, held in a link."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PAGES = ("grow", "ask")
"""The pages a story stops at."""

_LONGEST = 12_000  # characters of a story in a link
_SENTENCE = 400


@dataclass(frozen=True)
class Stop:
    """A view by its page and the parts of its link that say what is looked at, and what is to be
    seen there, in ``words``."""

    page: str
    words: str
    link: Mapping[str, str] = field(default_factory=dict)


def write_story(stops: Sequence[Stop]) -> str:
    """A story as a part of a link."""
    return json.dumps(
        [[stop.page, stop.words, dict(stop.link)] for stop in stops],
        ensure_ascii=False,
        separators=(",", ":"),
    )


def read_story(given: str) -> tuple[Stop, ...]:
    """The inverse of :func:`write_story`. ValueError for what is no story; what is wrong with the
    link of a stop is told there."""
    shape = "expected a list of [page, words, {link}]"
    if len(given) > _LONGEST:
        raise ValueError(f"longer than {_LONGEST} characters")
    try:
        stops = [Stop(page, words, link) for page, words, link in json.loads(given)]
    except (ValueError, TypeError, RecursionError):
        raise ValueError(shape) from None
    for stop in stops:
        if not (isinstance(stop.words, str) and isinstance(stop.link, dict)):
            raise ValueError(shape)
        if stop.page not in PAGES or len(stop.words) > _SENTENCE:
            raise ValueError(f"a stop has a page, {' or '.join(PAGES)}, and {_SENTENCE} characters")
        if not all(isinstance(part, str) for part in stop.link.values()):
            raise ValueError(shape)
    write_story(stops).encode()
    return tuple(stops)
