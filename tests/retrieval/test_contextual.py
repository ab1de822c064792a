"""The contextual relevance against its definition, written out with dicts and loops."""

import itertools
import math
import re
from collections import Counter
from dataclasses import replace
from datetime import datetime
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import segviz
from segviz.embedding import HashingEmbedder, background_lines, get_embedder, word_vectors
from segviz.retrieval import over_active, relevance_model, spelled
from segviz.retrieval.relevance import Contextual, matches, parts
from segviz.retrieval.relevance.lexical import STOP, stem
from segviz.retrieval.relevance.session_dates import SessionDates
from tests.trees import chat, grown

WORDLLAMA = get_embedder("wordllama")
WORDS = "boat dog? red sails dog barked the in May 2023 Ana painting".split()
MONTHS = "january february march april may june july august september october november december"
LONG = " ".join(f"Sentence {i} tells of a boat and a painting of sails." for i in range(30))


def split(text):
    return re.findall(r"\w+", text.lower())


def rarity(n, holders):
    return math.log(1 + (n - holders + 0.5) / (holders + 0.5))


def asking(structure, leaves, units):
    """Of every leaf that answers the line that asks."""
    found = {}
    row = sorted(leaves, key=lambda leaf: structure.start[leaf])
    for before, leaf in itertools.pairwise(row):
        asks = structure.text[before].split("\n")[-1]
        said = re.sub(r"\[image: .*\]$", "", asks).strip()
        one, other = units[structure.start[before]], units[structure.start[leaf]]
        if said.endswith("?") and one.session == other.session:
            found[leaf] = asks
    return found


def heard(structure, words, beside):
    """C as a dense matrix, for nodes of so many words."""
    n = len(structure)
    matrix = np.zeros((n, n))
    for level in set(structure.level.tolist()):
        row = sorted(
            (node for node in range(n) if structure.level[node] == level),
            key=lambda node: (structure.start[node], node),
        )
        for place, node in enumerate(row):
            for step in (-2, -1, 1, 2):
                if 0 <= place + step < len(row):
                    low, high = sorted((place, place + step))
                    between = sum(words[row[i]] for i in range(low + 1, high))
                    away = (words[row[low]] + words[row[high]]) / 2 + between
                    matrix[node, row[place + step]] += beside * 100 / (100 + away)
    return matrix


def unit(vector):
    norm = np.linalg.norm(vector)
    return vector / norm if norm else vector


def passages(text):
    found = []
    for sentence in re.split(r"(?<=[.!?。！？])\s*(?=\S)|\n+", text):
        if found and len(split(found[-1])) + len(split(sentence)) <= 100:
            found[-1] += "\n" + sentence
        elif split(sentence):
            found.append(sentence)
    return found


