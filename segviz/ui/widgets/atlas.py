"""Draws the question atlas as a table of settings and as dots; a click opens Ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import shorten

import streamlit as st

from segviz.evaluation import MEASURES, Outcomes, evaluate
from segviz.evaluation.stages import READ, STAGES, EvidenceStage, evidence_stages
from segviz.figures.compare import (
    COVERED,
    FOUND,
    MISSED,
    AtlasRow,
    atlas,
    atlas_sentence,
    marks,
    won,
)
from segviz.figures.question_dots import GROUPS, group_of, question_dots
from segviz.retrieval import RetrievalSettings
from segviz.ui import keys
from segviz.ui.settings import read_preset, read_settings, write_question
from segviz.ui.state import AppSession, fingerprint
from segviz.ui.widgets.charts import QUIET, colours, picked, readable, sentence_of, tall, theme
from segviz.ui.widgets.measures import disputes
from segviz.ui.widgets.waiting import computed
from segviz.view.palette import GOLD_COLOURS

_SEEN = 14

_FOLLOWS = "as shown"
"""Option of B: the setting, or the system, shown on the page."""

# Pixels of the column of questions, and the letters that fit in it.
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
    """Draws a row for every question and a column for A, B and each of ``columns``.

    Rows are sorted by the change of the ``measure`` from A to B. By default A is the first column
    and B is ``focus``; others of ``columns`` or ``more`` can be chosen. ``about`` describes a
    column. A click on a cell calls ``choose`` with its column, then asks the question on Ask. A
    click on a question means B, or calls ``explain`` with its place. Returns A, B and the place of
    the question that changes most, None if none changes.
    """
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
        f"One mark per gold turn: {FOUND} found, {COVERED} covered by a wider retrieved node, "
        f"{MISSED} missed. Click a {'mark' if explain else 'cell'} to ask the "
        f"question on Ask{', or a question to explain it below' if explain else ''}."
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


_FATES_KEPT = 8


def question_fates(session: AppSession, settings: RetrievalSettings) -> list[AtlasRow] | None:
    """Returns an atlas row for each question: before, without propagation, and with ``settings``.

    Rows are sorted by change, the largest first. All levels are admissible. None if the user has
    stopped the computation.
    """
    memory, settings = session.memory, replace(settings, levels=None)
    plain = replace(settings, policy="none", alpha=0.0, horizon=0, method="propagate")

    questions, outcomes = session.conversation.questions, {}
    for name, way in (("before", plain), ("after", settings)):
        found = computed(
            "question-fates",
            fingerprint(session.key, repr(way)),
            _FATES_KEPT,
            "Ask every question",
            partial(evaluate, memory, questions, way),
        )
        if found is None:
            return None
        outcomes[name] = found.outcomes
    return atlas(outcomes, "after", range(len(questions)))


def _gold_stages(
    session: AppSession, settings: RetrievalSettings
) -> Sequence[EvidenceStage] | None:
    """Returns the stage of every gold turn, all levels admissible; None if the user stopped."""
    settings = replace(settings, levels=None)
    return computed(
        "gold-stages",
        fingerprint(session.key, repr(settings)),
        _FATES_KEPT,
        "Follow every gold turn",
        partial(evidence_stages, session.memory, session.conversation.questions, settings),
    )


def _first_loss(stages: Sequence[EvidenceStage]) -> str:
    """Returns the earliest stage at which one of these turns was lost, with its rank."""
    first = min(stages, key=lambda one: STAGES.index(one.stage))
    lost = first.stage != READ and first.rank
    return f"{first.stage}: rank {first.rank}" if lost else first.stage


def draw_questions(
    session: AppSession, key: str, opened: Callable[[], None], group: str = ""
) -> None:
    """Draws the questions as dots and as a list, of one ``group`` or of all.

    A click asks the question, then calls ``opened``.
    """
    questions, settings = session.conversation.questions, read_settings(session)
    rows = question_fates(session, settings)
    stages = None if rows is None else _gold_stages(session, settings)
    if rows is None or stages is None:
        return
    turns: dict[int, list[EvidenceStage]] = {}
    for one in stages:
        turns.setdefault(one.question, []).append(one)
    listed = [row for row in rows if group in ("", group_of(row))]

    def ask(place: int | None) -> None:
        if place is not None:
            write_question(session, questions[place].index)
            opened()

    def pick_dot() -> None:
        points = st.session_state[f"{key}-dots"].selection.points
        ask(points[0]["customdata"] if points else None)

    def pick_row() -> None:
        row = picked(f"{key}-list")
        ask(None if row is None else listed[row].place)

    st.caption(
        f"{len(rows)} questions with gold evidence: {read_preset(settings)} compared with no "
        f"propagation, all levels admissible. {FOUND} found, {COVERED} quoted by a wider node, "
        f"{MISSED} missed. The list names the stage at which the first gold turn is lost. Click a "
        "question to ask it."
    )
    gold = GOLD_COLOURS[theme()]["found"]
    members = [group_of(row) for row in rows]
    counts = ", ".join(f"{members.count(name)} {name}" for name in GROUPS)
    st.plotly_chart(
        readable(question_dots(rows, [one.text for one in questions], gold=gold, **colours())),
        key=f"{key}-dots",
        config=QUIET,
        alt=f"A dot for every question: {counts}.",
        on_select=pick_dot,
        selection_mode="points",
        width=760,
    )
    st.dataframe(
        [
            {
                "before": marks(row.fates[0]),
                "after": marks(row.fates[-1]),
                "change": won(row.change),
                "stage": _first_loss(turns[questions[row.place].index]),
                "question": questions[row.place].text,
                "category": questions[row.place].category_label,
            }
            for row in listed
        ],
        height=tall(len(listed), 9),
        width=760,
        hide_index=True,
        key=f"{key}-list",
        on_select=pick_row,
        selection_mode="single-row",
    )
