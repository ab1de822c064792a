"""Memory architectures: each builds a structure step by step; most retrieve in a way of their own.

A package or module per system with all that is its own (parameters, retrieval, invariants, side
tables, ``prompts.toml``, ``published.csv``), and none imports another; ``common`` holds what they
share, ``level_name`` is what views call their levels. A new system is a frozen dataclass with
``steps`` (``segviz.construct.System``) and a row in ``SYSTEMS``. May import ``construct``,
``retrieval`` and what these may.
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
    """What a system calls its levels, from 0 upwards; () where it has no names."""
    names: tuple[str, ...] = getattr(SYSTEMS.get(system), "level_names", ())
    return names


def level_name(level: int, names: Sequence[str] = ()) -> str:
    """How views call a level: what the memory itself calls it where ``names`` tell, from 0
    upwards; else ``leaf`` for 0 and ``level n``."""
    if level < len(names):
        return names[level]
    return "leaf" if level == 0 else f"level {level}"
