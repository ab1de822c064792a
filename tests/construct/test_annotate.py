import re
from collections import Counter
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz
from segviz.construct import annotate as module
from segviz.construct.annotate import Annotation, Extractive
from segviz.construct.tasks import words
from segviz.construct.tasks.words import LEAST_CONTENT, content, salience, words_of
from segviz.conversation import Turn
from segviz.evaluation.node_texts import line_counts
from segviz.retrieval.relevance.contextual import Contextual
from segviz.retrieval.relevance.lexical import Lexical
from segviz.systems.common.annotation import write
from segviz.text.dates import undated
from segviz.text.words import EXAMINED
from tests.memories import sample
from tests.trees import chat

PLAIN = st.lists(
    st.sampled_from(
        "boat rye kim harbour 2022 the you Sunday sail flour barometer Lisbon great".split()
    ),
    min_size=1,
    max_size=9,
).map(lambda said: " ".join(said).capitalize())
SAID = st.tuples(st.sampled_from(("Ada", "Ben")), PLAIN, st.sampled_from(".?!")).map(
    lambda line: f"{line[0]}: {line[1]}{line[2]}"
)


def plainly(annotate, texts):
    """The lines of one-sentence turns that cover most, by trying every one in every round."""
    rows = []
    for child, text in enumerate(texts):
        before = None
        for row in text.split("\n"):
            speaker, said = row.split(": ", 1)
            asked = before if before and before[0] != speaker and before[1][-1] == "?" else None
            rows.append((speaker, said, child, asked))
            before = speaker, said
    everybody = {name.lower() for name, *_ in rows}
    found, asked_before = {}, {}
    for speaker, said, child, asked in rows:
        asked_before.setdefault(said, asked and asked[1])
        weights = {w: salience(w) for w in words_of(said) if w not in everybody}
        length, names, number = count(said), inner_names(said), bool(re.search(r"\d", said))
        opens = said.endswith("?")
        brings = False
        if asked and module._ANSWERS <= sum(weights.values()) < module._NEEDS_QUESTION:
            opens, brings = False, True
            weights |= {w: salience(w) for w in words_of(asked[1]) if w not in everybody}
            length += count(asked[1])
            names |= inner_names(asked[1])
            number |= bool(re.search(r"\d", asked[1]))
        facts = min(2, len(names - everybody)) + number
        bonus = (1 + annotate.fact_bonus * facts) / (length + 3) ** 0.5
        bonus *= (0.5 if opens else 1) / max(1, length / module._LONG)
        found.setdefault(said, (speaker, said, weights, length, bonus, child, facts, brings))
    tells = [sum(c[2].values()) + module._FACT * (c[6] + c[7]) for c in found.values()]
    pool = list(found.values())
    for place, (_, said, *_, brings) in enumerate(pool):
        whole = f"{asked_before[said]} {said}" if brings else said
        if len(content(whole) - content(" ".join(everybody))) < LEAST_CONTENT:
            tells[place] = min(tells[place], annotate.floor - 1)
    enough = [c for c, each in zip(pool, tells, strict=True) if each >= annotate.floor]
    enough = enough or [pool[tells.index(max(tells))]]
    spread = Counter(word for c in enough for word in c[2])
    chosen, room = [], annotate.max_words

    def gain(c):
        said = Counter(word for other in chosen for word in other[2])
        lines = Counter(other[0] for other in chosen)
        pool = Counter(each[0] for each in enough)
        ahead_of = max(1, pool[c[0]] / (2 * min(pool.values())))
        ahead = lines[c[0]] - min(lines[name] for name in {each[0] for each in enough})
        before = sum(other[5] == c[5] for other in chosen) + max(0, ahead - 1)
        return (
            module._NEXT_SHARE**before
            * ahead_of**module._SPEAKER
            * c[4]
            * sum(w * spread[x] ** 0.4 * annotate.repeat ** said[x] for x, w in c[2].items())
        )

    left = list(enough)
    while left and room > 0:
        chosen.append(max(left, key=gain))
        room -= chosen[-1][3]
        left = [c for c in left if c is not chosen[-1] and c[3] <= room]
    return sorted(enough.index(c) for c in chosen), enough


