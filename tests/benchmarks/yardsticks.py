"""Yardsticks of what inner nodes say, offline: their labels and their texts, level by level.

Run ``python -m tests.benchmarks.yardsticks`` with the data under SEGVIZ_DATA or ../shared/data.
*Before* are memories and labels of commit 408f1c2a, judged by these yardsticks: ``BEFORE`` has how
many cases held, and of how many. What is chosen is chosen on the conversations of ``CHOSEN_ON``. A
chain of nodes with one text is one node on its lowest level, a root counts as its own level.

*events*       LoCoMo's ``event_summary``: the share of events of which a distinctive word stands in
               the label, or in the text, of a node over the event's session
*guess*        the share of labels whose words are nearest, by meaning, to the node they name, among
               five nodes of its level
*recurring*    the share of a label's words that at least two units of the node have
*children*     the share of a node's inner children of which its text has a line
*alone*        the share of lines that cannot stand alone: they open with a pronoun and name nobody
*gold quoted*  the share of gold turns of which the node of level 1 has a line

They reward generic words, so a reader decides; see ``segviz.evaluation.node_texts`` for lines
without content.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

import segviz
from segviz.construct.tasks.words import content, lines, stem, words_of
from segviz.conversation import Conversation
from segviz.embedding import unit_rows
from segviz.memory import Memory
from segviz.text.dates import undated
from segviz.tree import Structure
from tests.benchmarks.report import RESULTS, SETS, number, real_data, table
from tests.memories import sample

CHOSEN_ON = {"conv-26", "conv-30", "conv-43", "Kenta_Tanaka"}
"""Conversations that constants of labels and texts were chosen on, and every second LongMemEval-S
instance."""

BEFORE = RESULTS / "yardsticks.json"
LEVELS = ("level 1", "level 2", "level 3", "root")
_DEPENDENT = re.compile(
    r"(?:it|that|this|these|those|he|she|they|his|her|their|its|him|them)\b", re.IGNORECASE
)
_NAMED = re.compile(r"(?<=[\w,;] )[A-Z]\w+")
_OFTEN = 0.2  # a word in more of the sessions distinguishes no event
_RIVALS = 4  # other nodes of its level that a label could name
_END = 40  # characters at the end of a line that are compared; at its start a name may be cut off

Counts = Mapping[tuple[str, str], list[int]]
"""Cases in which a yardstick holds, and all cases, by yardstick and level."""


def level_of(shown: Structure, node: int) -> str:
    """Returns the level of a node as in ``LEVELS``; higher nodes below the root are on level 3."""
    return LEVELS[min(int(shown.level[node]), 3) - 1] if shown.parents[node] else LEVELS[3]


@cache
def events() -> dict[str, list[tuple[int, str]]]:
    """Returns the events of each LoCoMo conversation, with the number of their session, from 1."""
    result: dict[str, list[tuple[int, str]]] = {}
    for file in SETS["LoCoMo"]:
        for one in json.loads(real_data(file).read_text("utf-8")):
            result[one["sample_id"]] = [
                (int(key.rpartition("_")[2]), event)
                for key, speakers in one["event_summary"].items()
                for who, those in speakers.items()
                if who != "date"
                for event in those
            ]
    return result


def of_events(memory: Memory) -> Iterator[tuple[str, str, bool]]:
    """Yields for each event and level whether a label, and whether a text, names it."""
    talk, shown = memory.conversation, memory.structure.collapsed
    labels = memory.labels(shown)
    silent = content(" ".join(talk.speakers))
    said = [content("\n".join(turn.spoken for turn in one.turns)) for one in talk.sessions]
    numbers = {one.id: place for place, one in enumerate(talk.sessions)}
    inner = [node for node in shown.nodes.tolist() if shown.level[node] > 0]
    stems = {node: (content(labels[node]), content(shown.text[node])) for node in inner}
    over = {n: {memory.units[u].session for u in shown.coverage(n)} for n in inner}
    for which, event in events().get(talk.id, ()):
        place = numbers.get(f"session_{which}")
        if place is None:
            continue
        words = {
            word
            for word in (content(event) - silent) & said[place]
            if sum(word in those for those in said) <= max(1, _OFTEN * len(said))
        }
        if not words:
            continue
        for level in LEVELS:
            those = [n for n in inner if place in over[n] and level_of(shown, n) == level]
            for what, column in (("events in labels", 0), ("events in texts", 1)):
                if those:
                    yield what, level, any(words & stems[node][column] for node in those)


def of_labels(memory: Memory) -> Iterator[tuple[str, str, bool]]:
    """Yields for each label whether it is nearest to its node, and which of its words recur."""
    shown, generator = memory.structure.collapsed, np.random.default_rng(0)
    labels = memory.labels(shown)
    said = [frozenset(map(stem, words_of(unit.text))) for unit in memory.units]
    leaves = np.array([shown.vector[n] for n in shown.leaves])
    rows = leaves - leaves.mean(axis=0)
    levels = defaultdict(list)
    for node in shown.nodes.tolist():
        if shown.level[node] > 0:
            levels[level_of(shown, node)].append(node)
    for level, nodes in levels.items():
        means = {n: rows[list(shown.coverage(n))].mean(axis=0) for n in nodes}
        for node in nodes:
            words = {stem(word) for word in words_of(labels[node])}
            for word in sorted(words):
                count = sum(word in said[unit] for unit in shown.coverage(node))
                yield "recurring words", level, count > 1
            others = [other for other in nodes if other != node]
            if len(others) >= _RIVALS and labels[node]:
                rivals = [node, *generator.choice(others, _RIVALS, replace=False).tolist()]
                (meaning,) = memory.embedder.embed([labels[node].replace(" · ", ", ")])
                near = unit_rows(np.array([means[n] for n in rivals])) @ meaning
                yield "guess", level, bool(near.argmax() == 0)


def of_texts(memory: Memory) -> Iterator[tuple[str, str, bool]]:
    """Yields which children a text has a line of, which lines depend on others, and which gold
    turns are quoted."""
    shown = memory.structure.collapsed
    rows = {n: [row for _, row in lines(undated(shown.text[n]))] for n in shown.nodes.tolist()}
    for node in shown.nodes.tolist():
        if shown.level[node] == 0:
            continue
        level = level_of(shown, node)
        for row in rows[node]:
            yield "dependent lines", level, bool(_DEPENDENT.match(row) and not _NAMED.search(row))
        below = [child for child in shown.children[node] if shown.level[child] > 0]
        for child in below if len(below) > 1 else ():
            yield "children", level, not set(rows[node]).isdisjoint(rows[child])
    literal = memory.structure
    turns = {turn.id: turn for one in memory.conversation.sessions for turn in one.turns}
    leaf_of = {
        turn: leaf
        for leaf, unit in zip(literal.leaves, memory.units, strict=True)
        for turn in unit.turn_ids
    }
    for question in memory.conversation.questions:
        for turn in question.evidence:
            if turn in leaf_of:
                text = undated(literal.text[literal.parents[leaf_of[turn]][0]])
                whole = turns[turn].spoken
                has = any(_plain(row)[-_END:] in _plain(whole) for _, row in lines(text))
                yield "gold quoted", "level 1", has


def _plain(text: str) -> str:
    """Returns a text in lower case, with single blanks and without a last mark."""
    return " ".join(text.lower().split()).strip(" .!?…")


def counted(memory: Memory) -> Counts:
    """Returns all yardsticks of one memory."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for part in (of_events, of_labels, of_texts):
        for what, level, holds in part(memory):
            counts[what, level][0] += holds
            counts[what, level][1] += 1
    return counts


