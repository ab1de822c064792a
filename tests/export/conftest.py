from __future__ import annotations

import pytest

from tests.export.views import build, hostile_chat


@pytest.fixture(scope="session")
def hostile():
    """A memory whose every text, speaker and question is hostile."""
    return build(hostile_chat())
