"""Any moment, in any order, equals a replay from the beginning."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.tree import Link, Moments, Retire, Unlink, replay
from segviz.tree.replayer import ReplayError
from tests.store.samples import alike


@pytest.fixture(scope="module", params=["plain", "takes away"])
def steps(memory, request):
    """A history, and one in which a link is taken away and made again."""
    root = memory.structure.roots[0]
    if request.param == "plain":
        return memory.steps
    child = memory.structure.children[root][0]
    again = Unlink(root, child), Link(root, child)
    return (*memory.steps, replace(memory.steps[-1], events=again, operation="x"))


@pytest.fixture(scope="module")
def expected(steps):
    return [replay(steps[:t]) for t in range(len(steps) + 1)]


@given(data=st.data())
def test_any_moment_equals_a_replay_from_the_beginning(steps, expected, data):
    wanted = data.draw(st.lists(st.integers(0, len(steps)), max_size=25))
    moments = Moments(steps)
    for step in wanted:
        assert alike(moments.at(step), expected[step])


def test_what_was_given_out_never_changes(steps, expected):
    moments = Moments(steps)
    given_out = [moments.at(t) for t in range(len(steps) + 1)]
    for before, after in zip(given_out, expected, strict=True):
        assert alike(before, after)


def test_a_damaged_step_is_named_and_the_moments_before_still_come(steps, expected):
    bad = replace(steps[5], events=(*steps[5].events, Retire(0)))
    moments = Moments((*steps[:5], bad, *steps[6:]))
    assert alike(moments.at(4), expected[4])
    for _ in range(2):
        with pytest.raises(ReplayError, match="step 5"):
            moments.at(7)
        assert alike(moments.at(5), expected[5])
