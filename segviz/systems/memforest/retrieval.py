"""MemForest's retrieval: recall trees, browse them from root to leaf, rerank the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from segviz.construct import Declared, param
from segviz.retrieval import Retrieval
from segviz.systems.common.retrieval import (
    Scores,
    Search,
    best_first,
    question_similarity,
    with_units,
)
from segviz.systems.memforest.facts import FACT
from segviz.systems.memforest.trees import CELL, FAMILIES, beside

EMBEDDING, MODEL, FLAT, ROOTS = "emb", "llm", "flat-10", "root-only"
PLANNER = "+planner"
BROWSES = (EMBEDDING, EMBEDDING + PLANNER, MODEL, MODEL + PLANNER, FLAT, ROOTS)
"""Rows of Table 7."""
VIEWS = ("entity+scene+session", "entity+scene", "session only", "scene only", "entity only")
"""Rows of Table 6."""

Asked = tuple[str, Scores]
Round = tuple[dict[int, float], list[int]]


@dataclass(frozen=True)
class MemForestSearchParameters(Declared):
    """Parameters of MemForest's retrieval."""

    trees: int = param(10, "Trees recalled.", (1, 50), source="MemForest §5.1, 10")
    voters: int = param(30, "Facts that vote for trees.", (0, 500), source="code, 30")
    beam: int = param(10, "Branches followed at once.", (1, 50), source="code, 10")
    balance: float = param(
        0.5,
        "Weight of a root's own similarity against its best fact's.",
        (0, 1),
        source="equation 7 without a value; .5 is ours",
    )
    recall_by: str = param(
        "joint",
        "Trees by one joint score, or by facts and by roots separately.",
        choices=("joint", "union"),
        source="equation 7, joint; code, union",
    )
    families: str = param(
        VIEWS[0], "Trees that may be recalled.", choices=VIEWS, source="Table 6, its rows"
    )
    browse: str = param(
        EMBEDDING,
        "How branches are followed: by similarity (emb) or by a model (llm), with a "
        "sub-question for each tree (planner) or without; or no trees (flat-10) or none below "
        "their roots (root-only).",
        choices=BROWSES,
        source="Table 7, its rows; the paper's default is llm+planner (§5.1), which needs a model",
    )


