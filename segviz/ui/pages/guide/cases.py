"""Draws the paper's cases on Guide: the paper's finding, the measurement here, and a link.

A case is drawn and measured when its row is opened. Its buttons open Ask or Grow as stops of a
tour: the tour bar repeats the sentence, and Next opens the case's next setting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from segviz.conversation import TITLES, Question
from segviz.evaluation.cases import (
    CONVERSATION,
    Case,
    cascade_seen,
    cases_in,
    seen,
    setting_name,
)
from segviz.llm import ModelError
from segviz.loaders.formats.locomo.download import PAGE
from segviz.memory import NoEmbedder
from segviz.tree.shape import diagnose, shape
from segviz.ui import keys, security
from segviz.ui.settings import read_settings
from segviz.ui.state import AppSession, fingerprint, remember
from segviz.ui.widgets.captions import trouble, unmarked
from segviz.ui.widgets.tour import Stop, show_stop
from segviz.view.bookmark import Bookmark, encode

_CASCADE = "topic-switching"
_LONGEST = 400  # characters of the text of a stop
_KEPT = 12


def draw_cases(session: AppSession) -> None:
    """Draws a row for each case: the five questions if the data has them, and the two trees."""
    st.markdown(
        "Appendix C of SegTreeMem follows five questions through one LoCoMo conversation. It also "
        "describes two dialogues that are difficult for a temporal tree. The paper uses summaries "
        "and answers of a language model. The results here measure retrieval alone, on the open "
        "memory."
    )
    found = cases_in(session.conversation.questions)
    for case, question in found:
        draw = partial(_question, session, case, question)
        _row(case.name, case.title, draw)
    if not found:
        _hint(session)
    _row("C.3.1", "Every exchange changes the topic", partial(_cascade, session))
    _row("C.3.2", "One topic returns after long gaps", _recurrence)


def _row(name: str, title: str, draw: Callable[[], None]) -> None:
    """Draws a row, and its content only while it is open."""
    with st.expander(f"{name} · {title}", key=f"case-{name}", on_change="rerun") as row:
        if row.open:
            draw()


def _says(who: str, words: str) -> None:
    st.markdown(f"*{who}.* {words}")


def _question(session: AppSession, case: Case, question: Question) -> None:
    st.text(f"{question.text}\nGold answer: {question.answer or 'not mentioned'}")
    _says(f"Paper, App. C.4, {case.name}", f"{case.paper} {case.note}".strip())
    try:
        measured = [_seen(session, case, question, place) for place in range(len(case.settings))]
    except (ModelError, NoEmbedder) as error:
        trouble("The question cannot be embedded.", error)
        return
    names = [setting_name(settings) for settings in case.settings]
    stops = [
        Stop(
            "ask",
            f"{case.name}, {name}. {words}"[:_LONGEST],
            Bookmark(question=question.index, retrieval=settings),
        )
        for name, words, settings in zip(names, measured, case.settings, strict=True)
    ]
    for number, (name, words) in enumerate(zip(names, measured, strict=True), 1):
        _here(session, name, words, stops, number, f"{case.name}-{number}")


def _seen(session: AppSession, case: Case, question: Question, place: int) -> str:
    settings = case.settings[place]
    return remember(
        "cases-seen",
        fingerprint(session.key, case.name, place),
        2 * _KEPT,
        lambda: seen(session.memory, question, settings, case.watch),
    )


def _here(
    session: AppSession, name: str, words: str, stops: Sequence[Stop], number: int, key: str
) -> None:
    """Draws a measurement in ``words``, and the button that opens stop ``number`` of a tour."""
    page = stops[number - 1].page
    text, way = st.columns([7, 1], vertical_alignment="center")
    text.markdown(f"**{name[:1].upper()}{name[1:]}.** {unmarked(words)}")
    way.button(
        f"Open {page.capitalize()}",
        icon=":material/arrow_forward:",
        key=f"tour-{key}",
        type="tertiary",
        on_click=show_stop,
        args=(session, stops, number),
    )


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


def _cascade(session: AppSession) -> None:
    _says(
        "Paper, App. C.3.1",
        "No node of the frontier is compatible, so each leaf adds a new root and a chain of copies "
        "above itself. The tree cascades: its height grows linearly with the leaves, its nodes "
        "grow with their square. The paper never observed a cascade on a benchmark.",
    )
    cascades = "cascade" in {one.kind for one in diagnose(shape(session.memory.structure))}
    words = cascade_seen(session.memory)
    stops = [Stop("grow", f"C.3.1. {words}", Bookmark(retrieval=read_settings(session)))]
    name = "This tree cascades" if cascades else "This tree does not cascade"
    _here(session, name, words, stops, 1, "C.3.1")
    if not cascades:
        settings = {"compatibility": "cosine", "compatibility.threshold": 0.55}
        there = Bookmark(sample=_CASCADE, settings=settings)
        open_link("Open the sample with plain cosine at 0.55: a cascade", there)


def _recurrence() -> None:
    _says(
        "Paper, App. C.3.2",
        "The parts of the topic lie far apart in time. The path between them leads through a "
        "node near the root. It is longer than the horizon of propagation.",
    )
    open_link(f"Open the sample: {TITLES['recurrence']}", Bookmark(sample="recurrence"))


def open_link(label: str, bookmark: Bookmark) -> None:
    """Draws a link that opens another conversation on Grow."""
    st.page_link(
        st.session_state[keys.PAGES]["grow"],
        label=label,
        icon=":material/arrow_forward:",
        query_params=encode(bookmark),
    )
