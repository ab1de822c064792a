from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import segviz
from segviz.embedding import HashingEmbedder
from segviz.tree import Relate
from segviz.tree.inspect import digest
from tests.data import ROOT
from tests.memories import built
from tests.trees import small_chat


@pytest.fixture(scope="module")
def structure():
    return built(sessions=3).structure


def test_another_process_with_another_hash_seed_gives_the_same():
    script = (
        "from segviz.embedding import HashingEmbedder; from segviz.memory import build; "
        "from segviz.tree.inspect import digest; from tests.trees import small_chat; "
        "print(digest(build(small_chat(), embedder=HashingEmbedder()).structure))"
    )
    here = segviz.build(small_chat(), embedder=HashingEmbedder()).structure
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip() == digest(here)
    assert len(digest(here)) == 12
    int(digest(here), 16)


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
