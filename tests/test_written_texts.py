"""Texts written elsewhere: on any memory, and those of the samples, which say what was said."""

from __future__ import annotations

import re
from datetime import timedelta

import numpy as np
import pytest

import segviz
from segviz.construct import TITLE, WRITTEN_BY
from segviz.conversation import WRITTEN, sample_path, sample_texts
from segviz.evaluation import evaluate
from segviz.memory.written import instead_of_extracts
from segviz.ui.pages.guide.page import GOOD_TEXTS
from segviz.ui.widgets.captions import signed
from segviz.view.captions import provenance_lines
from tests.memories import built, sample

WORDS = re.compile(r"[^\W\d_]+|\d[\d,.:]*\d|\d")
MONTHS = set("January February March April May June July August September October November".split())
SPELLED = {
    "35": "thirty-five pounds",
    "62": "Sixty-two",
    "150": "A hundred and fifty pounds",
    "231": "Two hundred and thirty-one pages",
    "912": "Nine hundred and twelve",
    "7:08:41": "Seven hours, eight minutes, forty-one seconds",
    "1": "first of June",
    "6:59": "six fifty-nine",
}
"""Numbers that the turns spell out."""


DAYS = {"ines-theo": (0, 1), "noor-caleb": range(-31, 10)}
"""Days before a session that a text may name. Texts of noor-caleb date plans: no check of days."""
LONGEST = {"ines-theo": (5, 95), "noor-caleb": (6, 120)}
"""Most words of a title and of a text."""


def inner_spans(structure):
    """Spans of the inner nodes of more than one unit."""
    return {
        (int(structure.start[n]), int(structure.stop[n]))
        for n in range(len(structure))
        if structure.level[n] and structure.stop[n] - structure.start[n] > 1
    }


@pytest.fixture(scope="module")
def memory():
    offline = segviz.build(segviz.load(sample_path("ines-theo"))[0])
    return offline.with_texts(sample_texts("ines-theo"))


def test_texts_change_and_the_tree_does_not(memory):
    offline = segviz.build(memory.conversation)
    before, after = offline.structure, memory.structure
    assert memory.check() == []
    for column in ("level", "start", "stop", "edges"):
        assert np.array_equal(getattr(before, column), getattr(after, column))
    assert [step.decision for step in memory.steps] == [step.decision for step in offline.steps]
    texts = sample_texts("ines-theo")
    for node in range(len(after)):
        span = int(after.start[node]), int(after.stop[node])
        if after.level[node] and span in texts:
            assert (after.facts[node][TITLE], after.text[node]) == texts[span]
            assert np.allclose(after.vector[node], memory.embedder.embed([texts[span][1]])[0])
        else:
            assert after.text[node] == before.text[node]


def test_a_node_that_grows_loses_its_written_title(memory):
    texts = sample_texts("ines-theo")
    for step in range(0, len(memory.steps) + 1, 7):
        then = memory.at(step)
        for node, facts in enumerate(then.facts):
            span = int(then.start[node]), int(then.stop[node])
            assert (TITLE in facts) == (then.level[node] > 0 and span in texts)


def test_a_span_without_a_node_is_an_error_that_names_it():
    memory = built("segment-tree")
    with pytest.raises(ValueError, match="covers exactly the units 1-999"):
        memory.with_texts({(1, 999): ("title", "text")})
    assert memory.with_texts({(1, 999): ("title", "text")}, partly=True).structure.text == (
        memory.structure.text
    )
    with pytest.raises(TypeError, match="title, text"):
        memory.with_texts({(0, 2): "text"}, partly=True)


def test_a_memory_without_a_place_for_the_texts_stays_as_it_is():
    flat = built("bm25")
    assert flat.with_texts({(0, 2): ("title", "text")}, partly=True) is flat


def test_texts_of_an_annotator_are_no_extracts_to_be_replaced(memory):
    first = sample("ines-theo", sessions=2)
    own = segviz.build(first, segviz.SegmentTree(annotate=lambda texts: " ".join(texts)[:40]))
    texts = sample_texts("ines-theo")
    assert instead_of_extracts(own, texts) is own
    assert instead_of_extracts(segviz.build(first), texts).provenance["by_hand"]


def test_written_texts_are_saved_and_opened(memory, tmp_path):
    memory.save(tmp_path / "written.npz")
    opened = segviz.open(tmp_path / "written.npz")
    assert opened.labels() == memory.labels()
    assert opened.structure.facts == memory.structure.facts
    assert "by hand" in provenance_lines(opened)[0][1]


def test_a_text_from_anywhere_becomes_memory_without_control_characters(memory):
    """No XML, terminal or page can show one; replies of a model are read in ``tests/llm``."""
    span = min(inner_spans(memory.structure))
    turn = memory.conversation.turns[0].id
    rows = [{"id": "a", "text": "red\x00bike", "turns": [turn]}]
    annotated = segviz.SegmentTree(annotate=lambda texts: "red\x00bike")
    for made in (
        memory.with_texts({span: ("a\x1btitle", "red\x00bike")}),
        segviz.memory_from(rows, conversation=memory.conversation),
        segviz.build(built("segment-tree").conversation, annotated),
    ):
        assert "red\ufffdbike" in made.structure.text
        said = [*made.structure.text, *(str(facts.get(TITLE)) for facts in made.structure.facts)]
        assert not any(sign in text for text in said for sign in "\x00\x1b")


