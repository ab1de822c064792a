"""The published JSON Schema describes what is written, and nothing looser."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import jsonschema
import pytest

from segviz import store
from segviz.systems import SYSTEMS
from segviz.tree import Add, Cost, Link, Relate, Retire, Unlink
from tests.export.views import build, dag, hostile_chat
from tests.memories import built

VALIDATOR = jsonschema.Draft202012Validator(store.schema())


def document(memory) -> dict:
    return json.loads(store.dump(memory.saved))


def problems(value) -> list[str]:
    return [f"{list(error.path)}: {error.message[:200]}" for error in VALIDATOR.iter_errors(value)]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(store.schema())


@pytest.mark.parametrize("name", SYSTEMS)
def test_memories_of_every_system_are_valid(name):
    """Of three sessions, in which each system writes every form that it writes in eighteen."""
    assert problems(document(built(name, sessions=3, embedder="hashing"))) == []


def test_hostile_texts_paid_costs_and_operations_are_valid(tmp_path):
    memory = build(hostile_chat())
    steps = list(memory.steps)
    steps[0] = replace(steps[0], cost=Cost(1, 20, 1, 1, 1, 5, 2, 30), operation="merge")
    memory = replace(memory, steps=tuple(steps))
    memory.save(tmp_path / "saved.json")
    assert problems(json.loads((tmp_path / "saved.json").read_bytes())) == []
    assert (tmp_path / "saved.json").read_bytes() == store.dump(memory.saved)


def test_an_empty_memory_is_valid(memory):
    assert problems(document(replace(memory, steps=()))) == []


def every_event() -> list:
    """One of each kind and form, as they are written."""
    return [
        ["add", 0, 0, 0, 1, "text", 0],
        ["add", 1, 0, 1, 2, "text", 0, "entity", {"a": 1, "b": None, "c": 0.5, "d": True, "e": ""}],
        ["revise", 0, 0, 1, "text", 0],
        ["revise", 0, 0, 1, "text", 0, 2, None],
        ["revise", 0, 0, 1, "text", 0, None, {"a": "b"}],
        ["link", 0, 1],
        ["unlink", 0, 1],
        ["retire", 0],
        ["relate", 0, 1, "knows", 0.5],
    ]


@pytest.mark.parametrize("event", every_event(), ids=lambda event: f"{event[0]}-{len(event)}")
def test_every_form_of_event_is_valid_and_no_shorter_one(memory, event):
    written = document(memory)
    written["steps"][0]["events"] = [event]
    assert problems(written) == []
    written["steps"][0]["events"] = [event[:-1]]
    assert problems(written)
    written["steps"][0]["events"] = [[*event, "more"]]
    assert problems(written)
    written["steps"][0]["events"] = [["erase", *event[1:]]]
    assert problems(written)


def places(value, path=()):
    """Every key of every object below a value."""
    if isinstance(value, dict):
        for key in value:
            yield (*path, key)
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value[:2]):
            yield from places(item, (*path, i))


def test_what_the_reader_needs_the_schema_demands(memory):
    """Without any one entry, the schema refuses what the reader refuses."""
    whole = document(memory)
    tried = 0
    for path in places(whole):
        if path[:2] == ("system", "settings") and len(path) > 2:
            continue
        broken = copy.deepcopy(whole)
        target = broken
        for part in path[:-1]:
            target = target[part]
        del target[path[-1]]
        with pytest.raises(store.StoreError):
            store.parse(json.dumps(broken).encode())
        assert problems(broken), path
        tried += 1
    assert tried > 30


def test_relations_facts_and_kinds_are_valid(memory):
    structure = dag()
    events = [
        Add(
            n,
            int(structure.level[n]),
            (0, 1),
            structure.text[n],
            structure.vector[n],
            structure.kind[n],
            structure.facts[n],
        )
        for n in range(len(structure))
    ]
    events += [Link(p, c) for p, c in structure.edges.tolist()]
    events += [Unlink(3, 0), Retire(5), *structure.relations, Relate(0, 2, "knows", 0.0)]
    steps = (replace(memory.steps[0], events=tuple(events), decision=None),)
    assert problems(document(replace(memory, steps=steps))) == []
