"""What tests of one format read with: through the front door, as bytes."""

import json

import pytest

from segviz.conversation import Conversation, Corpus
from segviz.loaders import LoadError, parse


def read(document: object, name: str = "file.json", **options: object) -> Corpus:
    """Bytes and a text as they are, any other value written as JSON."""
    if not isinstance(document, bytes):
        text = document if isinstance(document, str) else json.dumps(document)
        document = text.encode()
    return parse(document, name, **options)  # type: ignore[arg-type]


def only(document: object, **options: object) -> Conversation:
    """The one conversation of a document."""
    (conversation,) = read(document, **options)  # type: ignore[arg-type]
    return conversation


def said(document: object, **options: object) -> list[tuple[str, str]]:
    """Speaker and text of every turn of the one conversation."""
    return [(turn.speaker, turn.text) for turn in only(document, **options).turns]


def findings(document: object) -> list[tuple[str, str]]:
    """Kind and place of every finding, sorted."""
    return sorted((f.kind, f.where) for f in read(document).report.findings)


def failure(document: object, **options: object) -> LoadError:
    """The error, which is fit to show: one line, no traceback, not too long."""
    with pytest.raises(LoadError) as caught:
        read(document, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert len(message) < 800
    return caught.value
