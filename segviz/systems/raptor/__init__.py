"""RAPTOR: layers of soft clusters, rebuilt per session (arXiv 2401.18059).

``system``   parameters, retrieval, and the layers, built again at the end of a session
``mixture``  soft clusters of a layer: principal components and a Gaussian mixture
"""

from segviz.systems.raptor.system import Raptor

__all__ = ["Raptor"]
