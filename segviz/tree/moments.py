"""Any moment of a long history without replaying all of it.

Looking at one moment after another, a reader mostly goes a step on, or back by some. So the
fold is kept where it is and goes on from there; for the way back it leaves a few marks,
copies of its columns (not of texts and vectors, which all moments share).
"""

from __future__ import annotations

from collections.abc import Sequence

from segviz.tree.events import Step
from segviz.tree.fold import Fold
from segviz.tree.structure import Structure

_KEPT = 4
_MARKS = 8
_LEAST = 1_000


class Moments:
    """The structures after any number of ``steps``.

    Takes the memory of eight copies of the columns (about 10 MB each at 100,000 leaves)
    and of the four structures looked at last.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        """Nothing is replayed yet."""
        self._steps = steps
        self._apart = max(_LEAST, -(-len(steps) // _MARKS))
        self._marks: dict[int, Fold] = {0: Fold()}
        self._ahead: list[tuple[int, Fold]] = []
        self._recent: dict[int, Structure] = {}

    def at(self, step: int) -> Structure:
        """As ``replay(steps[:step])``, and with its errors."""
        # A page looks at the same few moments again and again.
        if step not in self._recent:
            self._recent[step] = self._folded(step)
            while len(self._recent) > _KEPT:
                del self._recent[next(iter(self._recent))]
        return self._recent[step]

    def _folded(self, step: int) -> Structure:
        passed = list(self._marks)
        mark = max(place for place in passed if place <= step)
        # Taken out while it is changed: what fails, or another thread, finds no half fold.
        here, fold = self._ahead.pop() if self._ahead else (mark, None)
        if fold is None or not mark <= here <= step:
            here, fold = mark, self._marks[mark].copy()
        for number in range(here, step):
            fold.take(number, self._steps[number])
            if (number + 1) % self._apart == 0 and number + 1 not in self._marks:
                self._marks[number + 1] = fold.copy()
        structure = fold.freeze()
        self._ahead = [(step, fold)]
        return structure
