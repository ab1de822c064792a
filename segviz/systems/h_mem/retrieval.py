"""H-Mem's retrieval: plan, entities and their neighbours, events and summaries, one score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from segviz.construct import Declared, param
from segviz.construct.tasks import SubQuestion
from segviz.conversation import DAY, Moment, as_time, moments, seconds
from segviz.retrieval import Retrieval
from segviz.systems.common.retrieval import (
    Scores,
    Search,
    best_first,
    question_similarity,
    with_units,
)
from segviz.systems.h_mem.graph import ENTITY, lemmas
from segviz.systems.h_mem.tree import EVENT, SUMMARY

Times = tuple[float, float]


def robustness(age: float, mentions: int, tau: float, eta: float) -> float:
    """Returns R = exp(-age / (τ(1 + η·ln(1 + n)))), in (0, 1]; ``age`` and ``tau`` in seconds.

    A memory consolidated after the question (a negative age) counts as fresh.

    Source: H-Mem §3.3, equation 2.
    """
    return math.exp(-max(age, 0.0) / (tau * (1 + eta * math.log1p(mentions))))


def time_relevance(one: Times, other: Times, balance: float = 0.5) -> float:
    """Returns T = λ · overlap / union + (1 - λ) · (1 - centre distance / hull), in [0, 1].

    ``balance`` is λ.

    Source: H-Mem §3.3, equation 1. Departs from it: the distance is divided by the hull of both
        intervals, not by their union. By the union an instant a year away would score below -100
        and outweigh every other term. Intervals shorter than a day are widened to one day around
        their centre.
    """
    (a, b), (c, d) = _at_least_a_day(one), _at_least_a_day(other)
    overlap = max(0.0, min(b, d) - max(a, c))
    union = (b - a) + (d - c) - overlap
    hull = max(b, d) - min(a, c)
    apart = abs((a + b) - (c + d)) / 2
    return balance * overlap / union + (1 - balance) * (1 - apart / hull)


def _at_least_a_day(times: Times) -> Times:
    start, stop = times
    wider = max(0.0, DAY - (stop - start)) / 2
    return start - wider, stop + wider


_SCOPES = {"short": ("", EVENT), "long": (EVENT, SUMMARY), "mixed": ("", EVENT, SUMMARY)}


@dataclass(frozen=True)
class HMemSearchParameters(Declared):
    """Parameters of H-Mem's retrieval."""

    ablate: str = param(
        "full",
        "The part left out. Without the tree only fragments are evidence; without long "
        "memory no summaries; without the graph no entities.",
        choices=(
            "full",
            "w/o tree",
            "w/o graph",
            "w/o long memory",
            "w/o memory robustness",
            "w/o missing-info query",
            "w/o entity profile",
        ),
        source="Table 5, its rows",
    )
    semantic: float = param(0.70, "Weight of similarity.", (0, 1), source="A.2, .70")
    temporal: float = param(0.15, "Weight of nearness in time.", (0, 1), source="A.2, .15")
    robust: float = param(0.15, "Weight of robustness.", (0, 1), source="A.2, .15")
    overlap: float = param(
        0.5,
        "Weight λ of overlap against distance in time.",
        (0, 1),
        source="equation 1 without a value; .5 is ours",
    )
    tau: float = param(
        365.0, "Days in which a memory never met again fades to 1/e.", (1, 3650), source="A.2, 365"
    )
    eta: float = param(0.5, "How much repetition slows forgetting.", (0, 5), source="A.2, .5")
    seeds: int = param(
        5,
        "Entities taken by similarity, in addition to those named.",
        (0, 100),
        source="§3.3 without a number; 5 is ours",
    )
    hops: int = param(
        2,
        "Steps from the seeds along relations.",
        (0, 6),
        source="§3.3, multi-hop, without a number; 2 is ours",
    )
    decay: float = param(
        0.5, "What is left of an entity's strength after a step.", (0, 1), source="ours"
    )
    pool: int = param(
        10,
        "Fragments by entity and events by similarity that enter.",
        (1, 200),
        source="A.4 tries 5 to 50; 10 is ours",
    )
    judged: int = param(
        5,
        "Pieces of evidence checked for missing information.",
        (1, 50),
        source="§3.3 without a number; 5 is ours",
    )
    same: float = param(
        0.95,
        "Similarity above which two items on the same fragments count once.",
        (-1, 1),
        source="§3.3, de-duplicated, without a limit; .95 is ours",
    )
    scope: str = param(
        "planned",
        "Which items count: as planned per question, or always the same ones.",
        choices=("planned", "short", "long", "mixed"),
        source="§3.3; A.4 fixes mixed",
    )
    rerank: int = param(
        0,
        "Pieces of evidence that a model puts in order at the end; 0: none.",
        (0, 100),
        source="A.2 and Table 8, a reranker; the chat model in its place is ours, and 0, Table 8's "
        "embedding-only row",
    )


