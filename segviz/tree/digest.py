"""Layer 1: a short name for a structure, to tell whether two builds gave the same.

Same input, settings and version give the same structure; whoever repeats a build can see
it by comparing two short words instead of two files.
"""

from __future__ import annotations

import hashlib
import json

from segviz.tree.structure import Structure

_LENGTH = 12


def digest(structure: Structure) -> str:
    """Twelve hexadecimal digits that name a structure's shape and texts.

    Covers level, span, text, kind, facts and activity of every node, edges and relations in
    their order. Vectors are left out: their last bits differ between processors while
    the tree is the same.
    """
    state = hashlib.sha256()
    for column in (structure.level, structure.start, structure.stop, structure.edges):
        state.update(_framed(column.astype("<i4").tobytes()))
    state.update(_framed(structure.active.astype("u1").tobytes()))
    relations = [[r.source, r.target, r.label, r.weight] for r in structure.relations]
    words = [structure.text, structure.kind, [dict(facts) for facts in structure.facts], relations]
    for part in words:
        state.update(_framed(json.dumps(part, sort_keys=True, default=str).encode("ascii")))
    return state.hexdigest()[:_LENGTH]


def _framed(raw: bytes) -> bytes:
    """Bytes with their length in front, so that parts cannot run into each other."""
    return len(raw).to_bytes(8, "little") + raw
