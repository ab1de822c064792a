"""Labels: names each node by the topics of its part of the conversation.

Candidates are the nouns and names of every unit (``tasks.words.things`` and ``names``). A node is
named by those that are frequent in its units and rare elsewhere. In languages whose nouns are
unknown here, candidates are repeated words, or repeated runs of characters.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from segviz.construct.annotate import TITLE
from segviz.construct.tasks.words import (
    FUNCTION_WORDS,
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
from segviz.text.words import HAN, HIRAGANA, KATAKANA, UNSPACED_ALPHABETS, clusters
from segviz.tree import Structure
from segviz.tree.structure import once_per_structure

__all__ = ["LENGTH", "ROOT_LENGTH", "node_labels"]

LENGTH, ROOT_LENGTH = 28, 40
"""Most characters of a label, and of the label of a root."""

_PHRASE, _NAME = 1.25, 1.15  # factors of several words, and of a name, over a single noun
_FREQUENCY = 1.1  # exponent of the number of units with a phrase
_QUOTED = 1.5  # factor of a phrase that occurs in the node's own text
_SECOND = 0.35  # share of the best score that a further phrase must reach
_CAPTION = re.compile(r"\[image:\s*(?:an? )?(?:photo|picture|screenshot|image)?(?: of)?|\]")
_SIGNS, _KATAKANA = re.compile(f"[{HAN}]{{2,}}"), re.compile(f"[{KATAKANA}]{{2,}}")
_UNSPACED = re.compile(f"[{HAN}{HIRAGANA}{KATAKANA}{UNSPACED_ALPHABETS}]")
_ALPHABETIC = re.compile(f"[{UNSPACED_ALPHABETS}]+")
_LETTERS = re.compile(r"[^\W\d_]{4,}")
_TITLED = re.compile(r"[A-Z0-9]")

_BEFORE_OTHERS = english("before_others")
_NOT_NOUN = 0.3  # from this share of its uses after those words, a word is no noun
_ALIKE = 0.45  # from this cosine of their word vectors, two phrases are one theme
_USUAL_SIGN = 0.2  # a Han or Kana character in more of the units is grammar

# Function words of Thai, the longest first.
_THAI_GRAMMAR = re.compile(
    "วันนี้|เพราะ|ครับ|เมื่อ|อยาก|อยู่|แล้ว|เป็น|ต้อง|หรือ|ของ|ค่ะ|คุณ|ฉัน|ได้|ที่|นั้น|นี้|มัน|มาก|ไม่|ผม|เขา|เรา|"
    "และ|แต่|ว่า|ให้|กับ|จะ"
)

WEAK = english("weak")


@dataclass(frozen=True)
class _Phrases:
    """Phrases of a conversation that may become labels, keyed by the stems of their words.

    Attributes:
        places: the units with each phrase, ascending.
        written: the most frequent spelling of each phrase.
        weight: the weight of each phrase, which does not depend on the node.
        of_unit: the phrases of each unit.
        units: number of units.
    """

    places: Mapping[tuple[str, ...], list[int]]
    written: Mapping[tuple[str, ...], str]
    weight: Mapping[tuple[str, ...], float]
    of_unit: Mapping[int, frozenset[tuple[str, ...]]]
    units: int


@once_per_structure(lambda units, speakers=(): (len(units), tuple(speakers)))
def node_labels(
    structure: Structure, units: Sequence[Unit], speakers: Sequence[str] = ()
) -> tuple[str, ...]:
    """Returns a label for every node: a few things or names, or "" where nothing fits.

    A phrase scores weight · n^1.1 · (log lift + ½ log(U / u)), half as much again if the node's
    text has it. It occurs in n of the node's units and in u of all U units; lift is n / units of
    the node, divided by u / U. The statistics are those of the whole conversation, so a label does
    not change because the tree grows elsewhere. A leaf gets one phrase, an inner node up to two, a
    root up to three. No phrase shares a word with the label of the parent or of an earlier sibling.
    A title by a model, or an inner node's own short text (an entity), is used as it is.

    Args:
        structure: the nodes to label; a same-text chain is one node.
        units: all units of the conversation, also those after the moment of ``structure``.
        speakers: names that never become labels.

    Returns:
        One label per row of the structure, at most ``LENGTH`` characters, ``ROOT_LENGTH`` for a
        root. Retired nodes have "".
    """
    shown = structure.collapsed
    labels = _labelled(shown, tuple(units), tuple(speakers))
    return tuple(labels[node] for node in shown.chain.tolist())


def _labelled(
    structure: Structure, units: tuple[Unit, ...], speakers: tuple[str, ...]
) -> tuple[str, ...]:
    """Returns a label for each node, "" for retired ones."""
    phrases = _phrases(units, speakers)
    # Parents before children and earlier siblings first, so that the labels of closed nodes
    # never change.
    level, start = structure.level.tolist(), structure.start.tolist()
    order = sorted(structure.nodes.tolist(), key=lambda node: (-level[node], start[node], node))
    labels = [""] * len(structure)
    taken: dict[int, set[str]] = defaultdict(set)  # words of a node's label and of its children's
    for node in order:
        if not structure.active[node]:
            continue
        parent = next(iter(structure.parents[node]), None)
        known = _known(structure, node)
        if known:
            labels[node] = known
            used = {stem(word) for word in words_of(known)}
        else:
            # Wider nodes cover more topics.
            count = 3 if parent is None else 2 if structure.level[node] > 0 else 1
            length = ROOT_LENGTH if parent is None else LENGTH
            ranked = _ranked(structure, node, phrases)
            barred = taken[parent] if parent is not None else set()
            labels[node], used = _chosen(ranked, phrases, barred, count, length)
        taken[node] |= used
        if parent is not None:
            taken[parent] |= used
    return tuple(labels)


def _known(structure: Structure, node: int) -> str:
    """Returns a node's title by a model, else an inner node's text if it is short, else ""."""
    title = structure.facts[node].get(TITLE)
    if isinstance(title, str) and title.strip():
        return title.strip()
    text = structure.text[node]
    short = 0 < len(text) <= LENGTH and "\n" not in text and not re.search(r"[:.!?]", text)
    return text if short and structure.level[node] > 0 else ""


def _ranked(
    structure: Structure, node: int, phrases: _Phrases
) -> Iterator[tuple[float, tuple[str, ...]]]:
    """Yields the phrases of a node's units with their scores, best first."""
    first, last = int(structure.start[node]), int(structure.stop[node])
    below = structure.coverage(node)
    whole = len(below) == last - first
    counts = Counter(key for unit in below for key in phrases.of_unit.get(unit, ()))
    text_stems = frozenset(map(stem, words_of(structure.text[node])))
    scored = []
    for key, count in counts.items():
        weight = phrases.weight[key]
        if not weight:
            continue
        places = phrases.places[key]
        if whole:  # a contiguous node: its units are a range of the sorted places
            count = bisect_left(places, last) - bisect_left(places, first)
        # lift = (count / units of the node) / (places / all units), in logarithms.
        rarity = math.log(phrases.units / len(places))
        lift = math.log(count / len(below)) + rarity
        quoted = _QUOTED if text_stems.issuperset(key) else 1.0
        scored.append((weight * quoted * count**_FREQUENCY * (lift + rarity / 2), key))
    yield from sorted(scored, key=lambda item: (-item[0], item[1]))


