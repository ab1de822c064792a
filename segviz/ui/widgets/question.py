"""Question box of Ask and Compare, and the question atlas."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from segviz.conversation import Question
from segviz.ui.settings import asked_question, read_question, write_question
from segviz.ui.state import AppSession, redraw, shows
from segviz.view.captions import shown_labels

_NOTED = 8
"""Most typed questions that the box offers again."""


def question_box(session: AppSession, answer: str = "") -> Question:
    """Draws the box that takes a typed question or one of the data set.

    A change reruns the page, or the fragment with the key ``answer``.

    Returns:
        The question; a typed one has index -1.
    """
    questions, (index, text) = session.conversation.questions, read_question(session)
    texts, numbers = [question.text for question in questions], range(len(questions))

    def label(option: int | str) -> str:
        if isinstance(option, str):
            return option
        again = f" · question {option + 1}" if texts.count(texts[option]) > 1 else ""
        return texts[option] + again + " · disputed" * (questions[option].disputed is not None)

    def ask(given: int | str | None) -> None:
        """Asks the chosen or typed question; ignores an emptied box."""
        if isinstance(given, int):
            write_question(session, given)
        elif given in texts:  # typed exactly as in the data set
            write_question(session, texts.index(given))
        elif given and given.strip():
            write_question(session, None, given)
        else:
            return  # emptied: the rerun draws the current question again
        if answer:
            redraw(answer)

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
        index=0 if asked is not None else None,  # one that is asked has no sign to empty it
        accept_new_options=True,
        placeholder="What would you ask this memory?",
        label_visibility="collapsed",
        help="Type a question and press Enter, or choose one of the data set.",
        **shows(f"question-box-{session.source}", asked, ask),
    )
    return asked_question(session)


def questions_popover(
    session: AppSession, label: str, key: str, opened: Callable[[], None], group: str = ""
) -> None:
    """Draws a button that opens all questions as dots, and a list of one ``group`` or of all.

    A click asks a question, closes the list, then calls ``opened``.
    """
    if not session.conversation.questions:
        return

    def close() -> None:
        st.session_state[key] = False
        opened()

    with st.popover(
        label, key=key, on_change="rerun", type="tertiary" if group else "secondary"
    ) as there:
        if there.open:
            # Plotly would cost the first page a third of its time.
            from segviz.ui.widgets.atlas import draw_questions

            draw_questions(session, key, close, group)


def nothing_asked(session: AppSession) -> None:
    """Draws a hint for a page without a question."""
    none = not session.conversation.questions
    st.info(
        "This conversation has no questions. Type your own question above."
        if none
        else "Type a question, or choose one of the data set, to see its evidence."
    )


_SUGGESTED = 3


def _suggested(session: AppSession) -> list[str]:
    """Returns questions about the labels of the widest nodes; none without labels.

    They are offered for a conversation without questions.
    """
    structure = session.memory.structure.collapsed
    names = shown_labels(session.memory, structure)
    width = structure.stop - structure.start
    wide = sorted(structure.nodes.tolist(), key=lambda node: (-int(width[node]), node))
    terms = dict.fromkeys(names[node] for node in wide if names[node])
    return [f"What was said about {term}?" for term in list(terms)[:_SUGGESTED]]
