"""MemForest's inner nodes: their times and counts, and summaries written when refreshed.

Everything a node must remember is in its facts: what it holds happened ``from`` … ``to``
(``dated`` where those are dates) and counts ``items``; ``dirty`` nodes wait for a refresh.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from segviz.construct import Annotate
from segviz.conversation import as_time
from segviz.systems.common.annotation import write
from segviz.systems.common.draft import Draft
from segviz.tree import Facts, Scalar, as_number


class Summaries:
    """Which nodes of a draft are out of date, and bringing them up to date."""

    def __init__(self, draft: Draft, annotate: Annotate) -> None:
        """Take up the nodes that wait as they stand in ``draft``."""
        self._draft = draft
        self._annotate = annotate
        self._dirty: dict[int, None] = {
            n: None for n in range(len(draft)) if draft.active[n] and draft.facts[n].get("dirty")
        }

    @property
    def dirty(self) -> int:
        """How many nodes wait for a refresh."""
        return len(self._dirty)

    def touch(self, node: int) -> None:
        """A node's summary is out of date."""
        self._dirty[node] = None

    def forget(self, node: int) -> None:
        """A node leaves and waits no longer."""
        self._dirty.pop(node, None)

    def mend(self, nodes: Iterable[int]) -> None:
        """Bring times and counts up to date from below and mark the nodes dirty."""
        draft = self._draft
        for node in sorted(set(nodes), key=lambda n: (draft.level[n], n)):
            draft.note(node, **summed(draft, draft.children[node]))
            self.touch(node)

    def refresh(self) -> tuple[int, int]:
        """Write the dirty nodes level by level, low to high, those of one level of all
        trees together; nodes refreshed and texts the annotation wrote."""
        draft = self._draft
        dirty = list(self._dirty)
        self._dirty = {}
        written = 0
        for level in sorted({draft.level[n] for n in dirty}):
            row = sorted(n for n in dirty if draft.level[n] == level)
            groups = [[_body(draft, c) for c in draft.children[n]] for n in row]
            written += sum(len(group) > 1 for group in groups)
            texts = write(self._annotate, groups)
            draft.rewrite(
                row,
                [heading(draft.facts[n]) + t for n, t in zip(row, texts, strict=True)],
            )
        for node in dirty:
            if draft.facts[node].get("dirty"):
                draft.note(node, dirty=False)
        return len(dirty), written

    def mark(self) -> None:
        """Write down which nodes wait, so that the structure itself tells."""
        for node in self._dirty:
            if not self._draft.facts[node].get("dirty"):
                self._draft.note(node, dirty=True)


def summed(draft: Draft, children: Sequence[int]) -> dict[str, Scalar]:
    """Times and number of items of a node over these children, as facts."""
    facts = [draft.facts[child] for child in children]
    return {
        "from": min(as_number(f, "from") for f in facts),
        "to": max(as_number(f, "to") for f in facts),
        "items": sum(int(f.get("items") or 1) for f in facts),
        "dated": all(bool(f.get("dated")) for f in facts),
    }


def heading(facts: Facts) -> str:
    """The first line of a summary: ``[dates | label]``, "" where neither is known."""
    label = str(facts.get("label") or "")
    parts = [_dates(facts), label] if facts.get("dated") else [label]
    head = " | ".join(part for part in parts if part)
    return f"[{head}]\n" if head else ""


def _body(draft: Draft, node: int) -> str:
    """A child's text without the heading of a summary."""
    text = draft.text[node]
    return text.removeprefix(heading(draft.facts[node])) if draft.level[node] > 1 else text


def _dates(facts: Facts) -> str:
    first = as_time(as_number(facts, "from")).date().isoformat()
    last = as_time(as_number(facts, "to")).date().isoformat()
    return first if first == last else f"{first} to {last}"
