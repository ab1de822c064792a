"""The paper's worked examples: recognised by their question, measured on the memory there is."""

from dataclasses import replace

import pytest

import segviz
from segviz.conversation import Conversation, Question, Session, Turn
from segviz.evaluation.cases import CASES, CONVERSATION, cascade_seen, cases_in, seen
from segviz.retrieval import RetrievalSettings, ranks
from tests.data import real_data
from tests.memories import built, sample

PLAIN = RetrievalSettings(policy="none", relevance="lexical", k=2)
SAID = (
    "Shall we walk to the lake on Sunday?",
    "Yes, and bring the old map.",
    "My cousin's dog slept on the sofa all day.",
    "What is the dog's name?",
    "She is called Luna.",
    "A good name for a night walker.",
)


def question(text: str, answer: str | None = "Luna", evidence: tuple[str, ...] = ("D1:5",)):
    return Question(0, text, answer, 4, evidence)


@pytest.fixture(scope="module")
def memory():
    turns = tuple(Turn(f"D1:{i}", "AB"[i % 2], text) for i, text in enumerate(SAID, 1))
    asked = question("What is the name of John’s cousin’s dog?")
    talk = Conversation("made-up", ("A", "B"), (Session("1", None, "", turns),), (asked,))
    return segviz.build(talk, unit="turn")


class TestRecognition:
    def test_a_question_is_known_whatever_its_apostrophes_and_case(self, memory):
        ((case, found),) = cases_in(memory.conversation.questions)
        assert (case.name, found) == ("Q2", memory.conversation.questions[0])

    def test_other_questions_are_no_cases(self):
        assert cases_in([question("What is the name of John's dog?")]) == []

    def test_the_answerable_wording_is_preferred(self):
        case = next(case for case in CASES if len(case.questions) == 2)
        both = [replace(question(text), index=i) for i, text in enumerate(case.questions)]
        assert cases_in(both[::-1]) == [(case, both[0])]
        assert cases_in(both[1:]) == [(case, both[1])]


class TestSeen:
    def test_it_names_the_ranks_the_result_has(self, memory):
        asked, how = memory.conversation.questions[0], replace(PLAIN, policy="bottom-up", alpha=0.9)
        result = memory.ask(asked, how)
        (leaf,) = memory.gold(asked.evidence, result.structure).leaves
        before, after = (
            ranks([leaf], scores, result.structure)[0] for scores in (result.initial, result.final)
        )
        told = seen(memory, asked, how)
        moved = f"{before} → {after}" if before != after else f"{after}"
        retrieved = "1" if leaf in result.after else "none"
        count = int(result.structure.active.sum())
        assert f"1 gold leaf: rank {moved} of {count} nodes, {retrieved} retrieved." in told
        assert f"New in the top 2: {len(result.entered)} node" in told

    def test_a_wider_node_that_says_the_answer_is_told(self, memory):
        all_of_it = replace(PLAIN, k=30)
        asked = "the map, the lake and Luna"
        said = seen(memory, question(asked), all_of_it)
        over = [e for e in memory.ask(asked, all_of_it).evidence if e.level and "Luna" in e.text]
        first = next(each for each in over if "D1:5" in each.turn_ids)
        assert f"Rank {first.rank_after} " in said
        assert "lies above a gold leaf and says “luna”." in said
        unanswered = seen(memory, question("Luna?", answer=None), all_of_it)
        assert "says no word of the answer" in unanswered

    def test_of_a_missed_leaf_it_says_that_no_wider_node_is_retrieved(self, memory):
        only = replace(PLAIN, k=1, levels=(0,))
        told = seen(memory, question("Who brings the old map?"), only)
        assert "none retrieved. No wider node over a missed leaf is retrieved." in told

    def test_evidence_that_no_leaf_holds_is_no_error(self, memory):
        assert "No leaf" in seen(memory, question("Luna?", evidence=("D9:9",)), PLAIN)


class TestCascade:
    def test_where_nothing_joins_the_worst_case_is_reached(self):
        memory = segviz.build(
            sample("topic-switching"), compatibility={"name": "cosine", "threshold": 0.99}
        )
        assert cascade_seen(memory).startswith("40 leaves make 820 nodes on 40 levels. ")
        assert "there are 820 nodes" in cascade_seen(memory)

    def test_a_healthy_tree_is_far_from_it(self):
        memory = built(name="topic-switching")
        assert f"make {int(memory.structure.active.sum())} nodes" in cascade_seen(memory)


@pytest.mark.slow
def test_all_five_are_in_locomo_and_a_summary_answers_the_first():
    """The level-1 node says the answer, and its gold leaf is not retrieved (App. C.4, Q1)."""
    corpus = segviz.load(real_data("locomo", "locomo5.json"))
    memory = segviz.build(corpus[CONVERSATION])
    found = cases_in(memory.conversation.questions)
    assert [case for case, _ in found] == list(CASES)
    case, asked = found[0]
    for setting in case.settings[:2]:
        told = seen(memory, asked, setting)
        assert (
            "none retrieved. Rank 2 (level 1) lies above a missed leaf and says “gamepad”" in told
        )
    lifted = seen(memory, asked, case.settings[2])
    assert "nodes, 1 retrieved." in lifted
