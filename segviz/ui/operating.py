"""Operations on a finished memory (delete, merge, promote, …), each with undo."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from segviz.pipeline import Memory
from segviz.protocols import ModelError, Operates, Operation
from segviz.ui.joining import join_choice
from segviz.ui.state import Session, remember

CHANGED_KEPT = 4
_STEPS_KEPT = 20


def operated(session: Session) -> Session:
    """The session with the operations done on its memory so far."""
    done = _done(session.key)
    if not done:
        return session
    count = len(done[-1].steps) - len(session.memory.steps)
    return replace(
        session,
        key=f"{session.key}+{count}",
        conversation=done[-1].conversation,
        memory=done[-1],
        built=session.key,
    )


def _done(key: str) -> list[Memory]:
    """The memory after each operation, oldest first."""
    found: list[Memory] = remember("operated", key, CHANGED_KEPT, list)
    return found


def operations_panel(session: Session) -> None:
    """What can be done to this memory; nothing is drawn where nothing can."""
    system = session.memory.model
    if not isinstance(system, Operates) or not system.operations():
        return
    known = system.operations()
    done = _done(session.built or session.key)
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
        if st.button("Do it", key="operate"):
            _operate(session, done, name, chosen, arguments)
        joined = join_choice(session)
        if joined is not None:
            _keep(done, joined, "The second memory")
        if st.button("Undo the last", disabled=not done, key="undo-operation"):
            done.pop()
            st.rerun()
        for memory in done:
            st.text(memory.steps[-1].note)


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
    session: Session, done: list[Memory], name: str, chosen: Operation, arguments: dict[str, int]
) -> None:
    if len(done) >= _STEPS_KEPT:
        st.warning(f"At most {_STEPS_KEPT} operations are kept; undo some first.")
        return
    try:
        memory = session.memory.operate(name, chat=session.chat, **arguments)
    except (ValueError, ModelError) as error:
        st.warning(f"{chosen.label}: this cannot be done.")
        st.text(str(error))
        return
    _keep(done, memory, chosen.label)


def _keep(done: list[Memory], memory: Memory, what: str) -> None:
    """Take a changed memory for the one shown, if it is sound."""
    broken = memory.check()
    if broken:
        st.error(f"{what} would have broken the memory; nothing was changed.")
        st.text(str(broken[0]))
        return
    done.append(memory)
    st.rerun()
