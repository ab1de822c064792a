"""Draws a structure as a small picture for notebooks."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from segviz.tree.structure import Structure

_WIDTH, _ROW = 640, 14  # pixels
_MOST = 2_000  # boxes drawn; narrower ones are left out


def thumbnail(structure: Structure, marked: Collection[int] = ()) -> str:
    """Returns an icicle as inline SVG: units from left to right, levels upwards, ``marked`` filled.

    Spans may overlap if the structure does not follow time. At most 2,000 nodes, marked first.
    """
    nodes = structure.nodes[structure.active[structure.nodes]]
    width = (structure.stop - structure.start)[nodes]
    first = np.isin(nodes, list(marked))
    nodes = nodes[np.lexsort((nodes, -width, ~first))][:_MOST]
    units = max(int(structure.stop[nodes].max(initial=0)), 1)
    highest = int(structure.level[nodes].max(initial=0))
    boxes = []
    for node in nodes[np.argsort(np.isin(nodes, list(marked)), kind="stable")].tolist():
        left, right = (
            _WIDTH * int(end) / units for end in (structure.start[node], structure.stop[node])
        )
        top = (highest - int(structure.level[node])) * _ROW
        fill = "#a83209" if node in marked else "none"
        boxes.append(
            f'<rect x="{left:.1f}" y="{top}" width="{max(right - left - 0.5, 0.5):.1f}" '
            f'height="{_ROW - 1}" fill="{fill}" stroke="#868e96" stroke-width=".5"/>'
        )
    height = (highest + 1) * _ROW
    return (
        f'<svg role="img" aria-label="{len(nodes)} nodes on {highest + 1} levels" '
        f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}">'
        + "".join(boxes)
        + "</svg>"
    )
