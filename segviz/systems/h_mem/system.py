"""H-Mem: a temporal-semantic tree of events and a graph of entities (arXiv 2605.15701)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from segviz.construct import Annotate, Arrival, Declared, Row, Services, Tasks
from segviz.conversation import DAY, Clock, as_time
from segviz.llm.prompts import Texts, texts_of
from segviz.retrieval import MemoryView, Retrieval
from segviz.systems.common.annotation import annotator, judgements, or_offline, prepared
from segviz.systems.common.published import Paper, departures_of, paper
from segviz.systems.common.structure_editor import Draft
from segviz.systems.h_mem.graph import EntityGraph, GraphParameters
from segviz.systems.h_mem.retrieval import HMemSearch, HMemSearchParameters, robustness
from segviz.systems.h_mem.tables import entity_rows, forgetting_rows, relation_rows, window_rows
from segviz.systems.h_mem.tree import EventTree, TreeParameters, events_have_a_place
from segviz.tree import Decision, Facts, Invariant, Step, Structure, as_number


@dataclass(frozen=True)
class HMemComponents(Declared):
    """Tasks and annotator of H-Mem."""

    tasks: Tasks = judgements(
        "Extracts events and entities, and plans questions.", "§3.2, §3.3 and App. C"
    )
    annotate: Annotate = annotator("Writes summaries and profiles.", "§3.2 and App. C")


@dataclass(frozen=True)
class HMem(HMemSearchParameters, GraphParameters, TreeParameters, HMemComponents):
    """Events summarised by weeks, months and years, and a graph of the entities in them.

    Every unit is a fragment. Its facts become events. An event joins the summary of its week whose
    events are most similar to it, or opens a new one. In the same way a new summary of a week joins
    one of its month, and a new one of a month joins one of its year. The third and fourth level are
    added as the memory ages; the top summaries then get parents. Repetition reinforces a node: its
    count n grows and its forgetting starts anew.
    Entities are linked to the fragments that mention them and related by the verbs between them.
    Frequently mentioned ones get a profile.

    A question is split into parts with a scope and a time. Its entities lead, over at most two
    hops, to fragments, from there to events and up to summaries. These are ranked by similarity,
    nearness in time and robustness (equations 1 to 3).

    Source: H-Mem, Yu et al., arXiv 2605.15701, §3 and A.2 (other memories share the name). Departs
        from the source as listed in ``departures``.
    """

    name: ClassVar[str] = "h-mem"
    label: ClassVar[str] = "H-Mem (Yu 2026)"
    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (events_have_a_place,)
    fidelity: ClassVar[str] = "adapted"
    published: ClassVar[Paper] = paper("segviz.systems.h_mem")
    prompts: ClassVar[Texts] = texts_of("segviz.systems.h_mem")
    relevance: ClassVar[str] = "dense"  # S, the cosine, §3.3
    departures: ClassVar[tuple[str, ...]] = departures_of(__package__, "h-mem")
    level_names: ClassVar[tuple[str, ...]] = (
        "fragment",
        "event or entity",
        "week",
        "month",
        "year",
    )

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """Yields one Step per unit, lazily."""
        draft = Draft(services.embedder)
        annotate = or_offline(self.annotate, services)
        tree, graph = (
            EventTree(draft, self, annotate),
            EntityGraph(draft, annotate, self, self.ablate != "w/o entity profile"),
        )
        tasks: Tasks = prepared(self.tasks, services)
        clock = Clock()
        for arrival in arrivals:
            when = clock.tell(arrival)
            tree.begin_step()
            # §3.2, offline indexing, one fragment at a time: the tree first, then the graph.
            grew = tree.age(when.seconds)
            fragment = draft.leaf(arrival, arrival.vector)
            extraction = tasks.extract(arrival.text, as_time(when.seconds) if when.dated else None)
            for fact in extraction.facts:
                tree.event(fact, fragment, when)
            # The graph: entities of the fragment, their relations and profiles.
            entities: list[int] = []
            profiles = 0
            if self.ablate != "w/o graph":
                entities, profiles = graph.take_in(extraction, fragment, when)
            # Summaries above the events that changed are written last, once each.
            written = tree.rewrite() + profiles
            note = (
                f"Unit {arrival.index} gives {len(extraction.facts)} events about "
                f"{len(entities)} entities; {len(tree.joined)} times one joined a summary."
            )
            if grew:
                note += f" The memory is old enough for level {tree.top}; everything moved up."
            if extraction.fallback:
                note += " The model's answer could not be read, so rules extracted them."
            yield draft.step(arrival.unit, note, written, tree.inspected, _decision(tree))

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Returns H-Mem's evidence for a question; the class describes the stages."""
        tasks = or_offline(self.tasks, view.services)
        return HMemSearch(view, tasks, self).run(question)

    def retention(self, facts: Facts, ages: Sequence[float]) -> list[float]:
        """Returns the robustness (equation 2) of a node with ``facts`` at each age, in seconds."""
        n = int(as_number(facts, "n"))
        return [robustness(age, n, self.tau * DAY, self.eta) for age in ages]

    def tables(self, structure: Structure, steps: Sequence[Step]) -> dict[str, list[Row]]:
        """Returns the side tables of time windows, forgetting, entities and relations."""
        return {
            "Time windows": window_rows(structure, self.level_names),
            "Forgetting": forgetting_rows(structure, self.retention),
            "Entities": entity_rows(structure),
            "Relations": relation_rows(structure),
        }


def _decision(tree: EventTree) -> Decision | None:
    """Returns the comparisons that decided where a unit's events go; None without any."""
    if not tree.judged:
        return None
    chosen = tree.joined[0] if tree.joined else None
    # The comparison that passed by most, or failed by least.
    near = max(tree.judged, key=lambda j: (j.score or 0.0) - (j.threshold or 0.0))
    similar, needed = near.numbers
    why = (
        f"Of {len(tree.judged)} summaries found nearest, {len(tree.joined)} were like enough; "
        f"the clearest, node {near.node}, has {similar} against {needed}."
    )
    return Decision(tuple(tree.judged), chosen, why)
