"""Reads plain text of a dialogue: lines ``Name: words``, and logs of chat programs.

A line may begin with a time in brackets (``[10:14] Ann: …``), a list mark or Markdown's asterisks
(``**Ann:** …``). Programs put the name elsewhere: below a time (iMessage), behind it (Discord),
between tabs (LINE), in brackets (KakaoTalk), in a heading (SpecStory), in a cue (WebVTT). The
pattern that fits most lines of the file is used (``_PATTERNS``). Lines without a name continue the
message before. A line that is only a date (``## 8 May 2023``) or ``Session 2`` begins a session. A
clock is a time only below such a date.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from segviz.loaders.chat import Message, spoken, times_of
from segviz.loaders.document import Options, PlainText
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import WrittenChat, conversations_of, stem
from segviz.loaders.report import Notes
from segviz.loaders.roles import named_role
from segviz.text.captions import counted
from segviz.text.dates import at_clock, date_as_written, is_clock, read_fields, read_time

LABEL = "plain text (Name: words)"

_LOOKED_AT = 400
_EXPECTED = 'lines such as "Name: words"'
_PATTERNS = {
    "LINE": re.compile(r"(?P<when>[^\t]{3,12})\t(?:(?P<name>[^\t]{1,80})\t)?(?P<text>.*)"),
    "KakaoTalk": re.compile(
        r"\[(?P<name>[^\]\n]{1,80})\] \[(?P<when>[^\]\n]{3,20})\] (?P<text>.*)"
    ),
    "Discord": re.compile(
        r"\[(?P<when>[^\]\n]{8,40})\] (?P<name>[^:\n]{1,80}?)(?: \(pinned\))?(?P<text>)"
    ),
    "Telegram": re.compile(r"(?P<name>[^\[\n]{1,80}), \[(?P<when>[^\]\n]{8,40})\](?P<text>)"),
    "QQ": re.compile(
        r"(?P<when>[0-9]{4}[-/][0-9]{2}[-/][0-9]{2} [0-9]{1,2}:[0-9]{2}:[0-9]{2}) "
        r"(?P<name>[^:\n]{1,80}?)(?:\([0-9]+\)|<[^<>\n]*>)?(?P<text>)"
    ),
    "heading": re.compile(
        r"(?:_?\*\*|#{1,6}\s+)(?P<name>[^*#\n(]{1,60}?)(?: \((?P<when>[^()\n]{1,40})\))?"
        r":?(?:\*\*_?)?(?P<text>)"
    ),
    "WebVTT": re.compile(r"<v(?:\.\S+)? (?P<name>[^>\n]{1,80})>(?P<text>.*?)(?:</v>)?(?P<when>)"),
}
"""Maps a kind of log to how it writes the beginning of a message."""

_SURE = ("Telegram", "QQ", "heading")
"""Kinds of logs that are recognized even if every name occurs once."""

_CUE = re.compile(r"\s*(?:[0-9]+:)?[0-9]+:[0-9]{2}[.,][0-9]{3} --> .*")
_END = re.compile(r"={5,}|\{[A-Z]\w+\}")
"""Matches a rule or the head of attachments, which end a message in Discord's logs."""

_AIDER = "# aider chat started at "


class _LogLine(NamedTuple):
    """Line of a log: ``name`` begins a message, ``day`` begins a session; else it goes on."""

    text: str
    name: str = ""
    when: str = ""
    day: bool = False
    ends: bool = False


_RULE = re.compile(r"[\s#=*–—_-]+")
_THREE_DIGITS = re.compile(r"(?:[^0-9]*[0-9]){3}")  # fewer are no date
_SESSION = re.compile(r"session\s+([0-9]{1,6})", re.IGNORECASE)


