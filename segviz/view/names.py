"""Names nodes by the words that tell them from their siblings."""

from __future__ import annotations

import math
import re
import sys
from bisect import bisect_left
from collections import defaultdict
from functools import lru_cache

from segviz.tree import Structure
from segviz.tree.unfold import follows_time

_WORD = re.compile(r"[^\W\d_][\w'’-]*[^\W_]|[^\W_]", re.UNICODE)
_TURN = re.compile(r"^[^:\n]{1,40}:", re.MULTILINE)
COMMON = frozenset(
    "a able about actually after again all also always am an and another any anything april are "
    "around as at august away back be because been before being best better big both but by "
    "call called came can come could day days december did do does doing don done down each "
    "eight else end even ever every everyone everything far february feel few find first five "
    "for found four friday from gave get gets getting give glad go goes going good got great "
    "had half has have having he hear heard hello help her here hey hi him his hour hours how i "
    "if image in into is it its january july june just keep kind knew know last least left let "
    "like little long look looking lot love made make makes man many march may maybe me mean "
    "might mine minutes monday more morning most much must my need never new next nice nine no "
    "not nothing november now october of off oh ok okay old on once one only or other our out "
    "over own part people perhaps photo put quite read really right said same saturday saw say "
    "says see september seven she should since six so some someone something soon sounds still "
    "stuff such sunday sure take takes tell ten than thank thanks that the their them then "
    "there these they thing things think this those thought three through thursday time times "
    "to today together told tomorrow too took try tuesday two under until up us use used very "
    "wait want wanted was way we wednesday week well went were what when where which while who "
    "why will with without won wonderful would wow yeah year years yes yesterday yet you "
    "your".split()
)
"""Words too common to name a node."""

TERMS = 3
"""Words in a name."""

_FREQUENT = 150
"""So many words that many leaves hold may name a wide node, whether or not its text has them."""


@lru_cache(maxsize=10_000)
def _words(text: str) -> tuple[tuple[str, str], ...]:
    """The words of a text that may name it, each once: its form without a plural's s, and as it
    is first written. Who speaks is not what is said."""
    found: dict[str, str] = {}
    for word in _WORD.findall(_TURN.sub(" ", text)):
        plain = word if word.isalnum() else re.sub(r"['’]\w*$", "", word)
        low = plain.lower()
        if len(low) > 2 and low not in COMMON and "'" not in plain and "’" not in plain:
            found.setdefault(sys.intern(low.removesuffix("s")), sys.intern(plain))
    return tuple(found.items())


def node_names(structure: Structure, speakers: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A name for every node, "" where its text has no word of its own.

    Up to three words, by tf-idf against its siblings: √n times the sum of ln(lift) and half of
    ln(U / u), where n leaves below the node hold the word, lift is their share among its leaves
    over the share among its parent's, and u of all U leaves hold it. They come from the node's
    text and, above level 1, from the words most leaves hold. Where a structure does not follow
    time, "below" is the node's own text alone. ``speakers`` name nobody. O((w + 150 m) log w) for
    w words in all texts and m wide nodes, once for a structure.
    """
    key = node_names, speakers
    if key not in structure.kept:
        structure.kept[key] = _named(structure, speakers)
    found: tuple[str, ...] = structure.kept[key]
    return found


def _named(structure: Structure, speakers: tuple[str, ...]) -> tuple[str, ...]:
    leaves = structure.leaves
    whole = max(1, int(structure.stop.max(initial=0)))
    places: dict[str, list[int]] = defaultdict(list)
    written: dict[str, str] = {}
    for leaf in sorted(leaves, key=lambda node: int(structure.start[node])):
        for stem, word in _words(structure.text[leaf]):
            places[stem].append(int(structure.start[leaf]))
            written.setdefault(stem, word)
    timely = follows_time(structure)
    common = sorted(places, key=lambda stem: (-len(places[stem]), stem))[:_FREQUENT]
    frequent = tuple((stem, written[stem]) for stem in common)
    nobody = {word.lower().removesuffix("s") for name in speakers for word in name.split()}
    start, stop = structure.start.tolist(), structure.stop.tolist()

    def held(stem: str, node: int) -> int:
        at = places.get(stem, [])
        return bisect_left(at, stop[node]) - bisect_left(at, start[node])

    def name(node: int) -> str:
        parent = next(iter(structure.parents[node]), None)
        width = stop[node] - start[node]
        scored = []
        own = dict(_words(structure.text[node]))
        wide = dict(frequent) if timely and structure.level[node] > 1 else {}
        for order, (stem, word) in enumerate((wide | own).items()):
            inside = held(stem, node) if timely else 1
            if stem in nobody or not inside:
                continue
            lift = 0.0
            if timely and parent is not None:
                around = max(inside, held(stem, parent)) / (stop[parent] - start[parent])
                lift = math.log(inside / width / around)
            rare = math.log(whole / max(1, len(places.get(stem, ()))))
            scored.append((math.sqrt(inside) * (lift + rare / 2), -order, word))
        return ", ".join(word for *_, word in sorted(scored, reverse=True)[:TERMS])

    shown = structure.active.tolist()
    return tuple(name(node) if shown[node] else "" for node in range(len(structure)))
