"""Finds prose of a file that was not read, so that nothing is lost without a word.

Every text of the document is compared with what the conversations hold. What is left out on
purpose (messages of systems and tools, reasoning, metadata) does not count.
"""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from segviz.conversation import Conversation
from segviz.loaders.decode import literal
from segviz.loaders.document import Place, spelled
from segviz.loaders.report import Note, Notes, shown
from segviz.loaders.roles import is_speech
from segviz.text.captions import counted, listed, quoted, shorten

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_TOKEN = re.compile(_WIDE.pattern + r"|[^\W_]+")
_AROUND = re.compile(r"<[^<>]*>|(?m:^[^\s:]{1,30}: )")
LEFT = 0.03
"""Least share of a file's prose that is reported, if it is not read."""

ASIDES: dict[str, tuple[str, ...]] = {
    "summaries": tuple(
        "summary summaries sessionsummary eventssession eventsummary summaryspeaker memoryprompt "
        "summarization abstract overview gist shorthand".split()
    ),
    "personas": tuple(
        "persona personas personality initpersonas userprofile userinstructions profile about bio "
        "preference preferences relationship personadescription userpersona".split()
    ),
    "memories": tuple(
        "memory memories extractedmemory memorypoints memoryused memorycontent observation "
        "observations slots facts state speakermemories dialoguegoal storyline plan outline".split()
    ),
    "settings": tuple(
        "system systeminstruction systemprompt instructions settings runsettings config tools "
        "functions metadata extra additionalkwargs responsemetadata usage stat headers".split()
    ),
    "tools": tuple(
        "toolcalls toolcall functioncall tooluseresult toolresult action actions arguments args "
        "modelinputmessages observations".split()
    ),
    "reasoning": tuple("reasoning reasoningcontent thinking thought thoughts".split()),
    "quotes, reactions and media": tuple(
        "quote quotedmessage replyto referencedmessage reactions attachments files media image "
        "photo file thumbnail sticker images imgurl blipcaption query embeds forwardedfrom "
        "parsedata latestmessage words wordsegments rawtext url urls link links "
        "textentities".split()
    ),
    "notes on questions": tuple(
        "rubric evidence explanation messageevidences choices options groundtruth autoevallabel "
        "retrievalresults orderingtested keyfactstested whyunanswerable abstentiontype difficulty "
        "gold source reason incorrectanswers incorrectanswer wronganswers".split()
    ),
    "names": tuple(
        "timeinterval timeback task taskname expectedoutput title topic name displayname model "
        "modelname label description".split()
    ),
}
"""Keys beside a dialogue, by kind, that a loader leaves out on purpose (``document.spelled``)."""

_KNOWN = {key: kind for kind, keys in ASIDES.items() for key in keys}


def note_unread(
    document: object, conversations: Sequence[Conversation], made: Sequence[Note], notes: Notes
) -> None:
    """Adds a note on prose under keys that became no turn, question, caption or stored text.

    The note has up to three ways of keys, the share of the file's prose, and an example.
    ``made`` are the loader's notes, which know the texts of messages it left out and counted.
    """
    read = [*_read_texts(conversations), *getattr(made, "passed", ())]
    known, asides = set(read), Counter[str]()
    texts = list(_texts(document, known, asides))
    unknown = [(way, text) for way, text in texts if text not in known and _is_prose(text)]
    total = sum(len(text) for _, text in texts if _is_prose(text)) if unknown else 0
    if sum(len(text) for _, text in unknown) <= LEFT * total:
        return
    # The others may be parts of a turn, or lines with a name, a mention or markup.
    runs = {run for text in read for run in _runs(text)}
    lost: defaultdict[str, list[str]] = defaultdict(list)
    for way, text in unknown:
        own = _runs(text)
        if sum(run in runs for run in own) < 0.7 * len(own):
            lost[way].append(text)
    # Other notes tell of unusable values. A few texts that recur are names of kinds, not prose.
    noted = Counter(_way(note.place) for note in made if len(note.place) > 1)
    sizes = Counter[str]()
    for way, each in lost.items():
        if len(each) > noted[way] and (len(each) < 4 or len(set(each)) * 4 >= len(each)):
            sizes[way] = sum(map(len, each))
    if sizes.total() <= LEFT * total:
        return
    most = sizes.most_common(3)
    keys = ", ".join(f"{quoted(shorten(way, 60))} ({size / total:.0%})" for way, size in most)
    more = f" and {counted(len(sizes) - 3, 'other key')}" if len(sizes) > 3 else ""
    example = quoted(shorten(" ".join(lost[most[0][0]][0].split()), 60))
    purpose = listed([f"{count:,} {kind}" for kind, count in asides.items()])
    share = f"{sizes.total() / total:.0%} of the prose in the file is not read"
    what = f"{share}: {keys}{more}, such as {example}"
    notes.skipped((), f"{what}; left out on purpose: {purpose}" if asides else what)


