"""Propagation alone, beside scipy's sparse product and networkx's PageRank.

Run ``python -m tests.benchmarks.propagation`` from the project's root. Policy ``both`` (the
most transitions), two hops, operators prepared on either side. PageRank is the peer people
know for scores on a graph; it iterates until it converges, here on the same edges with the
same start, and is left out at a million nodes, where its graph takes gigabytes. Both peers
need scipy (extra ``benchmark``) and are left out where it is not installed.
"""

from __future__ import annotations

from importlib.util import find_spec

import networkx as nx
import numpy as np

from segviz.retrieval import propagate
from segviz.retrieval.propagation import operator
from segviz.tree import Structure
from tests.benchmarks.report import Line, best, run
from tests.benchmarks.synthetic import balanced

POLICY, ALPHA, HORIZON = "both", 0.1, 2
LARGEST_GRAPH = 150_000


def sparse(structure: Structure, initial: np.ndarray) -> float | None:
    """Seconds of the same hops by scipy; None where it is not installed."""
    if find_spec("scipy") is None:
        return None
    from scipy.sparse import csr_array

    n = len(structure)
    found = operator(n, structure.edges, POLICY, structure)
    matrix = csr_array((found.share, (found.target, found.source)), shape=(n, n))

    def hops() -> np.ndarray:
        total, here, weight, whole = initial.copy(), initial, 1.0, 1.0
        for _ in range(HORIZON):
            here, weight = matrix @ here, weight * ALPHA
            total, whole = total + weight * here, whole + weight
        return total / whole

    ours = propagate(initial, structure.edges, POLICY, ALPHA, HORIZON, structure).final
    assert np.abs(hops() - ours).max() < 1e-12
    return best(hops)


def page_rank(structure: Structure, initial: np.ndarray) -> float | None:
    if find_spec("scipy") is None:
        return None
    graph = nx.Graph(structure.edges.tolist())
    start = dict(enumerate(initial.tolist()))
    return best(lambda: nx.pagerank(graph, personalization=start), least=0)


def measure() -> list[Line]:
    lines = []
    for size in (1_000, 20_000, 100_000, 1_000_000):
        structure = balanced(size)
        n = len(structure)
        raw = np.random.default_rng(0).exponential(size=n)
        initial = raw / raw.sum()
        ours = best(lambda s=structure, i=initial: propagate(i, s.edges, POLICY, ALPHA, HORIZON, s))
        rival = sparse(structure, initial)
        lines.append(
            Line(
                "propagate, two hops",
                n,
                1000 * ours,
                "ms",
                None if rival is None else 1000 * rival,
                "scipy.sparse" if rival is not None else "(scipy is not installed)",
                budget=1.0,
                relative=True,
            )
        )
        if n <= LARGEST_GRAPH:
            rank = page_rank(structure, initial)
            lines.append(
                Line(
                    "propagate, two hops, beside PageRank",
                    n,
                    1000 * ours,
                    "ms",
                    None if rank is None else 1000 * rank,
                    "networkx.pagerank",
                )
            )
    return lines


if __name__ == "__main__":
    run(measure, __doc__)
