"""Memory architectures: each builds a structure step by step; most have their own retrieval.

Each system is a package or module with its parameters, retrieval, invariants, side tables,
``prompts.toml`` and ``published.csv``. None imports another; ``common`` has their shared parts. A
new system is a frozen dataclass with ``steps`` (``segviz.construct.System``) and a row in
``SYSTEMS``. May import ``construct``, ``retrieval`` and the packages below them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from segviz.systems.clustering import Clustering
from segviz.systems.flat import BM25, DenseRetrieval
from segviz.systems.h_mem import HMem
from segviz.systems.memforest import MemForest
from segviz.systems.memtree import MemTree
from segviz.systems.raptor import Raptor
from segviz.systems.segment_tree import SegmentTree
from segviz.systems.xmemory import XMemory

SYSTEMS: dict[str, type[Any]] = {
    "segment-tree": SegmentTree,
    "clustering": Clustering,
    "memtree": MemTree,
    "raptor": Raptor,
    "h-mem": HMem,
    "memforest": MemForest,
    "xmemory": XMemory,
    "bm25": BM25,
    "dense": DenseRetrieval,
}
"""Name to frozen dataclass. Fields are its parameters, the docstring its description."""


def level_names(system: str) -> tuple[str, ...]:
    """Returns a system's names of its levels, from 0 upwards; () if it has none."""
    return tuple(getattr(SYSTEMS.get(system), "level_names", ()))


def level_name(level: int, names: Sequence[str] = ()) -> str:
    """Returns the name of a level: its own in ``names``, else ``leaf`` for 0 and ``level n``."""
    if level < len(names):
        return names[level]
    return "leaf" if level == 0 else f"level {level}"
