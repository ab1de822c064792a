"""xMemory's episodes: messages until the subject changes, then statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from segviz.construct import Annotate, Arrival, Declared, param
from segviz.construct.tasks import Boundary, Stated, Tasks
from segviz.construct.tasks.words import lines, normalised
from segviz.conversation import Moment, as_time
from segviz.systems.common.annotation import write
from segviz.systems.common.structure_editor import Draft, sources
from segviz.systems.xmemory.retrieval import EPISODE
from segviz.systems.xmemory.themes import SEMANTIC, Themes, reassigned
from segviz.tree import Facts, Vector, as_number


@dataclass(frozen=True)
class EpisodeParameters(Declared):
    """Parameters of xMemory's episodes."""

    shortest: int = param(2, "Messages an episode has at least.", (1, 50), source="code, 2")
    longest: int = param(25, "Messages an episode has at most.", (1, 200), source="code, 25")
    gap: float = param(
        30.0,
        "Minutes of silence that end an episode.",
        (0, 10_000),
        source="App. C, boundary prompt, 30",
    )
    extracted: int = param(40, "Most statements of an episode.", (1, 200), source="ours")
    known: int = param(
        10, "Statements shown before an episode is read, at most.", (0, 50), source="code, 10"
    )
    known_from: float = param(0.7, "Their least similarity.", (-1, 1), source="code, .7")


class Episodes:
    """xMemory's open episode, and what is written when it closes."""

    def __init__(
        self,
        draft: Draft,
        themes: Themes,
        tasks: Tasks,
        annotate: Annotate,
        reading: EpisodeParameters,
    ) -> None:
        self.episode: int | None = None  # the open one
        self._session = 0  # of the last message
        self._last = 0.0  # its time, in seconds
        self._draft = draft
        self._themes = themes
        self._tasks = tasks
        self._annotate = annotate
        self._reading = reading
        self._statements: list[int] = []
        self._texts: dict[str, int] = {}  # statements by normalised text

    def boundary(self, arrival: Arrival, when: Moment) -> Boundary:
        """Decides, by rules first, then by the change of subject, if the open episode ends."""
        draft, rules = self._draft, self._reading
        if self.episode is None:
            return Boundary(False, "")
        before = draft.children[self.episode]
        messages = [draft.text[unit] for unit in before]
        length = sum(len(lines(text)) for text in messages)
        if self._session != arrival.session:
            return Boundary(True, "the session changed")
        if when.seconds - self._last > rules.gap * 60:
            return Boundary(True, f"{rules.gap:g} minutes passed")
        if length >= rules.longest:
            return Boundary(True, f"it has {length} messages")
        if length < rules.shortest:
            return Boundary(False, "it is too short to end")
        # The last three messages stand for the present subject.
        mean = draft.vectors(before[-3:]).mean(axis=0)
        norm = float(np.linalg.norm(mean) * np.linalg.norm(arrival.vector))
        similarity = round(float(mean @ arrival.vector) / norm, 9) if norm else 0.0
        return self._tasks.boundary(messages, arrival.text, similarity)

    def take(self, arrival: Arrival, when: Moment) -> None:
        """Adds a message to the open episode, or opens one."""
        draft = self._draft
        leaf = draft.leaf(arrival, arrival.vector)
        self._session, self._last = arrival.session, when.seconds
        if self.episode is None:
            facts = {"from": when.seconds, "to": when.seconds, "dated": when.dated, "closed": False}
            self.episode = draft.add(1, [leaf], arrival.text, EPISODE, facts, arrival.vector)
            return
        draft.link(self.episode, leaf)
        draft.note(self.episode, to=when.seconds)
        draft.rewrite([self.episode], [f"{draft.text[self.episode]}\n{arrival.text}"])

    def close(self) -> tuple[str, int]:
        """Closes the episode; returns a sentence for the note and the number of texts written."""
        draft, episode = self._draft, self.episode
        if episode is None:
            return "", 0
        # The messages of the episode are replaced by their summary; ``raw`` keeps their text.
        units = list(draft.children[episode])
        written = len(units) > 1
        raw = draft.text[episode]
        if written:
            draft.rewrite([episode], write(self._annotate, [[draft.annotation(u) for u in units]]))
        draft.note(episode, closed=True)
        facts = draft.facts[episode]
        when = as_time(as_number(facts, "from")) if facts["dated"] else None
        # §3.2: statements are extracted from the messages, not the summary, given the similar ones
        # known.
        vector = draft.vectors([episode])[0]
        near = draft.nearest(
            vector, self._statements, self._reading.known_from, self._reading.known
        )
        known = [draft.text[statement] for statement, _ in near]
        extraction = self._tasks.extract(raw, when, known, self._reading.extracted)
        vectors = draft.embedder.embed([fact.text for fact in extraction.facts])
        # Statements join themes; then the themes are split and merged (§3.2).
        fresh = 0
        for fact, vector in zip(extraction.facts, vectors, strict=True):
            fresh += self._add_statement(fact, vector, episode, units)
        self._themes.upkeep()
        text = f"Episode {episode} gave {fresh} new statements"
        for event in self._themes.changes:
            text += f"; {event}"
        if self._themes.changes:
            text += f"; {reassigned(draft):.0%} of all statements have changed their theme"
        if extraction.fallback:
            text += "; the model's answer could not be read, so rules found them"
        self.episode = None
        return text + ".", int(written) + self._themes.rewrite()

    def _add_statement(
        self, fact: Stated, vector: Vector, episode: int, leaves: Sequence[int]
    ) -> bool:
        """Adds a statement that an episode makes; returns True if it is new."""
        draft = self._draft
        # The span of a leaf begins at its unit.
        quoted = [draft.span[leaf][0] for leaf in sources(fact.text, leaves, draft)]
        # The same statement of another episode is linked, not stored twice.
        again = self._texts.get(normalised(fact.text))
        if again is not None:
            if episode not in draft.children[again]:
                draft.link(again, episode)
            units = [*map(int, str(draft.facts[again]["units"]).split()), *quoted]
            draft.note(again, units=" ".join(map(str, dict.fromkeys(units))))
            return False
        facts: Facts = {"units": " ".join(map(str, quoted)), "moves": 0, "domain": fact.domain}
        # Levels: 0 messages, 1 episodes, 2 statements, 3 themes.
        statement = draft.add(2, [episode], fact.text, SEMANTIC, facts, vector)
        self._statements.append(statement)
        self._texts[normalised(fact.text)] = statement
        self._themes.attach(statement)
        return True
