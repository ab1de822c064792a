from dataclasses import replace

import numpy as np
import pytest

from segviz.tree import Relate
from segviz.tree.inspect import digest
from tests.memories import built


@pytest.fixture(scope="module")
def structure():
    return built(sessions=3).structure


def bumped(numbers):
    """The last of them one higher."""
    changed = numbers.copy()
    changed.flat[-1] += 1
    return changed


@pytest.mark.parametrize(
    "change",
    [
        lambda s: {"level": bumped(s.level)},
        lambda s: {"start": bumped(s.start)},
        lambda s: {"stop": bumped(s.stop)},
        lambda s: {"edges": bumped(s.edges)},
        lambda s: {"text": (*s.text[:-1], s.text[-1] + ".")},
        lambda s: {"kind": (*s.kind[:-1], "fact")},
        lambda s: {"facts": (*s.facts[:-1], {"met": 1})},
        lambda s: {"active": np.append(s.active[:-1], not s.active[-1])},
        lambda s: {"relations": (Relate(0, 1, "again", 0.5),)},
        # the same letters, cut elsewhere
        lambda s: {"text": (s.text[0] + s.text[1], "", *s.text[2:])},
    ],
)
def test_every_change_changes_it(structure, change):
    assert digest(replace(structure, **change(structure))) != digest(structure)


def test_vectors_do_not_count(structure):
    assert digest(replace(structure, vector=structure.vector + 1)) == digest(structure)
