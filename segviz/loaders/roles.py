"""Says what a message or a part of one is: speech of a person or an assistant, or something else.

Programs write this under keys of many names (``role``, ``kind``, ``source`` …), in any case and
with endings such as ``user_message`` and ``HumanMessage``. One table of values covers all of them.
Only persons and assistants speak; the other kinds are left out and counted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from segviz.loaders.document import spelled, usual_keys

ROLE_KEYS = tuple(
    "role kind type messagetype event partkind blocktype contenttype messagestate state source "
    "from author participantrole pt".split()
)
"""Keys whose value may be a role, the surest first (``document.spelled``)."""

KINDS: dict[str, tuple[str, ...]] = {
    "person": tuple("user human prompter customer userprompt request".split()),
    "assistant": tuple("assistant ai gpt model bot gemini chatbot response".split()),
    "system": tuple(
        "system developer systemprompt systeminstruction sessionmeta turncontext "
        "usereditablecontext compacted summary".split()
    ),
    "reasoning": tuple("reasoning thinking thought thoughts analysis redactedthinking".split()),
    "tool": tuple(
        "tool function observation functioncall functioncalloutput customtoolcall tooluse toolcall "
        "customtoolcalloutput toolresult toolreturn toolexecutionresult functionexecutionresult "
        "retryprompt toolinvocation toolinvocationserialized functionresponse "
        "toolcallrequest toolcallexecution computercall".split()
    ),
    "event": tuple(
        "mroommember mroomcreate mroomname mroomtopic mreaction "
        "service event eventmsg progress filehistorysnapshot queueoperation slot eventcall "
        "sessionstarted systemevent threadactivity calllog".split()
    ),
    "deleted": tuple("deleted messagedeleted tombstone unsent redacted revoked".split()),
}
"""Maps a kind to the values that mean it (``document.spelled``, without "message" at the end)."""

SPOKEN = ("person", "assistant")
"""Kinds that are speech."""

_NAMES = {name: kind for kind, names in KINDS.items() for name in names}
_PLAIN = {"request": "user", "response": "assistant", "userprompt": "user"}
_FLAGS = {
    "isThought": "reasoning",
    "thought": "reasoning",
    "isSidechain": "aside",
    "isMeta": "aside",
    "isCompactSummary": "aside",
    "is_visually_hidden_from_conversation": "hidden",
    "isDeleted": "deleted",
    "deleted": "deleted",
    "is_deleted": "deleted",
}
"""Maps a key to the kind of a message in which it is true."""

_AROUND = re.compile(r"^genai|chunk$|message(?:chunk)?$")
_WITHIN = {"tool|function": "tool", "think|thought|reason": "reasoning", "context": "system"}
"""Maps parts of a value to a kind, for the types that every program names its own way."""

_FREE = {"source", "from", "author", "state"}
"""Keys of roles that also hold names of people and other free text."""

_MARKUP = dict.fromkeys(("messagetype", "contentType", "content_type", "format")).keys()
_BREAK = re.compile(r"<(?:br|/p|/div|/li|/h\d)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)


@lru_cache(1_000)
def named_role(value: str, free: bool = False) -> tuple[str, str]:
    """Returns the kind of a role as written, and the role's plain name ("", "" for no role).

    ``HumanMessage``, ``user_message`` and ``gen_ai.user.message`` are "human" and "user". If
    ``free`` is True, the value may be any text.
    """
    plain = re.sub(r"[^\w]", "", spelled(value)) if len(value) <= 60 else ""
    for name in (plain, _AROUND.sub("", _AROUND.sub("", plain))):
        if name in _NAMES:
            return _NAMES[name], _PLAIN.get(name, name)
    inside = next((kind for part, kind in _WITHIN.items() if re.search(part, plain)), "")
    return ("", "") if free else (inside, inside)


def role_of(raw: Mapping[str, object]) -> tuple[str, str]:
    """Returns the kind of a message or part, and the name of its role; "" and "" if unknown.

    A key that tells of something unspoken overrules one that names a speaker.
    """
    keys, flags = _role_keys(tuple(raw))
    if flags and (aside := _aside(raw, flags)):
        return aside, aside
    values = [(raw[key], free) for key, free in keys]
    if "author" in flags and isinstance(author := raw["author"], dict):
        values.append((author.get("role"), False))
    first = ("", "")
    for value, free in values:
        role = named_role(value, free) if isinstance(value, str) else first
        if role[0] and role[0] not in SPOKEN:
            return role
        first = first if first[0] else role
    return first


@lru_cache(1_000)  # the rows of a file have few sets of keys
def _role_keys(keys: tuple[str, ...]) -> tuple[tuple[tuple[str, bool], ...], tuple[str, ...]]:
    """Returns the keys that may hold a role, each with True for free text, and the flags."""
    flags = sorted(set(keys) & {*_FLAGS, "metadata", "weight", "author"})
    return tuple((key, spelled(key) in _FREE) for key in usual_keys(keys, ROLE_KEYS)), tuple(flags)


def _aside(raw: Mapping[str, object], flags: Iterable[str]) -> str:
    """Returns the kind of a message that is no speech by a flag (``_FLAGS``); "" without one.

    ChatGPT also marks hidden messages by a weight of 0, and calls of tools by a recipient.
    """
    metadata, weight = raw.get("metadata"), raw.get("weight")
    for source in (raw, metadata if isinstance(metadata, dict) else {}):
        for key in flags if source is raw else sorted(source):
            if source.get(key) is True and key in _FLAGS:
                return _FLAGS[key]
    if isinstance(weight, int | float) and weight == 0:
        return "hidden"
    return "tool" if "author" in raw and raw.get("recipient") not in (None, "all") else ""


def is_speech(raw: Mapping[str, object]) -> bool:
    """Returns False for a message or part that is known to be something else than speech."""
    return role_of(raw)[0] in ("", *SPOKEN)


def is_markup(raw: Mapping[str, object]) -> bool:
    """Returns True if a message or part says that its text is HTML."""
    values = [raw[key] for key in raw.keys() & _MARKUP]
    return any(isinstance(v, str) and re.search("html|richtext", v, re.IGNORECASE) for v in values)


def without_markup(text: str) -> str:
    """Returns a text of HTML as plain text: a line per paragraph, no tags, no entities."""
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", text))).strip()
