"""Names a structure by a short hash, to tell whether two builds gave the same.

Same input, settings and version give the same structure; two digests show this without
comparing two files.
"""

from __future__ import annotations

import hashlib
import json

from segviz.tree.structure import Structure

_LENGTH = 12


def digest(structure: Structure) -> str:
    """Twelve hexadecimal digits of the SHA-256 of a structure's shape and texts.

    Covers level, span, text, kind, facts and activity of every node, edges and relations in
    their order. Vectors are left out: their last bits differ between processors while
    the tree is the same.
    """
    state = hashlib.sha256()
    for column in (structure.level, structure.start, structure.stop, structure.edges):
        state.update(_length_prefixed(column.astype("<i4").tobytes()))
    state.update(_length_prefixed(structure.active.astype("u1").tobytes()))
    relations = [
        [r.source, r.target, r.label, r.weight, *([dict(r.facts)] if r.facts else [])]
        for r in structure.relations
    ]
    words = [structure.text, structure.kind, [dict(facts) for facts in structure.facts], relations]
    for part in words:
        state.update(
            _length_prefixed(json.dumps(part, sort_keys=True, default=str).encode("ascii"))
        )
    return state.hexdigest()[:_LENGTH]


def _length_prefixed(raw: bytes) -> bytes:
    """Bytes behind their length, so that different parts never give the same stream."""
    return len(raw).to_bytes(8, "little") + raw
