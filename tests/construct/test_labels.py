import math
from collections import Counter

import pytest

import segviz
from segviz.construct import labels as module
from segviz.construct.annotate import TITLE
from segviz.construct.labels import LENGTH, ROOT_LENGTH, node_labels
from segviz.construct.tasks.words import words_of
from segviz.conversation import Conversation, Session, Turn
from segviz.tree import Add, Cost, Link, Step, replay
from tests.memories import built

TALKS = [
    ["I bought a sloop in Polruan.", "A wooden sloop? Is the hull sound?"],
    ["The hull has copper rivets.", "You get seasick on a pedalo, and now a sloop."],
    ["My bakery needs an oven.", "An oven for the rye bread?"],
    ["The oven came from Malmö.", "Rye bread from that oven will be good."],
    ["I have found an accordion teacher.", "A waltz on the accordion!"],
    ["Birger is the accordion teacher.", "Will Birger teach you the waltz?"],
]


def conversation(talks=TALKS, speakers=("Ada", "Ben")):
    turns = [
        Turn(f"D{day}:{i}", speakers[i % 2], said)
        for day, talk in enumerate(talks, 1)
        for i, said in enumerate(talk)
    ]
    days = len(talks)
    sessions = [
        Session(f"s{day}", None, "", tuple(t for t in turns if t.id.startswith(f"D{day}:")))
        for day in range(1, days + 1)
    ]
    return Conversation("c", speakers, tuple(sessions))


def grouped(units, groups, facts=None):
    """A tree with a node over each of the groups and a root, one step."""
    vector = np_zeros()
    events = [Add(u.index, 0, (u.index, u.index + 1), u.text, vector) for u in units]
    above = range(len(units), len(units) + len(groups))
    for node, group in zip(above, groups, strict=True):
        text = "\n".join(units[u].text for u in group)
        events.append(Add(node, 1, (group[0], group[-1] + 1), text, vector))
        events += [Link(node, u) for u in group]
    root = len(units) + len(groups)
    whole = "\n".join(unit.text for unit in units)
    events.append(Add(root, 2, (0, len(units)), whole, vector, facts=facts or {}))
    events += [Link(root, node) for node in above]
    return replay([Step(units[-1], "", None, tuple(events), Cost())])


def np_zeros():
    import numpy as np

    return np.zeros(2, dtype=np.float32)


def themes(structure, units, speakers=("Ada", "Ben")):
    return node_labels(structure, units, speakers)[len(units) :]


