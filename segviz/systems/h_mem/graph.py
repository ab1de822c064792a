"""H-Mem's graph: entities, the fragments that mention them, and their relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from segviz.construct import Annotate, Declared, param
from segviz.construct.annotate import Annotation
from segviz.construct.tasks import Extraction, Named
from segviz.construct.tasks.words import normalised, stem
from segviz.conversation import Moment
from segviz.systems.common.annotation import write
from segviz.systems.common.structure_editor import Draft
from segviz.tree import Scalar, as_number

ENTITY = "entity"
MAYBE = "may be the same as"
_SALIENT = frozenset({"person", "organisation", "location"})


@dataclass(frozen=True)
class GraphParameters(Declared):
    """Parameters of H-Mem's graph of entities."""

    entity_merge: str = param(
        "fuzzy",
        "Merge names that look nearly the same, or equal names alone.",
        choices=("fuzzy", "exact"),
        source="A.2, fuzzy; §3.2, exact",
    )
    spelling: float = param(
        0.9,
        "Likeness in spelling (difflib's ratio) from which two names are one.",
        (0, 1),
        source="A.2 without a limit; .9 is ours",
    )
    tokens: float = param(
        0.6,
        "Share of common words (two at least) from which two names are one.",
        (0, 1),
        source="A.2 without a limit; .6 is ours",
    )
    salient: int = param(
        3,
        "Mentions after which a person, organisation or place gets a profile, each time.",
        (1, 100),
        source="§3.2 without a number; 3 is ours",
    )
    recent: int = param(
        3,
        "Recent facts quoted in a profile.",
        (1, 50),
        source="§3.2, recent data, without a number; 3 is ours",
    )


