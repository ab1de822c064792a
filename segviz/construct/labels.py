"""Labels: names each node by the topics of its part of the conversation.

Candidates are the nouns and names of every unit (``tasks.words.things`` and ``names``). A node is
named by those that recur in its units, are near their mean meaning, and are rare elsewhere. In
languages whose nouns are unknown here, candidates are repeated words, or repeated runs of
characters.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from statistics import geometric_mean, median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segviz.construct.annotate import TITLE
from segviz.construct.tasks.words import (
    FUNCTION_WORDS,
    content,
    english,
    lines,
    names,
    salience,
    sentences,
    stem,
    things,
    words_of,
)
from segviz.conversation import Unit
from segviz.embedding import unit_rows, word_vectors
from segviz.text.words import EXAMINED, HAN, HIRAGANA, KATAKANA, UNSPACED_ALPHABETS, clusters, cut
from segviz.tree import Span, Structure
from segviz.tree.structure import once_per_structure

__all__ = ["LENGTH", "ROOT_LENGTH", "node_labels"]

LENGTH, UPPER_LENGTH, ROOT_LENGTH = 28, 44, 60
"""Most characters of a label up to level 1, above it, and of the label of a root."""

_PHRASE, _NAME = 1.25, 0.85  # factors of several words, and of a name, over a single noun
_PICTURED = 0.25  # a unit that has a phrase only in a caption counts as so much of a unit
_WEAK = 0.8  # factor of a phrase whose last word is on the list ``weak``; 0 if all words are
_FREQUENCY = 1.1  # exponent of the support of a phrase
_QUOTED = 1.5  # factor of a phrase that occurs in the node's own text
_FAR = 0.1  # added to the cosine of phrase and node: meaning alone excludes nothing
_SECOND = 0.35  # share of the best score that a further phrase must reach
_APART = 0.1  # the same for a theme of other children, and of a root
_COVERED = 0.8  # factor of a phrase's support in a child each time a chosen phrase is in it, too
_SHORTLIST = 40  # most phrases of a node that compete
_CAPTION = re.compile(r"\[image:\s*(?:an? )?(?:photo|picture|screenshot|image)?(?: of)?([^\]]*)\]?")
_SIGNS, _KATAKANA = re.compile(f"[{HAN}]{{2,}}"), re.compile(f"[{KATAKANA}]{{2,}}")
_UNSPACED = re.compile(f"[{HAN}{HIRAGANA}{KATAKANA}{UNSPACED_ALPHABETS}]")
_ALPHABETIC = re.compile(f"[{UNSPACED_ALPHABETS}]+")
_LETTERS = re.compile(r"[^\W\d_]{4,}")
_TITLED = re.compile(r"[A-Z0-9]")

_ARTICLES = ("A", "An", "The")
_BEFORE_OTHERS = english("before_others")
_NOT_NOUN = 0.3  # from this share of its uses after those words, a word is no noun
_ALIKE = 0.45  # from this cosine of their meanings, two phrases are one theme

# Function words of Thai, the longest first, and of Chinese.
_GRAMMAR = re.compile(
    "วันนี้|เพราะ|ครับ|เมื่อ|อยาก|อยู่|แล้ว|เป็น|ต้อง|หรือ|ของ|ค่ะ|คุณ|ฉัน|ได้|ที่|นั้น|นี้|มัน|มาก|ไม่|ผม|เขา|เรา|"
    "และ|แต่|ว่า|ให้|กับ|จะ|今天|昨天|明天|什么|怎么|时候|觉得|知道|可以|"
    "[的了是在我你他她它们这那哪有没不也就都和与跟吗呢吧啊把被给让对从到向很太真还又再要会能想说去来个一两几谁]"
)

WEAK = english("weak")


class _Places(NamedTuple):
    """Units that have a word or phrase, ascending, and the sum of the weights before each."""

    units: list[int]
    sums: list[float]

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> _Places:
        """Returns the places of a mapping from units, ascending, to weights in [0, 1]."""
        return cls([*weights], [*accumulate(weights.values(), initial=0.0)])

    def mass(self, ranges: Iterable[Span]) -> float:
        """Returns the sum of the weights in half-open ranges of units."""
        return sum(
            self.sums[bisect_left(self.units, stop)] - self.sums[bisect_left(self.units, start)]
            for start, stop in ranges
        )


@dataclass(frozen=True)
class _Phrases:
    """Phrases of a conversation that may become labels, keyed by the stems of their words.

    Attributes:
        places: the units with each phrase.
        stems: the units with each stem of a phrase.
        written: the most frequent spelling of each phrase.
        weight: the weight of each phrase, which does not depend on the node.
        of_unit: the phrases of each unit.
        said: what each unit means, less the mean of all; float32 (units, d), d is 0 without word
            vectors.
        meaning: the direction of each phrase, float32 (d,).
    """

    places: Mapping[tuple[str, ...], _Places]
    stems: Mapping[str, _Places]
    written: Mapping[tuple[str, ...], str]
    weight: Mapping[tuple[str, ...], float]
    of_unit: Mapping[int, Set[tuple[str, ...]]]
    said: NDArray[np.float32]
    meaning: Mapping[tuple[str, ...], NDArray[np.float32]]

    def support(self, key: tuple[str, ...], ranges: Sequence[Span]) -> float:
        """Returns how many units of some ranges carry a phrase.

        It is the root of the number that have it whole, times the geometric mean over its stems of
        the number that have the stem.
        """
        whole = self.places[key].mass(ranges)
        return math.sqrt(whole * geometric_mean(self.stems[each].mass(ranges) for each in key))


@once_per_structure(lambda units, speakers=(): (len(units), tuple(speakers)))
def node_labels(
    structure: Structure, units: Sequence[Unit], speakers: Sequence[str] = ()
) -> tuple[str, ...]:
    """Returns a label for every node: a few things or names, or "" where nothing fits.

    A phrase scores weight · h^1.1 · (log lift + ½ log(U / g)) · (.1 + cosine), half as much again
    if the node's text has it. Its support is h in the node's n units and g in all U units; lift is
    h / n divided by g / U; the cosine, at least 0, is that of its word vectors and the mean of the
    node's units, less the mean of all; a root has instead the share of its children that a phrase
    is in, and counts what people say, not a speaker who says more than twice as much as all others
    (an assistant). All are statistics of the whole conversation, so a label does not change because
    the tree grows elsewhere. A leaf gets one phrase, a node of level 1 up to two. A higher node
    names up to three themes in order of time; each next one counts more, and may be slighter, where
    it is in children that no chosen one is in. No phrase shares a word with the label of an earlier
    sibling, and no label equals the parent's. A title by a model, or an inner node's own short text
    (an entity), is used as it is.

    Args:
        structure: the nodes to label; a same-text chain is one node.
        units: all units of the conversation, also those after the moment of ``structure``.
        speakers: names that never become labels.

    Returns:
        One label per row of the structure, at most ``LENGTH`` characters, ``UPPER_LENGTH`` above
        level 1, ``ROOT_LENGTH`` for a root. Retired nodes have "".
    """
    shown = structure.collapsed
    labels = _labelled(shown, tuple(units), tuple(speakers))
    return tuple(labels[node] for node in shown.chain.tolist())


def _labelled(
    structure: Structure, units: tuple[Unit, ...], speakers: tuple[str, ...]
) -> tuple[str, ...]:
    """Returns a label for each node, "" for retired ones."""
    phrases = _phrases(units, speakers)
    people = _phrases(_of_people(units), speakers)
    # Parents before children and earlier siblings first, so that the labels of closed nodes
    # hardly change.
    level, start = structure.level.tolist(), structure.start.tolist()
    order = sorted(structure.nodes.tolist(), key=lambda node: (-level[node], start[node], node))
    labels = [""] * len(structure)
    used: dict[int | None, frozenset[str]] = {None: frozenset()}  # stems of each label
    taken: dict[int | None, set[str]] = defaultdict(set)  # stems of the labels of its children
    for node in order:
        if not structure.active[node]:
            continue
        parent = next(iter(structure.parents[node]), None)
        known = _known(structure, node)
        if known:
            labels[node], used[node] = known, frozenset(map(stem, words_of(known)))
        else:
            phrasing = people if parent is None else phrases
            ranked = _ranked(structure, node, phrasing, taken[parent])
            chosen = _chosen(structure, node, ranked, phrasing)
            if chosen and used[parent] == set(chain.from_iterable(chosen)):  # the parent's label
                ranked = [each for each in ranked if each[1] != chosen[0]]
                chosen = _chosen(structure, node, ranked, phrasing)
            used[node] = frozenset(chain.from_iterable(chosen))
            labels[node] = _joined(structure, node, chosen, phrasing)
        if parent is not None:
            taken[parent] |= used[node]
    return tuple(labels)


def _of_people(units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Returns the units without the lines of an assistant, if one speaks two thirds or more."""
    said: Counter[str] = Counter()
    rows = [lines(unit.text) for unit in units]
    for who, words in chain.from_iterable(rows):
        said[who] += len(words)
    ((talker, most),) = said.most_common(1) or [("", 0)]
    if 3 * most <= 2 * said.total() or len(said) < 2:
        return units
    kept = ("\n".join(f"{who}: {words}" for who, words in row if who != talker) for row in rows)
    return tuple(replace(unit, text=text) for unit, text in zip(units, kept, strict=True))


