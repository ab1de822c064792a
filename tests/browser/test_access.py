"""axe-core finds nothing serious on any page, in light and dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

PAGES = ("", "ask", "sweep", "compare", "guide", "?view=Outline", "ask?view=Outline&question=3")
GROUND = (
    """() => getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor"""
)


@pytest.mark.parametrize("path", PAGES)
def test_no_serious_violation(app, path):
    app.open(path)
    for key in ("run-sweep", "build-compared"):  # pages that wait for a click
        button = app.page.locator(f".st-key-{key} button")
        if button.count():
            button.first.click()
            app.settle()
    grounds = set()
    for scheme in ("light", "dark"):
        app.page.emulate_media(color_scheme=scheme)
        app.settle()
        grounds.add(app.page.evaluate(GROUND))
        found = [
            (scheme, violation["id"], node["target"], node.get("failureSummary", "")[:200])
            for violation in Axe().run(app.page).response["violations"]
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        ]
        assert found == []
    assert len(grounds) == 2  # the page did change its colours
