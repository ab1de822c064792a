"""Answers one question with evidence: relevance, propagation, selection."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from segviz.construct import Retrieval, Retriever, Services, Stage, View
from segviz.conversation import Question
from segviz.llm import Chat
from segviz.retrieval import (
    Evidence,
    Result,
    RetrievalSettings,
    initial_scores,
    propagate,
    ranks,
    taken,
    top_k,
)
from segviz.tree import Structure

if TYPE_CHECKING:
    from segviz.memory.memory import Memory


def ask(
    memory: Memory,
    question: str | Question,
    settings: RetrievalSettings | None = None,
    *,
    chat: Chat | None = None,
    **changes: Any,
) -> Result:
    """Retrieve the evidence for a question (SegTreeMem Algorithm 2).

    ``settings`` (default: those of :class:`RetrievalSettings`) with ``changes`` to its fields by
    keyword: ``ask(memory, "Who is Luna?", policy="both", alpha=0.3)``. A data set's question that
    stands at a moment of the conversation is asked of the memory as it was then
    (``Memory.moment``), unless the settings name a ``step``; those of the result name it. A memory
    that knows nothing yet gives no evidence. With an earlier ``step``, texts that a lazy system had
    postponed are written first; where that takes a chat model, only if ``chat`` is given.

    A relevance that is not named is the usual one; the result's settings name it. Under method
    "own" ``chat`` is the model the system may call; without one it uses its offline stand-ins. Then
    ``initial`` are the relevance scores, ``final`` the system's own, and ``stages`` explain them.
    ValueError names value and legal range for a bad setting, and a question that is no text;
    TypeError an unknown setting.
    """
    settings = replace(settings or RetrievalSettings(), **changes).resolved(memory.model)
    if isinstance(question, Question):
        if settings.step is None:
            settings = replace(settings, step=memory.moment(question))
        question = question.text
    try:
        question.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"the question {question[:80]!r} is no text: it holds bytes that are not UTF-8"
        ) from None
    k, budget, levels = settings.k, settings.budget, settings.levels
    whole = memory.structure if settings.step is None else memory.settled(settings.step, chat)
    structure = whole if settings.literal else whole.collapsed
    scorer = memory.scorer(settings.relevance_for(), structure)
    initial = initial_scores(scorer([question])[0], structure.active)
    stages: tuple[Stage, ...] = ()
    if settings.method == "own":
        found = own_retrieval(memory, question, settings, whole, chat)
        admitted = [n for n in found.ranked if levels is None or structure.level[n] in levels]
        final, hops, stages = found.scores, initial[None], found.stages
        final = final / (float(final.sum()) or 1.0)
        after = taken(admitted, structure.text, k, budget)
    else:
        spread = propagate(initial, structure.edges, *settings.propagation, structure)
        initial, final, hops = spread.hops[0], spread.final, spread.hops
        after = top_k(final, structure, k, levels, budget)
    before = top_k(initial, structure, k, levels, budget)
    was = ranks(after, initial, structure, levels)
    evidence = tuple(
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
    chosen = tuple(before), tuple(after), evidence
    return Result(question, structure, settings, initial, final, hops, *chosen, stages, scorer)


def own_retrieval(
    memory: Memory,
    question: str,
    settings: RetrievalSettings,
    whole: Structure,
    chat: Chat | None = None,
) -> Retrieval:
    """A system's own retrieval from ``whole``, the memory at ``settings.step``, in terms of the
    nodes shown: unless ``settings.literal``, what it says of a node of a same-text chain is said
    of the chain, which scores as its best node does. ValueError where the system has none."""
    if not isinstance(memory.model, Retriever):
        raise ValueError(
            f"the system {memory.system!r} has no retrieval of its own; ask with method='propagate'"
        )
    steps = memory.steps[: settings.step]
    units = memory.units[: steps[-1].unit.index + 1 if steps else 0]
    scorer = memory.scorer(settings.relevance_for(memory.model), whole)
    view = View(whole, units, scorer, Services(memory.embedder, chat), settings.k)
    found = memory.model.retrieve(question, view)
    if settings.literal:
        return found
    chain = whole.collapsed.chain
    scores = np.zeros_like(found.scores)
    np.maximum.at(scores, chain, found.scores)
    ranked = tuple(dict.fromkeys(chain[list(found.ranked)].tolist()))

    def shown(stage: Stage) -> Stage:
        nodes = chain[list(stage.nodes)].tolist()
        first = {node: place for place, node in reversed(list(enumerate(nodes)))}
        places = sorted(first.values())
        return replace(
            stage,
            nodes=tuple(nodes[place] for place in places),
            scores=tuple(stage.scores[place] for place in places) if stage.scores else (),
            kept=tuple(dict.fromkeys(chain[list(stage.kept)].tolist())),
        )

    return Retrieval(scores, ranked, tuple(map(shown, found.stages)))
