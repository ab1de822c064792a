from __future__ import annotations

import pytest

import segviz
from segviz.embed import HashingEmbedder
from segviz.pipeline import Memory
from tests.trees import small_chat


@pytest.fixture(scope="session")
def memory() -> Memory:
    """A small memory that needs no model: hashing embedder, cosine compatibility."""
    return segviz.build(
        small_chat(), unit="turn", embedder=HashingEmbedder(), compatibility="cosine"
    )
