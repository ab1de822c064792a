"""Computes the content of a picture of a memory: structure on its axis, marks, scores, selection.

The canvas, the outline and the exported page all draw a :class:`Scene`. Its rows are the nodes of
the memory. The rows of :meth:`~Scene.drawn` are boxes on the axis: the same, unless the structure
does not follow time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from segviz.memory import Memory
from segviz.retrieval import Result
from segviz.retrieval.gold import GoldEvidence
from segviz.retrieval.relevance.lexical import shared_words
from segviz.retrieval.selection import Repeats, repeats
from segviz.systems import level_names
from segviz.text.words import count_words
from segviz.tree import Add, Decision, IntArray, Revise, Step, Structure
from segviz.tree.icicle_layout import follows_time, unfold
from segviz.view.captions import MAX_LABELLED
from segviz.view.coloring import LIVE_POLICIES, MEASURES, Live, Look

Scores = NDArray[np.float64]

UNFOLDED: Final = (
    "This memory does not follow time: it is drawn in the order of its branches, nodes with "
    "several parents under each of them."
)

PEAKED: Final = 0.1
"""Scores are peaked where the median node has less than this share of the best."""


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Effect of a step, counted from 1: decision, nodes added and revised, frontier after it."""

    step: int | None = None
    decision: Decision | None = None
    added: Sequence[int] = ()
    revised: Sequence[int] = ()
    frontier: Sequence[int] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Scored:
    """A question and its retrieval, drawn on a scene.

    Attributes:
        initial, final: score of every node before and after propagation, float64 (n,).
        names: names of both scores on screen.
        before, after: nodes retrieved by the initial and by the final score, best first.
        gold: leaves with gold evidence.
        turns: gold turns of each node.
        answers: those of them for which the node only states the answer.
        needs: tokens of a node's text that its gold turns need (``GoldEvidence.needed``), if there
            is a ``budget``.
        asked: number of gold turns.
        later: number of those that come after the structure's last unit.
        budget: number of tokens that are read; None if K nodes are.
        ranks: rank by initial score of nodes that propagation brought among the retrieved, and rank
            by final score of those it removed.
        places: ranks of ``before`` and of ``after``, if these skip repeated texts; else empty.
        repeats: the nodes whose texts repeat each other.
        words: number of words retrieved.
        texts: texts of the nodes that the panel of evidence lists.
        matches: words in these texts that match the question.
        answering: words in these texts that match the question's answer, if it has one.
        ingredients: share of each feature of the relevance in the selected node's initial score.
        live: input of the browser's own retrieval; None if the browser cannot compute this one.
        peaked: see :func:`peaked`.
    """

    initial: Scores
    final: Scores
    names: tuple[str, str] = ("initial", "propagated")
    before: Sequence[int] = ()
    after: Sequence[int] = ()
    gold: Sequence[int] = ()
    turns: Mapping[int, Sequence[str]] = field(default_factory=dict)
    answers: Mapping[int, Sequence[str]] = field(default_factory=dict)
    needs: Mapping[int, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    asked: int = 0
    later: int = 0
    budget: int | None = None
    ranks: Mapping[int, int] = field(default_factory=dict)
    places: tuple[Sequence[int], Sequence[int]] = ((), ())
    repeats: Repeats | None = None
    words: int | None = None
    texts: Mapping[int, str] = field(default_factory=dict)
    matches: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    answering: Mapping[int, Iterable[str]] = field(default_factory=dict)
    ingredients: Mapping[str, float] = field(default_factory=dict)
    live: Live | None = None
    peaked: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """Content of a picture of a memory.

    Attributes:
        structure: the memory at one moment, n nodes.
        unit_sessions: session position of every unit of the axis; -1 for none.
        session_labels: labels of the sessions ("S7").
        unit_dates: time of every unit of the axis, or a short text; None if unknown.
        level_names: names that the system gives its levels; empty if it has none.
        title: name of the conversation.
        identity: identifies the memory. The browser resets zoom, focus and open nodes if it
            changes.
        selected: the selected node.
        look: choice of colour and label.
        measures: numbers that nodes can be coloured by, by name, float64 (n,): NaN if unknown, an
            empty array if computed only when chosen.
        growth: effect of a step. A scene has ``growth``, ``scored``, or neither.
        scored: a question and its retrieval.
        total_units, levels_total: size of the axis, which stays fixed while the tree grows.
        by_time: True if the structure follows time, so that boxes never overlap.
        names: label of every node; empty if there are too many nodes.
        ended: nodes that the store calls untrue, with a sentence that says since when and what
            replaced them.
        origin: the memory's node of every box; None if boxes are nodes.
        axis_units: the unit at every place of the axis; None if places are units.
    """

    structure: Structure
    unit_sessions: Sequence[int] = ()
    session_labels: Sequence[str] = ()
    unit_dates: Sequence[datetime | str | None] = ()
    level_names: Sequence[str] = ()
    title: str = ""
    identity: str = ""
    selected: int | None = None
    look: Look = field(default_factory=Look)
    measures: Mapping[str, Scores] = field(default_factory=dict)
    growth: Growth | None = None
    scored: Scored | None = None
    total_units: int | None = None
    levels_total: int | None = None
    by_time: bool = True
    names: Sequence[str] = ()
    ended: Mapping[int, str] = field(default_factory=dict)
    origin: IntArray | None = None
    axis_units: IntArray | None = None

    def drawn(self) -> Scene:
        """Returns the scene as boxes on the axis, in the order of branches if it has no time.

        A node of several parents is under each of them, so the browser cannot propagate scores.
        """
        if self.by_time:
            return self
        unfolded = unfold(self.structure)
        sessions, dates, origin = self.unit_sessions, self.unit_dates, unfolded.node
        chosen = unfolded.first([] if self.selected is None else [self.selected])

        def leftmost(node: int) -> int | None:
            return next(iter(unfolded.first(_shown(self.structure.chain, [node]))), None)

        measures = {
            name: values[origin] if len(values) else values
            for name, values in self.measures.items()
        }
        return replace(
            self,
            structure=unfolded.structure,
            unit_sessions=[
                sessions[unit] if unit < len(sessions) else -1 for unit in unfolded.unit.tolist()
            ],
            unit_dates=[
                dates[unit] if unit < len(dates) else None for unit in unfolded.unit.tolist()
            ],
            selected=next(iter(chosen), None),
            measures=measures,
            names=[self.names[node] for node in origin.tolist()] if self.names else (),
            ended={
                box: self.ended[node]
                for box, node in enumerate(origin.tolist())
                if node in self.ended
            },
            growth=self.growth
            and replace(
                self.growth,
                decision=self.growth.decision and self.growth.decision.placed(leftmost),
                added=unfolded.every(self.growth.added),
                revised=unfolded.every(self.growth.revised),
                frontier=unfolded.every(self.growth.frontier),
            ),
            scored=self.scored
            and replace(
                self.scored,
                initial=self.scored.initial[origin],
                final=self.scored.final[origin],
                before=unfolded.first(self.scored.before),
                after=unfolded.first(self.scored.after),
                gold=unfolded.every(self.scored.gold),
                live=None,
            ),
            total_units=len(unfolded.unit),
            by_time=True,
            origin=origin,
            axis_units=unfolded.unit,
        )

    def node(self, box: int | None) -> int | None:
        """Returns the memory's node that a box shows; None for None."""
        return box if box is None or self.origin is None else int(self.origin[box])


def scene_of(
    memory: Memory,
    structure: Structure,
    *,
    identity: str,
    look: Look,
    selected: int | None,
    labelled: bool = True,
) -> Scene:
    """Returns the scene of a memory's structure at one moment, without step and scores.

    Args:
        memory: the memory.
        structure: its structure at that moment.
        identity: identifies the memory for the browser.
        look: choice of colour and label.
        selected: the selected node; None, or an unknown node, for none.
        labelled: True if nodes have labels, which take seconds for thousands of nodes.
    """
    conversation = memory.conversation
    there = selected is not None and 0 <= selected < len(structure)
    chosen = int(structure.chain[selected]) if there else None
    known = {name: row.known(structure, look.colour == name) for name, row in MEASURES.items()}
    return Scene(
        structure=structure,
        unit_sessions=[unit.session for unit in memory.units],
        session_labels=[f"S{i + 1}" for i in range(len(conversation.sessions))],
        unit_dates=[
            unit.time or conversation.sessions[unit.session].raw_date for unit in memory.units
        ],
        level_names=level_names(memory.system),
        title=conversation.id,
        identity=identity,
        selected=chosen,
        look=look,
        measures={name: values for name, values in known.items() if values is not None},
        by_time=keeps_time(memory, structure),
        names=memory.labels(structure) if labelled and len(structure) <= MAX_LABELLED else (),
        ended={
            int(structure.chain[node]): str(each)
            for node, each in memory.ended_in(structure).items()
        },
    )


def keeps_time(memory: Memory, structure: Structure) -> bool:
    """Returns True if a structure of this memory can be drawn on the time axis."""
    return memory.has_frontier or follows_time(structure)


def grown(scene: Scene, number: int, step: Step | None) -> Scene:
    """Adds the effect of the last step to a scene; ``number`` is that of the steps."""
    events = step.events if step else ()
    chain = scene.structure.chain
    return replace(
        scene,
        growth=Growth(
            step=number,
            decision=step.decision if step else None,
            added=_shown(chain, (e.node for e in events if isinstance(e, Add))),
            revised=_shown(chain, (e.node for e in events if isinstance(e, Revise))),
            frontier=scene.structure.frontier,
        ),
    )


LISTED_NEXT: Final = 5
"""Number of nodes after the last retrieved one whose texts are sent."""

_LONGEST = 2_000


def _ingredients(result: Result, node: int) -> dict[str, float]:
    """Returns the share of each feature of the relevance in a node's initial score."""
    if not 0 <= node < len(result.structure) or result.native:
        return {}
    ledger = result.explain(node)
    return {name: part / ledger.own for name, part in ledger.ingredients.items() if ledger.own}


def answered(
    scene: Scene,
    result: Result,
    gold: GoldEvidence,
    live: Live | None = None,
    answer: str | None = None,
) -> Scene:
    """Adds a question, its retrieval and, if it is known, its ``answer`` to a scene.

    With ``live`` the browser computes scores while its controls move, if it can.
    """
    # The nodes whose texts are sent, also the next ones in the ranking.
    structure, settings = scene.structure, result.settings
    apart = settings.deduplicate or settings.expand is not None
    further = replace(settings, k=len(result.after) + LISTED_NEXT, budget=None)
    first, order = (settings.order(each, structure) for each in (result.initial, result.final))
    following = further.read(order, structure)
    listed = sorted({*result.before, *result.after, *gold.leaves, *following})
    # Their words that match the question. If the relevance compares no words: those of one stem.
    texts = [structure.text[node] for node in listed]
    matches = result.matches(listed)
    if not matches:
        shared = shared_words(result.question, texts)
        matches = {node: words for node, words in zip(listed, shared, strict=True) if words}
    # The ranks of nodes that enter or leave the retrieved ones.
    before, after = ({n: rank for rank, n in enumerate(each, 1)} for each in (first, order))
    was = {item.node: item.rank_before for item in result.evidence}
    # Whether the browser can compute the scores itself; it does not know of ghosts.
    possible = not result.native and result.settings.policy in LIVE_POLICIES and scene.by_time
    possible = possible and settings.expand is None and not structure.ghost.any()
    return replace(
        scene,
        scored=Scored(
            initial=result.initial,
            final=result.final,
            names=result.score_names,
            before=result.before,
            after=result.after,
            gold=gold.leaves,
            turns=gold.by_node,
            answers=gold.answers,
            needs={node: gold.needed(node, structure.text[node]) for node in gold.by_node}
            if settings.budget
            else {},
            asked=len(gold.turns),
            later=len(gold.later),
            budget=settings.budget,
            ranks={node: was[node] for node in result.entered}
            | {node: after.get(node, 0) for node in result.left},
            places=(
                [before[node] for node in result.before] if apart else (),
                [item.rank_after for item in result.evidence] if apart else (),
            ),
            repeats=repeats(structure),
            words=sum(count_words(item.text) for item in result.evidence),
            texts={node: structure.text[node][:_LONGEST] for node in listed},
            matches=matches,
            answering=dict(zip(listed, shared_words(answer or "", texts), strict=True)),
            ingredients={} if scene.selected is None else _ingredients(result, scene.selected),
            live=live if possible else None,
            peaked=peaked(result.initial, structure.retrievable),
        ),
    )


def peaked(initial: Scores, active: NDArray[np.bool_]) -> bool:
    """Returns True if the colour of a score should follow the square root of its share of the best.

    If few nodes have nearly the whole sum, all others would be as pale as the page. If all score
    alike, the root would make all dark. Initial scores decide, so that the scale is steady.
    """
    scores = initial[active]
    most = float(scores.max(initial=0.0))
    return most > 0 and float(np.median(scores)) < PEAKED * most


def _shown(chain: IntArray, nodes: Iterable[int]) -> list[int]:
    """Replaces nodes by those that represent their chains; omits nodes of a later moment."""
    return list(dict.fromkeys(int(chain[node]) for node in nodes if node < len(chain)))
