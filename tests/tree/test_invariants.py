"""Every invariant: what keeps it, and what is told of what does not."""

from dataclasses import replace

import numpy as np
import pytest

from segviz.systems import SYSTEMS
from segviz.tree.invariants import check
from tests.trees import grown, toy

ONLINE = "segment-tree"


def changed(**columns):
    """The toy tree with other columns."""
    made = {k: np.array(v, dtype=getattr(toy(), k).dtype) for k, v in columns.items()}
    return replace(toy(), **made)


def leaves(count):
    return [(0, i, i + 1) for i in range(count)]


def told(violations):
    """Which invariants are broken and where, in order and each once."""
    return ", ".join(sorted({f"{v.invariant} {v.node}" for v in violations}))


def test_sound_structures_are_clean():
    for kind in SYSTEMS.values():
        assert check(grown([], []), kind.invariants) == []
    for invariants in ((), SYSTEMS["segment-tree"].invariants):
        assert check(toy(), invariants) == []
        assert check(grown([(0, 0, 1)], []), invariants) == []


def test_every_message_names_node_expected_and_found():
    violation = check(changed(stop=[1, 2, 3, 4, 5, 6, 7, 2, 4, 7, 7]))[0]
    assert str(violation) == "spans: node 7: expected the hull (0, 3) of its children, found (0, 2)"


@pytest.mark.parametrize(
    ("system", "nodes", "edges"),
    [
        # Only a segment tree excludes two parents.
        ("", [*leaves(1), (1, 0, 1), (1, 0, 1), (2, 0, 1)], "10 20 31 32"),
        ("dense", [(0, 0, 1), (0, 3, 4)], ""),
        ("clustering", [*leaves(4), (1, 0, 3), (1, 1, 4), (2, 0, 4)], "40 42 51 53 64 65"),
        ("memtree", [*leaves(4), (1, 0, 2), (2, 0, 3)], "40 41 54 52"),
        # Unit 3 came after the layers were built; unit 1 has two parents.
        ("raptor", [*leaves(4), (1, 0, 2), (1, 1, 3)], "40 41 51 52"),
    ],
)
def test_what_other_systems_may_do(system, nodes, edges):
    assert check(grown(nodes, pairs(edges)), invariants(system)) == []


def invariants(system):
    """Returns those of a system; none for ""."""
    return SYSTEMS[system].invariants if system else ()


def pairs(edges):
    """[parent, child] from two digits each."""
    return [(int(parent), int(child)) for parent, child in edges.split()]


COLUMNS = {
    "a column of another length": (replace(toy(), text=("x",)), "columns -1"),
    "an edge to nowhere": (changed(edges=[[10, 99]]), "columns -1"),
    "an edge upwards": (changed(level=[0] * 7 + [1] * 4), "edges 7, edges 8, edges 9"),
    "a repeated edge": (changed(edges=[*toy().edges.tolist(), [10, 7]]), "edges 10"),
    "an edge at a retired node": (changed(active=[True] * 9 + [False, True]), "edges 9"),
    "a vector with nan": (changed(vector=[[0], [0], [np.nan], *[[0]] * 8]), "vectors 2"),
}


@pytest.mark.parametrize("what", COLUMNS)
def test_broken_columns_are_told(what):
    structure, expected = COLUMNS[what]
    assert told(check(structure)) == expected


@pytest.mark.parametrize(
    ("system", "nodes", "edges", "expected"),
    [
        ("", [(0, 0, 1), (1, 0, 1)], "", "spans 1"),  # inner, without children
        ("", [(0, 1, 1)], "", "spans 0"),
        (ONLINE, leaves(2), "", "one root -1, one root 0, one root 1"),
        (
            *(ONLINE, [*leaves(1), (1, 0, 1), (1, 0, 1), (2, 0, 1)], "10 20 31 32"),
            "consecutive 3, frontier -1, one parent 0",
        ),
        (
            *(ONLINE, [*leaves(2), (1, 0, 1), (2, 0, 2)], "20 32 31"),
            "frontier -1, levels -1, levels 1",
        ),
        (ONLINE, [(0, 1, 2), (0, 0, 1), (1, 0, 2)], "21 20", "chronology 0, chronology 1"),
        (ONLINE, [*leaves(2), (1, 0, 2)], "21 20", "consecutive 2"),
        # The newest unit is covered on levels 0 and 2 only.
        (ONLINE, [*leaves(2), (2, 0, 2)], "20 21", "frontier -1, levels 0, levels 1"),
        ("dense", [(0, 0, 2)], "", "units 0"),
        ("dense", [(0, 1, 2), (0, 0, 1)], "", "units 1"),
        ("dense", [(0, 1, 2), (0, 1, 2)], "", "units 1"),
        ("dense", [(0, 0, 1), (1, 0, 1)], "10", "flat 1"),
        ("clustering", [*leaves(4), (1, 0, 4)], "40 41 42 43", "three levels 4"),
        ("memtree", [*leaves(4), (1, 0, 2), (3, 0, 3)], "40 41 54 52", "topics 5"),
        ("memtree", [(0, 0, 1), (1, 0, 1)], "10", "topics 1"),
        ("memtree", [*leaves(4), (1, 0, 2), (1, 0, 3)], "40 41 50 52", "one parent 0"),
        # Nobody is left out of a layer below the top, which is smaller than the one below it.
        ("raptor", [*leaves(4), (1, 0, 2), (1, 1, 4)], "40 41 51 53", "layers 3"),
        ("raptor", [*leaves(2), (1, 0, 1), (1, 1, 2)], "20 31", "layers -1"),
        (
            *("raptor", [*leaves(6), (1, 0, 2), (1, 2, 4), (1, 4, 6), (2, 0, 4)]),
            *("60 61 72 73 84 85 96 97", "layers 8"),
        ),
        ("raptor", [*leaves(3), (1, 0, 2), (2, 0, 3)], "30 31 43 42", "layers -1, levels 2"),
    ],
)
def test_a_violation_names_its_node(system, nodes, edges, expected):
    assert told(check(grown(nodes, pairs(edges)), invariants(system))) == expected
