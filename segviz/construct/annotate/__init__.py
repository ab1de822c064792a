"""Annotation: a node's text from its children's texts (the S of Algorithm 1).

``extractive``  offline, a pure function of the child texts
``llm``         a chat model writes the summary, as in the paper
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from segviz.construct.annotate.extractive import Extractive
from segviz.construct.annotate.llm import Summary

__all__ = ["ANNOTATORS", "Extractive", "Summary"]

ANNOTATORS: dict[str, Callable[..., Any]] = {"extractive": Extractive, "llm": Summary}
"""Name to frozen dataclass; adding a row is all it takes."""
