"""PerLTQA's memories (``perltmem``): per character, dialogues with the people around them.

Written after the published second version (``{character: {profile, events, dialogues}}``;
the first is a list of characters) and tested on files made alike. A dialogue is a session:
``{events, contents: {"2022-05-10 10:00": ["Name: words", …]}}``. Sessions are put in the
order of their dates. Profiles, relations and events are no talk and are not read; the
questions are in another file (``perltqa``), which cites events, not turns, and is refused.
"""

from __future__ import annotations

from datetime import datetime

from segviz.conversation import Conversation
from segviz.loaders.captions import counted, describe
from segviz.loaders.chat import Message
from segviz.loaders.document import Options
from segviz.loaders.multi_conversation import Talk, named_after, read_talks, rows_of
from segviz.loaders.notes import Note, Notes, Place
from segviz.loaders.times import read_time

LABEL = "PerLTQA"

_EXPECTED = "a character (an object with dialogues)"


def matches(document: object) -> bool:
    """Whether there are characters with ``dialogues`` beside a ``profile`` or ``events``."""
    return any(_is_character(raw) for _, raw in _characters(document))


def read(
    document: object, name: str, options: Options
) -> tuple[tuple[Conversation, ...], list[Note]]:
    """One conversation per character who has dialogues.

    Raises LoadError when nobody has any.
    """
    return read_talks(_characters(document), _talk, LABEL, _EXPECTED, name, options)


def _talk(raw: dict[str, object], place: Place, notes: Notes) -> Talk:
    profile = raw.get("profile")
    own = profile.get("Protagonist") if isinstance(profile, dict) else None
    names = (own, place[0] if place else None)
    messages = _messages(raw.get("dialogues"), (*place, "dialogues"), notes)
    return Talk(names, messages, (named_after(names, ""),))


def _characters(document: object) -> list[tuple[Place, object]]:
    if isinstance(document, dict) and not _is_character(document):
        return [((key,), raw) for key, raw in document.items()]
    return rows_of(document)


def _is_character(raw: object) -> bool:
    return (
        isinstance(raw, dict)
        and isinstance(dialogues := raw.get("dialogues"), dict)
        and ("profile" in raw or "events" in raw)
        and any(isinstance(each, dict) and "contents" in each for each in dialogues.values())
    )


def _messages(dialogues: object, place: Place, notes: Notes) -> list[Message]:
    if not isinstance(dialogues, dict):
        notes.skipped(place, f"expected dialogues (an object), found {describe(dialogues)}")
        return []
    blocks: list[list[Message]] = []
    for key, raw in dialogues.items():
        contents = raw.get("contents") if isinstance(raw, dict) else None
        if not isinstance(contents, dict):
            what = f"expected contents (an object), found {describe(contents)}"
            notes.skipped((*place, key), what)
            continue
        for when, lines in contents.items():
            here = (*place, key, "contents", when)
            blocks.append(_lines(lines, when, f"{key} {when}", here, notes))
    dated = [block for block in blocks if block]
    # Stable, and what has no date stays behind what has one.
    dated.sort(key=lambda block: (block[0].time is None, block[0].time or datetime.min))
    return [message for block in dated for message in block]


def _lines(lines: object, when: str, session: str, place: Place, notes: Notes) -> list[Message]:
    if not isinstance(lines, list):
        notes.skipped(place, f"expected a list of lines, found {describe(lines)}")
        return []
    time = read_time(when)
    messages, broken = [], 0
    for line in lines:
        speaker, colon, text = line.partition(":") if isinstance(line, str) else ("", "", "")
        if colon and speaker.strip():
            messages.append(Message(speaker.strip(), text.strip(), time, when, session))
        else:
            broken += 1
    if broken:
        what = f'{counted(broken, "line")} without "Name: words" left out'
        notes.skipped(place, what)
    return messages
