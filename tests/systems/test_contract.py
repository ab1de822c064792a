"""What every registered system must keep, whatever it is."""

import inspect
import re
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import segviz
from segviz.construct import parameters
from segviz.contract import QUESTIONS, verify
from segviz.embedding import HashingEmbedder
from segviz.memory import COMPONENTS, make_system
from segviz.retrieval import Retriever
from segviz.systems import SYSTEMS
from segviz.systems.common.published import departures_of
from segviz.tree.invariants import are_invariants
from tests.trees import chat

pytestmark = pytest.mark.parametrize("name", list(SYSTEMS))
EMBEDDER = HashingEmbedder()
OWN = [name for name, kind in SYSTEMS.items() if issubclass(kind, Retriever)]


def talk(sessions=4, exchanges=5):
    """Three subjects that come back in every session."""
    subjects = (
        ("the red bicycle", "Utrecht", "gears"),
        ("sourdough bread", "the oven", "rye flour"),
        ("the telescope", "Saturn", "the rings"),
    )
    turns = []
    for s in range(sessions):
        block = []
        for e in range(exchanges):
            thing, place, part = subjects[(s + e) % 3]
            block.append(("Ada", f"On Monday I took {thing} to {place}, round {s}-{e}."))
            block.append(("Ben", f"And did {part} of {thing} work? I paid {10 * s + e} euros."))
        turns.append(block)
    return chat(turns)


@cache
def built(name):
    return segviz.build(talk(), name, unit="turn", embedder=EMBEDDER)


def test_it_keeps_the_contract(name):
    verify(make_system(name))


SOURCE = re.compile(r"\bours\b|\bcode\b|§\d|\bApp\. [A-G]|\bA\.\d|[Tt]able \d|[Ee]quation \d")
CONSTANT = re.compile(r"^_?[A-Z][A-Z_]*(, _[A-Z_]+)* = (?=[-({\d]).*\d", re.MULTILINE)


def test_every_number_has_a_source(name):
    """A passage of a paper, the authors' code, or "ours": of every parameter, and in the comment
    at (or right above) every constant of the package."""
    for parameter in parameters(SYSTEMS[name]):
        source = parameter.spec.source
        assert SOURCE.search(source), parameter.name
        assert parameter.spec.help.endswith(f" Source: {source}."), parameter.name
        assert not re.search(r"\((paper|code)", parameter.spec.help), parameter.name
    module = Path(inspect.getfile(SYSTEMS[name]))
    for path in [module] if module.parent.name == "systems" else module.parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for constant in CONSTANT.finditer(text):
            line = text[: constant.start()].count("\n")
            near = "\n".join(text.split("\n")[max(line - 2, 0) : line + 1])
            comments = " ".join(re.findall(r"#.*", near))
            assert SOURCE.search(comments), f"{path.name}: {constant[0]}"


def test_every_choice_keeps_the_contract(name):
    """Every value of every switch: clean, and asked by its own retrieval."""
    for parameter in parameters(SYSTEMS[name]):
        for choice in parameter.spec.choices:
            changed = {parameter.name: choice}
            memory = segviz.build(talk(2, 3), name, "turn", embedder=EMBEDDER, **changed)
            assert memory.check() == [], changed
            if name in OWN:
                assert memory.ask(QUESTIONS[0], method="native").evidence, changed


def test_a_value_out_of_range_is_told_with_the_legal_ones(name):
    for parameter in parameters(SYSTEMS[name]):
        spec, wrong = parameter.spec, []
        if spec.choices:
            wrong = [("nonsense", choice) for choice in spec.choices]
        elif spec.low is not None:
            low, high = (x if isinstance(x, int) else f"{x:g}" for x in (spec.low, spec.high))
            wrong = [(bad, f"{low} and {high}") for bad in (spec.low - 1, spec.high + 1)]
        for value, legal in wrong:
            with pytest.raises(ValueError, match=parameter.name) as told:
                segviz.build(talk(1, 1), name, embedder=EMBEDDER, **{parameter.name: value})
            assert legal in str(told.value).replace(",", ""), told.value


