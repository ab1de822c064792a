"""Finds text in all nodes for the canvas.

The canvas holds many texts shortened and, beyond 5,000 nodes, none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

MOST_EXCERPTS: Final = 200
_BEFORE, _AFTER = 60, 220
_LONGEST_QUERY = 200


BY_WORDS, BY_MEANING = "words", "meaning"
"""Ways to search: text that holds the query, or the nodes most relevant to it."""


def read_query(sent: object) -> tuple[str, str] | None:
    """Returns the kind of search and the query, in lower case, that a browser sent; else None."""
    if not isinstance(sent, list) or len(sent) != 2 or sent[0] not in (BY_WORDS, BY_MEANING):
        return None
    return (sent[0], sent[1].strip().lower()[:_LONGEST_QUERY]) if isinstance(sent[1], str) else None


def find_text(payload: Mapping[str, Any], texts: Sequence[str], query: str) -> dict[str, Any]:
    """Finds the nodes whose full text or label contains ``query``, in any letter case.

    ``payload`` is a ``tree_payload``, ``query`` in lower case. Returns the answer of ``found``, by
    level, leaves first, each in reading order.
    """
    level, start, stop = (payload[c] for c in ("level", "start", "stop"))
    names = payload.get("names") or [""] * len(texts)
    said = [f"{text}\n{name}".lower() for text, name in zip(texts, names, strict=True)]
    hits = [node for node, each in enumerate(said) if level[node] >= 0 and query in each]
    hits.sort(key=lambda node: (level[node], start[node], stop[node], node))
    return found(BY_WORDS, query, hits, texts)


def found(by: str, query: str, hits: Sequence[int], texts: Sequence[str]) -> dict[str, Any]:
    """Returns the answer to a query as JSON values.

    It has the kind of search ``by`` and the query, the ``nodes`` found and ``excerpts``: texts
    around the query in the first of them.
    """
    return {
        "by": by,
        "query": query,
        "nodes": list(hits),
        "excerpts": {str(node): _excerpt(texts[node], query) for node in hits[:MOST_EXCERPTS]},
    }


def _excerpt(text: str, query: str) -> str:
    """Returns the first match of ``query`` in a text with its context; the beginning if none."""
    at = max(0, text.lower().find(query))  # the match may be in the label only
    begin, end = max(0, at - _BEFORE), at + len(query) + _AFTER
    if begin:  # starts at a word if possible
        begin = text.find(" ", begin, at) + 1 or begin
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")
