"""Any moment, in any order, equals a replay from the beginning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz.tree.columns
from segviz.tree import Link, Moments, ReplayError, Retire, Step, Unlink, replay
from tests.trees import unit

COLUMNS = ("level", "start", "stop", "vector", "active", "edges")


def same(one, other):
    assert one.text == other.text
    assert one.kind == other.kind
    assert one.facts == other.facts
    assert one.relations == other.relations
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.fixture
def close_checkpoints(monkeypatch):
    """Marks after every second step, so that a short history has many."""
    monkeypatch.setattr(segviz.tree.columns, "_MIN_SPACING", 2)
    monkeypatch.setattr(segviz.tree.columns, "_CHECKPOINTS", 50)


@pytest.fixture(scope="module")
def expected(memory):
    return [replay(memory.steps[:t]) for t in range(len(memory.steps) + 1)]


class TestAnyOrder:
    @given(data=st.data())
    def test_equals_a_replay_from_the_beginning(self, memory, expected, data):
        places = st.integers(0, len(memory.steps))
        wanted = data.draw(st.lists(places, max_size=25))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(segviz.tree.columns, "_MIN_SPACING", 2)
            patch.setattr(segviz.tree.columns, "_CHECKPOINTS", 50)
            moments = Moments(memory.steps)
            for step in wanted:
                same(moments.at(step), expected[step])

    def test_what_was_given_out_never_changes(self, memory, expected, close_checkpoints):
        moments = Moments(memory.steps)
        given_out = [moments.at(t) for t in range(len(memory.steps) + 1)]
        for before, after in zip(given_out, expected, strict=True):
            same(before, after)

    def test_the_last_ones_are_kept(self, memory):
        moments = Moments(memory.steps)
        assert moments.at(3) is moments.at(3)

    def test_checkpoints_do_not_grow_with_use(self, memory, close_checkpoints):
        moments = Moments(memory.steps)
        for step in [*range(len(memory.steps)), *reversed(range(len(memory.steps)))]:
            moments.at(step)
        assert len(moments._checkpoints) <= 1 + len(memory.steps) // 2


def test_operations_that_take_out_are_followed_back(memory):
    last = memory.steps[-1].unit.index
    root = memory.structure.roots[0]
    child = memory.structure.children[root][0]
    out = Step(unit(last), "", None, (Unlink(root, child), Link(root, child)), operation="x")
    steps = (*memory.steps, out)
    moments = Moments(steps)
    same(moments.at(len(steps)), replay(steps))
    same(moments.at(len(steps) - 1), memory.structure)


def test_a_damaged_step_is_named_and_the_moments_before_still_come(memory, expected):
    bad = replace(memory.steps[5], events=(*memory.steps[5].events, Retire(0)))
    moments = Moments((*memory.steps[:5], bad, *memory.steps[6:]))
    same(moments.at(4), expected[4])
    for _ in range(2):
        with pytest.raises(ReplayError, match="step 5"):
            moments.at(7)
        same(moments.at(5), expected[5])
