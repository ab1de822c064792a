"""The box of Ask and Compare in which a question is typed or picked."""

from __future__ import annotations

import streamlit as st

from segviz.conversation import Question
from segviz.ui.settings import asked_question, read_question, write_question
from segviz.ui.state import AppSession, shows
from segviz.view.captions import shown_labels

_NOTED = 8
"""Typed questions that the box offers again."""


def question_box(session: AppSession, answer: str = "") -> Question:
    """Draws the box to type a question in, or to pick one typed before or one of the data set's;
    returns the question (index -1 for one's own). A change draws the whole page again, or the
    fragment with the key ``answer``."""
    questions, (index, text) = session.conversation.questions, read_question(session)
    texts, numbers = [question.text for question in questions], range(len(questions))

    def label(option: int | str) -> str:
        if isinstance(option, str):
            return option
        again = f" · {option + 1}" if texts.count(texts[option]) > 1 else ""
        return texts[option] + again + " · disputed" * (questions[option].disputed is not None)

    def ask(given: int | str | None) -> None:
        if isinstance(given, int):
            write_question(session, given)
        elif given in texts:  # typed, without the mark of its label
            write_question(session, texts.index(given))
        elif given and given.strip():
            write_question(session, None, given)
        else:
            return  # the box is drawn again, with what is asked
        if answer:
            st.rerun(answer)

    typed: list[str] = st.session_state.setdefault(f"typed-questions-{session.source}", [])
    if text is not None and text not in typed:
        typed.insert(0, text)
        del typed[_NOTED:]
    asked = text if text is not None or not questions else index or 0
    # Streamlit draws option texts as plain text.
    st.selectbox(
        "Question",
        list(dict.fromkeys([*typed, *(numbers or _suggested(session))])),
        format_func=label,
        index=None,
        accept_new_options=True,
        placeholder="What would you ask this memory?",
        label_visibility="collapsed",
        help="Type a question and press Enter, or pick one of the data set's.",
        **shows(f"question-box-{session.source}", asked, ask),
    )
    return asked_question(session)


def nothing_asked(session: AppSession) -> None:
    """Says what to do where no question is asked."""
    none = not session.conversation.questions
    st.info(
        "This conversation comes without questions: type one of your own above."
        if none
        else "Type a question, or pick one of the data set's, to see what comes back."
    )


_SUGGESTED = 3


def _suggested(session: AppSession) -> list[str]:
    """Returns questions about what the widest nodes are named by, for a conversation that comes
    without any; none where nodes have no names."""
    structure = session.memory.structure.collapsed
    names = shown_labels(session.memory, structure)
    width = structure.stop - structure.start
    wide = sorted(structure.nodes.tolist(), key=lambda node: (-int(width[node]), node))
    terms = dict.fromkeys(names[node].split(", ")[0] for node in wide if names[node])
    return [f"What was said about {term}?" for term in list(terms)[:_SUGGESTED]]
