"""xMemory: messages, episodes, statements and themes kept balanced by an objective."""

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
from segviz.construct.tasks import Offline, Tasks
from segviz.conversation import Clock, Unit
from segviz.systems.common.annotation import annotator, judgements, or_offline, prepared
from segviz.systems.common.draft import Draft
from segviz.systems.common.published import Paper, paper
from segviz.systems.xmemory.episodes import Episodes
from segviz.systems.xmemory.invariants import statements_are_parted
from segviz.systems.xmemory.retrieval import XMemorySearch
from segviz.systems.xmemory.tables import change_rows, episode_rows, size_rows, theme_rows
from segviz.systems.xmemory.themes import Themes
from segviz.tree import Decision, Step, Structure
from segviz.tree.invariants import Invariant


@dataclass(frozen=True)
class XMemory(Declared):
    """Four levels: message, episode, statement, theme; themes are split and merged.

    Messages gather in an episode until the subject changes. A closed episode is summed up
    and read for statements that are not known yet. A statement joins the theme whose
    centroid is most like it, or opens one. A theme of more than twelve is split and a tiny
    one merged into another, each the way that raises the objective f: balanced sizes, tight
    themes, and neighbours neither too near nor too far.

    A question picks a few themes and statements that together cover what is relevant, and
    goes down to episodes and messages only where these make an answer surer.

    Source: xMemory (Beyond RAG for Agent Memory), §3, and the authors' code for thresholds.
    Departs from the source as listed in ``departures``.
    """

    name: ClassVar[str] = "xmemory"
    label: ClassVar[str] = "xMemory"
    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (statements_are_parted,)
    fidelity: ClassVar[str] = "adapted"
    published: ClassVar[Paper] = paper("segviz.systems.xmemory")
    relevance: ClassVar[str] = "dense"  # embedding similarity, §3.3
    departures: ClassVar[tuple[str, ...]] = (
        "Offline, sentences stand for statements, and uncertainty is what of the question's "
        "words and expected answer the context lacks; a model states its confidence.",
        "The open episode is part of the memory; its statements come when it is closed.",
        "Equal statements are one, with several episodes.",
        "Neighbour lists are computed from the vectors when they are needed, not stored.",
        "The spread in f is at least .05, or three themes would score all or nothing.",
        "f is that of all themes (§3.2); the code looks at a theme's neighbours alone.",
        "Of the tiny themes those that changed in this step merge, and where f gains alone.",
        "Themes are written from all their statements, not from the newest alone.",
        "Themes and statements come first as evidence, by similarity; the paper's context has "
        "no order.",
        "Without RepSel themes and statements are the most similar; without UncSion every "
        "episode that would be probed is taken (the paper names neither).",
    )
    level_names: ClassVar[tuple[str, ...]] = ("message", "episode", "statement", "theme")

    tasks: Tasks = judgements(
        "Finds boundaries and statements, and judges uncertainty.", "§3.2 and App. C"
    )
    annotate: Annotate = annotator("Writes episodes and themes.", "§3.2 and App. C")
    shortest: int = param(2, "Messages an episode has at least.", (1, 50), source="code, 2")
    longest: int = param(25, "Messages an episode has at most.", (1, 200), source="code, 25")
    gap: float = param(
        30.0,
        "Minutes of silence that end an episode.",
        (0, 10_000),
        source="App. C, boundary prompt, 30",
    )
    extracted: int = param(40, "Statements an episode gives at most.", (1, 200), source="ours")
    known: int = param(
        10, "Statements shown before an episode is read, at most.", (0, 50), source="code, 10"
    )
    known_from: float = param(0.7, "Their similarity at least.", (-1, 1), source="code, .7")
    most: int = param(
        12, "Statements in a theme before it is split.", (2, 50), source="App. B and Table 8, 12"
    )
    attach: float = param(0.62, "Similarity that joins any theme.", (-1, 1), source="code, .62")
    loose: float = param(
        0.52, "Similarity that joins a theme with room left.", (-1, 1), source="code, .52"
    )
    cut: float = param(
        0.66, "Similarity by which members hang together in a split.", (-1, 1), source="code, .66"
    )
    tiny: int = param(
        1,
        "Statements of a theme that may merge into another, at most.",
        (1, 50),
        source="§3.2 merges tiny themes; 1 by Tables 6 and 7, where a merge moves 1.1 statements",
    )
    merge: float = param(
        0.42,
        "Similarity from which a tiny theme may merge.",
        (-1, 1),
        source="code, .50; .42 is ours, for the offline embedder",
    )
    neighbours: int = param(10, "Nearest neighbours that count.", (1, 50), source="§3.2; code, 10")
    spread: float = param(
        0.05,
        "The spread σ of the nearest similarities in f, at least.",
        (1e-8, 1),
        source="equation 3 adds ε; code, 1e-8; .05 is ours",
    )
    restructure: str = param(
        "full",
        "Whether themes are split and merged.",
        choices=("full", "w/o split", "w/o merge", "w/o merge&split"),
        source="Table 6, its rows",
    )
    search: str = param(
        "full",
        "Whether themes and statements are chosen to cover (RepSel) or by similarity "
        "alone, and episodes by uncertainty (UncSion) or all that would be probed.",
        choices=("full", "+UncSion", "+RepSel", "Memory-only"),
        source="Table 4, its rows",
    )
    candidates: int = param(40, "Statements a question begins with.", (1, 500), source="code, 40")
    coverage: float = param(
        0.7, "Weight of coverage against relevance.", (0, 1), source="equation 4; code, .7"
    )
    covered: float = param(
        1.0,
        "Share of the candidates that is covered when the choice ends.",
        (0, 1),
        source="§3.3, stage I; code, 1",
    )
    themes: int = param(5, "Themes chosen at most.", (1, 50), source="§3.3; code, 5")
    statements: int = param(20, "Statements chosen at most.", (1, 100), source="§3.3; code, 20")
    dense: int = param(10, "Episodes that enter by similarity alone.", (0, 100), source="code, 10")
    support: float = param(
        0.5,
        "Weight of an episode's best statement beside its own similarity.",
        (0, 5),
        source="§3.3, stage II; code, .5",
    )
    probes: int = param(10, "Episodes probed at most.", (1, 50), source="code, 10")
    early: int = param(
        3,
        "First probes among which one low gain ends the search.",
        (0, 50),
        source="§3.3, early stopping; code, 3",
    )
    low_gains: int = param(
        2, "Low gains that end the search later.", (1, 50), source="§3.3, early stopping; code, 2"
    )
    admit: float = param(
        0.02,
        "Nats an episode must gain to be admitted.",
        (-5, 5),
        source="code, -.40, which admits losses; .02 is ours",
    )
    expand: float = param(0.25, "Nats that also admit its messages.", (-5, 5), source="code, .25")
    accumulate: bool = param(
        False,
        "Judge each episode on top of those admitted, not always on the same base.",
        source="§3.3 leaves it open; code, no",
    )

    @property
    def splitting(self) -> bool:
        """Whether overcrowded themes are split."""
        return self.restructure in ("full", "w/o merge")

    @property
    def merging(self) -> bool:
        """Whether tiny themes are merged."""
        return self.restructure in ("full", "w/o split")

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per unit, lazily."""
        draft = Draft(services.embedder)
        tasks: Tasks = prepared(self.tasks, services)
        annotate = prepared(self.annotate, services)
        themes = Themes(draft, self, annotate)
        writer = Episodes(draft, themes, tasks, annotate, self)
        clock = Clock()
        for arrival in arrivals:
            when = clock.tell(arrival)
            themes.begin_step()
            cut = writer.boundary(arrival, when)
            note, written = f"Unit {arrival.index} carries episode {writer.episode} on.", 0
            if writer.episode is None:
                note = f"Unit {arrival.index} opens the first episode."
            elif cut.ends:
                note = f"Unit {arrival.index} opens a new episode: {cut.why}. "
                text, written = writer.close()
                note += text
            writer.take(arrival, when)
            yield _step(arrival.unit, note, draft, themes, written)

    def retrieve(self, question: str, view: View) -> Retrieval:
        """Themes, statements, episodes, messages; see the class for the course."""
        tasks = or_offline(self.tasks, view.services, Offline)
        return XMemorySearch(view, tasks, self).run(question)

    def tables(self, structure: Structure, steps: Sequence[Step]) -> dict[str, list[Row]]:
        """Returns episodes, themes, their sizes, splits and merges."""
        return {
            "Episodes": episode_rows(structure),
            "Themes": theme_rows(structure),
            "Sizes of themes": size_rows(steps),
            "Splits and merges": change_rows(steps),
        }


def _step(unit: Unit, note: str, draft: Draft, themes: Themes, written: int) -> Step:
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
