"""MemForest's write path: cells of a few turns, the facts of a closed cell, and their trees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from segviz.construct import Arrival, Declared, param
from segviz.construct.tasks import Extraction, Stated, Tasks
from segviz.construct.tasks.words import lines, normalised
from segviz.conversation import Moment, as_time
from segviz.systems.common.structure_editor import Draft, sources
from segviz.systems.memforest.scenes import Scenes
from segviz.systems.memforest.trees import CELL, Forest, beside, payload
from segviz.tree import Facts, Judgement, Vector, as_number

_CHARACTERS = 8000  # code, 8000
_MARKER = re.compile(r"\b(?:by the way|anyway|changing the subject|on another note)\b", re.I)


class Cells:
    """MemForest's cells: each has a few turns of one session, and the last may be open."""

    def __init__(self, draft: Draft, turns: int, gap: float) -> None:
        """Continues the cells in ``draft``.

        A cell is closed when it has ``turns`` turns, or after ``gap`` hours of silence.
        """
        self._draft = draft
        self._turns = turns
        self._gap = gap * 3600

    def waiting(self) -> int | None:
        """Returns the cell that is still open; None without one."""
        for node in range(len(self._draft) - 1, -1, -1):
            if self._draft.kind[node] == CELL and self._draft.active[node]:
                return None if self._draft.facts[node]["closed"] else node
        return None

    def fitting(self, arrival: Arrival, when: Moment) -> int | None:
        """Returns the open cell if a unit continues it: by session, silence, room and subject."""
        cell = self.waiting()
        if cell is None or self._draft.facts[cell]["session"] != arrival.session:
            return None
        gap = when.seconds - as_number(self._draft.facts[cell], "to")
        longer = len(payload(self._draft, cell)) + len(arrival.text) > _CHARACTERS
        return None if gap > self._gap or longer or _MARKER.search(arrival.text) else cell

    def begin(self, leaf: int, arrival: Arrival, when: Moment) -> int:
        """Opens a cell over its first unit; returns its node."""
        facts: Facts = {
            "session": arrival.session,
            "from": when.seconds,
            "to": when.seconds,
            "dated": when.dated,
            "closed": False,
            "items": 1,
        }
        return self._draft.add(1, [leaf], arrival.text, CELL, facts, arrival.vector)

    def carry_on(self, cell: int, leaf: int, arrival: Arrival, when: Moment) -> None:
        """Appends a unit to an open cell."""
        draft = self._draft
        draft.link(cell, leaf)
        draft.note(cell, to=max(when.seconds, as_number(draft.facts[cell], "to")))

    def full(self, cell: int) -> bool:
        """Returns True if a cell has turns or text enough to be closed."""
        text = payload(self._draft, cell)
        return len(lines(text)) >= self._turns or len(text) > _CHARACTERS


FACT = "fact"


@dataclass(frozen=True)
class FactParameters(Declared):
    """Parameters of MemForest's cells, facts, and trees of sessions and entities."""

    session_k: int = param(3, "Most children in a session's tree.", (3, 32), source="code, 3")
    entity_k: int = param(8, "Most children in an entity's tree.", (3, 32), source="code, 8")
    cell_turns: int = param(2, "Turns of a cell.", (1, 20), source="MemForest §4.1 and Table 8, 2")
    gap: float = param(6.0, "Hours of silence that end a cell.", (0, 10_000), source="code, 6")
    extracted: int = param(15, "Most facts of a cell.", (1, 200), source="code, 15")
    duplicate: float = param(
        0.93, "Similarity from which two facts may be one.", (0, 1), source="code, .93"
    )
    judged: int = param(4, "Near duplicates judged, at most.", (0, 50), source="code, 4")
    entity_facts: int = param(3, "Facts an entity has with its tree.", (1, 100), source="code, 3")
    entity_sessions: int = param(2, "Sessions these are from.", (1, 100), source="code, 2")


