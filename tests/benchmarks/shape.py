"""Shape of calibrated segment trees on real conversations, beside the paper's Table 5.

Run ``python -m tests.benchmarks.shape [FILE]`` from the project's root; FILE defaults to
locomo/locomo5.json under SEGVIZ_DATA or ../shared/data. Nothing is asserted here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

import segviz
from segviz.structure import Structure

HEAD = ("leaves", "nodes/leaf", "max depth", "mean depth", "branching", "widest", "build s")


def collapsed(structure: Structure) -> tuple[float, int, float, float, int]:
    """Nodes per leaf, max and mean leaf depth, branching and widest node, with
    single-child nodes left out."""
    children = structure.children
    depth = {}
    pending = [(root, 0) for root in structure.roots]
    while pending:
        node, level = pending.pop()
        depth[node] = level
        below = level + (len(children[node]) > 1)
        pending += [(child, below) for child in children[node]]
    widths = [len(c) for c in children if len(c) > 1]
    leaves = structure.leaves
    depths = [depth[leaf] for leaf in leaves]
    nodes = len(leaves) + len(widths)
    return (
        nodes / len(leaves),
        max(depths),
        float(np.mean(depths)),
        float(np.mean(widths)) if widths else 0.0,
        max(widths, default=0),
    )


def main() -> None:
    folder = Path(os.environ.get("SEGVIZ_DATA") or Path(__file__).parents[3] / "shared" / "data")
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "locomo" / "locomo5.json"
    print(f"{'':>10}" + "".join(f"{name:>12}" for name in HEAD))
    rows = []
    for conversation in segviz.load(path):
        began = perf_counter()
        memory = segviz.build(conversation)
        seconds = perf_counter() - began
        row = (len(memory.units), *collapsed(memory.structure), seconds)
        rows.append(row)
        print(f"{conversation.id:>10}" + "".join(f"{value:>12.2f}" for value in row))
    print(f"{'mean':>10}" + "".join(f"{value:>12.2f}" for value in np.mean(rows, axis=0)))
    print(f"{'paper':>10}{281:>12}{352 / 281:>12.2f}{4.0:>12.2f}{3.46:>12.2f}{5.10:>12.2f}")


if __name__ == "__main__":
    main()
