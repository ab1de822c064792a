"""Defines RetrievalSettings, for command line, widgets, links and results, and ``PRESETS``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from segviz.retrieval.propagation import check_setting
from segviz.retrieval.relevance import relevance_model, spelled
from segviz.retrieval.selection import ascending, check_count

METHODS = ("propagate", "native")
"""Ways to retrieve: propagation over any structure, or the system's own retrieval."""

USUAL_RELEVANCE = "contextual"
"""Default relevance; a system's own retrieval may define another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """Settings of one retrieval (SegTreeMem Algorithm 2).

    Attributes:
        policy: a name from ``POLICIES``.
        alpha: decay per hop, in [0, 1).
        horizon: number of hops, 0 … 999.
        relevance: gives the initial scores, see ``relevance_model``; None for the default, see
            :meth:`relevance_for`.
        k: number of nodes to return, ≥ 1.
        budget: number of tokens, ≥ 1, which replaces ``k``; None for no budget.
        levels: admissible levels in ascending order; None for all.
        literal: retrieve from the literal tree of Algorithm 1; otherwise a chain of nodes with the
            same text is one node (``Structure.collapsed``).
        deduplicate: skip nodes whose text a better one has or quotes, see ``selection.distinct``.
        method: "propagate" is all of this on any structure. "native" is the system's own retrieval,
            which ignores policy, alpha and horizon.
        step: number of steps after which the memory is asked; None for the time of the question
            or, if it has none, all steps.

    Raises:
        ValueError: names the value and the legal range of a field out of range.
    """

    policy: str = "top-down"
    alpha: float = 0.1
    horizon: int = 2
    relevance: str | None = None
    k: int = 10
    budget: int | None = None
    levels: tuple[int, ...] | None = None
    literal: bool = False
    deduplicate: bool = False
    method: str = "propagate"
    step: int | None = None

    def __post_init__(self) -> None:
        """Checks every field; any collection of levels becomes an ascending tuple."""
        check_setting(self.policy, self.alpha, self.horizon)
        if self.relevance is not None:
            object.__setattr__(self, "relevance", spelled(relevance_model(self.relevance)))
        check_count("k", self.k)
        if self.budget is not None:
            check_count("budget", self.budget)
        if self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}; choose one of {', '.join(METHODS)}")
        if self.levels is not None:
            object.__setattr__(self, "levels", ascending(self.levels))

    @property
    def propagation(self) -> tuple[str, float, int]:
        """Policy, alpha and horizon that take effect; no propagation under method "native"."""
        if self.method == "native":
            return "none", 0.0, 0
        return self.policy, self.alpha, self.horizon

    @property
    def in_words(self) -> str:
        """How nodes are scored, such as "both 0.2/2, relevance hybrid" or "its own retrieval"."""
        if self.method == "native":
            return "its own retrieval"
        policy, alpha, horizon = self.propagation
        spread = f"{policy} {alpha:g}/{horizon}, " * (policy != "none")
        return f"{spread}relevance {self.relevance_for()}"

    def relevance_for(self, model: object = None) -> str:
        """Returns the relevance used on a memory of the system ``model``.

        That is the ``relevance`` of these settings. If it is None, it is the default or, under
        method "native", the relevance of the system's paper.
        """
        native = getattr(model, "relevance", None) or USUAL_RELEVANCE
        return self.relevance or (native if self.method == "native" else USUAL_RELEVANCE)

    def resolved(self, model: object = None) -> RetrievalSettings:
        """Returns these settings with the relevance that is used on a memory of ``model``."""
        return replace(self, relevance=self.relevance_for(model))

    def with_preset(self, name: str) -> RetrievalSettings:
        """Returns these settings with the propagation, relevance and method of a preset.

        k, budget, levels, literal, deduplicate and step stay.

        Raises:
            ValueError: the name is unknown; lists the names.
        """
        if name not in PRESETS:
            raise ValueError(f"unknown preset {name!r}; choose one of {', '.join(PRESETS)}")
        return self.scored_as(PRESETS[name])

    def scored_as(self, other: RetrievalSettings) -> RetrievalSettings:
        """Returns these settings with policy, alpha, horizon, relevance and method of ``other``."""
        scoring = ("policy", "alpha", "horizon", "relevance", "method")
        return replace(self, **{name: getattr(other, name) for name in scoring})

    @property
    def preset(self) -> str | None:
        """Name of the preset that gives the same scores as these settings; None if none does."""
        mine = _scoring(self)
        return next((name for name, preset in PRESETS.items() if _scoring(preset) == mine), None)


def _scoring(settings: RetrievalSettings) -> tuple[object, ...]:
    """Returns the fields that determine scores, in a form equal for settings that score alike."""
    # Without hops, or with α 0, every policy gives the initial scores.
    policy, alpha, horizon = settings.propagation
    spread = None if policy == "none" or not alpha or not horizon else (policy, alpha, horizon)
    return settings.method, settings.relevance_for(), spread


OPENING = "tree at work"
"""The preset that the app opens with."""

PRESETS: dict[str, RetrievalSettings] = {
    OPENING: RetrievalSettings(policy="both", alpha=0.2, relevance="hybrid"),
    "paper, top-down": RetrievalSettings(policy="top-down", relevance="dense"),
    "paper, bottom-up": RetrievalSettings(policy="bottom-up", relevance="dense"),
    "no propagation": RetrievalSettings(policy="none", alpha=0.0, horizon=0),
    "best evidence": RetrievalSettings(relevance=USUAL_RELEVANCE),
}
"""Name to settings.

Under ``tree at work`` propagation visibly changes most results and lowers no measure
(``python -m tests.benchmarks opening``). The paper uses α .10, H 2 on dense cosine (arXiv
2606.04555, Table 4). ``best evidence`` uses contextual relevance. It already includes the
neighbours of a node, so propagation changes little."""
