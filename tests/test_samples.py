"""The bundled conversations hold what a demo needs."""

from collections import Counter
from itertools import pairwise

import pytest

import segviz
from segviz.samples import TITLES, sample_path


@pytest.fixture(params=list(TITLES))
def corpus(request):
    return segviz.load(sample_path(request.param))


def test_loads_without_a_finding(corpus):
    assert corpus.report.findings == ()
    assert len(corpus) == 1


def test_long_enough_and_over_months(corpus):
    found = corpus[0]
    assert len(found.sessions) >= 16
    assert len(found.turns) >= 250
    starts = [session.start for session in found.sessions]
    assert all(a < b for a, b in pairwise(starts))
    assert (starts[-1] - starts[0]).days > 120


def test_has_captions_and_two_speakers_in_turn(corpus):
    found = corpus[0]
    assert sum(turn.caption is not None for turn in found.turns) >= 5
    for session in found.sessions:
        assert all(a.speaker != b.speaker for a, b in pairwise(session.turns))


def test_questions_in_all_categories_with_evidence_that_exists(corpus):
    questions = corpus[0].questions
    assert len(questions) >= 30
    categories = Counter(q.category for q in questions)
    assert set(categories) == {1, 2, 3, 4, 5}
    assert min(categories.values()) >= 4
    assert all(q.evidence and not q.unresolved for q in questions)
    assert all((q.answer is None) == (q.category == 5) for q in questions)
    assert all(q.adversarial for q in questions if q.category == 5)
    assert len({q.text for q in questions}) == len(questions)


def test_unknown_sample_lists_the_names():
    with pytest.raises(ValueError, match=", ".join(TITLES)):
        sample_path("nobody")
