"""MemTree: an online tree of topics (arXiv 2410.14052).

``system``   parameters, retrieval and operations
``builder``  inserting a unit by its walk from the root, and deleting one
"""

from segviz.systems.memtree.system import MemTree

__all__ = ["MemTree"]
