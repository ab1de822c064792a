"""Finds text in all nodes for the canvas, which holds many texts cut and, beyond 5,000
nodes, none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

MOST_EXCERPTS: Final = 200
_BEFORE, _AFTER = 60, 220
_LONGEST_QUERY = 200


def read_query(sent: object) -> str | None:
    """What a browser asks for, as ``find_text`` takes it; None for what is no query."""
    return sent.strip().lower()[:_LONGEST_QUERY] if isinstance(sent, str) else None


def find_text(payload: Mapping[str, Any], texts: Sequence[str], query: str) -> dict[str, Any]:
    """The nodes of a ``tree_payload`` whose full text, in ``texts``, or label holds ``query``, in
    any case, itself in lower case: as JSON ``nodes`` in reading order (start, narrower first), and
    for the first of them ``excerpts`` around the hit."""
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
    """The hit and what stands around it."""
    at = max(0, text.lower().find(query))  # a label alone may hold it
    begin, end = max(0, at - _BEFORE), at + len(query) + _AFTER
    if begin:  # at a word, where there is one
        begin = text.find(" ", begin, at) + 1 or begin
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")
