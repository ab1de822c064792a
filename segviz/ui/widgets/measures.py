"""Lets the user choose by which measure settings and systems are judged."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from segviz.conversation import Question
from segviz.evaluate import Sweep
from segviz.evaluate.compare import Comparison
from segviz.evaluate.measures import CHOICES, MEASURES
from segviz.evaluate.outcomes import ADVERSARIAL
from segviz.figures.judged import opening
from segviz.memory import paid
from segviz.ui.state import Session
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.slices import measured

# It sees every policy, and needs no answers.
START = "reached"

# Seconds of work that is done without asking.
_AUTOMATIC = 2.0

# Questions x leaves that are swept under the usual three policies in a second, about.
_IN_A_SECOND = 45_000


def countable(questions: Sequence[Question]) -> list[str]:
    """Returns the measures that some question comes with enough for."""
    evidence, answer = any(q.evidence for q in questions), any(q.answer for q in questions)
    return [
        name
        for name in CHOICES
        if (evidence or not MEASURES[name].evidence) and (answer or not MEASURES[name].answer)
    ]


def adversarial_questions(questions: Sequence[Question]) -> int:
    """Returns how many questions are of category 5."""
    return sum(question.category == ADVERSARIAL for question in questions)


def one_moment(session: Session) -> bool:
    """Tells whether all questions are asked of the whole memory, none as it stood earlier."""
    return all(session.memory.moment(one) is None for one in session.conversation.questions)


def _seconds(session: Session, sweeps: float) -> float:
    return sweeps * len(measured(session)) * len(session.memory.units) / _IN_A_SECOND


def at_once(session: Session, sweeps: float = 1.0) -> bool:
    """Tells whether measuring that is as long as so many usual sweeps is done without asking: it is
    quick and costs nothing."""
    quick = _seconds(session, sweeps) <= _AUTOMATIC and one_moment(session)
    return quick and paid(session.memory.embedder) is None


def duration(session: Session, sweeps: float) -> str:
    """Returns how long that takes, in words."""
    seconds = counted(max(1, round(_seconds(session, sweeps))), "second")
    longer = "" if one_moment(session) else " or more: each question is asked at its own moment"
    return f"Takes about {seconds}{longer}."


def measure_choice(session: Session, found: Sweep | Comparison) -> tuple[str, bool]:
    """Draws the choice by which to read what was ``found``; returns the measure and whether
    category 5 counts. The measured questions must have something countable."""
    questions = measured(session)
    names, tricky = countable(questions), adversarial_questions(questions)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        measure: str = st.selectbox(
            "Measured by",
            names,
            index=names.index(START) if START in names else 0,
            format_func=lambda name: MEASURES[name].label,
            key="measured-by",
            persist_state="session",
            width=300,
            help="\n".join(f"- **{MEASURES[n].label}**: {MEASURES[n].meaning}" for n in names),
        )
        counts = not tricky or st.toggle(
            f"Count category 5: {counted(tricky, 'adversarial question')}",
            value=True,
            key="adversarial",
            persist_state="session",
            help="Their answer is not in the conversation; their evidence is the turn that tempts "
            "to a wrong one. Most papers leave them out.",
        )
    why = " It comes first because every policy shows in it, and a wide node pays for each unit."
    st.caption(
        f"**{opening(measure)}**: {MEASURES[measure].meaning} Here K is "
        f"{found.settings.k} nodes, N {found.units} units, T {found.tokens:,} tokens."
        f"{why if measure == START else ''}"
    )
    return measure, counts
