"""Runs and qrels, read back as TREC's programs read them."""

from collections import defaultdict
from dataclasses import replace

import pytest

import segviz
from segviz.conversation import Question
from segviz.embedding import HashingEmbedder
from segviz.evaluation.audit import audit
from segviz.export.trec import trec_qrels, trec_run
from segviz.memory import system_of
from tests.evaluation.test_audit import Failing
from tests.memories import built, sample
from tests.memory.test_stored_texts import conversation


def read_run(text):
    """Documents of each query by falling score, as trec_eval orders them: it ignores ranks."""
    found = defaultdict(list)
    for line in text.splitlines():
        query, q0, document, rank, score, tag = line.split()
        assert (q0, tag != "") == ("Q0", True)
        found[query].append((float(score), document, int(rank)))
    for rows in found.values():
        rows.sort(reverse=True)
        assert [rank for *_, rank in rows] == [*range(1, len(rows) + 1)]
        assert len({document for _, document, _ in rows}) == len(rows)
    return {query: [document for _, document, _ in rows] for query, rows in found.items()}


def read_qrels(text):
    found = defaultdict(set)
    for line in text.splitlines():
        query, _, document, relevance = line.split()
        assert relevance == "1"
        found[query].add(document)
    return found


@pytest.mark.parametrize("system", ["bm25", "dense"])
def test_recall_of_the_run_is_that_of_evaluate(system):
    memory = built(system, sessions=6, unit="turn")
    found = audit(memory, k=5)
    run, gold = read_run(trec_run(found)), read_qrels(trec_qrels(memory.conversation))
    recall = [len(gold[query] & {*run.get(query, ())}) / len(gold[query]) for query in gold]
    expected = segviz.evaluate(memory, memory.conversation.questions, k=5).outcomes
    assert recall == pytest.approx(expected.values["recall"])


def test_a_stored_text_lists_its_sources_and_a_ghost_nothing():
    talk = sample(sessions=2)
    facts = [{"id": "a", "text": "Ines bought a sloop.", "turns": ["D1:3", "D1:5"]}]
    memory = segviz.memory_from(facts, conversation=talk, embedder=HashingEmbedder())
    for documents in read_run(trec_run(audit(memory))).values():
        assert documents == ["ines-theo/D1:3", "ines-theo/D1:5"]


def test_a_question_that_the_search_fails_on_is_left_out():
    system = system_of(Failing, "bad")()
    memory = segviz.build(conversation(), system, "turn", embedder=HashingEmbedder())
    found = audit(memory)
    queries = read_qrels(trec_qrels(memory.conversation))
    assert [number for number, _ in found.failed] == [0]
    assert [*read_run(trec_run(found))] == [*queries][1:]


def test_names_with_white_space_stay_one_column():
    talk = sample(sessions=2)
    asked = Question(0, "what\nboat", None, None, ("D1:3",))
    talk = replace(talk, id="my  talk\tof today", questions=(asked,))
    memory = segviz.build(talk, "bm25", embedder=HashingEmbedder())
    assert [*read_qrels(trec_qrels(talk))] == ["my_talk_of_today/0"]
    assert [*read_run(trec_run(audit(memory)))] == ["my_talk_of_today/0"]
