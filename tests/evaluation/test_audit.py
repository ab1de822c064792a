"""The audit of a memory: counts, stale texts, the page."""

import csv
import io
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import segviz
from segviz.conversation import Question
from segviz.embedding import HashingEmbedder
from segviz.evaluation.audit import audit, superseded
from segviz.export.audit import audit_html
from segviz.export.tables import rows_csv
from segviz.memory import system_of
from tests.memories import KINDS, built
from tests.memory.test_stored_texts import FACTS, conversation
from tests.memory.test_stores import Listing

EMBEDDER = HashingEmbedder()
HOSTILE = "<script>alert('x')</script>=1+1"


def stored(*facts):
    return segviz.memory_from(facts, conversation=conversation(), embedder=EMBEDDER, name="mine")


def test_counts_say_what_was_written_of_how_much():
    unsaid = {"id": "c", "text": "The piano went to Clara"}
    found = audit(stored(*FACTS, unsaid))
    assert dict(found.counts) == {
        "texts": 3,
        "attributed": 1,
        "unsure": 0,
        "no source": 0,
        "against time": 0,
        "turns": 4,
        "written": 3,
        "questions": 2,
    }
    assert (found.settings.method, found.settings.policy) == ("propagate", "none")


def test_a_system_is_asked_by_its_own_retrieval():
    mine = segviz.build(conversation(), system_of(Listing, "mine")(), "turn", embedder=EMBEDDER)
    assert audit(mine).settings.method == "native"
    assert audit(built("bm25", sessions=3)).settings.relevance == "lexical"


def test_rows_say_what_was_asked_said_and_kept():
    rows = audit(stored(*FACTS), k=1, relevance="lexical").rows()
    assert [row["stage"] for row in rows][1] == "never written"
    assert rows[1]["said"] == "Bob: I sold the piano to Clara."
    assert (rows[1]["memory"], rows[1]["rank"]) == ("", "")
    read = list(csv.DictReader(io.StringIO(rows_csv(rows))))
    assert [row["stage"] for row in read] == [row["stage"] for row in rows]


def older_and_newer(newer="Ann owns a blue bicycle in Leiden", **ended):
    old = {"id": "o", "text": "Ann owns a red bicycle in Utrecht", "turns": "D1:1", **ended}
    return stored(old, {"id": "n", "text": newer, "turns": "D2:1"})


def test_a_text_is_listed_beside_a_later_one_about_the_same_thing():
    (found,) = superseded(older_and_newer("Ann owns a red bicycle in Leiden"))
    assert (found.text, found.newer) == (
        "Ann owns a red bicycle in Utrecht",
        "Ann owns a red bicycle in Leiden",
    )
    assert (found.turns, found.newer_turns, found.ended) == (("D1:1",), ("D2:1",), "")
    assert found.likeness >= 0.7


def test_what_is_about_something_else_or_of_one_session_is_not():
    assert superseded(older_and_newer("Bob bakes bread of rye flour")) == ()
    same = [{"id": i, "text": f"Ann owns {i} red bicycles", "turns": f"D1:{i}"} for i in (1, 2)]
    assert superseded(stored(*same)) == ()


def test_what_the_store_ended_comes_first():
    (found,) = superseded(older_and_newer("Bob bakes", ended="2024-06-01"))
    assert (found.ended, found.newer) == ("2024-06-01", "")


class Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(name in ("src", "href", "onload") for name, _ in attrs)

    def handle_data(self, data):
        self.text += data


def test_the_page_holds_everything_needs_nothing_and_escapes_text():
    asked = (Question(0, HOSTILE, None, HOSTILE, ("D2:2",)),)
    whole = replace(conversation(), questions=asked)
    facts = (*FACTS, {"id": "h", "text": HOSTILE, "turns": "D1:1", "ended": "2024"})
    memory = segviz.memory_from(facts, conversation=whole, embedder=EMBEDDER)
    page = audit_html(audit(memory))
    read = Page(page)
    assert "script" not in read.tags
    assert read.text.count(HOSTILE) >= 3
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert {"table", "svg", "rect"} <= {*read.tags}
    assert page == audit_html(audit(memory))


def test_without_questions_there_are_counts_and_no_stage():
    whole = replace(conversation(), questions=())
    found = audit(segviz.memory_from(FACTS, conversation=whole, embedder=EMBEDDER))
    assert found.stages == ()
    assert "None." in audit_html(found)


@pytest.mark.parametrize("system", KINDS)
def test_a_system_of_every_kind_is_audited(system):
    found = audit(built(system, sessions=3))
    assert len(found.stages) == sum(
        len(question.evidence) for question in found.memory.conversation.questions
    )
    assert found.stale == ()
