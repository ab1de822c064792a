"""Every measure restated slowly: explicit chains, a dense matrix, loops over sorted lists."""

import math
import re
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


ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
ONES = f"{ONES} fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
MONTHS = "january february march april may june july august september october november december"
NAMES = {word: number for number, word in enumerate(ONES)}
for number, word in enumerate(TENS, start=2):
    NAMES |= {f"{word}-{ONES[one]}": 10 * number + one for one in range(1, 10)}
    NAMES |= {f"{word} {ONES[one]}": 10 * number + one for one in range(1, 10)}
    NAMES[word] = 10 * number
for scale, size in (("hundred", 100), ("thousand", 1000)):
    NAMES |= {f"{word} {scale}": n * size for word, n in [*NAMES.items()] if n < 100}
    NAMES[f"a {scale}"] = size
NAMED = "|".join(sorted(NAMES, key=len, reverse=True))


@cache
def forms(month, day):
    """Patterns of all ways to write a day, the year as a group of its own."""
    name = f"{month}|{month[:3]}" + ("|sept" if month == "september" else "")
    number = MONTHS.split().index(month) + 1
    ordinal = rf"\b0?{day}(?:st|nd|rd|th)?"
    written = (
        rf"{ordinal}(?: of)? (?:{name})\b\.?(?:,? ((?:19|20)\d\d))?",
        rf"\b(?:{name})\b\.? 0?{day}(?:st|nd|rd|th)?\b(?:,? ((?:19|20)\d\d))?",
        rf"\b(\d{{4}})[-/.]0?{number}[-/.]0?{day}\b",
    )
    return tuple(map(re.compile, written))


@cache
def states(text, answer):
    """Whether a text has all content words of an answer, each date and number in any form."""
    text, answer, some = text.lower(), answer.lower(), False
    for month in MONTHS.split():
        for day in range(31, 0, -1):
            for form in forms(month, day):
                while match := form.search(answer):
                    years = {m[1] for f in forms(month, day) for m in f.finditer(text)}
                    if not years or (match[1] and not years & {match[1], None}):
                        return False
                    answer = f"{answer[: match.start()]} {answer[match.end() :]}"
                    some = True
        for form in (rf"\b{month[:3]}\b", *(["\bsept\b"] if month == "september" else [])):
            text, answer = re.sub(form, month, text), re.sub(form, month, answer)
    text, answer = (
        re.sub(rf"\b(?:{NAMED})\b", lambda match: str(NAMES[match[0]]), each)
        for each in (text, answer)
    )
    # A date in digits states its month, too.
    for found in re.finditer(r"\b\d{4}[-/.](\d\d?)[-/.]\d\d?\b", text):
        text += f" {MONTHS.split()[int(found[1]) - 1]}"
    if some:
        answer = " ".join(
            word for word in all_tokens(answer) if word in content_tokens(f"x {word}")
        )
    wanted = content_tokens(answer)
    return wanted <= all_tokens(text) if wanted else some


def parts(answer):
    """The parts of an answer, sign by sign: where a list has a mark between two, a part ends."""
    answer, made, inside = answer.lower(), [""], set()
    for month in MONTHS.split():
        for day in range(31, 0, -1):
            for form in forms(month, day):
                inside |= {at for m in form.finditer(answer) for at in range(*m.span())}
    at = 0
    while at < len(answer):
        here = answer[at:]
        comma = here[0] == "," and not here[1:2].isdecimal()
        word = re.match(r"and\b", here) and not re.search(r"\w$", answer[:at])
        if at not in inside and (comma or here[0] in ";&\n" or word):
            made.append("")
            at += 3 if word else 1
        else:
            made[-1] += here[0]
            at += 1
    dull = words.FUNCTION_WORDS
    several = [part for part in made if all_tokens(part) - dull] or [answer]
    return list(dict.fromkeys(part for part in several if content_tokens(part)))


def gives(answer, turns):
    """For each gold turn the parts that it gives: one that a text above it must state."""
    every = parts(answer)
    first = {part: [t for t, turn in enumerate(turns) if states(turn, part)][:1] for part in every}
    silent = [t for t, turn in enumerate(turns) if not any(states(turn, part) for part in every)]
    given = []
    for t, turn in enumerate(turns):
        mine = [part for part in every if first[part] == [t]]
        if t in silent or not silent:
            mine += [part for part in every if not first[part]]
        given.append(mine or [part for part in every if states(turn, part)] or every)
    return given


def paid(ranked, text, limit):
    """The nodes that are read of a ranking, each with what is read of its text: word by word."""
    taken, left = [], limit
    for node in ranked:
        if left <= 0:
            break
        part = ""
        for piece in re.findall(r"\s*\S+", text[node]):
            if len(part + piece) > 4 * left:
                part = part or piece[: 4 * left]
                break
            part += piece
        taken.append((node, part))
        left -= estimated_tokens(text[node])
    return taken


