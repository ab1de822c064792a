"""Measures rankings of many questions about one structure at once."""

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
from segviz.retrieval import (
    RetrievalSettings,
    check_count,
    distinct,
    estimated_tokens,
    initial_scores,
)
from segviz.text.words import QUOTED, all_tokens, content_tokens, count_words
from segviz.tree import Structure
from segviz.tree.structure import reachable
from segviz.waiting import check_cancelled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of what is read of a ranking.

    Attributes:
        k: number of nodes.
        budget: number of tokens, which replaces ``k``; None for no budget.
        units: number of units read for the measure ``reached``.
        tokens: number of tokens read for the measure ``answer_words``.
        deduplicate: True to leave out nodes whose text a better one has or quotes.
    """

    k: int = 10
    budget: int | None = None
    units: int = UNITS
    tokens: int = TOKENS
    deduplicate: bool = False

    def __post_init__(self) -> None:
        for name in ("k", "units", "tokens"):
            check_count(name, getattr(self, name))
        if self.budget is not None:
            check_count("budget", self.budget)


@dataclass(frozen=True, eq=False)
class _Facts:
    """Facts that are looked for in the texts of n nodes: f words or turns, each of one question.

    Attributes:
        question: row of the fact's question, int64 (f,).
        held: True if the node's text has the fact, bool (f, n + 1).
        absent: probability that the text of a random leaf lacks the fact, float64 (f,).
        size: length of each node's text / mean length of a leaf, float64 (n + 1,). The last column
            is padding, here and in ``held``.
    """

    question: Ints
    held: Bools
    absent: Floats
    size: Floats

    def found(self, tops: Ints) -> tuple[Floats, Floats]:
        """Returns the share of each question's facts that its read nodes have, and a baseline.

        The baseline is the share expected of random leaves of the same total length: of W / L̄
        leaves, drawn with replacement, if the read texts have W words and a leaf has L̄ on average.
        A fact that the share p of the leaves has is among them with probability
        1 − (1 − p) ** (W / L̄).

        Args:
            tops: read nodes of each question, int64 (q, m).

        Returns:
            Two arrays float64 (q,), NaN for a question without facts.
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
    """Questions about one structure, ready to measure any rankings of its nodes.

    Attributes:
        questions: q questions.
        places: positions of these questions among all measured ones.
        whole: structure of the memory at the time of the questions.
        structure: ``whole`` with chains of one text joined, unless the literal tree is asked; n
            nodes.
        step: number of steps at that time; None for the end of the conversation.
        counted: True if an evidence id of the question is a turn of the conversation, bool (q,).
        gold: True if the node is a leaf with an evidence turn of the question, or a stored text
            written from one, bool (q, n + 1). A counted question whose turns the unit rule dropped
            has no such leaf and scores 0.

    Takes O((q + f) · n) memory for f words and turns that are looked for.
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
        check_cancelled()
        self.questions, self.places, self.structure = questions, tuple(places), structure
        self.whole, self.step = whole, step
        self._limits = limits
        self._nodes = np.flatnonzero(structure.retrievable)
        n = len(structure)
        self._level = np.append(np.where(structure.retrievable, structure.level, -1), -1)
        from_ghost = structure.ghost[structure.edges[:, 1]]
        # Where raw units are ghosts, the memories made from them count as leaves.
        made = np.isin(np.arange(len(structure) + 1), structure.edges[from_ghost, 0])
        self._leaf: Bools = (self._level == 0) | made
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
        quotes, quoting = [], np.zeros(self._above.shape, dtype=np.bool_)
        flat = [(row, text) for row, texts_of_it in enumerate(turns) for text in texts_of_it]
        for place, (row, text) in enumerate(flat):
            wanted = content(text)
            if wanted:
                held = sum((marks_of(word) for word in wanted), np.zeros(n + 1, np.int64))
                quoting[place] = held >= QUOTED * len(wanted) - 1e-9
                quotes.append((row, quoting[place]))
        self._quotes = self._facts(quotes)
        # A leaf has its own turns; an ancestor has a turn only if its text quotes it.
        self._holds: Bools = self._of_leaf | self._above & quoting

    def _turns(self, question: Question) -> list[str]:
        """Returns the evidence ids of a question that are turns of the conversation."""
        return [turn for turn in dict.fromkeys(question.evidence) if turn in self._known]

    def _gold(self, memory: Memory) -> None:
        structure, questions = self.structure, self.questions
        leaves = np.asarray(structure.leaves, dtype=np.int64)
        start, stop = structure.start[leaves], structure.stop[leaves]

        @cache
        def leaves_of(unit: int) -> list[int]:
            found: list[int] = leaves[(start <= unit) & (unit < stop)].tolist()
            return found

        @cache
        def holders_of(unit: int) -> list[int]:
            return [node for leaf in leaves_of(unit) for node in structure.holders(leaf)]

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
            row[[node for u in gold for node in holders_of(u)]] = True
            units.append(gold)
        self._gold_units = tuple(units)
        pairs: list[int] = []
        own: list[Bools] = []
        every: list[Bools] = []
        for i, question in enumerate(questions):
            for turn in self._turns(question):
                held_by = {node for u in units_of.get(turn, ()) for node in holders_of(u)}
                above = reachable(structure.parents, held_by)
                pairs.append(i)
                for part, nodes in ((own, held_by), (every, above)):
                    part.append(np.isin(np.arange(len(structure) + 1), list(nodes)))
        self._gold_turns = np.array(pairs, dtype=np.int64)
        size = (len(pairs), len(structure) + 1)
        # For each gold turn the leaves or memories that have it, and these with all ancestors.
        self._of_leaf: Bools = np.array(own, dtype=np.bool_).reshape(size)
        self._above: Bools = np.array(every, dtype=np.bool_).reshape(size)
        self._narrow: Bools = np.append(structure.stop - structure.start == 1, False) | self._leaf

    def _facts(self, rows: Sequence[tuple[int, Bools]]) -> _Facts:
        """Returns the facts of ``rows``, one for each pair.

        A pair has the row of the fact's question, and True for each node with the fact, (n + 1,).
        """
        n = len(self.structure)
        question = np.array([row for row, _ in rows], dtype=np.int64)
        held = np.array([marks for _, marks in rows], dtype=np.bool_).reshape(len(rows), n + 1)
        leaves = np.asarray(self.structure.leaves, dtype=np.int64)
        absent = 1 - held[:, leaves].sum(axis=1) / max(len(leaves), 1)
        # Without any word in the leaves no fact can be found, so the length is irrelevant.
        mean = self._lengths[leaves].sum() / max(len(leaves), 1) or 1.0
        return _Facts(question, held, absent, self._lengths / mean)

    def first_scores(self, memory: Memory, relevance: str) -> Floats:
        """Returns the initial scores s⁽⁰⁾, float64 (q, n); ValueError for an unknown relevance."""
        scorer = memory.scorer(relevance, self.structure)
        raw = scorer([question.text for question in self.questions])
        return initial_scores(raw, self.structure.retrievable)

    def ranked(self, scores: Floats) -> Ints:
        """Ranks the nodes of all levels by ``scores`` (q, n); returns ids int64 (q, m), best first.

        Of nodes with equal scores the older comes first.
        """
        worst = -scores[:, self._nodes]
        # Three to eight times as fast as a stable sort. Runs of equal scores are sorted by id
        # below: adding the run's number · count makes one plain sort keep the runs in order.
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
        """Returns rankings of different lengths as one array, padded at the end."""
        width = max(map(len, rankings), default=0)
        found = np.full((len(rankings), width), len(self.structure), dtype=np.int64)
        for row, nodes in zip(found, rankings, strict=True):
            row[: len(nodes)] = nodes
        return found

    def tops(self, ranked: Ints) -> Ints:
        """Returns the part of each ranking that is read: K nodes, or those within the budget."""
        budget, ranked = self._limits.budget, self._mixed(ranked)
        return self._within(ranked, budget) if budget is not None else ranked[:, : self._limits.k]

    def _mixed(self, ranked: Ints) -> Ints:
        """Returns the rankings without repeated texts, if these are to be left out."""
        if not self._limits.deduplicate:
            return ranked
        rows = (row[row < len(self.structure)].tolist() for row in ranked)
        return self.ragged([list(distinct(row, self.structure)) for row in rows])

    def _within(self, ranked: Ints, tokens: int) -> Ints:
        """Returns the longest beginning of each ranking with at most so many ``tokens``, padded."""
        paid = np.cumsum(self._tokens[ranked], axis=1) <= tokens
        width = int(paid.sum(axis=1).max(initial=0))
        return np.where(paid, ranked, len(self.structure))[:, :width]

    def measure(self, ranked: Ints) -> dict[str, Floats]:
        """Returns every measure of rankings ``ranked`` (q, m), float64 (q,), NaN for no value."""
        tops = self.tops(ranked)
        found = self._of_leaves(ranked)
        mixed = self._mixed(ranked)
        found["reached"], read = self._reached(mixed)
        found["reached_lift"] = found["reached"] - read / max(self._present, 1)
        quoted, by_chance = self._quotes.found(tops)
        found["quoted"], found["quoted_lift"] = quoted, quoted - by_chance
        words, by_chance = self._answers.found(self._within(mixed, self._limits.tokens))
        found["answer_words"], found["answer_words_lift"] = words, words - by_chance
        found["words"] = self._lengths[tops].sum(axis=1).astype(np.float64)
        for name, measure in MEASURES.items():
            if measure.evidence:
                found[name][~self.counted] = np.nan
        return {name: found[name] for name in MEASURES}

    def _of_leaves(self, ranked: Ints) -> dict[str, Floats]:
        k = self._limits.k
        leaf = self._leaf[ranked]
        place = np.cumsum(leaf, axis=1)
        rows = np.arange(len(ranked))[:, None]
        hit = self.gold[rows, ranked] & leaf
        near = hit & (place <= k)
        wanted = self.gold.sum(axis=1)
        worth = np.concatenate([[0.0], 1 / np.log2(np.arange(2, k + 2))])
        gain = worth[np.where(near, place, 0)].sum(axis=1)
        ideal = np.cumsum(worth)
        first = np.where(hit, place, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(int).max)
        recall = _ratio(near.sum(axis=1), wanted)
        if self.structure.ghost.any():  # what was never written has no leaf, and is missed
            best = np.where(leaf & (place <= k), ranked, len(self.structure))
            turn = np.arange(len(self._gold_turns))[:, None]
            found = self._of_leaf[turn, best[self._gold_turns]].any(axis=1)
            kept = np.bincount(self._gold_turns[found], minlength=len(ranked))
            recall = _ratio(kept, np.bincount(self._gold_turns, minlength=len(ranked)))
        return {
            "recall": recall,
            "reciprocal_rank": np.where(hit.any(axis=1), 1.0 / first, 0.0),
            "ndcg": _ratio(gain, ideal[np.minimum(wanted, k)]),
            "short": (leaf.sum(axis=1) < min(k, len(self.structure.leaves))).astype(np.float64),
        }

    def _reached(self, ranked: Ints) -> tuple[Floats, Floats]:
        """Returns for each question the share of its gold units among the first units read.

        Also returns the number of units read.
        """
        limit, nothing = self._limits.units, len(self.structure)
        reached, read = np.zeros(len(ranked)), np.zeros(len(ranked))
        for i in np.flatnonzero(self.counted).tolist():
            seen: set[int] = set()
            nodes = takewhile(nothing.__ne__, map(int, ranked[i]))
            for unit in chain.from_iterable(map(self._covered, nodes)):  # rarely more than a few
                seen.add(unit)
                if len(seen) == limit:
                    break
            gold = self._gold_units[i]
            read[i] = len(seen)
            reached[i] = len(seen & gold) / len(gold) if gold else 0.0
        return reached, read

    def covering(self, ranked: Ints) -> dict[str, Floats]:
        """Returns the reading needed to cover all answer words, and the density of these words.

        Args:
            ranked: rankings, int64 (q, m).

        Returns:
            Columns float64 (q,): ``blocks`` and ``tokens``, the number of best nodes that together
            have all answer words, and their tokens (NaN if the whole ranking lacks a word);
            ``covered``, 1 if they have all; ``1-hit``, ``2-hit`` and ``multi-hit``, the shares of
            the K best nodes with one answer word, two, and more. Source: xMemory §5.2.
        """
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
        """Counts the gold turns of every question: found, covered, all; int64 (q, 3).

        A turn is found if a read node of one unit has it. It is covered if only wider read nodes
        quote it, as in ``GoldEvidence.fate``.
        """
        tops, rows = self.tops(ranked)[self._gold_turns], np.arange(len(self._gold_turns))[:, None]
        held = self._holds[rows, tops]
        found: Bools = np.any(held & self._narrow[tops], axis=1)
        parts: tuple[Bools, ...] = (found, held.any(axis=1) & ~found, self._gold_turns >= 0)
        count = [np.bincount(self._gold_turns[part], minlength=len(ranked)) for part in parts]
        return np.stack(count, axis=1)

    def held(
        self, row: int, read: Sequence[int]
    ) -> tuple[dict[int, tuple[int, ...]], frozenset[int]]:
        """Returns where the gold turns of the question in ``row`` are, numbered from 0.

        Returns:
            The turns that each of the ``read`` nodes and gold leaves has or quotes, without nodes
            that have none; and those of these nodes that have turns themselves.
        """
        mine = np.flatnonzero(self._gold_turns == row)
        leaves = np.flatnonzero(self._of_leaf[mine].any(axis=0)).tolist()
        held = {
            node: tuple(np.flatnonzero(self._holds[mine, node]).tolist())
            for node in dict.fromkeys([*read, *leaves])
        }
        held = {node: turns for node, turns in held.items() if turns}
        return held, frozenset(node for node in held if self._narrow[node])

    def levels(self, ranked: Ints) -> NDArray[np.int64]:
        """Counts the read nodes on each level, summed over the questions, int64 (highest + 1,)."""
        tops = self.tops(ranked)
        nodes = tops[tops < len(self.structure)]
        highest = int(self.structure.level.max(initial=0))
        return np.bincount(self._level[nodes], minlength=highest + 1)


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Returns ``part / whole`` as float64, 0 where ``whole`` is 0."""
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def batches(
    memory: Memory, questions: Sequence[Question], settings: RetrievalSettings, limits: Limits
) -> list[QuestionBatch]:
    """Groups questions by the time at which they are asked.

    The time is the ``step`` of the settings, else the time of the question (``Memory.moment``),
    else the end. Each group has the structure of that time.
    """
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
    """Returns the settings with ``changes``, checked for measuring.

    ValueError if ``levels`` is set, because measures are defined over nodes of all levels.
    """
    wanted = replace(settings or RetrievalSettings(), **changes)
    if wanted.levels is not None:
        raise ValueError(
            f"levels is {wanted.levels!r}; questions are measured over all levels, so leave it out"
        )
    return wanted
