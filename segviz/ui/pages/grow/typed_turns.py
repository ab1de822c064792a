"""Type turns of your own and watch them join the tree."""

from __future__ import annotations

import streamlit as st

from segviz.ui.state import Session, typed_turns

# A turn longer than this is no chat message; the field says so.
LONGEST = 5_000


def typing_panel(session: Session) -> None:
    """A form that continues the conversation; each turn rebuilds the tree behind it."""
    typed = typed_turns(session.source)
    title = f"Type turns ({len(typed)})" if typed else "Type turns"
    with st.popover(title, icon=":material/edit:", key="typing"):
        st.caption(
            "Your turns continue this conversation in a session of their own; the tree takes "
            "them in as it did the others."
        )
        with st.form("type-turn", clear_on_submit=True, border=False):
            speakers = list(session.conversation.speakers)
            last = typed[-1][0] if typed else session.conversation.turns[-1].speaker
            following = next((who for who in speakers if who != last), speakers[0])
            who = st.selectbox("Speaker", speakers, index=speakers.index(following))
            text = st.text_area("Turn", max_chars=LONGEST, placeholder="What do they say?")
            sent = st.form_submit_button("Add turn")
        if sent and text.strip():
            typed.append((who, text.strip()))
            st.rerun()
        undo, clear = st.columns(2)
        if undo.button("Undo last", disabled=not typed, width="stretch"):
            typed.pop()
            st.rerun()
        if clear.button("Remove all", disabled=not typed, width="stretch"):
            typed.clear()
            st.rerun()
