"""Attributes texts of a memory to the turns they came from, if the memory does not name these.

A memory that rewrites messages stores facts without their turns. Each fact is scored against every
turn by relevance, as a question would be. Its session, if known, excludes turns; its time raises or
lowers their scores. A text of several clauses may come from several turns, so each clause is
scored, too, and a further turn that has most of the words that the others lack is added. Texts of a
memory are often in the order of the conversation. If the surest attributions show this order, a
turn between those of the previous and the next sure text scores higher. A text whose words are in
no turn, such as an invention, gets no source.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import accumulate, pairwise

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
_SURE, _CLEAR = 0.5, 0.8  # least probability of a sure turn, and of one that refutes a time
UNSURE = 0.5
"""Confidence below which an attributed source is as likely wrong as right."""
_NO_SOURCE = 0.3  # confidence below which a text has no source; see the benchmark attribution
_SHARE, _COVER, _BASE = 0.7, 1.5, 1.6  # log odds of a right source: see _confidence
_REST, _OF_REST = 0.35, 0.6  # least share of words that sources lack, and of these in a turn
_HOUR, _DAY = 3600.0, 86400.0
_NEAR, _LATER, _VAGUE = 1.0, -4.0, 0.5  # in nats, see _guide
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

    The first source is the turn with the highest score. ``confidence`` is the probability that it
    is right, from its softmax probability and the share of the text's words that the sources and
    the turns around them have. Below 0.3 the text has no source. The best turn of a clause is a
    further source if its probability is at least 0.5. Constants were chosen on LoCoMo's
    ``observation`` and on facts of other conversations with the names changed. The benchmark
    ``attribution`` chooses on one half of the conversations and measures on the other.

    Args:
        stored: the texts, in the order they were written if that is known; texts with sources are
            returned unchanged.
        conversation: the conversation they were written from.
        embedder: makes vectors for the relevance.
        subject: added to the score of turns whose speaker the text names first, in nats.
        order: added to the score of turns between those of the previous and the next sure text, in
            nats.

    Returns:
        The texts with ``sources``, ``confidence`` and ``contradicted`` (the words are surely of a
        turn that was said after the text was written); unchanged if the conversation has no turns.

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
    words = _Words(texts, names)
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
        # speaker that the text names first, less far from its time, -∞ outside its session.
        whole, parts, about, against = [], [], [], []
        for place in places:
            item, text = result[place], result[place].text
            # The turns of its session are possible, all if it is unknown.
            possible = session == numbers.get(item.session, -1)
            allowed = np.where(possible | ~possible.any(), 0.0, -np.inf)
            guide = np.zeros(len(units)) if allowed.any() else _guide(item, times)
            about.append(_subject(text, names))
            plain = next(scores) + subject * (speaker == about[-1]) + allowed
            by_words, share = _best(plain)
            against.append(bool(share >= _CLEAR and guide[by_words] <= _LATER))
            if against[-1]:
                guide = np.zeros(len(units))  # the words are clear, so the time is wrong
            whole.append(plain + guide)
            allowed = allowed + guide
            parts.append(
                [
                    next(scores) + subject * (speaker == who) + allowed
                    for who in _subjects(text, names)
                ]
            )
        # Texts about one speaker have an order of their own.
        for who in dict.fromkeys(about):
            mine = [at for at, each in enumerate(about) if each == who]
            for at, row in zip(mine, _in_order([whole[at] for at in mine], order), strict=True):
                whole[at] = row
        # The best turn of the text is its first source; sure turns of its clauses follow.
        for place, row, of_clauses, late in zip(places, whole, parts, against, strict=True):
            first, share = _best(row)
            of_text = (_best(clause + _WHOLE * row) for clause in of_clauses)
            chosen = dict.fromkeys([first, *(turn for turn, sure in of_text if sure >= _SURE)])
            asked_words = words.of(result[place].text)
            if (further := words.further(asked_words, chosen, row)) is not None:
                chosen[further] = None
            confidence = _confidence(share, words.covered(asked_words, chosen))
            sources = [units[turn].turn_ids[0] for turn in chosen if confidence >= _NO_SOURCE]
            result[place] = replace(
                result[place], sources=tuple(sources), confidence=confidence, contradicted=late
            )
    return tuple(result)


def _confidence(share: float, covered: float) -> float:
    """Returns the probability that the first source is right, below 1.

    Args:
        share: softmax probability of the first source among all turns.
        covered: share of the text's words that its sources and the turns around them have.
    """
    odds = _SHARE * (math.log(share) - math.log(max(1 - share, 1e-4)))
    odds += _COVER * math.log(max(covered, 0.0) + 0.05) + _BASE
    return min(round(1 / (1 + math.exp(-odds)), 4), 0.9999)  # 1 is for sources that were given


class _Words:
    """Content words of the turns, without the names of speakers, weighted by how rare they are."""

    def __init__(self, turns: Sequence[str], names: Collection[str]) -> None:
        self._of_turn = [content_tokens(text) for text in turns]
        self._names = frozenset(names)
        self._turns_with: dict[str, list[int]] = {}
        for place, words in enumerate(self._of_turn):
            for word in words:
                self._turns_with.setdefault(word, []).append(place)

    def of(self, text: str) -> dict[str, float]:
        """Returns the weight of each content word of a text; the weights sum to 1."""
        rare = {
            word: math.log((len(self._of_turn) + 1) / (len(self._turns_with.get(word, ())) + 0.5))
            for word in sorted(content_tokens(text) - self._names)
        }
        whole = math.fsum(rare.values()) or 1.0
        return {word: weight / whole for word, weight in rare.items()}

    def _lacking(self, words: Mapping[str, float], turns: Iterable[int]) -> dict[str, float]:
        """Returns the words that neither these turns nor those around them have."""
        near = {place for turn in turns for place in (turn - 1, turn, turn + 1)}
        there: set[str] = set()
        for place in near & {*range(len(self._of_turn))}:
            there |= self._of_turn[place]
        return {word: weight for word, weight in words.items() if word not in there}

    def covered(self, words: Mapping[str, float], turns: Iterable[int]) -> float:
        """Returns the weight of the words that these turns and those around them have."""
        return math.fsum(words.values()) - math.fsum(self._lacking(words, turns).values())

    def further(
        self, words: Mapping[str, float], turns: Iterable[int], scores: Floats
    ) -> int | None:
        """Returns a turn with most of the words that ``turns`` lack, None if they lack few.

        Of equal turns it is that with the highest score; turns of score -∞ are left out.
        """
        rest = self._lacking(words, turns)
        whole = math.fsum(rest.values())
        if whole < _REST or len(rest) < 2:
            return None
        gains: dict[int, float] = {}
        for word, weight in rest.items():
            for turn in self._turns_with.get(word, ()):
                if np.isfinite(scores[turn]):
                    gains[turn] = gains.get(turn, 0.0) + weight
        best = max(gains, key=lambda turn: (gains[turn], scores[turn]), default=None)
        return best if best is not None and gains[best] >= _OF_REST * whole else None


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


def _subjects(text: str, names: Mapping[str, str]) -> list[str]:
    """Returns the subject of each clause; without a name it is that of the clause before."""
    own = (_subject(clause, names) for clause in clauses(text))
    subjects = accumulate(own, lambda last, each: each or last, initial=_subject(text, names))
    return [*subjects][1:]


def _guide(item: StoredText, times: Sequence[datetime | None]) -> Floats:
    """Returns how much a text's time raises or lowers the score of each turn, in nats.

    A text is written within a day of its turns, if it is written as the conversation goes on, and
    not before. A date without a clock is a day off, a clock in another zone up to 14 hours. The
    time of an event raises turns of about that time only a little, and lowers none.
    """
    if item.time is None:
        return np.zeros(len(times))
    # Seconds from each turn to the time of the text, and how far that may be off.
    after = np.array([math.nan if t is None else seconds(item.time) - seconds(t) for t in times])
    clock = item.time.tzinfo is not None or any(item.time.timetuple()[3:6])
    zones = {t.tzinfo is None for t in times if t is not None}
    off = _HOUR + 14 * _HOUR * (zones != {item.time.tzinfo is None}) + _DAY * (not clock)
    near = (after >= -off) & (after <= _DAY + off)
    if item.of_event:
        return np.where(near, _VAGUE, 0.0)
    exact = off == _HOUR
    later = np.where(after < -off, _LATER if exact else _LATER / 2, 0.0)
    # A time before or after the whole conversation says nothing of its turns.
    if not near.any():
        return later if (after > 0).any() else np.zeros(len(times))
    return later + np.where(near, _NEAR if exact else _VAGUE, 0.0)
