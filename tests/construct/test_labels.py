import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import segviz
from segviz.construct import labels as module
from segviz.construct.annotate import TITLE
from segviz.construct.labels import LENGTH, ROOT_LENGTH, UPPER_LENGTH, node_labels
from segviz.construct.tasks.words import words_of
from tests.memories import built
from tests.trees import chat, grown

TALKS = [
    ["I bought a sloop in Polruan.", "A wooden sloop? Is the hull sound?"],
    ["The hull has copper rivets.", "You get seasick on a pedalo, and now a sloop."],
    ["My bakery needs an oven.", "An oven for the rye bread?"],
    ["The oven came from Malmö.", "Rye bread from that oven will be good."],
    ["I have found an accordion teacher.", "A waltz on the accordion!"],
    ["Birger is the accordion teacher.", "Will Birger teach you the waltz?"],
]


def conversation(talks=TALKS, speakers=("Ada", "Ben")):
    return chat([list(zip(speakers, talk, strict=True)) for talk in talks])


def grouped(units, groups):
    """A tree with a node over each of the groups and a root."""
    nodes = [(0, unit.index, unit.index + 1) for unit in units]
    nodes += [(1, group[0], group[-1] + 1) for group in groups]
    root = len(nodes)
    edges = [(node, u) for node, group in enumerate(groups, len(units)) for u in group]
    edges += [(root, node) for node in range(len(units), root)]
    said = [unit.text for unit in units]
    texts = [*said, *("\n".join(said[u] for u in group) for group in groups), "\n".join(said)]
    return grown([*nodes, (2, 0, len(units))], edges, texts)


def themes(structure, units, speakers=("Ada", "Ben")):
    return node_labels(structure, units, speakers)[len(units) :]


