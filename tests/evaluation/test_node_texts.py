"""Contentless lines, by hand and against a slow restatement; numbers and names no turn has."""

from dataclasses import replace

import pytest

import segviz
from segviz.construct.tasks.words import content
from segviz.embedding import HashingEmbedder
from segviz.evaluation import contentless_lines
from segviz.evaluation.node_texts import contentless_share
from segviz.tree import Structure
from tests.evaluation.test_permutation import talk
from tests.trees import chain, small_chat

SPEAKERS = ("John", "Maria")


def chain_of(*texts: str) -> Structure:
    """A leaf, and above each other inner nodes with these texts."""
    return replace(chain(len(texts) + 1), text=("John: Hey Maria!", *texts))


@pytest.mark.parametrize(
    ("line", "contentless"),
    [
        ("Maria: Hey John!", True),
        ("John: Wow, that's amazing, Maria!", True),
        ("Maria: Thanks, John! Take care!", True),
        ("John: [image: a photo of a dog]", True),
        ("John: 😀", True),
        ("John: I adopted a beagle in Bergen.", False),
        ("Maria: My sister moved to Oslo, John.", False),
        ("John: [image: a photo of a dog on a beach]", False),
        ("Мария: Вчера я купила лодку.", False),
        ("小明: 我买了一只小狗。", False),
        ("Ay: 2019 Lisbon", False),
    ],
)
def test_a_line_with_less_than_two_content_words_is_contentless(line, contentless):
    assert contentless_lines(chain_of(line), SPEAKERS) == {1: contentless}


def test_names_of_the_speakers_are_no_content():
    text = "Aino: Ngozi, Tenzin!"
    assert contentless_lines(chain_of(text), ()) == {1: 0.0}
    assert contentless_lines(chain_of(text), ("Ngozi Tenzin",)) == {1: 1.0}


def test_lines_of_a_level_are_pooled_and_leaves_do_not_count():
    found = chain_of(
        "John: Hey Maria!\nI adopted a beagle in Bergen.",
        "John: I adopted a beagle in Bergen.\n\nMaria: Wow!\nCool, John.\nGreat!",
    )
    assert contentless_lines(found, SPEAKERS) == {1: 0.5, 2: 0.75}
    assert contentless_share(found, SPEAKERS) == pytest.approx(4 / 6)


def test_a_chain_of_one_text_counts_once_on_its_lowest_level():
    same = "John: Hey!\nMaria: My sister moved to Oslo."
    assert contentless_lines(chain_of("John: Hey!", same, same), SPEAKERS) == {1: 1.0, 2: 0.5}
    # A node with the text of its leaf is that leaf.
    assert contentless_lines(chain_of("John: Hey Maria!"), SPEAKERS) == {}


def test_without_inner_nodes_or_lines_there_is_no_share():
    assert contentless_lines(chain_of(), SPEAKERS) == {}
    assert contentless_lines(chain_of(""), SPEAKERS) == {}
    assert contentless_share(chain_of(""), SPEAKERS) is None


def slow(structure, speakers):
    """Every line of every active node above level 0, one by one."""
    names = {word for speaker in speakers for word in content(speaker)}
    shown, found = structure.collapsed, {}
    for node in range(len(shown)):
        if not shown.active[node] or shown.level[node] == 0:
            continue
        for line in shown.text[node].split("\n"):
            spoken, _, words = line.partition(": ")
            said = words if spoken in speakers else line
            if said.strip():
                found.setdefault(int(shown.level[node]), []).append(len(content(said) - names) < 2)
    return {level: sum(rows) / len(rows) for level, rows in sorted(found.items())}


@pytest.mark.parametrize("system", ["segment-tree", "raptor"])
def test_the_shares_are_those_of_a_slow_count(system):
    memory = segviz.build(small_chat(), system, embedder=HashingEmbedder())
    for step in (len(memory.steps), len(memory.steps) // 2):
        structure, speakers = memory.at(step), memory.conversation.speakers
        expected = slow(structure, speakers)
        assert contentless_lines(structure, speakers) == expected
        assert list(contentless_lines(structure, speakers)) == sorted(expected)


def test_a_comparison_shows_the_share_of_each_structure_with_inner_nodes():
    memories = {
        name: segviz.build(talk(), name, embedder=HashingEmbedder())
        for name in ("segment-tree", "bm25")
    }
    for row in segviz.compare(memories, talk().questions).rows:
        share = contentless_share(memories[row.name].structure, talk().speakers)
        assert row.contentless == share
        assert row.row().get("contentless lines") == share
        assert (share is None) == (row.name == "bm25")
