"""A memory as data: the history of its build, and the structure replayed from it.

``events``         the steps a system yields: events, decisions, costs
``structure``      the columns of a memory at one moment, with parents, children, depth
``replayer``       applies events to a structure one by one
``columns``        a history as columns; ``replay`` of a history, to its end or to any step
``invariants``     conditions that a structure must satisfy, and their ``check``
``shape``          depth, branching and other counts; ``coherence`` of a node with its children
``inspect``        one node: lineage, nearest nodes, history of its text
``icicle_layout``  a layout without overlaps for structures that do not follow time
``thumbnail``      a small picture for notebooks
``toy``            a tree of seven leaves to follow by hand

May import ``conversation``. Public face: the names below.
"""

from segviz.tree.columns import Moments, Record, costs_of, replay, total_cost
from segviz.tree.events import (
    NOT_ASKED,
    Add,
    Cost,
    Decision,
    Event,
    Facts,
    Judgement,
    Link,
    Relate,
    Retire,
    Revise,
    Scalar,
    Span,
    Step,
    Unlink,
    Vector,
    as_number,
    told_apart,
)
from segviz.tree.inspect import written
from segviz.tree.invariants import Invariant, Violation, are_invariants, check, frontier_is_a_chain
from segviz.tree.replayer import Replayer, history
from segviz.tree.structure import GHOST, SOURCE_TURNS, UNSURE_TURNS, IntArray, Structure
from segviz.tree.thumbnail import thumbnail

__all__ = [
    "GHOST",
    "NOT_ASKED",
    "SOURCE_TURNS",
    "UNSURE_TURNS",
    "Add",
    "Cost",
    "Decision",
    "Event",
    "Facts",
    "IntArray",
    "Invariant",
    "Judgement",
    "Link",
    "Moments",
    "Record",
    "Relate",
    "Replayer",
    "Retire",
    "Revise",
    "Scalar",
    "Span",
    "Step",
    "Structure",
    "Unlink",
    "Vector",
    "Violation",
    "are_invariants",
    "as_number",
    "check",
    "costs_of",
    "frontier_is_a_chain",
    "history",
    "replay",
    "thumbnail",
    "told_apart",
    "total_cost",
    "written",
]
