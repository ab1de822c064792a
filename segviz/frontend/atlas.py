"""Builds the message of the question atlas: a dot for each question, and its ranks by node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from segviz.evaluation.rank_changes import RankChange
from segviz.text.captions import one_line, shorten
from segviz.tree import Structure

_QUESTION, _NAME = 300, 70
"""Most characters of a question, and of the name of a node."""

READ_BEFORE, READ_AFTER, NARROW = 1, 2, 4
"""Flags of a node: it is read before, it is read after, it has its gold turns itself."""


def node_names(structure: Structure, labels: Sequence[str]) -> list[str]:
    """Returns the label of each inner node, and the beginning of the text of all others."""
    return [
        shorten(label if label and level else one_line(text), _NAME)
        for label, level, text in zip(labels, structure.level, structure.text, strict=True)
    ]


def atlas_payload(
    dots: Sequence[tuple[int, str, int, int]],
    changes: Sequence[Sequence[RankChange]],
    names: tuple[Sequence[str], Sequence[str]],
    levels: tuple[Sequence[str], Sequence[str]],
) -> dict[str, Any]:
    """Returns the dots, and for each the ranks of its nodes before and after.

    Args:
        dots: for each dot the place and text of its question, the number of its group, and the
            number of its gold turns.
        changes: the rank changes of all questions; a place is an index.
        names: the name of each node before and after.
        levels: the name of its level before and after.

    Returns:
        ``names`` and ``levels`` of all nodes that occur, and ``dots``. The ``rows`` of a dot have a
        list for each node: index of its name, rank before, rank after (0 for none), sum of flags,
        gold turns, those that it only answers, and both as they are read before and after, if a
        token budget cuts the text.
    """
    place: dict[tuple[bool, int], int] = {}  # of the names in use, by (is new, node)
    used: list[tuple[str, str]] = []

    def name(change: RankChange) -> int:
        """Returns the place of a node's name in ``used``, which gets it at the first time."""
        old, new = change.nodes
        node = (True, new) if old < 0 else (False, old)
        if node not in place:
            place[node] = len(used)
            here = 1 if old < 0 else 0
            used.append((names[here][node[1]], levels[here][node[1]]))
        return place[node]

    def row(change: RankChange) -> list[Any]:
        before, after = change.read
        flags = READ_BEFORE * before + READ_AFTER * after + NARROW * change.narrow
        cut = [change.cut] if any(change.cut) else []
        return [name(change), *change.ranks, flags, change.gold, change.answers, *cut]

    # The rows fill ``used``, so they come first.
    return {
        "dots": [
            {
                "place": question,
                "text": shorten(text, _QUESTION),
                "group": group,
                "asked": asked,
                "rows": [row(change) for change in changes[question]],
            }
            for question, text, group, asked in dots
        ],
        "names": [name for name, _ in used],
        "levels": [level for _, level in used],
    }
