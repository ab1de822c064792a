"""Draws the question atlas; a click opens the question in Ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import shorten

import streamlit as st

from segviz.evaluation import MEASURES, Outcomes
from segviz.figures.compare import COVERED, FOUND, MISSED, atlas, atlas_sentence, marks, won
from segviz.ui import keys
from segviz.ui.settings import write_question
from segviz.ui.state import AppSession
from segviz.ui.widgets.charts import picked, sentence_of, tall
from segviz.ui.widgets.measures import disputes

_SEEN = 14

_FOLLOWS = "as shown"
"""The choice of B that is the setting, or the system, shown on the page."""

# Pixels of the words of a question, and the letters that have room there.
_WIDE, _LETTERS = 400, 68


def draw_atlas(
    session: AppSession,
    columns: Mapping[str, Outcomes],
    focus: str,
    *,
    key: str,
    measure: str,
    adversarial: bool,
    choose: Callable[[str], None],
    more: Mapping[str, Outcomes] | None = None,
    about: Mapping[str, str] | None = None,
    explain: Callable[[int], None] | None = None,
) -> tuple[str, str, int | None]:
    """Draws a row for every question and a column for A, B and each of ``columns``, sorted by how
    the ``measure`` changes from A to B: from the first to ``focus``, unless others of them or of
    ``more`` are chosen; ``about`` says more of a column. A click asks the question on Ask, once
    ``choose`` has set what its column stands for; the words of a question stand for B, unless they
    call ``explain`` with its place. Returns A, B and the place of the question that changes most,
    None where none changes."""
    questions, every = session.conversation.questions, {**columns, **(more or {})}
    about, counted = about or {}, next(iter(columns.values()))
    with st.container(horizontal=True):
        base = st.selectbox("A", list(every), key=f"{key}-A", width=280, bind="query-params")
        chosen = st.selectbox(
            "B", [_FOLLOWS, *every], key=f"{key}-B", width=280, bind="query-params"
        )
    focus = focus if chosen == _FOLLOWS else chosen
    names = list(dict.fromkeys([base, focus, *columns]))
    columns = {name: every[name] for name in names}
    rows = atlas(columns, focus, counted.keep(adversarial=adversarial), measure)
    if not rows:
        return base, focus, None
    shown = [questions[row.place] for row in rows]

    def open_cell() -> None:
        cell = picked(key)
        if cell is None:
            return
        place, column = cell
        if explain is not None and column not in columns:
            explain(rows[place].place)
            return
        write_question(session, questions[rows[place].place].index)
        choose(column if column in columns else focus)
        st.session_state[keys.PAGE_WANTED] = "ask"

    st.caption(
        f"{FOUND} found, {COVERED} covered by a wider retrieved node, {MISSED} missed: a mark for "
        f"each gold turn. Click a {'mark' if explain else 'cell'} to see it in Ask"
        f"{', a question to see below why' if explain else ''}."
    )
    sentence = sentence_of(atlas_sentence(rows, base, focus, MEASURES[measure].label))
    st.dataframe(
        [
            {
                "question": shorten(question.text, _LETTERS, placeholder=" …"),
                "B against A": won(row.change),
                "category": question.category_label,
                **disputed,
                **dict(zip(names, map(marks, row.fates), strict=True)),
            }
            for row, question, disputed in zip(rows, shown, disputes(shown, questions), strict=True)
        ],
        hide_index=True,
        height=tall(len(rows), _SEEN),
        key=key,
        on_select=open_cell,
        selection_mode="single-cell",
        column_config={
            "question": st.column_config.TextColumn(width=_WIDE),
            "B against A": st.column_config.TextColumn(width=96),
            "category": st.column_config.TextColumn(width=98),
            "disputed": st.column_config.TextColumn(width=124),
            **{
                name: st.column_config.TextColumn(
                    width=max(66, 24 + 7 * len(name)), help=sentence_of(about.get(name, "")) or None
                )
                for name in names
            },
        },
        alt=sentence,
    )
    st.caption(sentence)
    return base, focus, rows[0].place if rows[0].change else None
