"""Finds nodes that were almost retrieved and says why they were not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from segviz.retrieval.result import Result
from segviz.retrieval.selection import first, ranks


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A node outside the top K: its 1-based ranks before and after propagation (0 where it is
    not admissible), its ``final`` score, the difference to the last retrieved node's, and the
    reason as a phrase."""

    node: int
    rank_before: int
    rank_after: int
    final: float
    short_by: float
    reason: str


def near_misses(
    result: Result,
    *,
    count: int = 5,
    wanted: Collection[int] = (),
) -> list[NearMiss]:
    """The next ``count`` nodes after the top K, then missed ``wanted`` nodes (gold leaves),
    by propagated score."""
    if not result.after:
        return []
    structure, levels = result.structure, result.settings.levels
    taken = set(result.after)
    last = float(result.final[result.after[-1]])
    k = len(result.after)
    after = first(result.final, structure, k + count, levels)
    following = [int(node) for node in after[k:]]
    missed = [node for node in wanted if node not in taken and node not in following]
    shown = [*following, *sorted(missed, key=lambda v: -result.final[v])]
    rank_before = ranks(shown, result.initial, structure, levels)
    rank_after = ranks(shown, result.final, structure, levels)
    rows = []
    for node, was, now in zip(shown, rank_before, rank_after, strict=True):
        final = float(result.final[node])
        rows.append(
            NearMiss(node, was, now, final, last - final, _reason(result, node, was, now, k))
        )
    return rows


def _reason(result: Result, node: int, was: int, now: int, k: int) -> str:
    if not now:
        return "its level is not admissible"
    ledger = result.explain(node)
    received = ledger.total - ledger.own
    rival = result.explain(result.after[-1])
    rival_received = rival.total - rival.own
    if 0 < was <= k:
        return f"was rank {was}; received {received:.5f}, rank {k} received {rival_received:.5f}"
    if ledger.own < rival.own and received < rival_received:
        return "matches the question less by itself, and its surroundings do too"
    if ledger.own < rival.own:
        return "matches the question less by itself; its surroundings do not make up for it"
    return f"matches as well by itself, but received {rival_received - received:.5f} less"