def conversations() -> Iterator[tuple[str, Conversation]]:
    """Yields every conversation with its data set, and whether constants were chosen on it."""
    for name in ("LoCoMo", "LongMemEval-S", "RealMem"):
        talks = [talk for file in SETS[name] for talk in segviz.load(real_data(file))]
        for place, talk in enumerate(talks):
            seen = place % 2 == 0 if name == "LongMemEval-S" else talk.id in CHOSEN_ON
            yield f"{name}, {'chosen on' if seen else 'others'}", talk
    for name in ("ines-theo", "noor-caleb"):
        yield "bundled", sample(name)


def main() -> None:
    """Prints every yardstick by level and kind of data, before and after."""
    sums: dict[str, dict[tuple[str, str], list[int]]] = {}
    for name, talk in conversations():
        of_set = sums.setdefault(name, defaultdict(lambda: [0, 0]))
        for key, pair in counted(segviz.build(talk)).items():
            of_set[key] = [a + b for a, b in zip(of_set[key], pair, strict=True)]
    before, rows = json.loads(BEFORE.read_text("utf-8")), []
    for name, counts in sums.items():
        for what in dict.fromkeys(what for what, _ in counts):
            pairs = ((before[name][what].get(each), counts.get((what, each))) for each in LEVELS)
            cells = (" → ".join(number(n / every) for n, every in filter(None, p)) for p in pairs)
            rows.append((name, what, *cells))
    print("What labels and texts say, by level, before → after:\n")
    print(table(("data", "share", *(f">{level}" for level in LEVELS)), rows))


if __name__ == "__main__":
    main()
