"""Draws the question atlas; a click opens the question in Ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from segviz.evaluate import Outcomes
from segviz.figures.atlas import COVERED, FOUND, MISSED, atlas, atlas_sentence, marks
from segviz.ui import keys
from segviz.ui.state import Session
from segviz.ui.view_state import write_question
from segviz.ui.widgets.tables import tall

_SEEN = 14


def draw_atlas(
    session: Session,
    columns: Mapping[str, Outcomes],
    focus: str,
    *,
    key: str,
    adversarial: bool,
    choose: Callable[[str], None],
) -> None:
    """Draws a row for every question and a column for each of ``columns``, the first to compare
    with, sorted by what changes in ``focus``. A click asks the question on Ask, once ``choose``
    has set what its column stands for; the words of a question stand for ``focus``."""
    questions = session.conversation.questions
    names = list(columns)
    rows = atlas(columns, focus, columns[focus].keep(adversarial=adversarial))
    if not rows:
        return

    def open_cell() -> None:
        event: Any = st.session_state.get(key)
        cells = event.selection.cells if event else []
        if not cells:
            return
        place, column = cells[0]
        choose(column if column in columns else focus)
        write_question(session, rows[place].place)
        st.session_state[keys.PAGE_WANTED] = "ask"

    st.caption(
        f"{FOUND} found, {COVERED} only inside a wider retrieved node, {MISSED} missed: a mark for "
        "each gold turn. Click a cell to see it in Ask."
    )
    sentence = atlas_sentence(rows, names[0], focus)
    st.dataframe(
        [
            {
                "question": questions[row.place].text,
                "category": questions[row.place].category_label,
                **dict(zip(names, map(marks, row.fates), strict=True)),
            }
            for row in rows
        ],
        hide_index=True,
        height=tall(len(rows), _SEEN),
        key=key,
        on_select=open_cell,
        selection_mode="single-cell",
        column_config={
            "question": st.column_config.TextColumn(width=300, pinned=True),
            "category": st.column_config.TextColumn(width=98),
            **{
                name: st.column_config.TextColumn(width=None if len(names) < 6 else 66)
                for name in names
            },
        },
        alt=sentence,
    )
    st.caption(sentence)
