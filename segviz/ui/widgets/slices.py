"""Named slices of a data set's questions: made from a filter or from ticked rows, chosen wherever
all questions are measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from segviz.conversation import Question
from segviz.memory import ask
from segviz.retrieval import RetrievalSettings
from segviz.retrieval.gold import ABSENT, COVERED, HIT, MISSED, gold_evidence
from segviz.ui.settings import read_settings
from segviz.ui.state import Session, fingerprint, remember
from segviz.ui.view_state import read_slices, write_slices
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.tables import tall

ALL = "all questions"

FATES_SHOWN = "● found, ◐ inside a wider node, ○ missed, × in no leaf; before and after."
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
    """Draws which questions are measured, and how to name others."""
    slices, chosen = read_slices(session)
    total = len(session.conversation.questions)
    state, key = st.session_state, f"slice-{session.source}"
    state[key] = chosen if chosen in slices else ALL

    def choose() -> None:
        write_slices(session, slices, "" if state[key] == ALL else state[key])

    def label(name: str) -> str:
        return f"{name}: {total if name == ALL else len(slices[name])}"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Questions",
            [ALL, *slices],
            format_func=label,
            key=key,
            on_change=choose,
            width=300,
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
