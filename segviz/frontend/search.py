"""Finds text in all nodes for the canvas.

The canvas holds many texts shortened and, beyond 5,000 nodes, none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

MOST_EXCERPTS: Final = 200
_BEFORE, _AFTER = 60, 220
_LONGEST_QUERY = 200


def read_query(sent: object) -> str | None:
    """Returns the browser's query in the form of ``find_text``; None for anything but text."""
    return sent.strip().lower()[:_LONGEST_QUERY] if isinstance(sent, str) else None


def find_text(payload: Mapping[str, Any], texts: Sequence[str], query: str) -> dict[str, Any]:
    """Finds the nodes whose full text or label contains ``query``, in any letter case.

    Args:
        payload: a ``tree_payload``.
        texts: full text of each node.
        query: in lower case.

    Returns:
        ``nodes`` in reading order (start, narrower first), and ``excerpts`` around the hit for the
        first of them, as JSON.
    """
    level, start, stop = (payload[c] for c in ("level", "start", "stop"))
    names = payload.get("names") or [""] * len(texts)
    said = [f"{text}\n{name}".lower() for text, name in zip(texts, names, strict=True)]
    hits = [node for node, each in enumerate(said) if level[node] >= 0 and query in each]
    hits.sort(key=lambda node: (start[node], stop[node], node))
    return {
        "query": query,
        "nodes": hits,
        "excerpts": {str(node): _excerpt(texts[node], query) for node in hits[:MOST_EXCERPTS]},
    }


def _excerpt(text: str, query: str) -> str:
    """Returns the hit with its context."""
    at = max(0, text.lower().find(query))  # the match may be in the label only
    begin, end = max(0, at - _BEFORE), at + len(query) + _AFTER
    if begin:  # starts at a word if possible
        begin = text.find(" ", begin, at) + 1 or begin
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")
