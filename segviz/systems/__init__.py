"""Stage: memory architectures, one file each; adding a row here is all it takes."""

from __future__ import annotations

from typing import Any

from segviz.systems.bm25 import BM25
from segviz.systems.clustering import Clustering
from segviz.systems.dense import DenseRetrieval
from segviz.systems.h_mem.system import HMem
from segviz.systems.memforest.system import MemForest
from segviz.systems.memtree.system import MemTree
from segviz.systems.raptor.system import Raptor
from segviz.systems.segment_tree.system import SegmentTree
from segviz.systems.xmemory.system import XMemory

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
