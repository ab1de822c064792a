"""Checks that a system fulfils the contract of every system; for the tests of a plug-in's author.

::

    from segviz.contract import verify

    def test_contract():
        verify(LastWords())

segviz checks its own systems with the same function.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from segviz import store
from segviz.construct import Services, System, as_settings
from segviz.conversation import Conversation, Session, Turn
from segviz.embedding import HashingEmbedder
from segviz.memory import Building, Memory, arrivals, system_of
from segviz.retrieval import Retriever
from segviz.tree import Add, Step, history
from segviz.tree.invariants import check

QUESTIONS = ("What did the red bicycle cost?", "Who saw Saturn on Monday?", "zzz", "")
_SUBJECTS = (
    ("the red bicycle", "Utrecht", "gears"),
    ("sourdough bread", "the oven", "rye flour"),
    ("the telescope", "Saturn", "the rings"),
)


def conversations() -> dict[str, Conversation]:
    """Returns short conversations to build from, by name.

    ``subjects`` has three subjects that recur in each of four sessions. The others are special
    cases: no turn, one turn, sessions of one turn, equal turns, turns without words.
    """
    sessions = []
    for s in range(4):
        texts = []
        for e in range(5):
            thing, place, part = _SUBJECTS[(s + e) % 3]
            texts.append(f"On Monday I took {thing} to {place}, round {s}-{e}.")
            texts.append(f"And did {part} of {thing} work? I paid {10 * s + e} euros.")
        sessions.append(texts)
    return {
        "subjects": _conversation(sessions),
        "empty": _conversation([]),
        "one turn": _conversation([["I bought a red bicycle."]]),
        "sessions of one turn": _conversation([["A bicycle."], ["A loaf."], ["Saturn."]]),
        "equal turns": _conversation([["I bought a red bicycle in Utrecht."] * 12]),
        "no words": _conversation([["…", "?!", "…"]]),
    }


def _conversation(sessions: list[list[str]]) -> Conversation:
    """Returns a conversation of two speakers who take turns, from texts by session."""
    parts = tuple(
        Session(
            f"session_{s + 1}",
            None,
            "",
            tuple(
                Turn(f"D{s + 1}:{t + 1}", ("Ada", "Ben")[t % 2], text)
                for t, text in enumerate(texts)
            ),
        )
        for s, texts in enumerate(sessions)
    )
    return Conversation("contract", ("Ada", "Ben"), parts)


def verify(system: System) -> None:
    """Checks a system by building, asking, saving and opening memories.

    The contract of a system:

    * Its settings are plain values.
    * It gives one step per unit, in order.
    * After every step its ``invariants`` hold. The units are the leaves, and every unit is below a
      root.
    * Equal input gives equal builds, also after builds of other conversations.
    * If it is ``online``, its steps do not depend on later units.
    * A saved memory opens unchanged.
    * A memory of another program (``system_of``) may make new ids at every build, order equal
      results as it likes, and refuse an empty question.
    * If it has a ``retrieve``, equal questions give equal results, with finite scores of at least
      0. Each stage has a name and a note. It can retrieve after any number of steps. Some question
      retrieves a node.

    Args:
        system: the system; of a class with ``add`` and ``search``, ``system_of(Class, name)()``.

    Raises:
        AssertionError: names the broken rule, the conversation and the step.
    """
    embedder = HashingEmbedder()
    make = getattr(system, "make_store", None)
    questions = [each for each in QUESTIONS if each or make is None]
    built: dict[str, Memory] = {}
    for name, conversation in conversations().items():
        memory = _built(conversation, system, embedder)
        _verify_steps(memory, name)
        # A saved memory opens unchanged, with settings that are plain values.
        built[name] = memory
        opened = store.parse(store.dump(memory.saved))
        equal = [*map(trace, opened.steps)] == [*map(trace, memory.steps)]
        _hold(equal, name, "the saved memory opens with other steps")
        _hold(opened.settings == as_settings(system), name, "settings are not plain values")
        if system.online:
            _verify_prefixes(system, memory, embedder, name)
        # Questions get finite scores, and the system's own retrieval keeps its contract.
        for question in questions:
            result = memory.ask(question, method="propagate")
            _hold(np.isfinite(result.final).all(), name, f"scores for {question!r} are not finite")
            if isinstance(system, Retriever):
                _verify_retrieval(system, memory, question, name)
        if isinstance(system, Retriever) and name == "subjects":
            asked = (*questions, *(unit.text for unit in memory.units))
            some = any(memory.ask(each, method="native").evidence for each in asked)
            _hold(some, name, f"nothing is stored, or none of {len(asked)} questions retrieves it")
    # Stores are kept by conversation, so that only another class of system makes them again.
    other = system_of(make, system.name)() if make else system
    for name, conversation in conversations().items():
        again = _built(conversation, other, HashingEmbedder())
        _hold(
            _content(built[name], make is not None) == _content(again, make is not None),
            name,
            "a second build, after other conversations, differs; do memories share a list of their "
            "class, or one store (as those of provider do; segviz.memory.system_of makes several)?",
        )


def _content(memory: Memory, stored: bool) -> object:
    """Returns the parts of a memory in which two builds must agree.

    They are its file; of a memory of another program, if ``stored``, its texts and their turns, and
    the notes of its steps, of which the first says what a store had before.
    """
    if not stored:
        return store.dump(memory.saved)
    structure = memory.structure
    nodes = np.flatnonzero(structure.retrievable).tolist()
    texts = sorted((structure.text[node], memory.turn_ids(node)) for node in nodes)
    return texts, [step.note for step in memory.steps]


def _built(conversation: Conversation, system: System, embedder: HashingEmbedder) -> Memory:
    """Builds a memory without checking the number of steps."""
    building = Building(conversation, system, "turn", embedder=embedder)
    for _ in building:
        pass
    return building.memory


def _hold(holds: Any, name: str, what: str) -> None:
    if not holds:
        raise AssertionError(f"on the conversation {name!r}: {what}")


def _verify_steps(memory: Memory, name: str) -> None:
    """Verifies that each step keeps the invariants and has the units so far as its leaves."""
    units = [step.unit for step in memory.steps]
    _hold(units == list(memory.units), name, "not one step per unit, in order")
    for number, structure in enumerate(history(memory.steps), start=1):
        broken = check(structure, memory.invariants)
        _hold(not broken, name, f"after step {number}: {broken[:1]}")
        spans = [
            (int(structure.start[leaf]), int(structure.stop[leaf])) for leaf in structure.leaves
        ]
        here = f"after step {number} the"
        _hold(
            spans == [(u, u + 1) for u in range(number)], name, f"{here} leaves are not the units"
        )
        texts = [structure.text[leaf] for leaf in structure.leaves]
        _hold(
            texts == [unit.text for unit in memory.units[:number]],
            name,
            f"{here} leaves do not have the text of their units",
        )
        under = {unit for root in structure.roots for unit in structure.coverage(root)}
        _hold(under == set(range(number)), name, f"{here} roots do not cover every unit")
        above, below = structure.level[structure.edges].T
        _hold((above > below).all(), name, f"{here} edges do not all lead to a lower level")


def _verify_prefixes(system: System, memory: Memory, embedder: HashingEmbedder, name: str) -> None:
    """Verifies that a system's first steps do not depend on later arrivals."""
    stream = arrivals(memory.units, embedder)
    whole = [*map(trace, memory.steps)]
    for k in range(0, len(stream), 3):
        steps = [*map(trace, system.steps(stream[:k], Services(embedder)))]
        _hold(steps == whole[:k], name, f"the first {k} steps depend on what follows")


