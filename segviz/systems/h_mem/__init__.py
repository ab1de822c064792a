"""H-Mem: a temporal tree of events beside a graph of entities (arXiv 2605.15701).

``system``     parameters and steps
``tree``       events gathered into summaries of weeks, months and years
``graph``      entities over the fragments that mention them
``retrieval``  from entities to events and summaries, ranked by equations 1 to 3
"""

from segviz.systems.h_mem.system import HMem

__all__ = ["HMem"]
