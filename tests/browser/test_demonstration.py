"""The links of ``.github/DEMONSTRATION.md`` open what its script says."""

import re

import pytest

from tests.data import ROOT

pytestmark = pytest.mark.browser

SCRIPT = (ROOT / ".github" / "DEMONSTRATION.md").read_text("utf-8")
ROWS = [
    (link, re.findall(r"\*\*(.+?)\*\*", said))
    for link, said in re.findall(r"^\| [\d–]+ \| `/(.*)` \| (.*) \|$", SCRIPT, re.M)
]


def test_the_script_has_five_links_and_ends_after_two_minutes():
    times = [tuple(map(int, each)) for each in re.findall(r"^\| (\d+)–(\d+) ", SCRIPT, re.M)]
    assert len(ROWS) == len(times) == 5
    assert [0, *(stop for _, stop in times)] == [*(start for start, _ in times), 120]


@pytest.mark.parametrize(("link", "phrases"), ROWS, ids=[link for link, _ in ROWS])
def test_a_link_of_the_demonstration_shows_what_is_said(app, link, phrases):
    app.open(link)
    assert phrases
    for phrase in phrases:
        app.page.get_by_text(phrase).locator("visible=true").first.wait_for(timeout=20_000)


def test_without_propagation_no_text_states_all_dates(app):
    app.open(ROWS[1][0].replace("policy=bottom-up", "policy=none"))
    assert "Gains all 3 gold turns" not in app.tree("ask-tree").inner_text()