def restated(model, structure, units, speakers, question, most_similar=50):  # noqa: C901
    """Every ingredient by its definition: name → n contributions to the logarithm."""
    n = len(structure)
    leaves = [i for i in range(n) if structure.level[i] == 0] or list(range(n))
    asks = asking(structure, leaves, units)
    text = [asks.get(node, "") + "\n" + structure.text[node] for node in range(n)]
    words = []  # of every node, each with what it counts
    for node in range(n):
        own = split(structure.text[node])
        share = model.asked * 100 / (100 + len(own))
        words.append([(w, share) for w in split(asks.get(node, ""))] + [(w, 1.0) for w in own])
    c = heard(structure, [sum(k for _, k in each) for each in words], model.beside)

    def standardised(values):
        values = np.array(values)
        spread = values[leaves].std()
        return (values - values[leaves].mean()) / spread if spread > 1e-3 else values * 0.0

    names = {word for speaker in speakers for word in split(speaker)}
    cut = re.sub(r"(\w+)['’]s\b", lambda m: "" if m[1].lower() in names else m[0], question)
    telling = [word for word in split(cut) if word not in names] or split(question)
    # words
    stems = [Counter() for _ in words]
    for stemmed, each in zip(stems, words, strict=True):
        for w, k in each:
            if w not in STOP:
                stemmed[stem(w)] += k
    sizes = np.array([sum(found.values()) for found in stems], dtype=float)
    sizes = sizes + c @ sizes
    mean = max(sizes[leaves].mean(), 1e-12)
    bm25 = np.zeros(n)
    for word in (stem(w) for w in split(question) if w not in STOP):
        own = np.array([float(found[word]) for found in stems])
        if own.any():
            count = own + c @ own
            idf = rarity(len(leaves), sum(own[leaf] > 0 for leaf in leaves))
            bm25 += idf * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * sizes / mean))
    found = {"words": model.words * standardised(bm25)}
    # meaning
    counts = Counter(word for line in background_lines() for word in split(line))
    for leaf in leaves:
        for w, k in words[leaf]:
            counts[w] += k
    vector = {w: v for w in {*counts, *telling} for v in word_vectors(WORDLLAMA).words([w])}
    for t in text:
        for w in split(t):
            vector.setdefault(w, word_vectors(WORDLLAMA).words([w])[0])

    def summed(pairs):
        weights = [(w, k * 0.001 / (0.001 + counts[w] / counts.total())) for w, k in pairs]
        return unit(sum((k * vector[w] for w, k in weights), np.zeros(256)))

    def once(each):
        return summed((w, 1.0) for w in each)

    whole = np.array([summed(each) for each in words])
    around = c @ whole
    query = once(telling)
    meaning = []
    for node in range(n):
        score = float(unit(whole[node] + around[node]) @ query)
        pieces = passages(text[node])
        if len(pieces) > 1:
            left, best = list(words[node]), -1.0
            for piece in pieces:
                here, left = left[: len(split(piece))], left[len(split(piece)) :]
                best = max(best, float(unit(summed(here) + around[node]) @ query))
            score = (score + best) / 2
        meaning.append(score)
    found["meaning"] = model.meaning * standardised(meaning)
    # similar
    vocabulary = {w for t in text for w in split(t)}
    content = sorted(vocabulary - STOP)
    centre = np.mean([vector[w] for w in content], axis=0)
    similar = np.zeros(n)
    for word in dict.fromkeys(w for w in telling if w not in STOP):
        asked = unit(vector[word] - centre)
        idf = rarity(len(leaves), sum(word in split(text[leaf]) for leaf in leaves))
        cosines = {w: float(unit(vector[w] - centre) @ asked) for w in content}
        nearest = sorted(content, key=cosines.__getitem__)[-most_similar:]
        worth = {w: cosines[w] ** 2 for w in nearest if cosines[w] >= 0.2}
        for node in range(n):
            similar[node] += idf * max((worth.get(w, 0.0) for w in split(text[node])), default=0.0)
    found["similar"] = model.similar * standardised(similar)
    # dates
    times = [u.time for u in units[: int(structure.stop.max())]]
    months = {
        MONTHS.split().index(m.lower()) + 1
        for m in re.findall(r"\w+", question)
        if m.lower() in MONTHS.split() and m != "may"
    }
    named = [lambda t, y=int(y): t.year == y for y in set(re.findall(r"\b20\d\d\b", question))]
    named += [lambda t, m=m: t.month == m for m in months]
    if months:
        for d in {int(d) for d in re.findall(r"\b(\d{1,2})(?:st|nd|rd|th)?\b", question)}:
            named.append(lambda t, d=d: t.day == d and t.month in months)
    if question == LAST_MONTH:  # the last unit is of 14 May 2023
        named.append(lambda t: (t.year, t.month) == (2023, 4))
    dates = np.zeros(n)
    for fits in named:
        held = [t is not None and fits(t) for t in times]
        if any(held):
            idf = rarity(len(times), sum(held))
            for node in range(n):
                span = range(structure.start[node], structure.stop[node])
                dates[node] += idf * sum(held[u] for u in span) / len(span)
    found["dates"] = model.dates * dates
    # opening
    first = sum(found.values())
    sessions = [u.session for u in units[: int(structure.stop.max())]]
    opening = np.zeros(n)
    for node in range(n):
        for u in range(structure.start[node], structure.stop[node]):
            if u == 0 or sessions[u - 1] != sessions[u]:
                inside = [leaf for leaf in leaves if sessions[structure.start[leaf]] == sessions[u]]
                heard_of = math.log(1 + math.exp(np.mean(first[inside])))
                opening[node] += heard_of / (structure.stop[node] - structure.start[node])
    found["opening"] = model.opening * opening * (1 - 1 / len(set(sessions))) * first.any()
    return {name: part / model.temperature for name, part in found.items()}


def conversation(sessions):
    speakers = cycle(("Ana", "Bo Li"))
    said = [[(next(speakers), text) for text in turns] for turns in sessions]
    made = chat(said, (), datetime(2023, 4, 5), range(0, 39 * len(said), 39))
    return replace(made, speakers=("Ana", "Bo Li"))


LAST_MONTH = "What barked last month?"
QUESTIONS = (
    LAST_MONTH,
    "When did Ana's dog bark at the red boat?",
    "What did Bo paint in May 2023?",
    "boats on 14 May",
    "Ana?",
    "",
)


