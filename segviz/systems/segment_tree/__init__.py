"""SegTreeMem: the temporal segment tree (arXiv 2606.04555).

``system``       parameters and operations
``builder``      Algorithm 1, a unit at a time
``maintenance``  compressing, rebuilding, merging repeated leaves
"""

from segviz.systems.segment_tree.system import SegmentTree

__all__ = ["SegmentTree"]
