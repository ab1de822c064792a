"""MemTree: an online tree of topics (arXiv 2410.14052); ``published.csv`` has its numbers."""

from segviz.systems.memtree.system import MemTree, topics_branch

__all__ = ["MemTree", "topics_branch"]
