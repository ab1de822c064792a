"""The setting chosen per question: signs, rules, and that ask and evaluate agree."""

from __future__ import annotations

import numpy as np
import pytest

import segviz
from segviz.evaluate import evaluate
from segviz.retrieval import adaptive, check_setting
from segviz.retrieval.adaptive import ADAPTIVE, OTHERWISE, RULES, SIGNS, choose, traits
from tests.evaluate.test_evaluate import random_memory
from tests.trees import toy


def shown(question, initial=None):
    s = toy()
    scores = np.full(len(s), 1 / len(s)) if initial is None else initial
    seen = traits(question, scores, s)
    return {name for name, sign in SIGNS.items() if sign.shown(seen)}


@pytest.mark.parametrize(
    ("question", "sign"),
    [
        ("When did Ines move?", "date"),
        ("What year was it built?", "date"),
        ("How long ago was that?", "date"),
        ("How many cats has Theo?", "count"),
        ("Who is Luna?", "person"),
        ("Where is the boat?", "place"),
        ("Which city did they visit?", "place"),
        ("What books did Theo read?", "list"),
        ("Why did she leave?", "reason"),
        ("How does it work?", "reason"),
        ("Does Ines sail?", "yes-no"),
        ("Did Ines meet Theo?", "names"),
        ("Who is Luna?", "short"),
        ("What did she say about the long trip to the coast that they made once?", "long"),
    ],
)
def test_signs_of_the_words(question, sign):
    assert sign in shown(question)


@pytest.mark.parametrize(
    ("question", "sign"),
    [
        ("What was it?", "list"),
        ("What does she do?", "list"),
        ("Whenever she went, what then?", "date"),
        ("The nowhere man?", "place"),
        ("The boat is what?", "yes-no"),
        ("Ines is who?", "names"),
        ("", "yes-no"),
    ],
)
def test_what_is_no_sign(question, sign):
    assert sign not in shown(question)


def test_signs_of_the_score():
    s = toy()
    one = np.zeros(len(s))
    one[0] = 1
    assert {"under 5", "under 10", "narrow"} <= shown("x", one)
    root = np.zeros(len(s))
    root[10] = 1
    assert "wide" in shown("x", root)
    flat = traits("x", np.full(len(s), 1 / len(s)), s)
    assert flat.spread == pytest.approx(len(s))
    assert flat.leaves == pytest.approx(7 / len(s))
    assert traits("x", np.zeros(len(s)), s).spread == 0


def test_the_first_rule_whose_sign_is_shown_decides(monkeypatch):
    s = toy()
    flat = np.full(len(s), 1 / len(s))
    rules = (("date", ("bottom-up", 0.3, 1)), ("short", ("none", 0.0, 0)))
    monkeypatch.setattr(adaptive, "RULES", rules)
    first = choose("When was it?", flat, s)
    assert first.setting == ("bottom-up", 0.3, 1)
    assert first.why == (
        "The question asks for a date (score spread over 11 of 11 nodes): bottom-up, α 0.3, H 1."
    )
    assert choose("Who was it?", flat, s).setting == ("none", 0.0, 0)
    neither = choose("What did she say about it after the trip?", flat, s)
    assert neither.setting == OTHERWISE
    assert "neither asks for a date nor has at most 7 words" in neither.why


def test_the_shipped_rules_are_legal():
    for setting in (OTHERWISE, *(setting for _, setting in RULES)):
        check_setting(*setting)
    assert all(name in SIGNS for name, _ in RULES)


def test_ask_propagates_with_what_was_chosen_and_says_so(memory):
    for question in ("bicycle", "What did Ben say about the bread that he made at his home then?"):
        found = memory.ask(question, policy=ADAPTIVE, alpha=0.9, horizon=7)
        assert found.choice is not None
        assert (found.policy, found.alpha, found.horizon) == found.choice.setting
        assert found.choice == choose(question, found.initial, found.structure)
        policy, alpha, horizon = found.choice.setting
        plain = memory.ask(question, policy=policy, alpha=alpha, horizon=horizon)
        assert plain.choice is None
        assert found.final.tobytes() == plain.final.tobytes()
        assert found.after == plain.after
        assert found.explain(0).total == pytest.approx(found.final[0])


def test_an_empty_memory_and_an_empty_question(memory):
    assert memory.ask("", policy=ADAPTIVE).choice is not None
    assert memory.ask("x", policy=ADAPTIVE, step=0).evidence == ()


@pytest.mark.parametrize("seed", range(3))
def test_evaluate_takes_each_question_by_its_own_setting(seed, monkeypatch):
    # Random words show few of the shipped signs; let their length decide instead.
    for rest in (0, 1):
        sign = adaptive.Sign(f"is {rest}", lambda t, rest=rest: len(t.text) % 3 == rest)
        monkeypatch.setitem(SIGNS, str(rest), sign)
    rules = (("0", ("top-down", 0.5, 1)), ("1", ("both", 0.3, 2)))
    monkeypatch.setattr(adaptive, "RULES", rules)
    memory = random_memory(seed, "turn")
    questions = memory.conversation.questions
    found = evaluate(memory, questions, policy=ADAPTIVE, k=4)
    settings = set()
    for question, row in zip(questions, found.rows, strict=True):
        choice = memory.ask(question.text, policy=ADAPTIVE).choice
        settings.add(choice.setting)
        policy, alpha, horizon = choice.setting
        alone = evaluate(memory, questions, policy=policy, alpha=alpha, horizon=horizon, k=4)
        assert row == alone.rows[questions.index(question)]
    assert len(settings) > 1
    assert found.policy == ADAPTIVE


def test_it_is_no_policy_of_the_tree():
    """A policy induces transitions from the structure alone; the registry stays so."""
    assert ADAPTIVE not in segviz.POLICIES
    with pytest.raises(ValueError, match="unknown policy 'adaptive'"):
        segviz.propagate(np.ones(3), np.zeros((0, 2), int), policy=ADAPTIVE)
