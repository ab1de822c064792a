"""Layer 1: the small contracts by which stages meet without importing each other.

``construction`` is how a memory is built, ``models`` what embeds and answers, ``retrieval``
how a system looks for evidence of its own, ``operations`` what else can be done to a memory.
"""

from __future__ import annotations

from segviz.protocols.construction import (
    Annotate,
    Arrival,
    Candidate,
    Compatibility,
    Explains,
    System,
    Verdict,
)
from segviz.protocols.models import (
    Charges,
    Chat,
    Embedder,
    LabelError,
    LastingFault,
    ModelError,
    Prompt,
    Reply,
    Services,
    require_chat,
)
from segviz.protocols.operations import JOIN, Joins, Operates, Operation, Settles
from segviz.protocols.retrieval import Fades, Recall, Recalls, Scorer, Stage, View

__all__ = [
    "JOIN",
    "Annotate",
    "Arrival",
    "Candidate",
    "Charges",
    "Chat",
    "Compatibility",
    "Embedder",
    "Explains",
    "Fades",
    "Joins",
    "LabelError",
    "LastingFault",
    "ModelError",
    "Operates",
    "Operation",
    "Prompt",
    "Recall",
    "Recalls",
    "Reply",
    "Scorer",
    "Services",
    "Settles",
    "Stage",
    "System",
    "Verdict",
    "View",
    "require_chat",
]
