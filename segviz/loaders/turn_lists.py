"""Recognizes lists of messages in JSON, and the message in a record around it."""

from __future__ import annotations

from collections.abc import Mapping

from segviz.loaders.chat import speech
from segviz.loaders.columns import guess, keys_of
from segviz.loaders.roles import is_speech, named_role, role_of

LOOKED_AT = 50
"""Records by which a list is recognized."""

_WRAPPERS = ("message", "data", "payload", "kwargs", "body", "response", "value")

_OUTER = {"type", "kind", "event"}


def unwrapped(raw: object) -> object:
    """Returns the message in a record such as ``{type, message: {…}}``, with the keys of both."""
    if not isinstance(raw, dict) or raw.keys().isdisjoint(_WRAPPERS):
        return raw
    if not is_speech({key: raw[key] for key in _OUTER & raw.keys()}):
        return raw
    for key in _WRAPPERS:
        if isinstance(inner := raw.get(key), dict) and keys_of(tuple(inner), "text"):
            whole = {name: value for name, value in raw.items() if name != key} | inner
            # LangChain writes the names of classes as a list in ``id``, OpenTelemetry a ``name``.
            names = raw.get("id")
            kind = names[-1] if isinstance(names, list) and names else raw.get("name")
            if isinstance(kind, str) and kind != (role := named_role(kind)[1]) and role:
                whole |= {"name": None, "role": role}
            return whole
    return raw


def is_chat(rows: list[object], text_key: str | None) -> bool:
    """Returns True if most records are messages: a text and a speaker, time or session.

    With ``text_key``, the user's key of the texts, it suffices that some record has this key.
    """
    some = [raw for raw in map(unwrapped, rows) if isinstance(raw, dict) and is_speech(raw)]
    if text_key is not None:
        return any(text_key in raw for raw in some)
    guessed = {keys: guess(keys) for keys in set(map(tuple, some))}  # few, and slow to guess
    fits = [
        raw[keys["text"]]
        for raw in some
        if "text" in (keys := guessed[tuple(raw)]) and (len(keys) > 1 or role_of(raw)[0])
    ]
    # A record with a list of messages under its text key is a session, not a message.
    fits = [text for text in fits if not (isinstance(text, list) and is_chat(text, None))]
    return any(isinstance(text, str | list | dict) for text in fits) and len(fits) * 2 >= len(some)


def is_nameless(rows: list[object]) -> bool:
    """Returns True if all records have a text, and no speaker, time or session."""
    some = [list(guess(list(raw))) if isinstance(raw, dict) else [] for raw in rows[:LOOKED_AT]]
    return bool(some) and all(meanings == ["text"] for meanings in some)


def by_turns(raw: object, row: int) -> object:
    """Returns a message of two speakers without names who alternate, with its speaker."""
    return {**raw, "speaker": f"Speaker {row % 2 + 1}"} if isinstance(raw, dict) else raw


def words_of(raw: object) -> tuple[str, str]:
    """Returns the role and the text of a record, by which copies of a message are recognized."""
    if not isinstance(raw, dict):
        return "", ""
    kind = role_of(raw)[0]
    values = (raw[key] for key in keys_of(tuple(raw), "text"))
    return kind, next((text for value in values if (text := plain_text(value))), "")


def plain_text(value: object) -> str:
    """Returns the text that a value or its parts hold; "" without one."""
    return value.strip() if isinstance(value, str) else (speech(value)[0] or "").strip()


def with_time(raw: object, own: Mapping[str, object]) -> object:
    """Returns a message with what it lacks of its record's time, session and conversation."""
    if not isinstance(raw, dict):
        return raw
    known = guess(list(raw))
    return {key: each for key, each in own.items() if each is not None and key not in known} | raw
