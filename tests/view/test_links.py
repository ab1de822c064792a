"""Links keep their meaning: ``tests/fixtures/links.json`` has links and the views they open."""

import json
from pathlib import Path
from typing import Any

import pytest

from segviz.view.bookmark import Bookmark, decode

LINKS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "fixtures" / "links.json").read_text(encoding="utf-8")
)


def seen(bookmark: Bookmark) -> dict[str, Any]:
    """A bookmark by the names of a link, as the fixture holds it."""
    retrieval = bookmark.retrieval
    view = {
        **{name: getattr(bookmark, name) for name in ("question", "text", "node", "step")},
        **{name: getattr(bookmark, name) for name in ("view", "colour", "labels", "pins")},
        **{name: getattr(retrieval, name) for name in ("policy", "alpha", "horizon", "k")},
        **{name: getattr(retrieval, name) for name in ("budget", "levels", "method")},
        "relevance": retrieval.relevance or "hybrid",
        "distinct": not retrieval.literal,
        "asked": retrieval.step,
    }
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in view.items()
        if value not in (None, "") and not (name == "pins" and value == ())
    }


@pytest.mark.parametrize("name", LINKS)
def test_a_link_opens_the_same_view(name):
    bookmark, problems = decode(LINKS[name]["link"])
    assert (seen(bookmark), problems) == (LINKS[name]["view"], [])
