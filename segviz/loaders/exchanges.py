"""Reads logs whose records hold a request and its reply, as gateways and traces write them."""

from __future__ import annotations

from collections.abc import Mapping

from segviz.conversation import seconds
from segviz.loaders.chat import speech
from segviz.loaders.columns import ALIASES, keys_of
from segviz.loaders.decode import literal
from segviz.loaders.document import Place, spelled, usual_keys
from segviz.loaders.multi_conversation import Block, WrittenChat
from segviz.loaders.questions import asked_about
from segviz.loaders.roles import SPOKEN, is_speech, role_of
from segviz.loaders.turn_lists import LOOKED_AT, is_chat, plain_text, unwrapped, with_time, words_of
from segviz.text.dates import read_time

SIDES: dict[str, tuple[str, ...]] = {
    "user": tuple(
        "messages inputmessages prompt instruction query input inputs request message user human "
        "usermessage attributesllminputmessages genaiinputmessages title".split()
    ),
    "assistant": tuple(
        "response output outputs completion choices outputmessages assistant gpt bot "
        "assistantmessage attributesllmoutputmessages genaioutputmessages safehtmlitem".split()
    ),
}
"""Keys of the two sides of an exchange in a log, by speaker: what was sent, and what came back."""

_OWN = {meaning: ALIASES[meaning] for meaning in ("time", "session", "conversation")}
_OWN["person"] = ("userid", "username", "user")
_NESTED = ("metadata", "extra", "config", "configurable", "attributes")
_INSIDE = ("messages", "choices", "message", "generations")
"""Keys of a request or reply that may hold its messages."""


def exchanges(value: list[object], place: Place, name: str) -> list[WrittenChat]:
    """Returns the dialogues of a log whose records hold a request and its reply.

    Pairs of two texts make one dialogue. Records whose request is a list of messages repeat what
    was said before: what a record has in common with those before it in the same session is read
    once; a record without a session is a dialogue. Users and workspaces are dialogues.
    """
    value = [_flat(raw) for raw in value]
    read = [_sides(raw) if isinstance(raw, dict) else None for raw in value]
    if 2 * sum(side is not None for side in read[:LOOKED_AT]) <= len(read[:LOOKED_AT]):
        return []
    order = list(enumerate(zip(value, read, strict=True)))
    times = [time for raw in value if (time := read_time(_of_record(raw).get("time")))]
    if len(times) > 1 and seconds(times[0]) > seconds(times[-1]):
        order.reverse()  # newest first; each reply stays behind its request
    chats: dict[tuple[str, ...], WrittenChat] = {}
    known: dict[tuple[str, ...], tuple[list[tuple[Place, object]], list[tuple[str, str]]]] = {}
    for row, (raw, sides) in order:
        if sides is None or not isinstance(raw, dict):
            continue
        request, reply, lists = sides
        own, here = _of_record(raw), (*place, row)
        person = own.pop("person", "")
        person = str(own.get("conversation") or person)
        alone = lists and not own.get("session")
        key = (person, str(row) if alone else "")
        rows, old = known.setdefault(key, ([], []))
        chat = chats.setdefault(key, WrittenChat(name, here if alone else place, [Block(rows)]))
        # A reply that repeats its request holds the whole; a request repeats what came before.
        both = [*request, *reply]
        if [*map(words_of, reply)][: len(request)] == [*map(words_of, request)]:
            both = reply
        new = [*map(words_of, both)]
        most = min(len(old), len(new)) if lists else 0
        common = next((n for n in range(most, 1, -1) if old[-n:] == new[:n]), 0)
        chat.copies += common
        old += new[common:]
        rows += [(here, with_time(each, own)) for each in both[common:]]
        chat.asked += asked_about(raw, here)
    for (person, alone_in), chat in chats.items() if len(chats) > 1 else ():
        chat.name = (person if not alone_in else "") or name
    return list(chats.values())


