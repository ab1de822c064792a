"""Defines RetrievalSettings, for command line, widgets, links and results, and ``PRESETS``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Declared, check_number, param, parameters
from segviz.retrieval.propagation import POLICIES, check_alpha, check_horizon, check_policy
from segviz.retrieval.relevance import RELEVANCE, relevance_model, spelled
from segviz.retrieval.selection import (
    ascending,
    check_count,
    distinct,
    expanded,
    ranking,
    select,
)
from segviz.tree import Structure

METHODS = ("propagate", "native")
"""Ways to retrieve: propagation over any structure, or the system's own retrieval."""

USUAL_RELEVANCE = "contextual"
"""Default relevance; a system's own retrieval may define another."""


# How nodes are scored, which of them may come back, how much of the ranking is read, and when.
_scoring = partial(param, part="scoring")
_nodes = partial(param, part="nodes")
_reading = partial(param, part="reading")
_moment = partial(param, part="moment")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings(Declared):
    """Settings of one retrieval (SegTreeMem Algorithm 2), each declared once.

    The command line, links, the controls of the app and exports read the declarations.

    A relevance of None is the default (:meth:`relevance_for`), levels of None are all, a step of
    None is the time of the question or, if it has none, the end. Any collection of levels becomes
    an ascending tuple. The method "native" ignores policy, alpha and horizon.

    Raises:
        ValueError: names the value and the legal range of a field out of range.
    """

    policy: str = _scoring(
        "top-down",
        f"Direction of propagation: {', '.join(POLICIES)}.",
        choices=POLICIES,
        check=check_policy,
        drawn_by="canvas",
    )
    alpha: float = _scoring(
        0.1,
        "Decay of scores per hop; 0 to below 1.",
        (0, 0.99),
        check=check_alpha,
        label="α",
        details="Weight of each further hop: final = Σ αᵏ sᵏ / Σ αᵏ. 0 switches propagation off.",
        drawn_by="canvas",
    )
    horizon: int = _scoring(
        2,
        "Number of hops, H; 0 or more.",
        (0, 5),
        check=check_horizon,
        label="H",
        details="Hops: how many edges a score may travel. With 0 nothing is propagated.",
        drawn_by="canvas",
    )
    relevance: str | None = _scoring(
        None,
        f"Relevance of a node to a question: {', '.join(RELEVANCE)}, with parameters as in "
        "contextual:dates=0.",
        kind=str,
        check=lambda _, text: spelled(relevance_model(text)),
        words={None: f"{USUAL_RELEVANCE}; in a system's own retrieval, that of its paper"},
        drawn_by="scoring",
    )
    k: int = _reading(
        10,
        "Nodes retrieved; 1 or more.",
        (1, 1_000),
        check=check_count,
        details="How many nodes are retrieved",
        drawn_by="retrieval",
    )
    budget: int | None = _reading(
        None,
        "Tokens to retrieve, instead of K nodes.",
        (50, 100_000),
        kind=int,
        check=check_count,
        label="Tokens",
        drawn_by="budget",
    )
    expand: int | None = _reading(
        None,
        "Read each retrieved inner node as its so many best leaves.",
        (1, 20),
        kind=int,
        check=lambda name, value: value if value is None else check_count(name, value),
        label="Leaves for each inner node",
        details="A retrieved inner node is replaced by its best leaves, each read once; K and "
        "tokens then count leaves. Empty: inner nodes are read as they are.",
        heading="Inner nodes",
        words={None: "read as they are"},
    )
    levels: tuple[int, ...] | None = _nodes(
        None,
        "Admissible levels.",
        (0, 100_000),
        kind=tuple,
        check=lambda _, levels: ascending(levels),
        label="Admissible levels",
        details="Only these levels may be retrieved; all of them take part in propagation",
        words={None: "all", (): "none"},
    )
    literal: bool = _nodes(
        False,
        "Count every node of a same-text chain.",
        label="Show every node of a same-text chain",
        details="Off: a node and the single-child nodes above it with its text are one tall node, "
        "counted once. On: every node of Algorithm 1.",
        heading="Nodes of one text",
        words={False: "counted once", True: "counted each"},
        opposite="distinct",
    )
    deduplicate: bool = _reading(
        False,
        "Skip nodes that repeat the text of a better one.",
        label="Skip repeated texts",
        details="A node is skipped if a better one has the same text, or is above it and quotes "
        "it. K then counts different texts. The counts of questions that gain or lose use the "
        "same list.",
        heading="Repeated texts",
        words={False: "kept", True: "skipped"},
    )
    method: str = _scoring(
        "propagate",
        "Propagation as above, or the system's own retrieval.",
        choices=METHODS,
        words={
            "propagate": "native for a system that has one, unless an option above says how nodes "
            "are scored"
        },
        drawn_by="scoring",
    )
    step: int | None = _moment(
        None,
        "Ask the memory in its state after this step.",
        (0, 2**31),
        kind=int,
        check=lambda name, step: check_number(
            name, step, "be whole, 0 or more", 0, 2**31, whole=True
        ),
        label="Memory after step",
        details="The question is asked of the memory after this step. A question with a moment in "
        "the conversation is asked at that step, unless you move this slider.",
        words={None: "the moment of the question, else the last step"},
        link="asked",
        drawn_by="asked step",
    )

    @classmethod
    def names(cls, part: str) -> tuple[str, ...]:
        """Returns the names of the fields of a part: scoring, nodes, reading or moment."""
        return tuple(each.name for each in parameters(cls) if each.spec.part == part)

    @property
    def propagation(self) -> tuple[str, float, int]:
        """Policy, alpha and horizon that take effect; no propagation under method "native"."""
        if self.method == "native":
            return "none", 0.0, 0
        return self.policy, self.alpha, self.horizon

    @property
    def limits(self) -> str:
        """How much of a ranking is read, such as "K 10 without repeated texts"."""
        limit = f"K {self.k}" if self.budget is None else f"{self.budget} tokens"
        leaves = f", inner nodes as {self.expand} leaves" * (self.expand is not None)
        return limit + " without repeated texts" * self.deduplicate + leaves

    def order(self, scores: NDArray[np.float64], structure: Structure) -> dict[int, int]:
        """Returns the admissible nodes in the order in which they are read, best first.

        Each is mapped to the node that was ranked: itself, or the inner node above, if leaves are
        read in place of inner nodes (``expand``).
        """
        ranked = ranking(scores, structure, self.levels).tolist()
        if self.expand is None:
            return dict(zip(ranked, ranked, strict=True))
        return expanded(ranked, structure, self.expand, ranking(scores, structure).tolist())

    def read(self, ranked: Iterable[int], structure: Structure) -> list[int]:
        """Returns the nodes of a ranking that are read: the first K, or those in the budget."""
        different = distinct(ranked, structure) if self.deduplicate else ranked
        return select(different, structure.text, self.k, self.budget)

    @property
    def in_words(self) -> str:
        """How nodes are scored, such as "both 0.2/2, relevance hybrid" or "its own retrieval"."""
        if self.method == "native":
            return "its own retrieval"
        policy, alpha, horizon = self.propagation
        spread = f"{policy} {alpha:g}/{horizon}, " * (policy != "none")
        return f"{spread}relevance {self.relevance_for()}"

    def relevance_for(self, system: object = None) -> str:
        """Returns the relevance used on a memory of a system (``Memory.model``).

        That is the ``relevance`` of these settings. If it is None, it is the default or, under
        method "native", the relevance of the system's paper.
        """
        native = getattr(system, "relevance", None) or USUAL_RELEVANCE
        return self.relevance or (native if self.method == "native" else USUAL_RELEVANCE)

    def resolved(self, system: object = None) -> RetrievalSettings:
        """Returns these settings with the relevance that is used on a memory of ``system``."""
        return replace(self, relevance=self.relevance_for(system))

    def with_preset(self, name: str) -> RetrievalSettings:
        """Returns these settings with a preset: how nodes are scored, and which may come back.

        All other settings stay.

        Raises:
            ValueError: the name is unknown; lists the names.
        """
        if name not in PRESETS:
            raise ValueError(f"unknown preset {name!r}; choose one of {', '.join(PRESETS)}")
        return self.ranked_as(PRESETS[name])

    def ranked_as(self, other: RetrievalSettings) -> RetrievalSettings:
        """Returns these settings with ``scoring`` and ``nodes`` of another, such as a preset."""
        nodes = {name: getattr(other, name) for name in self.names("nodes")}
        return replace(self.scored_as(other), **nodes)

    def scored_as(self, other: RetrievalSettings) -> RetrievalSettings:
        """Returns these settings with the fields of the part ``scoring`` of ``other``."""
        return replace(self, **{name: getattr(other, name) for name in self.names("scoring")})

    @property
    def preset(self) -> str | None:
        """Name of the preset that ranks the same nodes alike; None if none does."""
        mine = _ranking_key(self)
        same = (name for name, preset in PRESETS.items() if _ranking_key(preset) == mine)
        return next(same, None)


