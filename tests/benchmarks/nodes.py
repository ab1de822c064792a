"""Texts of inner nodes: what they say and what it is worth in retrieval.

Run ``python -m tests.benchmarks.nodes`` from the project's root with the data under SEGVIZ_DATA or
../shared/data. *Before* is :class:`ByCounts`, the earlier annotator in its plainest form; *after*
is ``Extractive`` as it is. Everything else is the default: exchange units, the same placement. A
contentless line has fewer than two content words (``segviz.evaluation.node_texts``). Intervals
resample conversations and the questions in them. Nothing is asserted here. ``yardsticks`` measures
labels and texts level by level, ``constants`` chooses the annotator's constants.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Any, ClassVar

import segviz
from segviz.construct.annotate import Extractive
from segviz.construct.parameter import Declared
from segviz.construct.tasks.words import BREAK
from segviz.conversation import Conversation
from segviz.conversation.turns import SPEAKER
from segviz.evaluation import MEASURES, Outcomes, pooled
from segviz.evaluation.node_texts import line_counts
from segviz.memory import Memory
from tests.benchmarks.recall import STILL, Setting, named, outcomes
from tests.benchmarks.report import SETS, interval, number, real_data, table
from tests.memories import sample

_WORD, _NUMBER, _NAME = re.compile(r"\w+"), re.compile(r"\d"), re.compile(r"(?<=[\w,;] )[A-Z]\w+")
_COMMON = frozenset(
    "a about after all also am an and any are as at be been but by can could did do does for from "
    "get go going good got had has have he her him his how i if in is it just know like me more my "
    "no not now of oh on one or our out really see she so some such than that the their them then "
    "there they think this time to too up us very was way we were what when which who will with "
    "would yeah yes you your m s t re ve ll d don im thanks great nice wow image photo".split()
)


@lru_cache(maxsize=4_096)
def _sentences(text: str) -> tuple[tuple[str, frozenset[str], int, int], ...]:
    """Returns sentence, content words, number of facts and length of each sentence of a text."""
    found = []
    for row in text.split("\n"):
        spoken = SPEAKER.match(row)
        prefix, body = (spoken.group(), row[spoken.end() :]) if spoken else ("", row)
        for piece in map(str.strip, BREAK.split(body)):
            said = _WORD.findall(piece)
            facts = len(_NUMBER.findall(piece)[:2]) + len(_NAME.findall(piece)[:2])
            if said:
                words = frozenset(word.lower() for word in said) - _COMMON
                found.append((prefix + piece, words, facts, len(said)))
    return tuple(found)


@dataclass(frozen=True)
class ByCounts(Declared):
    """Quotes the sentences whose words are frequent, by maximal marginal relevance.

    A sentence scores the counts of its words / (words + 1) ** .6, the best as 1, and .15 for each
    name or number. It loses .3 of its largest Jaccard index with a chosen sentence.
    """

    name: ClassVar[str] = "by-counts"

    def __call__(self, texts: Sequence[str]) -> str:
        """Returns at most 80 words of the child texts, one sentence a line."""
        pool = list(dict.fromkeys(each for text in texts for each in _sentences(text)))
        if len(texts) == 1 or not pool:
            return texts[0]
        counts = Counter(word for _, words, _, _ in pool for word in words)
        raw = [sum(counts[w] for w in words) / (len(words) + 1) ** 0.6 for _, words, _, _ in pool]
        top = max(raw) or 1.0
        score = [r / top + 0.15 * each[2] for r, each in zip(raw, pool, strict=True)]
        waiting = sorted(range(len(pool)), key=lambda i: -score[i])[:32]
        alike, chosen, room = dict.fromkeys(waiting, 0.0), list[int](), 80
        while waiting:
            best = max(waiting, key=lambda i: 0.7 * score[i] - 0.3 * alike[i])
            chosen.append(best)
            room -= pool[best][3]
            waiting = [i for i in waiting if i != best and pool[i][3] <= room]
            for i in waiting:
                shared, every = pool[i][1] & pool[best][1], pool[i][1] | pool[best][1]
                alike[i] = max(alike[i], len(shared) / max(len(every), 1))
        return "\n".join(" ".join(pool[i][0].split(" ")[:80]) for i in sorted(chosen))


ANNOTATORS: dict[str, Any] = {"before": ByCounts(), "after": Extractive()}
ONE_LONGMEMEVAL = "longmemeval/s_gpt4_4edbafa2.json"
BOTTOM_UP: Setting = ("bottom-up", 0.1, 2)
ASKED: dict[str, tuple[tuple[str, Setting], ...]] = {
    "LoCoMo": (
        ("dense", STILL),
        ("dense", BOTTOM_UP),
        ("hybrid", STILL),
        ("hybrid", BOTTOM_UP),
        ("contextual", STILL),
    ),
    "LongMemEval-S": (("hybrid", STILL), ("contextual", STILL)),
    "RealMem": (("hybrid", STILL), ("contextual", STILL)),
}
MEASURED = ("reached", "quoted", "answer_words")


@cache
def talks(name: str) -> tuple[Conversation, ...]:
    """Returns the conversations of a data set."""
    return tuple(each for file in SETS[name] for each in segviz.load(real_data(file)))


def built(talk: Conversation, annotate: Any) -> Memory:
    """Returns the memory of a conversation with an annotator."""
    return segviz.build(talk, segviz.SegmentTree(annotate=annotate))


Lines = dict[int, tuple[int, int]]
"""Contentless lines and all lines of levels 1, 2, 3 and, as 4, of all above."""


def lines_of(memory: Memory) -> Lines:
    """Counts the lines of a memory."""
    counts = line_counts(memory.structure, memory.conversation.speakers)
    return added({min(level, 4): pair} for level, pair in counts.items())


def added(parts: Iterable[Lines]) -> Lines:
    """Returns the sums of counts by level."""
    counts: Lines = {}
    for level, more in chain.from_iterable(part.items() for part in parts):
        empty, every = counts.get(level, (0, 0))
        counts[level] = empty + more[0], every + more[1]
    return counts


@cache
def measured(name: str, when: str) -> tuple[dict[str, Lines], dict[tuple[str, Setting], Outcomes]]:
    """Measures a data set before or after: the lines of each conversation, and the outcomes of
    all questions under each setting."""
    lines, parts = dict[str, Lines](), dict[tuple[str, Setting], dict[str, Outcomes]]()
    for talk in talks(name):
        memory = built(talk, ANNOTATORS[when])  # one at a time: a memory keeps all its moments
        lines[talk.id] = lines_of(memory)
        for relevance, setting in ASKED[name] if talk.questions else ():
            found = outcomes(memory, relevance, setting)
            parts.setdefault((relevance, setting), {})[talk.id] = found
    return lines, {how: pooled(those) for how, those in parts.items()}


def contentless() -> None:
    """Prints the share of contentless lines of each conversation and level."""
    (one,) = segviz.load(real_data(ONE_LONGMEMEVAL))
    rows: dict[str, list[Lines]] = {}
    for when, annotate in ANNOTATORS.items():
        found, _ = measured("LoCoMo", when)
        those = {**found, "all of LoCoMo": added(found.values())}
        those[f"LongMemEval-S, {one.id}"] = lines_of(built(one, annotate))
        found, _ = measured("LongMemEval-S", when)
        those["LongMemEval-S, all of the sample"] = added(found.values())
        found, _ = measured("RealMem", when)
        those |= {f"RealMem, {name}": counts for name, counts in found.items()}
        those["bundled sample"] = lines_of(built(sample(), annotate))
        for name, counts in those.items():
            rows.setdefault(name, []).append(counts)
    heads = (">level 1", ">level 2", ">level 3", ">level 4 and above", ">lines before", ">after")
    print("Share of contentless lines in inner nodes, before → after:\n")
    lines = []
    for name, (before, after) in rows.items():
        shares = (f"{_share(before, level)} → {_share(after, level)}" for level in (1, 2, 3, 4))
        totals = (f"{sum(every for _, every in found.values()):,}" for found in (before, after))
        lines.append((name, *shares, *totals))
    print(table(("", *heads), lines))


def _share(counts: Lines, level: int) -> str:
    empty, every = counts.get(level, (0, 0))
    return number(empty / every) if every else "no line"


def compared(before: Outcomes, after: Outcomes) -> list[str]:
    """Returns every measure before and after, with the paired difference and its interval."""
    return [
        f"{number(before.value(each))} → {number(after.value(each))}, "
        f"{interval(after.gain(before, each), True)}"
        for each in MEASURED
    ]


def differences() -> None:
    """Prints the measures before and after, and their paired differences."""
    rows = []
    for name in ASKED:
        (_, before), (_, after) = (measured(name, when) for when in ANNOTATORS)
        for (relevance, setting), found in after.items():
            cells = compared(before[relevance, setting], found)
            rows.append((f"{name}, {named(relevance, setting)}", f"{len(found):,}", *cells))
    print("\nMeasures before → after, and the paired difference with its 95 % interval:\n")
    heads = (f">{MEASURES[each].label}" for each in MEASURED)
    print(table(("data, relevance, policy α/H", ">questions", *heads), rows))


def main() -> None:
    contentless()
    differences()


if __name__ == "__main__":
    main()