def count(text):
    return len(words_of(text))


def inner_names(text):
    return {word.lower() for word in re.findall(r"(?<=\w )[A-Z]\w+", text)}


SAILED = "Ada: The harbour was frozen when we sailed to Bergen."
REPAIRED = "Ben: My grandmother repaired the barometer."
CODE = "sloop.set_rudder(int(float(harbour[mast])/(1e6)))"


class TestExtractive:
    @pytest.mark.parametrize(
        ("children", "words", "expected"),
        [
            (["Anything. At all!\nEven this"], 90, "Anything. At all!\nEven this"),
            (["", "  "], 90, ""),
            (["Ada: Hey!", "Ben: Great, you too!"], 90, "Ben: Great, you too!"),
            (["sloop " * 50, ""], 10, "sloop " * 9 + "sloop …"),
            (
                [
                    "Ada: Oh that sounds really nice, I think so too. How lovely!",
                    "Ben: I resumed playing drums in February 2022 with Kim. It is fun.",
                ],
                14,
                "Ben: I resumed playing drums in February 2022 with Kim.",
            ),
        ],
    )
    def test_the_text_is_what_tells_most(self, children, words, expected):
        assert Extractive(max_words=words)(children) == expected

    @pytest.mark.parametrize(
        ("child", "other", "part", "kept"),
        [
            ("Ada: A pup! What's their name?\nBen: Luna!", SAILED, "name?\nBen: Luna!", True),
            (f"Ada: And then?\n{REPAIRED[:-1]} from Lisbon.", SAILED, "And then?", False),
            ("Ada: Did Bergen freeze?\nBen: Yeah!", REPAIRED, "Yeah", False),
            ("Ada: See. [image: a mahogany sloop]", REPAIRED, "[image: a mahogany sloop]", True),
            (f"Ada: The sloop from Bergen leaks.\n{CODE}", REPAIRED, CODE, False),
        ],
        ids=["an answer with its question", "a long answer alone", "a nod", "a caption", "code"],
    )
    def test_what_is_kept_beside_another_child(self, child, other, part, kept):
        assert (part in Extractive(max_words=16)([child, other])) == kept

    def test_greetings_and_praise_are_left_out(self):
        found = Extractive()(
            [
                "James: Hey John! How are you?\nJohn: Hey James! I adopted a beagle in May.",
                "James: Wow, John! That's so cool, John.\nJohn: Thanks, James! Her name is Daisy.",
            ]
        )
        assert found == "John: I adopted a beagle in May.\nHer name is Daisy."

    @pytest.mark.parametrize(
        ("greeting", "news"),
        [
            ("你好!", "上个月我在京都收养了一只小狗。"),
            ("¡Hola!", "Adopté un cachorro en un refugio de Sevilla."),
            ("Hallo!", "Ich habe in Leipzig einen Hund adoptiert."),
        ],
    )
    def test_greetings_of_other_languages_are_left_out(self, greeting, news):
        assert Extractive()([f"Mei: {greeting}", f"Ana: {news}"]) == f"Ana: {news}"

    def test_a_line_of_one_content_word_is_left_out(self):
        praise = "Ada: Barcelona sounds awesome!"
        assert "Barcelona" not in Extractive()([praise, REPAIRED])

    def test_an_address_is_cut_off(self):
        children = [
            "Ada: Hey Ben, the barometer from Lisbon is broken.",
            "Ben: My grandmother repaired the barometer for nothing, Ada!",
        ]
        assert Extractive()(children) == (
            "Ada: The barometer from Lisbon is broken.\n"
            "Ben: My grandmother repaired the barometer for nothing!"
        )

    def test_one_name_for_a_run_of_lines_and_one_line_for_a_sentence(self):
        children = [
            "Ada: The first sloop sails to Bergen. The second sloop sank near Galway.",
            "Ben: A third yacht anchors in Split.",
        ]
        assert Extractive()(children).split("\n") == [
            "Ada: The first sloop sails to Bergen.",
            "The second sloop sank near Galway.",
            "Ben: A third yacht anchors in Split.",
        ]

    def test_a_list_item_is_nobody_speaking(self):
        turn = Turn("1", "Ada", "Then it goes like this:\nOven: preheat to 220 degrees")
        found = Extractive()([turn.spoken, "Ben: My grandmother repaired the barometer."])
        assert found.split("\n")[0] == "Ada: Oven: preheat to 220 degrees"
        again = Extractive()([found, "Ben: We sailed to Bergen on Sunday."])
        assert again.split("\n")[0] == "Ada: Oven: preheat to 220 degrees"

    def test_every_child_is_heard(self):
        words = "sloop harbour barometer accordion bakery puppy".split()
        children = [
            f"Ada: The {word} in Lisbon. My {word} from Bergen. Our {word} of 1968."
            for word in words
        ]
        found = Extractive(max_words=32)(children)
        assert all(word in found for word in words)

    @given(st.lists(st.text(max_size=200), min_size=2, max_size=6), st.integers(10, 40))
    def test_bounded_and_deterministic(self, texts, limit):
        annotate = Extractive(max_words=limit)
        summary = annotate(texts)
        assert summary == Extractive(max_words=limit)(texts)
        # Speakers' names, repeated in front of sentences, are not counted as words.
        bodies = [re.sub(r"^[^\n:]{1,60}: (?=\S)", "", line) for line in summary.split("\n")]
        assert sum(map(count, bodies)) <= limit

    @given(
        st.lists(st.lists(SAID, min_size=1, max_size=4).map("\n".join), min_size=2, max_size=9),
        st.integers(10, 40),
        st.sampled_from([0.2, 0.4, 1.0]),
        st.sampled_from([0.0, 0.25]),
    )
    def test_agrees_with_trying_every_line_in_every_round(self, texts, limit, repeat, bonus):
        annotate = Extractive(limit, repeat=repeat, fact_bonus=bonus)
        places, rows = plainly(annotate, texts)
        candidates, children = module._candidates(annotate, texts, False)
        assert [each.line.text for each in candidates] == [row[1] for row in rows]
        chosen = module._cover(annotate, candidates, children, limit, False)
        gained = [candidates.index(each) for each in chosen]
        if gained != places:  # equal but for ties that rounding decides
            assert len(gained) == len(places)
            first = next(i for i in range(len(places)) if gained[i] != places[i])
            one, other = rows[gained[first]], rows[places[first]]
            assert one[3] == other[3]

    def test_many_children_are_read_in_groups(self):
        texts = [f"Ada: Boat {i} sails to harbour {i} in Bergen." for i in range(70)]
        annotate = Extractive()
        groups = [annotate(texts[first : first + 32]) for first in (0, 32, 64)]
        assert annotate(texts) == annotate(groups)

    def test_a_person_is_heard_beside_an_assistant(self):
        advice = [f"Bot: The harbour of {town} has a mahogany sloop." for town in TOWNS]
        asked = "Ada: My grandmother repaired our barometer in 1968."
        assert asked in Extractive(max_words=20)(["\n".join(advice), asked])

    def test_no_sentence_ends_at_an_abbreviation(self):
        child = "Ada: We saw Mrs. Maisel and Dr. Smith in Bergen (approx. 200 people)."
        assert Extractive()([child, "Ben: Hi!"]) == child

    @pytest.mark.parametrize("name", ["J. K. Rowling", "I. M. Pei", "É. Zola", "А. С. Пушкин"])
    def test_no_sentence_ends_at_an_initial(self, name):
        assert words.sentences(f"We met {name} in Bergen. So did I. It rained.") == [
            f"We met {name} in Bergen.",
            "So did I.",
            "It rained.",
        ]