def _known(structure: Structure, node: int) -> str:
    """Returns a node's title by a model, else an inner node's text if it is short, else ""."""
    title = structure.facts[node].get(TITLE)
    if isinstance(title, str) and title.strip():
        return title.strip()
    text = structure.text[node]
    short = 0 < len(text) <= LENGTH and "\n" not in text and not re.search(r"[:.!?]", text)
    return text if short and structure.level[node] > 0 else ""


def _ranges(structure: Structure, node: int) -> list[Span]:
    """Returns the units of a node as half-open ranges: one for a contiguous node."""
    below = structure.coverage(node)
    breaks = [place for place in range(1, len(below)) if below[place] != below[place - 1] + 1]
    edges = pairwise([0, *breaks, len(below)])
    return [(below[first], below[last - 1] + 1) for first, last in edges]


def _ranked(
    structure: Structure, node: int, phrases: _Phrases, barred: Set[str]
) -> list[tuple[float, tuple[str, ...]]]:
    """Returns the phrases of a node's units without a ``barred`` stem, with their scores.

    The best is first.
    """
    below, ranges = structure.coverage(node), _ranges(structure, node)
    text_stems = frozenset(map(stem, words_of(structure.text[node])))
    every = len(phrases.said)
    rows = phrases.said[[unit for unit in below if unit < every]]
    (direction,) = unit_rows(rows.sum(axis=0, keepdims=True))
    root = not structure.parents[node]
    children = [_ranges(structure, each) for each in structure.children[node]] if root else []
    scored = []
    for key in set().union(*(phrases.of_unit.get(unit, ()) for unit in below)):
        weight = phrases.weight[key]
        if not weight or not barred.isdisjoint(key):
            continue
        # lift = (support / units of the node) / (support in all / all units), in logarithms.
        support, overall = phrases.support(key, ranges), phrases.support(key, [(0, every)])
        rarity = math.log(every / overall)
        lift = math.log(support / len(below)) + rarity
        quoted = _QUOTED if text_stems.issuperset(key) else 1.0
        near = round(float(phrases.meaning[key] @ direction), 4)
        if children:  # the root has no rest to differ from: what lasts over its children names it
            near = sum(phrases.places[key].mass(each) > 0 for each in children) / len(children)
        score = weight * quoted * support**_FREQUENCY * (lift + rarity / 2)
        scored.append((score * (_FAR + max(0.0, near)), key))
    return sorted(scored, key=lambda item: (-item[0], item[1]))


