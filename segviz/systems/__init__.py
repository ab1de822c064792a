"""Memory architectures: each builds a structure step by step; most retrieve in a way of their own.

A package or module per system, and none imports another; ``common`` holds what they share,
``levels`` what their levels are called. A new system is a frozen dataclass with ``steps``
(``segviz.construct.System``) and a row in ``SYSTEMS``. May import ``construct``,
``retrieval`` and what these may.
"""

from __future__ import annotations

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
