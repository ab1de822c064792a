"""xMemory's retrieval: themes and statements by coverage, then episodes that lower doubt."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from segviz.construct import param
from segviz.construct.tasks.words import content
from segviz.embedding import unit_rows
from segviz.retrieval import Retrieval
from segviz.systems.common.retrieval import (
    Scores,
    Search,
    best_first,
    question_similarity,
    with_units,
)
from segviz.systems.xmemory.themes import SEMANTIC, THEME, ThemeParameters

EPISODE = "episode"


def greedy(
    nodes: Sequence[int],
    weights: Mapping[int, Mapping[int, float]],
    relevance: Mapping[int, float],
    alpha: float,
    budget: int,
    target: float = 1.0,
) -> list[tuple[int, float, float]]:
    """Chooses nodes one by one by coverage and relevance.

    Each step takes the argmax of α·Σ w over the newly covered nodes / Z + (1 - α)·relevance. Z is
    the sum of all weights; relevance is scaled to [0, 1] (.5 if all are equal). A tie goes to the
    older node.

    Args:
        nodes: the candidates.
        weights: ``weights[i]`` maps i itself to 1 and its neighbours to their cosine.
        relevance: the relevance of each candidate.
        alpha: weight of coverage, in [0, 1].
        budget: most nodes to choose.
        target: share of the candidates at which the choice ends.

    Returns:
        The chosen nodes, each with its objective and the share covered after it.

    Source: xMemory §3.3, stage I, equation 4.
    """
    low, high = min(relevance.values(), default=0.0), max(relevance.values(), default=0.0)
    # s̃ in [0, 1] (equation 4), so that α compares it with the coverage.
    scaled = {n: (relevance[n] - low) / (high - low) if high > low else 0.5 for n in nodes}
    total = sum(w for row in weights.values() for w in row.values()) or 1.0
    covered: set[int] = set()
    chosen: list[tuple[int, float, float]] = []  # (node, objective, share covered)
    left = sorted(nodes)
    while left and len(chosen) < budget and len(covered) < target * len(nodes):
        # Equation 4: Δ(i; R) are the nodes that i would newly cover.
        def worth(node: int) -> float:
            fresh = sum(w for other, w in weights[node].items() if other not in covered)
            return round(alpha * fresh / total + (1 - alpha) * scaled[node], 9)

        best = max(left, key=lambda n: (worth(n), -n))
        value = worth(best)
        covered.update(weights[best])
        left.remove(best)
        chosen.append((best, value, len(covered) / len(nodes)))
    return chosen


@dataclass(frozen=True)
class XMemorySearchParameters(ThemeParameters):
    """Parameters of xMemory's retrieval."""

    search: str = param(
        "full",
        "Themes and statements by coverage (RepSel) or similarity alone, episodes by uncertainty "
        "(UncSion) or all that would be probed.",
        choices=("full", "+UncSion", "+RepSel", "Memory-only"),
        source="Table 4, its rows",
    )
    candidates: int = param(40, "Statements a question begins with.", (1, 500), source="code, 40")
    coverage: float = param(
        0.7, "Weight of coverage against relevance.", (0, 1), source="equation 4; code, .7"
    )
    covered: float = param(
        1.0,
        "Share of the candidates that is covered when the choice ends.",
        (0, 1),
        source="§3.3, stage I; code, 1",
    )
    themes: int = param(5, "Themes chosen at most.", (1, 50), source="§3.3; code, 5")
    statements: int = param(20, "Statements chosen at most.", (1, 100), source="§3.3; code, 20")
    dense: int = param(10, "Episodes that enter by similarity alone.", (0, 100), source="code, 10")
    support: float = param(
        0.5,
        "Weight of an episode's best statement, added to its own similarity.",
        (0, 5),
        source="§3.3, stage II; code, .5",
    )
    probes: int = param(10, "Episodes probed at most.", (1, 50), source="code, 10")
    early: int = param(
        3,
        "First probes among which one low gain ends the search.",
        (0, 50),
        source="§3.3, early stopping; code, 3",
    )
    low_gains: int = param(
        2, "Low gains that end the search later.", (1, 50), source="§3.3, early stopping; code, 2"
    )
    admit: float = param(
        0.02,
        "Nats an episode must gain to be admitted.",
        (-5, 5),
        source="code, -.40, which admits losses; .02 is ours",
    )
    expand: float = param(0.25, "Nats that also admit its messages.", (-5, 5), source="code, .25")
    accumulate: bool = param(
        False,
        "Judge each episode on top of those admitted, not always on the same base.",
        source="§3.3 leaves it open; code, no",
    )


