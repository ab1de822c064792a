"""Design §9: evidence recall@10 over leaves on real LoCoMo conversations.

Exchange units, offline default, questions of all conversations together; the tables are
printed by ``python -m tests.benchmarks.recall``. *Best* settings are picked on the very
questions they are measured on, as the design defines the bar; ``test_held_out`` shows what
is left when they are not.
"""

import pytest

from tests.benchmarks.recall import (
    LITERAL,
    POLICIES,
    STILL,
    TREE,
    best,
    bm25,
    grid,
    literal_gain,
    recall_of,
    recalls,
    together,
)
from tests.benchmarks.recall import locomo_memories as load_all
from tests.data import HELD_OUT, TUNED_ON, real_data

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def memories():
    return load_all(real_data("locomo", "locomo5.json"))


@pytest.fixture(scope="module")
def cells(memories):
    return grid(memories.values())


def test_best_single_setting(memories, cells):
    found = cells[best(cells, POLICIES)]
    assert found >= 0.80
    assert found >= bm25(memories.values()).value + 0.08


def test_best_tree_policy(cells):
    assert cells[best(cells, TREE)] >= 0.77


def test_the_papers_bottom_up_setting_turns_the_mixed_top_to_inner_nodes(memories):
    """Recall over leaves cannot see it: most leaves leave the top, and with them what can be read
    within twenty units; words of the answers stay."""
    still = together(memories.values(), "dense", STILL)
    found = together(memories.values(), "dense", ("bottom-up", 0.1, 2))
    assert still.levels[0] > 0.5
    assert found.levels[0] < 0.35
    for measure in ("reached", "quoted"):
        assert found.gain(still, measure).high < 0
    words = found.gain(still, "answer_words")
    assert words.low <= 0 <= words.high
    assert found.column("recall").tolist() == pytest.approx(
        still.column("recall").tolist(), nan_ok=True
    )


def test_literal_paper_setting_top_down_is_not_below_no_propagation(memories):
    literal = recall_of(memories.values(), "dense", LITERAL).value
    assert literal >= recall_of(memories.values(), "dense", STILL).value


def test_plain_cosines_are_too_even_for_propagation_to_tell(memories):
    """With r / Σ r of the cosines themselves the paper's setting moves recall by less than
    .01, and the interval includes no change; what ``softmax`` is for."""
    gain = literal_gain(list(memories.values()))
    assert abs(gain.value) < 0.01
    assert gain.low <= 0 <= gain.high
    still = recall_of(memories.values(), "dense", STILL)
    assert recall_of(memories.values(), "softmax", STILL) == still
    sharp = recalls(memories.values(), "softmax", LITERAL).mean()
    assert sharp > still.value + 0.005


def test_contextual_relevance(memories):
    """With the paper's propagation, and along the tree alone without nodes beside in time."""
    assert recall_of(memories.values(), "contextual", LITERAL).value >= 0.85
    along = recall_of(memories.values(), "contextual:beside=0,asked=0", ("both", 0.3, 3)).value
    assert along >= 0.83
    alone = recall_of(memories.values(), "contextual:beside=0,asked=0", STILL).value
    assert along >= alone + 0.03


def test_held_out(memories):
    """A guard, not a target: 0.05 was set after measuring 0.089 and 0.076."""
    chosen = grid([memories[name] for name in TUNED_ON])
    held = [memories[name] for name in HELD_OUT]
    for policies in (POLICIES, TREE):
        found = recall_of(held, "hybrid", best(chosen, policies)).value
        assert found > bm25(held).value + 0.05
