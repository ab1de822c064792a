"""Measures rankings of many questions about one structure at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Question
from segviz.evaluation.measures import BUDGETS, MEASURES, TOKENS, UNITS, within
from segviz.memory import Memory
from segviz.retrieval import (
    RetrievalSettings,
    check_count,
    cut,
    distinct,
    estimated_tokens,
    expanded,
    initial_scores,
)
from segviz.retrieval.gold import gold_leaves
from segviz.text.answers import Part, parts_given, stated, stated_words
from segviz.text.words import QUOTED, all_tokens, content_tokens, count_words, quotes
from segviz.tree import Structure
from segviz.tree.structure import reachable
from segviz.waiting import check_cancelled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


SPLITTERS = all_tokens, content_tokens, stated_words
"""Functions that return the words of a text: all, those that count, and those that it states."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of what is read of a ranking: the retrieval settings, and those of two measures.

    ``units`` are read for the measure ``reached``, ``tokens`` for ``answer_words``.
    """

    settings: RetrievalSettings = RetrievalSettings()
    units: int = UNITS
    tokens: int = TOKENS

    def __post_init__(self) -> None:
        check_count("units", self.units)
        check_count("tokens", self.tokens)


@dataclass(frozen=True, eq=False)
class _Read:
    """Read part of q rankings.

    Attributes:
        nodes: nodes whose whole texts are read, best first, padded, int64 (q, m).
        cut: row of a ranking to the node after these whose text is cut, and the part that is read.
    """

    nodes: Ints
    cut: Mapping[int, tuple[int, str]]


@dataclass(frozen=True, eq=False)
class _Targets:
    """Targets looked for in the texts of n nodes: f words or turns, each of one question.

    Attributes:
        question: row of the target's question, int64 (f,).
        words: content words of each target, of which a text must have the share ``least``.
        present: True if the node's text has the target, bool (f, n + 1).
        absent: probability that the text of a random leaf lacks the target, float64 (f,).
        size: length of each node's text / mean length of a leaf, float64 (n + 1,). The last column
            is padding, here and in ``present``.
        mean: mean length of a leaf in words.
    """

    question: Ints
    words: tuple[frozenset[str], ...]
    least: float
    present: Bools
    absent: Floats
    size: Floats
    mean: float

    def shares(self, read: _Read) -> tuple[Floats, Floats]:
        """Returns the share of each question's targets that its read nodes have, and a baseline.

        The baseline is the share expected of random leaves of the same total length: of W / L̄
        leaves, drawn with replacement, if the read texts have W words and a leaf has L̄ on average.
        A target that the share p of the leaves has is among them with probability
        1 − (1 − p) ** (W / L̄).

        Args:
            read: what is read for each question.

        Returns:
            Two arrays float64 (q,), NaN for a question without targets.
        """
        sizes = self.size[read.nodes].sum(axis=1)
        for row, (_, text) in read.cut.items():
            sizes[row] += count_words(text) / self.mean
        chance = 1 - self.absent ** sizes[self.question]
        return self.share(read), self._per_question(chance, len(read.nodes))

    def share(self, read: _Read) -> Floats:
        """Returns the share of each question's targets that its read nodes have, float64 (q,)."""
        targets, nodes = np.arange(len(self.question)), read.nodes[self.question]
        present = np.asarray(self.present[targets[:, None], nodes].any(axis=1))
        # Of a text that is cut only the words at its beginning are read.
        ends = np.full(len(read.nodes), self.present.shape[1] - 1)
        for row, (node, _) in read.cut.items():
            ends[row] = node
        unsure = ~present & self.present[targets, ends[self.question]]
        for target in np.flatnonzero(unsure).tolist():
            _, text = read.cut[int(self.question[target])]
            wanted = self.words[target]
            shared = len(wanted & all_tokens(text))
            present[target] = shared >= self.least * len(wanted) - 1e-9
        return self._per_question(present, len(read.nodes))

    def _per_question(self, values: NDArray[Any], count: int) -> Floats:
        """Returns the mean of the targets' values over each of ``count`` questions, (count,)."""
        whole = np.bincount(self.question, minlength=count)
        summed = np.bincount(self.question, weights=values, minlength=count)
        return np.asarray(summed / np.where(whole > 0, whole, np.nan))


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
        asked: Mapping[int, Question],
        whole: Structure,
        step: int | None,
        limits: Limits,
        splitters: Sequence[Callable[[str], frozenset[str]]] = SPLITTERS,
    ) -> None:
        check_cancelled()
        self.places, self.questions = tuple(asked), [*asked.values()]
        self.whole, self.step = whole, step
        self.structure = whole if limits.settings.literal else whole.collapsed
        self._limits, self._settings = limits, limits.settings
        self._scores: dict[str, Floats] = {}
        words, content, states = splitters
        self._describe_nodes()
        self._locate_gold(memory)
        self._look_for_words(words, content)
        self._look_for_answers(states)

    def _describe_nodes(self) -> None:
        """Sets which nodes can be retrieved, their levels, and the lengths of their texts."""
        structure = self.structure
        self._nodes = np.flatnonzero(structure.retrievable)
        self._level = np.append(np.where(structure.retrievable, structure.level, -1), -1)
        # Where raw units are ghosts, the memories made from them count as leaves.
        from_ghost = structure.ghost[structure.edges[:, 1]]
        made = np.isin(np.arange(len(self._level)), structure.edges[from_ghost, 0])
        self._leaf: Bools = (self._level == 0) | made
        self._narrow: Bools = np.append(structure.stop - structure.start == 1, False) | self._leaf
        self._lengths = np.array([*map(count_words, structure.text), 0])
        self._tokens = np.array([*map(estimated_tokens, structure.text), 0])
        self._covered: Callable[[int], tuple[int, ...]] = cache(structure.coverage)

    def _locate_gold(self, memory: Memory) -> None:
        """Sets the gold turns of the questions, and the units and nodes that have them."""
        structure, n = self.structure, len(self.structure)
        known = {turn.id for turn in memory.conversation.turns}
        self._pairs = [
            (row, turn)
            for row, question in enumerate(self.questions)
            for turn in dict.fromkeys(question.evidence)
            if turn in known
        ]
        self._gold_turns = np.array([row for row, _ in self._pairs], dtype=np.int64)
        self.counted: Bools = np.bincount(self._gold_turns, minlength=len(self.questions)) > 0
        # The units with a leaf: those where more leaves have begun than ended.
        leaves, ends = np.asarray(structure.leaves, dtype=np.int64), len(memory.units) + 1
        begun = np.bincount(structure.start[leaves], minlength=ends)
        ended = np.bincount(structure.stop[leaves], minlength=ends)
        self._present = int(np.count_nonzero(np.cumsum(begun - ended)))
        # Each gold turn's units, and the leaves or stored texts made from them.
        units_of: dict[str, set[int]] = defaultdict(set)
        holders_of: dict[str, set[int]] = defaultdict(set)
        for leaf, unit, turn in gold_leaves(structure, memory.units, {t for _, t in self._pairs}):
            units_of[turn].add(unit)
            holders_of[turn].update(structure.holders(leaf, turn))
        self.gold: Bools = np.zeros((len(self.questions), n + 1), dtype=np.bool_)
        self._gold_units: list[set[int]] = [set() for _ in self.questions]
        # For each gold turn the leaves or memories that have it, and these with all ancestors.
        self._of_leaf: Bools = np.zeros((len(self._pairs), n + 1), dtype=np.bool_)
        self._above: Bools = self._of_leaf.copy()
        for place, (row, turn) in enumerate(self._pairs):
            self._gold_units[row] |= units_of[turn]
            self._of_leaf[place, list(holders_of[turn])] = True
            self._above[place, list(reachable(structure.parents, holders_of[turn]))] = True
            self.gold[row] |= self._of_leaf[place]
        self._gold_texts = [memory.conversation.turn(turn).content for _, turn in self._pairs]

    def _look_for_words(
        self,
        words: Callable[[str], frozenset[str]],
        content: Callable[[str], frozenset[str]],
    ) -> None:
        """Sets which nodes have each word of the gold answers, and which quote each gold turn.

        ``words`` returns all words of a text, ``content`` those that count.
        """
        # An inverted index of the words that are looked for: the nodes whose text has each.
        of_answer = [content(question.answer or "") for question in self.questions]
        of_turn = [content(text) for text in self._gold_texts]
        sought = frozenset[str]().union(*of_answer, *of_turn)
        nodes_with: dict[str, list[int]] = defaultdict(list)
        for node in self._nodes.tolist():
            for word in words(self.structure.text[node]) & sought:
                nodes_with[word].append(node)

        @cache
        def marks_of(word: str) -> Ints:
            marks = np.zeros(len(self.structure) + 1, dtype=np.int64)
            marks[nodes_with.get(word, [])] = 1
            return marks

        # Each content word of a gold answer is a target.
        self._answers = self._targets(
            [
                (row, frozenset([word]), marks_of(word) > 0)
                for row, wanted in enumerate(of_answer)
                for word in sorted(wanted)
            ]
        )
        # Each gold turn is a target; a text has it if it has most of its content words.
        targets, quoting = [], np.zeros(self._above.shape, dtype=np.bool_)
        for place, ((row, _), wanted) in enumerate(zip(self._pairs, of_turn, strict=True)):
            if wanted:
                shared = np.sum([marks_of(word) for word in wanted], axis=0)
                quoting[place] = shared >= QUOTED * len(wanted) - 1e-9
                targets.append((row, wanted, quoting[place]))
        self._quotes = self._targets(targets, QUOTED)
        # A leaf has its own turns; an ancestor has a turn if its text quotes it.
        self._quotes_turn: Bools = self._of_leaf | self._above & quoting

    def _look_for_answers(self, states: Callable[[str], frozenset[str]]) -> None:
        """Sets which nodes have each gold turn: they quote it, or state its part of the answer.

        ``states`` returns the words that a text states.
        """
        # The parts of the answer that each gold turn gives, in the order of the pairs.
        self._given: list[tuple[Part, ...]] = []
        for row, question in enumerate(self.questions):
            mine = [self._gold_texts[place] for place in np.flatnonzero(self._gold_turns == row)]
            self._given += parts_given(question.answer or "", mine)
        self._has_turn: Bools = self._quotes_turn.copy()
        for place, given in enumerate(self._given):
            wider = self._above[place] & ~self._has_turn[place] if given else ()
            for node in np.flatnonzero(wider).tolist():
                self._has_turn[place, node] = stated(states(self.structure.text[node]), given)

    def _targets(
        self, rows: Sequence[tuple[int, frozenset[str], Bools]], least: float = 1.0
    ) -> _Targets:
        """Returns the targets of ``rows``, one for each.

        A row has the row of the target's question, the target's words, of which a text must have
        the share ``least``, and True for each node with it, (n + 1,).
        """
        n = len(self.structure)
        question = np.array([row for row, _, _ in rows], dtype=np.int64)
        present = np.array([marks for *_, marks in rows], dtype=np.bool_).reshape(len(rows), n + 1)
        leaves = np.asarray(self.structure.leaves, dtype=np.int64)
        absent = 1 - present[:, leaves].sum(axis=1) / max(len(leaves), 1)
        # Without any word in the leaves no target can be found, so the length is irrelevant.
        mean = self._lengths[leaves].sum() / max(len(leaves), 1) or 1.0
        words = tuple(words for _, words, _ in rows)
        return _Targets(question, words, least, present, absent, self._lengths / mean, mean)

    def first_scores(self, memory: Memory, relevance: str) -> Floats:
        """Returns the initial scores s⁽⁰⁾, float64 (q, n); ValueError for an unknown relevance.

        The last ones are stored, because settings often differ in their propagation alone.
        """
        if relevance not in self._scores:
            scorer = memory.scorer(relevance, self.structure)
            raw = scorer([question.text for question in self.questions])
            self._scores = {relevance: initial_scores(raw, self.structure.retrievable)}
        return self._scores[relevance]

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
        padded = np.full((len(rankings), width), len(self.structure), dtype=np.int64)
        for row, nodes in zip(padded, rankings, strict=True):
            row[: len(nodes)] = nodes
        return padded

    def admitted(self, ranked: Ints) -> Ints:
        """Returns the rankings without nodes of levels that are not admissible, padded."""
        levels = self._settings.levels
        if levels is None:
            return ranked
        # The admissible nodes come first, in their order; the others become padding.
        out = ~np.isin(self._level[ranked], levels)
        order = np.argsort(out, axis=1, kind="stable")
        return np.take_along_axis(np.where(out, len(self.structure), ranked), order, axis=1)

    def tops(self, ranked: Ints) -> Ints:
        """Returns the part of each ranking that is read: K nodes, or those within the budget."""
        return self._nodes_of(self._top(self._mixed(ranked)))

    def _top(self, mixed: Ints) -> _Read:
        budget = self._settings.budget
        if budget is None:
            return _Read(mixed[:, : self._settings.k], {})
        return self._within(mixed, budget)

    def _nodes_of(self, read: _Read) -> Ints:
        """Returns the nodes that are read wholly or in part, best first, padded."""
        nodes = self._rows(read.nodes)
        for row, (node, _) in read.cut.items():
            nodes[row].append(node)
        return self.ragged(nodes) if read.cut else read.nodes

    def _mixed(self, ranked: Ints) -> Ints:
        """Returns the rankings of what is read: admissible nodes, or leaves in their place.

        Repeated texts are left out if the settings say so.
        """
        every, ranked = ranked, self.admitted(ranked)
        if self._settings.expand is not None:
            count, structure = self._settings.expand, self.structure
            both = zip(self._rows(ranked), self._rows(every), strict=True)
            ranked = self.ragged([[*expanded(row, structure, count, all_)] for row, all_ in both])
        if not self._settings.deduplicate:
            return ranked
        rows = self._rows(ranked)
        return self.ragged([list(distinct(row, self.structure)) for row in rows])

    def _rows(self, ranked: Ints) -> list[list[int]]:
        """Returns rankings without their padding."""
        return [row[row < len(self.structure)].tolist() for row in ranked]

    def _within(self, ranked: Ints, tokens: int) -> _Read:
        """Returns what is read of each ranking within so many ``tokens``, as ``select`` does."""
        nothing = len(self.structure)
        paid = np.cumsum(self._tokens[ranked], axis=1)
        left = tokens - paid + self._tokens[ranked]  # before each text
        whole = (paid <= tokens) & (left > 0)
        nodes = np.where(whole, ranked, nothing)[:, : int(whole.sum(axis=1).max(initial=0))]
        # The next text is cut, unless the budget ends just before it.
        cuts = {
            row: (node, cut(self.structure.text[node], int(left[row, at])))
            for row, at in np.argwhere((paid > tokens) & (left > 0)).tolist()
            if (node := int(ranked[row, at])) != nothing
        }
        return _Read(nodes, cuts)

    def measure(self, ranked: Ints) -> dict[str, Floats]:
        """Returns every measure of rankings ``ranked`` (q, m), float64 (q,), NaN for no value."""
        mixed = self._mixed(ranked)
        top, columns = self._top(mixed), self._of_leaves(ranked)
        columns["in_evidence"] = _in_evidence(self._fates(top))
        for tokens in BUDGETS:
            read = self._within(mixed, tokens)
            fates = self._fates(read)
            columns[within("gold_turns", tokens)] = _ratio(fates[:, :2].sum(axis=1), fates[:, 3])
            columns[within("in_evidence", tokens)] = _in_evidence(fates)
            columns[within("answer_words", tokens)] = self._answers.share(read)
        columns["reached"], units_read = self._reached(mixed)
        columns["reached_lift"] = columns["reached"] - units_read / max(self._present, 1)
        quoted, by_chance = self._quotes.shares(top)
        columns["quoted"], columns["quoted_lift"] = quoted, quoted - by_chance
        words, by_chance = self._answers.shares(self._within(mixed, self._limits.tokens))
        columns["answer_words"], columns["answer_words_lift"] = words, words - by_chance
        columns["words"] = self._lengths[top.nodes].sum(axis=1).astype(np.float64)
        for row, (_, text) in top.cut.items():
            columns["words"][row] += count_words(text)
        for name, measure in MEASURES.items():
            if measure.evidence:
                columns[name][~self.counted] = np.nan
        return {name: columns[name] for name in MEASURES}

    def _of_leaves(self, ranked: Ints) -> dict[str, Floats]:
        """Returns the measures of the ranking of leaves, a column float64 (q,) for each."""
        k = self._settings.k
        # The 1-based rank of each leaf among the leaves; where it is gold, and of the K best.
        leaf = self._leaf[ranked]
        place = np.cumsum(leaf, axis=1)
        hit = self.gold[np.arange(len(ranked))[:, None], ranked] & leaf
        near = hit & (place <= k)
        wanted = self.gold.sum(axis=1)
        first = np.where(hit, place, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(int).max)
        # nDCG: a gold leaf of rank r is worth 1 / log₂(1 + r); ideally they are the first ones.
        worth = np.concatenate([[0.0], 1 / np.log2(np.arange(2, k + 2))])
        gain = worth[np.where(near, place, 0)].sum(axis=1)
        ideal = np.cumsum(worth)
        recall = _ratio(near.sum(axis=1), wanted)
        # Of stored texts recall counts gold turns: one that was never written is missed.
        if self.structure.ghost.any():
            best = np.where(leaf & (place <= k), ranked, len(self.structure))
            turn = np.arange(len(self._gold_turns))[:, None]
            retrieved = self._of_leaf[turn, best[self._gold_turns]].any(axis=1)
            number = np.bincount(self._gold_turns[retrieved], minlength=len(ranked))
            recall = _ratio(number, np.bincount(self._gold_turns, minlength=len(ranked)))
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
        reached, units_read = np.zeros(len(ranked)), np.zeros(len(ranked))
        for i in np.flatnonzero(self.counted).tolist():
            seen: set[int] = set()
            nodes = takewhile(nothing.__ne__, map(int, ranked[i]))
            for unit in chain.from_iterable(map(self._covered, nodes)):  # rarely more than a few
                seen.add(unit)
                if len(seen) == limit:
                    break
            gold = self._gold_units[i]
            units_read[i] = len(seen)
            reached[i] = len(seen & gold) / len(gold) if gold else 0.0
        return reached, units_read

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
        # For each answer word True at the ranked nodes with it, bool (f, m).
        asked, k = self._answers.question, self._settings.k
        present = self._answers.present[np.arange(len(asked))[:, None], ranked[asked]]
        # The rank at which the last word of the answer comes first.
        blocks = np.full(len(ranked), np.nan)
        for row in range(len(ranked)) if present.size else ():
            words = present[asked == row]
            if len(words) and words.any(axis=1).all():
                blocks[row] = 1 + words.argmax(axis=1).max()
        # The tokens of all nodes up to this rank.
        paid = np.cumsum(self._tokens[ranked], axis=1)
        covered = ~np.isnan(blocks)
        complete = np.flatnonzero(covered)
        tokens = np.full(len(ranked), np.nan)
        tokens[complete] = paid[complete, blocks[complete].astype(int) - 1]
        # The number of answer words in each of the K best nodes.
        hits = np.zeros(ranked.shape, dtype=np.int64)
        np.add.at(hits, asked, present)
        top = hits[:, :k]
        read = np.maximum((ranked[:, :k] < len(self.structure)).sum(axis=1), 1)
        shares = {
            "covered": covered.astype(np.float64),
            "1-hit": (top == 1).sum(axis=1) / read,
            "2-hit": (top == 2).sum(axis=1) / read,
            "multi-hit": (top > 2).sum(axis=1) / read,
        }
        for values in shares.values():
            values[np.bincount(asked, minlength=len(ranked)) == 0] = np.nan
        return {"blocks": blocks, "tokens": tokens, **shares}

    def fates(self, ranked: Ints) -> Ints:
        """Counts the gold turns of every question; int64 (q, 4).

        The columns are found, quoted, answered, all; see ``GoldEvidence.fate``.
        """
        return self._fates(self._top(self._mixed(ranked)))

    def _fates(self, read: _Read) -> Ints:
        tops, rows = read.nodes[self._gold_turns], np.arange(len(self._gold_turns))[:, None]
        quoted, narrow = self._quotes_turn[rows, tops], self._narrow[tops]
        found: Bools = np.any(quoted & narrow, axis=1)
        quoting: Bools = np.any(quoted & ~narrow, axis=1)
        answered: Bools = np.any(self._has_turn[rows, tops] & ~quoted, axis=1)
        # Of a text that is cut, what is read must quote the turn or state the answer.
        for place, row in enumerate(self._gold_turns.tolist() if read.cut else ()):
            node, text = read.cut.get(row, (-1, ""))
            has, only_answers = self._still_has(place, node, text)
            if has:
                kind = answered if only_answers else found if self._narrow[node] else quoting
                kind[place] = True
        quoting &= ~found
        answered &= ~found & ~quoting
        parts: tuple[Bools, ...] = (found, quoting, answered, self._gold_turns >= 0)
        count = [np.bincount(self._gold_turns[part], minlength=len(self.counted)) for part in parts]
        return np.stack(count, axis=1)

    def _still_has(self, place: int, node: int, text: str) -> tuple[bool, bool]:
        """Returns whether the beginning ``text`` of a node has a gold turn, and only answers it."""
        if self._quotes_turn[place, node] and quotes(text, self._gold_texts[place]):
            return True, False
        above = self._has_turn[place, node] and not self._of_leaf[place, node]
        return (above and stated(stated_words(text), self._given[place]),) * 2

    def gold_of_cuts(self, ranked: Ints) -> dict[int, tuple[int, tuple[int, ...], tuple[int, ...]]]:
        """Returns the nodes whose texts a token budget cuts, by row of ``ranked`` (q, m).

        With each node are the gold turns that the read part of its text has, quotes or answers,
        numbered as in :meth:`gold_of`, and those of them that it only answers.
        """
        cuts = {}
        for row, (node, text) in self._top(self._mixed(ranked)).cut.items():
            mine = np.flatnonzero(self._gold_turns == row).tolist()
            has = [self._still_has(place, node, text) for place in mine]
            turns = tuple(turn for turn, (still, _) in enumerate(has) if still)
            cuts[row] = (node, turns, tuple(turn for turn in turns if has[turn][1]))
        return cuts

    def gold_of(
        self, row: int, read: Sequence[int]
    ) -> tuple[dict[int, tuple[int, ...]], dict[int, tuple[int, ...]], frozenset[int]]:
        """Returns where the gold turns of the question in ``row`` are, numbered from 0.

        Returns:
            The turns that each of the ``read`` nodes and gold leaves has, quotes or answers,
            without nodes that have none; the turns that it only answers; and the nodes of one
            unit.
        """
        mine = np.flatnonzero(self._gold_turns == row)
        leaves = np.flatnonzero(self._of_leaf[mine].any(axis=0)).tolist()

        def turns_of(has: Bools) -> dict[int, tuple[int, ...]]:
            turns_by_node = {
                node: tuple(np.flatnonzero(has[mine, node]).tolist())
                for node in dict.fromkeys([*read, *leaves])
            }
            return {node: turns for node, turns in turns_by_node.items() if turns}

        by_node, answers = turns_of(self._has_turn), turns_of(self._has_turn & ~self._quotes_turn)
        return by_node, answers, frozenset(node for node in by_node if self._narrow[node])

    def levels(self, ranked: Ints) -> NDArray[np.int64]:
        """Counts the read nodes on each level, summed over the questions, int64 (highest + 1,)."""
        tops = self.tops(ranked)
        nodes = tops[tops < len(self.structure)]
        highest = int(self.structure.level.max(initial=0))
        return np.bincount(self._level[nodes], minlength=highest + 1)


def _in_evidence(fates: Ints) -> Floats:
    """Returns the share of gold turns that are found, quoted or answered, float64 (q,)."""
    return _ratio(fates[:, :3].sum(axis=1), fates[:, 3])


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Returns ``part / whole`` as float64, 0 where ``whole`` is 0."""
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def batches(memory: Memory, questions: Sequence[Question], limits: Limits) -> list[QuestionBatch]:
    """Groups questions by the time at which they are asked.

    The time is the ``step`` of the settings, else the time of the question (``Memory.moment``),
    else the end. Each group has the structure of that time.
    """
    moments: dict[int, dict[int, Question]] = defaultdict(dict)
    chosen = limits.settings.step
    for place, question in enumerate(questions):
        moment = memory.moment(question) if chosen is None else chosen
        moments[len(memory.steps) if moment is None else moment][place] = question
    # The words of a text are split once for all groups.
    split, groups = [cache(split) for split in SPLITTERS], []
    for moment in sorted(moments):
        step = moment if moment < len(memory.steps) else None
        whole = memory.structure if step is None else memory.settled(step)
        groups.append(QuestionBatch(memory, moments[moment], whole, step, limits, split))
    return groups
