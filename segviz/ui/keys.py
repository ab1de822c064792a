"""Names of session-state entries and widgets: pages and parts meet by these, not by literals.

An upper-case name is one entry; a function names an entry that belongs to a memory, a system
or a conversation, so that another one begins anew.
"""

from __future__ import annotations

# How a question is asked; ``ui.settings`` reads and writes them as one record.
POLICY = "policy"
ALPHA = "alpha"
HORIZON = "horizon"
RELEVANCE = "relevance"
K = "k"
LITERAL = "literal"
BY_BUDGET = "by-budget"
BUDGET = "budget"
DRAWN = "drawn"  # drawing and number of the last change in the canvas's header


def method(system: str) -> str:
    """How memories of a system are asked: propagation or its own retrieval."""
    return f"method-{system}"


def levels(count: int) -> str:
    """Admissible levels of memories with so many levels."""
    return f"levels-{count}"


def asked_step(memory: str) -> str:
    """The moment a memory is asked at."""
    return f"asked-{memory}"