class TestThemes:
    def test_nodes_are_named_by_what_their_units_are_about(self):
        units = conversation().units("exchange")
        boat, bakery, music, root = themes(grouped(units, [(0, 1), (2, 3), (4, 5)]), units)
        assert {"sloop", "hull", "copper rivets"}.intersection(boat.split(", "))
        assert {"oven", "bakery", "rye bread"}.intersection(bakery.split(", "))
        assert {"waltz", "Birger", "accordion", "accordion teacher"}.intersection(music.split(", "))
        assert 1 <= len(root.split(" · ")) <= 3

    def test_not_the_label_of_the_parent_and_no_word_of_a_sibling(self):
        memory = built()
        shown = memory.structure.collapsed
        labels = memory.labels(shown)
        stems = [{module.stem(word) for word in words_of(label)} for label in labels]
        for node in shown.nodes.tolist():
            children = [child for child in shown.children[node] if shown.level[child] > 0]
            for place, child in enumerate(children):
                assert not labels[child] or stems[child] != stems[node]
                for other in children[place + 1 :]:
                    assert not stems[child] & stems[other]

    def test_short_without_speakers_and_nearly_every_inner_node_has_one(self):
        memory = built()
        shown = memory.structure.collapsed
        labels = memory.labels(shown)
        for node in shown.nodes.tolist():
            most = LENGTH if shown.level[node] < 2 else UPPER_LENGTH
            assert len(labels[node]) <= (most if shown.parents[node] else ROOT_LENGTH)
        assert not {"ines", "theo"} & {word for label in labels for word in words_of(label)}
        inner = [n for n in shown.nodes.tolist() if shown.level[n] > 0]
        assert sum(bool(labels[n]) for n in inner) >= 0.95 * len(inner)
        # A chain has the label of its node.
        chain, every = shown.chain.tolist(), memory.labels()
        assert all(every[node] == every[chain[node]] for node in range(len(chain)))

    def test_what_recurs_comes_before_what_is_rare(self):
        talks = [
            ["The oven in the bakery is warm.", "I saw an iguana by the oven."],
            ["A marimba played while the oven cooled.", "The bakery needs that oven."],
            *TALKS[4:],
            *TALKS[:2],
        ]
        units = conversation(talks).units("exchange")
        first, *_ = themes(grouped(units, [(0, 1), (2, 3), (4, 5)]), units)
        assert first.split(", ")[0] in ("oven", "bakery")
        assert not {"iguana", "marimba"} & set(first.split(", "))

    def test_a_caption_counts_less_than_a_word_that_is_said(self):
        shown = "Look. [image: a photo of a pelican]"
        talks = [[shown, "The oven is new."], [shown, "An oven for rye?"], *TALKS[4:], *TALKS[:2]]
        units = conversation(talks).units("exchange")
        phrases = module._phrases(units, ("Ada", "Ben"))
        both = [(0, 2)]
        assert phrases.support((module.stem("pelican"),), both) == 2 * module._PICTURED
        assert phrases.support((module.stem("oven"),), both) == 2
        first, *_ = themes(grouped(units, [(0, 1), (2, 3), (4, 5)]), units)
        assert first.startswith("oven")

    def test_support_agrees_with_counting_unit_by_unit(self):
        memory = built()
        phrases = module._phrases(tuple(memory.units), tuple(memory.conversation.speakers))
        shown = memory.structure.collapsed

        def share(stem, unit):
            """1 if the unit says a word of this stem, .25 if only a caption has one."""
            whole = memory.units[unit].text
            parts = (re.sub(r"\[image:[^\]]*\]", " ", whole), whole)
            said = [stem in map(module.stem, words_of(part)) for part in parts]
            return 1.0 if said[0] else 0.25 if said[1] else 0.0

        nodes = [n for n in shown.nodes.tolist() if shown.level[n] > 0][::9]
        compared = 0
        for node in nodes:
            below = shown.coverage(node)
            single = [key for key in list(phrases.places)[::5] if len(key) == 1]
            for key in single:
                held = {u: phrases.places[key].mass([(u, u + 1)]) for u in below}
                whole, stems = sum(held.values()), sum(share(key[0], u) for u in below)
                expected = (whole * stems) ** 0.5
                if whole:
                    compared += 1
                    support = phrases.support(key, module._ranges(shown, node))
                    assert support == pytest.approx(expected)
        assert compared > 20

    def test_upper_labels_name_their_themes_in_order_of_time(self):
        memory = built()
        shown = memory.structure.collapsed
        labels = memory.labels(shown)
        phrases = module._phrases(tuple(memory.units), tuple(memory.conversation.speakers))
        places = {phrases.written[key]: where.units for key, where in phrases.places.items()}
        upper = [n for n in shown.nodes.tolist() if shown.level[n] > 1 and " · " in labels[n]]
        assert upper
        for node in upper:
            span = range(int(shown.start[node]), int(shown.stop[node]))
            middles = [
                np.median([u for u in places[theme] if u in span])
                for theme in labels[node].split(" · ")
            ]
            assert middles == sorted(middles)

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

    @pytest.mark.parametrize(
        ("said", "without", "with_"),
        [
            ("How is the goin' of the sloop?", "goin'", "sloop"),
            ("I played guitar for about five years.", "five", "guitar"),
            ("I sing for the Harbour Singers' sake.", "Harbour Singers'", "Harbour Singers"),
            ("We saw 'Embracing Identity' there.", "Embracing Identity'", "Embracing Identity"),
            ("One thing: If Luna barks, call.", "If Luna", "Luna"),
            ("So, You'll see Luna there.", "You'll", "Luna"),
            ("It helps to tackle bugs and tackle snails.", "tackle snails", "snails"),
            ("Your quilt includes rosettes.", "quilt includes", "quilt"),
            ("She lives for tales and challenges.", "challenges", "tales"),
        ],
    )
    def test_no_clipped_word_number_or_stray_apostrophe(self, said, without, with_):
        units = conversation([[said, "Oh?"], *TALKS[2:]]).units("exchange")
        phrases = module._phrases(units, ("Ada", "Ben"))
        written = {phrases.written[key] for key, weight in phrases.weight.items() if weight}
        assert with_ in written
        assert without not in written

    def test_a_nickname_of_a_speaker_names_nothing(self):
        talks = [["Hey Mel, the oven is here.", "The oven at last!"]] * 3
        units = conversation(talks, ("Caroline", "Melanie")).units("exchange")
        found = themes(grouped(units, [(0,), (1, 2)]), units, ("Caroline", "Melanie"))
        assert "mel" not in Counter(word for label in found for word in words_of(label))

    def test_the_root_is_named_by_what_is_in_most_of_its_children(self):
        # "sloop" is in as many units as "oven", but in one part only.
        talks = [[f"The sloop, {n}.", "Oh?"] for n in "xyz"]
        talks += [["My oven.", "Oh?"], ["Rain.", "Oh?"]] * 3
        units = conversation(talks).units("exchange")
        tree = grouped(units, [(0, 1, 2), (3, 4), (5, 6), (7, 8)])
        phrases = module._phrases(units, ("Ada", "Ben"))
        ranked = module._ranked(tree, len(tree) - 1, phrases, set())
        assert [key for _, key in ranked] == [("oven",), ("sloop",)]

    def test_the_root_is_named_by_what_people_say_not_by_an_assistant(self):
        boats = "The sloop in the harbour has copper rivets; another sloop there has a pedalo."
        ovens = "The oven of the bakery is warm; another oven there is for the rye bread."
        asked = ["My accordion?", "My accordion again?", "Rain?", "Your accordion?"]
        talks = list(zip(asked, (boats, boats, ovens, ovens), strict=True))
        units = conversation(talks).units("exchange")
        *_, root = themes(grouped(units, [(0, 1), (2, 3)]), units)
        assert root == "accordion"
        # Where nobody speaks two thirds, all count.
        even = conversation([(said, said) for said in (boats, boats, ovens, ovens)])
        units = even.units("exchange")
        *_, root = themes(grouped(units, [(0, 1), (2, 3)]), units)
        assert {"pedalo", "sloop", "rye bread", "oven"} & set(root.split(" · "))

    def test_a_stretch_that_no_theme_names_gets_a_slighter_one(self):
        talks = [["My oven is here.", "The oven!"]] * 5 + [["My iguana.", "Oh?"]]
        units = conversation([*talks, *TALKS[:2], *TALKS[4:]]).units("exchange")
        nodes = [(0, u.index, u.index + 1) for u in units]
        spans = [(1, 0, 5), (1, 5, 6), (1, 6, 8), (1, 8, 10), (2, 0, 6), (2, 6, 10), (3, 0, 10)]
        edges = [(10 + n, u) for n, (_, a, b) in enumerate(spans[:4]) for u in range(a, b)]
        edges += [(14, 10), (14, 11), (15, 12), (15, 13), (16, 14), (16, 15)]
        said = [unit.text for unit in units]
        texts = [*said, *("\n".join(said[a:b]) for _, a, b in spans)]
        tree = grown([*nodes, *spans], edges, texts)
        phrases = module._phrases(units, ("Ada", "Ben"))
        scores = {key: score for score, key in module._ranked(tree, 14, phrases, set())}
        iguana = (module.stem("iguana"),)
        assert scores[iguana] < module._SECOND * max(scores.values())
        label = node_labels(tree, units, ("Ada", "Ben"))[14]
        assert "iguana" in label.split(" · ")

    def test_two_phrases_of_one_meaning_are_one_theme(self):
        talks = [["My kitten is a cat.", "A kitten? A cat?"]] * 2 + TALKS[:4]
        units = conversation(talks).units("exchange")
        first, *_ = themes(grouped(units, [(0, 1), (2, 3), (4, 5)]), units)
        assert first in ("kitten", "cat")


class TestGiven:
    def test_a_title_by_a_model_is_the_label(self):
        units = conversation().units("exchange")
        plain = grouped(units, [(0, 1), (2, 3)])
        given = replace(plain, facts=(*plain.facts[:-1], {TITLE: "Boats and bread"}))
        assert themes(given, units)[-1] == "Boats and bread"

    def test_an_entity_is_called_by_its_name(self):
        memory = built("h-mem", sessions=3)
        structure = memory.structure
        names = [n for n, kind in enumerate(structure.kind) if kind == "entity"]
        short = [n for n in names if 0 < len(structure.text[n]) <= LENGTH and structure.active[n]]
        labels = memory.labels()
        assert all(labels[n] for n in short)


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


def test_a_memory_gives_its_labels_at_any_step():
    memory = segviz.build(conversation())
    for step in (0, 2):
        assert len(memory.labels(memory.at(step))) == len(memory.at(step))