@dataclass(slots=True)
class XMemorySearch(Search):
    """xMemory's retrieval of one question on one memory (§3.3)."""

    system: XMemorySearchParameters

    def run(self, question: str) -> Retrieval:
        """Chooses themes and statements by coverage, then episodes by uncertainty."""
        s = self.view.structure
        similarity = question_similarity(question, self.view)
        seeds = best_first(s.of_kind(SEMANTIC), similarity)[: self.system.candidates]
        owners = list(dict.fromkeys(p for m in seeds for p in s.parents[m]))
        note = f"The {len(seeds)} statements most similar belong to {len(owners)} themes."
        self.tell("candidates", note, seeds, similarity, seeds)
        # Stage I: equation 4 first on the candidates' themes, then on the statements in the chosen
        # ones.
        themes = self._choose("themes", owners, similarity, self.system.themes)
        inside = [m for theme in themes for m in s.children[theme]]
        statements = self._choose("statements", inside, similarity, self.system.statements)
        # Stage II: episodes, and their messages, only where they reduce uncertainty.
        episodes = self._episodes(statements, similarity)
        admitted, expanded = self._gate(question, [*themes, *statements], episodes)
        ranked = best_first([*themes, *statements], similarity)
        for episode in admitted:
            ranked.append(episode)
            if episode in expanded:
                ranked += best_first(s.children[episode], similarity)
        ranked = list(dict.fromkeys(ranked))
        # The evidence rests on the units that statements quote, then on all below ranked nodes that
        # are no themes, the most similar first.
        leaf_of = {int(s.start[leaf]): leaf for leaf in s.leaves}
        quoting = [str(s.facts[n].get("units") or "") for n in ranked if s.kind[n] == SEMANTIC]
        units = [int(unit) for quoted in quoting for unit in quoted.split()]
        for node in (n for n in ranked if s.kind[n] != THEME):
            units += sorted(s.coverage(node), key=lambda u: (-similarity[leaf_of[u]], u))
        return with_units(s, ranked, similarity, self.stages, units)

    def _choose(
        self, what: str, nodes: Sequence[int], similarity: Scores, budget: int
    ) -> list[int]:
        """Returns those of the themes or statements that are chosen, by coverage or similarity."""
        nodes, rules = list(dict.fromkeys(nodes)), self.system
        order = best_first(nodes, similarity)
        if rules.search not in ("full", "+RepSel"):
            kept = order[:budget]
            note = f"The {len(kept)} {what} most similar of {len(nodes)}."
            self.tell(what, note, order, similarity, kept)
            return kept
        relevance = {n: float(similarity[n]) for n in nodes}
        chosen = greedy(
            nodes,
            weights=self._graph(nodes),
            relevance=relevance,
            alpha=rules.coverage,
            budget=budget,
            target=rules.covered,
        )
        listed = "; ".join(f"node {n} ({v:.2f}, covers {c:.0%})" for n, v, c in chosen[:5])
        note = f"{len(chosen)} of {len(nodes)} {what}, one by one: {listed or 'none'}."
        if chosen:
            _, _, covered = chosen[-1]
            enough = covered >= rules.covered
            note += f" Ends as {'enough is covered' if enough else 'the budget is spent'}."
        kept = [n for n, _, _ in chosen]
        self.tell(what, note, order, similarity, kept)
        return kept

    def _graph(self, nodes: Sequence[int]) -> dict[int, dict[int, float]]:
        """Returns the graph of equation 4: candidates, with cosines to candidates near them."""
        s = self.view.structure
        if not nodes:
            return {}
        # All nodes of the layer are compared, also those that are no candidates.
        layer = s.of_kind(s.kind[nodes[0]])
        matrix = np.stack(
            [
                s.vector[list(s.children[n])].mean(axis=0) if s.kind[n] == THEME else s.vector[n]
                for n in layer
            ]
        )
        unit = unit_rows(matrix)
        place = {n: i for i, n in enumerate(layer)}
        graph: dict[int, dict[int, float]] = {}
        for node in nodes:
            similarity = np.round(unit @ unit[place[node]], 9)
            similarity[place[node]] = -np.inf
            near = np.argsort(-similarity, kind="stable")[: self.system.neighbours].tolist()
            # Of the nearest only candidates remain; a node covers itself fully.
            graph[node] = {node: 1.0} | {
                layer[j]: float(similarity[j])
                for j in near
                if similarity[j] > 0 and layer[j] in nodes
            }
        return graph

    def _episodes(self, statements: Sequence[int], similarity: Scores) -> list[int]:
        """Returns the episodes to probe: those of the statements and those most similar."""
        s = self.view.structure
        # Semantic support: the similarity of an episode's best statement.
        support: dict[int, float] = {}
        for statement in statements:
            for episode in s.children[statement]:
                support[episode] = max(support.get(episode, 0.0), float(similarity[statement]))
        dense = best_first(s.of_kind(EPISODE), similarity)[: self.system.dense]
        nodes = list(dict.fromkeys((*support, *dense)))
        own = [float(similarity[n]) for n in nodes]
        low, high = min(own, default=0.0), max(own, default=0.0)
        priority = np.zeros(len(s))
        for n, a in zip(nodes, own, strict=True):
            # Priority: direct similarity, scaled to [0, 1], plus semantic support.
            scaled = (a - low) / (high - low) if high > low else 0.5
            priority[n] = scaled + self.system.support * support.get(n, 0.0)
        order = best_first(nodes, priority)
        probed = order[: self.system.probes]
        note = (
            f"{len(support)} episodes of these statements and the {len(dense)} most similar; the "
            f"{len(probed)} of highest priority are probed."
        )
        if any(not s.facts[n].get("closed", True) for n in nodes):
            note += " The last episode is still open, so it has no statements yet."
        self.tell("episodes", note, order, priority, probed)
        return probed

    def _weights(self) -> dict[str, float]:
        """Returns the inverse document frequency of every stem, with messages as documents."""
        units = [content(u.text) for u in self.view.units]
        counts = Counter(stem for words in units for stem in words)
        return {stem: math.log(1 + len(units) / n) for stem, n in counts.items()}

    def _gate(
        self, question: str, chosen: Sequence[int], episodes: Sequence[int]
    ) -> tuple[list[int], set[int]]:
        """Returns the episodes that lower the uncertainty of an answer, and those down to messages.

        If none gains enough, the first is taken; without ``UncSion`` all are, without messages.
        """
        s, gates = self.view.structure, self.system
        if gates.search not in ("full", "+UncSion"):
            note = f"The {len(episodes)} episodes of highest priority are taken."
            self.tell("uncertainty", note, episodes, np.zeros(len(s)), episodes)
            return list(episodes), set()
        # The uncertainty that themes and statements leave is what each episode has to lower.
        context, weights = [s.text[n] for n in chosen], self._weights()
        base = self.tasks.uncertainty(question, context, weights)
        gains = np.zeros(len(s))
        admitted: list[int] = []
        expanded: set[int] = set()
        probed: list[int] = []
        low = 0
        reason = "every probe was checked"
        for count, episode in enumerate(episodes, start=1):
            with_it = self.tasks.uncertainty(question, [*context, s.text[episode]], weights)
            gains[episode] = gain = base - with_it
            probed.append(episode)
            # An episode is admitted for its gain, and down to its messages for a large one.
            if gain > gates.admit:
                admitted.append(episode)
                if gain > gates.expand:
                    expanded.add(episode)
                if gates.accumulate:
                    context.append(s.text[episode])
                    base = with_it
                continue
            # Early stopping: a low gain among the first probes, or several later, end the search.
            low += 1
            if count <= gates.early or low >= gates.low_gains:
                reason = f"{low} low gain{'s' * (low > 1)} in {count} probes"
                break
        listed = "; ".join(f"episode {n} gains {gains[n]:.2f}" for n in probed[:4])
        note = (
            f"Themes and statements leave {base:.2f} nats. {listed or 'No episode'}. "
            f"{len(admitted)} admitted, {len(expanded)} down to messages; ends as {reason}."
        )
        if not admitted and episodes:
            admitted = [episodes[0]]
            note += " None gains enough, so the first is taken."
        self.tell("uncertainty", note, probed, gains, admitted)
        return admitted, expanded
