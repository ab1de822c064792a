"""Code from outside segviz is checked where it hands over, and costs its own result alone."""

from __future__ import annotations

import itertools
import json
import sys
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from segviz.cli import main
from segviz.contract import conversations
from segviz.embedding import Cached, HashingEmbedder
from segviz.evaluation.parallel import measure_many
from segviz.handover import HandoverError, built_in
from segviz.llm import ModelError
from segviz.memory import build, open_memory
from segviz.retrieval import POLICIES, RELEVANCE, Retrieval, Stage
from segviz.systems import SYSTEMS
from segviz.waiting import heartbeat

CONVERSATION = conversations()["subjects"]
ONE_FAILS = {"fails": lambda *given: 1 / 0, "exits": lambda *given: sys.exit()}
"""What code of others may do in every place: fail, and end the program."""


def built(system: Any = "segment-tree", **settings: Any):
    return build(CONVERSATION, system, "turn", embedder=HashingEmbedder(), **settings)


# --- scores ------------------------------------------------------------------------------------

SCORES = {
    "nothing": lambda q, n: None,
    "one row": lambda q, n: np.ones(n),
    "a column too many": lambda q, n: np.ones((q, n + 1)),
    "texts": lambda q, n: np.full((q, n), "1"),
    "NaN": lambda q, n: np.full((q, n), np.nan),
    "infinity": lambda q, n: np.full((q, n), -np.inf),
    "too large": lambda q, n: np.full((q, n), 1e300),
    "ragged": lambda q, n: [[1.0] * (n - 1), *[[1.0] * n] * q],
    **ONE_FAILS,
}


@dataclass(frozen=True)
class Foreign:
    """A relevance that hands over what it is told to."""

    name = "foreign"
    give: Any = None

    def prepare(self, structure, embedder, units=(), speakers=()):
        return lambda questions: self.give(len(questions), len(structure))


@pytest.fixture
def relevance(monkeypatch):
    """Registers a relevance that gives such scores."""

    def register(give):
        monkeypatch.setitem(RELEVANCE, "foreign", lambda: Foreign(give))
        return "foreign"

    return register


@pytest.mark.parametrize("give", SCORES.values(), ids=SCORES)
def test_scores_of_a_relevance(relevance, give):
    memory, name = built(), relevance(give)
    with pytest.raises(HandoverError, match="foreign"):
        memory.ask("What did the red bicycle cost?", relevance=name)
    assert memory.ask("What did the red bicycle cost?").evidence  # nothing else is lost


def test_sound_scores_in_other_forms_are_taken(relevance):
    memory = built()
    for give in (lambda q, n: [[1] * n] * q, lambda q, n: np.ones((q, n), np.float32)):
        assert memory.ask("Saturn", relevance=relevance(give)).evidence


def test_a_structure_cannot_be_changed(relevance, monkeypatch):
    """A relevance that writes into what it is given fails, and the memory stays as it was."""

    class Writes(Foreign):
        def prepare(self, structure, embedder, units=(), speakers=()):
            structure.vector[:] = 0

    memory = built()
    before = memory.structure.vector.copy()
    monkeypatch.setitem(RELEVANCE, "foreign", Writes)
    with pytest.raises(HandoverError):
        memory.ask("Saturn", relevance="foreign")
    assert np.array_equal(memory.structure.vector, before)


# --- transitions -------------------------------------------------------------------------------

TRANSITIONS = {
    "nothing": lambda edges: None,
    "nodes there are not": lambda edges: edges + 10**6,
    "nodes from behind": lambda edges: -1 - edges,
    "no whole numbers": lambda edges: edges / 2,
    "three columns": lambda edges: np.zeros((3, 3), int),
    **ONE_FAILS,
}


@pytest.mark.parametrize("give", TRANSITIONS.values(), ids=TRANSITIONS)
def test_transitions_of_a_policy(monkeypatch, give):
    class Leads:
        """A policy of a plug-in."""

        label, live, reaches_leaves = "leads", False, True

        def transitions(self, edges, structure=None):
            return give(edges)

    monkeypatch.setitem(POLICIES, "foreign", Leads)
    memory = built()
    with pytest.raises(HandoverError, match="Leads"):
        memory.ask("Saturn", policy="foreign", alpha=0.5, horizon=2)
    assert memory.ask("Saturn").evidence


# --- vectors -----------------------------------------------------------------------------------

VECTORS = {
    "nothing": lambda rows: None,
    "a row too few": lambda rows: rows[1:],
    "one number a text": lambda rows: rows[:, 0],
    "no numbers": lambda rows: rows[:, :0],
    "texts": lambda rows: rows.astype(str),
    "NaN": lambda rows: np.where(np.arange(len(rows)) == 0, np.nan, 1.0)[:, None] * rows,
    "infinity": lambda rows: rows / 0.0,
    "1e30": lambda rows: rows * 1e30,
    "three times as long": lambda rows: rows * 3,
    "another width each time": lambda rows: np.eye(len(rows), len(rows) + 1),
    **ONE_FAILS,
}


