"""The published JSON Schema describes what is written, and nothing looser."""

import copy
import json
from dataclasses import replace

import jsonschema
import pytest

from segviz import store
from tests.export.views import build, hostile_chat
from tests.memories import built
from tests.store.samples import every_form

VALIDATOR = jsonschema.Draft202012Validator(store.schema())


def document(memory) -> dict:
    return json.loads(store.dump(memory.saved))


def problems(value) -> list[str]:
    return [f"{list(error.path)}: {error.message[:200]}" for error in VALIDATOR.iter_errors(value)]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(store.schema())


@pytest.mark.parametrize("name", ["segment-tree", "h-mem", "memforest"])
def test_memories_of_systems_with_and_without_facts_are_valid(name):
    assert problems(document(built(name, sessions=3, embedder="hashing"))) == []


def test_every_form_hostile_texts_and_an_empty_memory_are_valid(memory):
    empty = replace(memory, steps=())
    for saved in (every_form(), build(hostile_chat()).saved, empty.saved):
        assert problems(json.loads(store.dump(saved))) == []


def test_a_row_of_a_table_has_all_its_numbers(memory):
    for table in ("steps", "costs", "candidates", "numbers", "events"):
        written = document(memory)
        written[table][0].pop()
        assert problems(written)


HAVE_DEFAULTS = (
    *("caption", "questions", "source_format", "unresolved", "adversarial", "asked_at"),
    *("disputed", "summary", "observations", "time", "chat"),
)


def places(value, path=()):
    """Every key of every object below a value."""
    if isinstance(value, dict):
        for key in value:
            yield (*path, key)
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value[:1]):
            yield from places(item, (*path, i))


def test_what_the_reader_needs_the_schema_demands(memory):
    """Without any one entry, the schema refuses what the reader refuses."""
    whole = document(memory)
    tried = 0
    for path in places(whole):
        if (path[:2] == ("system", "settings") and len(path) > 2) or path[-1] in HAVE_DEFAULTS:
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
