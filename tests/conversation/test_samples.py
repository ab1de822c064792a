"""The bundled conversations hold what a demo needs."""

from collections import Counter
from itertools import pairwise

import pytest

import segviz
from segviz.conversation import TITLES, sample_path
from segviz.tree.shape import diagnose, shape

DEMOS = ("ines-theo", "noor-caleb")


@pytest.fixture(params=DEMOS)
def corpus(request):
    return segviz.load(sample_path(request.param))


def test_a_demo_is_long_and_over_months_with_captions_and_two_speakers_in_turn(corpus):
    (found,) = corpus
    assert corpus.report.findings == ()
    assert len(found.turns) >= 250
    starts = [session.start for session in found.sessions]
    assert len(starts) >= 16
    assert all(a < b for a, b in pairwise(starts))
    assert (starts[-1] - starts[0]).days > 120
    assert sum(turn.caption is not None for turn in found.turns) >= 5
    for session in found.sessions:
        assert all(a.speaker != b.speaker for a, b in pairwise(session.turns))


def test_a_demo_has_questions_of_all_categories_with_evidence_that_exists(corpus):
    questions = corpus[0].questions
    assert len(questions) >= 30
    categories = Counter(q.category for q in questions)
    assert set(categories) == {1, 2, 3, 4, 5}
    assert min(categories.values()) >= 4
    assert all(q.evidence and not q.unresolved for q in questions)
    assert all((q.answer is None) == (q.category == 5) for q in questions)
    assert all(q.adversarial for q in questions if q.category == 5)
    assert len({q.text for q in questions}) == len(questions)


@pytest.mark.parametrize("name", ["topic-switching", "recurrence"])
def test_adversarial_samples_load_cleanly(name):
    found = segviz.load(sample_path(name))
    assert found.report.findings == ()
    assert len(found[0].turns) >= 80
    assert len(found[0].questions) >= 10


def test_topic_switching_cascades_under_a_strict_cosine_and_not_under_the_default():
    """App. C.3.1: an extremely strict threshold makes every unit a new root."""
    found = segviz.load(sample_path("topic-switching"))[0]
    strict = segviz.build(found, compatibility={"name": "cosine", "threshold": 0.9})
    troubles = [t.kind for t in diagnose(shape(strict.structure))]
    assert troubles == ["cascade"]
    assert diagnose(shape(segviz.build(found).structure)) == []


def test_recurring_topic_lies_in_distant_subtrees():
    """App. C.3.2: two mentions of the topic meet only in a node that spans most of it."""
    found = segviz.load(sample_path("recurrence"))[0]
    memory = segviz.build(found)
    structure = memory.structure
    question = max(found.questions, key=lambda q: len(q.evidence))
    units = {t: u.index for u in memory.units for t in u.turn_ids}
    first, last = (f(units[t] for t in question.evidence) for f in (min, max))
    meeting = [
        n for n in range(len(structure)) if structure.start[n] <= first and structure.stop[n] > last
    ]
    narrowest = min(meeting, key=lambda n: structure.stop[n] - structure.start[n])
    width = structure.stop[narrowest] - structure.start[narrowest]
    assert width > len(memory.units) / 2


def test_unknown_sample_lists_the_names():
    with pytest.raises(ValueError, match=", ".join(TITLES)):
        sample_path("nobody")


def test_an_installed_package_has_them_inside_and_a_source_tree_beside(tmp_path, monkeypatch):
    module = tmp_path / "site" / "segviz" / "conversation" / "corpus.py"
    beside, inside = tmp_path / "site" / "sample_data", module.parent.parent / "sample_data"
    beside.mkdir(parents=True)
    monkeypatch.setattr("segviz.conversation.corpus.__file__", str(module))
    assert sample_path("ines-theo") == beside / "ines-theo.json"
    inside.mkdir(parents=True)
    assert sample_path("ines-theo") == inside / "ines-theo.json"
