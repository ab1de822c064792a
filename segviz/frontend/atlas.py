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
) -> dict[str, Any]:
    """Returns the dots, and for each the ranks of its nodes before and after.

    Args:
        dots: for each dot the place and text of its question, the number of its group, and the
            number of its gold turns.
        changes: the rank changes of all questions; a place is an index.
        names: the name of each node before and after.

    Returns:
        ``names`` of all nodes that occur, and ``dots``. The ``rows`` of a dot have a list for each
        node: index of its name, rank before, rank after (0 for none), sum of flags, gold turns.
    """
    known: dict[tuple[bool, int], int] = {}
    said: list[str] = []

    def name(change: RankChange) -> int:
        old, new = change.nodes
        node = (old < 0, new if old < 0 else old)
        if node not in known:
            known[node] = len(said)
            said.append(names[node[0]][node[1]])
        return known[node]

    def row(change: RankChange) -> list[Any]:
        before, after = change.read
        flags = READ_BEFORE * before + READ_AFTER * after + NARROW * change.narrow
        return [name(change), *change.ranks, flags, change.gold]

    return {
        "dots": [
            {
                "place": place,
                "text": shorten(text, _QUESTION),
                "group": group,
                "asked": asked,
                "rows": [row(change) for change in changes[place]],
            }
            for place, text, group, asked in dots
        ],
        "names": said,
    }