def _chosen(
    ranked: Iterator[tuple[float, tuple[str, ...]]],
    phrases: _Phrases,
    barred: set[str],
    count: int,
    length: int,
) -> tuple[str, set[str]]:
    """Returns a label of the best phrases, and the stems of its words.

    The label has up to ``count`` phrases and ``length`` characters. No two of its phrases share a
    word or mean much the same, and none has a stem that is ``barred``.
    """
    chosen: list[str] = []
    used: set[str] = set()
    best = 0.0
    for score, key in ranked:
        # Best first, so that all later phrases would be too weak as well.
        if chosen and score < _SECOND * best:
            break
        # A label that repeats its parent's or a sibling's word would not distinguish the node.
        if used.union(barred).intersection(key):
            continue
        # A phrase that is too long, or means the same as a chosen one, makes room for the next.
        phrase = phrases.written[key]
        if len(", ".join([*chosen, phrase])) > length or _alike(phrase, chosen):
            continue
        best = best or score
        chosen.append(phrase)
        used.update(key)
        if len(chosen) == count:
            break
    return ", ".join(chosen), used


def _alike(phrase: str, others: Sequence[str]) -> bool:
    """Returns True if a phrase means much the same as one of the others, as "pup" and "dog".

    Compares the vectors of their last words.
    """
    vectors = word_vectors()
    if vectors is None or not others:
        return False
    rows = unit_rows(vectors.words([each.split()[-1].lower() for each in (phrase, *others)]))
    return bool((rows[1:] @ rows[0]).max() > _ALIKE)


@lru_cache(maxsize=4)
def _phrases(units: tuple[Unit, ...], speakers: tuple[str, ...]) -> _Phrases:
    """Collects the phrases of all units that may become labels."""
    nobody = frozenset(word for name in speakers for word in words_of(name))
    # A text is English if more than an eighth of its words are English function words.
    words = [word for unit in units[:200] for word in words_of(unit.text)]
    english = sum(word in FUNCTION_WORDS for word in words) > len(words) / 8
    usual_signs = _usual_signs(units)
    other = _other_words(units)
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    spelled: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    named: Counter[tuple[str, ...]] = Counter()
    # Spellings with the same stems ("dog", "dogs") are one phrase, counted once a unit.
    for unit in units:
        for phrase, name in _candidates(unit.text, nobody, english, usual_signs):
            if not name and english:
                phrase = _without_verb(phrase, other)
            if not phrase:
                continue
            key = tuple(sorted({stem(word) for word in words_of(phrase)}))
            if places[key][-1:] != [unit.index]:
                places[key].append(unit.index)
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
    frozen = {place: frozenset(keys) for place, keys in of_unit.items()}
    return _Phrases(places, written, weight, frozen, len(units))