@pytest.mark.parametrize(("unit", "most_similar"), [("turn", 50), ("exchange", 2)])
@pytest.mark.parametrize("system", ["segment-tree", "memforest"])
def test_equals_its_definition(system, unit, most_similar):
    first = [
        *("the red boat sails", "my dog barked at it", LONG, "Ana, is it a painting?"),
        *("a harbour at night", "boats in the harbour", "its lantern, red", "bread?"),
    ]
    second = [
        *("we painted in the garden", "a barking dog again", "boats? [image: sails]", "bread"),
        *("a lantern went out", "a garden of herbs", "tomorrow, then", "we bake at night"),
    ]
    memory = segviz.build(conversation([first, second]), system=system, unit=unit)
    model, dense = Contextual(), memory.structure.collapsed
    rows = np.flatnonzero(dense.active)
    place = {int(row): i for i, row in enumerate(rows)}
    edges = [(place[p], place[c]) for p, c in dense.edges.tolist() if p in place and c in place]
    living = segviz.tree.Structure(
        *(column[rows] for column in (dense.level, dense.start, dense.stop)),
        tuple(dense.text[r] for r in rows.tolist()),
        *(column[rows] for column in (dense.vector, dense.active)),
        np.array(edges, dtype=np.int32).reshape(-1, 2),
    )
    scorer = model.prepare(living, WORDLLAMA, memory.units, memory.speakers, most_similar)
    for question in QUESTIONS:
        expected = restated(model, living, memory.units, memory.speakers, question, most_similar)
        found = parts(scorer, question)
        assert list(found) == list(expected)
        for name, part in expected.items():
            np.testing.assert_allclose(found[name], part, atol=2e-4, err_msg=name)
        total = sum(expected.values())
        raw = scorer([question])[0]
        np.testing.assert_allclose(raw, np.exp(total - total.max()), rtol=2e-3)


def test_matching_words_equal_their_definition():
    conv = conversation([["the red boat sails", "my dog barked"], ["boats, painted: barking dogs"]])
    memory = segviz.build(conv, unit="turn")
    texts = [*memory.structure.text, "nothing here", ""]
    vocabulary = {w for text in memory.structure.text for w in split(text)}
    words = word_vectors(WORDLLAMA)
    centre = words.words(sorted(vocabulary - STOP)).mean(axis=0)

    def place(word):
        return unit(words.words([word])[0] - centre)

    for question in ("When did Ana's dog bark at the ship?", "Ana?", ""):
        telling = [w for w in split(question.replace("Ana's", "")) if w not in STOP]
        asked = {stem(w) for w in split(question) if w not in STOP}
        expected = []
        for text in texts:
            same = {w: 1.0 for w in split(text) if w not in STOP and stem(w) in asked}
            for word in telling:
                said = [w for w in split(text) if w in vocabulary - STOP]
                cosines = {w: float(place(w) @ place(word)) for w in said}
                best = max(cosines, key=cosines.__getitem__, default="")
                if best and cosines[best] >= 0.4:
                    same.setdefault(best, cosines[best])
            expected.append(same)
        for model, wanted in (
            (Contextual(), expected),
            (Contextual(words=0, similar=0), [{} for _ in texts]),
            (relevance_model("lexical"), [{w: 1.0 for w in e if e[w] == 1.0} for e in expected]),
            (relevance_model("hybrid"), [{w: 1.0 for w in e if e[w] == 1.0} for e in expected]),
            (relevance_model("dense"), [{} for _ in texts]),
        ):
            scorer = over_active(model, memory.structure, WORDLLAMA, memory.units, memory.speakers)
            found = matches(scorer, question, texts)
            assert [set(each) for each in found] == [set(each) for each in wanted]
            for mine, theirs in zip(found, wanted, strict=True):
                assert mine == pytest.approx(theirs, abs=1e-4)
    result = memory.ask("When did the dog bark at the ship?")
    heard = result.matches(range(len(result.structure)))
    assert all(heard.values())
    assert heard[1].keys() >= {"dog", "barked"}


@settings(max_examples=25)
@given(hs.lists(hs.lists(hs.sampled_from(WORDS), min_size=1, max_size=6), min_size=1, max_size=9))
def test_any_texts_equal_the_definition(texts):
    conv = conversation([[" ".join(words) for words in texts]])
    memory = segviz.build(conv, unit="turn")
    model = Contextual(beside=0.5, temperature=1.0)
    structure = memory.structure
    scorer = over_active(model, structure, WORDLLAMA, memory.units, memory.speakers)
    question = "Did Ana's dog sail a red boat in May 2023?"
    expected = restated(model, structure, memory.units, memory.speakers, question)
    for name, part in parts(scorer, question).items():
        np.testing.assert_allclose(part, expected[name], rtol=5e-3, atol=5e-4, err_msg=name)


