"""Lets the user choose by which measure settings and systems are judged, and on which questions:
all of a data set or a named slice, made from a filter or from ticked rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from segviz.conversation import Question
from segviz.evaluation import Sweep
from segviz.evaluation.compare import Comparison
from segviz.evaluation.evaluation import ADVERSARIAL
from segviz.evaluation.measures import CHOICES, DEFAULT, MEASURES
from segviz.memory import ask, paid
from segviz.retrieval import RetrievalSettings
from segviz.retrieval.gold import ABSENT, COVERED, HIT, MISSED, gold_evidence
from segviz.ui.settings import read_settings
from segviz.ui.state import Session, fingerprint, remember
from segviz.ui.view_state import chooses, read_slices, write_slices
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.charts import tall

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


def one_moment(session: Session) -> bool:
    """Tells whether all questions are asked of the whole memory, none as it stood earlier."""
    return all(session.memory.moment(one) is None for one in session.conversation.questions)


def _seconds(session: Session, sweeps: float, memories: int = 1) -> float:
    memory, leaves = session.memory, len(session.memory.units)
    moments = [memory.moment(question) for question in measured(session)]
    known = {at: leaves * at / len(memory.steps) for at in moments if at}
    asked = sum(leaves if at is None else known.get(at, 0) for at in moments)
    made = sum(known.values())
    return sweeps * asked / _IN_A_SECOND + memories * made / _MADE_IN_A_SECOND


def at_once(session: Session, sweeps: float = 1.0) -> bool:
    """Tells whether measuring that is as long as so many usual sweeps is done without asking: it is
    quick and costs nothing."""
    quick = _seconds(session, sweeps) <= _AUTOMATIC and one_moment(session)
    return quick and paid(session.memory.embedder) is None


def duration(session: Session, sweeps: float, memories: int = 1) -> str:
    """Returns how long that takes of so many ``memories``, in words."""
    seconds = counted(max(1, round(_seconds(session, sweeps, memories))), "second")
    why = "" if one_moment(session) else ": each question is asked at its own moment"
    return f"Takes about {seconds}{why}."


def measure_choice(session: Session, found: Sweep | Comparison) -> tuple[str, bool]:
    """Draws, in the row it is called in, the choice by which to read what was ``found``; returns
    the measure and whether category 5 counts. Some measured question must be countable."""
    questions = measured(session)
    names, tricky = countable(questions), adversarial_questions(questions)
    page = "sweep" if isinstance(found, Sweep) else "compare"
    meanings = "\n".join(f"- **{MEASURES[n].label}**: {MEASURES[n].meaning}" for n in names)
    measure: str = st.selectbox(
        "Measured by",
        names,
        format_func=lambda name: MEASURES[name].label,
        width=220,
        help=f"Here K is {found.settings.k} nodes, N {found.units} units, T {found.tokens:,} "
        f"tokens. In {MEASURES[DEFAULT].label} every policy shows.\n{meanings}",
        **chooses("measured-by", DEFAULT if DEFAULT in names else names[0], names, page=page),
    )
    counts = not tricky or st.toggle(
        f"Count category 5: {tricky}",
        help=f"{counted(tricky, 'adversarial question')}: the answer is not in the conversation; "
        "the evidence is the turn that tempts to a wrong one. Most papers leave them out.",
        **chooses("adversarial", True, page=page),
    )
    return measure, counts


ALL = "all questions"

FATES_SHOWN = "● found, ◐ covered by a wider node, ○ missed, × in no leaf; before and after."
_MARKS = {HIT: "●", COVERED: "◐", MISSED: "○", ABSENT: "×"}
_FATES_KEPT = 4

_FATES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "any fate": lambda row: True,
    "something missed now": lambda row: any(mark in row["after"] for mark in "◐○×"),
    "all found now": lambda row: bool(row["after"]) and set(row["after"]) == {"●"},
    "won by propagation": lambda row: row["change"] > 0,
    "lost by propagation": lambda row: row["change"] < 0,
}


def measured(session: Session) -> list[Question]:
    """Returns the questions that are measured: those of the slice in force, or all."""
    slices, chosen = read_slices(session)
    questions = session.conversation.questions
    kept = slices.get(chosen)
    found = [q for q in questions if kept is None or q.index in kept]
    return found or list(questions)


def slice_choice(session: Session) -> None:
    """Draws, in the row it is called in, which questions are measured, and how to name others."""
    slices, chosen = read_slices(session)
    total = len(session.conversation.questions)
    state, key = st.session_state, f"slice-{session.source}"
    state[key] = chosen if chosen in slices else ALL

    def choose() -> None:
        write_slices(session, slices, "" if state[key] == ALL else state[key])

    def label(name: str) -> str:
        return f"{name}: {total if name == ALL else len(slices[name])}"

    st.selectbox(
        "Questions",
        [ALL, *slices],
        format_func=label,
        key=key,
        on_change=choose,
        width=220,
    )
    with st.popover("New slice", key="slice-making", on_change="rerun") as making:
        if making.open:
            _make(session, slices)
    if chosen in slices:
        st.button(
            "Remove",
            key="slice-remove",
            type="tertiary",
            on_click=write_slices,
            args=(session, {n: slices[n] for n in slices if n != chosen}, ""),
        )


def _make(session: Session, slices: Mapping[str, tuple[int, ...]]) -> None:
    """Draws filters, the questions they leave, and a name for these or for the ticked ones."""
    rows = fate_rows(session, read_settings(session))
    with st.container(horizontal=True):
        category = st.selectbox(
            "Category",
            ["any category", *dict.fromkeys(row["category"] for row in rows)],
            key="slice-category",
        )
        told = [row["gold in"] for row in rows]
        places = sorted({place for held in told for place in held})
        place = st.selectbox(
            "Gold evidence in",
            [0, *places],
            format_func=lambda n: f"session {n}" if n else "any session",
            key="slice-session",
        )
        fate = st.selectbox("Fate under the setting of Ask", list(_FATES), key="slice-fate")
    words = st.text_input("Words of question or answer", key="slice-words").lower().split()
    kept = [
        row
        for row in rows
        if category in ("any category", row["category"])
        and (not place or place in row["gold in"])
        and _FATES[fate](row)
        and all(word in f"{row['question']} {row['answer']}".lower() for word in words)
    ]
    st.caption(FATES_SHOWN)
    event: Any = st.dataframe(
        [{n: row[n] for n in ("before", "after", "question", "category")} for row in kept],
        height=tall(len(kept), 8),
        width=760,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key=f"slice-rows-{fingerprint([row['number'] for row in kept])}",
    )
    ticked = event.selection.rows
    taken = sorted(kept[at]["number"] - 1 for at in ticked or range(len(kept)))
    name = st.text_input("Name", max_chars=60, key="slice-name").strip()
    st.button(
        f"Keep {counted(len(taken), 'question')}" + (", those ticked" if ticked else ""),
        key="slice-keep",
        disabled=not (name and taken) or name == ALL,
        on_click=write_slices,
        args=(session, {**slices, name: tuple(taken)}, name),
    )


def fate_rows(session: Session, settings: RetrievalSettings) -> list[dict[str, Any]]:
    """Returns a row per question: fates of its gold turns before and after propagation and by how
    many more are found, where they are, and its words; those first that propagation changes."""
    return remember(
        "fate-rows",
        fingerprint(session.key, repr(settings)),
        _FATES_KEPT,
        lambda: _fate_rows(session, settings),
    )


def _fate_rows(session: Session, settings: RetrievalSettings) -> list[dict[str, Any]]:
    memory, rows = session.memory, []
    plain = replace(settings, policy="none", method="propagate")
    sessions = {
        turn.id: place
        for place, each in enumerate(session.conversation.sessions, 1)
        for turn in each.turns
    }
    for question in session.conversation.questions:
        fates = []
        for way in (plain, settings):
            result = ask(memory, question, way, chat=session.chat)
            gold = gold_evidence(result.structure, memory.units, question.evidence)
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
                "gold in": {sessions[t] for t in question.evidence if t in sessions},
                "answer": question.answer or "",
            }
        )
    return sorted(rows, key=lambda row: (-abs(row["change"]), -row["change"], row["number"]))
