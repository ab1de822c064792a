"""Similarity clusters without time: the control of SegTreeMem (arXiv 2606.04555), App. F."""

from segviz.systems.clustering.system import Clustering

__all__ = ["Clustering"]
