"""Which scale the colours of scores are on."""

import numpy as np
import pytest

from segviz.view.scene import peaked
from tests.memories import built


@pytest.mark.parametrize(
    ("scores", "root"),
    [
        ([1.0, 0.02, 0.02, 0.02], True),
        ([1.0, 0.5, 0.4, 0.3], False),
        ([0.0, 0.0, 0.0], False),
        ([1.0], False),
        ([], False),
    ],
)
def test_the_root_is_for_uneven_scores(scores: list[float], root: bool) -> None:
    assert peaked(np.array(scores), np.ones(len(scores), np.bool_)) is root


def test_retired_nodes_do_not_count() -> None:
    scores = np.array([1.0, 0.5, 0.0, 0.0, 0.0])
    assert peaked(scores, np.ones(5, np.bool_))
    assert not peaked(scores, np.arange(5) < 2)


def test_hybrid_takes_it_and_cosines_do_not() -> None:
    memory = built(sessions=6)
    for question in memory.conversation.questions[:4]:
        for relevance, root in (("hybrid", True), ("dense", False)):
            result = memory.ask(question.text, relevance=relevance)
            assert peaked(result.initial, memory.structure.active) is root
