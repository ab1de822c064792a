"""Defines Result, the record of a question: retrieved nodes, scores and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.retrieval.ledger import Ledger, explain, shares
from segviz.retrieval.protocols import Scorer, Stage
from segviz.retrieval.relevance import matches, parts
from segviz.retrieval.selection import distinct, level_distribution, ranking
from segviz.retrieval.settings import RetrievalSettings
from segviz.tree import Span, Structure, thumbnail


@dataclass(frozen=True, slots=True)
class Evidence:
    """Retrieved node with its scores and ranks.

    Attributes:
        node: id of the node.
        level: its level; 0 is a leaf.
        span: its first unit, and one past its last.
        turn_ids: ids of the turns below the node, in order.
        text: its annotation, cut if the token budget ends in it.
        initial: its score before propagation.
        final: its score after propagation.
        rank_before: its 1-based rank by initial score among the admissible nodes, or among the
            leaves that are read in their place; 0 if it is none of them.
        rank_after: the same by final score, or in the order of the system's own retrieval.
        cut: True if the token budget ends in its text.
        through: the retrieved inner node as one of whose best leaves it is read (``expand``); None
            for a node that was retrieved itself.
    """

    node: int
    level: int
    span: Span
    turn_ids: tuple[str, ...]
    text: str
    initial: float
    final: float
    rank_before: int
    rank_after: int
    cut: bool = False
    through: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A question and the nodes retrieved for it.

    Attributes:
        question: the question.
        structure: the memory at the moment of the question, n nodes.
        settings: the retrieval settings, with the relevance in force named.
        initial: s⁽⁰⁾, float64 (n,).
        final: s̃, float64 (n,). Under method "native", the scores of the system's own retrieval,
            divided by their sum.
        hops: s⁽⁰⁾ … s⁽ᴴ⁾, float64 (H + 1, n).
        before: ids of the top K nodes by initial score, best first.
        after: ids of the top K nodes by final score, best first.
        evidence: the retrieved nodes, best first.
        stages: the stages of the system's own retrieval; empty otherwise.
        scorer: the relevance that gave the raw scores.
    """

    question: str
    structure: Structure
    settings: RetrievalSettings
    initial: NDArray[np.float64]
    final: NDArray[np.float64]
    hops: NDArray[np.float64]
    before: tuple[int, ...]
    after: tuple[int, ...]
    evidence: tuple[Evidence, ...]
    stages: tuple[Stage, ...] = ()
    scorer: Scorer | None = None

    def __repr__(self) -> str:
        """Returns the question, the number of retrieved nodes and how they were scored."""
        how = self.settings.in_words
        return f"Result({self.question!r:.80}: {len(self.evidence)} nodes by {how})"

    def _repr_html_(self) -> str:
        """Returns HTML for notebooks: a small picture with the retrieved nodes, and their texts."""
        rows = "".join(
            f"<li>level {each.level}, {each.final:.4f}: {escape(each.text[:300])}</li>"
            for each in self.evidence
        )
        picture = thumbnail(self.structure, self.after)
        return f"<p>{escape(repr(self))}</p>{picture}<ol>{rows}</ol>"

    def frame(self) -> Any:
        """Returns the evidence as a pandas DataFrame, a row per retrieved node, best first."""
        import pandas as pd

        return pd.DataFrame([asdict(each) for each in self.evidence])

    @cached_property
    def parts(self) -> dict[str, NDArray[np.float64]]:
        """Summand of each feature of the relevance in the log of initial scores, float64 (n,)."""
        return {} if self.scorer is None else parts(self.scorer, self.question)

    def matches(self, nodes: Sequence[int]) -> dict[int, dict[str, float]]:
        """Returns the words of some nodes that match the question, in lower case.

        Maps a node to its words; a word maps to 1 if the question has a word of its stem, to a
        cosine if the question has a similar word. Nodes without a match are left out.
        """
        if self.scorer is None:
            return {}
        texts = [self.structure.text[node] for node in nodes]
        by_node = zip(nodes, matches(self.scorer, self.question, texts), strict=False)
        return {node: words for node, words in by_node if words}

    def similar(self, text: str, count: int) -> list[int]:
        """Returns the nodes most relevant to another text, by the relevance of this result.

        Args:
            text: the text, asked like a question.
            count: most nodes to return.

        Returns:
            At most ``count`` nodes that have a positive score and do not repeat each other, best
            first.
        """
        if self.scorer is None:
            return []
        scores = self.scorer([text])[0]
        best = islice(distinct(ranking(scores, self.structure), self.structure), count)
        return [node for node in best if scores[node] > 0]

    @property
    def native(self) -> bool:
        """True if the system's own retrieval was used instead of propagation."""
        return self.settings.method == "native"

    def explain(self, node: int) -> Ledger:
        """Splits a node's final score into contributions by source and hop.

        The node's own contribution is split further, by feature of the relevance. The scores of a
        system's own retrieval are not split; ``stages`` describe how they arose.

        Args:
            node: the node to explain.

        Returns:
            A ledger that sums to ``final[node]``.

        Raises:
            ValueError: the node does not exist.
        """
        # The system's own retrieval has no propagation: the final scores are the node's own.
        scores = self.final if self.native else self.initial
        ledger = explain(
            node, scores, self.structure.edges, self.settings.propagation, self.structure
        )
        if self.native:
            return ledger
        at_node = {name: float(part[node]) for name, part in self.parts.items()}
        return replace(ledger, ingredients=shares(ledger.own, at_node))

    @property
    def score_names(self) -> tuple[str, str]:
        """Names of the scores ``initial`` and ``final`` on screen."""
        return ("relevance", "system") if self.native else ("initial", "propagated")

    @property
    def entered(self) -> tuple[int, ...]:
        """Nodes in the top K by final score only, best first."""
        return tuple(node for node in self.after if node not in self.before)

    @property
    def left(self) -> tuple[int, ...]:
        """Nodes that are in the top K by initial score only, best first."""
        return tuple(node for node in self.before if node not in self.after)

    @property
    def reading_order(self) -> tuple[Evidence, ...]:
        """Retrieved nodes in the order of time: by span, a wide node before the nodes inside it."""
        return tuple(sorted(self.evidence, key=lambda it: (it.span[0], -it.span[1], -it.level)))

    @property
    def visited(self) -> dict[int, int]:
        """Number of nodes on each level that the system's own retrieval visited."""
        return level_distribution(
            self.structure, tuple({n: None for stage in self.stages for n in stage.nodes})
        )

    def levels(self, which: str = "final") -> dict[int, int]:
        """Counts the retrieved nodes on each level.

        Args:
            which: ``"initial"`` or ``"final"``, for the top K by that score.

        Returns:
            Level to number of nodes, for every level of the structure.

        Raises:
            ValueError: ``which`` is neither.
        """
        if which not in ("initial", "final"):
            raise ValueError(f"levels({which!r}): choose 'initial' or 'final'")
        return level_distribution(self.structure, self.before if which == "initial" else self.after)
