"""MemForest: many small trees in the order of time over shared facts (arXiv 2605.23986).

``system``     parameters and steps
``facts``      cells of a few turns, and the facts of a closed cell
``scenes``     assigns facts to scenes
``trees``      the trees, their edits, the summaries of their nodes, and their side table
``retrieval``  recalls trees, follows branches, ranks facts
"""

from segviz.systems.memforest.system import MemForest

__all__ = ["MemForest"]
