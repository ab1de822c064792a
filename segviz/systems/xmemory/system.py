"""xMemory: messages, episodes, statements and themes kept balanced by an objective."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from segviz.construct import Annotate, Arrival, Declared, Row, Services, Tasks
from segviz.conversation import Clock, Unit
from segviz.llm.prompts import Texts, texts_of
from segviz.retrieval import MemoryView, Retrieval
from segviz.systems.common.annotation import annotator, judgements, or_offline, prepared
from segviz.systems.common.published import Paper, departures_of, paper
from segviz.systems.common.structure_editor import Draft
from segviz.systems.xmemory.episodes import EpisodeParameters, Episodes
from segviz.systems.xmemory.retrieval import XMemorySearch, XMemorySearchParameters
from segviz.systems.xmemory.tables import change_rows, episode_rows, size_rows, theme_rows
from segviz.systems.xmemory.themes import Themes, statements_are_parted
from segviz.tree import Decision, Invariant, Step, Structure


@dataclass(frozen=True)
class XMemoryComponents(Declared):
    """Tasks and annotator of xMemory."""

    tasks: Tasks = judgements(
        "Finds boundaries and statements, and judges uncertainty.", "§3.2 and App. C"
    )
    annotate: Annotate = annotator("Writes episodes and themes.", "§3.2 and App. C")


@dataclass(frozen=True)
class XMemory(XMemorySearchParameters, EpisodeParameters, XMemoryComponents):
    """Four levels: message, episode, statement, theme; themes are split and merged.

    Messages form an episode until the subject changes. A closed episode is summarised and read for
    new statements. A statement joins the theme with the most similar centroid, or opens one. A
    theme of more than twelve is split and a tiny one merged into another, each the way that raises
    the objective f: balanced sizes, tight themes, and neighbours neither too near nor too far.

    A question picks a few themes and statements that together cover the relevant ones. It goes down
    to episodes and messages only where these reduce the uncertainty of an answer.

    Source: xMemory (Beyond RAG for Agent Memory), §3, and the authors' code for thresholds. Departs
        from the source as listed in ``departures``.
    """

    name: ClassVar[str] = "xmemory"
    label: ClassVar[str] = "xMemory"
    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (statements_are_parted,)
    fidelity: ClassVar[str] = "adapted"
    published: ClassVar[Paper] = paper("segviz.systems.xmemory")
    prompts: ClassVar[Texts] = texts_of("segviz.systems.xmemory")
    relevance: ClassVar[str] = "dense"  # embedding similarity, §3.3
    departures: ClassVar[tuple[str, ...]] = departures_of(__package__, "xmemory")
    level_names: ClassVar[tuple[str, ...]] = ("message", "episode", "statement", "theme")

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """Yields one Step per unit, lazily."""
        draft = Draft(services.embedder)
        tasks: Tasks = prepared(self.tasks, services)
        annotate = prepared(self.annotate, services)
        themes = Themes(draft, self, annotate)
        writer = Episodes(draft, themes, tasks, annotate, self)
        clock = Clock()
        for arrival in arrivals:
            when = clock.tell(arrival)
            themes.begin_step()
            # An episode is closed by the first message that does not belong to it.
            cut = writer.boundary(arrival, when)
            note, written = f"Unit {arrival.index} continues episode {writer.episode}.", 0
            if writer.episode is None:
                note = f"Unit {arrival.index} opens the first episode."
            elif cut.ends:
                note = f"Unit {arrival.index} opens a new episode: {cut.why}. "
                text, written = writer.close()
                note += text
            writer.take(arrival, when)
            yield _step(arrival.unit, note, draft, themes, written)

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Returns xMemory's evidence for a question; the class describes the stages."""
        tasks = or_offline(self.tasks, view.services)
        return XMemorySearch(view, tasks, self).run(question)

    def tables(self, structure: Structure, steps: Sequence[Step]) -> dict[str, list[Row]]:
        """Returns the side tables of episodes, themes, their sizes, splits and merges."""
        return {
            "Episodes": episode_rows(structure),
            "Themes": theme_rows(structure),
            "Sizes of themes": size_rows(steps),
            "Splits and merges": change_rows(steps),
        }


def _step(unit: Unit, note: str, draft: Draft, themes: Themes, written: int) -> Step:
    """Returns the step of a unit, with the comparisons that shaped the themes."""
    decision = None
    if themes.judged:
        first = themes.judged[0]
        similar, needed = first.numbers
        why = (
            f"{len(themes.judged)} comparisons shaped the themes; the first, node {first.node} "
            f"{first.label}, has {similar} against {needed}."
        )
        decision = Decision(tuple(themes.judged), themes.chosen, why)
    return draft.step(unit, note, written, themes.inspected, decision)
