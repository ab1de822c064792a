"""MemoryAgentBench: rows made here after the documented shape."""

from datetime import datetime

import pytest

from tests.loaders.reading import failure, only, read

FIRST = [{"role": "user", "content": 'it\'s "me"'}, {"role": "assistant", "content": "hello"}]
SECOND = [{"role": "user", "content": "again"}, {"role": "assistant", "content": "hello"}]
FLAT = ["Chat Time: 2022/11/17 (Thu) 12:04", FIRST, "Chat Time: 2022/11/16 (Wed) 12:04", SECOND]


def row(context: object = None, **extra: object) -> dict[str, object]:
    """A row whose second question's answer stands twice in the context; ``samples`` has another."""

    def haystack(role: str, content: str) -> object:
        return [
            [
                {"role": role, "content": content, "has_answer": True},
                {"role": "user", "content": "again"},
            ]
        ]

    return {
        "context": repr(FLAT) if context is None else context,
        "questions": ["who?", "what?", "when?"],
        "answers": [["me", "I"], ["hello"]],
        "metadata": {
            "haystack_sessions": [haystack("user", ' it\'s "me"'), haystack("assistant", "hello")]
        },
        **extra,
    }


@pytest.mark.parametrize("context", [repr(FLAT), FLAT, repr([FLAT[:2], FLAT[2:]])])
def test_contexts_of_every_nesting(context: object) -> None:
    conversation = only(row(context))
    assert [(s.start, s.raw_date) for s in conversation.sessions] == [
        (datetime(2022, 11, 17, 12, 4), "2022/11/17 (Thu) 12:04"),
        (datetime(2022, 11, 16, 12, 4), "2022/11/16 (Wed) 12:04"),
    ]
    assert [t.text for t in conversation.turns] == ['it\'s "me"', "hello", "again", "hello"]


def test_a_context_alone_is_read_and_a_row_that_is_a_document_is_left_out() -> None:
    conversation = only(repr(FLAT))
    assert len(conversation.turns) == 4
    assert conversation.questions == ()
    corpus = read([row("A long document."), row()], "rows.json")
    assert corpus.ids == ("rows 2",)
    assert corpus.report.skipped[0].where == "[0].context"


@pytest.mark.parametrize(
    "context",
    [
        "['Chat Time: x', [{",
        "[__import__('os')]",
        "[" * 5000,
        "['a', {1, 2}]",
        "['\\ud800', b'x']",
        "[]",
        5,
    ],
)
def test_contexts_that_are_no_lists_are_refused(context: object) -> None:
    assert "it has no messages" in failure(row(context)).what