def _chosen(
    structure: Structure,
    node: int,
    ranked: Sequence[tuple[float, tuple[str, ...]]],
    phrases: _Phrases,
) -> list[tuple[str, ...]]:
    """Returns the phrases of a label, the best first, no two with a word or meaning in common."""
    upper = structure.level[node] > 1 or not structure.parents[node]
    count = 3 if upper else 2 if structure.level[node] > 0 else 1
    length = (UPPER_LENGTH if upper else LENGTH) if structure.parents[node] else ROOT_LENGTH
    children = [_ranges(structure, child) for child in structure.children[node]] if upper else []
    pool = {key: score for score, key in ranked[:_SHORTLIST]}
    masses = {key: [phrases.places[key].mass(each) for each in children] for key in pool}
    times = [0] * len(children)  # how often each child is covered

    def gain(key: tuple[str, ...]) -> float:
        every = sum(masses[key])
        new = sum(mass * _COVERED**n for mass, n in zip(masses[key], times, strict=True))
        return pool[key] * (new / every if every else 1.0)

    chosen: list[tuple[str, ...]] = []
    best = max(pool.values(), default=0.0)
    while pool and len(chosen) < count:
        key = max(pool, key=lambda each: (gain(each), each))
        score = gain(key)
        del pool[key]
        # A theme may be slighter in children without a chosen one; the third needs two units.
        apart = not any(n and mass for n, mass in zip(times, masses[key], strict=True))
        apart = upper and apart and (len(chosen) < 2 or sum(masses[key]) >= 2)
        if score < (_APART if apart or not structure.parents[node] else _SECOND) * best:
            continue
        # A phrase that is too long, or means the same as a chosen one, makes room for the next.
        meaning = phrases.meaning[key]
        same = any(
            not set(key).isdisjoint(each) or meaning @ phrases.meaning[each] > _ALIKE
            for each in chosen
        )
        if not same and len(_joined(structure, node, [*chosen, key], phrases)) <= length:
            chosen.append(key)
            times = [n + (mass > 0) for n, mass in zip(times, masses[key], strict=True)]
    return chosen