@dataclass(slots=True)
class ForestSearch(Search):
    """MemForest's retrieval of one question on one memory (§4.3)."""

    system: MemForestSearchParameters

    def run(self, question: str) -> Retrieval:
        """Recalls trees, follows their branches down to leaves, and ranks the facts there."""
        structure, browse = self.view.structure, self.system.browse
        similarity = question_similarity(question, self.view)
        wanted = self.system.families.removesuffix(" only").split("+")
        trees = structure.of_kind(*wanted)
        if browse == FLAT or not trees:
            # The flat baseline of Table 7; also used until the first tree exists.
            cells = [c for c in structure.of_kind(CELL) if not self._facts_of(c)]
            every = self._sources([*structure.of_kind(FACT), *cells])
            evidence = best_first(every, similarity)[: self.view.k]
            note = f"Of all {len(every)} facts the {len(evidence)} most similar are taken"
            note += "." if browse == FLAT else ": these families have no tree yet."
        else:
            roots = self._recalled(trees, similarity)
            if browse == ROOTS:
                evidence, note = roots, f"The {len(roots)} roots are the evidence, without leaves."
            else:
                leaves = self._walk(self._plan(question, roots, similarity))
                evidence = self._sources(leaves)
                note = f"{len(leaves)} leaves lead to {len(evidence)} distinct pieces of evidence."
        ranked = best_first(evidence, similarity)
        note += " They are ranked by similarity with the question."
        self.tell("rerank", note, ranked, similarity, ranked[: self.view.k])
        return with_units(structure, ranked, similarity, self.stages)

    def _recalled(self, trees: Sequence[int], similarity: Scores) -> list[int]:
        """Returns the trees most like the question by equation 7, and the user's trees."""
        structure = self.view.structure
        # Two signals (§4.3): root recall by similarity, fact-to-tree recall by the best facts.
        votes = best_first(structure.of_kind(FACT), similarity)[: self.system.voters]
        best: dict[int, float] = {}
        hits: dict[int, int] = {}
        # Fact-to-tree recall: the best facts vote for the trees that contain them.
        for fact in votes:
            for root in self._above(fact).intersection(trees):
                best[root] = max(best.get(root, 0.0), float(similarity[fact]))
                hits[root] = hits.get(root, 0) + 1
        limit, a = self.system.trees, self.system.balance
        score = np.zeros(len(structure))
        if self.system.recall_by == "joint":
            for root in trees:
                score[root] = a * similarity[root] + (1 - a) * best.get(root, 0.0)
            order = best_first(trees, score)
            kept = order[:limit]
            how = f"{a:g} of the root's similarity and {1 - a:g} of its best fact's"
        else:
            down = best_first(trees, similarity)
            up = sorted(hits, key=lambda m: (-hits[m], m))
            kept = list(dict.fromkeys((*up[:limit], *down[:limit])))
            order = list(dict.fromkeys((*kept, *down)))
            score = similarity
            how = "most facts found, then the similarity of roots"
        # Authors' code: the user's tree is browsed for every question.
        always = [m for m in self._of_users(trees) if m not in kept]
        kept = [*kept, *always]
        kinds = [structure.kind[m] for m in kept]
        families = ", ".join(f"{kinds.count(f)} {f}" for f in FAMILIES if f in kinds)
        note = f"{len(kept)} of {len(trees)} trees by {how}: {families}."
        if always:
            note += f" {len(always)} of them are here because a user's tree is always browsed."
        self.tell("trees", note, order, score, kept)
        return kept

    def _of_users(self, trees: Sequence[int]) -> list[int]:
        """Returns the entity tree of the speaker "user"; without one those of all speakers."""
        s = self.view.structure
        speakers = {s.facts[m]["origin"] for m in s.of_kind(FACT)}
        names = {"user"} & speakers or speakers
        return [m for m in trees if s.kind[m] == "entity" and s.facts[m]["scope"] in names]

    def _above(self, item: int) -> set[int]:
        """Returns the roots of all trees that contain a fact or the cell it was said in."""
        s = self.view.structure
        seen: set[int] = set()
        layer = [item, *beside(s, item, CELL)]
        for node in layer:  # grows by the parents, up to the roots
            for parent in s.parents[node]:
                if parent not in seen:
                    seen.add(parent)
                    layer.append(parent)
        return {m for m in seen if s.kind[m] in FAMILIES}

    def _plan(self, question: str, roots: Sequence[int], similarity: Scores) -> dict[int, Asked]:
        """Returns the question of each tree, perhaps its own (§4.3), with all similarities."""
        scores = {question: similarity}
        texts = [question] * len(roots)
        if self.system.browse.endswith(PLANNER):
            texts = self.tasks.focus(question, [self.view.structure.text[m] for m in roots])
            for text in texts:
                if text not in scores:
                    scores[text] = question_similarity(text, self.view)
            own = [(m, text) for m, text in zip(roots, texts, strict=True) if text != question]
            listed = "; ".join(f"node {m} “{text}”" for m, text in own)
            note = f"{self.who}: {len(own)} of {len(roots)} trees get a sub-question of their own"
            self.tell("planner", f"{note}{': ' if listed else ''}{listed}.")
        return {root: (text, scores[text]) for root, text in zip(roots, texts, strict=True)}

    def _walk(self, asked: Mapping[int, Asked]) -> list[int]:
        """Returns the leaves that a beam search in each recalled tree reaches."""
        who = self.who if self.system.browse.startswith(MODEL) else "By similarity"
        beams = [self._beam(root, *of_tree) for root, of_tree in asked.items()]
        leaves: dict[int, None] = {}
        # Trees are browsed independently; the stages show round d of all trees together.
        for depth, rounds in enumerate(zip_longest(*beams, fillvalue=({}, [])), start=1):
            scores: dict[int, float] = {}
            kept: dict[int, None] = {}
            for choices, took in rounds:
                for node, score in choices.items():
                    scores[node] = max(scores.get(node, 0.0), score)
                kept |= dict.fromkeys(took)
            reached = [m for m in kept if self.view.structure.level[m] == 1]
            leaves |= dict.fromkeys(reached)
            browsed = sum(bool(choices) for choices, _ in rounds)
            note = (
                f"{who}: of {len(scores)} children in {browsed} trees their beams keep "
                f"{len(kept)}; {len(reached)} of them are leaves, where browsing ends."
            )
            order = sorted(scores, key=lambda m: (-scores[m], m))
            self.tell(f"browse {depth}", note, order, scores, list(kept))
        return list(leaves)

    def _beam(self, root: int, question: str, similarity: Scores) -> list[Round]:
        """Follows the best branches of one tree down to its leaves, as the authors' code does.

        Returns the scored children and the kept ones of each round. A model's order gives the first
        of n siblings n points, the last 1.
        """
        s = self.view.structure
        rounds: list[Round] = []
        frontier, room = [root], self.system.beam
        while frontier and room:
            choices: dict[int, float] = {}
            for node in frontier:
                children = s.children[node]
                scores = [float(similarity[child]) for child in children]
                if self.system.browse.startswith(MODEL):
                    order = self.tasks.order(question, [s.text[m] for m in children], scores)
                    scores = [float(len(order) - order.index(i)) for i in range(len(order))]
                choices |= zip(children, scores, strict=True)
            kept = sorted(choices, key=lambda m: -choices[m])[:room]
            rounds.append((choices, kept))
            frontier = [m for m in kept if s.level[m] > 1]
            # A reached leaf uses up one place of the beam.
            room -= len(kept) - len(frontier)
        return rounds

    def _sources(self, leaves: Sequence[int]) -> list[int]:
        """Returns the facts of leaves; for a cell without facts, the units of its dialogue."""
        s = self.view.structure
        sources: dict[int, None] = {}
        for leaf in leaves:
            own = [leaf] if s.kind[leaf] == FACT else self._facts_of(leaf) or s.children[leaf]
            sources.update(dict.fromkeys(own))
        return list(sources)

    def _facts_of(self, cell: int) -> list[int]:
        return list(dict.fromkeys(beside(self.view.structure, cell, FACT)))
