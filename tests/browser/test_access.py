"""axe-core finds nothing serious on any page, in light and dark."""

import pytest
from axe_playwright_python.sync_playwright import Axe

PAGES = ("", "ask?node=47", "sweep", "compare", "guide", "?view=Outline")


INKS = """() => [...document.querySelectorAll(".stPlotlyChart .xtick text")]
  .map((text) => getComputedStyle(text).fill)"""
# Popovers are drawn in the body, outside the app.
THEME = "() => getComputedStyle(document.body).colorScheme"
TURNED = """() =>
  getComputedStyle(document.querySelector('[data-testid="stApp"]')).colorScheme === "light" """


@pytest.mark.parametrize("path", PAGES)
def test_no_serious_violation(app, path):
    """Neither as it is opened, dark, nor once it has turned light."""
    app.page.emulate_media(color_scheme="dark")
    app.open(path)
    assert violations(app) == []
    assert app.page.evaluate(THEME) == "dark"
    dark = set(app.page.evaluate(INKS))
    app.page.emulate_media(color_scheme="light")
    app.page.wait_for_function(TURNED)
    app.settle()
    assert app.page.evaluate(THEME) == "light"
    assert violations(app) == []
    # What Python has coloured turns, too.
    light = set(app.page.evaluate(INKS))
    assert bool(light) == bool(dark)
    assert not light & dark


def violations(app):
    """What axe-core calls serious or critical."""
    return [
        (violation["id"], node["target"], node.get("failureSummary", "")[:200])
        for violation in Axe().run(app.page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
