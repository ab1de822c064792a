"""Defines what is measured of a retrieval; a measure is a row of ``MEASURES``.

A question has two rankings. The *leaves* are all nodes of level 0, best first: did the right
unit come back? The *mixed* ranking has the nodes of all levels, as Algorithm 2 of SegTreeMem
returns them and a reader gets them; of it the *top* is read: K nodes, or what a budget of
tokens pays for.

A *lift* is the value less the one expected of random leaves of the same total length, so that long
texts earn nothing by their length alone. Random leaves, not random nodes: the expected value must
not depend on how good the texts of the judged tree are.
"""

from __future__ import annotations

from dataclasses import dataclass

from segviz.retrieval import POLICIES
from segviz.text.words import QUOTED

UNITS, TOKENS = 20, 1_000
"""Units read for ``reached`` and tokens read for ``answer_words``, unless said."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of one retrieval: its ``label`` and its ``meaning`` as a sentence.

    ``leaves``: taken from the ranking of leaves alone. ``evidence`` and ``answer``: what a
    question must come with to have a value. ``share``: a share in [0, 1] (a lift in [-1, 1]),
    else a number of its own kind. ``more``: whether more of it is better.
    """

    label: str
    meaning: str
    leaves: bool = False
    evidence: bool = True
    answer: bool = False
    share: bool = True
    more: bool = True


MEASURES: dict[str, Measure] = {
    "recall": Measure(
        "leaf recall", "Gold leaves among the K best leaves / gold leaves.", leaves=True
    ),
    "reached": Measure(
        "evidence reached",
        "Gold units among the first N units read, walking the mixed ranking in order / gold "
        "units. A node of several units is read from its first.",
    ),
    "reached_lift": Measure(
        "evidence reached, lift",
        "Evidence reached, less the share of all units that was read.",
    ),
    "quoted": Measure(
        "gold turns quoted",
        f"Gold turns of which at least {QUOTED:.0%} of the content words stand in one text of "
        "the top / gold turns.",
    ),
    "quoted_lift": Measure(
        "gold turns quoted, lift",
        "Gold turns quoted, less what random leaves of the same total length quote.",
    ),
    "answer_words": Measure(
        "answer words",
        "Content words of the gold answer in the texts that T tokens hold / its content words.",
        evidence=False,
        answer=True,
    ),
    "answer_words_lift": Measure(
        "answer words, lift",
        "Answer words, less those in random leaves of the same total length.",
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
}
"""Name to measure, in the order of tables."""

CHOICES = tuple(name for name, measure in MEASURES.items() if measure.share and measure.more)
"""The measures by which settings can be judged."""

DEFAULT = "reached"
"""What they are judged by unless said: it sees every policy and needs no answers."""


def sees(measure: str, policy: str) -> bool:
    """Whether a measure can see what a policy does. One over leaves cannot where leaves receive
    nothing (bottom-up): its value is then that of no propagation for every alpha and horizon."""
    return not MEASURES[measure].leaves or bool(POLICIES[policy]().reaches_leaves)


def check_measure(measure: str) -> None:
    """Raise ValueError with the legal names for an unknown measure."""
    if measure not in MEASURES:
        raise ValueError(f"unknown measure {measure!r}; choose one of {', '.join(MEASURES)}")
