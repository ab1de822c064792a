"""Scenes by hand: the parts of a scene, its growth and its scores as plain keywords."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from segviz.frontend.outline import outline_payload
from segviz.frontend.payload import tree_payload
from segviz.tree import Structure
from segviz.view.scene import Growth, Scene, Scored

GROWTH = [field.name for field in fields(Growth)]
SCORED = [field.name for field in fields(Scored)]
CANVAS = ("gutter", "legend", "stage")
OUTLINE = ("kinds", "kind", "ranks", "wanted", "height")


def scene(structure: Structure, **given: Any) -> Scene:
    """A scene of ``structure``; the frontier is its own unless given, nodes without a score
    have 0."""
    grown = {name: given.pop(name) for name in GROWTH if name in given}
    scored = {name: given.pop(name) for name in SCORED if name in given}
    if scored:
        blank = np.zeros(len(structure))
        first = np.asarray(scored.get("initial", blank), dtype=np.float64)
        scored |= {"initial": first, "final": np.asarray(scored.get("final", first), np.float64)}
        return Scene(structure=structure, scored=Scored(**scored), growth=Growth(**grown), **given)
    grown.setdefault("frontier", structure.frontier)
    return Scene(structure=structure, growth=Growth(**grown), **given)


def leaves(*texts: str, active: Sequence[bool] = ()) -> Structure:
    """A structure of one leaf for each text."""
    n, units = len(texts), np.arange(len(texts), dtype=np.int32)
    return Structure(
        level=np.zeros(n, np.int32),
        start=units,
        stop=units + 1,
        text=texts,
        vector=np.zeros((n, 0), np.float32),
        active=np.array(active or [True] * n, np.bool_),
        edges=np.zeros((0, 2), np.int32),
    )


def tree_message(structure: Structure, **given: Any) -> dict[str, Any]:
    """The canvas's payload of such a scene."""
    shown = {name: given.pop(name) for name in CANVAS if name in given}
    return tree_payload(scene(structure, **given), **shown)


def outline_message(structure: Structure, **given: Any) -> dict[str, Any]:
    """The outline's payload of such a scene."""
    shown = {name: given.pop(name) for name in OUTLINE if name in given}
    return outline_payload(scene(structure, **given), **shown)