class Ingest:
    """Write path of MemForest: adds units, cells and facts to a draft and its trees."""

    def __init__(
        self, draft: Draft, forest: Forest, scenes: Scenes, routing: FactParameters, tasks: Tasks
    ) -> None:
        self.draft = draft
        self.forest = forest
        self.routing = routing
        self._tasks = tasks
        self._facts: list[int] = []
        self._texts: dict[str, int] = {}  # facts by normalised text
        self._named: dict[str, list[int]] = {}  # facts by name of an entity
        self._cells = Cells(draft, routing.cell_turns, routing.gap)
        self._scenes = scenes
        # Facts extracted ahead of time, by the dialogue of a cell and the time of its first unit.
        self._foreseen: dict[tuple[str, datetime | None], Extraction] = {}
        self.begin_step()

    def begin_step(self) -> None:
        """Forgets what was recorded about the previous unit."""
        self._judged: list[Judgement] = []
        self._events: list[str] = []
        self._compared = 0
        self.fresh = self.merged = 0
        self.fallback = False
        self._scenes.begin_step()

    @property
    def judged(self) -> list[Judgement]:
        """Comparisons of this step that decided where facts go."""
        return self._judged + self._scenes.judged

    @property
    def events(self) -> list[str]:
        """Sentences on new trees and merged scenes, for the note of this step."""
        return self._events + self._scenes.events

    @property
    def inspected(self) -> int:
        """Number of facts and scenes that this step compared."""
        return self._compared + self._scenes.inspected

    def foresee(self, session: Sequence[tuple[Arrival, Moment]]) -> None:
        """Extracts the facts of a session's cells in parallel, if a chat model does (§4.1)."""
        extract: Any = getattr(self._tasks, "extract_many", None)
        if extract is None:
            return
        draft = Draft(self.draft.embedder)  # a scratch copy that only finds the cells' boundaries
        cells = Cells(draft, self.routing.cell_turns, self.routing.gap)
        for arrival, when in session:
            cell, leaf = cells.fitting(arrival, when), draft.leaf(arrival, arrival.vector)
            if cell is None:
                cell = cells.begin(leaf, arrival, when)
            else:
                cells.carry_on(cell, leaf, arrival, when)
            draft.note(cell, closed=cells.full(cell))
        asked = [_stretch(draft, cell) for cell in draft.of_kind(CELL) if cells.full(cell)]
        self._foreseen = dict(zip(asked, extract(asked, self.routing.extracted), strict=True))

    def insert(self, arrival: Arrival, when: Moment) -> None:
        """Inserts a unit into its cell; adds the facts of the cells that this closes."""
        leaf = self.draft.leaf(arrival, arrival.vector)
        cell = self._cells.fitting(arrival, when)
        if cell is None:
            waiting = self._cells.waiting()
            if waiting is not None:
                self._close(waiting)
            cell = self._cells.begin(leaf, arrival, when)
            self._place(cell, "session", str(arrival.session), f"session {arrival.session + 1}")
        else:
            self._cells.carry_on(cell, leaf, arrival, when)
        self.forest.touch_item(cell)
        if self._cells.full(cell):
            self._close(cell)

    def _close(self, cell: int) -> None:
        """Closes a cell: extracts its facts and adds each, or an occurrence of a known one."""
        draft = self.draft
        draft.note(cell, closed=True)
        text, when = _stretch(draft, cell)
        # §4.1: extraction, then canonicalisation against the facts known so far.
        extraction = self._foreseen.pop((text, when), None)
        if extraction is None:
            extraction = self._tasks.extract(text, when, most=self.routing.extracted)
        self.fallback |= extraction.fallback
        vectors = draft.embedder.embed([fact.text for fact in extraction.facts])
        for fact, vector in zip(extraction.facts, vectors, strict=True):
            # A fact is linked to the units of its cell that it quotes.
            units = sources(fact.text, draft.children[cell], draft)
            known = self._known(fact, vector)
            if known is None:
                self._add(fact, vector, units, cell)
            else:
                # Another occurrence of a known fact.
                self.merged += 1
                for unit in units:
                    if unit not in draft.children[known]:
                        draft.link(known, unit)
                own, last = draft.facts[known], as_number(draft.facts[cell], "to")
                occurrences = int(as_number(own, "occurrences")) + 1
                draft.note(known, occurrences=occurrences, to=max(as_number(own, "to"), last))
                self.forest.touch_item(known)
                self._entity_trees(known)

    def _known(self, fact: Stated, vector: Vector) -> int | None:
        """Returns the known fact that means the same as a new one; None without one."""
        # Normalised surface forms first (§4.1), which needs no comparison of vectors.
        exact = self._texts.get(normalised(fact.text))
        if exact is not None or not self._facts:
            return exact
        self._compared += len(self._facts)
        limit = self.routing.duplicate
        # Similar embeddings only suggest a duplicate; the task decides.
        for node, score in self.draft.nearest(vector, self._facts, limit, self.routing.judged):
            if self._tasks.same(self.draft.text[node], fact.text):
                self._judged.append(Judgement(node, score, limit, "the same fact"))
                return node
        return None

    def _add(self, stated: Stated, vector: Vector, units: Sequence[int], cell: int) -> None:
        """Adds a new fact over its units, and to the trees of its entities and a scene."""
        draft = self.draft
        self.fresh += 1
        names = dict.fromkeys(filter(None, (normalised(e.name) for e in stated.entities)))
        facts: Facts = {
            "origin": normalised(stated.speaker),
            "entities": "\n".join(names),
            "domain": stated.domain,
            "role": stated.role,
            "occurrences": 1,
            **{name: draft.facts[cell][name] for name in ("from", "to", "dated")},
            "items": 1,
        }
        fact = draft.add(1, units, stated.text, FACT, facts, vector)
        # §4.2, scope routing: entity trees and a scene; the session's tree has the cell itself.
        self._facts.append(fact)
        self._texts[normalised(stated.text)] = fact
        for name in names:
            self._named.setdefault(name, []).append(fact)
        self._entity_trees(fact)
        self._scenes.route(fact, self._facts)

    def _place(self, item: int, family: str, scope: str, label: str) -> None:
        """Adds an item to the tree ``scope`` of a family, which is planted if it is missing."""
        root = self.forest.root(family, scope)
        if root is None:
            self.forest.plant(family, scope, label, getattr(self.routing, f"{family}_k"), item)
        elif not self.forest.holds(root, item):
            self.forest.insert(root, item)

    def _entity_trees(self, fact: int) -> None:
        """Adds a fact to the trees of its speaker and entities.

        An entity with enough facts gets a new tree, which holds its earlier facts, too.
        """
        for name in entities(self.draft, fact):
            root = self.forest.root("entity", name)
            if root is not None or name == self.draft.facts[fact]["origin"]:
                self._place(fact, "entity", name, name)
            elif self._ripe(name):
                for each in self._named[name]:
                    self._place(each, "entity", name, name)
                self._events.append(f"“{name}” gets a tree of its own")

    def _ripe(self, name: str) -> bool:
        """Returns True if an entity has enough facts, from enough sessions, for a tree."""
        draft, routing, facts = self.draft, self.routing, self._named[name]
        # An entity named in one session only has no history worth a tree of its own.
        cells = [cell for fact in facts for cell in beside(draft, fact, CELL)]
        sessions = {draft.facts[cell]["session"] for cell in cells}
        return len(facts) >= routing.entity_facts and len(sessions) >= routing.entity_sessions


def _stretch(draft: Draft, cell: int) -> tuple[str, datetime | None]:
    """Returns the dialogue of a cell, and the time of its first unit."""
    dated = bool(draft.facts[cell]["dated"])
    when = as_time(as_number(draft.facts[cell], "from")) if dated else None
    return payload(draft, cell), when


def entities(draft: Draft, fact: int) -> list[str]:
    """Returns the names of the entities of a fact."""
    return [name for name in str(draft.facts[fact]["entities"]).split("\n") if name]