class TestThemes:
    def test_nodes_are_named_by_what_their_units_are_about(self):
        units = conversation().units("exchange")
        boat, bakery, music, root = themes(grouped(units, [(0, 1), (2, 3), (4, 5)]), units)
        assert {"sloop", "hull", "copper rivets"}.intersection(boat.split(", "))
        assert {"oven", "bakery", "rye bread"}.intersection(bakery.split(", "))
        assert {"waltz", "Birger", "accordion", "accordion teacher"}.intersection(music.split(", "))
        assert 1 <= len(root.split(", ")) <= 3

    def test_no_word_of_the_parent_or_of_a_sibling(self):
        memory = built()
        shown = memory.structure.collapsed
        labels = memory.labels(shown)
        stems = [{module.stem(word) for word in words_of(label)} for label in labels]
        for node in shown.nodes.tolist():
            children = [child for child in shown.children[node] if shown.level[child] > 0]
            for place, child in enumerate(children):
                assert not stems[child] & stems[node]
                for other in children[place + 1 :]:
                    assert not stems[child] & stems[other]

    def test_short_and_without_speakers(self):
        memory = built()
        shown = memory.structure.collapsed
        labels = memory.labels(shown)
        for node in shown.nodes.tolist():
            assert len(labels[node]) <= (LENGTH if shown.parents[node] else ROOT_LENGTH)
        assert not {"ines", "theo"} & {word for label in labels for word in words_of(label)}

    def test_nearly_every_inner_node_has_one(self):
        memory = built()
        shown = memory.structure.collapsed
        inner = [n for n in shown.nodes.tolist() if shown.level[n] > 0]
        labels = memory.labels(shown)
        assert sum(bool(labels[n]) for n in inner) >= 0.95 * len(inner)

    def test_labels_stay_while_the_tree_grows_elsewhere(self):
        memory, same, compared = built(), 0, 0
        for step in range(30, len(memory.steps) - 10, 10):
            now, later = memory.at(step).collapsed, memory.at(step + 10).collapsed
            before, after = memory.labels(now), memory.labels(later)
            for node in now.nodes.tolist():
                closed = now.level[node] > 0 and now.stop[node] == later.stop[node]
                if closed and later.active[node]:
                    compared += 1
                    same += before[node] == after[node]
        assert same >= 0.9 * compared > 0

    def test_spelled_as_most_often_written(self):
        talks = [
            ["I play Stardew Valley with my Dog Duke.", "You play Stardew Valley?"],
            ["The dog eats.", "Is the dog in Stardew Valley?"],
            ["A barometer fell.", "Which barometer?"],
        ]
        units = conversation(talks).units("exchange")
        written = module._phrases(units, ("Ada", "Ben")).written
        assert written[(module.stem("dog"),)] == "dog"
        assert "Stardew Valley" in written.values()

    def test_the_score_is_the_one_described(self):
        units = conversation().units("exchange")
        structure = grouped(units, [(0, 1), (2, 3), (4, 5)])
        phrases = module._phrases(units, ("Ada", "Ben"))
        node, key = len(units), (module.stem("sloop"),)
        found = {k: score for score, k in module._ranked(structure, node, phrases)}
        held, everywhere = 2, len(phrases.places[key])
        lift = math.log((held / 2) / (everywhere / len(units)))
        rarity = math.log(len(units) / everywhere)
        expected = phrases.weight[key] * module._QUOTED * held**1.1 * (lift + rarity / 2)
        assert found[key] == pytest.approx(expected)

    def test_a_nickname_of_a_speaker_names_nothing(self):
        talks = [["Hey Mel, the oven is here.", "The oven at last!"]] * 3
        units = conversation(talks, ("Caroline", "Melanie")).units("exchange")
        found = themes(grouped(units, [(0,), (1, 2)]), units, ("Caroline", "Melanie"))
        assert "mel" not in Counter(word for label in found for word in words_of(label))


class TestGiven:
    def test_a_title_by_a_model_is_the_label(self):
        units = conversation().units("exchange")
        structure = grouped(units, [(0, 1), (2, 3)], facts={TITLE: "Boats and bread"})
        assert themes(structure, units)[-1] == "Boats and bread"

    def test_an_entity_is_called_by_its_name(self):
        memory = built("h-mem", sessions=3)
        structure = memory.structure
        names = [n for n, kind in enumerate(structure.kind) if kind == "entity"]
        short = [n for n in names if 0 < len(structure.text[n]) <= LENGTH and structure.active[n]]
        labels = memory.labels()
        assert all(labels[n] for n in short)

    def test_a_chain_has_the_label_of_its_node(self):
        memory = built()
        chain = memory.structure.collapsed.chain
        labels = memory.labels()
        assert all(labels[node] == labels[int(chain[node])] for node in range(len(chain)))


class TestOtherLanguages:
    def test_chinese_themes_are_runs_that_are_repeated(self):
        talks = [
            ["我想买一台烤面包机。", "烤面包机贵吗?"],
            ["小狗叫米洛。", "米洛几岁?"],
            ["米洛今天吃了面包。", "米洛喜欢面包吗?"],
        ]
        units = conversation(talks, ("王芳", "李雷")).units("exchange")
        found = themes(grouped(units, [(0,), (1, 2)]), units, ("王芳", "李雷"))
        assert "米洛" in " ".join(found)

    def test_german_themes_are_words_that_are_repeated(self):
        talks = [
            ["Wir suchen einen Backofen.", "Der Backofen aus Leipzig?"],
            ["Nein, ein Backofen aus Halle.", "Backofen ist Backofen."],
            ["Morgen segeln wir.", "Bei Sturm segeln?"],
            ["Ja, segeln ist gesund.", "Dann segeln wir eben."],
        ] * 3
        units = conversation(talks).units("exchange")
        first, second, _ = themes(grouped(units, [(0, 1), tuple(range(2, 12))]), units)
        assert first + second


def test_an_empty_memory_has_no_labels():
    from segviz.tree import replay

    assert node_labels(replay([]), ()) == ()


def test_a_memory_gives_its_labels_at_any_step():
    memory = segviz.build(conversation())
    assert len(memory.labels(memory.at(2))) == len(memory.at(2))