def _joined(
    structure: Structure, node: int, chosen: Sequence[tuple[str, ...]], phrases: _Phrases
) -> str:
    """Writes a label: above level 1 its themes in order of their middle unit in the node."""
    if structure.level[node] < 2:
        return ", ".join(phrases.written[key] for key in chosen)
    first, last = int(structure.start[node]), int(structure.stop[node])

    def middle(key: tuple[str, ...]) -> float:
        return median(unit for unit in phrases.places[key].units if first <= unit < last)

    return " · ".join(phrases.written[key] for key in sorted(chosen, key=middle))


@lru_cache(maxsize=4)
def _phrases(units: tuple[Unit, ...], speakers: tuple[str, ...]) -> _Phrases:
    """Collects the phrases of all units that may become labels."""
    units = tuple(replace(unit, text=unit.text[:EXAMINED]) for unit in units)
    nobody = frozenset(word for name in speakers for word in words_of(name))
    # A text is English if more than an eighth of its words are English function words.
    words = [word for unit in units[:200] for word in words_of(unit.text)]
    english = sum(word in FUNCTION_WORDS for word in words) > len(words) / 8
    other = _other_words(units)
    places: dict[tuple[str, ...], dict[int, float]] = defaultdict(dict)
    stems: dict[str, dict[int, float]] = defaultdict(dict)
    spelled: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    named: Counter[tuple[str, ...]] = Counter()
    # Spellings with the same stems ("dog", "dogs") are one phrase, counted once a unit, and for
    # less if only a caption has it.
    for unit in units:
        pictures = " ".join(f"a {each}." for each in _CAPTION.findall(unit.text))
        for text, share in ((_CAPTION.sub(" ", cut(unit.text)), 1.0), (pictures, _PICTURED)):
            for word in map(stem, words_of(text)):
                stems[word].setdefault(unit.index, share)
            for phrase, name in _candidates(text, nobody, english, other):
                key = tuple(sorted({stem(word) for word in words_of(phrase)}))
                for each in key:  # some phrases are parts of words
                    stems[each].setdefault(unit.index, share)
                places[key].setdefault(unit.index, share)
                spelled[key][phrase] += 1
                named[key] += name
    places = _whole(places, spelled)
    if not english:  # without grammar, only moderate repetition marks a topic
        usual = max(6, 0.1 * len(units))
        places = {key: indices for key, indices in places.items() if 2 <= len(indices) <= usual}
    # Each phrase is written as most units spell it, and weighed once for all nodes.
    written = {key: min(spelled[key].items(), key=lambda i: (-i[1], i[0]))[0] for key in places}
    weight = {key: _weight(written[key], 2 * named[key] >= spelled[key].total()) for key in places}
    of_unit: dict[int, set[tuple[str, ...]]] = defaultdict(set)
    for key, indices in places.items():
        for place in indices:
            of_unit[place].add(key)
    said = _meanings([unit.text for unit in units])
    return _Phrases(
        {key: _Places.of(indices) for key, indices in places.items()},
        {each: _Places.of(stems[each]) for each in set(chain.from_iterable(places))},
        written,
        weight,
        of_unit,
        said - said.sum(axis=0) / max(1, len(units)),
        dict(zip(written, _meanings([*written.values()]), strict=True)),
    )


