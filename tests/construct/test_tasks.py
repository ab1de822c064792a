"""The small judgements of rival systems: rules, and a chat model over the wire."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import product

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from segviz.construct import Services
from segviz.construct.tasks import Offline, words
from segviz.construct.tasks.chat_model import ChatTasks
from segviz.construct.tasks.offline import MOST_UNSURE
from segviz.llm import Endpoint, ModelCache, OpenAIChat
from segviz.systems import HMem, MemForest, XMemory
from segviz.text import dates
from tests.llm.server import ModelServer, enum

NOW = datetime(2023, 5, 10, 14, 0)  # a Wednesday
OFFLINE = Offline()


def day(*parts):
    start = datetime(*parts)
    return start, start + timedelta(days=1)


class TestDates:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("I went yesterday.", day(2023, 5, 9)),
            ("Last week was hard.", (datetime(2023, 5, 1), datetime(2023, 5, 8))),
            ("next month", (datetime(2023, 6, 1), datetime(2023, 7, 1))),
            ("two years ago", (datetime(2021, 1, 1), datetime(2022, 1, 1))),
            ("last Friday", day(2023, 5, 5)),
            ("on May 7, 2022", day(2022, 5, 7)),
            ("on 3 June", day(2022, 6, 3)),
            ("in December", (datetime(2022, 12, 1), datetime(2023, 1, 1))),
            ("in February 2024", (datetime(2024, 2, 1), datetime(2024, 3, 1))),
            ("on 31 February 2024", (datetime(2024, 2, 1), datetime(2024, 3, 1))),
            ("2023-02-28", day(2023, 2, 28)),
            ("back in 2019", (datetime(2019, 1, 1), datetime(2020, 1, 1))),
            ("the day before yesterday", day(2023, 5, 8)),
            ("the week before last", (datetime(2023, 4, 24), datetime(2023, 5, 1))),
            ("the weekend after next", (datetime(2023, 5, 27), datetime(2023, 5, 29))),
            ("the Friday before last", day(2023, 4, 28)),
            ("the Sunday before 25 May 2023", day(2023, 5, 21)),
            ("the Sunday before 28 May 2023", day(2023, 5, 21)),
            ("the weekend before 3 July 2022", (datetime(2022, 6, 25), datetime(2022, 6, 27))),
            ("the week before 9 June 2022", (datetime(2022, 6, 2), datetime(2022, 6, 9))),
            ("the week after 9 June 2022", (datetime(2022, 6, 10), datetime(2022, 6, 17))),
            ("the month after March", (datetime(2023, 4, 1), datetime(2023, 5, 1))),
            ("on the 5th", day(2023, 5, 5)),
            ("on the 25th", day(2023, 4, 25)),
            ("in 3 days", day(2023, 5, 13)),
            ("in a couple of weeks", (datetime(2023, 5, 21), datetime(2023, 5, 28))),
            ("Sept 9", day(2022, 9, 9)),
            ("9 Sept. 2022", day(2022, 9, 9)),
        ],
    )
    def test_resolved(self, text, expected):
        assert dates.resolve(text, NOW)[0] == expected

    @pytest.mark.parametrize(
        ("text", "now"), [("you may go", NOW), ("no time", NOW), ("", NOW), ("yesterday", None)]
    )
    def test_nothing_named_or_nothing_to_count_from(self, text, now):
        assert dates.resolve(text, now) is None

    @given(st.text(max_size=60), st.datetimes())
    def test_any_text_and_time(self, text, now):
        found = dates.resolve(text, now)
        assert found is None or found[0][0] < found[0][1]


class TestExtract:
    def test_facts_names_and_dates(self):
        found = OFFLINE.extract(
            "Ada: Hi Ben! Yesterday I visited Utrecht with Clara. Isn't that nice?\n"
            'Ben: I read "The Waves" twice.',
            NOW,
        )
        assert [f.text for f in found.facts] == [
            "Ada: Yesterday (2023-05-09) I visited Utrecht with Clara.",
            'Ben: I read "The Waves" twice.',
        ]
        assert found.facts[0].about == day(2023, 5, 9)
        kinds = {e.name: e.kind for e in found.entities}
        people = dict.fromkeys(("Ada", "Clara", "Ben"), "person")
        assert kinds == {**people, "Utrecht": "location", "The Waves": "work"}
        assert any(r.head == "Ada" and r.tail == "Utrecht" for r in found.relations)

    @pytest.mark.parametrize(
        ("said", "domain"),
        [
            ("My son waited for us", "family"),
            ("The cats chased a mouse", "pets"),
            ("We drank black tea", "food"),
            ("She moved away quickly", "home"),
            ("They sculpted modern art", "arts"),
            ("The sonnet rhymed badly", "other"),  # a cue that is a whole word
        ],
    )
    def test_a_fact_belongs_to_the_domain_of_its_cue_words(self, said, domain):
        (fact,) = OFFLINE.extract(f"Ada: {said}.", NOW).facts
        assert fact.domain == domain

    def test_greetings_and_questions_state_nothing(self):
        assert OFFLINE.extract("Ada: Hey Ben! How are you?\nBen: Great, thanks!", NOW).facts == ()

    def test_what_is_known_is_left_out(self):
        text = "Ada: I own a red bicycle."
        fact = OFFLINE.extract(text, NOW).facts[0].text
        assert OFFLINE.extract(text, NOW, [fact]).facts == ()

    @given(st.text(max_size=300))
    def test_any_text(self, text):
        found = OFFLINE.extract(text, NOW)
        assert len(found.facts) <= 15
        assert OFFLINE.extract(text, NOW) == found

    @pytest.mark.parametrize(
        ("sentence", "found"),
        [
            ("We walked the old dogs quickly.", ["dogs"]),
            ("My sister works at the animal shelter.", ["sister", "animal shelter"]),
            ("I love hiking and enjoy board games.", ["hiking", "board games"]),
            ("Thanks for letting me know about it.", []),
            ("I bought my mom's friend a nice lamp last week.", ["mom", "lamp"]),
            ("It was a great day with lots of them.", []),
            ("I worked to get there.", []),
        ],
    )
    def test_things(self, sentence, found):
        assert [thing for _, thing, _ in words.things(sentence)] == found
        for place, thing, _ in words.things(sentence):
            assert sentence[place:].startswith(thing)

    def test_relatives_are_the_speakers(self):
        found = OFFLINE.extract("Ada: My sister sold our boat to the neighbour.", NOW)
        assert [(e.name, e.kind) for e in found.entities] == [
            ("Ada", "person"),
            ("Ada's sister", "person"),
            ("boat", "other"),
            ("neighbour", "person"),
        ]
        assert {(r.head, r.label, r.tail) for r in found.relations} == {
            ("Ada", "co-occurs", "Ada's sister"),
            ("Ada's sister", "sold", "boat"),
            ("boat", "co-occurs", "neighbour"),
            ("Ada", "sold", "boat"),
            ("Ada", "sold", "neighbour"),
        }

    def test_names_do_not_come_from_the_capital_of_a_sentence(self):
        found = words.names("Bicycles are great, says Jean Luc of Utrecht's club.")
        assert found == ["Jean Luc", "Utrecht"]


class TestQuestions:
    def test_a_pair_of_names_gives_two_parts(self):
        parts = OFFLINE.plan("What do both Ada and Ben paint?", NOW)
        assert [p.text for p in parts] == ["What do Ada paint?", "What do Ben paint?"]

    def test_scope_time_and_kind(self):
        (part,) = OFFLINE.plan("When did Ada visit Utrecht in May 2022?", NOW)
        assert (part.scope, part.expects) == ("short", "date")
        assert part.when == (datetime(2022, 5, 1), datetime(2022, 6, 1))
        assert OFFLINE.plan("What would Ada likely prefer?", NOW)[0].scope == "long"

    def test_missing_asks_with_an_anchor_from_the_evidence(self):
        follow = OFFLINE.missing("When did Ada buy a boat?", ["Ada met Clara at the harbour."])
        assert follow is not None
        assert "Clara" in follow
        assert OFFLINE.missing("When did Ada buy a boat?", ["It was in May 2022."]) is None
        assert OFFLINE.missing("When?", []) is None

    @given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=5), st.text(max_size=60))
    def test_more_context_never_makes_less_sure(self, question, context, more):
        before, after = (OFFLINE.uncertainty(question, c) for c in (context, [*context, more]))
        assert 0 <= after <= before <= MOST_UNSURE

    def test_uncertainty_by_hand(self):
        # Stems: ada, boat, call; the best text holds two of three, and a name.
        assert Offline().uncertainty("Who is Ada's boat called by?", ["the boat of Ada sank"]) == (
            pytest.approx(5 * (1 - 0.7 * 2 / 3 - 0.3))
        )


class TestJudgements:
    def test_same_wants_equal_numbers_days_and_negations(self):
        assert OFFLINE.same("Ada has two cats", "ada has TWO cats.")
        assert not OFFLINE.same("It cost 450 euros", "It cost 460 euros")
        assert not OFFLINE.same("She likes it", "She does not like it")

    def test_boundary(self):
        assert OFFLINE.boundary(["a"], "By the way, I moved.", 0.9).ends
        assert OFFLINE.boundary(["a"], "b", 0.0).ends
        assert not OFFLINE.boundary(["a"], "b", 0.5).ends

    def test_order_is_by_score_and_age(self):
        assert OFFLINE.order("q", ["a", "b", "c"], [0.1, 0.5, 0.5]) == [1, 2, 0]


@pytest.fixture
def server():
    with ModelServer() as running:
        yield running


@pytest.fixture
def asked(server):
    cache = ModelCache(None)
    chat = OpenAIChat(Endpoint(server.url, model="m", timeout=0.5, retries=1), cache)
    own = {**HMem.prompts, **MemForest.prompts, **XMemory.prompts}
    yield ChatTasks().prepare(Services(embedder=None, chat=chat, prompts=own))
    chat.close()
    cache.close()


class TestChatTasks:
    def test_extraction(self, server, asked):
        told = {"text": "Ada moved to Utrecht.", "speaker": "Ada", "when": "yesterday"}
        told |= {"entities": [{"name": "Utrecht", "kind": "location"}, {"name": 3}]}
        told |= {"domain": "Home", "role": "fact"}
        relations = [
            {"head": "Ada", "label": "moved to", "tail": "Utrecht", "confidence": 0.8},
            {"head": "Ada", "tail": "Utrecht", "confidence": "very"},
        ]
        answer = {"facts": [told, {"text": 7}, "nonsense"], "relations": relations}
        server.answer = lambda request: json.dumps(answer)
        found = asked.extract("Ada: I moved.", NOW)
        assert not found.fallback
        (fact,) = found.facts
        assert (fact.text, fact.domain) == ("Ada moved to Utrecht.", "home")
        assert fact.about == day(2023, 5, 9)
        assert [(e.name, e.kind) for e in fact.entities] == [("Utrecht", "location")]
        labels = [(r.label, r.confidence) for r in found.relations]
        assert labels == [("moved to", 0.8), ("co-occurs", 1.0)]

    def test_unreadable_answers_are_asked_for_again_and_then_done_by_rules(self, server, asked):
        server.answer = lambda request: "Sure! Here are the facts."
        found = asked.extract("Ada: I own a red bicycle.", NOW)
        assert found.fallback
        assert found.facts == OFFLINE.extract("Ada: I own a red bicycle.", NOW).facts
        assert len(server.requests) == 2

    def test_labels(self, server, asked):
        server.answer = lambda request: enum(request)[-1]
        assert not asked.boundary(["a"], "b", 0.0).ends
        assert not asked.same("a", "a")
        assert asked.uncertainty("q", ["c"]) == 0.0
        server.answer = lambda request: enum(request)[0]
        assert asked.boundary(["a"], "c", 0.9).ends
        assert asked.uncertainty("q", ["d"]) == MOST_UNSURE

    def test_order_keeps_every_passage(self, server, asked):
        server.answer = lambda request: '{"order": [3, 3, 9, true, "1"]}'
        assert asked.order("q", ["a", "b", "c"], [0.5, 0.4, 0.1]) == [2, 0, 1]

    def test_focus_asks_each_tree_what_the_model_gives_it(self, server, asked):
        server.answer = lambda request: json.dumps(
            {"questions": [{"number": 2, "text": "Which boat?"}, {"number": 9, "text": "x"}, 3]}
        )
        assert asked.focus("q", ["a", "b", "c"]) == ["q", "Which boat?", "q"]
        assert len(server.requests) == 1
        server.answer = lambda request: "no"
        assert asked.focus("q", ["d"]) == ["q"]

    def test_plan_and_missing(self, server, asked):
        server.answer = lambda request: (
            '```json\n{"questions": [{"text": "Who?", "scope": "SHORT", "when": "May 2022"}],'
            ' "missing": true, "followup": "Which boat?"}\n```'
        )
        (part,) = asked.plan("Who and when?", NOW)
        assert (part.scope, part.when[0]) == ("short", datetime(2022, 5, 1))
        assert asked.missing("q", ["e"]) == "Which boat?"

    def test_without_a_model_it_says_so(self):
        with pytest.raises(ValueError, match="chat"):
            ChatTasks().prepare(Services(embedder=None))
        with pytest.raises(ValueError, match="chat"):
            ChatTasks().extract("q", None)


def test_threads_that_stem_at_once_get_the_stems_of_one():
    """The stemmer holds the word it is at; a visitor's tree once had stems of another's words."""
    made = [f"{a}{b}{c}ation" for a, b, c in product("bdfghlmnprst", repeat=3)]
    alone = snowballstemmer.stemmer("english").stemWords(made)
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            every = list(pool.map(lambda turn: [words.stem(one) for one in made[turn:]], range(4)))
    finally:
        sys.setswitchinterval(usual)
    assert all(stems == alone[turn:] for turn, stems in enumerate(every))
