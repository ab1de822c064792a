"""Session files and links of version 0.1.0, saved before the packages moved, open the same view.

``tests/fixtures/before_move`` holds what that version wrote and retrieved (bundled samples
only): ``expected.json`` for session files, ``links.json`` for links. Entries with ``removed``
used what is gone on purpose; their ``rest`` is what the old version made of them without it.
A link that names no way to score opens with today's opening.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import segviz
from segviz import store
from segviz.tree.inspect import digest
from segviz.view.bookmark import MADE, Bookmark, decode, opening_settings

HERE = Path(__file__).parent.parent / "fixtures" / "before_move"
FILES: dict[str, Any] = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
LINKS: dict[str, Any] = {
    entry["name"]: entry for entry in json.loads((HERE / "links.json").read_text(encoding="utf-8"))
}


def seen(bookmark: Bookmark) -> dict[str, Any]:
    """A bookmark by the names of a link, as the fixtures hold it."""
    retrieval = bookmark.retrieval
    found = {
        **{name: getattr(bookmark, name) for name in ("question", "text", "node", "step")},
        **{name: getattr(bookmark, name) for name in ("view", "colour", "labels", "pins")},
        **{name: getattr(retrieval, name) for name in ("policy", "alpha", "horizon", "k")},
        **{name: getattr(retrieval, name) for name in ("budget", "levels")},
        "relevance": retrieval.relevance or "hybrid",
        "distinct": not retrieval.literal,
        "asked": retrieval.step,
    }
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in found.items()
        if value not in (None, "") and not (name == "pins" and value == ())
    }


def same_view(bookmark: Bookmark, expected: dict[str, Any]) -> None:
    wanted = {name: expected[name] for name in expected if name in seen(bookmark)}
    assert seen(bookmark) == wanted
    left_out = set(expected) - set(wanted) - {*MADE, "settings", "method"}
    assert not left_out
    if "method" in expected:  # "own" is the older name of "native"
        assert bookmark.retrieval.method == expected["method"].replace("own", "native")


@pytest.mark.parametrize("name", FILES)
def test_a_session_file_opens_the_same_view(name):
    expected, path = FILES[name], HERE / f"{name}.json.gz"
    memory, saved = segviz.open(path), store.read(path)
    assert memory.check() == []
    assert digest(memory.structure) == expected["memory"]["digest"]
    shown = saved.shown
    assert (shown and shown.page, shown and shown.link) == (expected["page"], expected["link"])
    bookmark, problems = decode((shown.link if shown else {}) | {"system": saved.system})
    if "removed" in expected:
        assert [problem.partition("=")[0] for problem in problems] == expected["removed"]
        expected = expected["rest"]
    else:
        assert problems == []
    same_view(bookmark, expected["view"])
    if "at_step" in expected:
        moment = memory.at(bookmark.step or len(memory.steps))
        assert digest(moment) == expected["at_step"]["digest"]


def test_a_memory_that_was_changed_after_its_build_is_kept_as_it_is(tmp_path):
    memory = segviz.open(HERE / "operated-segment-tree.json.gz")
    memory.save(tmp_path / "again.json")
    again = segviz.open(tmp_path / "again.json")
    for opened in (memory, again):
        done = [step.operation for step in opened.steps if step.operation]
        assert done == ["compress", "link_recurrences"]
        assert opened.system == "segment-tree"
        assert digest(opened.structure) == FILES["operated-segment-tree"]["memory"]["digest"]


@pytest.mark.parametrize("name", LINKS)
def test_a_link_opens_the_same_view(name):
    expected = LINKS[name]
    link = {key: value.replace("{here}", str(HERE)) for key, value in expected["link"].items()}
    bookmark, problems = decode(link)
    if expected.get("removed"):
        gone = expected["removed_parameters"]
        assert [problem.partition("=")[0] for problem in problems] == gone
        expected = expected["rest"]
    elif "annotate.diversity" in link:  # node texts are chosen otherwise now
        assert [problem.partition("=")[0] for problem in problems] == ["annotate.diversity"]
    elif name == "xmemory-propagate":  # the values of restructure are the paper's rows now
        assert [problem.partition("=")[0] for problem in problems] == ["restructure"]
    else:
        assert problems == expected["problems"] == []
    view = dict(expected["view"])
    if not {"policy", "alpha", "horizon", "relevance", "method"}.intersection(link):
        view |= {name: getattr(bookmark.retrieval, name) for name in ("policy", "alpha", "horizon")}
        view |= {"relevance": bookmark.retrieval.relevance or "hybrid"}
        assert bookmark.retrieval.scored_as(opening_settings(bookmark.system)) == bookmark.retrieval
    same_view(replace(bookmark, path=None), view)