def _meanings(texts: Sequence[str]) -> NDArray[np.float32]:
    """Returns the direction of the sum of each text's word vectors, float32 (n, d).

    d is 0 without texts or word vectors.
    """
    vectors = word_vectors()
    if vectors is None or not texts:
        return np.zeros((len(texts), 0), dtype=np.float32)
    sums = [np.add.reduce(vectors.words(words_of(text) or [""]), axis=0) for text in texts]
    return unit_rows(np.array(sums, dtype=np.float32))


def _whole(
    places: Mapping[tuple[str, ...], dict[int, float]],
    spelled: Mapping[tuple[str, ...], Counter[str]],
) -> dict[tuple[str, ...], dict[int, float]]:
    """Returns ``places`` without phrases that are only parts of words.

    This concerns scripts without blanks (Han, Thai, Lao, Burmese, Khmer). A run of signs is part of
    a word if a longer run occurs in as many units.
    """
    longer: Counter[str] = Counter()
    runs = {key: text for key in places if _UNSPACED.match(text := next(iter(spelled[key])))}
    for key, text in runs.items():
        parts = clusters(text) or text
        for part in ("".join(parts[1:]), "".join(parts[:-1])):
            longer[part] = max(longer[part], len(places[key]))
    return {
        key: indices
        for key, indices in places.items()
        if key not in runs or len(indices) > longer[runs[key]]
    }


def _weight(phrase: str, name: bool) -> float:
    """Returns the weight of a phrase, the same in every node.

    It is 0 if all words are on the list ``weak``, higher for several words, lower for names.
    """
    words = words_of(phrase)
    forms = ({word, word.removesuffix("s"), word.removesuffix("ies") + "y"} for word in words)
    weak = [not WEAK.isdisjoint(each) for each in forms]
    tells = float(max(map(salience, words)) ** 1.5) * (not all(weak)) * (_WEAK if weak[-1] else 1.0)
    return tells * (_PHRASE if len(words) > 1 else 1.0) * (_NAME if name else 1.0)


