"""The draft systems write on: whatever is done to it, its events say the same."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from segviz.conversation import Unit, as_time, moments, seconds
from segviz.embedding import HashingEmbedder
from segviz.systems.common.structure_editor import Draft
from segviz.tree import Step, replay
from segviz.tree.invariants import check
from tests.trees import unit

EMBEDDER = HashingEmbedder()


def agrees(draft, structure):
    """The draft's columns are those of the structure its events gave."""
    assert draft.active == structure.active.tolist()
    assert [tuple(c) for c in draft.children] == list(structure.children)
    assert [sorted(p) for p in draft.parents] == [sorted(p) for p in structure.parents]
    assert set(draft.relations.values()) == set(structure.relations)
    # What left keeps the row it had when it was last handed over.
    for node in np.flatnonzero(structure.active).tolist():
        assert draft.span[node] == (structure.start[node], structure.stop[node])
        for column in ("level", "text", "kind", "facts"):
            assert getattr(draft, column)[node] == getattr(structure, column)[node]
        assert np.array_equal(draft.vectors([node])[0], structure.vector[node])


@settings(max_examples=30)
@given(st.randoms(use_true_random=False), st.integers(1, 40))
def test_events_say_what_was_done(rng, moves):
    draft = Draft(EMBEDDER)
    events = []

    def leaf():
        u = unit(len(draft))
        draft.leaf(u, EMBEDDER.embed([u.text])[0])

    leaf()
    for _ in range(moves):
        alive = [n for n in range(len(draft)) if draft.active[n]]
        inner = [n for n in alive if draft.level[n]]
        some = rng.choice(alive) if alive else None
        match rng.randrange(8):
            case 0 | 1:
                leaf()
            case 2 if some is not None:
                below = [n for n in alive if draft.level[n] <= draft.level[some]]
                children = rng.sample(below, rng.randint(1, min(3, len(below))))
                draft.add(draft.level[some] + 1, children, f"over {some}", "k", {"n": 1})
            case 3 if inner:
                node = rng.choice(inner)
                children = list(draft.children[node])
                rng.shuffle(children)
                draft.arrange(node, children)
            case 4 if some is not None:
                draft.rewrite([some], [f"new {rng.random()}"])
                draft.note(some, n=rng.randrange(9))
            case 5 if some is not None:
                other = rng.choice(alive)
                key = (some, other, "knows")
                weight = 0.0 if key in draft.relations else rng.random() + 0.1
                draft.relate(*key, weight, {"n": moves})
            case 6 if some is not None and all(
                len(draft.children[p]) > 1 for p in draft.parents[some]
            ):
                draft.remove(some)
            case 7:
                events += draft.changes()
                draft = Draft(EMBEDDER, replay([Step(unit(0), "", None, tuple(events))]))
    events += draft.changes()
    structure = replay([Step(unit(0), "", None, tuple(events))])
    agrees(draft, structure)
    assert check(structure) == []
    assert draft.changes() == ()


def test_the_most_alike_with_ties_to_the_first_listed():
    draft = Draft(EMBEDDER)
    for i, text in enumerate(["red boat", "red boat", "green lamp"]):
        draft.leaf(Unit(i, (), 0, text), EMBEDDER.embed([text])[0])
    vector = EMBEDDER.embed(["red boat"])[0]
    assert [n for n, _ in draft.nearest(vector, [2, 1, 0], 0.9, 5)] == [1, 0]
    assert [n for n, _ in draft.nearest(vector, [2, 1, 0], -1.0, 1)] == [1]


def test_moments_count_on_without_a_time_and_are_in_utc():
    start = datetime(2024, 3, 1, 12)
    units = [Unit(i, (), 0, "", t) for i, t in enumerate([None, start, None, None])]
    told = moments(units)
    assert [m.dated for m in told] == [False, True, False, False]
    assert [m.seconds for m in told] == [0.0, *(seconds(start) + i for i in range(3))]
    assert as_time(seconds(start)) == start

    # Moments of other zones are taken in UTC.
    here = datetime(2024, 3, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert seconds(here) == seconds(here.astimezone(UTC)) == seconds(datetime(2024, 3, 1, 10))
