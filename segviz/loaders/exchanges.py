"""Reads logs whose records hold a request and its reply, as gateways and traces write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from segviz.conversation import seconds
from segviz.loaders.chat import speech
from segviz.loaders.columns import keys_of
from segviz.loaders.decode import literal
from segviz.loaders.document import Place, spelled, usual_keys
from segviz.loaders.multi_conversation import Block, WrittenChat
from segviz.loaders.questions import WrittenQuestion, asked_about
from segviz.loaders.roles import SPOKEN, is_speech, role_of
from segviz.loaders.turn_lists import LOOKED_AT, is_chat, plain_text, unwrapped, with_time, words_of
from segviz.text.dates import read_time

REQUESTS = tuple(
    "messages inputmessages prompt instruction query input inputs request message user human "
    "usermessage attributesllminputmessages genaiinputmessages title".split()
)

REPLIES = tuple(
    "response output outputs completion choices outputmessages assistant gpt bot assistantmessage "
    "attributesllmoutputmessages genaioutputmessages safehtmlitem".split()
)
"""Keys of the two sides of an exchange in a log: what was sent, and what came back."""

_NESTED = ("metadata", "extra", "config", "configurable", "attributes")


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
    together: dict[tuple[str, ...], list[tuple[Place, object]]] = {}
    known_words: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    asked: dict[tuple[str, ...], list[WrittenQuestion]] = {}
    copies: Counter[tuple[str, ...]] = Counter()
    order = list(enumerate(zip(value, read, strict=True)))
    times = [time for raw in value if (time := read_time(_of_record(raw).get("time")))]
    if len(times) > 1 and seconds(times[0]) > seconds(times[-1]):
        order.reverse()  # newest first; each reply stays behind its request
    for row, (raw, sides) in order:
        if sides is None or not isinstance(raw, dict):
            continue
        request, reply, listed_messages = sides
        if (known := raw.get("sid")) is not None:  # an exchange's id is that of its request
            request[0] = {**request[0], "id": known}
        own = _of_record(raw)
        session = own.get("session")
        person = own.pop("person", None)
        where = str(own.get("conversation") or person or "")
        key = (where, *(() if session or not listed_messages else (str(row),)))
        seen = together.setdefault(key, [])
        old = known_words.setdefault(key, [])
        # A reply that repeats its request holds the whole; a request repeats what came before.
        both = [*request, *reply]
        if [*map(words_of, reply)][: len(request)] == [*map(words_of, request)]:
            both = reply
        new = [words_of(each) for each in both]
        most = min(len(old), len(new)) if listed_messages else 0
        common = next((n for n in range(most, 1, -1) if old[-n:] == new[:n]), 0)
        copies[key] += common
        both = both[common:]
        old += new[common:]
        seen += [((*place, row), with_time(each, own)) for each in both]
        asked.setdefault(key, []).extend(asked_about(raw, (*place, row)))
    several = len(together) > 1
    return [
        WrittenChat(
            (key[0] if several and len(key) == 1 else "") or name,
            (*place, int(key[1])) if len(key) > 1 else place,
            [Block(rows)],
            asked=asked[key],
            copies=copies[key],
        )
        for key, rows in together.items()
    ]


def _of_record(raw: object, depth: int = 0) -> dict[str, object]:
    """Returns a log record's time, session and conversation, and the person it belongs to."""
    if not isinstance(raw, dict):
        return {}
    keys = tuple(raw)
    own: dict[str, object] = {}
    for meaning in ("time", "session", "conversation"):
        usual = (key for key in keys_of(keys, meaning) if isinstance(raw[key], str | int | float))
        if (key := next(usual, None)) is not None:
            own[meaning] = raw[key]
    flat = {"session": ("attributessessionid", "genaiconversationid")}
    for meaning, names in (*flat.items(), ("person", ("userid", "username", "user"))):
        if (found := usual_keys(keys, names)) and isinstance(raw[found[0]], str | int):
            own.setdefault(meaning, raw[found[0]])
    for key in _NESTED:
        inner = raw.get(key)
        if isinstance(inner, dict) and depth < 3:
            deeper = _of_record(inner, depth + 1)
            deeper.pop("time", None)
            own = deeper | own
    return own


def _sides(
    raw: Mapping[str, object],
) -> tuple[list[dict[str, object]], list[dict[str, object]], bool] | None:
    """Returns the messages of a record's request and of its reply, and whether it lists them.

    Returns None for a record that is no exchange.
    """
    keys = tuple(raw)
    if not (usual_keys(keys, REQUESTS) and usual_keys(keys, REPLIES)):
        return None
    sides: list[list[dict[str, object]]] = []
    listed_messages = False
    for names, speaker in ((REQUESTS, "user"), (REPLIES, "assistant")):
        side: list[dict[str, object]] = []
        for key in usual_keys(keys, names):
            inner = _unpacked_side(raw[key])
            if spelled(key) == "message" and not isinstance(inner, dict):
                continue
            if spelled(key) == "title":  # Google's archive of Gemini
                if "safeHtmlItem" not in raw or not isinstance(inner, str):
                    continue
                inner = inner.removeprefix("Prompted ")
            side = _side(inner, speaker)
            listed_messages |= isinstance(inner, list | dict) and "role" in str(inner)[:4000]
            if side:
                break
        sides.append(side)
    request, reply = sides
    if not (request and reply):
        return None
    more = raw.get("input")
    first = request[0].get("text")
    if "instruction" in raw and isinstance(more, str) and more.strip() and more != first:
        request[0] = request[0] | {"text": f"{first}\n{more}"}
    return request, reply, listed_messages


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


def _unpacked_side(value: object) -> object:
    return literal(value)[0] or value if isinstance(value, str) else value


def _side(value: object, speaker: str) -> list[dict[str, object]]:
    """Returns the messages of one side of an exchange, a text by ``speaker``."""
    if isinstance(value, str):
        return [{"speaker": speaker, "text": value}] if value.strip() else []
    if isinstance(value, list):
        rows = [each for each in map(_plain_keys, map(unwrapped, value)) if isinstance(each, dict)]
        if rows and any(role_of(each)[0] in SPOKEN for each in rows) and is_chat(list(rows), None):
            return rows
        if rows and any(key in rows[0] for key in ("message", "messages", "generations")):
            return _side(rows[0], speaker)  # of several choices the first
        text = speech([part for part in value if not isinstance(part, dict) or is_speech(part)])[0]
        return [{"speaker": speaker, "text": text}] if text else []
    if not isinstance(value, dict):
        return []
    for key in ("messages", "choices", "message", "generations"):
        if isinstance(inner := value.get(key), list | dict) and (side := _side(inner, speaker)):
            return side
    if keys_of(tuple(value), "text") and is_speech(value):
        if role_of(value)[0] in SPOKEN:
            return [value]
        text = plain_text(value)
        return [{"speaker": speaker, "text": text}] if text else []
    return []


def _plain_keys(raw: object) -> object:
    """Returns a message whose keys have one prefix, ``message.role``, without it."""
    if isinstance(raw, dict) and raw and all(key.startswith("message.") for key in raw):
        return {key.removeprefix("message."): value for key, value in raw.items()}
    return raw
