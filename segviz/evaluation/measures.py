"""Lists the measures of a retrieval, ``MEASURES``.

They are computed from two rankings for each question. The ranking of *leaves* has all nodes of
level 0: did the right unit come back? The *mixed* ranking has the nodes of all levels, as Algorithm
2 of SegTreeMem returns them to a reader. The *top* is the part that is read: the K best nodes, or
those within a budget of tokens, the last one cut. Repeated texts may be dropped from the mixed
ranking, never from that of leaves.

A *lift* is the value minus the one expected of random leaves of the same total length, so that long
texts earn nothing by their length alone. The baseline uses random leaves, not random nodes, because
it must not depend on the quality of the tree's texts.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from segviz.retrieval import POLICIES
from segviz.text.words import QUOTED

UNITS, TOKENS = 20, 1_000
"""Default units read for ``reached``, and tokens read for ``answer_words``."""

BUDGETS = (300, 600, 1_200)
"""Numbers of tokens T of the measures within T tokens; readers pay for tokens, not for nodes."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Measure of one retrieval: its ``label`` and its ``meaning`` as a sentence.

    Attributes:
        label: its name for display.
        meaning: its definition.
        leaves: True if it is computed from the ranking of leaves.
        evidence: True if a question needs gold evidence to have a value.
        answer: True if a question needs a gold answer.
        share: True for a share in [0, 1] (a lift in [-1, 1]).
        more: True if higher is better.
    """

    label: str
    meaning: str
    leaves: bool = False
    evidence: bool = True
    answer: bool = False
    share: bool = True
    more: bool = True


def within(name: str, tokens: int) -> str:
    """Returns the name of the measure ``name`` within T tokens, such as ``in_evidence_600``."""
    return f"{name}_{tokens}"


_READ = "the first {T:,} tokens of texts, of which the last is cut"
_WITHIN = {
    "in_evidence": Measure("in evidence", f"Gold turns in evidence in {_READ} / gold turns."),
    "gold_turns": Measure(
        "gold turns",
        f"Gold turns that a leaf has or a node above quotes in {_READ} / gold turns.",
    ),
    "answer_words": Measure(
        "answer words",
        f"Content words of the gold answer in {_READ} / its content words.",
        evidence=False,
        answer=True,
    ),
}

CURVES = {
    each.label: {tokens: within(name, tokens) for tokens in BUDGETS}
    for name, each in _WITHIN.items()
}
"""Curves over T: their name, and the measure at each of ``BUDGETS``."""

MEASURES: dict[str, Measure] = {
    "recall": Measure(
        "leaf recall", "Gold leaves among the K best leaves / gold leaves.", leaves=True
    ),
    "in_evidence": Measure(
        "gold turns in evidence",
        "Gold turns that a leaf of the top has, a node above quotes, or for which a node above "
        "states the answer, or the part of a list that the turn gives / gold turns.",
    ),
    "reached": Measure(
        "evidence reached",
        "Gold units among the first N units read, walking the mixed ranking in order / gold "
        "units. A node of several units is read from its first.",
    ),
    "reached_lift": Measure(
        "evidence reached, lift",
        "Evidence reached, minus the share of all units that was read.",
    ),
    "quoted": Measure(
        "gold turns quoted",
        f"Gold turns with at least {QUOTED:.0%} of their content words in one text of the top / "
        "gold turns.",
    ),
    "quoted_lift": Measure(
        "gold turns quoted, lift",
        "Gold turns quoted, minus those that random leaves of the same total length quote.",
    ),
    "answer_words": Measure(
        "answer words",
        "Content words of the gold answer in the first T tokens of texts, of which the last is "
        "cut / its content words.",
        evidence=False,
        answer=True,
    ),
    "answer_words_lift": Measure(
        "answer words, lift",
        "Answer words, minus those in random leaves of the same total length.",
        evidence=False,
        answer=True,
    ),
    "reciprocal_rank": Measure(
        "MRR", "1 / rank of the first gold leaf among all leaves.", leaves=True
    ),
    "ndcg": Measure(
        "nDCG",
        "Gold leaves among the K best, weighed by 1 / log₂(1 + rank), against the best order.",
        leaves=True,
    ),
    "words": Measure(
        "words read", "Words of the texts of the top.", evidence=False, share=False, more=False
    ),
    "short": Measure(
        "short of K",
        "1 where fewer than K leaves came back, as a system's own retrieval may leave it.",
        leaves=True,
        evidence=False,
        more=False,
    ),
    **{
        within(name, tokens): replace(
            each,
            label=f"{each.label} within {tokens:,} tokens",
            meaning=each.meaning.format(T=tokens),
        )
        for name, each in _WITHIN.items()
        for tokens in BUDGETS
    },
}
"""Measures by name, in the order of table columns."""

CHOICES = tuple(name for name, measure in MEASURES.items() if measure.share and measure.more)
"""Names of the measures by which settings can be compared: shares of which more is better."""

DEFAULT = "in_evidence"
"""Default measure: every policy can change it, and questions need no gold answer for it."""


def sees(measure: str, policy: str) -> bool:
    """Returns True if a propagation policy can change a measure.

    Under bottom-up, leaves receive no score from other nodes. So a measure of the ranking of leaves
    then has the same value as without propagation.
    """
    ranked = measure in MEASURES and MEASURES[measure].leaves  # others grade answers
    return not ranked or bool(POLICIES[policy]().reaches_leaves)


def check_measure(measure: str, known: Collection[str] = MEASURES) -> None:
    """Checks the name of a measure; ValueError lists the ``known`` ones."""
    if measure not in known:
        raise ValueError(f"unknown measure {measure!r}; choose one of {', '.join(known)}")
