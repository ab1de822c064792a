"""What tests of one format read with: through the front door, as bytes."""

from __future__ import annotations

import json

import pytest

from segviz.conversation import Conversation, Corpus
from segviz.loaders import LoadError, parse


def read(document: object, name: str = "file.json") -> Corpus:
    """A text as it is, any other value written as JSON."""
    text = document if isinstance(document, str) else json.dumps(document)
    return parse(text.encode(), name)


def only(document: object, name: str = "file.json") -> Conversation:
    """The one conversation of a document."""
    (conversation,) = read(document, name)
    return conversation


def findings(document: object) -> list[tuple[str, str]]:
    """Kind and place of every finding, sorted."""
    return sorted((f.kind, f.where) for f in read(document).report.findings)


def failure(document: object) -> LoadError:
    """The error that reading ``document`` raises."""
    with pytest.raises(LoadError) as caught:
        read(document)
    return caught.value
