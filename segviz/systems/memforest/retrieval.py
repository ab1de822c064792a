"""MemForest's retrieval: recall trees, browse them from root to leaf, rerank the facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Retrieval, Stage, View
from segviz.construct.tasks import Tasks
from segviz.conversation import as_time, moments
from segviz.systems.common.retrieval import question_similarity, with_units
from segviz.systems.memforest.facts import CELL, FACT
from segviz.systems.memforest.trees import FAMILIES

_FACTS = 30  # facts that vote for trees; code, 30
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Browsing:
    """Numbers of trees and branches followed, and what chooses them."""

    trees: int
    beam: int
    balance: float
    recall_by: str
    browse: str


@dataclass(slots=True)
class ForestSearch:
    """One question on one memory."""

    view: View
    tasks: Tasks
    browsing: Browsing
    stages: list[Stage] = field(default_factory=list)

    def run(self, question: str) -> Retrieval:
        """Retrieves: trees, then branches down to leaves, then their facts, reranked."""
        structure = self.view.structure
        similarity = self._plan(question)
        if self.browsing.browse == "flat":
            items = self._of(FACT) + [c for c in self._of(CELL) if not self._facts_of(c)]
        else:
            roots = self._trees(similarity)
            items = (
                roots if self.browsing.browse == "root" else self._walk(question, roots, similarity)
            )
        found = self._facts(items)
        ranked = sorted(found, key=lambda m: (-similarity[m], m))
        note = (
            f"{len(items)} places lead to {len(ranked)} distinct pieces of evidence, reranked by "
            "similarity."
        )
        self._tell("rerank", note, ranked, similarity, ranked[: self.view.k])
        return with_units(structure, ranked, similarity, self.stages)

    def _tell(
        self, name: str, note: str, nodes: Sequence[int], scores: Scores, kept: Sequence[int]
    ) -> None:
        self.stages.append(
            Stage(name, note, tuple(nodes), tuple(float(scores[m]) for m in nodes), tuple(kept))
        )

    def _plan(self, question: str) -> Scores:
        """Similarity with the question or, where it has parts, with the part most similar."""
        said_at = moments(self.view.units)
        now = as_time(said_at[-1].seconds) if said_at and said_at[-1].dated else None
        parts = self.tasks.plan(question, now)
        listed = "; ".join(f"“{part.text}”" for part in parts)
        self.stages.append(Stage("plan", f"Every tree is asked {listed}."))
        return np.asarray(np.max([question_similarity(p.text, self.view) for p in parts], axis=0))

    def _of(self, *kinds: str) -> list[int]:
        s = self.view.structure
        return [m for m in range(len(s)) if s.active[m] and s.kind[m] in kinds]

    def _trees(self, similarity: Scores) -> list[int]:
        """Returns the trees whose root or best fact is most like the question."""
        roots = self._of(*FAMILIES)
        votes = sorted(self._of(FACT), key=lambda m: (-similarity[m], m))[:_FACTS]
        best: dict[int, float] = {}
        hits: dict[int, int] = {}
        for fact in votes:
            for root in self._above(fact):
                best[root] = max(best.get(root, 0.0), float(similarity[fact]))
                hits[root] = hits.get(root, 0) + 1
        limit, a = self.browsing.trees, self.browsing.balance
        score = np.zeros(len(self.view.structure))
        if self.browsing.recall_by == "joint":
            for root in roots:
                score[root] = a * similarity[root] + (1 - a) * best.get(root, 0.0)
            order = sorted(roots, key=lambda m: (-score[m], m))
            kept = order[:limit]
            how = f"{a:g} of the root's similarity and {1 - a:g} of its best fact's"
        else:
            down = sorted(roots, key=lambda m: (-similarity[m], m))
            up = sorted(hits, key=lambda m: (-hits[m], m))
            kept = list(dict.fromkeys((*up[:limit], *down[:limit])))
            order = list(dict.fromkeys((*kept, *down)))
            score = similarity
            how = "most facts found, then the similarity of roots"
        kinds = [self.view.structure.kind[m] for m in kept]
        families = ", ".join(f"{kinds.count(f)} {f}" for f in FAMILIES if f in kinds)
        note = f"{len(kept)} of {len(roots)} trees by {how}: {families or 'none'}."
        self._tell("trees", note, order, score, kept)
        return kept

    def _above(self, item: int) -> set[int]:
        """Roots of the trees that hold a fact, or the cell it was said in."""
        s = self.view.structure
        cells = [p for u in s.children[item] for p in s.parents[u] if s.kind[p] == CELL]
        seen: set[int] = set()
        layer = [item, *cells]
        for node in layer:
            for parent in s.parents[node]:
                if parent not in seen:
                    seen.add(parent)
                    layer.append(parent)
        return {m for m in seen if s.kind[m] in FAMILIES}

    def _walk(self, question: str, roots: Sequence[int], similarity: Scores) -> list[int]:
        """A beam over all recalled trees at once; what reaches level 1 is settled."""
        s = self.view.structure
        # A round looks at the children of the frontier and keeps as many as the beam has room
        # for beside the leaves settled before; inner nodes kept are the next frontier.
        settled: dict[int, None] = {}
        frontier = list(roots)
        depth = 0
        while frontier:
            depth += 1
            choices: dict[int, float] = {}
            for node in frontier:
                children = s.children[node]
                scores = [float(similarity[c]) for c in children]
                if self.browsing.browse == "llm" and len(children) > 1:
                    order = self.tasks.order(question, [s.text[c] for c in children], scores)
                    # Ranks of wide and narrow nodes compare only as shares.
                    scores = [1 - order.index(i) / len(order) for i in range(len(order))]
                for child, score in zip(children, scores, strict=True):
                    choices[child] = max(choices.get(child, 0.0), score)
            order_all = sorted(choices, key=lambda m: (-choices[m], m))
            room = max(self.browsing.beam - len(settled), 0)
            kept = [m for m in order_all if m not in settled][:room]
            leaves = [m for m in kept if s.level[m] == 1]
            settled.update(dict.fromkeys(leaves))
            frontier = [m for m in kept if s.level[m] > 1]
            note = (
                f"Of {len(order_all)} children the beam keeps {len(kept)}; {len(leaves)} of them "
                f"are leaves and settled."
            )
            self.stages.append(
                Stage(
                    f"browse {depth}",
                    note,
                    tuple(order_all),
                    tuple(choices[m] for m in order_all),
                    tuple(kept),
                )
            )
        return list(settled)

    def _facts(self, places: Sequence[int]) -> list[int]:
        """Returns the facts at or below these nodes; a cell that has none stands for itself."""
        s = self.view.structure
        found: dict[int, None] = {}
        seen = set(places)
        pending = list(places)
        for node in pending:
            if s.kind[node] == FACT:
                found[node] = None
            elif s.kind[node] == CELL:
                found.update(dict.fromkeys(self._facts_of(node) or [node]))
            else:
                pending += [c for c in s.children[node] if c not in seen]
                seen.update(s.children[node])
        return list(found)

    def _facts_of(self, cell: int) -> list[int]:
        s = self.view.structure
        return list(
            dict.fromkeys(p for u in s.children[cell] for p in s.parents[u] if s.kind[p] == FACT)
        )
