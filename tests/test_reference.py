"""Bundled summaries written by hand: they say nothing the turns do not say."""

from __future__ import annotations

import re
import tomllib
from datetime import timedelta

import pytest

import segviz
from segviz.conversation import sample_path
from segviz.evaluation import evaluate
from segviz.ui.pages.guide.page import GOOD_TEXTS
from segviz.ui.widgets.captions import signed
from segviz.view.captions import provenance_lines
from tests.reference import TEXTS, reference, span_of

ENTRIES = tomllib.loads(TEXTS.read_text("utf-8"))
WORDS = re.compile(r"[^\W\d_]+|\d[\d,.:]*\d|\d")
MONTHS = set("January February March April May June July August September October November".split())
SPELLED = {
    "62": "Sixty-two",
    "912": "Nine hundred and twelve",
    "7:08:41": "Seven hours, eight minutes, forty-one seconds",
    "1": "first of June",
    "6:59": "six fifty-nine",
}
"""Numbers that the turns spell out."""


@pytest.fixture(scope="module")
def memory():
    return segviz.open(sample_path("ines-theo-reference"))


def test_the_file_is_what_the_texts_give(memory):
    made = reference().structure
    assert memory.check() == []
    assert memory.structure.text == made.text
    assert memory.labels() == reference().labels()


def test_every_text_stands_at_a_node_and_is_marked_as_written_by_hand(memory):
    s = memory.structure
    inner = [node for node in range(len(s)) if s.level[node] and len(s.coverage(node)) > 1]
    assert {span_of(s, node) for node in inner} == set(ENTRIES)
    assert all(s.text[node] == ENTRIES[span_of(s, node)]["text"] for node in inner)
    assert "by hand" in provenance_lines(memory)[0][1]


@pytest.mark.parametrize("span", ENTRIES)
def test_names_and_numbers_of_a_text_were_said(memory, span):
    # A summary resolves "Papá" or "the race", so names and dates may come from earlier turns.
    start, stop = map(int, span.split("-"))
    spoken = " ".join(unit.text for unit in memory.units[:stop])
    said = MONTHS.union(WORDS.findall(spoken))
    said |= {number for number, words in SPELLED.items() if words in spoken}
    for unit in memory.units[start:stop]:
        said |= {str((unit.time - timedelta(days)).day) for days in (0, 1)} | {str(unit.time.year)}
    entry = ENTRIES[span]
    assert len(entry["title"].split()) <= 5
    assert len(entry["text"].split()) <= 95
    assert unsaid(entry["text"], said) == []


def unsaid(text, said):
    """Names and numbers of a text, the first word of each sentence aside, that nobody said."""
    known = said | {word.capitalize() for word in said}
    sentences = re.split(r"(?<=[.!?”]) ", text)
    claims = [word for sentence in sentences for word in WORDS.findall(sentence)[1:]]
    return [
        word for word in claims if (word[0].isupper() or word[0].isdigit()) and word not in known
    ]


def test_the_guide_says_what_the_texts_change(memory):
    offline = segviz.build(segviz.load(sample_path("ines-theo"))[0])

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
