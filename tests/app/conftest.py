"""What the tests of pages share: one scan for components, and a conversation of twelve units."""

from __future__ import annotations

import functools

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(scope="session", autouse=True)
def one_scan():
    """Every AppTest looks through all installed packages for components, a tenth of a second
    of reading their metadata; what is installed does not change meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        found = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield
