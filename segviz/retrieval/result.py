"""Defines the record of an answered question: its evidence, scores and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Scorer, Stage
from segviz.retrieval.ledger import Ledger, explain, shares
from segviz.retrieval.relevance import matches, parts
from segviz.retrieval.selection import level_distribution
from segviz.retrieval.settings import RetrievalSettings
from segviz.tree import Span, Structure, thumbnail


@dataclass(frozen=True, slots=True)
class Evidence:
    """One retrieved node.

    ``span`` is half-open in units, ``turn_ids`` the turns below the node in order,
    ``rank_before`` and ``rank_after`` its 1-based rank by initial and final score among
    the admissible nodes.
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


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """An answered question.

    ``question`` was put to ``structure`` with ``settings``; ``evidence`` are the retrieved
    nodes, best first. ``initial`` and ``final`` float64 (n,), ``hops`` float64 (H + 1, n);
    ``before`` and ``after`` are the top-K node ids by initial and final score, best first.
    Under method "own", ``final`` are the scores of the system's own retrieval and ``stages``
    its stages. ``scorer`` gave the raw relevance.
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
        """Question, setting and how many nodes came back."""
        asked = self.settings
        how = "own retrieval" if self.own else f"{asked.policy} {asked.alpha:g}/{asked.horizon}"
        return f"Result({self.question!r:.80}: {len(self.evidence)} nodes by {how})"

    def _repr_html_(self) -> str:
        """The evidence under a small picture in which it is marked, for notebooks."""
        rows = "".join(
            f"<li>level {each.level}, {each.final:.4f}: {escape(each.text[:300])}</li>"
            for each in self.evidence
        )
        picture = thumbnail(self.structure, self.after)
        return f"<p>{escape(repr(self))}</p>{picture}<ol>{rows}</ol>"

    def frame(self) -> Any:
        """The evidence as a pandas DataFrame, a row per retrieved node, best first."""
        import pandas as pd

        return pd.DataFrame([asdict(each) for each in self.evidence])

    @cached_property
    def parts(self) -> dict[str, NDArray[np.float64]]:
        """What every ingredient of the relevance adds to the logarithm of each node's initial
        score, float64 (n,) each; none where it has no ingredients."""
        return {} if self.scorer is None else parts(self.scorer, self.question)

    def matches(self, nodes: Sequence[int]) -> dict[int, dict[str, float]]:
        """The words of these nodes that the relevance hears in the question, in lower case: 1 for
        those of its stems, the cosine for similar ones. Nodes without any are left out."""
        texts = [self.structure.text[node] for node in nodes]
        found = [] if self.scorer is None else matches(self.scorer, self.question, texts)
        return {node: words for node, words in zip(nodes, found, strict=False) if words}

    @property
    def own(self) -> bool:
        """Whether the system's own retrieval was used instead of propagation."""
        return self.settings.method == "own"

    def explain(self, node: int) -> Ledger:
        """Own score, split by ingredient, and every contribution by source and hop; sums to
        ``final[node]``.

        Under a system's own retrieval a score has no parts; ``stages`` explain it."""
        scores = self.final if self.own else self.initial
        ledger = explain(
            node, scores, self.structure.edges, *self.settings.propagation, self.structure
        )
        if self.own:
            return ledger
        at_node = {name: float(part[node]) for name, part in self.parts.items()}
        return replace(ledger, ingredients=shares(ledger.own, at_node))

    @property
    def score_names(self) -> tuple[str, str]:
        """Display names of ``initial`` and ``final``."""
        return ("relevance", "system") if self.own else ("initial", "propagated")

    @property
    def entered(self) -> tuple[int, ...]:
        """Nodes of the top by final score that were not in that by initial score, best first.
        With K nodes in both, as many entered as left."""
        return tuple(node for node in self.after if node not in self.before)

    @property
    def left(self) -> tuple[int, ...]:
        """Nodes of the top by initial score that are not in that by final score, best first."""
        return tuple(node for node in self.before if node not in self.after)

    @property
    def moved(self) -> int:
        """How many retrieved places changed their level: at most as many as nodes entered,
        unless a token budget or a system's own retrieval changes how many come back."""
        before, after = self.levels("initial"), self.levels("final")
        return sum(max(0, after[level] - before[level]) for level in after)

    @property
    def reading_order(self) -> tuple[Evidence, ...]:
        """The evidence in the order of time: by span, a wide node before nodes inside it."""

        def place(item: Evidence) -> tuple[int, int, int]:
            return item.span[0], -item.span[1], -item.level

        return tuple(sorted(self.evidence, key=place))

    @property
    def visited(self) -> dict[int, int]:
        """Level distribution of all nodes the system's own retrieval visited."""
        return level_distribution(
            self.structure, tuple({n: None for stage in self.stages for n in stage.nodes})
        )

    def levels(self, which: str = "final") -> dict[int, int]:
        """Retrieved-level distribution: how many of the top K lie on each level.

        ``which`` is ``"initial"`` or ``"final"``.
        """
        if which not in ("initial", "final"):
            raise ValueError(f"levels({which!r}): choose 'initial' or 'final'")
        return level_distribution(self.structure, self.before if which == "initial" else self.after)
