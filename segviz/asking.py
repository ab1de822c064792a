"""Assembly: one question, from relevance to evidence."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from segviz.propagate import propagate
from segviz.relevance import initial_scores
from segviz.result import Evidence, Result
from segviz.retrieve import ranking, top_k
from segviz.structure import Structure

if TYPE_CHECKING:
    from segviz.memory import Memory


def ask(
    memory: Memory,
    question: str,
    *,
    policy: str = "top-down",
    alpha: float = 0.1,
    horizon: int = 2,
    k: int = 10,
    levels: Collection[int] | None = None,
    relevance: str = "hybrid",
    distinct: bool = True,
    step: int | None = None,
) -> Result:
    """Retrieve the evidence for a question (SegTreeMem Algorithm 2).

    ``policy``, ``alpha`` in [0, 1) and ``horizon`` ≥ 0 steer propagation; ``k`` ≥ 1 nodes
    are returned from the admissible ``levels`` (None: all), best first; ``distinct``
    counts nodes that carry the same text once; ``step`` asks the memory as it stood then.
    ValueError names value and legal range for a bad setting.
    """
    structure = memory.structure if step is None else memory.at(step)
    raw = memory.scorer(relevance, structure)([question])[0]
    spread = propagate(
        initial_scores(raw, structure.active),
        structure.edges,
        policy,
        alpha,
        horizon,
        structure,
    )
    initial = spread.hops[0]
    before = top_k(initial, structure, k, levels, distinct)
    after = top_k(spread.final, structure, k, levels, distinct)
    rank_before = _ranks(initial, structure, levels, distinct)
    evidence = tuple(
        Evidence(
            node=node,
            level=int(structure.level[node]),
            span=(int(structure.start[node]), int(structure.stop[node])),
            turn_ids=memory.turn_ids(node, structure),
            text=structure.text[node],
            initial=float(initial[node]),
            final=float(spread.final[node]),
            rank_before=int(rank_before[structure.carrier[node] if distinct else node]),
            rank_after=rank,
        )
        for rank, node in enumerate(after, start=1)
    )
    return Result(
        question,
        structure,
        policy,
        alpha,
        horizon,
        initial,
        spread.final,
        spread.hops,
        tuple(before),
        tuple(after),
        evidence,
    )


def _ranks(
    scores: NDArray[np.float64],
    structure: Structure,
    levels: Collection[int] | None,
    distinct: bool,
) -> NDArray[np.int64]:
    """1-based rank of each node, int64 (n,); with ``distinct`` indexed by carrier."""
    order = ranking(scores, structure, levels, distinct)
    ranks = np.zeros(len(structure), dtype=np.int64)
    ranks[structure.carrier[order] if distinct else order] = np.arange(1, len(order) + 1)
    return ranks
