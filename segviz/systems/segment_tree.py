"""SegTreeMem: a temporal segment tree, grown online (arXiv 2606.04555, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from segviz.annotate import Extractive
from segviz.compatibility import Calibrated
from segviz.parameters import check_ranges, param
from segviz.protocols import Annotate, Arrival, Compatibility, Services
from segviz.steps import Step
from segviz.systems.growing import Growing

T = TypeVar("T")


@dataclass(frozen=True)
class SegmentTree:
    """Every node covers a contiguous span of the conversation; new units join on the right.

    A new unit becomes the rightmost leaf. The compatibility model sees the non-leaf
    frontier (the nodes that end at the newest unit, from low to high) and picks the node
    the unit joins; a chain of nodes keeps all leaves on one level. When it picks none, a
    new root is set over the old one. Only the chain, the chosen node and its ancestors
    are annotated again, from below upwards: at once (``eager``, Algorithm 1), or once per
    session for all nodes changed in it (``lazy``), between which decisions see the text
    last written.

    Source: SegTreeMem, arXiv 2606.04555, §4.1, §4.2 and Algorithm 1.
    Departs from the source: levels count from 0 (the paper from 1); a node with a single
    child carries the child's annotation without a call of the annotation model; ``lazy``
    is ours. Under ``lazy`` the last session is refreshed with its last unit, so steps
    are prefix-stable only at the ends of sessions.
    """

    name: ClassVar[str] = "segment-tree"
    label: ClassVar[str] = "Segment tree (SegTreeMem)"
    online: ClassVar[bool] = True
    laws: ClassVar[str] = "segment-tree"

    compatibility: Compatibility = param(
        help="Chooses where a new unit joins.", registry="compatibility", factory=Calibrated
    )
    annotate: Annotate = param(
        help="Writes the text of inner nodes.", registry="annotate", factory=Extractive
    )
    refresh: str = param(
        "eager",
        help="When annotations are rewritten: at every step, or once per session.",
        choices=("eager", "lazy"),
    )

    def __post_init__(self) -> None:
        """Refuse values outside the declared choices."""
        check_ranges(self)

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per unit, lazily; the tree is never held outside this generator."""
        model = _prepared(self.compatibility, services)
        annotate = _prepared(self.annotate, services)
        tree = Growing(annotate, services.embedder, lazy=self.refresh == "lazy")
        for position, arrival in enumerate(arrivals):
            closes = (
                position + 1 == len(arrivals) or arrivals[position + 1].session != arrival.session
            )
            yield tree.insert(arrival, model, closes)


def _prepared(component: T, services: Services) -> T:
    """A component bound to the build's services, where it wants them."""
    prepare: Any = getattr(component, "prepare", None)
    bound: T = component if prepare is None else prepare(services)
    return bound
