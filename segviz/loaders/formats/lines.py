"""Reads text in which lines begin with a name, a time, or both: logs of chats and transcripts.

How a message begins is learnt from the file, not from a list of programs: a time at the beginning
or behind the name, signs around both, and the text behind them or on the lines below. Of all such
beginnings the one of most lines is used, if its names recur as those of speakers do. So a pasted
log stays text. Lines that do not begin so continue the message before.

``05/03/2025, 10:14 - Ann: hi`` (WhatsApp; any language and digits), tabs between the parts (LINE),
``[Ann] [오전 10:14] hi`` (KakaoTalk), ``Ann, [05.03.2025 10:14]`` (Telegram) are read alike. Below
a line that is only a date a clock is a time. Without times there are ``Ann: hi``, headings of
roles (``## User``), voice tags (WebVTT) and aider's history.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache, partial
from typing import NamedTuple, TypeAlias

from segviz.loaders.chat import Message, note_left_out, spoken, times_of
from segviz.loaders.document import Options, PlainText
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import WrittenChat, conversations_of, stem
from segviz.loaders.report import Notes
from segviz.loaders.roles import named_role
from segviz.loaders.unread import LEFT
from segviz.text.captions import counted, one_line, quoted, shorten
from segviz.text.dates import HALF, at_clock, date_as_written, is_clock, read_fields, read_time

DATED, PLAIN = "chat log (lines with times)", "plain text (Name: words)"

_HEAD, _LOOKED_AT, _LONGEST_HEAD = 1 << 18, 1_000, 200
_EXPECTED = 'lines such as "Name: words" or "05/03/2025, 10:14 - Name: words"'
_MARKS = "\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufeff"
_PLAIN = {**dict.fromkeys(map(ord, _MARKS + "\u202f\u00a0"), " "), ord("\u060c"): ","}
"""Replaces marks of direction and narrow blanks, and Arabic commas; positions stay."""

# --- a time at the head of a line ------------------------------------------------------

_WORD = r"[^\W\d_]{3,12}"
_DAY = (
    r"[0-9]{1,4}\s?[./年년-]\s?[0-9]{1,2}\s?[./月월-]\s?[0-9]{1,4}(?:\.|\s?[日일])?"
    r"(?:\s?\([^()0-9]{1,9}\)|\s[^\W\d_](?:요일|曜日))?"
    rf"|(?:{_WORD},?\s)?(?:[0-9]{{1,2}}(?:\.|st|nd|rd|th)?[ -](?:de )?{_WORD}\.?,?[ -](?:de )?"
    rf"[0-9]{{2,4}}|{_WORD}\.? [0-9]{{1,2}}(?:st|nd|rd|th)?,? [0-9]{{4}})"
)
_CLOCK = (
    rf"(?:{HALF}\s?)?[0-9]{{1,2}}(?:[:.h]|\s?[時时点點시]\s?)[0-9]{{2}}"
    rf"(?:(?:[:.]|[分분]\s?)[0-9]{{2}}[秒초]?)?[分분]?(?:[.,][0-9]{{1,6}})?(?:\s?\s?{HALF})?"
    r"(?:\s?(?:z|utc|gmt|[+-][0-9]{2}:?[0-9]{2})(?![^\W_]))?"
)
_BETWEEN = r"(?:,?[\sT]\s?(?:(?:klo|um|at|à|às|kl\.?)\s)?|(?<=[日일]))"
_RELATIVE = r"(?:today|yesterday) at "
_TIME = rf"(?:(?P<day>{_DAY})(?:{_BETWEEN}{_CLOCK})?|(?P<ago>{_RELATIVE})?{_CLOCK})"
_TIMED = rf"(?P<when>{_TIME})(?![0-9])(?:\s?uhr\b)?"
_WHEN = re.compile(rf"(?<![^\W_]){_TIMED}", re.IGNORECASE)
_NAMED = re.compile(r"([\W_]*+)[^:\n]{1,80}?([\W_]+)")
"""Matches what stands before a time: signs, a name, signs."""

_CLOSED = re.compile(r"[\])>}*_]*:?")
_SIGNS = re.compile(r"[ \t]?[\])>}*_]*[ \t]*(?:[-–—:|]|,(?= ))?[ \t]*<?")
_FORMS = {
    "colon": r"(?P<name>[^:\t\n,;|][^:\t\n]{0,79}?)\s?:[ ]?",
    "tab": r"(?P<name>[^\t\n]{1,80})\t",
    "angle": r"(?P<name>[^<>\n]{1,80})>[ ]?",
    "word": r"(?P<name>[^\s:]{1,40}) (?=\S)",
    "below": r"(?P<name>[^:\n]{1,80}?)\s*$",
    "alone": r"(?: ?\([^()\n]*\))?(?P<name>)\s*$",
}
"""Maps how a name stands behind a time to its pattern; below the last two stands the text."""

_BELOW = ("below", "alone")
_TRIED = 12
_LEVELS = {"info", "warn", "warning", "error", "debug", "trace", "fatal", "critical", "notice"}
_ID = re.compile(r" ?(?:\([0-9]+\)|\(pinned\)|<[^<>\n]*>)$")
_ADDRESSED = re.compile(r"from (.{1,80}?) to .{1,80}", re.IGNORECASE)
_END = re.compile(r"={5,}|\{[A-Z]\w+\}")
"""Matches a rule or the head of attachments, which end a message with its text below."""


class _Beginning(NamedTuple):
    """Way in which messages begin: ``whole`` matches it, ``head`` that of any line with a time.

    ``form`` says where the name is, ``behind`` has the signs after the time. ``times`` is 0 for
    clocks, 1 for dates, 2 for both; ``shape`` that of a date before the name (``0/0/0, 0:0``).
    """

    form: str
    head: str
    whole: str
    behind: str
    times: int
    shape: str

    def match(self, pattern: str, plain: str) -> re.Match[str] | None:
        """Returns the match of ``head`` or ``whole`` if a date is written like the others."""
        match = re.match(pattern, plain, re.IGNORECASE)
        return match if match and self.shape in ("", _shape(match["when"])) else None

    def fits(self, lines: Sequence[str], rows: Iterable[int]) -> int:
        """Returns how many of the lines, at these rows, begin messages; 0 if they are no log."""
        begins = {row: self.match(self.whole, _plain(lines[row])) for row in rows}
        begun = {row: match["name"] for row, match in begins.items() if match}
        names = [_name(name) or "".join(lines[row + 1 : row + 2]) for row, name in begun.items()]
        count, several = len(names), len(set(names))
        if count * 8 < len(lines) or any(_LEVELS & {*name.casefold().split()} for name in names):
            return 0
        recur = 1 < several and several * 3 <= count * 2
        fits = recur or (self.times > 1 < several and self.form != "alone")
        if self.form == "colon" and self.times > 1:
            fits |= 0 in begun or count * 2 >= len(lines)
        elif self.form == "word":
            fits = recur and not self.times and any(map(_session, lines))
        elif self.form in _BELOW:  # few messages are without a text
            fits &= sum(row + 1 in begun or row + 1 == len(lines) for row in begun) * 4 <= count
        return count if fits else 0


def _name(written: str) -> str:
    """Returns a name without the id or address behind it; of ``from A to B`` it is A."""
    name = _ID.sub("", written.strip(_MARKS + " "))
    addressed = _ADDRESSED.fullmatch(name)
    return one_line(addressed[1] if addressed else name)


def _plain(line: str) -> str:
    """Returns the head of a line with ASCII digits, blanks and commas; positions stay."""
    plain = line[:_LONGEST_HEAD]
    if plain.isascii():
        return plain
    plain = re.sub(r"[^\D0-9]", lambda digit: str(unicodedata.digit(digit[0])), plain)
    return plain.translate(_PLAIN)


@lru_cache(1_000)
def _shape(when: str) -> str:
    """Returns the form of a date, as ``0/0/0, 0:0 a``; a year of four digits is ``0000``."""
    shape = re.sub(r"[0-9]+", lambda digits: "0000" if len(digits[0]) == 4 else "0", when)
    return re.sub(r"(?:[A-Za-z\u0080-\U0010ffff]++\.?+ ?+)++", "a", " ".join(shape.split()))


def _beginnings(plain: str) -> tuple[_Beginning, ...]:
    """Returns the ways in which messages may begin if a line with this head begins one."""
    time = _WHEN.search(plain)
    if time is None or not (is_clock(time["when"]) or time["day"] or time["ago"]):
        return ()
    before, when, after = plain[: time.start()], time["when"], plain[time.end() :]
    times = (time["day"] is not None) + (time["day"] not in (None, when))
    if any(map(str.isalnum, before)):
        named, signs = _NAMED.fullmatch(before), _CLOSED.match(after)
        behind = signs[0] if signs else ""
        below = not after[len(behind) :].strip()
        if named is None or not (behind or below):
            return ()  # a time within a sentence
        first, between = re.escape(named[1].strip()), re.escape(named[2])
        whole = rf"\s*+{first}(?P<name>[^:\n]{{1,80}}?){between}{_TIMED}{re.escape(behind)}"
        form, end = ("below", r"\s*$") if below else ("behind", r"[ \t]?")
        return (_Beginning(form, "", whole + end, behind, times, ""),)
    signs = _SIGNS.match(after)
    behind = signs[0].strip() if signs else ""
    head = rf"\s*+{re.escape(before.strip())}\s?{_TIMED}"
    whole = rf"{head}\s?{re.escape(behind)}\s*+"
    return tuple(
        _Beginning(form, head, whole + own, behind, times, _shape(when) if times else "")
        for form, own in _FORMS.items()
        if (form == "angle") is behind.endswith("<")
    )


def _learn(lines: Sequence[str]) -> _Beginning | None:
    """Returns how most messages of a log begin; None for a text without times at heads of lines."""
    known = {row: ways for row, line in enumerate(lines) if (ways := _beginnings(_plain(line)))}
    tried = [way for ways, _ in Counter(known.values()).most_common(_TRIED) for way in ways]
    counts = [way.fits(lines, known) for way in tried]
    if any(counts):
        return tried[counts.index(max(counts))]
    first = known.get(0, ())  # a log may hold nothing but lines of the system
    return first[0] if first and first[0].times > 1 and first[0].behind and first[0].head else None


# --- kinds of texts ----------------------------------------------------------------------

_CUE = re.compile(r"\s*(?:[0-9]+:)?[0-9]+:[0-9]{2}[.,][0-9]{3} --> .*")
_VOICE = re.compile(r"<v(?:\.\S+)? (?P<name>[^>\n]{1,80})>(?P<text>.*?)(?:</v>)?$")
_HEADING = re.compile(
    r"(?:_?\*\*|#{1,6}\s+)(?P<name>[^*#\n(]{1,60}?)(?: \((?P<when>[^()\n]{1,40})\))?:?(?:\*\*_?)?"
)
_AIDER = "# aider chat started at "
_AGENTS = {"agent", "you", "claude", "chatgpt", "copilot", "cursor"}
_RULE = re.compile(r"[\s#=*–—_-]+")
_THREE_DIGITS = re.compile(r"(?:[^0-9]*[0-9]){3}")  # fewer are no date
_SESSION = re.compile(r"session\s+([0-9]{1,6})", re.IGNORECASE)


class _LogLine(NamedTuple):
    """Line of a log: ``name`` begins a message, ``day`` begins a session; else it goes on.

    ``aside`` is the kind of a line that is no message.
    """

    text: str
    name: str = ""
    when: str = ""
    day: bool = False
    aside: str = ""


_ENDS = _LogLine("", aside="marks")
_Reader: TypeAlias = Callable[[Iterable[str]], Iterator[_LogLine]]


def _kind(document: object) -> tuple[str, _Reader] | None:
    """Returns the label of a text and what reads its lines; None if it names no speakers."""
    if not isinstance(document, PlainText) or document.text.lstrip()[:1] in ("{", '"'):
        return None
    head = PlainText(document.text[:_HEAD], document.error)
    lines = [line for _, line in head.lines() if line.strip()][:_LOOKED_AT]
    if any(line.startswith(_AIDER) for line in lines[:5]):
        return PLAIN, _aider
    named = [spoken(line) for line in lines if not _session(line)]
    names = Counter(name for name, *_ in filter(None, named))
    if sum(_CUE.fullmatch(line) is not None for line in lines) * 4 >= len(lines):
        voices = names or any(map(_VOICE.match, lines))
        return (PLAIN, partial(_named, cues=True)) if voices else None
    headings = [match["name"] for line in lines if (match := _heading(line))]
    if len(set(headings)) > 1 and len(headings) * 8 >= len(lines):
        return PLAIN, _headed
    log, count = _learn(lines), names.total()
    # Clocks in brackets before ``Name: words`` may be missing on some lines.
    if log and (log.times or log.fits(lines, range(len(lines))) > count):
        return DATED, partial(_dated, log)
    if not count or lines[0].lstrip()[:1] == "<":
        return None
    # A heading may precede the dialogue. Each name of settings and of mails' headers occurs once.
    begins = named[0] is not None or (count > 3 and any(named[:3]))
    return (PLAIN, _named) if begins and (count <= 3 or len(names) * 3 <= count * 2) else None


def _heading(line: str) -> re.Match[str] | None:
    """Returns the match of a heading that names a role; None for other lines."""
    match = _HEADING.fullmatch(line.rstrip()) if line[:1] in "_*#" and len(line) < 200 else None
    if match and (
        named_role(match["name"], free=True)[0] or match["name"].split()[0].casefold() in _AGENTS
    ):
        return match
    return None


def _headed(lines: Iterable[str]) -> Iterator[_LogLine]:
    """Yields the lines of a text in which headings name the speakers."""
    for line in lines:
        match = _heading(line)
        when = (match["when"] or "") if match else ""
        yield _LogLine("", match["name"], when * bool(read_time(when))) if match else _LogLine(line)


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
            yield _ENDS
        else:
            yield _LogLine(line, "assistant" if line.strip() and not answered else "")
            answered |= bool(line.strip())


def _dated(log: _Beginning, lines: Iterable[str]) -> Iterator[_LogLine]:
    """Yields the lines of a log whose messages begin as learnt."""
    other = log._replace(shape="")  # dates that are written in another way
    when = ""
    for line in lines:
        plain = _plain(line)
        if match := log.match(log.whole, plain):
            when = line[slice(*match.span("when"))]
            if log.form != "alone":
                name = _name(line[slice(*match.span("name"))])
                yield _LogLine(line[match.end() :], name, when)
                when = ""
        elif when and line.strip():
            yield _LogLine("", one_line(line.strip()), when)
            when = ""
        elif not log.times and (day := _session(line)):
            yield _LogLine(line, when=day, day=True)
        elif log.head and log.match(log.head, plain):
            yield _LogLine("", aside="of the system")
        elif log.form in _BELOW and _END.fullmatch(line.strip()):
            yield _ENDS
        else:
            odd = other.match(other.whole, plain)
            yield _LogLine(line, when=odd["when"] if odd else "")


def _named(lines: Iterable[str], cues: bool = False) -> Iterator[_LogLine]:
    """Yields the lines of a text ``Name: words`` with dates between, or of cues of subtitles."""
    for line in lines:
        voice = _VOICE.match(line) if cues else None
        if cues and (_CUE.fullmatch(line) or line.strip().isdigit()):
            yield _ENDS
        elif day := _session(line):
            yield _LogLine(line, when=day, day=True)
        elif voice:
            yield _LogLine(voice["text"], voice["name"])
        else:
            name, text, when = spoken(line) or ("", line, "")
            yield _LogLine(text, name, when)


def _session(line: str) -> str:
    """Returns the date of a line that begins a session; "" for other lines."""
    bare = _RULE.sub(" ", line).strip() if len(line) < 80 else ""
    if _SESSION.fullmatch(bare):
        return bare
    if not _THREE_DIGITS.match(bare):
        return ""
    trimmed = re.sub("^day changed ", "", line.strip(" \t#=*–—_-"), flags=re.IGNORECASE)
    return trimmed if read_time(trimmed) else ""


# --- placeholders ------------------------------------------------------------------------

# Words in brackets, in any language; <script> or <img src=x> is a user's text.
_WORDS = r"[^\W\d_]+"
_ATTACHED = re.compile(r"(?:(?<!\u200e)\u200e++)?+<[^<>:\n]{1,30}: [^<>\n]{1,200}\.\w{2,5}>")
_FILE = re.compile(r"[\u200e]*([^<>\n]{1,200})\.\w{2,5} \(([^()\n]{3,40})\)")
_EDITED = re.compile(rf"(?<!\s)\s++\u200e?<{_WORDS}(?: {_WORDS}){{2,8}}\.?>\s*$")
_PLACEHOLDER = re.compile(rf"<{_WORDS}(?: {_WORDS}){{1,8}}\.?>|null")
_GONE = ("this message was deleted", "you deleted this message")
_LONGEST_NOTICE = 400
_TAIL = re.compile(r"\n-{3,}\s*$")


def _attached(texts: Iterable[str]) -> frozenset[str]:
    """Returns the words in brackets by which this file marks attachments: ``file attached``.

    They follow a file name without blanks, or several file names.
    """
    firsts = (text.split("\n", 1)[0].strip() for text in texts)
    files = [match for first in firsts if (match := _FILE.fullmatch(first))]
    counts = Counter(match[2] for match in files)
    counts.update(match[2] for match in files if " " not in match[1])
    return frozenset(words for words, count in counts.items() if count > 1) | {"file attached"}


def _words(text: str, attached: frozenset[str]) -> tuple[str, str]:
    """Returns the words of a message, and its kind if it is a placeholder of media or deleted."""
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
        return "", "media or notices"
    return bare, "deleted" * (whole.strip(_MARKS).rstrip(".").casefold() in _GONE)


# --- reading -----------------------------------------------------------------------------


def read(document: object, name: str, options: Options) -> Reading:
    """Reads the text as one conversation; raises LoadError if it has no message."""
    notes, left = Notes(), Counter[str]()
    label, read_lines = _kind(document) or (PLAIN, _named)
    lines = (line for _, line in document.lines()) if isinstance(document, PlainText) else ()
    day, odd = _Day(), 0
    drafts: list[_Draft] = []
    outside: list[str] = []
    current: list[str] | None = None  # lines of the message that the next line may continue
    for line in read_lines(lines):
        if line.day:
            day, current = _Day(day.number + 1, line.when, read_time(line.when)), None
        elif line.name:
            current = [line.text]
            drafts.append((line.name, line.when, current, day))
        elif line.aside:
            left.update([line.aside] if line is not _ENDS else [])
            current = []
        elif current is not None:
            current.append(line.text)
            odd += line.when != ""
        elif line.text.strip():
            outside.append(line.text.strip())
    messages = _messages(drafts, label == DATED, options, left, notes)
    note_left_out(left, (), notes)
    if odd:
        what = f"{counted(odd, 'line')} with a time written otherwise read as text of the message"
        notes.repaired((), f"{what} before")
    if lost := sum(map(len, outside)):
        share = lost / (lost + sum(len(message.text) for message in messages))
        example = quoted(shorten(max(outside, key=len), 60))
        more = f": {share:.0%} of the text is not read, such as {example}"
        what = f"{counted(len(outside), 'line')} outside the messages left out"
        notes.skipped((), what + more * (share >= LEFT and len(outside) > 5))
    chat = WrittenChat(stem(name), (), messages=messages)
    return conversations_of([chat], label, options, notes, _EXPECTED), notes


class _Day(NamedTuple):
    """Session that a line with a date begins: its number, its date as written, and the date."""

    number: int = 0
    raw: str = ""
    began: datetime | None = None


_Draft: TypeAlias = tuple[str, str, list[str], _Day]
"""Message of a log: name, time as written, lines, and the session."""


def _messages(
    drafts: Sequence[_Draft], is_log: bool, options: Options, left: Counter[str], notes: Notes
) -> list[Message]:
    """Returns the messages with their texts and times; ``left`` counts the placeholders."""
    # Whole dates share one order of day and month; without it each day as written is a session.
    dates = ["" if is_clock(when) else _plain(when) for _, when, *_ in drafts]
    times = times_of(dates, options, notes)
    undecided = any(dates) and not any(times)
    texts = ["\n".join(lines) for *_, lines, _ in drafts]
    attached = _attached(texts)
    messages, session, unread = [], None, list[str]()
    for (name, when, _, day), date, time, text in zip(drafts, dates, times, texts, strict=True):
        words, aside = _words(text, attached) if is_log else (_TAIL.sub("", text).strip(), "")
        if aside:
            left[aside] += 1
            continue
        if undecided and (fields := read_fields(date)):
            session = date_as_written(fields)
        elif date and time is None:
            unread.append(when)
        if day.number or not is_log:
            session = str(day.number)
        time = time or (day.began and at_clock(day.began, when))
        raw = day.raw or (when if date else "")
        messages.append(Message(name, words, time, raw, session, began=day.began))
    if unread:
        what = f"{counted(len(unread), 'message')} with a time that cannot be read"
        notes.repaired((), f"{what} (such as {one_line(shorten(unread[0], 40))})")
    return messages


_ABOUT = {
    DATED: (
        "the file: lines with times and names, as WhatsApp, Signal, Telegram, LINE, KakaoTalk, QQ, "
        "Discord, iMessage and IRC write them in any language; sessions by silence or dates",
        "lines of the system, placeholders of media, deleted messages",
    ),
    PLAIN: (
        "the file: lines `Name: words`; a line with a date begins a session; headings of roles, "
        "WebVTT, SpecStory, aider",
        "clocks in brackets without a date above them, lines before the first name",
    ),
}


def _loader(label: str) -> Loader:
    def matches(document: object) -> bool:
        return (_kind(document) or ("",))[0] == label

    return Loader(label, matches, read, ("day_first", "gap_hours"), about=_ABOUT[label])


LOG, TRANSCRIPT = _loader(DATED), _loader(PLAIN)
