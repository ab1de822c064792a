"""Layer 1: the everyday language that similarity should not count.

Static embeddings of chat share a large common part (greetings, first person, question
marks), which keeps every cosine high. Subtracting the mean of *other* everyday text
removes it. The lines were written for this purpose and never come from a conversation
under study, so results stay prefix-stable and comparable between conversations.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from segviz.tree import Vector

if TYPE_CHECKING:
    from segviz.embedding.protocols import Embedder


@cache
def background_lines() -> tuple[str, ...]:
    """Returns the packaged messages, one per line of ``segviz/embedding/background.txt``."""
    text = (
        resources.files("segviz.embedding").joinpath("background.txt").read_text(encoding="utf-8")
    )
    return tuple(line for line in text.split("\n") if line)


def background_mean(embedder: Embedder) -> Vector:
    """Mean vector (d,) float32 of the background lines under this embedder.

    Cheap when the embedder caches by content; the lines are embedded once per model.
    """
    mean = embedder.embed(background_lines()).mean(axis=0, dtype=np.float64)
    return np.asarray(mean, dtype=np.float32)
