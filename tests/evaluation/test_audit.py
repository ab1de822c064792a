"""The audit of a memory: counts, stale texts, the page."""

import csv
import io
import json
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import segviz
from segviz.conversation import Conversation, Question, Session, Turn
from segviz.embedding import HashingEmbedder
from segviz.evaluation import evaluate
from segviz.evaluation.audit import audit, limits_of, superseded
from segviz.evaluation.stages import curve_rows
from segviz.export.audit import audit_html, audit_junit, question_html
from segviz.export.tables import rows_csv
from segviz.handover import HandoverError
from segviz.loaders.runs import RunAnswer, read_run
from segviz.memory import run_memory, system_of
from tests.memories import KINDS, built, sample
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


# --- what to do, and limits -------------------------------------------------------------------


def planted(rank_of, *, asked=20, texts=200, k=10, newest_first=False, **more):
    """The audit of a store of ``texts`` turns; question i needs turn i, ranked ``rank_of(i)``.

    A rank of None is a turn that is not stored. Others are filled up, oldest or newest first.
    """
    turns = tuple(Turn(f"D1:{i}", "A", f"Fact number {i} of all") for i in range(texts))
    questions = tuple(Question(i, f"Question {i}", "", None, (f"D1:{i}",)) for i in range(asked))
    session = Session("session_1", None, "", turns)
    whole = Conversation("planted", ("A",), (session,), questions)

    class Store:
        def add(self, turn):
            pass

        def texts(self):
            gone = {f"D1:{i}" for i in range(asked) if rank_of(i) is None}
            return [{"text": t.text, "turns": [t.id]} for t in turns if t.id not in gone]

        def search(self, question, k):
            mine = question.removeprefix("Question ")
            listed = [row["text"] for row in self.texts()]
            others = [text for text in listed if text != f"Fact number {mine} of all"]
            others = others[::-1] if newest_first else others
            rank = rank_of(int(mine)) if mine.isdigit() else None
            if rank is not None:
                others.insert(rank - 1, f"Fact number {mine} of all")
            return others[:k]

    memory = segviz.build(whole, system_of(Store, "planted")(), "exchange", embedder=EMBEDDER)
    return audit(memory, k=k, **more)


