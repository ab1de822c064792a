"""H-Mem: a temporal tree of events and a graph of entities (arXiv 2605.15701).

``system``     parameters and steps
``tree``       events summarised by weeks, months and years
``graph``      entities linked to the fragments that mention them
``retrieval``  from entities to events and summaries, ranked by equations 1 to 3
``tables``     side tables
"""

from segviz.systems.h_mem.system import HMem

__all__ = ["HMem"]