@lru_cache(maxsize=20_000)
def _candidates(
    text: str,
    nobody: frozenset[str],
    english: bool,
    other: frozenset[str],
) -> tuple[tuple[str, bool], ...]:
    """Returns the phrases of a text that may become labels, each with True if it is a name.

    ``nobody`` has the words of the speakers' names, which are left out; ``other`` are those of
    :func:`_other_words`; ``english`` is True for an English conversation.
    """
    candidates: list[tuple[str, bool]] = []
    for _, words in lines(text):
        for sentence in sentences(words):
            if not english:
                candidates += [(word, False) for word in _repeatable(sentence, nobody)]
                continue
            for name in names(sentence):
                kept = [word for word in name.split() if not _calls(word, nobody)]
                # "If Luna", "You'll", "A Prayer", "Mix"; but "The Name of the Wind".
                while kept and (
                    (not content(kept[0]) and (len(kept) < 3 or kept[0] not in _ARTICLES))
                    or (len(kept) == 1 and kept[0].lower() in other)
                ):
                    del kept[0]
                if kept and all(_TITLED.match(word) for word in (kept[0], kept[-1])):
                    candidates.append((" ".join(kept).rstrip("'’"), True))  # of a plural or a quote
            # An apostrophe at the end elides letters: "goin'".
            for at, noun, _ in things(sentence):
                before = sentence[:at].split()[-1:]
                if not noun.endswith("'"):
                    candidates.append((_without_verb(noun, other, before), False))
    return tuple(
        (p, n) for p, n in candidates if words_of(p) and not nobody.issuperset(words_of(p))
    )


def _calls(word: str, nobody: frozenset[str]) -> bool:
    """Returns True if a word is a speaker's name or begins one, as "Mel" for Melanie."""
    low = word.lower()
    return nobody.issuperset(words_of(low)) or (
        len(low) > 2 and any(name.startswith(low) for name in nobody)
    )


def _other_words(units: Sequence[Unit]) -> frozenset[str]:
    """Returns the words that this conversation uses as adjectives or verbs, not as nouns.

    They often follow words such as "very" or "to". Words in -ing that occur once count, too.
    """
    uses: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for unit in units:
        words = re.findall(r"[\w'-]+", cut(unit.text.lower()).replace("’", "'"))
        uses.update(words)
        others.update(word for before, word in pairwise(words) if before in _BEFORE_OTHERS)
    once = {word for word, count in uses.items() if count == 1 and word.endswith("ing")}
    often = {word for word, count in others.items() if count >= _NOT_NOUN * uses[word]}
    return frozenset(once | often | set(map(stem, often)))


def _without_verb(phrase: str, other: frozenset[str], before: Sequence[str]) -> str:
    """Removes verbs and adjectives around a noun; returns "" if its last word is none.

    ``other`` has the words that are used as verbs or adjectives, ``before`` the word before.
    """
    words = phrase.split()
    while len(words) > 1 and (
        words[0] in other or (stem(words[0]) in other and not FUNCTION_WORDS.issuperset(before))
    ):
        del words[0]  # "creating memories", but "a camping trip"
    for place, word in enumerate(words[1:], start=1):
        if word.endswith("s") and (word[:-1] in other or place + 1 < len(words)):
            words = words[:place]  # "template includes sections"
            break
    return "" if words[-1] in other else " ".join(words)


def _repeatable(sentence: str, nobody: frozenset[str]) -> list[str]:
    """Returns the words and runs of signs that may name a topic in a sentence not in English.

    These are words of four letters or more, words in Katakana, runs of two to six Han signs, and
    runs of two to eight letters of alphabets without blanks. Hiragana is mostly grammar.
    """
    words = [word for word in _LETTERS.findall(sentence) if word.lower() not in nobody]
    words = [word for word in words if not _UNSPACED.search(word)] + _KATAKANA.findall(sentence)
    spaced = _GRAMMAR.sub(" ", sentence)
    for run in _SIGNS.findall(spaced):
        ends = range(2, min(6, len(run)) + 1)
        words += [run[at : at + n] for n in ends for at in range(len(run) - n + 1)]
    for run in _ALPHABETIC.findall(spaced):
        parts = clusters(run)
        ends = range(2, min(8, len(parts)) + 1)
        pieces = ("".join(parts[at : at + n]) for n in ends for at in range(len(parts) - n + 1))
        words += [word for word in pieces if len(word) > 2]  # two bare consonants are no word
    return words
