"""Measures rankings of many questions that are asked of one structure at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Question
from segviz.evaluation.measures import MEASURES, TOKENS, UNITS
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings, check_count, estimated_tokens, initial_scores
from segviz.text.words import QUOTED, all_tokens, content_tokens, count_words
from segviz.tree import Structure
from segviz.tree.structure import reachable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Limits:
    """What is read of a ranking: the ``k`` best nodes or, with a ``budget``, what so many tokens
    pay for; ``units`` for ``reached``, ``tokens`` for ``answer_words``."""

    k: int = 10
    budget: int | None = None
    units: int = UNITS
    tokens: int = TOKENS

    def __post_init__(self) -> None:
        for name in ("k", "units", "tokens"):
            check_count(name, getattr(self, name))
        if self.budget is not None:
            check_count("budget", self.budget)


@dataclass(frozen=True, eq=False)
class _Facts:
    """What is looked for in texts: f pairs of a question and a word or turn.

    ``question`` int64 (f,) is the row of each; ``held`` bool (f, n + 1) says which texts
    hold it; ``absent`` float64 (f,) is the chance that a random leaf does not hold it; ``size``
    float64 (n + 1,) is the length of each node in leaves of mean length. The last node is padding.
    """

    question: Ints
    held: Bools
    absent: Floats
    size: Floats

    def found(self, tops: Ints) -> tuple[Floats, Floats]:
        """Returns the share of each question's facts in its ``tops`` (q, m), and the share expected
        of random leaves of the same total length; NaN for a question without facts.

        Leaves of mean length are drawn with replacement, W / L̄ of them for a top of W words and a
        mean leaf of L̄. A fact that the share p of the leaves holds is drawn with the chance
        1 − (1 − p) ** (W / L̄).
        """
        rows = np.arange(len(self.question))[:, None]
        nodes = tops[self.question]
        held = np.asarray(self.held[rows, nodes].any(axis=1))
        chance = 1 - self.absent ** self.size[nodes].sum(axis=1)
        whole = np.bincount(self.question, minlength=len(tops))
        whole = np.where(whole > 0, whole, np.nan)

        def shares(parts: NDArray[Any]) -> Floats:
            summed = np.bincount(self.question, weights=parts, minlength=len(tops))
            return np.asarray(summed / whole)

        return shares(held), shares(chance)


class QuestionBatch:
    """Questions that are asked of one structure, ready to measure any rankings of its nodes.

    ``places`` are the positions of the questions among all that are measured, ``whole`` the
    memory at their moment, ``structure`` the same as it is shown, and ``step`` the moment, None
    for the end. ``counted`` bool (q,): at least one evidence id is a turn of the
    conversation. ``gold`` bool (q, n): the leaves that hold an evidence turn. A counted question
    whose turns no leaf holds (the unit rule dropped them) has none and scores 0 everywhere.
    ``words`` and ``content`` give those of a text. O((q + f) · n) memory for f words and turns that
    are looked for.
    """

    def __init__(
        self,
        memory: Memory,
        questions: Sequence[Question],
        places: Sequence[int],
        whole: Structure,
        structure: Structure,
        step: int | None,
        limits: Limits,
        words: Callable[[str], frozenset[str]] = all_tokens,
        content: Callable[[str], frozenset[str]] = content_tokens,
    ) -> None:
        self.questions, self.places, self.structure = questions, tuple(places), structure
        self.whole, self.step = whole, step
        self._limits = limits
        self._nodes = np.flatnonzero(structure.active)
        n = len(structure)
        self._level = np.append(np.where(structure.active, structure.level, -1), -1)
        lengths = [count_words(text) for text in structure.text]
        tokens = [estimated_tokens(text) for text in structure.text]
        self._lengths, self._tokens = np.array([*lengths, 0]), np.array([*tokens, 0])
        self._covered: Callable[[int], tuple[int, ...]] = cache(structure.coverage)
        self._gold(memory)
        texts: dict[str, list[int]] = defaultdict(list)
        turns = [
            [memory.conversation.turn(turn).content for turn in self._turns(question)]
            for question in questions
        ]
        sought = {word for each in turns for text in each for word in content(text)}
        sought.update(*(content(question.answer or "") for question in questions))
        for node in self._nodes.tolist():
            for word in words(structure.text[node]) & sought:
                texts[word].append(node)

        @cache
        def marks_of(word: str) -> Ints:
            marks = np.zeros(n + 1, dtype=np.int64)
            marks[texts.get(word, [])] = 1
            return marks

        asked = [
            (row, marks_of(word) > 0)
            for row, question in enumerate(questions)
            for word in sorted(content(question.answer or ""))
        ]
        self._answers = self._facts(asked)
        quotes, told = [], np.zeros(self._above.shape, dtype=np.bool_)
        flat = [(row, text) for row, texts_of_it in enumerate(turns) for text in texts_of_it]
        for place, (row, text) in enumerate(flat):
            wanted = content(text)
            if wanted:
                held = sum((marks_of(word) for word in wanted), np.zeros(n + 1, np.int64))
                told[place] = held >= QUOTED * len(wanted) - 1e-9
                quotes.append((row, told[place]))
        self._quotes = self._facts(quotes)
        self._holds: Bools = self._of_leaf | self._above & told

    def _turns(self, question: Question) -> list[str]:
        """The gold turns of a question that the conversation has."""
        return [turn for turn in dict.fromkeys(question.evidence) if turn in self._known]

    def _gold(self, memory: Memory) -> None:
        structure, questions = self.structure, self.questions
        leaves = np.asarray(structure.leaves, dtype=np.int64)
        start, stop = structure.start[leaves], structure.stop[leaves]

        @cache
        def leaves_of(unit: int) -> list[int]:
            found: list[int] = leaves[(start <= unit) & (unit < stop)].tolist()
            return found

        wanted = {turn for question in questions for turn in question.evidence}
        units_of: dict[str, list[int]] = defaultdict(list)
        for unit in memory.units:
            for turn in wanted.intersection(unit.turn_ids):
                if leaves_of(unit.index):
                    units_of[turn].append(unit.index)
        self._known = {turn.id for turn in memory.conversation.turns}
        ends = len(memory.units) + 1
        held = np.bincount(start, minlength=ends) - np.bincount(stop, minlength=ends)
        self._present = int(np.count_nonzero(np.cumsum(held)))
        self.counted: Bools = np.array(
            [not self._known.isdisjoint(q.evidence) for q in questions], dtype=np.bool_
        )
        self.gold: Bools = np.zeros((len(questions), len(structure) + 1), dtype=np.bool_)
        units = []
        for row, question in zip(self.gold, questions, strict=True):
            gold = frozenset(u for turn in question.evidence for u in units_of.get(turn, ()))
            row[[leaf for u in gold for leaf in leaves_of(u)]] = True
            units.append(gold)
        self._gold_units = tuple(units)
        pairs: list[int] = []
        own: list[Bools] = []
        every: list[Bools] = []
        for i, question in enumerate(questions):
            for turn in self._turns(question):
                held_by = {leaf for u in units_of.get(turn, ()) for leaf in leaves_of(u)}
                above = reachable(structure.parents, held_by)
                pairs.append(i)
                for part, nodes in ((own, held_by), (every, above)):
                    part.append(np.isin(np.arange(len(structure) + 1), list(nodes)))
        self._gold_turns = np.array(pairs, dtype=np.int64)
        size = (len(pairs), len(structure) + 1)
        # Of each gold turn the leaves that hold it, and these with all nodes above.
        self._of_leaf: Bools = np.array(own, dtype=np.bool_).reshape(size)
        self._above: Bools = np.array(every, dtype=np.bool_).reshape(size)
        self._narrow: Bools = np.append(structure.stop - structure.start == 1, False)

    def _facts(self, rows: Sequence[tuple[int, Bools]]) -> _Facts:
        """Facts from the question and the nodes (n + 1,) that hold each."""
        n = len(self.structure)
        question = np.array([row for row, _ in rows], dtype=np.int64)
        held = np.array([marks for _, marks in rows], dtype=np.bool_).reshape(len(rows), n + 1)
        leaves = np.asarray(self.structure.leaves, dtype=np.int64)
        absent = 1 - held[:, leaves].sum(axis=1) / max(len(leaves), 1)
        # Where no leaf has a word, none holds a fact, whatever its length.
        mean = self._lengths[leaves].sum() / max(len(leaves), 1) or 1.0
        return _Facts(question, held, absent, self._lengths / mean)

    def first_scores(self, memory: Memory, relevance: str) -> Floats:
        """s⁽⁰⁾ of all questions, float64 (q, n). ValueError for an unknown relevance."""
        scorer = memory.scorer(relevance, self.structure)
        raw = scorer([question.text for question in self.questions])
        return initial_scores(raw, self.structure.active)

    def ranked(self, scores: Floats) -> Ints:
        """The nodes of all levels by ``scores`` (q, n), best first, int64 (q, m); a tie goes to
        the older."""
        worst = -scores[:, self._nodes]
        # Three to eight times as fast as a stable sort; what is equal is then put in order.
        order = np.argsort(worst, axis=1)
        worst.sort(axis=1)
        apart = worst[:, 1:] != worst[:, :-1]
        if not apart.all():
            count = order.shape[1]
            order[:, 1:] += np.cumsum(apart, axis=1) * count
            order.sort(axis=1)
            order %= count
        return np.asarray(self._nodes[order])

    def ragged(self, rankings: Sequence[Sequence[int]]) -> Ints:
        """Rankings of different lengths as one array, filled up with no node."""
        width = max(map(len, rankings), default=0)
        found = np.full((len(rankings), width), len(self.structure), dtype=np.int64)
        for row, nodes in zip(found, rankings, strict=True):
            row[: len(nodes)] = nodes
        return found

    def tops(self, ranked: Ints) -> Ints:
        """What is read of each ranking, int64 (q, width), filled up with no node."""
        budget = self._limits.budget
        return self._within(ranked, budget) if budget is not None else ranked[:, : self._limits.k]

    def _within(self, ranked: Ints, tokens: int) -> Ints:
        """The beginning of each ranking that so many tokens pay for."""
        paid = np.cumsum(self._tokens[ranked], axis=1) <= tokens
        width = int(paid.sum(axis=1).max(initial=0))
        return np.where(paid, ranked, len(self.structure))[:, :width]

    def measure(self, ranked: Ints) -> dict[str, Floats]:
        """Every measure of rankings (q, m) by :meth:`ranked` or :meth:`ragged`, float64 (q,),
        NaN where a question has no value."""
        tops = self.tops(ranked)
        found = self._of_leaves(ranked)
        found["reached"], read = self._reached(ranked)
        found["reached_lift"] = found["reached"] - read / max(self._present, 1)
        quoted, by_chance = self._quotes.found(tops)
        found["quoted"], found["quoted_lift"] = quoted, quoted - by_chance
        words, by_chance = self._answers.found(self._within(ranked, self._limits.tokens))
        found["answer_words"], found["answer_words_lift"] = words, words - by_chance
        found["words"] = self._lengths[tops].sum(axis=1).astype(np.float64)
        for name, measure in MEASURES.items():
            if measure.evidence:
                found[name][~self.counted] = np.nan
        return {name: found[name] for name in MEASURES}

    def _of_leaves(self, ranked: Ints) -> dict[str, Floats]:
        k = self._limits.k
        leaf = self._level[ranked] == 0
        place = np.cumsum(leaf, axis=1)
        rows = np.arange(len(ranked))[:, None]
        hit = self.gold[rows, ranked] & leaf
        near = hit & (place <= k)
        wanted = self.gold.sum(axis=1)
        worth = np.concatenate([[0.0], 1 / np.log2(np.arange(2, k + 2))])
        gain = worth[np.where(near, place, 0)].sum(axis=1)
        ideal = np.cumsum(worth)
        first = np.where(hit, place, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(int).max)
        return {
            "recall": _ratio(near.sum(axis=1), wanted),
            "reciprocal_rank": np.where(hit.any(axis=1), 1.0 / first, 0.0),
            "ndcg": _ratio(gain, ideal[np.minimum(wanted, k)]),
            "short": (leaf.sum(axis=1) < min(k, len(self.structure.leaves))).astype(np.float64),
        }

    def _reached(self, ranked: Ints) -> tuple[Floats, Floats]:
        """Share of the gold units among the first units read, and how many were read."""
        limit, nothing = self._limits.units, len(self.structure)
        reached, read = np.zeros(len(ranked)), np.zeros(len(ranked))
        for i in np.flatnonzero(self.counted).tolist():
            seen: set[int] = set()
            nodes = takewhile(nothing.__ne__, map(int, ranked[i]))
            for unit in chain.from_iterable(map(self._covered, nodes)):  # seldom more than a few
                seen.add(unit)
                if len(seen) == limit:
                    break
            gold = self._gold_units[i]
            read[i] = len(seen)
            reached[i] = len(seen & gold) / len(gold) if gold else 0.0
        return reached, read

    def covering(self, ranked: Ints) -> dict[str, Floats]:
        """What of rankings (q, m) it takes to read every word of the answers, float64 (q,): nodes
        (``blocks``) and their ``tokens``, NaN where no reading of the whole ranking does; and the
        shares of the top's nodes with one answer word, with two and with more (xMemory §5.2)."""
        asked = self._answers.question
        held = self._answers.held[np.arange(len(asked))[:, None], ranked[asked]]
        last = np.full(len(ranked), np.nan)
        for row in range(len(ranked)) if held.size else ():
            words = held[asked == row]
            if len(words) and words.any(axis=1).all():
                last[row] = 1 + words.argmax(axis=1).max()
        paid = np.cumsum(self._tokens[ranked], axis=1)
        found = np.flatnonzero(~np.isnan(last))
        tokens = np.full(len(ranked), np.nan)
        tokens[found] = paid[found, last[found].astype(int) - 1]
        hits = np.zeros(ranked.shape, dtype=np.int64)
        np.add.at(hits, asked, held)
        top = hits[:, : self._limits.k]
        read = np.maximum((ranked[:, : self._limits.k] < len(self.structure)).sum(axis=1), 1)
        shares = {
            "1-hit": (top == 1).sum(axis=1) / read,
            "2-hit": (top == 2).sum(axis=1) / read,
            "multi-hit": (top > 2).sum(axis=1) / read,
        }
        none = np.bincount(asked, minlength=len(ranked)) == 0
        found_all = {"covered": (~np.isnan(last)).astype(np.float64), **shares}
        for values in found_all.values():
            values[none] = np.nan
        return {"blocks": last, "tokens": tokens, **found_all}

    def fates(self, ranked: Ints) -> Ints:
        """What became of the gold turns of every question, int64 (q, 3): found (in a node of one
        unit of the top), covered (wider nodes alone quote it), all; as ``GoldEvidence.fate``."""
        tops, rows = self.tops(ranked)[self._gold_turns], np.arange(len(self._gold_turns))[:, None]
        held = self._holds[rows, tops]
        found: Bools = np.any(held & self._narrow[tops], axis=1)
        parts: tuple[Bools, ...] = (found, held.any(axis=1) & ~found, self._gold_turns >= 0)
        count = [np.bincount(self._gold_turns[part], minlength=len(ranked)) for part in parts]
        return np.stack(count, axis=1)

    def on_gold(self, tops: Ints) -> Ints:
        """In how many of the ``tops`` (q, m) each node holds a gold turn, int64 (n + 1,)."""
        gold = np.zeros((len(tops), self._narrow.size), dtype=np.bool_)
        np.logical_or.at(gold, self._gold_turns, self._holds)
        rows = np.arange(len(tops))[:, None]
        return np.bincount(tops[gold[rows, tops]], minlength=self._narrow.size)

    def levels(self, ranked: Ints) -> NDArray[np.int64]:
        """How many nodes of all tops lie on each level, int64 (highest + 1,)."""
        tops = self.tops(ranked)
        nodes = tops[tops < len(self.structure)]
        highest = int(self.structure.level.max(initial=0))
        return np.bincount(self._level[nodes], minlength=highest + 1)


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """``part / whole`` as float64, 0 where ``whole`` is 0."""
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def batches(
    memory: Memory, questions: Sequence[Question], settings: RetrievalSettings, limits: Limits
) -> list[QuestionBatch]:
    """The questions by the moment they are asked at, in the order of the history, each group
    with the structure of its moment: the settings' ``step``, else the moment the question stands
    at (``Memory.moment``), else the end."""
    moments: dict[int, list[int]] = defaultdict(list)
    for place, question in enumerate(questions):
        moment = memory.moment(question) if settings.step is None else settings.step
        moments[len(memory.steps) if moment is None else moment].append(place)
    split, found = (cache(all_tokens), cache(content_tokens)), []  # each text once
    for moment in sorted(moments):
        step = moment if moment < len(memory.steps) else None
        whole = memory.structure if step is None else memory.settled(step)
        shown = whole if settings.literal else whole.collapsed
        places = moments[moment]
        asked = [questions[place] for place in places]
        found.append(QuestionBatch(memory, asked, places, whole, shown, step, limits, *split))
    return found


def measured_settings(
    settings: RetrievalSettings | None, changes: Mapping[str, Any]
) -> RetrievalSettings:
    """The settings with ``changes``. ValueError for admissible levels, which would change what
    the measures mean."""
    wanted = replace(settings or RetrievalSettings(), **changes)
    if wanted.levels is not None:
        raise ValueError(
            f"levels is {wanted.levels!r}; questions are measured over all levels, so leave it out"
        )
    return wanted