@dataclass(slots=True)
class HMemSearch(Search):
    """H-Mem's retrieval of one question on one memory."""

    system: HMemSearchParameters
    said_at: list[Moment] = field(default_factory=list)

    def run(self, question: str) -> Retrieval:
        """Retrieves items for each part of a question; an item keeps its best score."""
        view = self.view
        n = len(view.structure)
        said_at = self.said_at = moments(view.units)
        now = said_at[-1].seconds if said_at else 0.0
        dated = bool(said_at) and said_at[-1].dated
        # §3.3, step 1, retrieval planning: sub-questions, each with a scope and a time.
        parts = self.tasks.plan(question, as_time(now) if dated else None)
        scopes = [p.scope if self.system.scope == "planned" else self.system.scope for p in parts]
        planned = zip(parts, scopes, strict=True)
        listed = "; ".join(f"“{p.text}” ({s}{_times(p)})" for p, s in planned)
        plural = "part" if len(parts) == 1 else "parts"
        self.tell("plan", f"The question has {len(parts)} {plural}: {listed}.")
        total = np.zeros(n)
        for part, scope in zip(parts, scopes, strict=True):
            scores = self._part(part, scope, now)
            # Missing-info query (Table 5): the best evidence is checked, and searched once more if
            # it lacks something.
            evidence = [view.structure.text[m] for m in _best(scores)[: self.system.judged]]
            skip = self.system.ablate == "w/o missing-info query"
            follow = "" if skip else self.tasks.missing(part.text, evidence)
            if follow:
                self.tell("follow-up", f"The evidence lacks a piece; asks “{follow}”.")
                again = SubQuestion(follow, part.scope, part.when, part.expects)
                scores = np.maximum(scores, self._part(again, scope, now))
            else:
                self.tell("follow-up", "Nothing is missing; no second search.")
            total = np.maximum(total, scores)
        # A.2: a model puts the first items in order.
        ranked = self._once(_best(total))
        if first := ranked[: self.system.rerank]:
            texts = [view.structure.text[m] for m in first]
            order = self.tasks.order(question, texts, [float(total[m]) for m in first])
            self.tell("rerank", f"{self.who}: the first {len(first)} are put in order.")
            ranked = [*(first[i] for i in order), *ranked[len(first) :]]
        what = f"{len(ranked)} pieces of evidence in one chain."
        self.tell("evidence", what, ranked, total, ranked[: view.k])
        return with_units(view.structure, ranked, total, self.stages)

    def _part(self, part: SubQuestion, scope: str, now: float) -> Scores:
        """Returns the score F of every node for a part of the question; 0 outside its scope."""
        structure = self.view.structure
        similarity = question_similarity(part.text, self.view)
        ablate = self.system.ablate
        strength = {} if ablate == "w/o graph" else self._entities(part.text, similarity)
        fragments = self._fragments(strength, similarity)
        # Bottom up: from the fragments to their events, from these to the summaries above.
        pool, kinds = fragments, _SCOPES[scope]
        if ablate == "w/o tree":
            kinds = ("",)
        else:
            events = self._events(fragments, similarity)
            # Each has one parent at most; above a summary that is known all are known.
            above: dict[int, None] = {}
            for node in events:
                while (parents := structure.parents[node]) and parents[0] not in above:
                    node = parents[0]
                    above[node] = None
            pool = [*fragments, *events, *above]
        if ablate == "w/o long memory":
            kinds = _SCOPES["short"]
        # The scope decides which kinds count: "short" leaves out summaries, "long" fragments.
        kept = [node for node in dict.fromkeys(pool) if structure.kind[node] in kinds]
        dropped = len(set(pool)) - len(kept)
        when = (seconds(part.when[0]), seconds(part.when[1])) if part.when else None
        score, terms, w = np.zeros(len(structure)), dict[int, str](), self.system
        for node in kept:
            s, own = float(similarity[node]), self._times(node)
            t = time_relevance(own, when, w.overlap) if own and when else 0.0
            facts, r = structure.facts[node], 0.0
            if ablate != "w/o memory robustness":
                last, n = facts.get("last"), facts.get("n", facts.get("mentions", 0))
                if last is None:  # a fragment or entity: the time of its latest unit
                    last = self.said_at[int(structure.stop[node]) - 1].seconds
                r = robustness(now - float(last), int(n or 0), w.tau * DAY, w.eta)
            score[node] = w.semantic * s + w.temporal * t + w.robust * r  # equation 3
            terms[node] = f"node {node}: S {s:.2f}, T {t:.2f}, R {r:.2f}, F {score[node]:.2f}"
        order = best_first(kept, score)
        parts = "; ".join(terms[node] for node in order[:3])
        note = (
            f"Scope {scope} keeps {len(kept)} of {len(set(pool))} items"
            + (f" and drops {dropped}" if dropped else "")
            + (f". Best: {parts}." if parts else ".")
        )
        self.tell("score", note, order, score, order[: self.view.k])
        return score

    def _entities(self, text: str, similarity: Scores) -> dict[int, float]:
        """Returns the entities that a text names or resembles, and related ones, with strengths."""
        structure = self.view.structure
        known = structure.of_kind(ENTITY)
        # Lexical matches: an alias that occurs in the question, in whole words.
        asked = f" {lemmas(text)} "
        strength = {
            m: 1.0
            for m in known
            if any(
                f" {lemmas(a)} " in asked for a in str(structure.facts[m]["aliases"]).split("\n")
            )
        }
        # Seeds: lexical matches have strength 1, those by vector similarity their cosine.
        named = len(strength)
        for m in best_first(known, similarity)[: self.system.seeds]:
            strength.setdefault(m, float(similarity[m]))
        seeds = len(strength)
        reach = list(strength)
        # Multi-hop expansion along relations in both directions; strength decays with each hop.
        for _ in range(self.system.hops):
            further: dict[int, float] = {}
            inside = set(reach)
            for relation in structure.relations:
                for here, there in (
                    (relation.source, relation.target),
                    (relation.target, relation.source),
                ):
                    if here in inside and there not in strength:
                        passed = strength[here] * self.system.decay
                        further[there] = max(further.get(there, 0.0), passed)
            strength.update(further)
            reach = list(further)
        order = sorted(strength, key=lambda m: (-strength[m], m))
        note = (
            f"{named} entities are named in the question, {seeds - named} more are like it; "
            f"{len(strength) - seeds} are within {self.system.hops} hops of these."
        )
        self.tell("entities", note, order, strength, order)
        return strength

    def _fragments(self, strength: dict[int, float], similarity: Scores) -> list[int]:
        """Returns the best of the fragments that mention the entities."""
        structure = self.view.structure
        reached: dict[int, float] = {}
        for entity, by in strength.items():
            for fragment in structure.children[entity]:
                reached[fragment] = max(reached.get(fragment, 0.0), by)
        # A fragment is as strong as the strongest entity it mentions, times its own similarity.
        weighed = {f: by * float(similarity[f]) for f, by in reached.items()}
        order = sorted(weighed, key=lambda f: (-weighed[f], f))
        kept = order[: self.system.pool]
        note = f"{len(order)} fragments mention these entities; the {len(kept)} best go on."
        self.tell("fragments", note, order, weighed, kept)
        return kept

    def _events(self, fragments: Sequence[int], similarity: Scores) -> list[int]:
        """Returns the events of the fragments, and the events most like the question."""
        structure = self.view.structure
        linked = [p for f in fragments for p in structure.parents[f] if structure.kind[p] == EVENT]
        dense = best_first(structure.of_kind(EVENT), similarity)[: self.system.pool]
        events = list(dict.fromkeys((*linked, *dense)))
        note = f"{len(set(linked))} events of these fragments and the {len(dense)} most similar."
        self.tell("events", note, events, similarity, events)
        return events

    def _times(self, node: int) -> Times | None:
        """Returns the time that an item speaks of, else its own; None if unknown."""
        structure = self.view.structure
        if structure.kind[node] == ENTITY:
            return None
        while not structure.kind[node]:  # a fragment has the time of its first event
            above = [p for p in structure.parents[node] if structure.kind[p] == EVENT]
            if not above:
                return None
            node = above[0]
        facts = structure.facts[node]
        if not facts.get("dated"):
            return None
        first, last = facts.get("about_from", facts["from"]), facts.get("about_to", facts["to"])
        return (float(first or 0.0), float(last or 0.0))

    def _once(self, ranked: Sequence[int]) -> list[int]:
        """Drops items that nearly repeat a better item on the same fragments."""
        structure = self.view.structure
        kept: dict[tuple[int, ...], list[int]] = {}
        result = []
        for node in ranked:
            # §3.3, de-duplicated: only items over the same fragments can repeat each other.
            twins = kept.setdefault(structure.coverage(node), [])
            if any(structure.vector[node] @ structure.vector[t] > self.system.same for t in twins):
                continue
            twins.append(node)
            result.append(node)
        return result


def _best(scores: Scores) -> list[int]:
    return best_first(np.flatnonzero(scores > 0).tolist(), scores)


def _times(part: SubQuestion) -> str:
    if part.when is None:
        return ""
    return f", {part.when[0]:%Y-%m-%d} to {part.when[1]:%Y-%m-%d}"
