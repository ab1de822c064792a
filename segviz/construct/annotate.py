"""Annotation: writes a node's text from its children's texts (the S of Algorithm 1).

``Extractive`` quotes the most informative lines, offline. ``SessionSummaries`` takes the summaries
of sessions from a LoCoMo file. ``Summary`` asks a chat model, as in the paper.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import lru_cache
from itertools import chain, islice
from operator import mul
from typing import Any, ClassVar, NamedTuple

from segviz.construct.parameter import Declared, param
from segviz.construct.protocols import Services, require_chat
from segviz.construct.tasks.words import (
    BREAK,
    LEAST_CONTENT,
    content,
    english,
    salience,
    word_spans,
    words_of,
)
from segviz.conversation.turns import SPEAKER
from segviz.handover import HandoverError
from segviz.llm import Chat, Prompt, Reply
from segviz.llm.prompts import annotation_prompt, digest
from segviz.text.captions import clipped
from segviz.text.dates import dated, undated
from segviz.text.words import EXAMINED

__all__ = ["ANNOTATORS", "TITLE", "Annotation", "Extractive", "Summary"]

_DIGIT = re.compile(r"\d")
_CAPITAL = re.compile(r"(?<=[\w,;'’] )[A-Z]\w+")  # inside a sentence; one at its start is grammar
_LIST_MARK = re.compile(r"^(?:(?:[-*•#>|]+|\d{1,3}[.)])\s+)+")
# Links; "ll" of "I'll". A link is looked for once in a run without blanks, at its start.
_NO_WORDS = re.compile(r"(?<!\S)(?=\S+://\S)\S++|www\.\S++|(?<=\w)['’`]\w{1,2}\b")
_CAPTION = "[image: "
_CAPTION_WORDS = frozenset(("image", "photo", "picture", "screenshot"))
_CAPTION_SHARE = 0.5  # a caption describes an image, not what a speaker said
_OPEN_SHARE = 0.5  # a question without its answer, or a heading without its list, states nothing
_PLAIN = 0.85  # share of letters, digits and blanks; a line of code has fewer
_FACT = 0.3  # added for each name of another person, a number, and an answer
_NEEDS_QUESTION = 3.0  # an answer of less weight is not understood without its question
_NEXT_SHARE = 0.9  # factor for each further line of a child, or of an over-quoted speaker
_ANSWERS = 0.8  # an answer of less weight ("Exactly!") says nothing even with its question
_SHORTLIST = 48  # most lines of a node's children that compete
_WIDE = 32  # most children that are summarised together
_LONG = 25  # words; a sentence beyond this length is usually a list
_EVEN = 2  # a speaker with more than this multiple of the briefest one's lines …
_SPEAKER = -0.4  # … has lines of less weight: the exponent of what exceeds it
_UPPER = 3  # from this height on a text grows with the number of children
_CHILD_WORDS, _MOST_WORDS = 20, 200  # room in it for each child, and for all
_CHILD_SHARE = 0.6  # in it, factor for each further line of a child
_REFERENCES = english("references")


class _Line(NamedTuple):
    """Sentence of a speaker.

    ``asked`` is the question by another speaker right before it. ``bare`` is the text without
    the dates that were added in brackets, which weigh nothing. ``names`` are the capitalised words
    after its first. ``words`` and ``names`` are in lower case, ``words`` in order of first use.
    """

    speaker: str
    text: str
    bare: str
    words: tuple[str, ...]
    length: int
    names: frozenset[str]
    number: bool
    asked: _Line | None = None

    @property
    def asks(self) -> bool:
        """True if the sentence ends with a question mark."""
        return self.bare.rstrip("\"'”’)").endswith(("?", "？", "؟"))

    @property
    def opens(self) -> bool:
        """True if the sentence states nothing by itself: a question, a heading, a line of code."""
        plain = sum(sign.isalnum() or sign.isspace() for sign in self.bare)
        code = plain < _PLAIN * len(self.bare) and not self.bare.startswith(_CAPTION)
        return code or self.asks or self.bare.endswith((":", "："))

    @property
    def refers(self) -> bool:
        """True if the sentence opens with a word for what it does not name."""
        return self.words[0] in _REFERENCES and not self.names and self.asked is None


@lru_cache(maxsize=4_096)
def _lines(text: str) -> tuple[_Line, ...]:
    """Splits a text into sentences. A line without ``Speaker:`` continues the last speaker."""
    lines: list[_Line] = []
    speaker, before = "", None
    for row in text[:EXAMINED].split("\n"):
        spoken = SPEAKER.match(row)
        answers = False
        if spoken:
            # Only the first sentence after another speaker's question is its answer.
            answers = before is not None and before.asks and before.speaker != spoken.group(1)
            speaker, row = spoken.group(1), row[spoken.end() :]
        for piece in BREAK.split(row):
            line = _line(speaker, _LIST_MARK.sub("", piece.strip()).replace("**", ""))
            if line is None:
                continue
            if answers:
                line, answers = line._replace(asked=before), False
            lines.append(line)
            # A caption between a question and its answer does not separate them.
            before = line if not line.text.startswith(_CAPTION) else before
    return tuple(lines)


@lru_cache(maxsize=16_384)
def _line(speaker: str, text: str) -> _Line | None:
    """Returns a sentence with its words, names and numbers; None if it has no words."""
    bare = undated(text)
    words = words_of(_NO_WORDS.sub(" ", bare))
    if not words:
        return None
    names = frozenset(name.lower() for name in _CAPITAL.findall(bare))
    number = bool(_DIGIT.search(bare))
    return _Line(speaker, text, bare, tuple(dict.fromkeys(words)), len(words), names, number)


@lru_cache(maxsize=256)
def _vocative(names: frozenset[str]) -> re.Pattern[str]:
    """Returns a pattern that finds one of these names where someone is addressed by it.

    It matches at the start of a sentence ("Hey Ada, …") and at its end ("…, Ada").
    """
    known = "|".join(sorted(map(re.escape, names)))
    at_start, at_end = rf"^(?:\w+,? )?(?:{known})[,!]+ +(?=\w)", rf", (?:{known})(?=[.!?…]*$)"
    return re.compile(f"{at_start}|{at_end}", re.I)


class _Candidate(NamedTuple):
    """Line that may be quoted in an annotation, with the question it needs.

    Attributes:
        line: the line.
        question: the question that is quoted with it; None if it needs none.
        words: words of line and question, without speakers' names.
        weights: the weight of each word.
        tells: the weight compared with ``floor``: the sum of the weights plus a bonus for facts;
            below ``floor`` with fewer than two content words.
        length: number of words of line and question.
        factor: factor of the line's gain that does not depend on other lines.
    """

    line: _Line
    question: _Line | None
    words: tuple[str, ...]
    weights: tuple[float, ...]
    tells: float
    length: int
    factor: float


@dataclass(frozen=True)
class Extractive(Declared):
    """Quotes the lines that together have the most informative words of a span.

    A word is informative if it is rare in everyday messages and its static word vector is long:
    vectors of small talk are short. Names of the speakers weigh nothing. A line of less weight than
    ``floor``, or with fewer than two content words, is left out, which removes greetings and praise
    in any language. If no line remains, the heaviest is quoted. The others are quoted greedily by
    their gain: the weights of their words, divided by the root of their length. Each time a word is
    quoted, its weight is multiplied by ``repeat``. A word that occurs in many lines counts more.
    Names, numbers and dates earn a bonus. A short answer is weighed and quoted with its question. A
    line of a speaker with many lines weighs less, so that a person is heard beside an assistant. A
    single child's text passes through unchanged.

    From the third text above the leaves on, a text grows with its children, which share it more
    evenly, and has no line that opens with "she" or "that" if others are left. Where the day of a
    session is known, a relative time gets its date in brackets: "yesterday (7 May 2023)". Lines are
    chosen, and new units placed, as if no text grew; nothing is embedded or searched in brackets.

    The text is a pure function of the children's, so the tree is prefix-stable.

    Source: greedy coverage of weighted words, after Lin and Bilmes 2011. Facts earn a bonus because
        a lost date is the failure that SegTreeMem reports (App. C.4, Q3). The constants are ours,
        chosen on the LoCoMo conversations of the benchmark ``constants``. Departs from SegTreeMem:
        sentences are quoted, not written by a language model.
    """

    name: ClassVar[str] = "extractive"

    max_words: int = param(90, "Longest annotation, in words.", (10, 400), source="ours")
    floor: float = param(
        2.0, "Least weight of a line that is quoted; 1 is a rare word.", (0, 10), source="ours"
    )
    repeat: float = param(
        0.4, "Weight of a word each time it is quoted again.", (0, 1), source="ours"
    )
    fact_bonus: float = param(
        0.25, "Bonus for each of up to two names, and for a number.", (0, 1), source="ours"
    )

    def __call__(self, texts: Sequence[str]) -> str:
        """Returns the most informative lines of the child texts, in their order.

        Args:
            texts: the child annotations in chronological order, at least one.

        Returns:
            At most ``max_words`` words, one sentence a line, with ``Speaker: `` where the speaker
            changes; "" where no child has a word.
        """
        return texts[0] if len(texts) == 1 else _quoted(self, tuple(texts))

    def many(self, groups: Sequence[Sequence[Annotation]]) -> list[Annotation]:
        """Returns the text of each group of children, with dates; a single text passes through."""
        return [self._annotated(group) if len(group) > 1 else group[0] for group in groups]

    def _annotated(self, group: Sequence[Annotation]) -> Annotation:
        """Returns an extract of two or more children's texts."""
        upper = 1 + max(child.height for child in group) >= _UPPER
        places = tuple(child.place or child.text for child in group) if upper else ()
        if len(places) > _WIDE:
            texts = places = _grouped(self, places)
        else:  # Lines of an annotation got their dates below it.
            texts = tuple(
                child.text if child.height else _with_dates(child.text, *child.days)
                for child in group
            )
        if not upper:
            return Annotation(_quoted(self, texts))
        room = max(self.max_words, min(_MOST_WORDS, _CHILD_WORDS * len(group)))
        return Annotation(_quoted(self, texts, room), place=_quoted(self, places))


