"""Operations on a finished memory: delete, merge, promote, ….

They are kept for the browser session and can be undone. Links do not hold them, session
files do."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from segviz.construct import Operates, Operation
from segviz.llm import ModelError
from segviz.memory import Memory
from segviz.ui.state import Session, fingerprint, remember
from segviz.ui.widgets.captions import trouble

CHANGED_KEPT = 4
MOST_OPERATIONS = 20
"""Kept for one memory."""


@dataclass(frozen=True)
class DoneOperation:
    """The memory after an operation, and what was done as a short key: operation and
    arguments."""

    memory: Memory
    done: str


def changes(key: str) -> list[DoneOperation]:
    """Returns what was done to the memory with this key, oldest first; editable."""
    found: list[DoneOperation] = remember("operated", key, CHANGED_KEPT, list)
    return found


def operated(session: Session) -> Session:
    """Returns the session with the operations done on its memory so far."""
    done = changes(session.key)
    if not done:
        return session
    # What was done, not how often: after an undo another operation makes another memory.
    said = [change.done for change in done]
    changed = f"{session.key}+{fingerprint(said)}"
    return replace(
        session,
        key=changed,
        conversation=done[-1].memory.conversation,
        memory=done[-1].memory,
        built=session.key,
    )


def operations_panel(session: Session) -> None:
    """Draws the operations of this memory's system; nothing where it has none."""
    system = session.memory.model
    if not isinstance(system, Operates) or not system.operations():
        return
    known = system.operations()
    done = changes(session.built or session.key)
    title = f"Change ({len(done)})" if done else "Change"
    with st.popover(title, icon=":material/build:", key="operations"):
        name = st.selectbox(
            "Operation", list(known), format_func=lambda key: known[key].label, key="operation"
        )
        chosen = known[name]
        st.caption(chosen.help)
        arguments = {
            argument: _argument(session, name, argument, kind, chosen.defaults.get(argument))
            for argument, kind in chosen.arguments.items()
        }
        with st.container(horizontal=True):
            wanted = st.button(chosen.label, key="operate")
            undone = st.button("Undo the last", disabled=not done, key="undo-operation")
        if wanted:
            _operate(session, done, name, chosen, arguments)
        if undone:
            done.pop()
            st.rerun()
        for change in done:
            st.text(change.memory.steps[-1].note)


def _argument(session: Session, operation: str, name: str, kind: str, default: int | None) -> int:
    memory = session.memory
    last = {
        "node": len(memory.structure) - 1,
        "unit": len(memory.units) - 1,
        "session": len(session.conversation.sessions),
    }.get(kind)
    first = 1 if kind == "session" else 0
    start = first if default is None else default
    if kind == "node" and session.selected is not None:
        start = session.selected
    chosen = st.number_input(
        name.replace("_", " ").capitalize(),
        min_value=first,
        max_value=last,
        value=start if last is None else min(start, max(last, first)),
        step=1,
        key=f"argument-{session.built or session.key}-{operation}-{name}-{start}",
        help="A selected node is filled in." if kind == "node" else None,
    )
    return int(chosen) - first


def _operate(
    session: Session,
    done: list[DoneOperation],
    name: str,
    chosen: Operation,
    arguments: dict[str, int],
) -> None:
    if len(done) >= MOST_OPERATIONS:
        st.warning(f"At most {MOST_OPERATIONS} operations are kept; undo some first.")
        return
    try:
        memory = session.memory.operate(name, chat=session.chat, **arguments)
    except (ValueError, ModelError) as error:
        trouble(f"{chosen.label}: this cannot be done.", error, st.warning)
        return
    broken = memory.check()
    if broken:
        trouble(f"{chosen.label} would have broken the memory; nothing was changed.", broken[0])
        return
    given = [arguments[argument] for argument in chosen.arguments]
    done.append(DoneOperation(memory, f"{name} {given}"))
    st.rerun()
