"""Views for the export tests: a plain one, hostile ones, and structures made by hand."""

from dataclasses import fields

import numpy as np

import segviz
from segviz.conversation import Conversation
from segviz.embedding import HashingEmbedder
from segviz.export import View
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings
from segviz.tree import Add, Event, Link, Relate, Retire, Step, Structure, Unlink, replay
from segviz.view.bookmark import Bookmark
from tests.trees import chat, grown, unit

HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    "]]><x/>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<svg onload=document.title='owned'>",
    "</title></style></textarea></template><iframe src='javascript:top.document.title=1'>",
    "'\"`${document.title='owned'}` --> \\u003c/script\\u003e &lt;b&gt; &#60;b&#62;",
    "line\u2028separator\u2029and \u202eright to left\u2066 isolates\ufeff",
    "nul\x00 bell\x07 escape\x1b[31m vertical\x0b del\x7f \ufffe\uffff",
    '=HYPERLINK("http://example.invalid","x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1+1",
    " \u00a0=1+1",
    "＝1+1",
    "a,b;c\td\n=1+1\r\n'quoted' \"double\"",
    "(tree:1,[&comment])'; drop;",
    "émoji 👩‍👩‍👧 日本語 עברית",
)
"""Texts that would do harm, or break a file, if they were not taken literally."""


def hostile_chat() -> Conversation:
    return chat([[("<b>Eve</b>", text) for text in HOSTILE[i::2]] for i in (0, 1)])


def grow_view(memory: Memory, **link) -> View:
    bookmark = Bookmark(**link)
    moment = bookmark.step or len(memory.steps)
    return View(memory, memory.at(moment), bookmark)


def ask_view(memory: Memory, question: str, **settings) -> View:
    """What Ask shows of a question of one's own."""
    names = {field.name for field in fields(RetrievalSettings)}
    asked = RetrievalSettings(**{name: settings.pop(name) for name in names & set(settings)})
    result = memory.ask(question, asked)
    bookmark = Bookmark(text=question, retrieval=asked, **settings)
    return View(memory, result.structure, bookmark, result)


def build(conversation: Conversation) -> Memory:
    return segviz.build(
        conversation, unit="turn", embedder=HashingEmbedder(), compatibility="cosine"
    )


def holding(memory: Memory, structure: Structure) -> View:
    """A structure made by hand, shown as if it were the memory's."""
    return View(memory, structure, Bookmark())


def nothing() -> View:
    """A memory that has heard nothing."""
    empty = chat([])
    memory = Memory(empty, "turn", "segment-tree", (), {}, HashingEmbedder(), ())
    return View(memory, memory.structure, Bookmark())


def forest() -> Structure:
    """Two trees and a lone leaf."""
    nodes = [*((0, i, i + 1) for i in range(5)), (1, 0, 2), (1, 2, 4)]
    return grown(nodes, [(5, 0), (5, 1), (6, 2), (6, 3)])


def dag() -> Structure:
    """Leaf 1 belongs to both parents; facts, kinds, relations, and a retired node."""
    zero = np.zeros(2, dtype=np.float32)
    events: list[Event] = [
        Add(0, 0, (0, 1), HOSTILE[0], zero, "entity", {"mentions": 3, "sure": True}),
        Add(1, 0, (1, 2), "two parents", zero),
        Add(
            2, 0, (2, 3), HOSTILE[6], zero, "event", {"note": HOSTILE[3], "score": -0.5, "no": None}
        ),
        Add(3, 1, (0, 2), "first", zero),
        Add(4, 1, (1, 3), "second", zero),
        Add(5, 1, (0, 1), "gone", zero),
        Link(4, 2),
        Link(3, 0),
        Link(5, 0),
        Link(3, 1),
        Link(4, 1),
        Unlink(5, 0),
        Retire(5),
        Relate(0, 2, "knows", 0.25),
        Relate(0, 2, "met <b>", 2.0),
        Relate(2, 0, "knows", -1.0),
    ]
    return replay([Step(unit(0), "", None, tuple(events))])
