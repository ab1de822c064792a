"""Attributes texts of a memory to the turns they came from, if the memory does not name these.

A memory that rewrites messages stores facts without their turns. Each fact is scored against every
turn by relevance, as a question would be. Its session and time, if known, exclude turns. A text of
several clauses may come from several turns, so each clause is scored, too. Texts of a memory are
often in the order of the conversation. If the surest attributions show this order, a turn between
those of the previous and the next sure text scores higher.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import UNIT_RULES, Conversation, StoredText, seconds
from segviz.embedding import Embedder
from segviz.retrieval.relevance import over_active, relevance_model
from segviz.text.words import content_tokens
from segviz.tree import Structure

Floats = NDArray[np.float64]

_RELEVANCE = "contextual:opening=0,asked=0"  # a fact is no question and opens no session
# A run of blanks is tried once, at its start, so that the time grows with the text alone.
_CLAUSE = re.compile(
    r"(?<=[.!?;])\s++|(?<!\s)(?=[^\S\n]*\n)\s++"
    r"|(?:,|(?<![\s,]))\s++(?:and|but|while|then)\s++"
)
_CLAUSE_WORDS = 4  # content words; a shorter clause is joined to its neighbour
_WHOLE = 0.5  # weight of the whole text's score in the score of a clause
_SURE = 0.5  # least confidence of a sure attribution
_PAIRS, _RISING = 8, 0.75  # least pairs of sure texts, and share of pairs in order of time
_TOGETHER, _NUMBERS = 512, 10_000_000  # most texts, and most scores, computed at once


def attribute(
    stored: Sequence[StoredText],
    conversation: Conversation,
    embedder: Embedder,
    *,
    subject: float = 2.0,
    order: float = 2.0,
) -> tuple[StoredText, ...]:
    """Finds the source turns of stored texts that name none.

    The first source is the turn with the highest score, and ``confidence`` is its softmax
    probability. On LoCoMo confidence is close to the share of right attributions. The best turn of
    a clause is a further source if its probability is at least 0.5. Constants were chosen on
    LoCoMo's ``observation``. The benchmark ``attribution`` chooses them on one half of the
    conversations and measures them on the other.

    Args:
        stored: the texts, in the order they were written if that is known; texts with sources are
            returned unchanged.
        conversation: the conversation they were written from.
        embedder: makes vectors for the relevance.
        subject: added to the score of turns whose speaker the text names first, in nats.
        order: added to the score of turns between those of the previous and the next sure text, in
            nats.

    Returns:
        The texts with ``sources`` and ``confidence``; unchanged if the conversation has no turns.

    Source: ours.
    """
    units = conversation.units("turn")
    missing = [place for place, each in enumerate(stored) if not each.sources]
    if not units or not missing:
        return tuple(stored)
    # The relevance scores the nodes of a structure, so each turn becomes a leaf.
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
    times = [unit.time for unit in units]
    result = list(stored)
    # Texts are scored together with their clauses, a bounded number at once.
    some = max(1, min(_TOGETHER, _NUMBERS // len(units)))
    for begin in range(0, len(missing), some):
        places = missing[begin : begin + some]
        asked: list[str] = []
        for place in places:
            asked += (result[place].text, *clauses(result[place].text))
        scores = iter(np.log(np.maximum(scorer(asked), 1e-12)))
        # Log score of every turn, for each text and each of its clauses: relevance, more for the
        # speaker that the text names first, -∞ outside its session and time.
        whole, parts, about = [], [], []
        for place in places:
            text, allowed = result[place].text, _allowed(result[place], session, numbers, times)
            about.append(_subject(text, names))
            whole.append(next(scores) + subject * (speaker == about[-1]) + allowed)
            parts.append(
                [
                    next(scores) + subject * (speaker == _subject(clause, names)) + allowed
                    for clause in clauses(text)
                ]
            )
        # Texts about one speaker have an order of their own.
        for who in dict.fromkeys(about):
            mine = [at for at, each in enumerate(about) if each == who]
            for at, row in zip(mine, _in_order([whole[at] for at in mine], order), strict=True):
                whole[at] = row
        # The best turn of the text is its first source; sure turns of its clauses follow.
        for place, row, of_clauses in zip(places, whole, parts, strict=True):
            first, sure = _best(row)
            sources = {units[first].turn_ids[0]: None}
            for turn, share in (_best(clause + _WHOLE * row) for clause in of_clauses):
                if share >= _SURE:
                    sources[units[turn].turn_ids[0]] = None
            sure = min(round(sure, 4), 0.9999)  # 1 is for sources that were given
            result[place] = replace(result[place], sources=tuple(sources), confidence=sure)
    return tuple(result)


def verbatim(stored: Iterable[StoredText], conversation: Conversation) -> list[tuple[str, ...]]:
    """Returns for each stored text the ids of the turns whose words it repeats, () for none.

    A text is that of a turn (with or without its speaker) or of a unit by any rule, or most of its
    lines are turns. Equal texts are matched in order, each to a turn of its own as long as there is
    one: between the turns of the texts around it if possible. A known session excludes others.
    """
    # The turns that each text may stand for.
    session_of = {turn.id: each.id for each in conversation.sessions for turn in each.turns}
    places = {turn: place for place, turn in enumerate(session_of)}
    may_be: dict[str, list[tuple[str, ...]]] = {}
    for turn in conversation.turns:
        for text in {_blanks(each) for each in (turn.spoken, turn.content, turn.text)} - {""}:
            may_be.setdefault(text, []).append((turn.id,))
    for unit in (unit for rule in UNIT_RULES for unit in conversation.units(rule)):
        known = may_be.setdefault(_blanks(unit.text), [])
        if unit.turn_ids not in known:
            known.append(unit.turn_ids)

    def candidates(text: str, session: str) -> list[tuple[str, ...]]:
        """Returns the turns that a text may stand for; those of its session, if there are any."""
        all_of = may_be.get(_blanks(text), [])
        return [turns for turns in all_of if session_of[turns[0]] == session] or all_of

    # Texts that stand for one thing alone bound those between them.
    items = list(stored)
    options = [candidates(each.text, each.session) for each in items]
    sure = [place for place, each in enumerate(options) if len(each) == 1]
    at = [places[options[place][0][0]] for place in sure]
    taken = {options[place][0] for place in sure}
    result: list[tuple[str, ...]] = []
    for place, several in enumerate(options):
        if len(several) > 1:
            free = [turns for turns in several if turns not in taken] or several
            before, after = bisect_left(sure, place), bisect_right(sure, place)
            low = at[before - 1] if before else -1
            high = at[after] if after < len(sure) else len(places)
            between = [turns for turns in free if low < places[turns[0]] < high]
            several = (between or free)[:1]
            taken.add(several[0])
        if several:
            result.append(several[0])
            continue
        # A piece of a transcript: the turns of its lines, if most of them are turns.
        lines = [line for line in items[place].text.splitlines() if line.strip()]
        turns = [candidates(line, items[place].session) for line in lines]
        single = [each[0][0] for each in turns if len(each) == 1]
        whole = len(lines) > 1 and single and 2 * sum(map(bool, turns)) > len(lines)
        result.append(_run(turns, places, single) if whole else ())
    return result


def _run(
    options: Sequence[Sequence[tuple[str, ...]]], places: Mapping[str, int], sure: Sequence[str]
) -> tuple[str, ...]:
    """Returns a turn for each line with ``options``: the nearest to the ``sure`` turns."""
    middle = sorted(places[turn] for turn in sure)[len(sure) // 2]
    near = (min(each, key=lambda turns: abs(places[turns[0]] - middle)) for each in options if each)
    return tuple(dict.fromkeys(turn for turns in near for turn in turns))


def _blanks(text: str) -> str:
    return " ".join(text.split())


def clauses(text: str) -> list[str]:
    """Returns a text's clauses, each of four or more content words; [] unless there are several."""
    joined: list[str] = []
    for part in filter(str.strip, _CLAUSE.split(text)):
        last = joined[-1] if joined else ""
        if last and min(len(content_tokens(part)), len(content_tokens(last))) < _CLAUSE_WORDS:
            joined[-1] += f" {part}"
        else:
            joined.append(part)
    return joined if len(joined) > 1 else []


