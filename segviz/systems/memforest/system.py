"""MemForest: many small trees in the order of time over shared facts (arXiv 2605.23986)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

import numpy as np

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
from segviz.conversation import Clock
from segviz.systems.common.annotation import annotator, judgements, or_offline, prepared
from segviz.systems.common.draft import Draft
from segviz.systems.common.published import Paper, paper
from segviz.systems.memforest.facts import Ingest
from segviz.systems.memforest.invariants import forest_is_balanced
from segviz.systems.memforest.retrieval import BROWSES, EMBEDDING, VIEWS, ForestSearch
from segviz.systems.memforest.tables import tree_rows
from segviz.systems.memforest.trees import Forest, Summaries
from segviz.tree import Decision, Event, Judgement, Step, Structure
from segviz.tree.invariants import Invariant


@dataclass(frozen=True)
class MemForest(Declared):
    """A forest: one time-ordered tree per session, per important entity and per scene.

    Units gather in cells of two turns. A closed cell gives facts; one that is already known
    gets another occurrence. A cell is a leaf of its session's tree; a fact of its speaker's,
    of every entity's with three facts from two sessions, and of a scene of similar facts in
    one domain of life. A leaf goes to its place in time; a node of more than k children is
    cut in the middle; only the ancestors of what changed are written again, at once
    (``eager``) or once per session for all of them (``lazy``).

    A question recalls the trees whose root or best fact is most like it, follows a beam of
    branches to their leaves and reranks the facts there.

    Source: MemForest, arXiv 2605.23986, §3 and §4, and the authors' code for sizes.
    Departs from the source as listed in ``departures``.
    """

    name: ClassVar[str] = "memforest"
    label: ClassVar[str] = "MemForest"
    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (forest_is_balanced,)
    fidelity: ClassVar[str] = "adapted"
    published: ClassVar[Paper] = paper("segviz.systems.memforest")
    relevance: ClassVar[str] = "dense"  # embedding similarity, §4.3
    departures: ClassVar[tuple[str, ...]] = (
        "Offline, sentences stand for extracted facts and cue words for their domain.",
        "Facts are shared by trees, not copied into leaves; a tree of one item has a root too.",
        "Every speaker has an entity tree, where the source has one for the user.",
        "Units are taken in one by one; refreshing per session, as the source does, is lazy.",
        "A session's cells are read side by side when it begins, which is when a model is asked; a "
        "cell that does not fill up is read when the next unit comes.",
        "A cell cut short by the end of the conversation waits without facts until the next unit.",
        "Similarities are set for the offline embedder; the code's are in the parameters.",
        "Branches are followed by similarity, MemForest (emb) of Table 4, as the default of the "
        "source, llm+planner, needs a model. Offline the planner gives a tree the part of a "
        "question that has most words in common with its root; a question of one part stays whole.",
        "A scene's buffered facts are in no scene; where the families asked for have no tree, all "
        "facts are looked at.",
    )
    level_names: ClassVar[tuple[str, ...]] = ("unit", "fact or cell", "interval")

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
        "What stands for a cell in its session's tree: a summary, or its dialogue.",
        choices=("summarised", "passed through"),
        source="Algorithm 1, lines 22-23, summarised; code, passed through",
    )
    session_k: int = param(3, "Most children in a session's tree.", (3, 32), source="code, 3")
    entity_k: int = param(8, "Most children in an entity's tree.", (3, 32), source="code, 8")
    scene_k: int = param(10, "Most children in a scene's tree.", (3, 32), source="code, 10")
    cell_turns: int = param(2, "Turns of a cell.", (1, 20), source="MemForest §4.1 and Table 8, 2")
    gap: float = param(6.0, "Hours of silence that end a cell.", (0, 10_000), source="code, 6")
    extracted: int = param(15, "Facts a cell gives at most.", (1, 200), source="code, 15")
    duplicate: float = param(
        0.93, "Similarity from which two facts may be one.", (0, 1), source="code, .93"
    )
    judged: int = param(4, "Near duplicates judged, at most.", (0, 50), source="code, 4")
    entity_facts: int = param(3, "Facts an entity has with its tree.", (1, 100), source="code, 3")
    entity_sessions: int = param(2, "Sessions these are from.", (1, 100), source="code, 2")
    buffer: int = param(24, "Facts that wait for the first scenes.", (1, 500), source="code, 24")
    seeds: int = param(30, "First scenes, at most.", (1, 500), source="code, 30")
    full: int = param(60, "Facts of a scene, at most.", (2, 1000), source="code, 60")
    spawn: float = param(
        0.40,
        "Least similarity that joins a scene of the same domain.",
        (-1, 1),
        source="code, .58; .40 is ours, for the offline embedder",
    )
    second: float = param(
        0.52,
        "Similarity that joins a half-full scene, or a second one.",
        (-1, 1),
        source="code, .70; .52 is ours, for the offline embedder",
    )
    merge: float = param(
        0.88, "Similarity at which two scenes become one.", (0, 1), source="code, .88"
    )
    nearness: float = param(
        0.08, "What a scene of the same time gains in similarity.", (0, 1), source="code, .08"
    )
    near_days: float = param(
        45.0, "Days over which that falls to nothing.", (1, 3650), source="code, 45"
    )
    trees: int = param(10, "Trees recalled.", (1, 50), source="MemForest §5.1, 10")
    voters: int = param(30, "Facts that vote for trees.", (0, 500), source="code, 30")
    beam: int = param(10, "Branches followed at once.", (1, 50), source="code, 10")
    balance: float = param(
        0.5,
        "Weight of a root's own similarity against its best fact's.",
        (0, 1),
        source="equation 7 without a value; .5 is ours",
    )
    recall_by: str = param(
        "joint",
        "Trees by one joint score, or by facts found and roots apart.",
        choices=("joint", "union"),
        source="equation 7, joint; code, union",
    )
    families: str = param(
        VIEWS[0], "Trees that may be recalled.", choices=VIEWS, source="Table 6, its rows"
    )
    browse: str = param(
        EMBEDDING,
        "How branches are followed: by similarity (emb) or by a model (llm), with a "
        "sub-question for each tree (planner) or without; or no trees (flat-10) or none below "
        "their roots (root-only).",
        choices=BROWSES,
        source="Table 7, its rows; the paper's default is llm+planner (§5.1), which needs a model",
    )

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per unit, lazily."""
        draft = Draft(services.embedder)
        for part in (self.tasks, self.annotate):
            prepared(part, services)  # says where a model is missing
        forest = Forest(draft, or_offline(self.annotate, services, Extractive), self.leaves)
        ingest = Ingest(draft, forest, self, or_offline(self.tasks, services, Offline))
        summaries = ingest.forest.summaries
        clock = Clock()
        heard = ((arrival, clock.tell(arrival)) for arrival in arrivals)
        for _, group in groupby(heard, key=lambda pair: pair[0].session):
            session = list(group)
            ingest.foresee(session)
            for arrival, when in session:
                ingest.begin_step()
                ingest.insert(arrival, when)
                refreshed = written = 0
                waiting = summaries.dirty
                if self.refresh == "eager" or arrival is session[-1][0]:
                    refreshed, written = summaries.refresh()
                else:
                    summaries.mark()
                note = _note(arrival, ingest, refreshed, waiting - refreshed)
                decision = _decision(ingest.judged)
                yield draft.step(arrival.unit, note, written, ingest.inspected, decision)

    def pending(self, structure: Structure, steps: Sequence[Step]) -> tuple[int, ...]:
        """Under ``lazy``, the nodes that wait for the end of their session."""
        facts = structure.facts
        return tuple(n for n in np.flatnonzero(structure.active).tolist() if facts[n].get("dirty"))

    def settle(
        self, structure: Structure, steps: Sequence[Step], services: Services
    ) -> tuple[Event, ...]:
        """Writes the pending nodes from below upwards, as at the end of a session."""
        draft = Draft.of(structure, services.embedder)
        annotate = or_offline(self.annotate, services, Extractive)
        Summaries(draft, annotate, self.leaves).refresh()
        return draft.take()

    def retrieve(self, question: str, view: View) -> Retrieval:
        """Trees, branches, facts; see the class for its course."""
        tasks = or_offline(self.tasks, view.services, Offline)
        return ForestSearch(view, tasks, self).run(question)

    def tables(self, structure: Structure, steps: Sequence[Step]) -> dict[str, list[Row]]:
        """Returns the trees of each family."""
        return {"Trees": tree_rows(structure, steps)}


def _decision(judged: Sequence[Judgement]) -> Decision | None:
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
    note = f"Unit {arrival.index} adds {ingest.fresh} facts"
    note += f" and repeats {ingest.merged}" if ingest.merged else ""
    note += f"; {refreshed} nodes are written again" if refreshed else ""
    note += f"; {waiting} wait for the end of the session" if waiting else ""
    for event in ingest.events:
        note += f"; {event}"
    if ingest.fallback:
        note += "; the model's answer could not be read, so rules extracted them"
    return note + "."
