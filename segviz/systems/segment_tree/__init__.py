"""SegTreeMem: the temporal segment tree (arXiv 2606.04555)."""