class EntityGraph:
    """Graph of H-Mem's entities and their relations, built in a draft."""

    def __init__(
        self, draft: Draft, annotate: Annotate, rules: GraphParameters, profiles: bool
    ) -> None:
        """Starts an empty graph; ``profiles`` is False if no profiles shall be written."""
        self._draft = draft
        self._annotate = annotate
        self._rules = rules
        self._profiles = profiles
        self._by_name: dict[str, list[int]] = {}  # entities by name (``lemmas``)
        # Names by first letter and by word: ``likeness`` is 0 for names that share neither.
        self._near: dict[str, dict[str, None]] = {}

    def take_in(self, extraction: Extraction, fragment: int, when: Moment) -> tuple[list[int], int]:
        """Adds a fragment's entities and relations (§3.2); returns those, and profiles written."""
        touched: dict[str, int] = {}
        for mention in extraction.entities:
            if normalised(mention.name):
                touched[mention.name] = self._resolve(mention, fragment)
        for relation in extraction.relations:
            head, tail = touched.get(relation.head), touched.get(relation.tail)
            if head is None or tail is None or head == tail:
                continue
            # A.2: the fragment's unit is evidence of the relation, whose weight is their number.
            draft = self._draft
            known = draft.relations.get((head, tail, relation.label))
            before = known.facts if known else {}
            unit = str(draft.span[fragment][0])
            units = dict.fromkeys((*str(before.get("units", "")).split(), unit))
            facts: dict[str, Scalar] = {
                "units": " ".join(units),
                "first": before.get("first", when.seconds),
                "last": when.seconds,
                "confidence": max(as_number(before, "confidence"), relation.confidence),
            }
            draft.relate(head, tail, relation.label, float(len(units)), facts)
        nodes = list(dict.fromkeys(touched.values()))
        return nodes, self._describe(nodes, extraction)

    def _resolve(self, mention: Named, fragment: int) -> int:
        """Returns the entity of a mention, known by name or new, and notes the mention."""
        draft, name = self._draft, normalised(mention.name)
        key = lemmas(name)
        # §3.2, entity disambiguation: first an equal name (normalised, lemmatised) of a compatible
        # type.
        node = next((n for n in self._by_name.get(key, ()) if self._fits(n, mention.kind)), None)
        # A.2: then token overlap or fuzzy matching.
        if node is None and self._rules.entity_merge == "fuzzy":
            node = self._named_like(key, mention.kind)
            if node is not None:
                self._know(key, node)
        if node is not None and name not in str(draft.facts[node]["aliases"]).split("\n"):
            draft.note(node, aliases=f"{draft.facts[node]['aliases']}\n{name}")
        if node is None:
            facts: dict[str, Scalar] = {
                "name": mention.name,
                "type": mention.kind,
                "aliases": name,
                "mentions": 1,
                "persistent": "",
                "recent": "",
            }
            node = draft.add(1, [fragment], mention.name, ENTITY, facts)
            self._repair(node, key, mention.kind)
            self._know(key, node)
            return node
        # A later mention may reveal the type of an entity, "other" until then.
        if draft.facts[node]["type"] == "other" and mention.kind != "other":
            draft.note(node, type=mention.kind)
        if fragment not in draft.children[node]:
            draft.link(node, fragment)
            draft.note(node, mentions=len(draft.children[node]))
        return node

    def _know(self, name: str, node: int) -> None:
        """Adds a name of an entity to both indexes."""
        self._by_name.setdefault(name, []).append(node)
        for mark in (name[0], *(f" {word}" for word in name.split())):
            self._near.setdefault(mark, {})[name] = None

    def _fits(self, node: int, kind: str) -> bool:
        """Returns True if a mention may be this entity: kinds are equal, or one is unknown."""
        own = self._draft.facts[node]["type"]
        return own == kind or "other" in (own, kind)

    def _named_like(self, name: str, kind: str) -> int | None:
        """Returns the known entity whose name is most similar to ``name``; the older on a tie."""
        similar: list[tuple[float, int]] = []
        for known in self._around(name[0], *name.split()):
            if score := likeness(known, name, self._rules):
                similar += [
                    (score, -node) for node in self._by_name[known] if self._fits(node, kind)
                ]
        return -max(similar)[1] if similar else None

    def _around(self, letter: str, *words: str) -> dict[str, None]:
        """Returns the known names that begin with this letter or have one of these words."""
        marks = (letter, *(f" {word}" for word in words))
        return {name: None for mark in marks for name in self._near.get(mark, ())}

    def _repair(self, node: int, name: str, kind: str) -> None:
        """Relates a new entity to those that may be the same ("Ben" and "Ben Carter")."""
        tokens = name.split()
        for known in self._around("", *tokens):
            # "Ben" may be "Ben Carter": related, not merged, since another Ben may follow.
            long, short = sorted((tokens, known.split()), key=len, reverse=True)
            if len(short) == 1 < len(long) and short[0] in (long[0], long[-1]):
                for other in self._by_name[known]:
                    if self._fits(other, kind):
                        self._draft.relate(node, other, MAYBE, 1.0)

    def _describe(self, nodes: Sequence[int], extraction: Extraction) -> int:
        """Updates the recent facts of entities and writes profiles that are due (§3.2).

        Returns the number of profiles written.
        """
        draft, rules = self._draft, self._rules
        due: dict[int, list[str]] = {}
        for node in nodes:
            # The facts of this fragment about the entity are the newest of its recent ones.
            aliases = set(str(draft.facts[node]["aliases"]).split("\n"))
            statements = [
                fact.text
                for fact in extraction.facts
                if any(normalised(entity.name) in aliases for entity in fact.entities)
            ]
            recent = [*filter(None, str(draft.facts[node]["recent"]).split("\n")), *statements]
            draft.note(node, recent="\n".join(recent[-rules.recent :]))
            facts = draft.facts[node]
            salient = facts["type"] in _SALIENT and len(draft.children[node]) % rules.salient == 0
            # The old summary and the recent facts together make the new summary.
            known = [str(facts[name]) for name in ("persistent", "recent") if facts[name]]
            if salient and known and self._profiles:
                due[node] = known
        texts = write(self._annotate, [[Annotation(t) for t in texts] for texts in due.values()])
        for node, text in zip(due, texts, strict=True):
            draft.note(node, persistent=text.text)
        # The text of an entity is its profile: name, type, summary and recent facts.
        shown = [n for n in nodes if draft.facts[n]["persistent"]]
        profile = "{name} ({type})\n{persistent}\n{recent}".format_map
        draft.rewrite(shown, [profile(draft.facts[n]) for n in shown])
        return len(due)


@lru_cache(maxsize=50_000)
def lemmas(name: str) -> str:
    """Returns the stems of a name's words; they are equal for "dog" and "dogs" (A.2)."""
    return " ".join(map(stem, normalised(name).split()))


def likeness(one: str, other: str, rules: GraphParameters) -> float:
    """Returns the similarity of two names (``lemmas``) in [0, 1]; 0 for different entities.

    It is the larger of two measures. The share of common words (Jaccard) counts from
    ``rules.tokens`` on, with at least two in common; a single common word is left to graph repair.
    difflib's ratio counts from ``rules.spelling`` on, for names with the same first letter.

    Source: H-Mem A.2, which gives no limits.
    """
    common = 0.0
    if " " in one and " " in other:
        a, b = set(one.split()), set(other.split())
        common = len(a & b) / len(a | b) if len(a & b) > 1 else 0.0
    # The ratio is at most 2 · shorter / (shorter + longer): very different lengths need no
    # comparison.
    close = abs(len(one) - len(other)) <= 2 * (1 - rules.spelling) * max(len(one), len(other))
    spelt = 0.0
    if one[0] == other[0] and close:
        matcher = SequenceMatcher(None, one, other, autojunk=False)
        if matcher.quick_ratio() >= rules.spelling:  # never less than the ratio
            spelt = matcher.ratio()
    return max(common * (common >= rules.tokens), spelt * (spelt >= rules.spelling))
