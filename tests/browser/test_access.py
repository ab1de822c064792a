"""axe-core finds nothing serious on any page, in light and dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

PAGES = ("", "ask", "sweep", "compare", "guide", "?view=Outline", "ask?view=Outline&question=3")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_no_serious_violation(app, path, scheme):
    app.page.emulate_media(color_scheme=scheme)
    app.open(path)
    for key in ("run-sweep", "build-compared"):  # pages that wait for a click
        button = app.page.locator(f".st-key-{key} button")
        if button.count():
            button.first.click()
            app.settle()
    found = [
        (violation["id"], node["target"], node.get("failureSummary", "")[:200])
        for violation in Axe().run(app.page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
    assert found == []
