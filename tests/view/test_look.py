"""The choice of colour and label on its way back from the browser."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from segviz.view import bookmark
from segviz.view.look import COLOURS, LABELS, Look, read_look


@pytest.mark.parametrize("colour", ["", *COLOURS])
@pytest.mark.parametrize("labels", ["", *LABELS])
def test_every_choice_comes_back(colour: str, labels: str) -> None:
    look = Look(colour, labels)
    assert read_look(asdict(look)) == look


@pytest.mark.parametrize(
    "sent",
    [
        None,
        "level",
        {},
        {"colour": "level"},
        {"colour": "level", "labels": None},
        {"colour": "<b>", "labels": ""},
        {"colour": "level", "labels": "everything"},
        {"colour": ["level"], "labels": ""},
    ],
)
def test_anything_else_is_no_choice(sent: object) -> None:
    assert read_look(sent) is None


def test_links_know_the_same_choices() -> None:
    assert (bookmark.COLOURS, bookmark.LABELS) == (COLOURS, LABELS)
