"""Measures the texts of inner nodes: the share of contentless lines.

A line is *contentless* if it has fewer than two content words, without the names of the speakers.
Function words, interjections, praise, the "image" or "photo" of a caption and dates that were added
in brackets are not content words (:func:`segviz.construct.tasks.words.content`). Source: ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from segviz.construct.tasks.words import LEAST_CONTENT, content, lines
from segviz.text.dates import undated
from segviz.tree import Structure
from segviz.tree.structure import once_per_structure


def contentless_lines(structure: Structure, speakers: Sequence[str]) -> dict[int, float]:
    """Returns the share of contentless lines on each level above 0.

    The lines of all nodes of a level are pooled. A chain of nodes with one text counts once, on its
    lowest level. Names of ``speakers`` are no content. Levels ascend, shares are in [0, 1]; a level
    without lines is left out.
    """
    return {
        level: empty / every for level, (empty, every) in line_counts(structure, speakers).items()
    }


def contentless_share(structure: Structure, speakers: Sequence[str]) -> float | None:
    """Returns the share of contentless lines over all levels above 0; None without such lines."""
    counts = line_counts(structure, speakers).values()
    empty, every = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    return empty / every if every else None


@once_per_structure(tuple)
def line_counts(structure: Structure, speakers: Sequence[str]) -> dict[int, tuple[int, int]]:
    """Returns the numbers of contentless lines and of all lines on each level above 0.

    O(n) for n nodes the first time, then cached with the structure.
    """
    shown, silent = structure.collapsed, content(" ".join(speakers))
    counts: dict[int, tuple[int, int]] = {}
    inner = np.flatnonzero(shown.active & (shown.level > 0))
    for node in inner[np.argsort(shown.level[inner], kind="stable")].tolist():
        contents = [content(words) - silent for _, words in lines(undated(shown.text[node]))]
        level = int(shown.level[node])
        empty, every = counts.get(level, (0, 0))
        empty += sum(len(words) < LEAST_CONTENT for words in contents)
        if contents:
            counts[level] = empty, every + len(contents)
    return counts