def fates(memory, shown, question, read, cut):
    """What became of each gold turn under the nodes that are read, in the order of the question."""
    structure, found = memory.structure, []
    contents = {turn.id: turn.content for turn in memory.conversation.turns}
    homes = {t: [u.index for u in memory.units if t in u.turn_ids] for t in contents}
    gold = [turn for turn in dict.fromkeys(question.evidence) if turn in contents]
    given = gives(question.answer or "", [contents[turn] for turn in gold])
    given = dict(zip(gold, given, strict=True))
    for turn in dict.fromkeys(question.evidence):
        if turn not in contents:
            found.append("missed")
            continue
        wanted = content_tokens(contents[turn])
        mine = set()
        for node, text in read:
            if not set(shown.units(node)) & set(homes[turn]):
                continue
            leaf = structure.level[node] == 0
            share = len(wanted & all_tokens(text)) / len(wanted) if wanted else 0
            if (leaf and node not in cut) or share >= 0.6 - 1e-9:
                mine.add("found" if len(shown.units(node)) == 1 else "quoted")
            elif not leaf and given[turn] and all(states(text, part) for part in given[turn]):
                mine.add("answered")
        found.append(next((f for f in ("found", "quoted", "answered") if f in mine), "missed"))
    return found


def expected(shown, top, facts):
    """Share of facts (functions of a text) that random leaves of the same length would hold: each
    text of the top counts as so many leaves of mean length."""
    leaves = [n for n in shown.nodes if shown.whole.level[n] == 0]
    texts = [shown.whole.text[n] for n in leaves]
    mean = sum(len(text.split()) for text in texts) / len(leaves)
    missing = [
        math.prod(
            (1 - sum(map(fact, texts)) / len(leaves)) ** (len(text.split()) / mean)
            for _, text in top
        )
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


def as_leaves(shown, ranked, leaves, count):
    """A ranking with each inner node replaced by the first of ``leaves`` that are below it."""
    if count is None:
        return ranked
    read = []
    for node in ranked:
        units = set(shown.units(node))
        mine = [leaf for leaf in leaves if set(shown.units(leaf)) <= units]
        read += [leaf for leaf in mine[:count] if leaf not in read]
    return read


def measured(memory, shown, question, mixed, *, levels=None, expand=None, **limits):
    """All measures of one ranking of one question; None where there is no value."""
    k, budget = limits["k"], limits.get("budget")
    units, tokens = limits.get("units", 20), limits.get("tokens", 1000)
    text = memory.structure.text
    leaves = [n for n in mixed if memory.structure.level[n] == 0]
    mixed = [n for n in mixed if levels is None or memory.structure.level[n] in levels]
    mixed = as_leaves(shown, mixed, leaves, expand)
    turns = {turn.id: turn.content for turn in memory.conversation.turns}
    gold_turns = [t for t in dict.fromkeys(question.evidence) if t in turns]

    top = [(n, text[n]) for n in mixed[:k]] if budget is None else paid(mixed, text, budget)
    found = dict.fromkeys(MEASURES)
    found["words"] = sum(len(part.split()) for _, part in top)
    there = sum(memory.structure.level[n] == 0 for n in shown.nodes)
    found["short"] = len(leaves) < min(k, there)
    sought = content_tokens(question.answer or "")
    if sought:
        read = paid(mixed, text, tokens)
        facts = [lambda part, word=word: word in all_tokens(part) for word in sought]
        held = sum(any(fact(part) for _, part in read) for fact in facts) / len(facts)
        found["answer_words"] = held
        found["answer_words_lift"] = held - expected(shown, read, facts)
        for limit in (300, 600, 1200):
            pieces = [part for _, part in paid(mixed, text, limit)]
            stood = sum(any(map(fact, pieces)) for fact in facts)
            found[f"answer_words_{limit}"] = stood / len(facts)
    if not gold_turns:
        return found
    reads = {"in_evidence": top}
    for limit in (300, 600, 1200):
        reads[f"in_evidence_{limit}"] = reads[f"gold_turns_{limit}"] = paid(mixed, text, limit)
    for name, read in reads.items():
        good = ("found", "quoted", "answered")[: 2 if name.startswith("gold") else 3]
        cut = {n for n, part in read if part.split() != text[n].split()}
        those = fates(memory, shown, question, read, cut)
        found[name] = sum(fate in good for fate in those) / len(gold_turns)
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
            quotes.append(lambda part, w=wanted: len(w & all_tokens(part)) >= 0.6 * len(w) - 1e-9)
    if quotes:
        held = sum(any(quote(part) for _, part in top) for quote in quotes) / len(quotes)
        found["quoted"], found["quoted_lift"] = held, held - expected(shown, top, quotes)
    return found
