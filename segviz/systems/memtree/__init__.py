"""MemTree: an online tree of topics (arXiv 2410.14052); its printed numbers are in
``published.csv``.
"""

from segviz.systems.memtree.system import MemTree, topics_branch

__all__ = ["MemTree", "topics_branch"]
