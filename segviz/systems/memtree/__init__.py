"""MemTree: an online tree of topics (arXiv 2410.14052); ``published.csv`` has its numbers."""

from segviz.systems.memtree.system import MemTree

__all__ = ["MemTree"]
