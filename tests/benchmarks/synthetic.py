"""Conversations of any length for the benchmarks: topics come, go and come back.

Two people talk in sessions of some forty turns. A session holds a few episodes; an episode
stays on one subject, with a person, a place and a few things of its own that recur while
it lasts. Subjects are drawn again and again, the frequent ones more often, so that the
vocabulary recurs over any distance. The same size gives the same text, and a longer
conversation begins with the shorter one.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from segviz.conversation import Conversation, Question, Session, Turn
from segviz.embedding import get_embedder
from segviz.export import locomo_json
from segviz.memory import Memory
from segviz.systems import SegmentTree
from segviz.tree import Add, Cost, Decision, Event, Judgement, Link, Revise, Step, Structure, Vector

SUBJECTS: dict[str, tuple[str, ...]] = {
    name: tuple(words.split())
    for name, words in {
        "garden": "tomatoes compost seedlings fence slugs roses pruning watering soil ladder",
        "music": "guitar chords rehearsal drummer concert melody tuning setlist",
        "bread": "sourdough flour oven crust starter rye loaf yeast baking kneading",
        "sailing": "harbour sails rudder anchor wind mooring deck knots lighthouse tide",
        "work": "deadline manager office contract meeting client budget report overtime",
        "travel": "passport train luggage hostel museum ticket border airport souvenir",
        "health": "doctor appointment knee exercise vitamins sleep allergy clinic",
        "school": "exam teacher homework library semester thesis lecture tutor",
        "painting": "canvas brush watercolour portrait gallery easel pigment sketch frame",
        "football": "match goalkeeper league penalty coach stadium training defeat trophy referee",
        "dogs": "puppy leash kennel vet barking shelter collar fetch obedience fur",
        "cycling": "gears helmet saddle puncture climb route brakes pedals lane chain",
        "cooking": "curry saucepan garlic recipe spices noodles simmer dumplings pepper lentils",
        "astronomy": "telescope saturn eclipse comet lens orbit meteor moon",
        "house": "kitchen plumber tiles roof mortgage paint shelves boiler carpet",
        "family": "grandmother cousin wedding nephew birthday reunion sister twins adoption uncle",
        "photography": "lens tripod portrait darkroom album shutter landscape camera print",
        "hiking": "trail summit boots map waterfall tent ridge blister valley compass",
        "films": "director premiere scene actor cinema plot soundtrack festival sequel script",
        "money": "savings rent pension bank loan taxes receipt insurance salary bill",
        "chess": "opening knight endgame tournament clock gambit checkmate rook rating pawn",
        "weather": "storm snow flood heatwave thunder frost umbrella drought forecast fog",
        "reading": "novel chapter author poetry bookshop biography paperback shelf ending essay",
        "swimming": "pool lanes goggles lifeguard freestyle laps coach chlorine diving relay",
    }.items()
}
PEOPLE = "Nora Felix Amira Tomas Ingrid Kofi Lucia Hassan Mei Olga Pedro Yara Anton Beatriz".split()
PLACES = "Lisbon Bergen Kyoto Gdansk Quito Galway Tunis Ghent Split Leiden Oaxaca Turku".split()
SAYINGS = (
    "{person} told me about the {a} and the {b} in {place}.",
    "I spent {n} euros on the {a}, and the {b} still needs work.",
    "The {a} was better than the {b}, at least in {month}.",
    "Did you ever sort out the {a} with {person}?",
    "We looked at the {a} near {place} on {n} {month}.",
    "Honestly, the {a} keeps me awake; {person} thinks it is the {b}.",
    "Next week {person} brings the {a}, then we try the {b} again.",
    "Yes, the {a} went wrong because of the {b}.",
    "After {n} days the {a} finally arrived from {place}!",
    "What would you do about the {a} and the {b}?",
)
MONTHS = "January March April May June August September November".split()


def sessions() -> Iterator[Session]:
    """An endless conversation, session by session."""
    draw = random.Random(20)
    names = tuple(SUBJECTS)
    often = [1 / (rank + 3) for rank in range(len(names))]
    start = datetime(2020, 1, 1, 9)
    number = 0
    while True:
        number += 1
        turns: list[Turn] = []
        for _ in range(draw.randint(2, 5)):
            words = draw.sample(SUBJECTS[draw.choices(names, often)[0]], 6)
            person, place, month = draw.choice(PEOPLE), draw.choice(PLACES), draw.choice(MONTHS)
            for _ in range(draw.randint(6, 16)):
                a, b = draw.sample(words, 2)
                said = [
                    saying.format(
                        a=a, b=b, person=person, place=place, month=month, n=draw.randint(2, 900)
                    )
                    for saying in draw.sample(SAYINGS, draw.choice((1, 1, 2)))
                ]
                who = ("Ada", "Ben")[len(turns) % 2]
                turns.append(Turn(f"D{number}:{len(turns) + 1}", who, " ".join(said)))
        start += timedelta(hours=draw.randint(20, 90))
        timed = [replace(t, time=start + timedelta(minutes=n)) for n, t in enumerate(turns)]
        yield Session(f"session_{number}", start, start.isoformat(), tuple(timed))


def conversation(turns: int) -> Conversation:
    """The first ``turns`` turns of it."""
    kept: list[Session] = []
    left = turns
    for session in sessions():
        if left <= 0:
            break
        here = session.turns[:left]
        kept.append(Session(session.id, session.start, session.raw_date, here))
        left -= len(here)
    return Conversation(f"synthetic-{turns}", ("Ada", "Ben"), tuple(kept))


def write(path: Path, count: int, characters: int) -> None:
    """Writes one conversation of ``count`` turns with two questions; the turn in its middle has so
    many characters."""
    made = conversation(count)
    middle, last = made.turns[count // 2].id, made.turns[-1].id
    words = " ".join(turn.text for turn in made.turns[:1000])
    long = (words * (characters // len(words) + 1))[:characters]
    sessions = tuple(
        replace(
            session,
            turns=tuple(
                replace(turn, text=long) if turn.id == middle else turn for turn in session.turns
            ),
        )
        for session in made.sessions
    )
    asked = (
        Question(0, "Who told Ada about the telescope?", "Mei", 1, (middle, last)),
        Question(1, "What happened to the boiler in Lisbon?", "It broke", 4, (last,)),
    )
    path.write_text(locomo_json([replace(made, sessions=sessions, questions=asked)]))


def balanced(size: int, branching: int = 6) -> Structure:
    """A balanced tree of about ``size`` nodes, oldest leaves first, without texts or vectors."""
    widths = [max(branching, round(size * (branching - 1) / branching))]
    while widths[-1] > 1:
        widths.append(-(-widths[-1] // branching))
    first = np.cumsum([0, *widths])
    n = int(first[-1])
    start, stop = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    edges = []
    for level, width in enumerate(widths):
        nodes = np.arange(width)
        start[first[level] + nodes] = nodes * branching**level
        stop[first[level] + nodes] = np.minimum((nodes + 1) * branching**level, widths[0])
        if level + 1 < len(widths):
            above = first[level + 1] + nodes // branching
            edges.append(np.column_stack([above, first[level] + nodes]))
    return Structure(
        level=np.repeat(np.arange(len(widths)), widths).astype(np.int32),
        start=start,
        stop=stop,
        text=("",) * n,
        vector=np.zeros((n, 0), dtype=np.float32),
        active=np.ones(n, dtype=np.bool_),
        edges=np.concatenate(edges).astype(np.int32),
    )


def history(turns: int, dimensions: int = 256) -> Memory:
    """A memory of so many turns whose tree has three children to a node, its steps like those of a
    segment tree: candidates on the frontier, two or three texts and random vectors each. It takes a
    hundredth of the time of a build, of which it has the shape."""
    talk = conversation(turns)
    drawn = vectors(dimensions)
    steps: list[Step] = []
    frontier: list[list[int]] = []  # node, first unit and number of children, from low to high
    nodes = 0
    for unit in talk.units("turn"):
        here, vector = (unit.index, unit.index + 1), next(drawn)
        judged = tuple(Judgement(node, 0.25, 0.1) for node, _, _ in frontier)
        free = next((i for i, (*_, held) in enumerate(frontier) if held < 3), len(frontier))
        events: list[Event] = [Add(nodes, 0, here, unit.text, vector)]
        chain, below = [], nodes
        nodes += 1
        for level in range(1, free + 1) if unit.index else ():
            events += [Add(nodes, level, here, unit.text, vector), Link(nodes, below)]
            chain.append([nodes, unit.index, 1])
            below, nodes = nodes, nodes + 1
        joined = frontier[free:]
        if unit.index and not joined:
            root, old = nodes, frontier[-1][0] if frontier else 0
            nodes += 1
            said = f"{root} {unit.text[:80]}"
            events += [Add(root, free + 1, (0, here[1]), said, next(drawn))]
            events += [Link(root, old), Link(root, below)]
            frontier = [*chain, [root, 0, 2]]
        elif joined:
            events.append(Link(joined[0][0], below))
            joined[0][2] += 1
            vector = next(drawn)
            for node, first, _ in joined:
                said = f"{joined[0][0]} {unit.text[:120]}"
                events.append(Revise(node, (first, here[1]), said, vector))
            frontier = chain + joined
        chosen = joined[0][0] if joined else None
        decision = Decision(judged, chosen, f"Node {chosen} is close enough.") if judged else None
        cost = Cost(annotated=len(joined), inspected=len(judged), modified=len(events))
        steps.append(Step(unit, f"Unit {unit.index} arrives.", decision, tuple(events), cost))
    name, embedder = "segment-tree", get_embedder("wordllama")
    return Memory(talk, "turn", name, SegmentTree.invariants, {}, embedder, tuple(steps))


def vectors(dimensions: int) -> Iterator[Vector]:
    """Random unit vectors without end."""
    random_numbers = np.random.default_rng(0)
    while True:
        block = random_numbers.standard_normal((4096, dimensions), dtype=np.float32)
        yield from block / np.linalg.norm(block, axis=1, keepdims=True)
