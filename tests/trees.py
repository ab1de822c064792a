"""Small structures and conversations shared by the tests, drawn beside their numbers."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from segviz.construct import Arrival
from segviz.conversation import Conversation, Question, Session, Turn, Unit
from segviz.retrieval import RetrievalSettings
from segviz.tree import Add, Event, Link, Step, Structure, replay

ZERO = np.zeros(2, dtype=np.float32)


def unit(index: int, session: int = 0) -> Unit:
    return Unit(index, (f"D1:{index + 1}",), session, f"text {index}")


def arrival(index: int, session: int = 0) -> Arrival:
    u = unit(index, session)
    return Arrival(u.index, u.turn_ids, u.session, u.text, vector=ZERO)


def best_nodes(scores: np.ndarray, structure: Structure, **limits: object) -> list[int]:
    """The nodes that ``limits``, settings of a retrieval, read of a ranking by scores."""
    settings = RetrievalSettings(**limits)
    return settings.read(settings.order(scores, structure), structure)


def grown(
    nodes: Sequence[tuple[int, int, int]],
    edges: Sequence[tuple[int, int]],
    texts: Sequence[str] = (),
) -> Structure:
    """A structure from (level, start, stop) rows and [parent, child] pairs. Without ``texts`` a
    node with a single child has that child's."""
    children: dict[int, list[int]] = {}
    for parent, child in edges:
        children.setdefault(parent, []).append(child)

    text = list(texts) or [f"node {node}" for node in range(len(nodes))]
    # Children of one-child nodes first, so that a text climbs its whole chain.
    for node in sorted(children, key=lambda node: nodes[node][0]):
        if len(children[node]) == 1 and not texts:
            text[node] = text[children[node][0]]

    events: list[Event] = [
        Add(i, level, (start, stop), text[i], ZERO) for i, (level, start, stop) in enumerate(nodes)
    ]
    events += [Link(*edge) for edge in edges]
    return replay([Step(unit(0), "", None, tuple(events))])


def chain(n: int) -> Structure:
    """Each node the only child of the next."""
    return grown([(i, 0, 1) for i in range(n)], [(i + 1, i) for i in range(n - 1)])


def toy() -> Structure:
    """Seven leaves, as in the Guide.

    ::

        level 2            10
                      /          \\
        level 1     7      8        9
                   /|\\     |      / | \\
        level 0   0 1 2    3     4  5  6
    """
    return grown(
        [*((0, i, i + 1) for i in range(7)), (1, 0, 3), (1, 3, 4), (1, 4, 7), (2, 0, 7)],
        [(7, 0), (7, 1), (7, 2), (8, 3), (9, 4), (9, 5), (9, 6), (10, 7), (10, 8), (10, 9)],
    )


def shown_as(structure: Structure) -> list[int]:
    """The lowest node of every node's same-text chain, one child at a time."""

    def lowest(node: int) -> int:
        while len(below := structure.children[node]) == 1:
            if structure.text[below[0]] != structure.text[node]:
                break
            node = below[0]
        return node

    return [lowest(node) for node in range(len(structure))]


def random_graph(rng: random.Random, n: int) -> tuple[int, list[tuple[int, int]]]:
    """A random acyclic edge list over ``n`` nodes: several parents, several roots."""
    edges = {
        (parent, child)
        for child in range(n)
        for parent in range(child + 1, n)
        if rng.random() < 1.5 / n
    }
    ordered = sorted(edges)
    rng.shuffle(ordered)
    return n, ordered


def random_tree(rng: random.Random, n: int) -> list[tuple[int, int]]:
    """Edges [parent, child] of a random tree with root 0."""
    return [(rng.randrange(child), child) for child in range(1, n)]


def chat(
    sessions: Sequence[Sequence[tuple[str, str]]],
    questions: Sequence[Question] = (),
    first: datetime = datetime(2024, 1, 3),
    days: Sequence[int] | None = None,
) -> Conversation:
    """A conversation from (speaker, text) pairs; sessions begin so many days after the first of
    them, or every second day."""
    after = [2 * s for s in range(len(sessions))] if days is None else days
    made = tuple(
        Session(
            f"session_{s}",
            first + timedelta(days=passed),
            f"day {s}",
            tuple(Turn(f"D{s}:{t}", who, text) for t, (who, text) in enumerate(turns, start=1)),
        )
        for s, (turns, passed) in enumerate(zip(sessions, after, strict=True), start=1)
    )
    speakers = tuple(dict.fromkeys(t.speaker for s in made for t in s.turns))
    return Conversation("chat", speakers, made, tuple(questions))


def small_chat() -> Conversation:
    """Two sessions, nine turns, three topics, one question."""
    return chat(
        [
            [
                ("Ada", "I bought a red bicycle in Utrecht on 3 May."),
                ("Ben", "A red bicycle! How many gears does the bicycle have?"),
                ("Ada", "Eight gears, and the bicycle cost 450 euros."),
                ("Ben", "My sourdough bread failed again this morning."),
                ("Ada", "Bread needs patience. Did the sourdough starter bubble?"),
            ],
            [
                ("Ben", "The sourdough bread finally rose, thanks to rye flour."),
                ("Ada", "Wonderful bread news! Rye flour is the trick."),
                ("Ada", "My telescope arrived, I saw the rings of Saturn."),
                ("Ben", "Saturn through your own telescope, that is lovely."),
            ],
        ],
        [Question(0, "What colour is the bicycle?", "red", 4, ("D1:1",))],
    )
