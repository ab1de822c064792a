"""Exchanges the canvas's choice of colours and labels between Python and the browser.

The browser changes both by itself and reports the choice, so that links and the next page
can carry it. A choice that the data of a page cannot show falls back to the page's default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from segviz.view.measures import MEASURES

COLOURS: Final = ("session", "level", "initial", "propagated", "change", "gold", "own", *MEASURES)
"""The values nodes can be coloured by, "own" being the labels of a file; "" is the page's default:
sessions on Grow, each half's score on Ask."""

LABELS: Final = ("marked", "none", "session", "words", "node", "score")
"""The labels nodes can have; "" is the default: the words that tell a node from its siblings, as
"words", where they are known; "marked" has them on retrieved, gold and selected nodes alone."""


@dataclass(frozen=True)
class Look:
    """A choice of colour and label."""

    colour: str = ""
    labels: str = ""


def read_look(sent: object) -> Look | None:
    """The choice a browser sent; None for anything that is not a legal one."""
    if not isinstance(sent, Mapping):
        return None
    colour, labels = sent.get("colour"), sent.get("labels")
    if colour not in ("", *COLOURS) or labels not in ("", *LABELS):
        return None
    return Look(colour, labels)