TOWNS = "Bergen Lisbon Galway Polruan Leipzig Sevilla Kyoto Trieste Malmö Aarhus".split()


def leaf(text, day=None):
    return Annotation(text, days=(day,) if day else ())


class TestUpperTexts:
    def level_two(self, town):
        lines = [
            f"Ada: A sloop from {town} carries copper rivets and rye flour.",
            f"Ben: My aunt in {town} tunes accordions for the harbour choir.",
            "Ada: She repaired the mahogany barometer of the lighthouse keeper.",
        ]
        return Annotation("\n".join(lines), height=2)

    def test_they_grow_with_their_children_and_have_a_line_of_each(self):
        (few,) = Extractive().many([[self.level_two(town) for town in TOWNS[:2]]])
        (many,) = Extractive().many([[self.level_two(town) for town in TOWNS]])
        assert count(few.text) <= 95 < count(many.text) <= module._MOST_WORDS + 20
        assert all(town in many.text for town in TOWNS)
        (low,) = Extractive().many([[replace(self.level_two(t), height=1) for t in TOWNS]])
        assert count(low.text) <= 95

    def test_no_line_refers_to_one_that_is_not_there(self):
        children = [self.level_two(town) for town in TOWNS]
        assert "She repaired" not in Extractive().many([children])[0].text
        only = [Annotation(f"Ada: She left for the harbour of a {w}.", height=2) for w in TOWNS]
        assert "She left" in Extractive().many([only[:2]])[0].text  # better than nothing

    def test_height_counts_texts_written_from_texts(self):
        one = leaf("Ada: A sloop.")
        (two,) = write(Extractive(), [[one, one]])
        (passed,) = write(Extractive(), [[two]])
        (three,) = write(Extractive(), [[passed, one]])
        assert [each.height for each in (one, two, passed, three)] == [0, 1, 1, 2]