def test_without_a_model_nobody_says_that_one_was_asked(name):
    """Neither the steps nor their cost; a search that has a place for one says there is none."""
    memory = built(name)
    assert {step.cost.calls for step in memory.steps} <= {0}
    said = [step.note for step in memory.steps]
    said += [step.decision.why for step in memory.steps if step.decision]
    if name in OWN:
        switches = [p for p in parameters(SYSTEMS[name]) if p.spec.choices or p.name == "rerank"]
        for switch, q in product(switches, QUESTIONS):
            for value in switch.spec.choices or (5,):
                asked = replace(memory, settings={**memory.settings, switch.name: value})
                stages = asked.model.retrieve(q, asked.view("dense")).stages
                said += [stage.note for stage in stages]
    assert not [note for note in said if "the model" in note]
    assert any("no model is set" in note for note in said) == (name in ("h-mem", "memforest"))


def test_it_describes_itself(name):
    kind = SYSTEMS[name]
    assert kind.name == name
    assert kind.label
    assert are_invariants(kind.invariants)
    assert isinstance(kind.online, bool)
    assert "Source:" in kind.__doc__
    assert kind.fidelity in ("faithful", "simplified", "adapted")
    assert all(isinstance(line, str) and line for line in kind.departures)
    assert "Departs" in kind.__doc__ or kind.departures


def test_own_retrieval_is_what_is_shown_and_scores_by_its_papers_relevance(name):
    if name not in OWN:
        pytest.skip("no retrieval of its own")
    memory, usual = built(name), SYSTEMS[name].relevance
    for question, relevance in product(QUESTIONS, ("hybrid", "dense")):
        found = memory.model.retrieve(question, memory.view(relevance))
        result = memory.ask(question, method="native", relevance=relevance, k=5)
        shown = memory.structure.collapsed.chain[list(found.ranked)].tolist()
        assert list(result.after) == list(dict.fromkeys(shown))[:5]

    found = memory.ask(QUESTIONS[0], method="native")
    assert found.settings.relevance == usual == ("lexical" if name == "bm25" else "dense")
    same = memory.ask(QUESTIONS[0], method="native", relevance=usual)
    assert (found.after, found.before) == (same.after, same.before)
    assert memory.ask(QUESTIONS[0]).after == found.after
    assert memory.ask(QUESTIONS[0], policy="none").settings.relevance == "contextual"


def test_with_a_chat_model(name, model_chat):
    """Parts that can be done by a model are: built and asked with it."""
    settings = {"unit": "turn", "embedder": EMBEDDER}
    for part in (p for p in parameters(SYSTEMS[name]) if p.spec.registry):
        kinds = COMPONENTS[part.spec.registry].items()
        settings[part.name] = next(k for k, kind in kinds if getattr(kind, "needs_chat", False))
    if len(settings) == 2:
        pytest.skip("nothing a model could do")
    with pytest.raises(ValueError, match="chat model"):
        segviz.build(talk(2, 2), name, **settings)
    memory = segviz.build(talk(2, 2), name, chat=model_chat, **settings)
    assert memory.check() == []
    assert sum(step.cost.calls for step in memory.steps) > 0
    assert memory.chat == model_chat.name
    if name in OWN:
        assert memory.ask("red bicycle", method="native", chat=model_chat).evidence
        assert memory.ask("red bicycle", method="native").evidence


def test_departures_are_its_own_and_those_it_shares_each_once(name):
    kind = SYSTEMS[name]
    beside = Path(inspect.getfile(kind)).with_name("departures.md")
    shared = Path(inspect.getfile(departures_of)).with_name("departures.md").read_text("utf-8")
    heads = [item.split(": ")[0].split(", ") for item in shared.split("\n* ")[1:]]
    if beside.exists():  # of the flat lists they stand in the class
        own = beside.read_text("utf-8").count("\n* ")
        assert len(kind.departures) == own + sum(name in head for head in heads)
    assert {of for head in heads for of in head} <= set(SYSTEMS)
    assert len(set(kind.departures)) == len(kind.departures)
