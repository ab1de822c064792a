"""The message to the canvas: bytes and time, beside the same columns as JSON.

Run ``python -m tests.benchmarks.payload`` from the project's root. Balanced trees with
scores of a question; packing is of the whole message.
"""

from __future__ import annotations

import json

import numpy as np

from segviz.frontend.payload import pack
from segviz.tree import Structure
from tests.benchmarks.report import Line, best, run
from tests.benchmarks.synthetic import balanced
from tests.scenes import tree_message


def packed(structure: Structure, scores: np.ndarray) -> bytes:
    units = int(structure.stop.max())
    return pack(
        tree_message(
            structure,
            unit_sessions=[unit * 30 // units for unit in range(units)],
            session_labels=[f"S{i + 1}" for i in range(30)],
            identity="payload",
            initial=scores,
            final=scores,
        )
    )


def as_json(structure: Structure, scores: np.ndarray) -> bytes:
    columns = (structure.level, structure.start, structure.stop, structure.edges, scores, scores)
    return json.dumps([column.tolist() for column in columns]).encode()


def measure() -> list[Line]:
    lines = []
    for size in (1_000, 20_000, 100_000):
        structure = balanced(size)
        n = len(structure)
        scores = np.random.default_rng(0).random(n)
        ours, plain = len(packed(structure, scores)), len(as_json(structure, scores))
        lines += [
            Line(
                "payload",
                n,
                1000 * best(lambda s=structure, x=scores: packed(s, x)),
                "ms",
                1000 * best(lambda s=structure, x=scores: as_json(s, x)),
                "json.dumps of the columns",
            ),
            Line("payload, size", n, ours / 1e6, "MB", plain / 1e6, "json.dumps of the columns"),
        ]
    return lines


if __name__ == "__main__":
    run(measure, __doc__)