class TestDates:
    def test_relative_times_get_their_date(self):
        children = [
            leaf("Ada: I sailed to Bergen yesterday.", date(2023, 5, 8)),
            leaf("Ben: My barometer broke last week.", date(2023, 6, 12)),
        ]
        (written,) = write(Extractive(), [children])
        assert written.text == (
            "Ada: I sailed to Bergen yesterday (7 May 2023).\n"
            "Ben: My barometer broke last week (5 to 11 June 2023)."
        )
        (above,) = write(Extractive(), [[written, leaf(REPAIRED, date(2023, 7, 1))]])
        assert "yesterday (7 May 2023)." in above.text
        (passed,) = write(Extractive(), [children[:1]])
        assert passed.text == children[0].text  # a leaf is as it was said

    def test_the_tree_and_its_lines_are_those_without_dates(self, monkeypatch):
        memory = segviz.build(sample(sessions=12))
        monkeypatch.setattr(module, "_with_dates", lambda text, days: text)
        plain = segviz.build(sample(sessions=12)).structure
        s = memory.structure
        assert [undated(text) for text in s.text] == list(plain.text)
        assert np.array_equal(s.edges, plain.edges)
        assert np.array_equal(s.level, plain.level)
        changed = [n for n in s.nodes.tolist() if s.text[n] != plain.text[n]]
        assert changed
        assert all(s.level[n] > 0 for n in changed)
        # Chains of one text stay chains, and retrieval is as without dates.
        assert np.array_equal(s.collapsed.chain, plain.collapsed.chain)
        assert np.array_equal(s.vector, plain.vector)
        for relevance in (Lexical(), Contextual()):
            scores = [
                relevance.prepare(each, memory.embedder, memory.units, ())(["When was the boat?"])
                for each in (s, plain)
            ]
            assert np.array_equal(*scores)
        speakers = memory.conversation.speakers
        assert line_counts(s, speakers) == line_counts(plain, speakers)

    def test_dates_do_not_depend_on_what_follows(self):
        memory = segviz.build(sample(sessions=8))
        for sessions in (2, 5):
            first = segviz.build(sample(sessions=sessions)).structure
            assert memory.at(len(first.leaves)).text == first.text


