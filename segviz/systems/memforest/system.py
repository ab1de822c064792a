"""MemForest: many small trees in the order of time over shared facts (arXiv 2605.23986)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

import numpy as np

from segviz.construct import Annotate, Arrival, Declared, Row, Services, Tasks, param
from segviz.conversation import Clock
from segviz.llm.prompts import Texts, texts_of
from segviz.retrieval import MemoryView, Retrieval
from segviz.systems.common.annotation import annotator, judgements, or_offline, prepared
from segviz.systems.common.published import Paper, departures_of, paper
from segviz.systems.common.structure_editor import Draft
from segviz.systems.memforest.facts import FactParameters, Ingest
from segviz.systems.memforest.retrieval import ForestSearch, MemForestSearchParameters
from segviz.systems.memforest.scenes import SceneParameters, Scenes
from segviz.systems.memforest.trees import Forest, Summaries, forest_is_balanced, tree_rows
from segviz.tree import Decision, Event, Invariant, Judgement, Step, Structure


@dataclass(frozen=True)
class MemForestComponents(Declared):
    """Tasks and annotator of MemForest, and when texts are written."""

    tasks: Tasks = judgements(
        "Extracts facts, judges duplicates and orders branches.", "MemForest §3"
    )
    annotate: Annotate = annotator("Writes the text of inner nodes.", "MemForest §3")
    refresh: str = param(
        "eager",
        "When changed nodes are written: at every step, or once per session.",
        choices=("eager", "lazy"),
        source="MemForest §3, per session; at every step is ours",
    )
    leaves: str = param(
        "summarised",
        "Text of a cell in its session's tree: a summary, or its dialogue.",
        choices=("summarised", "passed through"),
        source="Algorithm 1, lines 22-23, summarised; code, passed through",
    )


@dataclass(frozen=True)
class MemForest(MemForestSearchParameters, SceneParameters, FactParameters, MemForestComponents):
    """A forest: one time-ordered tree per session, per important entity and per scene.

    Units are grouped into cells of two turns. A closed cell gives facts; a known fact gets another
    occurrence. A cell is a leaf of its session's tree. A fact is a leaf of the trees of its
    speaker, of every entity with three facts from two sessions, and of a scene of similar facts in
    one domain of life. A leaf is inserted by time, and a node of more than k children is split in
    the middle. Only the ancestors of changed leaves are written again, at once (``eager``) or once
    per session (``lazy``).

    A question recalls the trees whose root or best fact is most similar to it. In each it follows a
    beam of branches to the leaves and reranks all facts there.

    Source: MemForest, arXiv 2605.23986, §3 and §4, and the authors' code for sizes. Departs from
        the source as listed in ``departures``.
    """

    name: ClassVar[str] = "memforest"
    label: ClassVar[str] = "MemForest"
    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (forest_is_balanced,)
    fidelity: ClassVar[str] = "adapted"
    published: ClassVar[Paper] = paper("segviz.systems.memforest")
    prompts: ClassVar[Texts] = texts_of("segviz.systems.memforest")
    relevance: ClassVar[str] = "dense"  # embedding similarity, §4.3
    departures: ClassVar[tuple[str, ...]] = departures_of(__package__, "memforest")
    level_names: ClassVar[tuple[str, ...]] = ("unit", "fact or cell", "interval")

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """Yields one Step per unit, lazily."""
        draft = Draft(services.embedder)
        for part in (self.tasks, self.annotate):
            prepared(part, services)  # raises if a component needs a model and none is configured
        forest = Forest(draft, or_offline(self.annotate, services), self.leaves)
        scenes, tasks = Scenes(draft, forest, self), or_offline(self.tasks, services)
        ingest = Ingest(draft, forest, scenes, self, tasks)
        summaries = ingest.forest.summaries
        clock = Clock()
        timed = ((arrival, clock.tell(arrival)) for arrival in arrivals)
        for _, group in groupby(timed, key=lambda pair: pair[0].session):
            session = list(group)
            ingest.foresee(session)
            for arrival, when in session:
                ingest.begin_step()
                ingest.insert(arrival, when)
                refreshed = written = 0
                waiting = summaries.dirty
                # Algorithm 1 separates eager structural edits (lines 5-13) from the refresh of
                # texts (17-31).
                if self.refresh == "eager" or arrival is session[-1][0]:
                    refreshed, written = summaries.refresh()
                else:
                    summaries.mark()
                note = _note(arrival, ingest, refreshed, waiting - refreshed)
                decision = _decision(ingest.judged)
                yield draft.step(arrival.unit, note, written, ingest.inspected, decision)

    def pending(self, structure: Structure, steps: Sequence[Step]) -> tuple[int, ...]:
        """Returns the nodes whose text is out of date; with ``eager`` there are none."""
        facts = structure.facts
        return tuple(n for n in np.flatnonzero(structure.active).tolist() if facts[n].get("dirty"))

    def settle(
        self, structure: Structure, steps: Sequence[Step], services: Services
    ) -> tuple[Event, ...]:
        """Returns the events that write the pending nodes, as at the end of a session."""
        draft = Draft(services.embedder, structure)
        annotate = or_offline(self.annotate, services)
        Summaries(draft, annotate, self.leaves).refresh()
        return draft.changes()

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Returns MemForest's facts for a question; the class describes the stages."""
        tasks = or_offline(self.tasks, view.services)
        return ForestSearch(view, tasks, self).run(question)

    def tables(self, structure: Structure, steps: Sequence[Step]) -> dict[str, list[Row]]:
        """Returns the side table of trees."""
        return {"Trees": tree_rows(structure, steps)}


def _decision(judged: Sequence[Judgement]) -> Decision | None:
    """Returns the comparisons that decided where facts go; None without any."""
    if not judged:
        return None
    near = judged[0]
    similar, needed = near.numbers
    joined = next((j.node for j in judged if (j.score or 0.0) >= (j.threshold or 0.0)), None)
    why = (
        f"{len(judged)} comparisons decided where its facts go; the first, node {near.node}, has "
        f"{similar} against {needed}."
    )
    return Decision(tuple(judged), joined, why)


def _note(arrival: Arrival, ingest: Ingest, refreshed: int, waiting: int) -> str:
    """Returns the note of a step: facts, rewritten nodes, new trees, failures."""
    note = f"Unit {arrival.index} adds {ingest.fresh} facts"
    note += f" and repeats {ingest.merged}" if ingest.merged else ""
    note += f"; {refreshed} nodes are written again" if refreshed else ""
    note += f"; {waiting} wait for the end of the session" if waiting else ""
    for event in ingest.events:
        note += f"; {event}"
    if ingest.fallback:
        note += "; the model's answer could not be read, so rules extracted them"
    return note + "."