class Gives:
    """Code of others that hands over what ``give`` makes."""

    name = "foreign"

    def __init__(self, give):
        self.give = give


class Embeds(Gives):
    def embed(self, texts):
        with np.errstate(all="ignore"):
            return self.give(HashingEmbedder().embed(texts))


@pytest.mark.parametrize("give", VECTORS.values(), ids=VECTORS)
def test_vectors_of_an_embedder(give):
    with pytest.raises(HandoverError, match="foreign"):
        build(CONVERSATION, embedder=Cached(Embeds(give)))


@pytest.mark.parametrize("lacks", ["name", "embed"])
def test_what_is_no_embedder_is_refused(lacks):
    parts = {"name": "foreign", "embed": lambda self, texts: None}
    with pytest.raises(ValueError, match="no embedder"):
        build(CONVERSATION, embedder=type("Half", (), {**parts, lacks: None})())


def test_an_embedder_that_fails_later_spoils_no_memory(tmp_path):
    embedder = Embeds(lambda rows: rows.tolist())
    memory = build(CONVERSATION, embedder=embedder)
    memory.save(tmp_path / "m.npz")
    opened = open_memory(tmp_path / "m.npz", embedder)
    assert opened.ask("Saturn").evidence
    for one in (memory, opened):
        embedder.give = lambda rows: rows * np.nan
        with pytest.raises(HandoverError):
            one.ask("a question not asked before", relevance="dense")
        embedder.give = lambda rows: rows
        assert one.ask("a question not asked before", relevance="dense").evidence


# --- parts of a system -------------------------------------------------------------------------

TEXTS = {
    "nothing": lambda texts: None,
    "a number": lambda texts: 3,
    "bytes": lambda texts: b"text",
    "half a character": lambda texts: "\ud800",
    **ONE_FAILS,
}


class Annotates(Gives):
    def __call__(self, texts):
        return self.give(texts)


@pytest.mark.parametrize("system", ["segment-tree", "raptor"])
@pytest.mark.parametrize("give", TEXTS.values(), ids=TEXTS)
def test_texts_of_an_annotator(system, give):
    with pytest.raises(HandoverError, match="foreign"):
        built(system, annotate=Annotates(give))


def test_a_text_of_a_kind_of_its_own_becomes_plain():
    class Odd(str):
        __slots__ = ()

        def encode(self, *given):
            return b""

    memory = built(annotate=Annotates(lambda texts: Odd("sound")))
    assert {type(text) for text in memory.structure.text} == {str}
    with pytest.raises(HandoverError, match="foreign"):
        built(annotate=Annotates(lambda texts: Odd("\ud800")))


@pytest.mark.parametrize("choice", [-1, 99, 0.0, float("nan"), True, "0", None.__class__])
def test_choices_of_a_compatibility_model(choice):
    class Chooses:
        name = "foreign"

        def choose(self, unit, candidates):
            return choice

    with pytest.raises(HandoverError, match="foreign"):
        built(compatibility=Chooses())


RETRIEVALS = {
    "nothing": lambda n: None,
    "a score too few": lambda n: Retrieval(np.ones(n - 1), (0,)),
    "NaN": lambda n: Retrieval(np.full(n, np.nan), (0,)),
    "below 0": lambda n: Retrieval(-np.ones(n), (0,)),
    "a node there is not": lambda n: Retrieval(np.ones(n), (n,)),
    "a node from behind": lambda n: Retrieval(np.ones(n), (-1,)),
    "nodes without end": lambda n: Retrieval(np.ones(n), itertools.count()),
    "a node twice": lambda n: Retrieval(np.ones(n), (0, 0)),
    "no number": lambda n: Retrieval(np.ones(n), ("0",)),
    "a stage of a node there is not": lambda n: Retrieval(
        np.ones(n), (0,), (Stage("s", "n", nodes=(n,)),)
    ),
    "a stage that is none": lambda n: Retrieval(np.ones(n), (0,), ("stage",)),
    **ONE_FAILS,
}


def retrieving(give):
    @dataclass(frozen=True)
    class Retrieves(SYSTEMS["dense"]):
        name = "foreign"

        def retrieve(self, question, view):
            return give(len(view.structure))

    return Retrieves()


@pytest.mark.parametrize("give", RETRIEVALS.values(), ids=RETRIEVALS)
def test_a_systems_own_retrieval(give):
    memory = built(retrieving(give))
    with pytest.raises(HandoverError, match="foreign"):
        memory.ask("Saturn", method="native")
    assert memory.ask("Saturn", method="propagate").evidence


def test_scores_stay_as_they_were_when_the_system_uses_its_array_again():
    used = np.zeros(len(built("dense").structure))

    def give(n):
        used[:] += 1
        return Retrieval(used, (0,))

    memory = built(retrieving(give))
    first = memory.ask("Saturn", method="native")
    before = first.initial.copy()
    memory.ask("the red bicycle", method="native")
    assert np.array_equal(first.initial, before)


