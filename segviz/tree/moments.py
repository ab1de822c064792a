"""Gives the structure at any step of a long history without replaying all of it.

Readers mostly go one step on, or some steps back. So the fold of the last answer goes on from
where it stands, and for the way back checkpoints are kept: copies of its columns (texts and
vectors are shared by all of them).
"""

from __future__ import annotations

from collections.abc import Sequence

from segviz.tree.columns import History, replay
from segviz.tree.events import Step
from segviz.tree.fold import Fold
from segviz.tree.structure import Structure

_CACHED = 4
_CHECKPOINTS = 8
_MIN_SPACING = 1_000


class Moments:
    """The structures after any number of ``steps``.

    Holds up to eight checkpoints (about 10 MB each at 100,000 leaves) and the last four structures.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        """Nothing is replayed yet."""
        self._steps = steps
        self._spacing = max(_MIN_SPACING, -(-len(steps) // _CHECKPOINTS))
        self._checkpoints: dict[int, Fold] = {0: Fold()}
        self._cursor: list[tuple[int, Fold]] = []
        self._recent: dict[int, Structure] = {}

    def at(self, step: int) -> Structure:
        """As ``replay(steps[:step])``, and with its errors."""
        # A page asks for the same few moments on every run.
        if step not in self._recent:
            self._recent[step] = self._fold_to(step)
            while len(self._recent) > _CACHED:
                del self._recent[next(iter(self._recent))]
        return self._recent[step]

    def _fold_to(self, step: int) -> Structure:
        if isinstance(self._steps, History):
            return replay(self._steps[:step])
        passed = list(self._checkpoints)
        checkpoint = max(place for place in passed if place <= step)
        # Popped while it is advanced: after an error, or from another thread, nobody finds a
        # fold between two steps. It serves if it lies between the checkpoint and `step`.
        here, fold = self._cursor.pop() if self._cursor else (checkpoint, None)
        if fold is None or not checkpoint <= here <= step:
            here, fold = checkpoint, self._checkpoints[checkpoint].copy()
        for number in range(here, step):
            fold.take(number, self._steps[number])
            if (number + 1) % self._spacing == 0 and number + 1 not in self._checkpoints:
                self._checkpoints[number + 1] = fold.copy()
        structure = fold.freeze()
        self._cursor = [(step, fold)]
        return structure
