"""SegTreeMem: the temporal segment tree (arXiv 2606.04555).

``system``   parameters and steps
``builder``  Algorithm 1, one unit at a time
"""

from segviz.systems.segment_tree.builder import SegmentTreeBuilder
from segviz.systems.segment_tree.system import SegmentTree

__all__ = [
    "SegmentTree",
    "SegmentTreeBuilder",
]
