"""Retrieval settings: what is legal, presets, and one record from every door to the result."""

from dataclasses import fields, replace

import numpy as np
import pytest

import segviz
from segviz.retrieval import PRESETS, RERANKED, RetrievalSettings

QUESTION = "Who sold the boat?"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"policy": "sideways"},
            "unknown policy 'sideways'; choose one of none, top-down, bottom-up, both, neighbours",
        ),
        ({"alpha": 1.0}, "alpha is 1.0; it must be a number, at least 0 and below 1"),
        ({"alpha": "x"}, "must be a number"),
        ({"horizon": 1.5}, "horizon is 1.5"),
        ({"horizon": float("nan")}, "whole number of hops"),
        (
            {"relevance": "psychic"},
            "unknown relevance 'psychic'; choose one of contextual, hybrid, dense, lexical",
        ),
        ({"k": 0}, "k is 0; it must be a whole number, at least 1"),
        ({"k": "3"}, "whole number"),
        ({"k": True}, "k is True"),
        ({"k": 1.5}, "k is 1.5"),
        ({"k": 10**23}, "at most 1,000,000,000"),
        ({"horizon": True}, "horizon is True"),
        ({"alpha": True}, "alpha is True"),
        ({"alpha": float("inf")}, "alpha is inf"),
        ({"levels": [0.5]}, "a level is 0.5; it must be a whole number, 0 or more"),
        ({"levels": [-1]}, "a level is -1"),
        ({"levels": ["1"]}, "a level is '1'"),
        ({"budget": 0}, "budget is 0"),
        ({"levels": "01"}, "levels is '01'; it must be a collection"),
        ({"method": "magic"}, "method is 'magic'; choose one of propagate, native"),
    ],
)
def test_what_is_out_of_range_is_named(change, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        RetrievalSettings(**change)


def test_whole_numbers_of_every_type_are_one_setting():
    given = [(2, 3, 1), (2.0, 3.0, 1.0), (np.int64(2), np.float32(3), np.uint8(1))]
    settings = [RetrievalSettings(horizon=h, k=k, levels=[level]) for h, k, level in given]
    assert len(set(map(repr, settings))) == 1


def test_levels_of_any_collection_are_an_ascending_tuple():
    for given in ([2, 0, 2], {0, 2}, (2, 0), range(0, 4, 2)):
        assert RetrievalSettings(levels=given) == RetrievalSettings(levels=(0, 2))


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_the_ranking_and_leaves_how_much_is_read(name):
    mine = RetrievalSettings(k=3, budget=90, levels=(1,), literal=True, step=4)
    taken = mine.with_preset(name)
    assert taken.preset == name
    assert replace(taken, **{n: getattr(mine, n) for n in SPREAD}) == mine
    assert all(getattr(taken, n) == getattr(PRESETS[name], n) for n in SPREAD)


SPREAD = ("policy", "alpha", "horizon", "relevance", "method", "levels", "literal")


def test_presets_differ_and_the_papers_are_those_of_table_4():
    assert len(set(PRESETS.values())) == len(PRESETS)
    for policy in ("top-down", "bottom-up"):
        found = PRESETS[f"paper, {policy}"]
        assert (found.policy, found.alpha, found.horizon) == (policy, 0.1, 2)
        assert (found.relevance, found.literal, found.levels) == ("dense", True, None)
    with pytest.raises(ValueError, match="unknown preset 'mine'; choose one of tree at work"):
        RetrievalSettings().with_preset("mine")


def test_a_preset_is_known_by_what_it_does():
    assert RetrievalSettings(alpha=0.2).preset is None
    assert RetrievalSettings(relevance="dense", literal=True).preset == "paper, top-down"
    assert RetrievalSettings(relevance="dense").preset is None
    leaves = RetrievalSettings(policy="both", alpha=0.7, relevance="hybrid", levels=[0])
    assert leaves.preset == RERANKED
    assert replace(leaves, levels=None).preset is None
    assert RetrievalSettings(relevance="dense", method="native").preset is None
    ours = RetrievalSettings()
    assert ours.preset == replace(ours, relevance="contextual", k=3).preset == "best evidence"
    still = ({"policy": "none"}, {"alpha": 0.0}, {"horizon": 0})
    assert {RetrievalSettings(**change).preset for change in still} == {"no propagation"}
    assert RetrievalSettings(policy="none", relevance="dense").preset is None


def test_the_usual_relevance_is_the_papers_in_a_retrieval_of_its_own():
    class Rival:
        relevance = "lexical"

    usual, own = RetrievalSettings(), RetrievalSettings(method="native")
    assert usual.resolved(Rival) == usual.resolved() == replace(usual, relevance="contextual")
    assert own.resolved(Rival()) == replace(own, relevance="lexical")
    assert own.relevance_for(object()) == "contextual"
    named = replace(own, relevance="hybrid")
    assert named.resolved(Rival) == named


def test_no_propagation_is_collapsed_retrieval(memory):
    result = memory.ask(QUESTION, PRESETS["no propagation"])
    assert (result.final == result.initial).all()


def test_settings_and_keywords_are_the_same_door(memory):
    settings = RetrievalSettings(policy="both", alpha=0.3, horizon=3, k=4, relevance="lexical")
    given = {item.name: getattr(settings, item.name) for item in fields(settings)}
    one, other = memory.ask(QUESTION, settings), memory.ask(QUESTION, **given)
    mixed = memory.ask(
        QUESTION, RetrievalSettings(k=4, policy="both"), alpha=0.3, horizon=3, relevance="lexical"
    )
    assert one.settings == other.settings == mixed.settings == settings
    assert one.evidence == other.evidence == mixed.evidence
    with pytest.raises(TypeError, match="polcy"):
        memory.ask(QUESTION, polcy="both")
    with pytest.raises(ValueError, match="k is 0"):
        memory.ask(QUESTION, k=0)


def test_a_sweep_varies_propagation(memory):
    with pytest.raises(ValueError, match=r"method is 'native'; a sweep varies propagation"):
        segviz.sweep(memory, [], method="native")
