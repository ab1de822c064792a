"""The box of Ask and Compare in which a question is typed or picked."""

from __future__ import annotations

import streamlit as st

from segviz.conversation import Question
from segviz.ui.settings import return_to_moment
from segviz.ui.state import Session, shows
from segviz.ui.view_state import asked_question, read_question, write_question
from segviz.view.captions import MAX_LABELLED
from segviz.view.names import node_names

_ASKED_KEPT = 8


def question_box(session: Session) -> Question:
    """Draws the box to type a question in or to pick one of the data set's; returns the question
    (index -1 for one's own)."""
    questions, state = session.conversation.questions, st.session_state
    index, text = read_question(session)
    texts, numbers = [question.text for question in questions], range(len(questions))
    before = f"asked-before-{session.source}"
    state.setdefault(before, [])

    def label(option: int | str) -> str:
        if isinstance(option, str):
            return option
        again = f" · {option + 1}" if texts.count(texts[option]) > 1 else ""
        return texts[option] + again

    def ask(given: int | str | None) -> None:
        if isinstance(given, int):
            write_question(session, given)
            return_to_moment(session)
        elif given and given.strip():
            write_question(session, None, given)
            state[before] = [given, *(one for one in state[before] if one != given)][:_ASKED_KEPT]

    own = [*([] if text is None else [text]), *state[before]]
    asked = text if text is not None or not questions else index or 0
    # Streamlit draws option texts as plain text.
    st.selectbox(
        "Question",
        list(dict.fromkeys([*own, *(numbers or _suggested(session))])),
        format_func=label,
        index=None,
        accept_new_options=True,
        placeholder="What would you ask this memory?",
        label_visibility="collapsed",
        help="Type a question and press Enter, or pick one of the data set's.",
        **shows(f"question-box-{session.source}", asked, ask),
    )
    return asked_question(session)


def nothing_asked(session: Session) -> None:
    """Says what to do where no question is asked."""
    none = not session.conversation.questions
    st.info(
        "This conversation comes without questions: type one of your own above."
        if none
        else "Type a question, or pick one of the data set's, to see what comes back."
    )


_SUGGESTED = 3


def _suggested(session: Session) -> list[str]:
    """Returns questions about what the widest nodes are named by, for a conversation that comes
    without any; none where nodes have no names."""
    structure = session.memory.structure.collapsed
    if len(structure) > MAX_LABELLED:
        return []
    names = node_names(structure, tuple(session.conversation.speakers))
    width = structure.stop - structure.start
    wide = sorted(structure.nodes.tolist(), key=lambda node: (-int(width[node]), node))
    terms = dict.fromkeys(names[node].split(", ")[0] for node in wide if names[node])
    return [f"What was said about {term}?" for term in list(terms)[:_SUGGESTED]]
