"""Attributes texts of a memory to the turns they came from, where the memory does not say.

A memory that rewrites what was said keeps facts, not messages. Each text is scored against every
turn by relevance, as a question would be, within its session and before its time where these are
known. A text of several clauses may join several turns, so each clause is scored, too. Where the
sure texts about a speaker follow the conversation, the others are looked for between these.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Conversation, StoredText, seconds
from segviz.embedding import Embedder
from segviz.retrieval.relevance import over_active, relevance_model
from segviz.text.words import content_tokens
from segviz.tree import Structure

Floats = NDArray[np.float64]

_RELEVANCE = "contextual:opening=0,asked=0"  # texts are no questions and open no session
_CLAUSE = re.compile(r"(?<=[.!?;])\s+|,?\s+(?:and|but|while|then)\s+")
_CLAUSE_WORDS = 4  # content words; a shorter clause belongs to the one beside it
_WHOLE = 0.5  # weight of the whole text's score in that of a clause
_SURE = 0.5  # confidence from which a clause adds a source
_PAIRS, _RISING = 8, 0.75  # sure neighbours, and their share in order, that show an order of time
_TOGETHER, _NUMBERS = 512, 10_000_000  # texts scored at once, and scores


def attribute(
    stored: Sequence[StoredText],
    conversation: Conversation,
    embedder: Embedder,
    *,
    subject: float = 2.0,
    order: float = 2.0,
) -> tuple[StoredText, ...]:
    """Finds the sources of texts that name none.

    The first source is the turn of highest score; further ones are those of clauses that are
    surer than 0.5. Its confidence is its share of the scores of all turns, which on LoCoMo is
    close to the share of right ones. Constants were chosen on LoCoMo's ``observation``; the
    benchmark ``attribution`` reports each half of its conversations by those of the other.

    Args:
        stored: texts, in the order they were written where it is known; those with sources
            are returned as they are.
        conversation: the conversation they were written from.
        embedder: makes vectors for the relevance.
        subject: what a turn gains if its speaker is the first that the text names, in nats.
        order: what turns between those of the sure texts before and after gain, in nats.

    Returns:
        The same texts with ``sources`` and ``confidence``; none where there is no turn.

    Source: ours.
    """
    units = conversation.units("turn")
    missing = [place for place, each in enumerate(stored) if not each.sources]
    if not units or not missing:
        return tuple(stored)
    number = np.arange(len(units), dtype=np.int32)
    texts = tuple(unit.text for unit in units)
    turns = Structure(
        number * 0,
        number,
        number + 1,
        texts,
        embedder.embed(texts),
        np.ones(len(units), np.bool_),
        np.zeros((0, 2), np.int32),
    )
    scorer = over_active(relevance_model(_RELEVANCE), turns, embedder, units, conversation.speakers)
    said_by = [conversation.turn(unit.turn_ids[0]).speaker for unit in units]
    names = {word: who for who in dict.fromkeys(said_by) for word in content_tokens(who)}
    speaker = np.array(said_by, dtype=object)
    session = np.array([unit.session for unit in units])
    numbers = {each.id: place for place, each in enumerate(conversation.sessions)}
    starts = [each.start for each in conversation.sessions]
    found = list(stored)
    some = max(1, min(_TOGETHER, _NUMBERS // len(units)))
    for begin in range(0, len(missing), some):
        places = missing[begin : begin + some]
        asked: list[str] = []
        for place in places:
            asked += (found[place].text, *clauses(found[place].text))
        scores = iter(np.log(np.maximum(scorer(asked), 1e-12)))
        whole, parts, about = [], [], []
        for place in places:
            text, allowed = found[place].text, _allowed(found[place], session, numbers, starts)
            about.append(_subject(text, names))
            whole.append(next(scores) + subject * (speaker == about[-1]) + allowed)
            parts.append(
                [
                    next(scores) + subject * (speaker == _subject(clause, names)) + allowed
                    for clause in clauses(text)
                ]
            )
        for who in dict.fromkeys(about):
            mine = [at for at, each in enumerate(about) if each == who]
            for at, row in zip(mine, _in_order([whole[at] for at in mine], order), strict=True):
                whole[at] = row
        for place, row, of_clauses in zip(places, whole, parts, strict=True):
            first, sure = _best(row)
            sources = {units[first].turn_ids[0]: None}
            for turn, share in (_best(clause + _WHOLE * row) for clause in of_clauses):
                if share >= _SURE:
                    sources[units[turn].turn_ids[0]] = None
            sure = min(round(sure, 4), 0.9999)  # 1 is for sources that were given
            found[place] = replace(found[place], sources=tuple(sources), confidence=sure)
    return tuple(found)


def clauses(text: str) -> list[str]:
    """Cuts a text into clauses of at least four content words; none for a text of one clause."""
    found: list[str] = []
    for part in filter(str.strip, _CLAUSE.split(text)):
        if found and min(len(content_tokens(part)), len(content_tokens(found[-1]))) < _CLAUSE_WORDS:
            found[-1] += f" {part}"
        else:
            found.append(part)
    return found if len(found) > 1 else []


def _in_order(rows: list[Floats], gain: float) -> list[Floats]:
    """Prefers turns between those of the sure texts before and after.

    A store that was filled during a conversation is in the order of time. Rows in another order
    stay as they are.
    """
    best = [_best(row) for row in rows]
    sure = [place for place, (_, share) in enumerate(best) if share >= _SURE]
    turns = [best[place][0] for place in sure]
    rising = [before <= after for before, after in pairwise(turns)]
    if len(rising) < _PAIRS or sum(rising) < _RISING * len(rising):
        return rows
    moved = []
    for place, row in enumerate(rows):
        at, after = bisect_left(sure, place), bisect_right(sure, place)
        ends = (turns[at - 1] if at else 0, turns[after] if after < len(sure) else len(row) - 1)
        here = row.copy()
        here[min(ends) : max(ends) + 1] += gain
        moved.append(here)
    return moved


def _best(scores: Floats) -> tuple[int, float]:
    """Returns the turn of highest score and its share of all, the scores being logarithms."""
    best = int(scores.argmax())
    return best, float(1 / np.exp(scores - scores[best]).sum())


def _subject(text: str, names: Mapping[str, str]) -> str:
    """Returns the first speaker that a text names, by the words of ``names``; "" for none."""
    words = (word.lower() for word in re.findall(r"\w+", text))
    return next((names[word] for word in words if word in names), "")


def _allowed(
    item: StoredText,
    session: NDArray[np.int64],
    numbers: dict[str, int],
    starts: Sequence[datetime | None],
) -> Floats:
    """Returns 0 for turns that a text can come from and -∞ for others.

    Others are outside its session or, if that is unknown, in sessions after it was written.
    """
    if item.session in numbers:
        possible = session == numbers[item.session]
    elif item.time is not None:
        written = seconds(item.time)
        early = [start is None or seconds(start) <= written for start in starts]
        possible = np.array(early)[session]
    else:
        return np.zeros(len(session))
    return np.where(possible | ~possible.any(), 0.0, -np.inf)