class TestSalience:
    def test_small_talk_tells_less_than_things(self):
        talk = max(map(salience, "hey great you thanks good so".split()))
        assert talk < min(map(salience, "shelter adoption barometer kayaking".split()))

    def test_without_vectors_rarity_decides(self, monkeypatch):
        monkeypatch.setattr("segviz.construct.tasks.words.word_vectors", lambda: None)
        without = words._usual.__wrapped__()
        monkeypatch.setattr("segviz.construct.tasks.words._usual", lambda: without)
        assert salience.__wrapped__("you") < salience.__wrapped__("barometer") == 1.0


# --- summaries of the data set -------------------------------------------------------------------


def extract_of(structure, units, node):
    """The extract of a node's children, whose days and heights follow from what is below them."""

    def given(n):
        if structure.level[n] == 0:
            return leaf(structure.text[n], *units[int(structure.start[n])].days)
        return Annotation(structure.text[n]).over([given(each) for each in structure.children[n]])

    return Extractive().many([[given(each) for each in structure.children[node]]])[0].text


@pytest.mark.parametrize("system", ["segment-tree", "raptor"])
@pytest.mark.parametrize("unit", ["exchange", "turn"])
def test_exactly_the_nodes_that_cover_one_session_have_its_summary(system, unit):
    talk = sample(sessions=6)
    told = [replace(one, summary=f"Summary {n}.") for n, one in enumerate(talk.sessions[:-1])]
    talk = replace(talk, sessions=(*told, talk.sessions[-1]))
    trees = [{}]
    if system == "segment-tree":
        trees += [{"compatibility": {"name": "calibrated", "level_1": -2, "session_break": 4}}]
    for parts in trees:
        memory = segviz.build(talk, system, unit, annotate="session-summaries", **parts)
        s = memory.structure
        units = [one.session for one in memory.units]
        of_session = {tuple(np.flatnonzero(np.equal(units, n))): n for n in range(len(told))}
        wide = [n for n in np.flatnonzero(s.active).tolist() if len(s.children[n]) > 1]
        for node in wide:
            session = of_session.get(tuple(s.coverage(node)))
            extract = extract_of(s, memory.units, node)
            assert s.text[node] == (extract if session is None else f"Summary {session}.")
            by = s.facts[node]["written by"]
            assert ("session_summary" in by) == (session is not None)
        if parts:
            level_1 = [n for n in wide if s.level[n] == 1]
            assert len(level_1) == 6
            assert {of_session.get(tuple(s.coverage(n))) for n in level_1} == {*range(5), None}


def test_a_conversation_without_summaries_is_refused():
    with pytest.raises(ValueError, match="session_summary"):
        segviz.build(sample(sessions=2), annotate="session-summaries")


def test_of_a_pasted_file_only_the_beginning_is_quoted_and_named():
    start = "The harbour has a red boat. " * (EXAMINED // 28)
    pasted = start + "\n".join(f"Zeppelin number {i} flies over Ghent." for i in range(9_000))
    memory = segviz.build(chat([[("A", pasted), ("B", "A fine boat."), ("A", "Indeed so.")]]))
    structure = memory.structure
    inner = [structure.text[node] for node in structure.nodes if structure.level[node]]
    assert any("red boat" in text for text in inner)
    # A node that covers the pasted leaf alone has its text; every other one quotes lines of it.
    assert not any("Zeppelin" in text for text in inner if len(text) < EXAMINED)
    assert not any("zeppelin" in label.lower() for label in memory.labels())
    assert (
        memory.ask("Where is Zeppelin number 8999?").evidence[0].text.startswith("A: The harbour")
    )
