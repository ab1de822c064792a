"""One of each part that a package may bring to segviz."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from segviz.construct import Arrival, Row, Services, param
from segviz.conversation import Conversation, Session, Turn
from segviz.loaders import Loader
from segviz.retrieval import MemoryView, Retrieval, Stage
from segviz.tree import Add, Cost, Event, Link, Revise, Step, Structure
from segviz.tree.invariants import Invariant, Violation


def sessions_do_not_overlap(structure: Structure) -> Iterator[Violation]:
    """Checks that every node above the units starts where the one before it stops."""
    nodes = np.flatnonzero(structure.active & (structure.level > 0)).tolist()
    for before, node in pairwise(nodes):
        expected, found = int(structure.stop[before]), int(structure.start[node])
        if found != expected:
            yield Violation("sessions", node, f"a start at {expected}", str(found))


@dataclass(frozen=True)
class BySession:
    """A node over the units of every session, with the first words of each.

    Source: an example, ours.
    """

    name: ClassVar[str] = "by-session"
    label: ClassVar[str] = "By session"
    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (sessions_do_not_overlap,)
    fidelity: ClassVar[str] = "faithful"
    departures: ClassVar[tuple[str, ...]] = ()

    words: int = param(5, "Words kept of each unit.", (1, 50), source="ours")

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """The first unit of a session opens a node, the others extend it."""
        count, node, first, text = 0, -1, 0, ""
        for arrival in arrivals:
            leaf, here = count, arrival.index
            events: list[Event] = [Add(leaf, 0, (here, here + 1), arrival.text, arrival.vector)]
            start = " ".join(arrival.text.split()[: self.words])
            count += 1
            if node < 0 or arrival.opens_session:
                node, first, text, count = count, here, start, count + 1
                vector = services.embedder.embed([text])[0]
                events.append(Add(node, 1, (first, here + 1), text, vector))
            else:
                text += " / " + start
                vector = services.embedder.embed([text])[0]
                events.append(Revise(node, (first, here + 1), text, vector))
            events.append(Link(node, leaf))
            yield Step(arrival.unit, "", None, tuple(events), Cost(annotated=1))

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Ranks the sessions by the chosen relevance, each followed by its units."""
        structure, scores = view.structure, np.clip(view.relevance([question])[0], 0, None)
        sessions = np.flatnonzero(structure.active & (structure.level > 0)).tolist()
        best = tuple(sorted(sessions, key=lambda node: -scores[node]))
        ranked = tuple(each for node in best for each in (node, *structure.children[node]))
        first = Stage("sessions", "Sessions are ranked.", best, tuple(scores[list(best)]), best)
        return Retrieval(scores, ranked, (first,))

    def tables(self, structure: Structure, steps: Sequence[Step]) -> dict[str, list[Row]]:
        """Returns a table of the sessions; with start and stop it also has a timeline."""
        nodes = np.flatnonzero(structure.active & (structure.level > 0)).tolist()
        spans = [(int(structure.start[node]), int(structure.stop[node])) for node in nodes]
        return {
            "Sessions": [
                {"session": f"session {i}", "units": stop - start, "start": start, "stop": stop}
                for i, (start, stop) in enumerate(spans, start=1)
            ]
        }


@dataclass(frozen=True)
class Overlap:
    """The share of the question's words that a text has."""

    name: ClassVar[str] = "overlap"

    def prepare(self, structure, embedder, units=(), speakers=()):
        """Scores of all questions for all nodes, float64 (q, n)."""
        held = [{*re.findall(r"\w+", text.lower())} for text in structure.text]

        def score(questions):
            asked = [{*re.findall(r"\w+", question.lower())} for question in questions]
            return np.array([[len(q & t) / max(len(q), 1) for t in held] for q in asked])

        return score


class ToRoots:
    """Scores flow from every child to its parent."""

    label = "To the roots"
    live = False
    reaches_leaves = False

    def transitions(self, edges, structure=None):
        """[source, target] pairs."""
        return edges[:, ::-1]


class Letters:
    """Counts of letters, as unit vectors."""

    name = "letters-26"

    def embed(self, texts):
        """float32 (len(texts), 26)."""
        counts = [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts]
        rows = np.array(counts, dtype=np.float32).reshape(-1, 26)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def _lines(document: object) -> list[tuple[str, str]]:
    text = getattr(document, "text", "")
    return re.findall(r"^(\w+) -> (.+)$", text, re.MULTILINE) if isinstance(text, str) else []


def _read(document, name, options):
    turns = [Turn(f"T{i}", who, said) for i, (who, said) in enumerate(_lines(document))]
    speakers = tuple(dict.fromkeys(turn.speaker for turn in turns))
    return (Conversation(name, speakers, (Session("all", None, "", tuple(turns)),)),), []


ARROWS = Loader("Arrows", lambda document: bool(_lines(document)), _read)
