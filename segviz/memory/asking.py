"""Assembly: one question, from relevance to evidence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Recalls, Services, Stage, View
from segviz.llm import Chat
from segviz.retrieval import Evidence, Result, initial_scores, propagate, ranks, taken, top_k
from segviz.retrieval.adaptive import ADAPTIVE, Choice, choose
from segviz.tree import Structure

if TYPE_CHECKING:
    from segviz.memory.memory import Memory


def ask(
    memory: Memory,
    question: str,
    *,
    policy: str = "top-down",
    alpha: float = 0.1,
    horizon: int = 2,
    k: int = 10,
    budget: int | None = None,
    levels: Collection[int] | None = None,
    relevance: str = "hybrid",
    distinct: bool = True,
    step: int | None = None,
    method: str = "propagate",
    chat: Chat | None = None,
) -> Result:
    """Retrieve the evidence for a question (SegTreeMem Algorithm 2).

    ``policy``, ``alpha`` in [0, 1) and ``horizon`` ≥ 0 steer propagation; policy "adaptive"
    chooses the three for this question (``segviz.retrieval.adaptive``), and the result holds
    what was chosen and why. ``k`` ≥ 1 nodes are returned from the admissible ``levels`` (None:
    all), best first, or, with a ``budget``, as many of the best as its tokens pay for
    (``segviz.retrieval.taken``); ``distinct`` counts nodes that carry the same text once;
    ``step`` asks the memory as it stood then, with the texts a lazy system had postponed
    written first (where that takes a chat model: if ``chat`` is given).

    ``method`` "propagate" is the above on any structure; "own" is the retrieval the system
    came with, for which policy, alpha, horizon and distinct do not count (``chat`` is the
    model it may call; without one it uses its offline stand-ins). Then ``initial`` are the
    relevance scores, ``final`` the system's own, and ``stages`` tell how they came about.
    ValueError names value and legal range for a bad setting.
    """
    structure = memory.structure if step is None else memory.settled(step, chat)
    raw = memory.scorer(relevance, structure)([question])[0]
    first = initial_scores(raw, structure.active)
    stages: tuple[Stage, ...] = ()
    choice: Choice | None = None
    if method == "own":
        policy, alpha, horizon = "none", 0.0, 0
        view = View(
            structure,
            memory.units[: _heard(memory, step)],
            memory.scorer(relevance, structure),
            Services(memory.embedder, chat),
            k,
        )
        recall = _own(memory).recall(question, view)
        admitted = [n for n in recall.ranked if levels is None or structure.level[n] in levels]
        initial, final = first, _shares(recall.scores)
        after = taken(admitted, structure.text, k, budget)
        hops, stages = first[None], recall.stages
    elif method == "propagate":
        if policy == ADAPTIVE:
            choice = choose(question, first, structure)
            policy, alpha, horizon = choice.setting
        spread = propagate(first, structure.edges, policy, alpha, horizon, structure)
        initial, final, hops = spread.hops[0], spread.final, spread.hops
        after = top_k(final, structure, k, levels, distinct, budget)
    else:
        raise ValueError(f"method is {method!r}; choose 'propagate' or 'own'")
    before = top_k(initial, structure, k, levels, distinct, budget)
    was = ranks(after, initial, structure, levels, distinct)
    return Result(
        question,
        structure,
        policy,
        alpha,
        horizon,
        initial,
        final,
        hops,
        tuple(before),
        tuple(after),
        _evidence(memory, structure, initial, final, after, was),
        method,
        stages,
        choice,
    )


def _evidence(
    memory: Memory,
    structure: Structure,
    initial: NDArray[np.float64],
    final: NDArray[np.float64],
    after: Sequence[int],
    was: Sequence[int],
) -> tuple[Evidence, ...]:
    """The nodes of ``after``, best first, each with both scores and its rank before."""
    return tuple(
        Evidence(
            node=node,
            level=int(structure.level[node]),
            span=(int(structure.start[node]), int(structure.stop[node])),
            turn_ids=memory.turn_ids(node, structure),
            text=structure.text[node],
            initial=float(initial[node]),
            final=float(final[node]),
            rank_before=rank_before,
            rank_after=rank,
        )
        for rank, (node, rank_before) in enumerate(zip(after, was, strict=True), start=1)
    )


def _own(memory: Memory) -> Recalls:
    """The system of a memory, if it has a retrieval of its own."""
    if not isinstance(memory.model, Recalls):
        raise ValueError(
            f"the system {memory.system!r} has no retrieval of its own; ask with method='propagate'"
        )
    return memory.model


def _heard(memory: Memory, step: int | None) -> int:
    """How many units have arrived after ``step`` steps (None: all of them)."""
    steps = memory.steps if step is None else memory.steps[:step]
    return steps[-1].unit.index + 1 if steps else 0


def _shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores as shares of their sum; all 0 where nothing was reached."""
    total = float(scores.sum())
    return scores / total if total > 0 else np.zeros_like(scores)
