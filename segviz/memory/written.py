"""Puts texts from elsewhere on a memory: same steps and structure, other texts of inner nodes.

Texts may come from a person or from a model that segviz does not call. They are given by the units
they are about, so that they can be applied to any tree of the same conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from segviz.construct import OF_MODEL, TITLE, WRITTEN_BY
from segviz.handover import check_text
from segviz.text.captions import counted, listed
from segviz.tree import Add, Event, Facts, Revise, Span

if TYPE_CHECKING:
    from segviz.memory.memory import Memory

Texts = Mapping[Span, tuple[str, str]]
"""Title and text of a stretch of units, by its half-open span of unit indices."""


def with_texts(memory: Memory, texts: Texts, *, by: str, partly: bool) -> Memory:
    """Returns the memory with written texts; see :meth:`Memory.with_texts`."""
    for pair in texts.values():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"expected (title, text) for each span, found {pair!r:.80}")
        for part in pair:
            check_text(part, with_texts)
    exact = _exact_nodes(memory)
    final = memory.structure
    now = {(int(final.start[node]), int(final.stop[node])) for node in exact}
    if not partly and (unknown := sorted(texts.keys() - now)):
        spans = listed([f"{start}-{stop}" for start, stop in unknown])
        raise ValueError(
            f"no inner node of this memory covers exactly the units {spans}; "
            f"{counted(len(now), 'span')} can get a text: "
            f"{listed([f'{start}-{stop}' for start, stop in sorted(now)])}"
        )
    known = {span for spans in exact.values() for span in spans}
    used = [span for span in texts if span in known]
    vectors = dict(zip(used, memory.embedder.embed([texts[span][1] for span in used]), strict=True))

    facts_of: dict[int, Facts] = {}  # of each node, without the written ones
    now_written: set[int] = set()

    def written(event: Event) -> Event:
        """Replaces the text of an event that gives an inner node one of the spans."""
        if not isinstance(event, Add | Revise):
            return event
        node = event.node
        if event.facts is not None:
            facts_of[node] = event.facts
        facts = facts_of.get(node, {})
        if event.span in vectors and event.span in exact.get(node, ()):
            now_written.add(node)
            title, text = texts[event.span]
            facts = {name: fact for name, fact in facts.items() if name not in OF_MODEL}
            facts |= {TITLE: title, WRITTEN_BY: by}
            return replace(event, text=text, vector=vectors[event.span], facts=facts)
        if node in now_written:  # the node has grown, so its title is the built one again
            now_written.remove(node)
            return replace(event, facts=facts)
        return event

    steps = tuple(replace(step, events=tuple(map(written, step.events))) for step in memory.steps)
    return replace(memory, steps=steps, provenance={**memory.provenance, "by_hand": True})


def _exact_nodes(memory: Memory) -> dict[int, set[Span]]:
    """Maps each inner node to the spans it has had of which it covers every unit.

    Clustered nodes may leave out units inside their span, so only their final coverage counts.
    Nodes of one unit pass the unit's text on, and nodes of a kind (entities, themes) are not
    summaries.
    """
    final = memory.structure
    spans: dict[int, set[Span]] = {}
    for step in memory.steps:
        for event in step.events:
            if not isinstance(event, Add | Revise) or final.level[event.node] == 0:
                continue
            start, stop = event.span
            if stop - start > 1 and not final.kind[event.node]:
                spans.setdefault(event.node, set()).add(event.span)
    if memory.has_frontier:  # spans of a temporal tree have no gaps
        return spans
    exact = {}
    for node, had in spans.items():
        span = int(final.start[node]), int(final.stop[node])
        if span in had and len(final.coverage(node)) == span[1] - span[0]:
            exact[node] = {span}
    return exact