def _in_order(rows: list[Floats], gain: float) -> list[Floats]:
    """Adds ``gain`` to the scores of turns between those of the previous and the next sure text.

    ``rows`` has the log scores of every text, in the order of the texts. They are returned
    unchanged unless the sure attributions show that the texts are in the order of time.
    """
    # Neighbouring sure texts whose turns are in order of time show the order of all.
    best = [_best(row) for row in rows]
    sure = [place for place, (_, share) in enumerate(best) if share >= _SURE]
    turns = [best[place][0] for place in sure]
    rising = [before <= after for before, after in pairwise(turns)]
    if len(rising) < _PAIRS or sum(rising) < _RISING * len(rising):
        return rows
    moved = []
    for place, row in enumerate(rows):
        # The turns of the previous and the next sure text bound those of this one.
        at, after = bisect_left(sure, place), bisect_right(sure, place)
        ends = (turns[at - 1] if at else 0, turns[after] if after < len(sure) else len(row) - 1)
        here = row.copy()
        here[min(ends) : max(ends) + 1] += gain
        moved.append(here)
    return moved


def _best(scores: Floats) -> tuple[int, float]:
    """Returns the turn with the highest of a text's log scores, and its softmax probability."""
    best = int(scores.argmax())
    return best, float(1 / np.exp(scores - scores[best]).sum())


def _subject(text: str, names: Mapping[str, str]) -> str:
    """Returns the speaker named first in a text; "" for none. ``names`` maps words to speakers."""
    words = (word.lower() for word in re.findall(r"\w+", text))
    return next((names[word] for word in words if word in names), "")


def _allowed(
    item: StoredText,
    session: NDArray[np.int64],
    numbers: dict[str, int],
    times: Sequence[datetime | None],
) -> Floats:
    """Returns 0 for each turn that a text can come from, -∞ for each other turn.

    A text comes from its own session or, if that is unknown, from a turn before the text was
    written. If this excludes every turn, all turns get 0.
    """
    if item.session in numbers:
        possible = session == numbers[item.session]
    elif item.time is not None:
        written = seconds(item.time)
        possible = np.array([time is None or seconds(time) <= written for time in times])
    else:
        return np.zeros(len(session))
    return np.where(possible | ~possible.any(), 0.0, -np.inf)