def matches(document: object) -> bool:
    """Returns True if lines begin with names that recur as the names of speakers do.

    Headers of mails and settings look alike, but each of their names occurs once.
    """
    if not isinstance(document, PlainText) or document.text.lstrip()[:1] in ("{", '"'):
        return False
    head = PlainText(document.text[:_HEAD], document.error)
    lines = [line for _, line in head.lines() if line.strip()][:_LOOKED_AT]
    if _kind(lines):
        return True
    if document.text.lstrip()[:1] == "<":
        return False
    filled = [line for line in lines if _session(line) is None]
    said = [spoken(line) for line in filled]
    names = Counter(name for name, *_ in filter(None, said))
    count = names.total()
    if not count or (said[0] is None and (count < 4 or not any(said[:3]))):
        return False  # a heading may precede the dialogue
    return count <= 3 or len(names) * 3 <= count * 2


_HEAD = 1 << 16


def _kind(lines: Sequence[str]) -> str:
    """Returns the kind of log whose messages begin on most of these lines; "" for plain text."""
    if any(line.startswith(_AIDER) for line in lines[:5]):
        return "aider"
    cues = sum(_CUE.fullmatch(line) is not None for line in lines)
    if cues > 1 and cues * 4 >= len(lines):
        inside = any(_PATTERNS["WebVTT"].match(line) for line in lines)
        return "WebVTT" if inside else "cues" if sum(map(bool, map(spoken, lines))) > 1 else ""
    if sum(_is_head(line) for line in lines) > 1:
        return "iMessage"
    for kind, pattern in _PATTERNS.items():
        found = [match for line in lines if (match := _begins(kind, pattern, line))]
        names = {match["name"] for match in found if match["name"]}
        if (
            len(names) > 1
            and (len(names) < len(found) or kind in _SURE)
            and len(found) * 8 >= len(lines)
        ):
            return kind
    return ""


