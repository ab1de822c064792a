"""Puts texts from elsewhere on a memory: same steps and structure, other texts of inner nodes.

Texts may come from a person or from a model that segviz does not call. They are given by the units
they are about, so that they can be applied to any tree of the same conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from segviz.construct import OF_MODEL, TITLE, WRITTEN_BY
from segviz.embedding import Embedder
from segviz.handover import check_text
from segviz.tree import Add, Event, Facts, Revise, Span, Step, Structure

Texts = Mapping[Span, tuple[str, str]]
"""Title and text of a stretch of units, by its half-open span of unit indices."""


def with_texts(
    steps: Sequence[Step],
    final: Structure,
    temporal: bool,
    embedder: Embedder,
    texts: Texts,
    by: str,
) -> tuple[Step, ...]:
    """Returns steps with written texts in place of those of inner nodes.

    Args:
        steps: the steps of a memory.
        final: the structure after them.
        temporal: True if every node covers all units of its span at every step.
        embedder: makes the vectors of the texts.
        texts: titles and texts; those of spans that no node has are left out.
        by: author of the texts.
    """
    for pair in texts.values():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"expected (title, text) for each span, found {pair!r:.80}")
        for part in pair:
            check_text(part, with_texts)
    exact = _exact_nodes(steps, final, temporal)
    known = {span for spans in exact.values() for span in spans}
    used = [span for span in texts if span in known]
    vectors = dict(zip(used, embedder.embed([texts[span][1] for span in used]), strict=True))

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

    return tuple(replace(step, events=tuple(map(written, step.events))) for step in steps)


def inner_spans(steps: Sequence[Step], final: Structure, temporal: bool) -> list[Span]:
    """Returns the spans of the inner nodes of the finished memory that can get a text."""
    nodes = _exact_nodes(steps, final, temporal)
    return sorted({(int(final.start[node]), int(final.stop[node])) for node in nodes})


def _exact_nodes(steps: Sequence[Step], final: Structure, temporal: bool) -> dict[int, set[Span]]:
    """Maps each inner node to the spans it has had of which it covers every unit.

    Clustered nodes may leave out units inside their span, so only their final coverage counts.
    Nodes of one unit pass the unit's text on, and nodes of a kind (entities, themes) are not
    summaries.
    """
    spans: dict[int, set[Span]] = {}
    for step in steps:
        for event in step.events:
            if not isinstance(event, Add | Revise) or final.level[event.node] == 0:
                continue
            start, stop = event.span
            if stop - start > 1 and not final.kind[event.node]:
                spans.setdefault(event.node, set()).add(event.span)
    if temporal:
        return spans
    exact = {}
    for node, had in spans.items():
        span = int(final.start[node]), int(final.stop[node])
        if span in had and len(final.coverage(node)) == span[1] - span[0]:
            exact[node] = {span}
    return exact
