"""Very long texts in a list: a part is there at first, the whole comes when asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.frontend.test_lists import mount, page, show, turn, turns

pytestmark = pytest.mark.browser

__all__ = ["page"]  # the fixture

WHOLE = "word " * 10_000
PART = {"text": WHOLE[:20_000], "length": len(WHOLE), "name": "the long one", "cut": True}
ALL = {"text": WHOLE, "length": len(WHOLE), "name": "the long one"}


def in_nodes(text: dict[str, Any]) -> dict[str, Any]:
    group = {"title": "", "items": [{"head": "", **text}]}
    return {"groups": [group], "height": 300, "label": "texts", "about": "1"}


def in_transcript(text: dict[str, Any]) -> dict[str, Any]:
    return turns(turn(**text), height=300)


@pytest.mark.parametrize(
    ("component", "data", "words"),
    [
        ("nodes", in_nodes, ".body"),
        ("transcript", in_transcript, ".body"),
    ],
    ids=["nodes", "transcript"],
)
def test_the_rest_is_asked_for_by_name(page: Any, component: Any, data: Any, words: str) -> None:
    mount(page, component, data(PART))
    text, more = page.locator(words), page.locator(".more")
    assert len(text.text_content()) < 2_500
    more.click()
    assert page.evaluate("sent") == [["whole", "the long one"]]
    assert more.inner_text() == "show less"
    assert "…" in text.text_content()
    show(page, data(ALL))
    assert more.inner_text() == "show less"
    assert WHOLE.strip() in text.text_content()
    more.click()
    assert page.evaluate("sent")[1:] == [["whole", ""]]
    assert len(text.text_content()) < 2_500