def _whole(
    places: Mapping[tuple[str, ...], list[int]], spelled: Mapping[tuple[str, ...], Counter[str]]
) -> dict[tuple[str, ...], list[int]]:
    """Returns ``places`` without phrases that are only parts of words.

    This concerns alphabets without blanks (Thai, Lao, Burmese, Khmer). A run of letters is part of
    a word if a longer run occurs in as many units.
    """
    longer: Counter[str] = Counter()
    runs = {key: text for key in places if _ALPHABETIC.match(text := next(iter(spelled[key])))}
    for key, text in runs.items():
        parts = clusters(text)
        for part in ("".join(parts[1:]), "".join(parts[:-1])):
            longer[part] = max(longer[part], len(places[key]))
    return {
        key: indices
        for key, indices in places.items()
        if key not in runs or len(indices) > longer[runs[key]]
    }


def _weight(phrase: str, name: bool) -> float:
    """Returns the weight of a phrase, the same in every node.

    It is 0 for a noun on the list ``weak``, and higher for names and for several words.
    """
    words = words_of(phrase)
    if not name and (words[-1] in WEAK or words[-1].removesuffix("s") in WEAK):
        return 0.0
    tells = float(max(map(salience, words)) ** 1.5)
    return tells * (_PHRASE if len(words) > 1 else 1.0) * (_NAME if name else 1.0)


@lru_cache(maxsize=20_000)
def _candidates(
    text: str, nobody: frozenset[str], english: bool, usual: frozenset[str]
) -> tuple[tuple[str, bool], ...]:
    """Returns the phrases of a text that may become labels, each with True if it is a name.

    ``nobody`` has the words of the speakers' names, which are left out; ``usual`` has the signs of
    :func:`_usual_signs`; ``english`` is True for an English conversation.
    """
    candidates: list[tuple[str, bool]] = []
    for _, words in lines(_CAPTION.sub(" ", text)):
        for sentence in sentences(words):
            if not english:
                candidates += [(word, False) for word in _repeatable(sentence, nobody, usual)]
                continue
            for name in names(sentence):
                kept = [word for word in name.split() if not _calls(word, nobody)]
                if kept and all(_TITLED.match(word) for word in (kept[0], kept[-1])):
                    candidates.append((" ".join(kept).rstrip("'’"), True))  # of a plural or a quote
            # An apostrophe at the end elides letters: "goin'".
            candidates += [
                (noun, False) for _, noun, _ in things(sentence) if not noun.endswith("'")
            ]
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
        words = re.findall(r"[\w'-]+", unit.text.lower().replace("’", "'"))
        uses.update(words)
        others.update(word for before, word in pairwise(words) if before in _BEFORE_OTHERS)
    once = (word for word, count in uses.items() if count == 1 and word.endswith("ing"))
    return frozenset(once).union(w for w, n in others.items() if n >= _NOT_NOUN * uses[w])


def _without_verb(phrase: str, other: frozenset[str]) -> str:
    """Removes a leading participle from a phrase; returns "" if the last word is no noun.

    ``other`` has the words that are used as verbs or adjectives; both must be among them.
    """
    words = phrase.split()
    if len(words) > 1 and words[0].endswith("ing") and words[0] in other:
        words = words[1:]
    return "" if words[-1] in other else " ".join(words)


def _usual_signs(units: Sequence[Unit]) -> frozenset[str]:
    """Returns the Han signs that are grammar, not topics.

    They occur in more than a fifth of the units. No single other sign stands next to them in half
    of these units.
    """
    counts: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for unit in units:
        runs = _SIGNS.findall(unit.text)
        counts.update(set("".join(runs)))
        pairs.update({run[at : at + 2] for run in runs for at in range(len(run) - 1)})
    beside: dict[str, int] = defaultdict(int)
    for pair, n in pairs.items():
        for sign in pair:
            beside[sign] = max(beside[sign], n)
    most = max(2, _USUAL_SIGN * len(units))
    return frozenset(sign for sign, n in counts.items() if n > most and 2 * beside[sign] < n)


def _repeatable(sentence: str, nobody: frozenset[str], usual: frozenset[str]) -> list[str]:
    """Returns the words and runs of signs that may name a topic in a sentence not in English.

    These are words of four letters or more, words in Katakana, runs of two to six Han signs, and
    runs of two to eight letters of alphabets without blanks. Hiragana is mostly grammar.
    """
    words = [word for word in _LETTERS.findall(sentence) if word.lower() not in nobody]
    words = [word for word in words if not _UNSPACED.search(word)] + _KATAKANA.findall(sentence)
    spaced = "".join(" " if sign in usual else sign for sign in sentence)
    for run in _SIGNS.findall(spaced):
        ends = range(2, min(6, len(run)) + 1)
        words += [run[at : at + n] for n in ends for at in range(len(run) - n + 1)]
    for run in _ALPHABETIC.findall(_THAI_GRAMMAR.sub(" ", sentence)):
        parts = clusters(run)
        ends = range(2, min(8, len(parts)) + 1)
        pieces = ("".join(parts[at : at + n]) for n in ends for at in range(len(parts) - n + 1))
        words += [word for word in pieces if len(word) > 2]  # two bare consonants are no word
    return words