def _of_record(raw: object, depth: int = 0) -> dict[str, object]:
    """Returns a log record's time, session and conversation, and the person it belongs to."""
    if not isinstance(raw, dict):
        return {}
    own: dict[str, object] = {}
    for meaning, names in _OWN.items():
        values = (raw[key] for key in usual_keys(tuple(raw), names))
        if plain := [each for each in values if isinstance(each, str | int | float)]:
            own[meaning] = plain[0]
    for inner in map(raw.get, _NESTED if depth < 3 else ()):
        own = {k: each for k, each in _of_record(inner, depth + 1).items() if k != "time"} | own
    return own


def _sides(
    raw: Mapping[str, object],
) -> tuple[list[dict[str, object]], list[dict[str, object]], bool] | None:
    """Returns the messages of a record's request and of its reply, and whether it lists them.

    Returns None for a record that is no exchange.
    """
    keys = {speaker: usual_keys(tuple(raw), names) for speaker, names in SIDES.items()}
    sides: dict[str, list[dict[str, object]]] = {}
    lists = False
    for speaker in keys if all(keys.values()) else ():
        for key in keys[speaker]:
            inner = raw[key]
            if isinstance(inner, str):
                inner = literal(inner)[0] or inner
            if isinstance(inner, str) and spelled(key) in ("message", "title"):
                # Only Google's archive of Gemini has the words of the user there.
                prompt = spelled(key) == "title" and "safeHtmlItem" in raw
                inner = inner.removeprefix("Prompted ") if prompt else None
            lists |= isinstance(inner, list | dict) and "role" in str(inner)[:4000]
            if side := _side(inner, speaker):
                sides[speaker] = side
                break
    if len(sides) < 2:
        return None
    request, reply = sides.values()
    first, more = request[0].get("text"), raw.get("input")
    if "instruction" in raw and isinstance(more, str) and more.strip() and more != first:
        request[0] = request[0] | {"text": f"{first}\n{more}"}
    if (own := raw.get("sid")) is not None:  # an exchange's id is that of its request
        request[0] = {**request[0], "id": own}
    return request, reply, lists


def _flat(raw: object) -> object:
    """Returns a span of OpenTelemetry with its attributes as keys; anything else unchanged."""
    pairs = raw.get("attributes") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or not isinstance(pairs, list):
        return raw
    own = {
        str(pair.get("key")): next(iter(value.values()), None)
        for pair in pairs
        if isinstance(pair, dict) and isinstance(value := pair.get("value"), dict)
    }
    return {**raw, **own}


def _side(value: object, speaker: str) -> list[dict[str, object]]:
    """Returns the messages of one side of an exchange; a plain text is one of ``speaker``."""
    if isinstance(value, str):
        return [{"speaker": speaker, "text": value}] if value.strip() else []
    if isinstance(value, list):
        rows = [each for each in map(_plain_keys, map(unwrapped, value)) if isinstance(each, dict)]
        if any(role_of(each)[0] in SPOKEN for each in rows) and is_chat(list(rows), None):
            return rows
        if rows and any(key in rows[0] for key in _INSIDE):
            return _side(rows[0], speaker)  # of several choices the first
        text = speech([part for part in value if not isinstance(part, dict) or is_speech(part)])[0]
        return _side(text, speaker)
    if not isinstance(value, dict):
        return []
    for inner in map(value.get, _INSIDE):
        if isinstance(inner, list | dict) and (side := _side(inner, speaker)):
            return side
    if not keys_of(tuple(value), "text") or not is_speech(value):
        return []
    return [value] if role_of(value)[0] in SPOKEN else _side(plain_text(value), speaker)


def _plain_keys(raw: object) -> object:
    """Returns a message whose keys have one prefix, ``message.role``, without it."""
    if isinstance(raw, dict) and raw and all(key.startswith("message.") for key in raw):
        return {key.removeprefix("message."): value for key, value in raw.items()}
    return raw
