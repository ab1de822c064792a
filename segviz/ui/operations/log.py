"""Operations done on finished memories: kept for the browser session, named in its link.

A link names an operation by its name and whole numbers, and the memory it belongs to is
built the same from the same file, so doing them again brings back the same nodes. Not in a
link are operations of memories that ask a paid model (opening a link sends nothing), and
what follows on a second conversation that was taken in (the link names one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from segviz.construct import Operates, Operation
from segviz.memory import Memory, needs_chat, paid
from segviz.ui.sidebar.build import AUTOMATIC_UNITS
from segviz.ui.state import Session, remember
from segviz.view.link_readers import Operated

CHANGED_KEPT = 4


@dataclass(frozen=True)
class Change:
    """The memory after an operation, and what a link calls that; None for what a link
    cannot name."""

    memory: Memory
    named: Operated | None


def changes(key: str) -> list[Change]:
    """What was done to the memory with this key, oldest first; editable."""
    found: list[Change] = remember("operated", key, CHANGED_KEPT, list)
    return found


def in_link(built: Memory, done: Sequence[Change]) -> tuple[Operated, ...]:
    """The operations a link to this memory names: all before the first it cannot name."""
    names: list[Operated] = []
    if asks(built):
        return ()
    for change in done:
        if change.named is None:
            break
        names.append(change.named)
    return tuple(names)


def unnamed(session: Session) -> bool:
    """Whether something was done to this memory that its link does not name."""
    return bool(session.built) and len(changes(session.built)) > len(session.done)


def follow(built: Memory, done: list[Change], wanted: Sequence[Operated]) -> str:
    """Make ``done`` what a link wants of the memory ``built``; why that cannot be had whole,
    "" if it can. The first operation that fails ends the series."""
    if list(wanted) == [change.named for change in done]:
        return ""
    if asks(built):
        return "operations of this memory ask a model; do them under Change" * bool(wanted)
    if len(built.units) > AUTOMATIC_UNITS and wanted:
        return "the memory is too large to be changed by a link; do it under Change on Grow"
    done.clear()
    memory = built
    for number, (name, arguments) in enumerate(wanted, start=1):
        model = memory.model
        known: Mapping[str, Operation] = model.operations() if isinstance(model, Operates) else {}
        if name not in known:
            return f"operation {number}: this memory has no operation {name!r}"
        try:
            given = dict(zip(known[name].arguments, arguments, strict=True))
            memory = memory.operate(name, chat=None, **given)
        except ValueError as error:
            return f"operation {number}, {name}: {error}"
        broken = memory.check()
        if broken:
            return f"operation {number}, {name}: it would have broken the memory"
        done.append(Change(memory, (name, tuple(arguments))))
    return ""


def asks(memory: Memory) -> bool:
    """Whether an operation would ask a model that may cost something."""
    model = memory.model
    return (model is not None and bool(needs_chat(model))) or paid(memory.embedder) is not None
