"""Reads WhatsApp's "Export chat": a text with a time and a name at the start of each message.

Written after published descriptions and tested on texts made alike. The start depends on the
phone's system and language: ``[05/03/2025, 10:14:33] Ann: hi`` (iOS), ``05/03/2025, 10:14 - Ann:
hi`` (Android), ``28.12.23``, ``下午10:14``, ``klo 10.14``, in the digits of any script. KakaoTalk's
``2024년 10월 31일 오후 3:50, Ann : hi`` is read too.

Only starts written like most of the file's starts begin a message, so that a pasted log stays
text. Other lines continue the message before. Messages of the system (without a name) and
placeholders of media and deleted messages are left out and counted. iOS marks placeholders with
U+200E; Android puts them in angle brackets. A long silence begins a session.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from segviz.loaders.chat import Message, note_left_out
from segviz.loaders.document import Line, Options, PlainText
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import WrittenChat, conversations_of, stem
from segviz.loaders.report import Notes
from segviz.text.captions import counted, one_line, shorten
from segviz.text.dates import WHEN, Fields, date_as_written, fields_of, order_of

LABEL = "WhatsApp export"

_LOOKED_AT = 200
_COMPARED = 5_000
_LONGEST_NAME = 80
_LONGEST_NOTICE = 400
_EXPECTED = "messages such as 05/03/2025, 10:14 - Ann: hi"
_MARKS = "\u200e\u200f\u202a\u202b\u202c\ufeff"
_HEADS = (
    re.compile(rf"\A[{_MARKS} ]*+\[{WHEN}\]\s?", re.IGNORECASE),
    re.compile(rf"\A[{_MARKS} ]*+{WHEN}\s*[-–]\s", re.IGNORECASE),
    re.compile(rf"\A{WHEN},\s(?=[^:\n]{{1,80}} : )", re.IGNORECASE),
    re.compile(rf"\A[{_MARKS} ]*+{WHEN}:\s", re.IGNORECASE),
)
"""Match the start of a message on iOS, on Android, in KakaoTalk and on iOS of old."""

_LONGEST_HEAD = 120
_PLAIN = {**dict.fromkeys(map(ord, _MARKS), " "), ord("\u060c"): ","}
"""Replaces marks of direction by spaces and Arabic commas by ASCII ones; positions stay."""

# Words in brackets, in any language; <script> or <img src=x> is a user's text.
_WORD = r"[^\W\d_]+"
_ATTACHED = re.compile(r"(?:(?<!\u200e)\u200e++)?+<[^<>:\n]{1,30}: [^<>\n]{1,200}\.\w{2,5}>")
_FILE = re.compile(r"[\u200e]*([^<>\n]{1,200})\.\w{2,5} \(([^()\n]{3,40})\)")
_EDITED = re.compile(rf"(?<!\s)\s++\u200e?<{_WORD}(?: {_WORD}){{2,8}}\.?>\s*$")
_PLACEHOLDER = re.compile(rf"<{_WORD}(?: {_WORD}){{1,8}}\.?>|null")
_GONE = ("this message was deleted", "you deleted this message")


@dataclass(slots=True)
class _Draft:
    fields: Fields | None
    raw: str
    speaker: str
    lines: list[str]


def matches(document: object) -> bool:
    """Returns True if the first line, or half of the first 200, begin with a date and time.

    Behind times in brackets, a name and a colon must follow somewhere.
    """
    if not isinstance(document, PlainText):
        return False
    lines = (line for _, line in document.lines() if line.strip())
    first = list(islice(lines, _LOOKED_AT))
    heads = [_head(line) for line in first]
    pairs = [(head, line) for head, line in zip(heads, first, strict=True) if head]
    named = any(head.re is not _HEADS[0] or ":" in line[head.end() :] for head, line in pairs)
    return named and (heads[0] is not None or sum(map(bool, heads)) * 2 >= len(heads))


def read(document: object, name: str, options: Options) -> Reading:
    """Reads the text as one conversation; raises LoadError if it has no message."""
    notes = Notes()
    left: Counter[str] = Counter()
    drafts = _drafts(list(document.lines()) if isinstance(document, PlainText) else [], left)
    order, why = order_of([draft.fields for draft in drafts if draft.fields], options.day_first)
    if why:
        notes.repaired((), why)
    times = [draft.fields and order and draft.fields.read(order) for draft in drafts]
    if not any(times):
        order = None  # another calendar
    messages, day, days = [], "", 0
    attached = _attached(drafts)
    for draft in drafts:
        text = _words("\n".join(draft.lines), attached, left)
        if text is None:
            continue
        time = draft.fields.read(order) if draft.fields and order else None
        session = None
        if order is None:
            # Without dates the silence cannot be measured: each day as written is a session.
            written = date_as_written(draft.fields) if draft.fields else day
            if written != day:
                day, days = written, days + 1
            session = str(days)
        messages.append(Message(draft.speaker, text, time, draft.raw, session))
    note_left_out(left, (), notes)
    unread = [message for message in messages if message.time is None]
    if unread and order is not None:
        what = f"{counted(len(unread), 'message')} with a time that cannot be read"
        notes.repaired((), f"{what} (such as {unread[0].raw})")
    chat = WrittenChat(stem(name), (), messages=messages)
    return conversations_of([chat], LABEL, options, notes, _EXPECTED), notes


def _head(line: str) -> re.Match[str] | None:
    """Finds the date and time that begin a message, in digits of any script."""
    plain = line[:_LONGEST_HEAD]
    if not plain.isascii():  # digits of every script are read
        plain = re.sub(r"\d", lambda digit: str(unicodedata.digit(digit[0])), plain)
        plain = plain.translate(_PLAIN)
    return next((match for each in _HEADS if (match := each.match(plain))), None)


def _form(head: re.Match[str]) -> tuple[object, ...]:
    """Returns how a message's start is written, such as its brackets and separators."""
    return head.re, head[2], len(head[1]) == 4, "," in head[0], head[8] is None


