"""A question: score + propagate + select, beside one float32 matrix-vector product.

Run ``python -m tests.benchmarks.query [NODES …]`` from the project's root. Balanced trees
with 256-dimensional vectors, ``dense`` relevance, top-down, alpha .1, two hops, ten nodes,
everything that belongs to the structure alone prepared. BM25 and the contextual relevance run
on the texts of a synthetic conversation, a whole ``ask`` on a memory built from one.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

import segviz
from segviz.retrieval import initial_scores, over_active, propagate, top_k
from segviz.retrieval.relevance import Contextual, Dense, Lexical
from segviz.tree import Structure, Vector
from tests.benchmarks.report import Line, best, run
from tests.benchmarks.synthetic import balanced, conversation

QUESTION = "What did Nora say about the telescope and the eclipse in Bergen?"
DIMENSIONS = 256


@dataclass(frozen=True)
class Fixed:
    """An embedder that says the same to everything, in no time."""

    vector: Vector
    name: str = "fixed"

    def embed(self, texts: list[str]) -> Vector:
        return self.vector[None].repeat(len(texts), axis=0)


def query(structure: Structure) -> Line:
    embedder = Fixed(structure.vector[7].copy())
    scorer = over_active(Dense(), structure, embedder)

    def answer() -> list[int]:
        first = initial_scores(scorer([QUESTION])[0], structure.active)
        final = propagate(first, structure.edges, "top-down", 0.1, 2, structure).final
        return top_k(final, structure, 10)

    n = len(structure)
    product = best(lambda: structure.vector @ embedder.vector)
    budget = {"budget": 1.0} if n <= 2_000 else {"budget": 1.3, "relative": True}
    return Line(
        "score + propagate + select",
        n,
        1000 * best(answer),
        "ms",
        1000 * product,
        "matrix-vector product",
        **(budget if n <= 2_000 or n >= 500_000 else {}),
    )


def words(turns: int) -> list[Line]:
    """BM25 and the contextual relevance with every ingredient over the turns of a conversation."""
    talk = conversation(turns)
    leaves = Structure(
        np.zeros(turns, dtype=np.int32),
        np.arange(turns, dtype=np.int32),
        np.arange(1, turns + 1, dtype=np.int32),
        tuple(turn.text for turn in talk.turns),
        np.random.default_rng(0).standard_normal((turns, DIMENSIONS), dtype=np.float32),
        np.ones(turns, dtype=np.bool_),
        np.zeros((0, 2), dtype=np.int32),
    )
    embedder = Fixed(leaves.vector[0])
    product = best(lambda: leaves.vector @ embedder.vector)
    lines = []
    for model, budget in ((Lexical(), None), (Contextual(), 10.0)):
        scorer = over_active(model, leaves, embedder, talk.units("turn"), talk.speakers)
        spent = best(lambda scorer=scorer: scorer([QUESTION]))
        limit = {} if budget is None else {"budget": budget, "relative": True}
        if budget and turns <= 2_000:
            limit = {"budget": 20.0}
        name = {"lexical": "BM25", "contextual": "contextual relevance"}[model.name]
        lines.append(
            Line(name, turns, 1000 * spent, "ms", 1000 * product, "matrix-vector product", **limit)
        )
    return lines


def whole(turns: int) -> Line:
    memory = segviz.build(conversation(turns), unit="turn")
    spent = best(lambda: memory.ask(QUESTION))
    n = len(memory.structure)
    return Line("ask, with evidence and ranks", n, 1000 * spent, "ms")


def measure(sizes: tuple[int, ...] = (1_000, 100_000, 1_000_000)) -> list[Line]:
    lines = [query(balanced(nodes, dimensions=DIMENSIONS)) for nodes in sizes]
    lines += [line for turns in (1_000, 100_000) for line in words(turns)]
    return [*lines, whole(700), whole(10_000)]


if __name__ == "__main__":
    sizes = tuple(int(nodes) for nodes in sys.argv[1:])
    run(lambda: measure(sizes) if sizes else measure(), __doc__)
