"""RAPTOR: layers of clusters, rebuilt after each session (arXiv 2401.18059)."""

from segviz.systems.raptor.system import Raptor

__all__ = ["Raptor"]
