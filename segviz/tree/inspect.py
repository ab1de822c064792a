"""Describes a node, compares two, hashes a structure, in time linear in structure or history."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import as_time
from segviz.tree.events import Add, Facts, Relate, Retire, Revise, Span, Step
from segviz.tree.structure import Structure, reachable


def path_from_root(structure: Structure, node: int) -> tuple[int, ...]:
    """Returns the ancestors of ``node``, root first, along first parents."""
    path = []
    while parents := structure.parents[node]:
        node = parents[0]
        path.append(node)
    return tuple(reversed(path))


def relations_of(structure: Structure, node: int) -> tuple[Relate, ...]:
    """Returns the relations from or to ``node``, oldest first."""
    return tuple(r for r in structure.relations if node in (r.source, r.target))


def similarity(structure: Structure, a: int, b: int) -> float | None:
    """Returns the cosine of the vectors of two nodes, in [-1, 1]; None if a vector is zero."""
    cosine = _cosines(structure.vector[[b]], structure.vector[a])[0]
    return None if np.isnan(cosine) else float(cosine)


_NEAREST = 5


def nearest(
    structure: Structure, node: int, *, leaves_only: bool = False
) -> tuple[tuple[int, float], ...]:
    """Returns the five active nodes of greatest cosine with ``node``, best first, with cosines.

    Ancestors and descendants are left out, because their texts derive from each other, and zero
    vectors.
    """
    allowed = structure.active.copy()
    related = reachable(structure.parents, [node]) | reachable(structure.children, [node])
    allowed[list(related)] = False
    if leaves_only:
        allowed &= structure.level == 0
    candidates = np.flatnonzero(allowed)
    cosines = _cosines(structure.vector[candidates], structure.vector[node])
    candidates, cosines = candidates[~np.isnan(cosines)], cosines[~np.isnan(cosines)]
    best = np.lexsort((candidates, -cosines.round(9)))[:_NEAREST]
    return tuple((int(candidates[i]), float(cosines[i])) for i in best)


def _cosines(rows: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Returns the cosine of each row with ``vector``, float64; NaN if one of the two is zero."""
    products = np.einsum("ij,j->i", rows, vector, dtype=np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths *= np.linalg.norm(vector.astype(np.float64))
    cosines = np.full(len(rows), np.nan)
    np.divide(products, lengths, out=cosines, where=lengths > 0)
    return cosines.clip(-1, 1)


def shared_units(structure: Structure, a: int, b: int) -> tuple[int, ...]:
    """Returns the indices of the units below both nodes, ascending."""
    return tuple(sorted(set(structure.coverage(a)) & set(structure.coverage(b))))


Kinship = Literal["same", "above", "below", "siblings", "apart"]


def kinship(structure: Structure, a: int, b: int) -> Kinship:
    """Returns how node ``a`` is related to node ``b``.

    "above" means that ``a`` is an ancestor of ``b``, "below" a descendant; "siblings" share a
    parent; "same" is one node, "apart" none of these.
    """
    if a == b:
        return "same"
    if a in reachable(structure.parents, [b]):
        return "above"
    if b in reachable(structure.parents, [a]):
        return "below"
    return "siblings" if {*structure.parents[a]} & {*structure.parents[b]} else "apart"


@dataclass(frozen=True, slots=True)
class State:
    """Text, span, level and facts of a node after a step."""

    text: str
    span: Span
    level: int
    facts: Facts


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """Change of one node by one step, ``cause``.

    ``step`` counts from 1. ``before`` is None in the step that adds the node, ``after`` None in the
    one that retires it; both are None where one step did both.
    """

    step: int
    cause: Step
    before: State | None
    after: State | None


def written(steps: Sequence[Step], node: int) -> Iterator[Written]:
    """Yields each step that added, revised or retired ``node``; links do not count."""
    state: State | None = None
    for place, step in enumerate(steps, 1):
        before, touched = state, False
        for event in step.events:
            if not isinstance(event, Add | Revise | Retire) or event.node != node:
                continue
            touched = True
            if isinstance(event, Add):
                state = State(event.text, event.span, event.level, event.facts)
            elif isinstance(event, Revise) and state is not None:
                level = state.level if event.level is None else event.level
                facts = state.facts if event.facts is None else event.facts
                state = State(event.text, event.span, level, facts)
            else:
                state = None
        if touched:
            yield Written(place, step, before, state)


def read_fact(facts: Facts, name: str) -> str:
    """Returns a fact as readable text; in facts with ``dated`` true, a float as a date."""
    value = facts[name]
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and facts.get("dated") is True:
        try:
            return f"{as_time(value):%Y-%m-%d %H:%M}"
        except (OverflowError, ValueError):
            return str(value)
    return str(value)


def digest(structure: Structure) -> str:
    """Returns twelve hexadecimal digits of the SHA-256 of a structure's shape and texts.

    Two builds agree if their digests do. Vectors are left out: their last bits differ between
    processors while the tree is the same.
    """
    columns = (structure.level, structure.start, structure.stop, structure.edges)
    relations = [
        [r.source, r.target, r.label, r.weight, *([dict(r.facts)] if r.facts else [])]
        for r in structure.relations
    ]
    words = [structure.text, structure.kind, [dict(facts) for facts in structure.facts], relations]
    parts = chain(
        (column.astype("<i4").tobytes() for column in columns),
        [structure.active.astype("u1").tobytes()],
        (json.dumps(part, sort_keys=True, default=str).encode("ascii") for part in words),
    )
    state = hashlib.sha256()
    for part in parts:  # prefixed by its length, so that different parts give different streams
        state.update(len(part).to_bytes(8, "little") + part)
    return state.hexdigest()[:12]
