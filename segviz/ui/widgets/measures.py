"""Chooses the measure by which settings and systems are judged, says how long measuring takes, and
lists the fate of every question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from segviz.conversation import Question
from segviz.evaluation import Outcomes, Sweep
from segviz.evaluation.compare import Comparison
from segviz.evaluation.evaluation import ADVERSARIAL
from segviz.evaluation.measures import CHOICES, DEFAULT, MEASURES
from segviz.memory import ask, paid
from segviz.retrieval import RetrievalSettings
from segviz.retrieval.gold import ABSENT, COVERED, HIT, MISSED
from segviz.ui.state import AppSession, fingerprint, remember
from segviz.ui.widgets.captions import counted

# Seconds of work that is done without asking.
_AUTOMATIC = 2.0

# Questions x leaves that are swept under the usual three policies in a second, about; and leaves of
# memories as they stood at a moment, each of which is made and scored for itself, whatever is
# swept there.
_IN_A_SECOND, _MADE_IN_A_SECOND = 45_000, 3_000


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


def one_moment(session: AppSession) -> bool:
    """Tells whether all questions are asked of the whole memory, none as it stood earlier."""
    return all(session.memory.moment(one) is None for one in session.conversation.questions)


def _seconds(session: AppSession, sweeps: float, memories: int = 1) -> float:
    memory, leaves = session.memory, len(session.memory.units)
    moments = [memory.moment(question) for question in session.conversation.questions]
    known = {at: leaves * at / len(memory.steps) for at in moments if at}
    asked = sum(leaves if at is None else known.get(at, 0) for at in moments)
    made = sum(known.values())
    return sweeps * asked / _IN_A_SECOND + memories * made / _MADE_IN_A_SECOND


def at_once(session: AppSession, sweeps: float = 1.0) -> bool:
    """Tells whether measuring that is as long as so many usual sweeps is done without asking: it is
    quick and costs nothing."""
    quick = _seconds(session, sweeps) <= _AUTOMATIC and one_moment(session)
    return quick and paid(session.memory.embedder) is None


def duration(session: AppSession, sweeps: float, memories: int = 1) -> str:
    """Returns how long that takes of so many ``memories``, in words."""
    seconds = counted(max(1, round(_seconds(session, sweeps, memories))), "second")
    why = "" if one_moment(session) else ": each question is asked at its own moment"
    return f"Takes about {seconds}{why}."


def measure_choice(session: AppSession, found: Sweep | Comparison) -> tuple[str, bool]:
    """Draws, in the row it is called in, the choice by which to read what was ``found``; returns
    the measure and whether category 5 counts. Some question must be countable."""
    questions = session.conversation.questions
    names, tricky = countable(questions), adversarial_questions(questions)
    meanings = "\n".join(f"- **{MEASURES[n].label}**: {MEASURES[n].meaning}" for n in names)
    measure: str = st.selectbox(
        "Measured by",
        names,
        format_func=lambda name: MEASURES[name].label,
        width=220,
        help=f"Here K is {found.settings.k} nodes, N {found.units} units, T {found.tokens:,} "
        f"tokens. In {MEASURES[DEFAULT].label} every policy shows.\n{meanings}",
        index=names.index(DEFAULT) if DEFAULT in names else 0,
        key="measured-by",
        bind="query-params",
    )
    counts = not tricky or st.toggle(
        f"Count category 5: {tricky}",
        value=True,
        help=f"{counted(tricky, 'adversarial question')}: the answer is not in the conversation; "
        "the evidence is the turn that tempts to a wrong one. Most papers leave them out.",
        key="adversarial",
        bind="query-params",
    )
    return measure, counts


def disputed_choice(session: AppSession) -> bool:
    """Draws, where an audit disputes any question, the switch that leaves these out; returns
    whether they count."""
    disputed = sum(question.disputed is not None for question in session.conversation.questions)
    return not disputed or st.toggle(
        f"Count disputed: {disputed}",
        value=True,
        help=f"{counted(disputed, 'question')} with gold evidence or an answer that the audit "
        "disputes. Tables have the mean with and without them.",
        key="disputed",
        bind="query-params",
    )


def recounted_sentence(outcomes: Outcomes, measure: str, adversarial: bool) -> str:
    """Returns the mean with the disputed questions counted the other way, "" without any."""
    found = outcomes.recounted(measure, adversarial=adversarial)
    told = (f" {name.capitalize()} questions: {mean}." for name, mean in found.items())
    return "".join(told)


FATES_SHOWN = "● found, ◐ quoted by a wider node, ○ missed, × in no leaf; before and after."
_MARKS = {HIT: "●", COVERED: "◐", MISSED: "○", ABSENT: "×"}
_FATES_KEPT = 4


def fate_rows(session: AppSession, settings: RetrievalSettings) -> list[dict[str, Any]]:
    """Returns a row per question: fates of its gold turns before and after propagation and by how
    many more are found, and its words; those first that propagation changes."""
    return remember(
        "fate-rows",
        fingerprint(session.key, repr(settings)),
        _FATES_KEPT,
        lambda: _fate_rows(session, settings),
    )


def disputes(shown: Sequence[Question], questions: Sequence[Question]) -> list[dict[str, str]]:
    """Returns a cell for each question ``shown`` in a table: what the audit says of it; empty rows
    where none of the ``questions`` is disputed."""
    if all(one.disputed is None for one in questions):
        return [{} for _ in shown]
    return [{"disputed": one.disputed.kind if one.disputed else ""} for one in shown]


def _fate_rows(session: AppSession, settings: RetrievalSettings) -> list[dict[str, Any]]:
    memory, rows = session.memory, []
    plain = replace(settings, policy="none", method="propagate")
    for question in session.conversation.questions:
        fates = []
        for way in (plain, settings):
            result = ask(memory, question, way, chat=session.chat)
            gold = memory.gold(question.evidence, result.structure)
            fates.append(list(gold.fate(result.evidence).values()))
        before, after = fates
        rows.append(
            {
                "before": "".join(_MARKS[fate] for fate in before),
                "after": "".join(_MARKS[fate] for fate in after),
                "change": after.count(HIT) - before.count(HIT),
                "question": question.text,
                "category": question.category_label,
                "number": question.index + 1,
                **disputes([question], session.conversation.questions)[0],
            }
        )
    return sorted(rows, key=lambda row: (-abs(row["change"]), -row["change"], row["number"]))