def test_an_annotator_may_return_a_title_with_its_text():
    def annotate(texts):
        return f"About {len(texts)} things", " ".join(texts)[:40]

    conversation = built("segment-tree").conversation
    memory = segviz.build(conversation, segviz.SegmentTree(annotate=annotate))
    labels, structure = memory.labels(), memory.structure
    inner = [n for n in range(len(structure)) if len(structure.children[n]) > 1]
    assert inner
    assert all(labels[n] == f"About {len(structure.children[n])} things" for n in inner)


@pytest.mark.parametrize(
    "system", [name for name, kind in segviz.SYSTEMS.items() if "annotate" in kind.__annotations__]
)
def test_titles_stay_with_their_texts_in_every_system(system):
    titles = {}

    def annotate(texts):
        text = f"Text {len(titles)} of {len(texts)} parts."
        return titles.setdefault(text, f"Title {len(titles)}"), text

    structure = segviz.build(sample(sessions=6), system, annotate=annotate).structure
    titled = 0
    for node, facts in enumerate(structure.facts):
        # H-Mem's profiles are made of facts, not only of the annotator's text.
        body = structure.text[node].split("\n")[-1]  # MemForest puts a line of dates before it
        if structure.kind[node] != "entity":
            assert facts.get(TITLE) == titles.get(body), structure.text[node]
            titled += TITLE in facts
    assert titled


@pytest.mark.parametrize("system", ["raptor", "memforest", "clustering"])
def test_nodes_of_other_systems_get_a_text_where_they_cover_the_same_units(system):
    memory = built(system)
    final = memory.structure
    exact = [
        node
        for node in range(len(final))
        if final.active[node]
        and final.level[node]
        and not final.kind[node]
        and final.stop[node] - final.start[node] == len(final.coverage(node)) > 1
    ]
    texts = dict.fromkeys(inner_spans(final), ("t", "Some text."))
    after = memory.with_texts(texts, partly=True).structure
    written = [node for node in range(len(after)) if WRITTEN_BY in after.facts[node]]
    assert set(exact) <= set(written)
    for node in written:
        assert len(final.coverage(node)) == final.stop[node] - final.start[node]


@pytest.mark.parametrize("name", WRITTEN)
def test_every_inner_node_of_a_sample_has_a_written_text(name):
    memory = segviz.build(segviz.load(sample_path(name))[0])
    assert set(sample_texts(name)) == inner_spans(memory.structure)


@pytest.mark.parametrize(
    ("name", "span"), [(name, span) for name in WRITTEN for span in sample_texts(name)]
)
def test_names_and_numbers_of_a_text_were_said(name, span):
    # A summary resolves "Papá" or "the race", so names and dates may come from earlier turns.
    start, stop = span
    units = segviz.load(sample_path(name))[0].units("exchange")
    spoken = " ".join(unit.text for unit in units[:stop])
    said = MONTHS.union(WORDS.findall(spoken))
    said |= {number for number, words in SPELLED.items() if words in spoken}
    for unit in units[start:stop]:
        said |= {str((unit.time - timedelta(days)).day) for days in DAYS[name]}
        said.add(str(unit.time.year))
    title, text = sample_texts(name)[span]
    most_title, most_text = LONGEST[name]
    assert len(title.split()) <= most_title
    assert len(text.split()) <= most_text
    assert unsaid(text, said) == []


def unsaid(text, said):
    """Names and numbers of a text, the first word of each sentence aside, that nobody said."""
    known = said | {word.capitalize() for word in said}
    sentences = re.split(r"(?<=[.!?”]) ", text)
    claims = [word for sentence in sentences for word in WORDS.findall(sentence)[1:]]
    return [
        word for word in claims if (word[0].isupper() or word[0].isdigit()) and word not in known
    ]


def test_the_guide_says_what_the_texts_change(memory):
    offline = segviz.build(memory.conversation)

    def gain(measure, **setting):
        found = [
            evaluate(each, each.conversation.questions, **setting).outcomes
            for each in (offline, memory)
        ]
        return found[0].mean(measure), found[1].mean(measure), found[1].gain(found[0], measure)

    def said(mean):
        value, low, high = (
            signed(f"{x:+.2f}".replace("0.", ".")) for x in (mean.value, mean.low, mean.high)
        )
        return f"{value} [{low.lstrip('+')}, {high.lstrip('+')}]"

    still = {"relevance": "hybrid", "policy": "none"}
    before, after, words = gain("answer_words", **still)
    for part in (f"{before.value:.2f}"[1:], f"{after.value:.2f}"[1:], said(words)):
        assert part in GOOD_TEXTS
    assert said(gain("reached", **still)[2]) in GOOD_TEXTS
    bottom_up = {"relevance": "dense", "policy": "bottom-up", "alpha": 0.1, "horizon": 2}
    assert said(gain("quoted", **bottom_up)[2]) in GOOD_TEXTS
