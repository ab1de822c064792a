"""Reads plain text of a dialogue, typed or pasted, in lines such as ``Ann: hello``.

A line may begin with a time in brackets (``[10:14] Ann: …``), a list mark or Markdown's asterisks
(``**Ann:** …``). Lines without a name continue the message before. A line that is only a date
(``## 8 May 2023``) or ``Session 2`` begins a session. A clock in brackets is a time only below such
a date.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import datetime

from segviz.loaders.chat import Message, spoken
from segviz.loaders.document import Options, PlainText
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import WrittenChat, conversations_of, stem
from segviz.loaders.report import Notes
from segviz.text.captions import counted
from segviz.text.dates import at_clock, read_time

LABEL = "plain text (Name: words)"

_LOOKED_AT = 400
_EXPECTED = 'lines such as "Name: words"'
_RULE = re.compile(r"[\s#=*–—_-]+")
_THREE_DIGITS = re.compile(r"(?:[^0-9]*[0-9]){3}")  # fewer are no date
_SESSION = re.compile(r"session\s+([0-9]{1,6})", re.IGNORECASE)


def matches(document: object) -> bool:
    """Returns True if lines begin with names that recur as the names of speakers do.

    Headers of mails and settings look alike, but each of their names occurs once.
    """
    if not isinstance(document, PlainText) or document.text.lstrip()[:1] in ("{", '"', "<"):
        return False
    filled = [line for _, line in document.lines() if line.strip()][:_LOOKED_AT]
    filled = [line for line in filled if _session(line) is None]
    lines = [spoken(line) for line in filled]
    names = Counter(name for name, *_ in filter(None, lines))
    count = names.total()
    if not count or (lines[0] is None and (count < 4 or not any(lines[:3]))):
        return False  # a heading may precede the dialogue
    return count <= 3 or len(names) * 3 <= count * 2


def read(document: object, name: str, options: Options) -> Reading:
    """Reads the text as one conversation; raises LoadError if it has no turn."""
    notes = Notes()
    messages: list[Message] = []
    began, raw, number, left = None, "", 0, 0
    drafts: list[list[str]] = []  # lines of each message
    current: list[str] | None = None  # lines of the message that the next line may continue
    for _, line in document.lines() if isinstance(document, PlainText) else ():
        if (begun := _session(line)) is not None:
            began, raw = begun
            number, current = number + 1, None
        elif (said := spoken(line)) is not None:
            speaker, text, clock = said
            current = [text]
            drafts.append(current)
            time = read_time(clock) or (began and at_clock(began, clock))
            messages.append(Message(speaker, "", time, raw, session=str(number), began=began))
        elif current is not None:
            current.append(line)
        else:
            left += bool(line.strip())
    if left:
        notes.skipped((), f"{counted(left, 'line')} before the first name left out")
    whole = [
        replace(message, text="\n".join(lines).strip())
        for message, lines in zip(messages, drafts, strict=True)
    ]
    chat = WrittenChat(stem(name), (), messages=whole)
    return conversations_of([chat], LABEL, options, notes, _EXPECTED), notes


def _session(line: str) -> tuple[datetime | None, str] | None:
    """Returns the date of a line that begins a session, and the line; None for other lines."""
    bare = _RULE.sub(" ", line).strip() if len(line) < 80 else ""
    if not bare:
        return None
    if _SESSION.fullmatch(bare):
        return None, bare
    if not _THREE_DIGITS.match(bare):
        return None
    trimmed = line.strip(" \t#=*–—_-")
    start = read_time(trimmed)
    return (start, trimmed) if start else None


_ABOUT = (
    "the file: lines `Name: words`; a line with a date begins a session",
    "clocks in brackets without a date above them, lines before the first name",
)

LOADER = Loader(LABEL, matches, read, about=_ABOUT)