def _way(place: Place) -> str:
    """Returns the way of keys to a place, without positions: ``[].output.content``."""
    return shown(tuple(0 if isinstance(step, int) else step for step in place)).replace("[0]", "[]")


def _read_texts(conversations: Iterable[Conversation]) -> Iterator[str]:
    """Yields every text that conversations hold."""
    for each in conversations:
        yield from (each.id, *each.speakers)
        for session in each.sessions:
            yield from (session.id, session.raw_date)
        for turn in each.turns:
            yield from (turn.text, turn.caption or "")
        for one in each.questions:
            yield from (one.text, one.answer or "", one.adversarial or "", str(one.category or ""))
            yield from (*one.evidence, *one.unresolved)
        yield from (fact.text for fact in each.observations)


def _runs(text: str) -> list[int]:
    """Returns a hash of every three successive words; a sign of Chinese or Thai is a word."""
    lines = map(_TOKEN.findall, _AROUND.sub("", html.unescape(text)).casefold().split("\n"))
    return [
        hash(tuple(words[at : at + 3]))
        for words in lines
        for at in range(max(len(words) - 2, words != []))
    ]


def _texts(
    document: object, known: Container[str], asides: Counter[str]
) -> Iterator[tuple[str, str]]:
    """Yields every text of a document with the way of keys to it, ``[].output.content``.

    ``asides`` counts the values that are left out on purpose, by kind.
    """
    stack: list[tuple[str, object]] = [("", document)]
    while stack:
        way, value = stack.pop()
        if isinstance(value, str):
            if value[:1] in "[{" and (inner := literal(value)[0]) is not None:
                stack.append((way, inner))
            else:
                yield way.removeprefix("."), value
        elif isinstance(value, list):
            stack += [(f"{way}[]", each) for each in reversed(value)]
        elif isinstance(value, Mapping) and is_speech(value):
            if str(value.get("question")) in known:  # its answer and gold evidence are read with it
                asides["notes on questions"] += len(value) > 1
                continue
            twice = isinstance(value.get("content"), list)  # Claude repeats its parts as a text
            below: list[tuple[str, object]] = []
            for key, inner in value.items():
                kind = "texts given twice" if twice and key == "text" else _aside(key)
                if not kind:
                    below.append((f"{way}.{key}", inner))
                elif inner:
                    asides[kind] += 1
            stack += below[::-1]


@lru_cache(1_000)  # the rows of a file have few keys
def _aside(key: str) -> str:
    """Returns the kind of ``ASIDES`` of a key without its digits; "" for a key that is read."""
    return _KNOWN.get(re.sub("[0-9]", "", spelled(str(key))), "")


def _is_prose(text: str) -> bool:
    """Returns True for three or more words, mostly letters, or six signs of Chinese or Thai."""
    if len(_WIDE.findall(text[:200])) >= 6:
        return True
    words = text[:400].split()
    letters = sum(map(str.isalpha, text[:400]))
    return len(words) >= 3 and letters >= 0.7 * sum(map(len, words))
