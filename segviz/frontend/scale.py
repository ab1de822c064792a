"""Which scale colours of scores are on."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

PEAKED: Final = 0.1


def needs_root(initial: NDArray[np.float64], active: NDArray[np.bool_]) -> bool:
    """Whether scores are to be coloured by the square root of their share of the highest.

    Where a few nodes hold nearly everything, as with hybrid relevance, all others would be as
    pale as the page; where all nodes score alike, as with cosines, the root would make them
    all dark. So the root is taken where the median node has less than a tenth of the best.
    Initial scores decide: the scale must not change while a setting is tried.
    """
    scores = initial[active]
    most = float(scores.max(initial=0.0))
    return most > 0 and float(np.median(scores)) < PEAKED * most