def stepping(change):
    """A system whose steps are those of ``dense``, changed."""

    @dataclass(frozen=True)
    class Steps(SYSTEMS["dense"]):
        name = "foreign"

        def steps(self, arrivals, services):
            return change(super().steps(arrivals, services))

    return Steps()


@pytest.mark.parametrize("order", [itertools.cycle, reversed])
def test_steps_without_end_or_out_of_order_are_refused(order):
    with pytest.raises(HandoverError, match="expected a step for each arrival"):
        built(stepping(lambda steps: order(list(steps))))


@pytest.mark.parametrize(
    "change", [{"text": 3}, {"text": "\ud800"}, {"vector": None}, {"span": (0, 10**6)}]
)
def test_events_that_no_memory_can_hold_are_refused(change):
    def odd(steps):
        for step in steps:
            yield replace(step, events=tuple(replace(one, **change) for one in step.events))

    with pytest.raises(HandoverError, match="foreign"):
        built(stepping(odd))


def test_a_system_that_fails_half_way_is_named():
    def fails(steps):
        yield from itertools.islice(steps, 3)
        raise KeyError("three")

    with pytest.raises(HandoverError, match="foreign") as raised:
        built(stepping(fails))
    assert isinstance(raised.value.__cause__, KeyError)


def test_errors_of_segviz_pass_through_code_of_others():
    """A build that waits for a model must still pause, not fail."""

    def asks(texts):
        raise ModelError("no answer")

    with pytest.raises(ModelError, match="no answer"):
        built(annotate=Annotates(asks))


# --- what hangs --------------------------------------------------------------------------------


class _GivenUp(BaseException):
    pass


def _gives_up():
    begun = time.monotonic()

    def beat():
        if time.monotonic() - begun > 0.3:
            raise _GivenUp

    return heartbeat(beat)


def test_who_waits_for_code_that_hangs_can_give_it_up(relevance):
    stuck = threading.Event()
    memory = built()
    hangs = [
        lambda: built(annotate=Annotates(lambda texts: stuck.wait(60) and "")),
        lambda: built(retrieving(lambda n: stuck.wait(60))).ask("Saturn", method="native"),
        lambda: memory.ask("Saturn", relevance=relevance(lambda q, n: stuck.wait(60))),
    ]
    try:
        for work in hangs:
            begun = time.monotonic()
            with pytest.raises(_GivenUp), _gives_up():
                work()
            assert time.monotonic() - begun < 20
        assert memory.ask("Saturn").evidence
    finally:
        stuck.set()


# --- many runs ---------------------------------------------------------------------------------


def test_a_run_that_fails_leaves_the_others():
    said = []
    builders = {
        "sound": lambda talk: build(talk, "dense"),
        "broken": lambda talk: build(talk, retrieving(ONE_FAILS["fails"])),
    }

    def measure(memory, questions, seed):
        return memory.ask("Saturn", method="native").final.sum()

    found = measure_many(
        measure, [CONVERSATION], builders, seeds=(0, 1), failed=lambda at, error: said.append(at)
    )
    assert [one.system for one in found] == ["sound", "sound"]
    assert said == [2, 3]
    with pytest.raises(HandoverError):
        measure_many(measure, [CONVERSATION], builders)


def _registered(monkeypatch, name, steps):
    @dataclass(frozen=True)
    class Kind(SYSTEMS["dense"]):
        """A plug-in."""

    Kind.name, Kind.label, Kind.steps = name, name, steps
    monkeypatch.setitem(SYSTEMS, name, Kind)


def _prints(self, arrivals, services):
    for step in SYSTEMS["dense"]().steps(arrivals, services):
        sys.stdout.write("hello from a plug-in\n")
        yield step


def test_on_the_command_line_prints_are_no_result_and_a_failure_leaves_the_others(
    monkeypatch, capsys
):
    _registered(monkeypatch, "loud", _prints)
    _registered(monkeypatch, "broken", ONE_FAILS["fails"])
    systems = ["--systems", "dense,broken,loud"]
    assert main(["compare", "sample:recurrence", *systems, "--json", "--embedder", "hashing"]) == 0
    printed = capsys.readouterr()
    (run,) = json.loads(printed.out)["runs"]
    assert {row["name"] for row in run["rows"]} == {"dense", "loud"}
    assert "left out: broken" in printed.err
    assert "hello from a plug-in" in printed.err
    assert main(["compare", "sample:ines-theo", "--systems", "broken"]) == 2
    assert main(["build", "sample:ines-theo", "--system", "broken", "-o", "m.npz"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["left out", "segviz", "segviz"]


def test_parts_of_segviz_are_trusted():
    assert all(map(built_in, [*SYSTEMS.values(), *RELEVANCE.values(), HashingEmbedder()]))
    assert not any(map(built_in, [Foreign(), Foreign, np.zeros(1), print, "text"]))
