"""Layer 1: the memory structure at one moment, folded from its history.

``replay(steps[:t])`` gives the :class:`Structure` after t steps.

Columns of a Structure (n nodes, ids dense, in creation order, never reused):

========= ===================  =====================================================
column    dtype, shape         meaning
========= ===================  =====================================================
level     int32 (n,)           0 = leaf, counted upwards
start     int32 (n,)           first unit covered
stop      int32 (n,)           one past the last unit covered (half-open hull)
text      tuple of n str       the annotation
vector    float32 (n, d)       embedding of the annotation (d may be 0)
active    bool (n,)            False once retired; the row stays
edges     int32 (m, 2)         [parent, child], in the order they were linked
kind      tuple of n str       what the node is, "" for units and summaries
facts     tuple of n mappings  what the system keeps about the node
relations tuple of Relate      typed connections that are no parenthood, as first made
========= ===================  =====================================================

Several parents and several roots are legal: a RAPTOR leaf has more than one parent,
MemForest has many trees. Parents, children, roots, depth and coverage are derived.
All columns are read-only.
"""

from __future__ import annotations

from segviz.structure.columns import IntArray, Structure
from segviz.structure.fold import Fold, ReplayError, history, replay

__all__ = ["Fold", "IntArray", "ReplayError", "Structure", "history", "replay"]
