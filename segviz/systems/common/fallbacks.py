"""What the retrievals and operations of the systems built of facts share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Annotate, Recall, Services, Stage, View
from segviz.construct.annotate import Extractive
from segviz.construct.tasks import Offline, Tasks
from segviz.systems.common.annotation import prepared
from segviz.tree import Structure


def likeness(question: str, view: View) -> NDArray[np.float64]:
    """The chosen relevance of every node in [0, 1], float64 (n,).

    As it is where no score exceeds 1 (cosines; hybrid and softmax, whose best node has 1),
    negatives 0. Others (BM25) go through ln(1 + score), divided by the largest, or a single
    strong match would leave no other term of a system's formula a say.
    """
    raw = np.clip(view.relevance([question])[0], 0.0, None)
    highest = float(raw.max(initial=0.0))
    scaled = raw if highest <= 1 else np.log1p(raw) / np.log1p(highest)
    return np.asarray(np.round(scaled, 9))


def at_hand(tasks: Tasks, services: Services) -> Tasks:
    """The tasks as they can be done now: a model's tasks without a model are done offline."""
    if getattr(tasks, "needs_chat", False) and services.chat is None:
        return Offline()
    return prepared(tasks, services)


def with_units(
    structure: Structure,
    ranked: Sequence[int],
    scores: NDArray[np.float64],
    stages: Sequence[Stage],
) -> Recall:
    """A ranking followed by the units below it that it does not hold, in the order of the
    best node above each, so that it can also be read on the level of units.

    A unit added this way has the score of that node, lowered by its place in the ranking so
    that scores fall with rank.
    """
    given = np.zeros(len(structure))
    held = dict.fromkeys(ranked)
    for node in ranked:
        given[node] = scores[node]
    floor = min((float(scores[node]) for node in ranked), default=0.0)
    leaf_of = {int(structure.start[leaf]): leaf for leaf in structure.leaves}
    added: dict[int, None] = {}
    for node in ranked:
        for unit in structure.coverage(node):
            if leaf_of[unit] not in held:
                added.setdefault(leaf_of[unit])
    for place, leaf in enumerate(added, start=1):
        given[leaf] = floor / (1 + place)
    return Recall(given, (*ranked, *added), tuple(stages))


def annotator_at_hand(annotate: Annotate, services: Services) -> Annotate:
    """The annotation as it can be done now: a model's without a model is extractive."""
    if getattr(annotate, "needs_chat", False) and services.chat is None:
        return Extractive()
    return prepared(annotate, services)