def _attached(drafts: Iterable[_Draft]) -> frozenset[str]:
    """Returns the words in brackets by which this file marks attachments: ``file attached``.

    They follow a file name without blanks, or several file names.
    """
    files = [match for draft in drafts if (match := _FILE.fullmatch(draft.lines[0].strip()))]
    counts = Counter(match[2] for match in files)
    counts.update(match[2] for match in files if " " not in match[1])
    return frozenset(words for words, count in counts.items() if count > 1) | {"file attached"}


def _drafts(lines: Sequence[tuple[Line, str]], left: Counter[str]) -> list[_Draft]:
    """Returns the messages of people, each with its continuation lines."""
    drafts: list[_Draft] = []
    current: list[str] | None = None
    heads = filter(None, (_head(line) for _, line in lines[:_COMPARED]))
    usual = Counter(map(_form, heads)).most_common(1)
    for _, line in lines:
        head = _head(line)
        if head is None or _form(head) != usual[0][0]:
            if current is not None:
                current.append(line)
            elif line.strip():
                left["before the first time"] += 1
            continue
        rest = line[head.end() :]
        speaker, colon, text = rest.partition(":")
        speaker = one_line(speaker).strip(_MARKS + " ")
        if not colon or not speaker or len(speaker) > _LONGEST_NAME:
            left["of the system"] += 1
            current = []  # continuation lines of a system message are skipped too
            continue
        raw = shorten(line[: head.end()].strip(_MARKS + "[]–- "), 40)
        current = [text.removeprefix(" ")]
        drafts.append(_Draft(fields_of(head.groups()), raw, speaker, current))
    return drafts


def _words(text: str, attached: frozenset[str], left: Counter[str]) -> str | None:
    """Returns the text of a message; None for a placeholder of media or a deleted message."""
    whole = text.strip()
    lines = whole.split("\n")
    # Attachments and edit marks are short first or last lines.
    for row in {0, len(lines) - 1}:
        if len(lines[row]) < _LONGEST_NOTICE:
            lines[row] = _EDITED.sub("", _ATTACHED.sub("", lines[row]))
            file = _FILE.fullmatch(lines[row].strip())
            lines[row] = "" if file and file[2] in attached else lines[row]
    bare = "\n".join(lines).strip(_MARKS + " \n")
    notice = whole.startswith("\u200e") and len(lines) == 1
    if notice or (whole and not bare) or (len(lines) == 1 and _PLACEHOLDER.fullmatch(whole)):
        left["media or notices"] += 1
        return None
    if whole.strip(_MARKS).rstrip(".").casefold() in _GONE:
        left["deleted"] += 1
        return None
    return bare


_ABOUT = (
    "the file: dates of many locales, sessions by silence; also Signal and KakaoTalk",
    "lines of the system, placeholders of media, deleted messages",
)

LOADER = Loader(LABEL, matches, read, ("day_first", "gap_hours"), about=_ABOUT)
