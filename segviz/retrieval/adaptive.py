"""Stage: policy, alpha and horizon chosen per question (SegTreeMem's first future work).

The paper keeps one setting for all questions and suggests to let the question decide. Here
a decision list does: the first sign that a question shows names the setting.

``adaptive`` is no row of ``POLICIES``: a policy induces W_P from the structure alone, while
this looks at a question and picks one of them. So ``ask`` and ``evaluate`` resolve the name
before propagating, and a result says what was picked.

Where the list comes from: ``python -m tests.benchmarks.adaptive`` fits it on half of the
questions of five LoCoMo conversations (hybrid relevance, evidence recall@10 over leaves;
halves by a hash of the question) and reports on the other half. There it reaches .806
against .801 for the best single setting of the fitting half, a difference of +.005
[-.003, .014]: no proof that it helps. With the halves exchanged the fit finds another list,
at +.003 [-.008, .013]. Splits by conversation were tried before the hash, on trees of older
defaults: none gained held out, and the fit on conversations 26, 30 and 43 lost .018
[-.032, -.008] on 47 and 49. It is offered because it can be read, not because it is better.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segviz.tree import Structure

ADAPTIVE = "adaptive"

_WORDS = re.compile(r"[\w']+")
_NAME = re.compile(r"(?<!^)\b[A-Z][a-z]+")
_DATE = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:day|date|week|month|season|year|time)\b|\bhow long ago\b"
)
_COUNT = re.compile(r"\bhow (?:many|much|often|long)\b|\bnumber of\b")
_PLACE = re.compile(r"\bwhere\b|\b(?:what|which) (?:city|country|place|state|town)\b")
_LIST = re.compile(r"\b(?:what|which)\s+(?:\w+\s+)?(?!(?:is|was|does|has|this|his)\b)\w+s\b")
_YES_NO = frozenset("is was does did do has have would could are were can".split())


@dataclass(frozen=True, slots=True)
class Traits:
    """What is looked at: the question's text in lower case, its words, how many names it
    holds; over how many nodes the initial score is spread (1 / Σ s², between 1 and the
    number of nodes) and the leaves' share of it (0 … 1)."""

    text: str
    words: tuple[str, ...]
    names: int
    spread: float
    leaves: float


def traits(question: str, initial: NDArray[np.float64], structure: Structure) -> Traits:
    """Traits of a question and its s⁽⁰⁾, float64 (n,)."""
    text = question.lower()
    squares = float(np.square(initial).sum())
    return Traits(
        text,
        tuple(_WORDS.findall(text)),
        len(_NAME.findall(question)),
        1.0 / squares if squares > 0 else 0.0,
        float(initial[structure.level == 0].sum()),
    )


@dataclass(frozen=True, slots=True)
class Sign:
    """Something a question may show, in words that follow "the question"."""

    words: str
    shown: Callable[[Traits], bool]


SIGNS: dict[str, Sign] = {
    "date": Sign("asks for a date", lambda t: bool(_DATE.search(t.text))),
    "count": Sign("asks how many or how long", lambda t: bool(_COUNT.search(t.text))),
    "person": Sign("asks who", lambda t: not {"who", "whom", "whose"}.isdisjoint(t.words)),
    "place": Sign("asks where", lambda t: bool(_PLACE.search(t.text))),
    "list": Sign("asks for several things", lambda t: bool(_LIST.search(t.text))),
    "reason": Sign("asks how or why", lambda t: "why" in t.words or t.words[:1] == ("how",)),
    "yes-no": Sign("can be answered by yes or no", lambda t: not _YES_NO.isdisjoint(t.words[:1])),
    "names": Sign("names two or more", lambda t: t.names >= 2),
    "short": Sign("has at most 7 words", lambda t: len(t.words) <= 7),
    "long": Sign("has 14 words or more", lambda t: len(t.words) >= 14),
    "under 5": Sign("has its score on fewer than 5 nodes", lambda t: t.spread < 5),
    "under 10": Sign("has its score on fewer than 10 nodes", lambda t: t.spread < 10),
    "over 20": Sign("has its score on more than 20 nodes", lambda t: t.spread > 20),
    "over 40": Sign("has its score on more than 40 nodes", lambda t: t.spread > 40),
    "over 80": Sign("has its score on more than 80 nodes", lambda t: t.spread > 80),
    "wide": Sign("has over .3 of its score above the leaves", lambda t: t.leaves < 0.7),
    "narrow": Sign("has over .85 of its score on leaves", lambda t: t.leaves > 0.85),
}
"""The signs the fit may choose from, fixed before fitting."""

Setting = tuple[str, float, int]

RULES: tuple[tuple[str, Setting], ...] = (
    ("wide", ("neighbours", 0.5, 3)),
    ("long", ("both", 0.5, 2)),
    ("over 80", ("both", 0.95, 2)),
    ("reason", ("neighbours", 0.95, 1)),
)
OTHERWISE: Setting = ("neighbours", 0.3, 3)


@dataclass(frozen=True, slots=True)
class Choice:
    """The setting chosen for a question and the reason as one sentence."""

    policy: str
    alpha: float
    horizon: int
    why: str

    @property
    def setting(self) -> Setting:
        """Policy, alpha and horizon."""
        return self.policy, self.alpha, self.horizon


def choose(question: str, initial: NDArray[np.float64], structure: Structure) -> Choice:
    """The setting of the first rule whose sign the question shows.

    ``initial`` is its s⁽⁰⁾, float64 (n,). Never fails: no sign at all gives OTHERWISE.
    """
    seen = traits(question, initial, structure)
    spread = f"score spread over {seen.spread:.0f} of {int(structure.active.sum())} nodes"
    for name, setting in RULES:
        if SIGNS[name].shown(seen):
            return Choice(
                *setting, f"The question {SIGNS[name].words} ({spread}): {_named(setting)}"
            )
    signs = " nor ".join(SIGNS[name].words for name, _ in RULES)
    return Choice(*OTHERWISE, f"The question neither {signs} ({spread}): {_named(OTHERWISE)}")


def _named(setting: Setting) -> str:
    policy, alpha, horizon = setting
    return f"{policy}, α {alpha:g}, H {horizon}."
