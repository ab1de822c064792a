"""Retrieves nodes for a question: relevance, propagation, selection, explanation.

``protocols``    interfaces of relevance and of systems with their own retrieval
``relevance``    scores every node for a question
``propagation``  spreads scores over the structure (SegTreeMem equations 3 and 4)
``selection``    ranks nodes and takes the best
``settings``     ``RetrievalSettings`` and ``PRESETS``
``ledger``       lists the contributions to a node's score
``result``       the record of an answered question
``gold``         finds a question's gold evidence in a structure and in a result
``attribution``  finds the turns that texts of a memory came from

May import ``construct`` and the packages below it, not ``systems``. Public face: the names
below.
"""

from segviz.retrieval.gold import GoldEvidence, gold_evidence
from segviz.retrieval.propagation import (
    POLICIES,
    check_setting,
    combine,
    propagate,
    spread,
)
from segviz.retrieval.protocols import MemoryView, Retrieval, Retriever, Scorer, Stage
from segviz.retrieval.relevance import (
    RELEVANCE,
    initial_scores,
    over_active,
    relevance_model,
    spelled,
)
from segviz.retrieval.result import Evidence, Result
from segviz.retrieval.selection import (
    check_count,
    cut,
    cut_texts,
    distinct,
    estimated_tokens,
    expanded,
    ranking,
    ranks,
    select,
    top_k,
)
from segviz.retrieval.settings import OPENING, PRESETS, PRESETS_HELP, RERANKED, RetrievalSettings

__all__ = [
    "OPENING",
    "POLICIES",
    "PRESETS",
    "PRESETS_HELP",
    "RELEVANCE",
    "RERANKED",
    "Evidence",
    "GoldEvidence",
    "MemoryView",
    "Result",
    "Retrieval",
    "RetrievalSettings",
    "Retriever",
    "Scorer",
    "Stage",
    "check_count",
    "check_setting",
    "combine",
    "cut",
    "cut_texts",
    "distinct",
    "estimated_tokens",
    "expanded",
    "gold_evidence",
    "initial_scores",
    "over_active",
    "propagate",
    "ranking",
    "ranks",
    "relevance_model",
    "select",
    "spelled",
    "spread",
    "top_k",
]
