"""Writes the bundled memory with texts written by hand: ``python -m tests.reference``.

The segment tree is built offline. A node gets its text and title of ``reference.toml`` once it has
its final span; before that it has its offline text. Nodes of one unit keep the unit's text.
"""

import tomllib
from dataclasses import replace
from pathlib import Path

import segviz
from segviz.construct.annotate import TITLE
from segviz.conversation import sample_path
from segviz.memory import Memory
from segviz.tree import Add, Event, Revise, Structure

TEXTS = Path(__file__).with_name("reference.toml")
SAMPLE = "ines-theo"


def reference() -> Memory:
    """Returns the memory of the sample with the texts of ``reference.toml``."""
    memory = segviz.build(segviz.load(sample_path(SAMPLE))[0])
    texts = tomllib.loads(TEXTS.read_text(encoding="utf-8"))
    final = memory.structure

    def written(event: Event) -> Event:
        if not isinstance(event, Add | Revise) or final.level[event.node] == 0:
            return event
        if event.span != (final.start[event.node], final.stop[event.node]):
            return event
        entry = texts.get(span_of(final, event.node))
        if entry is None:
            return event
        (vector,) = memory.embedder.embed([entry["text"]])
        facts = {**(event.facts or {}), TITLE: entry["title"]}
        return replace(event, text=entry["text"], vector=vector, facts=facts)

    steps = tuple(
        replace(step, events=tuple(written(event) for event in step.events))
        for step in memory.steps
    )
    return replace(memory, steps=steps, provenance={"by_hand": True})


def span_of(structure: Structure, node: int) -> str:
    """Returns the key of a node's text: its span in units, first and one past the last."""
    return f"{structure.start[node]}-{structure.stop[node]}"


if __name__ == "__main__":
    reference().save(sample_path(f"{SAMPLE}-reference"))
