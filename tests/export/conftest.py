import os

import pytest

from segviz.export.browser import VARIABLE, BrowserError, find_browser
from tests.export.views import build, hostile_chat


@pytest.fixture(scope="session")
def hostile():
    """A memory whose every text, speaker and question is hostile."""
    return build(hostile_chat())


@pytest.fixture
def drawer(monkeypatch):
    """The browser that draws pictures; SEGVIZ_CHROMIUM names another, as for ``chromium``."""
    if chosen := os.environ.get("SEGVIZ_CHROMIUM"):
        monkeypatch.setenv(VARIABLE, chosen)
    try:
        return find_browser()
    except BrowserError as error:
        if os.environ.get("SEGVIZ_REQUIRE_BROWSER"):
            pytest.fail(str(error))
        pytest.skip(str(error))