def _verify_retrieval(system: Any, memory: Memory, question: str, name: str) -> None:
    """Verifies that a system's own retrieval is well-formed, repeatable, and works at any step."""
    what = f"retrieval of {question!r}"
    result, again = (system.retrieve(question, memory.view("dense")) for _ in range(2))
    structure = memory.structure
    _hold(result.scores.shape == (len(structure),), name, f"{what}: not one score per node")
    sound = np.isfinite(result.scores).all() and (result.scores >= 0).all()
    _hold(sound, name, f"{what}: scores are not finite and at least 0")
    _hold(len({*result.ranked}) == len(result.ranked), name, f"{what}: a node is ranked twice")
    alive = all(structure.active[node] for node in result.ranked)
    _hold(alive, name, f"{what}: a node is ranked that is not active")
    if hasattr(system, "make_store"):  # the order of equal results is its own
        texts = [sorted(structure.text[node] for node in each.ranked) for each in (result, again)]
        equal = texts[0] == texts[1]
    else:
        equal = result.ranked == again.ranked and np.array_equal(result.scores, again.scores)
        equal = equal and result.stages == again.stages
    _hold(equal, name, f"{what}: two answers differ")
    for stage in result.stages:
        _hold(stage.name and stage.note, name, f"{what}: a stage without name or note")
        _hold(len(stage.scores) in (0, len(stage.nodes)), name, f"{what}: scores of {stage.name!r}")
        _hold({*stage.kept} <= {*stage.nodes}, name, f"{what}: {stage.name!r} keeps other nodes")
    for step in range(0, len(memory.steps) + 1, 3):
        nodes = sum(isinstance(e, Add) for each in memory.steps[:step] for e in each.events)
        then = memory.ask(question, method="native", step=step)
        _hold(len(then.final) == nodes, name, f"{what} after step {step}: not one score per node")


def trace(step: Step) -> tuple[Any, ...]:
    """Returns the parts of a step by which builds are compared: no time, calls or tokens."""
    events = [
        (
            type(event).__name__,
            *(
                value.tobytes() if isinstance(value, np.ndarray) else value
                for value in (getattr(event, field.name) for field in fields(event))
            ),
        )
        for event in step.events
    ]
    cost = step.cost
    costs = (cost.annotated, cost.inspected, cost.modified)
    return (step.unit, step.note, step.decision, step.operation, events, costs)
