"""H-Mem: a temporal-semantic tree of events beside a graph of entities (arXiv 2605.15701)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from segviz.construct import (
    Annotate,
    Arrival,
    Declared,
    Retrieval,
    Row,
    Services,
    View,
    param,
)
from segviz.construct.annotate import Extractive
from segviz.construct.tasks import Offline, Tasks
from segviz.conversation import DAY, Clock, as_time
from segviz.systems.common.annotation import annotator, judgements, or_offline, prepared
from segviz.systems.common.draft import Draft
from segviz.systems.common.published import Paper, paper
from segviz.systems.h_mem.graph import EntityGraph
from segviz.systems.h_mem.invariants import events_have_a_place
from segviz.systems.h_mem.retrieval import HMemSearch, robustness
from segviz.systems.h_mem.tables import (
    entity_rows,
    forgetting_rows,
    relation_rows,
    window_rows,
)
from segviz.systems.h_mem.tree import EventTree
from segviz.tree import Decision, Facts, Step, Structure, as_number
from segviz.tree.invariants import Invariant


@dataclass(frozen=True)
class HMem(Declared):
    """Events gathered over weeks, months and years, and a graph of who and what is in them.

    Every unit is a fragment. Its facts become events; an event joins the summary of its
    week whose events are most like it, or opens a new one, which looks for a month in the
    same way, and a month for a year. The tree gets its third and fourth level as it grows
    older; what was on top then moves up. What is met again is reinforced: its count n grows
    and its forgetting starts anew. Entities lie over the fragments that mention them and
    are related by the verbs between them; those often mentioned get a profile.

    A question is split into parts with a scope and a time; entities it names lead, over at
    most two hops, to fragments, from there to events and up to summaries. They are ranked
    by similarity, nearness in time and robustness (equations 1 to 3).

    Source: H-Mem, Yu et al., arXiv 2605.15701, §3 and A.2 (other memories share the name).
    Departs from the source as listed in ``departures``.
    """

    name: ClassVar[str] = "h-mem"
    label: ClassVar[str] = "H-Mem (Yu 2026)"
    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (events_have_a_place,)
    fidelity: ClassVar[str] = "adapted"
    published: ClassVar[Paper] = paper("segviz.systems.h_mem")
    relevance: ClassVar[str] = "dense"  # S, the cosine, §3.3
    departures: ClassVar[tuple[str, ...]] = (
        "Offline, sentences stand for extracted events, and names and nouns by form for entities.",
        "Windows nest by default (7, 28, 364 days from the first event), as calendar weeks "
        "straddle months; a child lies in its parent's window by the time it was opened.",
        "Thresholds are set for the offline embedder, towards the summaries per level of Table "
        "7. The offline graph has that table's size and not its sense: a rule takes what stands "
        "where a noun stands, seldom knows its type, never that two words mean one thing, and "
        "four in ten of its relations say no more than that both were named.",
        "Names that begin with different letters are not compared by spelling, and one common "
        "word alone is an edge, not a merge.",
        "Table 8's embedding-only row: a reranker, on request, is the chat model; profiles are "
        "evidence on request alone.",
        "A matched event is reinforced with the summary it joins and all summaries above.",
        "The time of an event is the one its sentence names, where it names one.",
        "Summaries and profiles are written once per unit, not once per event.",
        "The distance in equation 1 is divided by the hull of both intervals.",
        "Similarity is the cosine, or another relevance where one is chosen, scaled to [0, 1].",
        "No answer is generated, so parts of a question do not wait for each other's answers.",
    )
    level_names: ClassVar[tuple[str, ...]] = (
        "fragment",
        "event or entity",
        "week",
        "month",
        "year",
    )

    tasks: Tasks = judgements(
        "Extracts events and entities, and plans questions.", "§3.2, §3.3 and App. C"
    )
    annotate: Annotate = annotator("Writes summaries and profiles.", "§3.2 and App. C")
    ablate: str = param(
        "full",
        "The part left out. Without the tree only fragments are evidence; without long "
        "memory no summaries; without the graph no entities.",
        choices=(
            "full",
            "w/o tree",
            "w/o graph",
            "w/o long memory",
            "w/o memory robustness",
            "w/o missing-info query",
            "w/o entity profile",
        ),
        source="Table 5, its rows",
    )
    alpha_2: float = param(
        0.51,
        "Similarity that joins a week's summary.",
        (-1, 1),
        source="A.2, .8; 0.51 is ours, for the offline embedder",
    )
    alpha_3: float = param(
        0.49,
        "Similarity that joins a month's summary.",
        (-1, 1),
        source="A.2, .7; 0.49 is ours, for the offline embedder",
    )
    alpha_4: float = param(
        0.42,
        "Similarity that joins a year's summary.",
        (-1, 1),
        source="A.2, .6; 0.42 is ours, for the offline embedder",
    )
    windows: str = param(
        "nested",
        "Windows of 7, 28 and 364 days from the first event, or calendar weeks, months and years.",
        choices=("nested", "calendar"),
        source="A.2, week, month and year; nested ones are ours",
    )
    entity_merge: str = param(
        "fuzzy",
        "Merge names that look nearly the same, or equal names alone.",
        choices=("fuzzy", "exact"),
        source="A.2, fuzzy; §3.2, exact",
    )
    spelling: float = param(
        0.9,
        "Likeness in spelling (difflib's ratio) from which two names are one.",
        (0, 1),
        source="A.2 without a limit; .9 is ours",
    )
    tokens: float = param(
        0.6,
        "Share of common words (two at least) from which two names are one.",
        (0, 1),
        source="A.2 without a limit; .6 is ours",
    )
    salient: int = param(
        3,
        "Mentions after which a person, organisation or place gets a profile, each time.",
        (1, 100),
        source="§3.2 without a number; 3 is ours",
    )
    recent: int = param(
        3,
        "Facts kept word for word in a profile.",
        (1, 50),
        source="§3.2, recent data, without a number; 3 is ours",
    )
    semantic: float = param(0.70, "Weight of similarity.", (0, 1), source="A.2, .70")
    temporal: float = param(0.15, "Weight of nearness in time.", (0, 1), source="A.2, .15")
    robust: float = param(0.15, "Weight of robustness.", (0, 1), source="A.2, .15")
    overlap: float = param(
        0.5,
        "Weight λ of overlap against distance in time.",
        (0, 1),
        source="equation 1 without a value; .5 is ours",
    )
    tau: float = param(
        365.0, "Days in which a memory never met again fades to 1/e.", (1, 3650), source="A.2, 365"
    )
    eta: float = param(0.5, "How much repetition slows forgetting.", (0, 5), source="A.2, .5")
    seeds: int = param(
        5,
        "Entities taken by similarity, beside those named.",
        (0, 100),
        source="§3.3 without a number; 5 is ours",
    )
    hops: int = param(
        2,
        "Steps from the seeds along relations.",
        (0, 6),
        source="§3.3, multi-hop, without a number; 2 is ours",
    )
    decay: float = param(
        0.5, "What is left of an entity's strength after a step.", (0, 1), source="ours"
    )
    pool: int = param(
        10,
        "Fragments by entity and events by similarity that enter.",
        (1, 200),
        source="A.4 tries 5 to 50; 10 is ours",
    )
    judged: int = param(
        5,
        "Pieces of evidence looked at for what is missing.",
        (1, 50),
        source="§3.3 without a number; 5 is ours",
    )
    same: float = param(
        0.95,
        "Similarity above which two items on the same fragments count once.",
        (-1, 1),
        source="§3.3, de-duplicated, without a limit; .95 is ours",
    )
    scope: str = param(
        "planned",
        "Which items count: as planned per question, or always the same ones.",
        choices=("planned", "short", "long", "mixed"),
        source="§3.3; A.4 fixes mixed",
    )

    profiles: bool = param(
        False,
        "Profiles of the entities found are evidence, too, unless the scope is short.",
        source="§3.3 lists fragments, events and summaries; that profiles join them is ours",
    )
    rerank: int = param(
        0,
        "Pieces of evidence that a model puts in order at the end; 0: none.",
        (0, 100),
        source="A.2 and Table 8, a reranker; the chat model in its place is ours, and 0, Table 8's "
        "embedding-only row",
    )

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per unit, lazily."""
        draft = Draft(services.embedder)
        annotate = or_offline(self.annotate, services, Extractive)
        tree, graph = EventTree(draft, self, annotate), EntityGraph(draft, annotate, self)
        tasks: Tasks = prepared(self.tasks, services)
        clock = Clock()
        for arrival in arrivals:
            when = clock.tell(arrival)
            tree.begin_step()
            grew = tree.age(when.seconds)
            fragment = draft.leaf(arrival, arrival.vector)
            found = tasks.extract(arrival.text, as_time(when.seconds) if when.dated else None)
            for fact in found.facts:
                tree.event(fact, fragment, when)
            entities: list[int] = []
            profiles = 0
            if self.ablate != "w/o graph":
                entities, profiles = graph.take_in(found, fragment, when)
            written = tree.rewrite() + profiles
            note = (
                f"Unit {arrival.index} tells {len(found.facts)} events about "
                f"{len(entities)} entities; {len(tree.joined)} times one joined a summary."
            )
            if grew:
                note += f" The memory is old enough for level {tree.top}; everything moved up."
            if found.fallback:
                note += " The model's answer could not be read, so rules extracted them."
            yield draft.step(arrival.unit, note, written, tree.inspected, _decision(tree))

    def retrieve(self, question: str, view: View) -> Retrieval:
        """Returns the evidence chain; see the class for its course."""
        tasks = or_offline(self.tasks, view.services, Offline)
        return HMemSearch(view, tasks, self).run(question)

    def retention(self, facts: Facts, ages: Sequence[float]) -> list[float]:
        """Equation 2 for a node with these facts, at each age in seconds after it was last
        consolidated."""
        n = int(as_number(facts, "n"))
        return [robustness(age, n, self.tau * DAY, self.eta) for age in ages]

    def tables(self, structure: Structure, steps: Sequence[Step]) -> dict[str, list[Row]]:
        """Returns time windows, forgetting, entities and relations."""
        return {
            "Time windows": window_rows(structure, self.level_names),
            "Forgetting": forgetting_rows(structure, self.retention),
            "Entities": entity_rows(structure),
            "Relations": relation_rows(structure),
        }


def _decision(tree: EventTree) -> Decision | None:
    if not tree.judged:
        return None
    chosen = tree.joined[0] if tree.joined else None
    near = max(tree.judged, key=lambda j: (j.score or 0.0) - (j.threshold or 0.0))
    similar, needed = near.numbers
    why = (
        f"Of {len(tree.judged)} summaries found nearest, {len(tree.joined)} were like enough; "
        f"the clearest, node {near.node}, has {similar} against {needed}."
    )
    return Decision(tuple(tree.judged), chosen, why)
