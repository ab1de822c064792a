"""A memory as data: the history of its build and the structure folded from it.

``events``     steps, events, decisions, costs: what a system yields
``structure``  the columns of a memory at one moment, and what is derived from them
``fold``       from events to a structure: ``replay``
``moments``    any moment of a long history without replaying all of it
``invariants`` what must hold of a structure: ``check``
``shape``      the shape of a tree in numbers; ``coherence`` of a node and what it holds
``inspect``    one node: its lineage, its nearest nodes, how it was written
``unfold``     a layout without overlaps where a structure does not follow time
``digest``     a short name for a structure; ``toy`` seven leaves to follow by hand

May import ``conversation``. Public face: the names below.
"""

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
)
from segviz.tree.fold import Fold, ReplayError, history, replay
from segviz.tree.moments import Moments
from segviz.tree.structure import IntArray, Structure

__all__ = [
    "NOT_ASKED",
    "Add",
    "Cost",
    "Decision",
    "Event",
    "Facts",
    "Fold",
    "IntArray",
    "Judgement",
    "Link",
    "Moments",
    "Relate",
    "ReplayError",
    "Retire",
    "Revise",
    "Scalar",
    "Span",
    "Step",
    "Structure",
    "Unlink",
    "Vector",
    "as_number",
    "history",
    "replay",
]