def _begins(kind: str, pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    """Returns the match of a line that begins a message; None for other lines."""
    match = pattern.fullmatch(line.rstrip()) if len(line) < 2_000 or kind != "heading" else None
    if match is None:
        return None
    when = match["when"] or ""
    if kind in ("LINE", "KakaoTalk"):
        return match if is_clock(when) else None
    if kind in ("Discord", "Telegram", "QQ"):
        return match if read_time(when) or read_fields(when) else None
    if kind == "heading":
        return (
            match if named_role(match["name"], free=True)[0] or _is_agent(match["name"]) else None
        )
    return match


def _is_agent(name: str) -> bool:
    return name.split()[0].casefold() in ("agent", "you", "claude", "chatgpt", "copilot", "cursor")


def _is_head(line: str) -> bool:
    """Returns True for a line that is a date with a clock, and perhaps a remark in brackets."""
    bare = _REMARK.sub("", line.strip())
    return ":" in bare and len(bare) < 60 and bare[:1].isalnum() and read_time(bare) is not None


_REMARK = re.compile(r" \([^()]*\)$")


def _lines(document: PlainText) -> Iterator[_LogLine]:
    """Yields the lines of a log, with the names and times at which messages begin."""
    head = PlainText(document.text[:_HEAD], document.error)
    kind = _kind([line for _, line in head.lines() if line.strip()][:_LOOKED_AT])
    lines = (line for _, line in document.lines())
    if kind == "aider":
        return _aider(lines)
    if kind == "iMessage":
        return _below_times(lines)
    return (_line(kind, line) for line in lines)


def _line(kind: str, line: str) -> _LogLine:
    """Reads a line by the pattern of its kind of log."""
    pattern = _PATTERNS.get(kind)
    if kind in ("WebVTT", "cues") and (_CUE.fullmatch(line) or line.strip().isdigit()):
        return _LogLine("", ends=True)
    if pattern and (match := _begins(kind, pattern, line)):
        # A line of LINE without a name is a call or a notice.
        name = match["name"] or ""
        return _LogLine(match["text"], name, match["when"] or "", ends=not name)
    if pattern and _END.fullmatch(line.strip()):
        return _LogLine("", ends=True)
    if (begun := _session(line)) is not None:
        return _LogLine(line, when=begun, day=True)
    said = spoken(line) if pattern is None else None
    return _LogLine(said[1], said[0], said[2]) if said else _LogLine(line)


def _aider(lines: Iterable[str]) -> Iterator[_LogLine]:
    """Yields the lines of an aider history: ``#### `` is the user, ``> `` the program."""
    answered = False
    for line in lines:
        if line.startswith(_AIDER):
            yield _LogLine(line, when=line.removeprefix(_AIDER), day=True)
            answered = False
        elif line.startswith("#### "):
            yield _LogLine(line.removeprefix("#### "), "user")
            answered = False
        elif line.startswith("> "):
            yield _LogLine("", ends=True)
        else:
            yield _LogLine(line, "assistant" if line.strip() and not answered else "")
            answered |= bool(line.strip())


def _below_times(lines: Iterable[str]) -> Iterator[_LogLine]:
    """Yields the lines of a log in which a time, a name and a text are lines of their own."""
    when = ""
    for line in lines:
        if _is_head(line):
            when = _REMARK.sub("", line.strip())
        elif when and line.strip():
            yield _LogLine("", line.strip(), when)
            when = ""
        else:
            yield _LogLine(line)


def read(document: object, name: str, options: Options) -> Reading:
    """Reads the text as one conversation; raises LoadError if it has no turn."""
    notes = Notes()
    began, raw, number, left = None, "", 0, 0
    messages: list[Message] = []
    drafts: list[tuple[str, list[str]]] = []  # time and lines of each message
    current: list[str] | None = None  # lines of the message that the next line may continue
    for line in _lines(document) if isinstance(document, PlainText) else ():
        if line.day:
            began, raw = read_time(line.when), line.when
            number, current = number + 1, None
        elif line.name:
            current = [line.text]
            drafts.append((line.when, current))
            time = began and at_clock(began, line.when)
            messages.append(Message(line.name, "", time, raw, session=str(number), began=began))
        elif line.ends:
            current = None
        elif current is not None:
            current.append(line.text)
        else:
            left += bool(line.text.strip())
    if left:
        notes.skipped((), f"{counted(left, 'line')} outside the messages left out")
    # Whole dates share one order of day and month; without it each day as written is a session.
    dates = ["" if is_clock(when) else when for when, _ in drafts]
    times = times_of(dates, options, notes)
    undecided = not any(times) and not number
    days = [date_as_written(fields) if fields else None for fields in map(read_fields, dates)]
    whole = [
        replace(
            message,
            text=_TAIL.sub("", "\n".join(lines)).strip(),
            time=time or message.time,
            raw=message.raw or date,
            session=day if undecided and day else message.session,
        )
        for message, (_, lines), time, date, day in zip(
            messages, drafts, times, dates, days, strict=True
        )
    ]
    chat = WrittenChat(stem(name), (), messages=whole)
    return conversations_of([chat], LABEL, options, notes, _EXPECTED), notes


_TAIL = re.compile(r"\n-{3,}\s*$")


def _session(line: str) -> str | None:
    """Returns the date of a line that begins a session; None for other lines."""
    bare = _RULE.sub(" ", line).strip() if len(line) < 80 else ""
    if not bare:
        return None
    if _SESSION.fullmatch(bare):
        return bare
    if not _THREE_DIGITS.match(bare):
        return None
    trimmed = line.strip(" \t#=*–—_-")
    return trimmed if read_time(trimmed) else None


_ABOUT = (
    "the file: lines `Name: words`; a line with a date begins a session; logs of LINE, KakaoTalk, "
    "Discord, iMessage, WebVTT, aider, SpecStory",
    "clocks in brackets without a date above them, lines before the first name",
)

LOADER = Loader(LABEL, matches, read, ("day_first", "gap_hours"), about=_ABOUT)
