"""From a question to nodes: relevance, propagation, selection, explanation.

``relevance``    question to a score for every node
``propagation``  scores spread over the structure (SegTreeMem equations 3 and 4)
``selection``    the best nodes of a ranking
``settings``     how a question is asked: ``RetrievalSettings`` and ``PRESETS``
``ledger``       why a node has the score it has
``result``       an answered question
``gold``         what became of a question's gold evidence
``near_miss``    nodes that were almost retrieved

May import everything up to ``systems``. Public face: the names below.
"""

from segviz.retrieval.ledger import Ledger, explain
from segviz.retrieval.propagation import (
    POLICIES,
    Propagated,
    check_setting,
    combine,
    propagate,
    spread,
)
from segviz.retrieval.relevance import RELEVANCE, initial_scores, over_active
from segviz.retrieval.result import Evidence, Result
from segviz.retrieval.selection import (
    admissible,
    check_count,
    estimated_tokens,
    first,
    level_distribution,
    ranking,
    ranks,
    taken,
    top_k,
)
from segviz.retrieval.settings import METHODS, PRESETS, RetrievalSettings

__all__ = [
    "METHODS",
    "POLICIES",
    "PRESETS",
    "RELEVANCE",
    "Evidence",
    "Ledger",
    "Propagated",
    "Result",
    "RetrievalSettings",
    "admissible",
    "check_count",
    "check_setting",
    "combine",
    "estimated_tokens",
    "explain",
    "first",
    "initial_scores",
    "level_distribution",
    "over_active",
    "propagate",
    "ranking",
    "ranks",
    "spread",
    "taken",
    "top_k",
]
