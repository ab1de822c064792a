"""Retrieves the evidence for one question from a structure: relevance, propagation, selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from segviz.retrieval import (
    Evidence,
    Result,
    Retrieval,
    RetrievalSettings,
    Scorer,
    Stage,
    cut_texts,
    expanded,
    initial_scores,
    propagate,
)
from segviz.tree import Structure


def retrieved(
    question: str,
    settings: RetrievalSettings,
    structure: Structure,
    scorer: Scorer,
    native: Callable[[], Retrieval],
    turn_ids: Callable[[int, Structure], tuple[str, ...]],
) -> Result:
    """Retrieves the evidence for a question from a structure.

    Args:
        question: the question.
        settings: settings that name the relevance (``RetrievalSettings.resolved``).
        structure: the memory at one moment.
        scorer: a relevance model prepared on the structure.
        native: runs the system's own retrieval; called under method "native" only.
        turn_ids: returns the ids of the turns below a node.
    """
    levels = settings.levels
    # Algorithm 2, line 6: relevance gives the initial scores, whatever the method.
    initial = initial_scores(scorer([question])[0], structure.retrievable)
    stages: tuple[Stage, ...] = ()
    if settings.method == "native":
        # The system ranks its nodes; its scores are divided by their sum, as the initial ones are.
        own = native()
        ranked = [n for n in own.ranked if levels is None or structure.level[n] in levels]
        order = dict(zip(ranked, ranked, strict=True))
        if settings.expand is not None:
            order = expanded(ranked, structure, settings.expand, own.ranked)
        final, hops, stages = own.scores, initial[None], own.stages
        final = final / (float(final.sum()) or 1.0)
    else:
        # Lines 7 to 13: scores spread over the structure.
        spread = propagate(initial, structure.edges, *settings.propagation, structure)
        initial, final, hops = spread.hops[0], spread.final, spread.hops
        order = settings.order(final, structure)
    # Line 14: the best K nodes, with their ranks by both scores.
    first = settings.order(initial, structure)
    before, after = settings.read(first, structure), settings.read(order, structure)
    was, now = ({node: rank for rank, node in enumerate(each, start=1)} for each in (first, order))
    texts = cut_texts((structure.text[node] for node in after), settings.budget)
    evidence = tuple(
        Evidence(
            node=node,
            level=int(structure.level[node]),
            span=(int(structure.start[node]), int(structure.stop[node])),
            turn_ids=turn_ids(node, structure),
            text=text,
            initial=float(initial[node]),
            final=float(final[node]),
            rank_before=was.get(node, 0),
            rank_after=now[node],
            cut=len(text) < len(structure.text[node]),
            through=None if order[node] == node else order[node],
        )
        for node, text in zip(after, texts, strict=True)
    )
    return Result(
        question=question,
        structure=structure,
        settings=settings,
        initial=initial,
        final=final,
        hops=hops,
        before=tuple(before),
        after=tuple(after),
        evidence=evidence,
        stages=stages,
        scorer=scorer,
    )


def of_chains(retrieval: Retrieval, chain: NDArray[np.int32]) -> Retrieval:
    """Merges the nodes of a same-text chain, by ``chain``, to one with the score of the best."""
    scores = np.zeros_like(retrieval.scores)
    np.maximum.at(scores, chain, retrieval.scores)
    ranked = tuple(dict.fromkeys(chain[list(retrieval.ranked)].tolist()))

    def shown(stage: Stage) -> Stage:
        """Returns a stage with each node replaced by its shown ancestor, named once."""
        nodes = chain[list(stage.nodes)].tolist()
        # The first place of each node: reversed, earlier places overwrite later ones.
        first = {node: place for place, node in reversed(list(enumerate(nodes)))}
        places = sorted(first.values())
        return replace(
            stage,
            nodes=tuple(nodes[place] for place in places),
            scores=tuple(stage.scores[place] for place in places) if stage.scores else (),
            kept=tuple(dict.fromkeys(chain[list(stage.kept)].tolist())),
        )

    return Retrieval(scores, ranked, tuple(map(shown, retrieval.stages)))