def test_lost_evidence_of_a_systems_own_search_has_the_rank_of_its_long_list():
    found = planted(lambda i: 5 * i + 5)
    assert [one.rank for one in found.stages] == [5 * i + 5 for i in range(20)]
    assert [one.stage == "read" for one in found.stages] == [i < 2 for i in range(20)]
    shares = {row["read"]: row["share"] for row in curve_rows(found.stages)}
    assert [shares[f"{k} texts"] for k in (2, 5, 10, 20, 50, 100)] == [0, 0.05, 0.1, 0.2, 0.5, 1]
    for one in found.stages:
        texts = found.memory.ask(f"Question {one.question}", method="native", k=100).evidence
        assert one.tokens == sum(-(-len(each.text) // 4) for each in texts[: one.rank])
    most = {one.tokens for one in found.stages if one.tokens <= 300}
    assert shares["300 tokens"] == pytest.approx(len(most) / 20)


def test_a_larger_k_is_advised_with_its_gain():
    found = planted(lambda i: 15 if i < 8 else 3)
    (advice,) = (each for each in found.advice if "raise K" in each.text)
    assert "within rank 20: raise K from 10 to 20 and gain 0.40" in advice.text
    assert {found.stages[place].rank for place in advice.places} == {15}


def test_a_search_that_never_returns_written_turns_is_advised():
    found = planted(lambda i: 150 if i < 8 else 3)
    (advice,) = found.advice
    assert advice.text.startswith("8 of 20 gold turns are written and not among the 100 best")
    assert len(advice.places) == 8
    few = planted(lambda i: 60 if i < 8 else 3, texts=40, k=10)
    assert "not among the" not in few.advice[0].text  # it is the last of 40


def test_a_run_of_ten_texts_says_nothing_of_the_texts_below():
    conversation = sample(sessions=6)
    asked = conversation.questions[:5]
    others = [turn.id for turn in conversation.turns if turn.id not in asked[0].evidence][:4]
    records = [{"question": each.text, "retrieved": others} for each in asked]
    answers = read_run(json.dumps(records).encode()).of(conversation)
    memory = run_memory(conversation, answers, name="mine", embedder=EMBEDDER)
    texts = [each.text for each in audit(memory, answers=answers).advice]
    assert any("not among the 4 texts that come back at most" in text for text in texts)


@pytest.mark.parametrize("more", [{}, {"deduplicate": True}])
@pytest.mark.parametrize("budget", [1, 90, 600, 2400])
def test_under_a_budget_an_audit_reads_what_an_evaluation_reads(budget, more):
    memory = built(sessions=6)
    asked = memory.conversation.questions
    found = audit(memory, budget=budget, **more)
    shares = evaluate(memory, asked, found.settings).outcomes.column("in_evidence")
    for question, share in zip(asked, shares, strict=True):
        read = [one.stage == "read" for one in found.stages if one.question == question.index]
        assert sum(read) == pytest.approx(share * len(read))
    assert {one.stage for one in found.stages} <= {"never written", "ranked, not read", "read"}
    for row in curve_rows(found.stages):  # it counts whole texts, so no more
        if row["read"] == f"{budget} tokens":
            assert row["share"] <= sum(one.stage == "read" for one in found.stages) / len(
                found.stages
            )
    texts = [each.text for each in found.advice]
    assert not any(" K " in text for text in texts + found.summary)
    assert (budget < 600) <= any(f"budget of {budget} token" in text for text in texts)


def test_what_no_budget_reads_is_advised():
    found = planted(lambda i: 15 if i < 8 else 3, budget=9)
    assert [one.stage for one in found.stages] == ["written, not ranked"] * 8 + [
        "ranked, not read"
    ] * 12
    ranked, unread = found.advice
    assert unread.text == (
        "8 of 20 gold turns are written and come back under no budget: look at the search."
    )
    assert ranked.text.startswith("12 of 20 gold turns are ranked and not read, because the budget")


def test_extraction_is_advised_where_turns_were_never_written():
    found = planted(lambda i: None if i < 5 else 1)
    advice = found.advice[0]
    assert advice.text.startswith("5 of 20 gold turns were never written: look at extraction.")
    assert "5 of the 5 turns have a date or number" in advice.text
    assert [found.stages[place].turn for place in advice.places] == [f"D1:{i}" for i in range(5)]


@pytest.mark.parametrize("newest_first", [True, False])
def test_recency_is_advised_where_newer_texts_outrank(newest_first):
    found = planted(lambda i: 60, newest_first=newest_first, asked=150, texts=300)
    said = [each.text for each in found.advice if "recency" in each.text]
    assert bool(said) == newest_first
    if said:
        assert "rank behind 59 newer texts in the median" in said[0]


def test_nothing_is_advised_where_nothing_is_lost():
    found = planted(lambda i: 1)
    assert found.advice == ()
    assert "Nothing stands out." in audit_html(found)


def test_limits_are_kept_or_missed_and_written_as_junit():
    found = planted(lambda i: None if i < 5 else 1 if i < 15 else 50)
    wanted = {"recall": 0.5, "never-written": 0.2, "written-not-ranked": 0.25}
    shares = {"recall": (0.5, True), "never-written": (0.25, False)}
    rows = limits_of(found.stages, wanted)
    assert {row["name"]: (row["share"], row["kept"]) for row in rows} == shares | {
        "written-not-ranked": (0.25, True)
    }
    suite = ElementTree.fromstring(audit_junit(found, wanted))
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["never-written"]
    with pytest.raises(ValueError, match="'unread' is no limit; choose from recall, never-written"):
        limits_of(found.stages, {"unread": 0.5})


def test_every_piece_of_advice_opens_its_turns_on_the_page():
    found = planted(lambda i: None if i < 5 else 15)
    page = audit_html(found)
    assert page.count("<details>") - len(found.lost) == len(found.advice) == 2
    behind = page.split("</details>")[0]
    assert behind.count("<tr>") == 1 + len(found.advice[0].places)


class Failing(Listing):
    def search(self, question, k):
        if "Ann" in question:
            raise RuntimeError("no such index")
        return super().search(question, k)


def test_a_question_that_fails_is_named_and_the_others_go_on():
    mine = segviz.build(conversation(), system_of(Failing, "bad")(), "turn", embedder=EMBEDDER)
    found = audit(mine)
    assert {one.question for one in found.stages} == {1}
    ((number, reason),) = found.failed
    assert number == 0
    assert "no such index" in reason
    assert "failed on 1 question" in found.advice[0].text


def test_a_search_that_fails_on_all_questions_is_an_error():
    mine = segviz.build(conversation(), system_of(Failing, "bad")(), "turn", embedder=EMBEDDER)
    whole = replace(mine.conversation, questions=mine.conversation.questions[:1])
    with pytest.raises(HandoverError, match="no such index"):
        audit(replace(mine, conversation=whole))


@pytest.mark.parametrize("deaf", [True, False])
def test_a_search_that_ignores_the_question_is_said(deaf):
    found = planted((lambda i: None) if deaf else (lambda i: 1 + i % 3), asked=20)
    assert found.one_result == deaf
    assert any("whatever is asked" in each.text for each in found.advice) == deaf


@pytest.mark.parametrize("before", [0, 2])
def test_a_store_that_was_not_empty_is_said(before):
    store = Listing()
    store.notes += [(f"old {i}", f"An older text, {i}") for i in range(before)]
    mine = segviz.provider(store.add, store.search, texts=store.texts, name="used")
    found = audit(segviz.build(conversation(), mine, "turn", embedder=EMBEDDER))
    said = [each.text for each in found.advice if "before the first was added" in each.text]
    assert len(said) == bool(before)
    assert all("had 2 texts" in text for text in said)
    # They are left out, so that what is audited is of this conversation.
    assert found.counts["texts"] == 2


def test_lost_questions_come_worst_stage_first_and_right_answers_last():
    found = planted(lambda i: None if i < 2 else 1 if i < 4 else 30)
    answers = {number: RunAnswer(None, HOSTILE, number == 0) for number in range(3)}
    graded = found.graded(answers)
    assert [(each.question.index, each.stage, each.right) for each in graded.lost[:4]] == [
        (1, "never written", False),
        (4, "written, not ranked", None),
        (5, "written, not ranked", None),
        (6, "written, not ranked", None),
    ]
    order = [each.question.index for each in graded.lost]
    assert (order[-2:], 3 in order) == ([2, 0], False)  # answered wrong, answered right; read
    third = next(each for each in graded.lost if each.question.index == 4)
    ranked = graded.ranked(third)
    assert [rank for rank, _, _ in ranked] == [*range(1, 11), 30]
    gold = third.question.evidence
    assert [has for _, _, has in ranked] == [()] * 10 + [gold]
    assert graded.memory.turn_ids(ranked[-1][1]) == gold
    assert "Answer, wrong: &lt;script&gt;" in question_html(graded, graded.lost[0])
    page = question_html(graded, third)
    assert page.count("<tr>") == 1 + 1 + 11
    assert page.count('class="gold ') == 2  # where it was said, and the text with it


def test_names_of_another_conversation_are_said():
    things = ("a piano in Lisbon", "two violins", "a dentist's chair", "four drums", "a yacht")
    texts = [{"id": f"x{i}", "text": f"Zelda sold {each} to Igor"} for i, each in enumerate(things)]
    found = audit(segviz.memory_from(texts, conversation=sample(), embedder=EMBEDDER))
    assert found.counts["no source"] >= 3
    (said,) = (each.text for each in found.advice if "look for inventions" in each.text)
    assert {"Zelda", "Igor"} == {*said.partition("They name ")[2].replace(",", "").split()[0:3:2]}