@lru_cache(maxsize=4_096)
def _with_dates(text: str, *days: date) -> str:
    """Returns a text of one day with the dates of its relative times."""
    return dated(text, datetime.combine(days[0], datetime.min.time())) if len(days) == 1 else text


@lru_cache(maxsize=4_096)
def _quoted(annotator: Extractive, texts: tuple[str, ...], room: int | None = None) -> str:
    """Writes the extractive annotation of two or more texts.

    ``room`` is the number of words of a text that grows with its children, None for another.
    """
    if len(texts) > _WIDE:
        return _quoted(annotator, _grouped(annotator, texts), room)
    quoted: dict[str, _Line] = {}
    upper, words = room is not None, room or annotator.max_words
    for each in _cover(annotator, *_candidates(annotator, texts, upper), words, upper):
        if each.question is not None:
            quoted.setdefault(each.question.bare, each.question)
        quoted.setdefault(each.line.bare, each.line)
    return _written(quoted.values(), words)


def _grouped(annotator: Extractive, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Annotates many texts in groups of 32, until 32 texts or fewer are left.

    While a node grows, only its last group changes, so the cost of a step stays bounded.
    """
    while len(texts) > _WIDE:
        groups = (texts[first : first + _WIDE] for first in range(0, len(texts), _WIDE))
        texts = tuple(_quoted(annotator, each) if len(each) > 1 else each[0] for each in groups)
    return texts


def _candidates(
    annotator: Extractive, texts: Sequence[str], upper: bool
) -> tuple[list[_Candidate], list[int]]:
    """Returns the lines that may be quoted and, for each, the index of the text it is from.

    Lines below ``floor`` are left out, and in an ``upper`` text those that refer to others. If no
    line remains, the heaviest one is returned.
    """
    # Speakers' names occur in most lines, so they cannot distinguish one.
    names = {line.speaker for text in texts for line in _lines(text)}
    speakers = frozenset(word for name in names for word in words_of(name))
    by_text: dict[str, tuple[_Candidate, int]] = {}
    for child, text in enumerate(texts):
        for each in _candidates_of(annotator, text, speakers):
            by_text.setdefault(each.line.bare, (each, child))
    rows = list(by_text.values())
    kept = [row for row in rows if row[0].tells >= annotator.floor]
    kept = [row for row in kept if not (upper and row[0].line.refers)] or kept
    if rows and not kept:
        kept = [max(rows, key=lambda row: row[0].tells)]
    return [each for each, _ in kept], [child for _, child in kept]


@lru_cache(maxsize=4_096)
def _candidates_of(
    annotator: Extractive, text: str, speakers: frozenset[str]
) -> tuple[_Candidate, ...]:
    """Returns the weighed lines of one text; cached, as only the last text of a node is new."""
    each = (_candidate(annotator, line, speakers) for line in _lines(text))
    return tuple(filter(None, each))


@lru_cache(maxsize=16_384)
def _candidate(annotator: Extractive, line: _Line, speakers: frozenset[str]) -> _Candidate | None:
    """Weighs one line for quotation; None if it only addresses a speaker."""
    short_names = {name for name in line.names for each in speakers if each.startswith(name)}
    speakers = speakers | short_names  # "Mel" for Melanie
    if line.text.startswith(_CAPTION):
        speakers |= _CAPTION_WORDS
    spoken = _plain(line, speakers)
    if spoken is None:
        return None
    weights = {word: salience(word) for word in spoken.words if word not in speakers}
    names, number, length = spoken.names - speakers, spoken.number, spoken.length
    says = sum(weights.values())
    # An answer of middling weight needs its question; a heavier one is understood alone.
    question = spoken.asked if _ANSWERS <= says < _NEEDS_QUESTION else None
    if question is not None:
        weights = {w: salience(w) for w in question.words if w not in speakers} | weights
        names |= question.names - speakers
        number, length = number or question.number, length + question.length
    facts = min(2, len(names)) + number
    # Gain per root of length favours short lines less than gain per word would; lists beyond _LONG
    # words pay in full.
    factor = (1 + annotator.fact_bonus * facts) / (length + 3) ** 0.5 / max(1.0, length / _LONG)
    if spoken.text.startswith(_CAPTION):
        factor *= _CAPTION_SHARE
    if spoken.opens and question is None:
        factor *= _OPEN_SHARE
    words, values = tuple(weights), tuple(weights.values())
    tells = sum(values) + _FACT * (facts + (question is not None))
    quote = spoken.bare if question is None else f"{question.bare} {spoken.bare}"
    if len(content(quote) - content(" ".join(speakers))) < LEAST_CONTENT:
        tells = min(tells, annotator.floor - 1)
    return _Candidate(spoken, question, words, values, tells, length, factor)


def _cover(
    annotator: Extractive,
    candidates: Sequence[_Candidate],
    children: Sequence[int],
    room: int,
    upper: bool,
) -> list[_Candidate]:
    """Chooses lines greedily by gain until ``room`` words are used; returns them in text order.

    ``children`` has for each candidate the index of the child text it is from.
    """
    # Coverage (Lin and Bilmes 2011): a word of many lines is the theme of the span.
    spread = Counter(chain.from_iterable(each.words for each in candidates))
    worth = {word: count**0.4 for word, count in spread.items()}
    names = [each.line.speaker for each in candidates]
    speakers = Counter(names)
    fair = _EVEN * min(speakers.values(), default=1)
    even = _SPEAKER * (1 + upper)  # what a person asks for tells what a long stretch is about
    heard = {name: max(1.0, count / fair) ** even for name, count in speakers.items()}
    next_share = _CHILD_SHARE if upper else _NEXT_SHARE

    def covers(place: int) -> float:
        each = candidates[place]
        weight = sum(map(mul, each.weights, map(worth.__getitem__, each.words)))
        return float(each.factor * heard[names[place]] * weight)

    covered = [covers(place) for place in range(len(candidates))]
    # A text has a dozen lines at most, so the best lines taken alone are enough to choose from.
    left = sorted(range(len(candidates)), key=lambda place: -covered[place])[:_SHORTLIST]
    chosen: list[int] = []
    quoted = dict.fromkeys(speakers, 0)
    # A child or a speaker that is quoted more than the others pays for each further line.
    child_share, ahead = dict.fromkeys(children, 1.0), dict.fromkeys(speakers, 1.0)
    while left and room > 0:
        share = {place: child_share[children[place]] * ahead[names[place]] for place in left}
        # Words only lose worth, so a former value is a bound: most lines need no new sum.
        left.sort(key=lambda place: -covered[place] * share[place])
        best, most = left[0], -1.0
        for place in left:
            if covered[place] * share[place] < most:
                break
            covered[place] = covers(place)
            gain = covered[place] * share[place]
            if gain > most or (gain == most and place < best):
                best, most = place, gain
        line = candidates[best]
        chosen.append(best)
        room -= line.length
        child_share[children[best]] *= next_share
        quoted[names[best]] += 1
        fewest = min(quoted.values())
        ahead = {name: _NEXT_SHARE ** max(0, n - fewest - 1) for name, n in quoted.items()}
        # A quoted word is covered: its weight falls, and with it the gain of lines that repeat it.
        worth.update((word, worth[word] * annotator.repeat) for word in line.words)
        left = [place for place in left if place != best and candidates[place].length <= room]
    return [candidates[place] for place in sorted(chosen)]


def _plain(line: _Line, speakers: frozenset[str]) -> _Line | None:
    """Returns a line without the name of a speaker it addresses ("Thanks, Ada!").

    Returns None if no word remains.
    """
    others = speakers.difference(words_of(line.speaker))
    text = _vocative(others).sub("", line.text) if others.intersection(line.words) else line.text
    if text == line.text:
        return line
    shorter = _line(line.speaker, text[:1].upper() + text[1:])
    return shorter and shorter._replace(asked=line.asked)


def _written(lines: Iterable[_Line], max_words: int) -> str:
    """Writes lines below each other, with the speaker's name where it changes."""
    rows, speaker = [], ""
    for line in lines:
        text = line.text
        if line.length > max_words:
            text = text[: next(islice(word_spans(text), max_words - 1, None))] + " …"
        if SPEAKER.match(text):
            text = " " + text  # "Name: …" at the start of a line means a speaker, see Turn.spoken
        rows.append(text if line.speaker in ("", speaker) else f"{line.speaker}: {text.strip()}")
        speaker = line.speaker
    return "\n".join(rows)


# --- by a chat model -------------------------------------------------------------------------

TITLE = "title"
"""Name of the fact that has the title a model wrote for a node, which becomes its label."""

WRITTEN_BY, PROMPT, REPLY, FAULT = "written by", "prompt", "reply", "fault"
"""Names of facts about the origin of a node's text: the model or annotator that wrote it; the hash
of the prompt; the raw reply; why the reply was not used."""

OF_MODEL = (WRITTEN_BY, PROMPT, REPLY, FAULT)
_RAW = 4_000  # characters kept of a reply
_TITLE_LINE = re.compile(r"\W*title\W*[:：]\s*([^\n]*)(?:\n+|$)", re.I)
_TITLE_LENGTH = 60  # characters of a title; five words are seldom longer
_TITLE_WORDS = 12  # a longer line is no title


@dataclass(frozen=True)
class Annotation:
    """Text of a node as an annotator gives it.

    Attributes:
        text: the text.
        facts: its title and origin; the node that gets the text stores them among its facts.
        transcript: the texts of the leaves below, if they matter to the annotator; else "".
        days: the first and the last day of the sessions it is about; () if unknown.
        height: how many texts were written one from another up to it; 0 for a leaf's text.
        place: the text by which new units are placed, as long as those of lower nodes; "" for
            ``text`` itself. Texts can so grow without a change of the tree.
    """

    text: str
    facts: Mapping[str, str] = field(default_factory=dict)
    transcript: str = ""
    days: tuple[date, ...] = ()
    height: int = 0
    place: str = ""

    def over(self, children: Sequence[Annotation]) -> Annotation:
        """Returns this text as that of a node with these children: with their days and height."""
        days = between(day for child in children for day in child.days)
        height = max((child.height for child in children), default=0) + (len(children) > 1)
        return replace(self, days=days, height=height)


def between(days: Iterable[date]) -> tuple[date, ...]:
    """Returns the first and the last of days, one if they are equal; () without a day."""
    known = sorted(set(days))
    return (known[0], known[-1]) if len(known) > 1 else tuple(known)


def titled(reply: str) -> tuple[str, str]:
    """Splits a model's reply into summary and title.

    The title is "" if the reply does not begin with a ``Title:`` line of at most 12 words.
    """
    head = _TITLE_LINE.match(reply)
    words = head.group(1).strip(" \"'“”*.").split() if head else []
    title = clipped(" ".join(words), _TITLE_LENGTH) if len(words) <= _TITLE_WORDS else ""
    return (reply[head.end() :] if head else reply).strip(), title


@dataclass(frozen=True)
class Summary(Declared):
    """Summary of the child annotations in order, written by a chat model.

    Source: SegTreeMem Algorithm 1, line 21, and App. G (the wording is ours). Departs
    from the source: a single child's text passes through without a call; if the reply fails its
    checks (``segviz.llm.checks``) three times, or the user let the prompt go unanswered, an
    offline text (``extractive``) of the same length replaces it; the same reply gives the node a
    title of up to five words.
    """

    name: ClassVar[str] = "llm"
    needs_chat: ClassVar[bool] = True

    max_words: int = param(
        80,
        "Length asked for, in words.",
        (10, 400),
        source="SegTreeMem App. G without a length; 80 is ours",
    )
    chat: Chat | None = field(default=None, compare=False, repr=False)

    def prepare(self, services: Services) -> Summary:
        """Returns a copy of the annotator that uses the build's chat model."""
        return replace(self, chat=require_chat(services, "llm annotation"))

    def __call__(self, texts: Sequence[str]) -> str:
        """Returns the summary of ``texts`` (chronological); a single text passes through."""
        return self.many([[Annotation(text) for text in texts]])[0].text

    def many(self, groups: Sequence[Sequence[Annotation]]) -> list[Annotation]:
        """Returns one summary per group; independent groups are requested at the same time."""
        if self.chat is None:
            raise ValueError("llm annotation has no chat model; build with chat=…")
        asked = {i: [child.text for child in g] for i, g in enumerate(groups) if len(g) > 1}
        prompts = [
            self.prompt(texts, [child.days for child in groups[i]]) for i, texts in asked.items()
        ]
        replies = zip(asked.items(), prompts, self.chat.replies(prompts), strict=True)
        written = {i: self._written(texts, prompt, reply) for (i, texts), prompt, reply in replies}
        return [written.get(i, group[0]) for i, group in enumerate(groups)]

    def prompt(self, texts: Sequence[str], days: Sequence[Sequence[date]] = ()) -> Prompt:
        """Returns the prompt for a summary of ``texts``, before it is cut to the model's limit.

        ``days`` has for each text the days of its sessions, none if unknown.
        """
        return annotation_prompt(texts, self.max_words, days)

    def _written(self, texts: Sequence[str], prompt: Prompt, reply: Reply) -> Annotation:
        """Returns the model's summary, or an extract in its place, with facts about its origin."""
        instead = reply.refused
        if self.chat is not None:
            self.chat.count_made(text=True, by_model=not instead)
        known = {
            WRITTEN_BY: reply.model,
            PROMPT: digest({prompt.system: prompt.user}),
            REPLY: clipped(reply.raw, _RAW),
            FAULT: instead,
        }
        if instead:
            offline = Extractive(max_words=self.max_words)
            known[WRITTEN_BY] = offline.name
            return Annotation(offline(texts), {TITLE: "", **known})
        text, title = titled(reply.text)
        return Annotation(text, {TITLE: title, **known})


# --- by the data set -------------------------------------------------------------------------


@dataclass(frozen=True)
class SessionSummaries(Extractive):
    """Annotates a node that covers exactly one session with the data set's summary of it.

    All other nodes have an extract, as by ``extractive``. So the summaries of a LoCoMo file
    (``session_summary``) can be compared with the texts that segviz writes. The fact "written by"
    of a node says which of the two its text is. To make every session a node of level 1, set
    ``level_1`` -2 and ``session_break`` 4 of the compatibility model ``calibrated``.

    Source: LoCoMo (Maharana et al. 2024), whose summaries are written by a language model.
    """

    name: ClassVar[str] = "session-summaries"

    summaries: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def prepare(self, services: Services) -> SessionSummaries:
        """Returns a copy that knows the summary of each session by its transcript.

        Raises:
            HandoverError: the conversation has no summaries.
        """
        sessions = services.conversation.sessions if services.conversation else ()
        summaries = {
            "\n".join(turn.spoken for turn in session.turns if turn.content): session.summary
            for session in sessions
            if session.summary
        }
        if not summaries:
            raise HandoverError(
                "This conversation has no summaries of its sessions; expected LoCoMo's "
                "'session_summary'. Annotate with 'extractive' instead."
            )
        return replace(self, summaries=summaries)

    def _annotated(self, group: Sequence[Annotation]) -> Annotation:
        """Returns the data set's summary if a group is exactly a session, else an extract."""
        # A leaf's text is its own transcript; any other text of this build carries one.
        transcript = "\n".join(child.transcript or child.text for child in group)
        summary = self.summaries.get(transcript)
        by = "the data set (session_summary)" if summary else Extractive.name
        text = summary or super()._annotated(group).text
        # A transcript longer than that of any session is cut, since it can no longer equal one.
        longest = max(map(len, self.summaries), default=0)
        return Annotation(text, {WRITTEN_BY: by}, transcript[: longest + 1])


ANNOTATORS: dict[str, Callable[..., Any]] = {
    "extractive": Extractive,
    "llm": Summary,
    "session-summaries": SessionSummaries,
}
"""Name to frozen dataclass; adding a row is all it takes."""
