"""Which column or key of a table means what: guessed by usual names, or said by the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from segviz.loaders.captions import one_line, shorten
from segviz.loaders.errors import LoadError, NeedsColumns

ALIASES: dict[str, tuple[str, ...]] = {
    "text": ("text", "message", "content", "utterance", "body", "value", "clean_text", "msg"),
    "speaker": ("speaker", "role", "from", "sender", "author", "user", "username", "name"),
    "time": (
        "timestamp",
        "time",
        "date",
        "datetime",
        "created_at",
        "ts",
        "date_time",
        "create_time",
    ),
    "session": ("session", "session_id", "conversation_id", "dialogue_id", "dialog_id", "thread"),
    "conversation": ("conversation", "chat", "chat_id"),
}
"""Meaning -> usual names of the column, most telling first, without case."""


def guess(headers: Sequence[str]) -> dict[str, str]:
    """Meaning -> header, for the meanings that have a usual name among the headers."""
    known = {header.strip().casefold().replace(" ", "_"): header for header in reversed(headers)}
    found: dict[str, str] = {}
    for meaning, names in ALIASES.items():
        header = next((known[name] for name in names if name in known), None)
        if header is not None:
            found[meaning] = header
    return found


def settle(headers: Sequence[str], said: Mapping[str, str] | None) -> dict[str, str]:
    """Meaning -> header: what the user ``said``, else the guess.

    Raises LoadError for an unknown meaning or header, NeedsColumns when nothing tells
    where the texts are.
    """
    names = ", ".join(one_line(shorten(header, 20)) for header in headers[:12]) or "none"
    for meaning, header in (said or {}).items():
        if meaning not in ALIASES:
            what = f"{meaning!r} is not a meaning of a column"
            raise LoadError(what, expected=f"one of {', '.join(ALIASES)}", remedy="correct it")
        if header not in headers:
            what = f"there is no column {shorten(one_line(header))!r}; there are {names}"
            raise NeedsColumns(what, remedy="choose among them", headers=tuple(headers))
    found = guess(headers)
    if said:
        # A column that was said to mean one thing is not guessed to mean another.
        taken = set(said.values())
        found = {key: header for key, header in found.items() if header not in taken}
        found.update(said)
    if "text" not in found:
        what = f"no column is known to hold the texts; there are {names}"
        remedy = 'say which one does (columns={"text": …}), or rename it to text'
        raise NeedsColumns(what, expected="a column text", remedy=remedy, headers=tuple(headers))
    return found
