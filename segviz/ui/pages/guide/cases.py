"""Draws the paper's cases on Guide: the paper's finding, the measurement here, and a link.

A case is drawn and measured when its row is opened. Its buttons open Ask or Grow as stops of a
tour: the tour bar repeats the sentence, and Next opens the case's next setting.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from segviz.conversation import Question
from segviz.evaluation.cases import (
    CONVERSATION,
    DIALOGUES,
    Case,
    cascade_seen,
    cascades,
    cases_in,
    seen,
    setting_name,
)
from segviz.llm import ModelError
from segviz.loaders.formats.locomo.download import PAGE
from segviz.memory import NoEmbedder
from segviz.ui import keys, security
from segviz.ui.settings import read_settings
from segviz.ui.state import AppSession, fingerprint, remember
from segviz.ui.widgets.captions import trouble, unmarked
from segviz.ui.widgets.tour import Stop, show_stop
from segviz.view.bookmark import Bookmark, encode

_LONGEST = 400  # characters of the text of a stop
_KEPT = 24


def draw_cases(session: AppSession) -> None:
    """Draws a row for each case: the five questions if the data has them, and the two trees."""
    st.markdown(
        "Appendix C of SegTreeMem follows five questions through one LoCoMo conversation. It also "
        "describes two dialogues that are difficult for a temporal tree. The paper uses summaries "
        "and answers of a language model. The results here measure retrieval alone, on the open "
        "memory."
    )
    matches = cases_in(session.conversation.questions)
    for case, question in matches:
        _case(session, case, question)
    if not matches:
        _hint(session)
    for case in DIALOGUES:
        _case(session, case)


def _case(session: AppSession, case: Case, question: Question | None = None) -> None:
    """Draws the row of a case, and its content only while the row is open."""
    label = f"{case.name} · {case.title}"
    with st.expander(label, key=f"case-{case.name}", on_change="rerun") as row:
        if not row.open:
            return
        if question is not None:
            st.text(f"{question.text}\nGold answer: {question.answer or 'not mentioned'}")
        st.markdown(f"*Paper, {case.place}.* {case.paper}")
        try:
            measured = _measured(session, case, question)
        except (ModelError, NoEmbedder) as error:
            trouble("The question cannot be embedded.", error)
            return
        stops = [stop for _, _, stop in measured]
        for number, (name, words, stop) in enumerate(measured, 1):
            text, way = st.columns([7, 1], vertical_alignment="center")
            text.markdown(f"**{name[:1].upper()}{name[1:]}.** {unmarked(words)}")
            way.button(
                f"Open {stop.page.capitalize()}",
                icon=":material/arrow_forward:",
                key=f"tour-{case.name}-{number}",
                type="tertiary",
                on_click=show_stop,
                args=(session, stops, number),
            )
        # A link to a sample that shows the case, unless the open tree does.
        if case.link and not (case.cascades and cascades(session.memory)):
            open_link(case.link, Bookmark(sample=case.sample, settings=case.parameters))


def _measured(
    session: AppSession, case: Case, question: Question | None
) -> list[tuple[str, str, Stop]]:
    """Returns the measurements of a case: each with its name, its sentence and its stop."""
    if question is None:
        if not case.cascades:
            return []
        name = f"This tree {'cascades' if cascades(session.memory) else 'does not cascade'}"
        words, view = cascade_seen(session.memory), Bookmark(retrieval=read_settings(session))
        return [(name, words, Stop("grow", f"{case.name}. {words}", view))]
    measured = []
    for place, settings in enumerate(case.settings):
        words = remember(
            "cases-seen",
            fingerprint(session.key, case.name, place),
            _KEPT,
            partial(seen, session.memory, question, settings, case.watch),
        )
        name, view = setting_name(settings), Bookmark(question=question.index, retrieval=settings)
        stop = Stop("ask", f"{case.name}, {name}. {words}"[:_LONGEST], view)
        measured.append((name, words, stop))
    return measured


def _hint(session: AppSession) -> None:
    """Draws a line that says where to get the conversation with the five questions."""
    if CONVERSATION in session.corpus.ids:
        st.caption(f"The five questions are about {CONVERSATION}: choose it in the sidebar.")
        return
    offered = "" if security.paths_limited() else ", or in the sidebar under Path"
    st.caption(
        f"The five questions are about {CONVERSATION} of LoCoMo, which is not open. Get it from "
        f"[its authors]({PAGE}){offered}."
    )


def open_link(label: str, bookmark: Bookmark) -> None:
    """Draws a link that opens another conversation on Grow."""
    st.page_link(
        st.session_state[keys.PAGES]["grow"],
        label=label,
        icon=":material/arrow_forward:",
        query_params=encode(bookmark),
    )
