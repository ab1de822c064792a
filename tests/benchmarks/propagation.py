"""Propagation alone, beside scipy's sparse product and networkx's PageRank.

Run ``python -m tests.benchmarks.propagation`` from the project's root. Policy ``both`` (the
most transitions), two hops, operators prepared on either side. PageRank is the peer people
know for scores on a graph; it iterates until it converges, here on the same edges with the
same start, and is left out at a million nodes, where its graph takes gigabytes.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from segviz.retrieval import propagate
from segviz.tree import Structure
from tests.benchmarks.report import Line, best, run
from tests.benchmarks.synthetic import balanced

POLICY, ALPHA, HORIZON = "both", 0.1, 2
LARGEST_GRAPH = 150_000


def sparse(structure: Structure, initial: np.ndarray) -> float:
    """Seconds of the same hops by scipy's product and nothing else, over a matrix scipy made."""
    n = len(structure)
    parent, child = structure.edges.T
    rows, columns = np.concatenate([child, parent]), np.concatenate([parent, child])
    share = 1.0 / np.bincount(columns, minlength=n)[columns]
    matrix = csr_array((share, (rows, columns)), shape=(n, n))

    def hops() -> np.ndarray:
        total, here, weight, whole = initial.copy(), initial, 1.0, 1.0
        for _ in range(HORIZON):
            here, weight = matrix @ here, weight * ALPHA
            total, whole = total + weight * here, whole + weight
        return total / whole

    ours = propagate(initial, structure.edges, POLICY, ALPHA, HORIZON, structure).final
    assert np.abs(hops() - ours).max() < 1e-12
    return best(hops)


def page_rank(structure: Structure, initial: np.ndarray) -> float:
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
                1000 * rival,
                "scipy.sparse",
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
                    1000 * rank,
                    "networkx.pagerank",
                )
            )
    return lines


if __name__ == "__main__":
    run(measure, __doc__)
