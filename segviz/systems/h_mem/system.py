"""H-Mem: a temporal-semantic tree of events beside a graph of entities (arXiv 2605.15701)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from segviz.construct import (
    Annotate,
    Arrival,
    Operation,
    Retrieval,
    Services,
    View,
    check_ranges,
    param,
)
from segviz.construct.annotate import Extractive
from segviz.construct.tasks import Offline, Tasks
from segviz.conversation import DAY, Clock, as_time, moments
from segviz.systems.common.annotation import annotator_or_offline, prepared, tasks_or_offline
from segviz.systems.common.draft import Draft, cost_of, leaf_of
from segviz.systems.h_mem.graph import EntityGraph
from segviz.systems.h_mem.retrieval import HMemSearch, Weights, curve
from segviz.systems.h_mem.tree import EVENT, SUMMARY, TOP, EventTree, Rules
from segviz.tree import Decision, Facts, Step


@dataclass(frozen=True)
class HMem:
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
    invariants: ClassVar[str] = "h-mem"
    fidelity: ClassVar[str] = "adapted"
    relevance: ClassVar[str] = "dense"  # S, the cosine, §3.3
    departures: ClassVar[tuple[str, ...]] = (
        "Offline, sentences stand for extracted events and capitals for entities.",
        "Windows nest by default (7, 28, 364 days from the first event), as calendar weeks "
        "straddle months; a child lies in its parent's window by the time it was opened.",
        "Thresholds give the paper's shape (Table 7) offline; its own are .8, .7 and .6.",
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

    tasks: Tasks = param(
        help="Extracts events and entities, and plans questions.",
        registry="tasks",
        factory=Offline,
    )
    annotate: Annotate = param(
        help="Writes summaries and profiles.", registry="annotate", factory=Extractive
    )
    alpha_2: float = param(
        0.51, help="Similarity that joins a week's summary (paper .80).", low=-1, high=1, step=0.01
    )
    alpha_3: float = param(
        0.49, help="Similarity that joins a month's summary (paper .70).", low=-1, high=1, step=0.01
    )
    alpha_4: float = param(
        0.42, help="Similarity that joins a year's summary (paper .60).", low=-1, high=1, step=0.01
    )
    windows: str = param(
        "nested",
        help="Windows of 7, 28 and 364 days from the first event, or calendar weeks, months "
        "and years (paper: week, month, year).",
        choices=("nested", "calendar"),
    )
    entity_merge: str = param(
        "fuzzy",
        help="Merge names spelt nearly the same (paper, A.2) or equal names alone (main text).",
        choices=("fuzzy", "exact"),
    )
    semantic: float = param(
        0.70, help="Weight of similarity (paper .70).", low=0, high=1, step=0.05
    )
    temporal: float = param(
        0.15, help="Weight of nearness in time (paper .15).", low=0, high=1, step=0.05
    )
    robust: float = param(0.15, help="Weight of robustness (paper .15).", low=0, high=1, step=0.05)
    tau: float = param(
        365.0,
        help="Days in which a memory never met again fades to 1/e (paper 365).",
        low=1,
        high=3650,
        step=1,
    )
    eta: float = param(
        0.5, help="How much repetition slows forgetting (paper .5).", low=0, high=5, step=0.1
    )
    pool: int = param(
        10,
        help="Fragments by entity and events by similarity that enter (paper tries 5 to 50).",
        low=1,
        high=200,
        step=1,
    )
    scope: str = param(
        "planned",
        help="Which items count: as planned per question, or always the same ones.",
        choices=("planned", "short", "long", "mixed"),
    )

    def __post_init__(self) -> None:
        """Refuses values outside the declared ranges."""
        check_ranges(self)

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per unit, lazily."""
        draft = Draft(services.embedder)
        tree, graph = self._parts(draft, services)
        tasks: Tasks = prepared(self.tasks, services)
        clock = Clock()
        for arrival in arrivals:
            when = clock.tell(arrival)
            if not arrival.text.strip():
                yield Step(arrival.unit, f"Unit {arrival.index} has no words.", None, ())
                continue
            tree.begin_step()
            grew = tree.age(when.seconds)
            fragment = draft.leaf(arrival, arrival.vector)
            found = tasks.extract(arrival.text, as_time(when.seconds) if when.dated else None)
            for fact in found.facts:
                tree.event(fact, fragment, when)
            entities, profiles = graph.take_in(found, fragment)
            written = tree.rewrite() + profiles
            events = draft.take()
            note = (
                f"Unit {arrival.index} tells {len(found.facts)} events about "
                f"{len(entities)} entities; {len(tree.joined)} times one joined a summary."
            )
            if grew:
                note += f" The memory is old enough for level {tree.top}; everything moved up."
            if found.fallback:
                note += " The model's answer could not be read, so rules extracted them."
            yield Step(
                arrival.unit,
                note,
                _decision(tree),
                events,
                cost_of(events, written, tree.inspected),
            )

    def _parts(self, draft: Draft, services: Services) -> tuple[EventTree, EntityGraph]:
        limits = {2: self.alpha_2, 3: self.alpha_3, 4: self.alpha_4}
        annotate = annotator_or_offline(self.annotate, services)
        return (
            EventTree(draft, Rules(limits, self.windows == "calendar"), annotate),
            EntityGraph(draft, annotate, self.entity_merge == "fuzzy"),
        )

    def retrieve(self, question: str, view: View) -> Retrieval:
        """Returns the evidence chain; see the class for its course."""
        weights = Weights(
            self.semantic, self.temporal, self.robust, self.tau, self.eta, self.pool, self.scope
        )
        return HMemSearch(view, tasks_or_offline(self.tasks, view.services), weights).run(question)

    def retention(self, facts: Facts, ages: Sequence[float]) -> list[float]:
        """Equation 2 for a node with these facts, at each age in seconds."""
        return curve(facts, ages, self.tau * DAY, self.eta)

    def fading(self) -> str:
        """Equation 2 with its constants."""
        return (
            f"R = exp(-age / (τ(1 + η·ln(1 + n)))) with τ = {self.tau:g} days and "
            f"η = {self.eta:g} (H-Mem, equation 2)."
        )

    def operations(self) -> Mapping[str, Operation]:
        """Reinforcement, promotion and deletion."""
        return {
            "reinforce": Operation(
                "Reinforce",
                "An event or summary is met again now: n grows and its forgetting starts anew.",
                {"node": "node"},
            ),
            "promote": Operation(
                "Promote",
                "The tree gets its next level now instead of when it is old enough.",
                {},
            ),
            "delete": Operation(
                "Delete a unit",
                "A unit leaves with its events, entities only it mentions, and empty summaries.",
                {"unit": "unit"},
            ),
        }

    def operate(self, name: str, arguments: Mapping[str, int], view: View) -> Step:
        """Returns the step of an operation; ValueError says why it cannot be done."""
        draft = Draft.of(view.structure, view.services.embedder)
        tree, graph = self._parts(draft, view.services)
        if name == "reinforce":
            note = self._reinforce(arguments["node"], draft, tree, view)
        elif name == "promote":
            if tree.top == TOP or not len(draft):
                raise ValueError(f"the tree has {tree.top} of {TOP} levels; there is none to add")
            tree.promote()
            note = f"Everything on level {tree.top - 1} moved up into level {tree.top}."
        elif name == "delete":
            note = _delete(arguments["unit"], draft, tree, graph)
        else:
            raise ValueError(f"unknown operation {name!r}")
        written = tree.rewrite()
        events = draft.take()
        return Step(
            view.units[-1],
            note,
            _decision(tree),
            events,
            cost_of(events, written, tree.inspected),
            name,
        )

    def _reinforce(self, node: int, draft: Draft, tree: EventTree, view: View) -> str:
        kinds = (EVENT, SUMMARY)
        if not (0 <= node < len(draft) and draft.active[node] and draft.kind[node] in kinds):
            raise ValueError(f"node {node} is no event and no summary of this memory")
        tree.reinforce(node, moments(view.units)[-1].seconds)
        return f"Node {node} was met again: n is now {draft.facts[node]['n']}."


def _delete(unit: int, draft: Draft, tree: EventTree, graph: EntityGraph) -> str:
    leaf = leaf_of(unit, draft)
    gone = tree.remove_events(leaf)
    entities = graph.forget(leaf)
    draft.remove(leaf)
    return f"Unit {unit} was deleted with {gone} events and {entities} entities."


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