def _ranking_key(settings: RetrievalSettings) -> tuple[object, ...]:
    """Returns what determines a ranking, in a form equal for settings that rank alike."""
    # Without hops, or with α 0, every policy gives the initial scores.
    policy, alpha, horizon = settings.propagation
    spread = None if policy == "none" or not alpha or not horizon else (policy, alpha, horizon)
    nodes = tuple(getattr(settings, name) for name in settings.names("nodes"))
    return settings.method, settings.relevance_for(), spread, nodes


OPENING = "tree at work"
"""The preset that the app opens with."""

RERANKED = "leaves, re-ranked by the tree"
"""The preset that finds more turns than leaves alone on LoCoMo."""

PRESETS: dict[str, RetrievalSettings] = {
    OPENING: RetrievalSettings(policy="both", alpha=0.2, relevance="hybrid"),
    RERANKED: RetrievalSettings(policy="both", alpha=0.7, relevance="hybrid", levels=(0,)),
    "paper, top-down": RetrievalSettings(policy="top-down", relevance="dense", literal=True),
    "paper, bottom-up": RetrievalSettings(policy="bottom-up", relevance="dense", literal=True),
    "no propagation": RetrievalSettings(policy="none", alpha=0.0, horizon=0),
    "best evidence": RetrievalSettings(relevance=USUAL_RELEVANCE),
}
"""Name to settings.

Under ``tree at work`` propagation visibly changes most results; it lowers no measure on LoCoMo,
some on RealMem and LongMemEval (``python -m tests.benchmarks opening``). The paper uses α .10, H 2
on dense cosine (arXiv 2606.04555, Table 4), on the tree as Algorithm 1 makes it: there a same-text
chain has a node on every level, which all take part in the ranking. ``best evidence`` uses
contextual relevance. It already includes the neighbours of a node: propagation changes little."""

PRESETS_HELP = {
    RERANKED: "Leaves, re-ranked by the tree: only leaves come back, each raised by the nodes "
    "above it and through them by the leaves near it. Finds more than leaves alone on LoCoMo; on "
    "RealMem the gain is not certain (+.022 [-.008, .056]); finds less on LongMemEval, whose "
    "sessions are unrelated."
}
"""Explains presets that need it."""
