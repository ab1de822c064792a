"""Draws the choice of measure and estimates the time of measuring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

import streamlit as st

from segviz.conversation import Question
from segviz.evaluation import Chart, Outcomes, number_of
from segviz.evaluation.evaluation import ADVERSARIAL, budget_rows
from segviz.evaluation.measures import BUDGETS, CHOICES, CURVES, DEFAULT, MEASURES, TOKENS, UNITS
from segviz.figures.charts import rows_figure
from segviz.memory import paid
from segviz.ui.state import AppSession, linked
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.charts import chart, neutral, pair
from segviz.view.palette import SERIES

# Longest measurement in seconds that starts without a click.
_AUTOMATIC = 2.0

# Questions x leaves that a sweep of three policies measures in a second, about; and leaves of
# memories at earlier moments per second, because each of those is replayed and scored separately.
_IN_A_SECOND, _MADE_IN_A_SECOND = 45_000, 3_000


def countable(questions: Sequence[Question]) -> list[str]:
    """Returns the measures whose gold evidence or answer at least one question has."""
    evidence, answer = any(q.evidence for q in questions), any(q.answer for q in questions)
    return [
        name
        for name in CHOICES
        if (evidence or not MEASURES[name].evidence) and (answer or not MEASURES[name].answer)
    ]


def adversarial_questions(questions: Sequence[Question]) -> int:
    """Returns how many questions are of category 5."""
    return sum(question.category == ADVERSARIAL for question in questions)


def one_moment(session: AppSession) -> bool:
    """Returns True if all questions are asked of the whole memory, none of an earlier state."""
    return all(moment is None for moment in session.moments)


def _seconds(session: AppSession, sweeps: float, memories: int = 1) -> float:
    memory, leaves = session.memory, len(session.memory.units)
    known = {at: leaves * at / len(memory.steps) for at in session.moments if at}
    asked = sum(leaves if at is None else known.get(at, 0) for at in session.moments)
    made = sum(known.values())
    return sweeps * asked / _IN_A_SECOND + memories * made / _MADE_IN_A_SECOND


def at_once(session: AppSession, sweeps: float = 1.0, patience: float = 1.0) -> bool:
    """Returns True if a measurement as long as ``sweeps`` usual sweeps is free and short.

    A page may wait ``patience`` times as long as others.
    """
    quick = _seconds(session, sweeps) <= patience * _AUTOMATIC and one_moment(session)
    return quick and not paid(session.memory.embedder)


def duration(session: AppSession, sweeps: float, memories: int = 1) -> str:
    """Returns the expected duration for ``memories`` memories, as a sentence."""
    seconds = counted(max(1, round(_seconds(session, sweeps, memories))), "second")
    why = "" if one_moment(session) else ": each question is asked at its own moment"
    return f"Takes about {seconds}{why}."


def measure_choice(session: AppSession, k: int) -> str:
    """Draws the choice of a measure of ``k`` nodes; at least one measure must be countable."""
    names = countable(session.conversation.questions)
    meanings = "\n".join(f"- **{MEASURES[n].label}**: {MEASURES[n].meaning}" for n in names)
    measure: str = st.selectbox(
        "Measured by",
        names,
        format_func=lambda name: MEASURES[name].label,
        width=220,
        help=f"Here K is {k} nodes, N {UNITS} units, T {TOKENS:,} tokens. Every policy can change "
        f"{MEASURES[DEFAULT].label}.\n{meanings}",
        **linked("measured-by", DEFAULT if DEFAULT in names else names[0], names),
    )
    return measure


def counting_choices(session: AppSession) -> tuple[bool, bool]:
    """Draws a switch for each kind of question that may be left out, if there are any.

    Returns:
        True if questions of category 5 count, and True if disputed questions do.
    """
    questions = session.conversation.questions
    tricky = adversarial_questions(questions)
    disputed = sum(question.disputed is not None for question in questions)
    counts = not tricky or st.toggle(
        f"Count category 5 ({counted(tricky, 'question')})",
        help=f"{counted(tricky, 'adversarial question')}: the answer is not in the conversation. "
        "The evidence is the turn that suggests a wrong answer. Most papers leave them out.",
        **linked("adversarial", True, (True, False)),
    )
    doubts = not disputed or st.toggle(
        f"Count disputed questions: {disputed}",
        help=f"The audit disputes the gold evidence or the answer of "
        f"{counted(disputed, 'question')}. Tables have the mean with and without them.",
        **linked("disputed", True, (True, False)),
    )
    return counts, doubts


def budget_curves(outcomes: Mapping[str, Outcomes], adversarial: bool, key: str) -> None:
    """Draws a small curve over the tokens read for each setting or system, with its table."""
    rows = budget_rows(outcomes, adversarial=adversarial)
    middle = BUDGETS[len(BUDGETS) // 2]
    there = [row for row in rows if row["tokens"] == middle]
    # Without gold answers there is no curve of their words.
    known = [label for label in CURVES if not isnan(number_of(there[0][label]))]
    best = ((label, max(there, key=lambda row: number_of(row[label]))) for label in known)
    highest = (f"{label} {number_of(row[label]):.3f} ({row['setting']})" for label, row in best)
    few = len(outcomes) < 3
    figure = rows_figure(
        rows,
        Chart("tokens", known, "setting", intervals=few),
        **(pair() if few else {"colours": SERIES, "neutral": neutral()}),
    )
    figure.update_xaxes(tickvals=BUDGETS)
    chart(
        figure,
        "What a reader gets who pays for tokens, not for nodes. "
        f"Highest means at {middle} tokens: {', '.join(highest)}. Texts are read in order of rank, "
        "and the last one is cut.",
        key,
        rows=lambda: rows,
    )


def recounted_sentence(outcomes: Outcomes, measure: str, adversarial: bool) -> str:
    """Returns the mean with the opposite choice for disputed questions; "" without any."""
    means = outcomes.recounted(measure, adversarial=adversarial)
    return "".join(f" {name.capitalize()} questions: {mean}." for name, mean in means.items())


def disputes(shown: Sequence[Question], questions: Sequence[Question]) -> list[dict[str, str]]:
    """Returns a column with the audit's verdict on each ``shown`` question.

    Its rows are empty if none of the ``questions`` is disputed.
    """
    if all(one.disputed is None for one in questions):
        return [{} for _ in shown]
    return [{"disputed": one.disputed.kind if one.disputed else ""} for one in shown]