class TestIngredients:
    def test_one_that_weighs_nothing_is_not_there(self):
        memory = segviz.build(conversation([["a boat", "a dog"]]))
        scorer = memory.scorer("contextual:dates=0,similar=0")
        assert list(parts(scorer, "in May")) == ["words", "meaning", "opening"]
        every = parts(memory.scorer("contextual"), "a dog in May")
        none = parts(memory.scorer("contextual:opening=0"), "a dog in May")
        assert list(none) == ["words", "meaning", "similar", "dates"]
        assert all((none[name] == every[name]).all() for name in none)

    def test_the_vectors_of_another_embedder_are_one_more(self):
        embedder, conv = HashingEmbedder(), conversation([["a boat", "a dog", "bread"]])
        memory = segviz.build(conv, unit="turn", embedder=embedder)
        found = parts(memory.scorer("contextual"), "Ana's boat")
        assert " ".join(found) == "words meaning similar dates model opening"
        raw = memory.structure.vector @ embedder.embed([" boat"])[0]
        leaves = list(memory.structure.leaves)
        expected = 0.6 / 2 * (raw - raw[leaves].mean()) / raw[leaves].std()
        np.testing.assert_allclose(found["model"], expected, atol=1e-5)

    def test_an_answer_is_read_with_its_question(self):
        def words(asks, *, names=("Ana", "Bo Li"), sessions=1, off="", answer=""):
            told = (asks, "in the harbour" + answer, "no more", "no")
            turns = list(zip(names * 2, told, strict=True))
            memory = segviz.build(
                chat([turns] if sessions == 1 else [turns[:1], turns[1:]]), unit="turn"
            )
            scorer = memory.scorer(f"contextual:beside=0{off}")
            return parts(scorer, "zeppelin")["words"][list(memory.structure.collapsed.leaves)]

        asked = words("Where is the zeppelin?")
        assert asked[1] > asked[2]
        long = words("Where is the zeppelin?", answer=" and a word" * 60)
        assert asked[1] - asked[2] > long[1] - long[2] > 0
        for other in (
            words("Here is the zeppelin."),
            words("Where is the zeppelin?", names=("User", "Assistant")),
            words("Where is the zeppelin?", sessions=2),
            words("Where is the zeppelin?", off=",asked=0"),
        ):
            assert other[1] == other[2]

    def test_of_an_empty_structure(self):
        scorer = Contextual().prepare(grown([], []), WORDLLAMA)
        assert all(len(part) == 0 for part in scorer.parts("boat").values())


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("first weekend of October 2023", range(7, 16)),  # the 7th and 8th, and a week
        ("the last week of October, 2023", [*range(25, 32)]),
        ("second week of October", range(8, 22)),
        ("mid-October 2023", range(11, 28)),
        ("at the end of October 2023", range(21, 32)),
        ("early October 2023", range(1, 18)),
    ],
)
def test_a_span_inside_a_month_is_its_days_and_the_week_after(question, days):
    weights = SessionDates([datetime(2023, 10, day, 9) for day in range(1, 32)])
    found = weights.weights(question)
    rest = weights.weights("October 2023" if "2023" in question else "October")
    assert (np.flatnonzero(found - rest) + 1).tolist() == list(days)


class TestSpelling:
    def test_defaults_are_left_out_and_the_order_is_that_of_the_parameters(self):
        assert spelled(relevance_model("contextual:dates=2,words=1")) == "contextual"
        model = relevance_model("contextual:beside=0,words=0.5")
        assert model == Contextual(words=0.5, beside=0)
        assert spelled(model) == "contextual:words=0.5,beside=0"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("nothing", "unknown relevance 'nothing'; choose one of contextual"),
            ("contextual:dates", "'dates' is no parameter with a number"),
            ("contextual:dates=x", "'dates=x' is no parameter"),
            ("contextual:colour=1", "no parameter 'colour'"),
            ("contextual:dates=9", "dates is 9.0; it must lie between 0 and 5"),
            ("contextual:dates=nan", "dates is nan; it must lie"),
            ("dense:k1=1", "Dense has no parameter 'k1'"),
        ],
    )
    def test_others_are_refused(self, text, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            relevance_model(text)
