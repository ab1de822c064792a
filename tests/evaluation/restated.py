"""Every measure restated slowly: explicit chains, a dense matrix, loops over sorted lists."""

import math
from functools import cache

import numpy as np

from segviz.evaluation import MEASURES
from segviz.retrieval import estimated_tokens, initial_scores
from segviz.text import words
from tests.retrieval.test_propagate import literal
from tests.trees import shown_as

all_tokens, content_tokens = cache(words.all_tokens), cache(words.content_tokens)


class Shown:
    """The nodes of a structure one by one, same-text chains as their lowest node."""

    def __init__(self, structure, literally=False):
        chain = list(range(len(structure))) if literally else shown_as(structure)
        self.whole, self.chain = structure, chain
        self.nodes = [n for n in range(len(structure)) if chain[n] == n and structure.active[n]]
        pairs = [(chain[a], chain[b]) for a, b in structure.edges.tolist()]
        self.edges = list(dict.fromkeys((a, b) for a, b in pairs if a != b))

    @cache  # noqa: B019 - kept with the memories of the tests
    def units(self, node):
        """The units below a node, ascending."""
        below, pending = set(), [node]
        while pending:
            here = pending.pop()
            under = [child for parent, child in self.edges if parent == here]
            pending += under
            if self.whole.level[here] == 0:
                below |= set(range(self.whole.start[here], self.whole.stop[here]))
        return sorted(below)

    def propagated(self, initial, policy, alpha, horizon):
        """Equations 3 and 4 with W_P as a dense matrix."""
        if policy == "none":
            return initial
        inorder = sorted(self.nodes, key=lambda n: (self.whole.start[n], n))
        levels = {int(self.whole.level[n]) for n in self.nodes}
        rows = [[n for n in inorder if self.whole.level[n] == level] for level in levels]
        return literal(initial, self.edges, policy, alpha, horizon, rows)


def expected(shown, top, facts):
    """Share of facts (functions of a node) that random leaves of the same length would hold: each
    node of the top counts as so many leaves of mean length."""
    leaves = [n for n in shown.nodes if shown.whole.level[n] == 0]
    size = {n: len(shown.whole.text[n].split()) for n in [*leaves, *top]}
    mean = sum(size[n] for n in leaves) / len(leaves)
    missing = [
        math.prod((1 - sum(map(fact, leaves)) / len(leaves)) ** (size[n] / mean) for n in top)
        for fact in facts
    ]
    return sum(1 - chance for chance in missing) / len(facts)


def rankings(memory, shown, questions, settings, literally=False):
    """For each question, the nodes of all levels, best first."""
    structure = memory.structure if literally else memory.structure.collapsed
    raw = memory.scorer(settings["relevance"], structure)([q.text for q in questions])
    for row in raw:
        initial = initial_scores(row, np.isin(np.arange(len(row)), shown.nodes))
        final = shown.propagated(
            initial, settings["policy"], settings["alpha"], settings["horizon"]
        )
        yield sorted(shown.nodes, key=lambda n: (-final[n], n))


def measured(memory, shown, question, mixed, *, k, budget=None, units=20, tokens=1000):
    """All measures of one ranking of one question; None where there is no value."""
    text = memory.structure.text
    leaves = [n for n in mixed if memory.structure.level[n] == 0]
    turns = {turn.id: turn.content for turn in memory.conversation.turns}
    gold_turns = [t for t in dict.fromkeys(question.evidence) if t in turns]

    def paid(limit):
        taken = []
        for node in mixed:
            if sum(estimated_tokens(text[n]) for n in [*taken, node]) > limit:
                break
            taken.append(node)
        return taken

    top = mixed[:k] if budget is None else paid(budget)
    found = dict.fromkeys(MEASURES)
    found["words"] = sum(len(text[n].split()) for n in top)
    there = sum(memory.structure.level[n] == 0 for n in shown.nodes)
    found["short"] = len(leaves) < min(k, there)
    sought = content_tokens(question.answer or "")
    if sought:
        read = paid(tokens)
        facts = [lambda n, word=word: word in all_tokens(text[n]) for word in sought]
        held = sum(any(fact(n) for n in read) for fact in facts) / len(facts)
        found["answer_words"] = held
        found["answer_words_lift"] = held - expected(shown, read, facts)
    if not gold_turns:
        return found
    of_unit = {u.index: set(u.turn_ids) for u in memory.units}
    gold = [
        n
        for n in shown.nodes
        if memory.structure.level[n] == 0
        and any(of_unit[u] & set(gold_turns) for u in shown.units(n))
    ]
    gold_units = {u for n in gold for u in shown.units(n) if of_unit[u] & set(gold_turns)}
    ranks = [leaves.index(n) + 1 for n in gold if n in leaves]
    gains = sum(1 / math.log2(r + 1) for r in ranks if r <= k)
    ideal = sum(1 / math.log2(r + 1) for r in range(1, min(len(gold), k) + 1))
    found["recall"] = sum(r <= k for r in ranks) / len(gold) if gold else 0
    found["reciprocal_rank"] = 1 / min(ranks) if ranks else 0
    found["ndcg"] = gains / ideal if gold else 0
    read = []
    for node in mixed:
        read += [unit for unit in shown.units(node) if unit not in read]
    read = read[:units]
    found["reached"] = len(set(read) & gold_units) / len(gold_units) if gold else 0
    found["reached_lift"] = found["reached"] - len(read) / there
    quotes = []
    for turn in gold_turns:
        wanted = content_tokens(turns[turn])
        if wanted:
            quotes.append(lambda n, w=wanted: len(w & all_tokens(text[n])) >= 0.6 * len(w) - 1e-9)
    if quotes:
        held = sum(any(quote(n) for n in top) for quote in quotes) / len(quotes)
        found["quoted"], found["quoted_lift"] = held, held - expected(shown, top, quotes)
    return found
