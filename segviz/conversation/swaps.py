"""A conversation whose units come in another order, to see what the order of time is worth."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from segviz.conversation.conversation import Conversation
from segviz.conversation.units import Unit


def swapped(count: int, share: float, seed: int) -> list[int]:
    """The index of the unit at each of ``count`` places after swapping.

    All places are paired at random and ⌊share · count / 2⌋ of the disjoint pairs change
    places, so that about ``share`` of all units move.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; it must lie between 0 and 1")
    order = list(range(count))
    places = np.random.default_rng(seed).permutation(count).tolist()
    pairs = int(share * count / 2 + 1e-9)
    for left, right in zip(places[: 2 * pairs : 2], places[1 : 2 * pairs : 2], strict=True):
        order[left], order[right] = order[right], order[left]
    return order


@dataclass(frozen=True)
class Reordered(Conversation):
    """A conversation whose units come in another order.

    What is said moves; index, session and date stay with the place. Units are moved after
    they are cut, so that both orders hold the same units.
    """

    share: float = 0.0
    seed: int = 0

    def units(self, rule: str = "exchange") -> tuple[Unit, ...]:
        """The units of ``rule``, swapped by :func:`swapped`."""
        plain = super().units(rule)
        order = swapped(len(plain), self.share, self.seed)
        return tuple(
            replace(place, turn_ids=plain[i].turn_ids, text=plain[i].text)
            for place, i in zip(plain, order, strict=True)
        )


def reordered(conversation: Conversation, share: float, seed: int) -> Reordered:
    """``conversation`` with a share of its units in each other's place."""
    same: dict[str, Any] = {f.name: getattr(conversation, f.name) for f in fields(Conversation)}
    return Reordered(**same, share=share, seed=seed)
