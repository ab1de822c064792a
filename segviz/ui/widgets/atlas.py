"""Draws the question atlas as a table of settings and as dots; a click opens Ask.

Pointing at a dot shows how the ranks of its question change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from textwrap import shorten

import numpy as np
import streamlit as st

from segviz.evaluation import MEASURES, Outcomes
from segviz.evaluation.evaluation import fates_of, ranked
from segviz.evaluation.question_batch import Limits, batches
from segviz.evaluation.rank_changes import question_ranks, rank_changes
from segviz.evaluation.stages import READ, STAGES, evidence_stages
from segviz.figures.compare import (
    GROUPS,
    MARKS,
    AtlasRow,
    atlas,
    atlas_sentence,
    group_of,
    marks,
    won,
)
from segviz.frontend.atlas import atlas_payload, node_names
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings
from segviz.systems import level_name, level_names
from segviz.ui import keys
from segviz.ui.settings import read_preset, read_settings, write_question
from segviz.ui.state import AppSession, fingerprint, linked
from segviz.ui.widgets.canvas import part
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.charts import alt, picked, sentence_of, tall
from segviz.ui.widgets.measures import at_once, disputes
from segviz.ui.widgets.waiting import computed, labels

_SEEN = 14

_FOLLOWS = "as shown"
"""Option of B: the setting, or the system, shown on the page."""

Side = tuple[str, Memory, RetrievalSettings]
"""Key of a memory, the memory, and the settings with which it is asked."""

# Pixels of the column of questions, and the letters that fit in it.
_WIDE, _LETTERS = 400, 68


@dataclass(frozen=True)
class AtlasColumns:
    """Columns of the atlas, by name, and the functions that it calls.

    Attributes:
        outcomes: outcomes of the columns that are always drawn; A is the first by default.
        focus: the column that is B by default.
        measure: name of the measure whose change from A to B sorts the rows.
        adversarial: True if questions of category 5 count.
        side: returns how a column was asked.
        choose: called with the column of a clicked cell, before its question is asked on Ask.
        more: outcomes of further columns, drawn only if they are chosen as A or B.
        about: descriptions of columns.
        explain: called with the place of a clicked question; None if such a click means B.
    """

    outcomes: Mapping[str, Outcomes]
    focus: str
    measure: str
    adversarial: bool
    side: Callable[[str], Side]
    choose: Callable[[str], None]
    more: Mapping[str, Outcomes] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    explain: Callable[[int], None] | None = None


def draw_atlas(
    session: AppSession, drawn: AtlasColumns, *, key: str
) -> tuple[str, str, int | None]:
    """Draws a row for every question and the choice of A and B; a click on a cell opens Ask.

    Returns A, B and the place of the question that changes most, None if none changes.
    """
    questions, every = session.conversation.questions, {**drawn.outcomes, **drawn.more}
    label, explain = MEASURES[drawn.measure].label, drawn.explain
    # A and B, then the rows of all questions that have a value.
    choices = st.container(horizontal=True, vertical_alignment="bottom")
    with choices:
        first, offered = next(iter(every)), [_FOLLOWS, *every]
        base = st.selectbox("A", list(every), width=280, **linked(f"{key}-A", first, every))
        chosen = st.selectbox("B", offered, width=280, **linked(f"{key}-B", _FOLLOWS, offered))
    focus = drawn.focus if chosen == _FOLLOWS else chosen
    columns = {name: every[name] for name in dict.fromkeys([base, focus, *drawn.outcomes])}
    places = next(iter(drawn.outcomes.values())).keep(adversarial=drawn.adversarial)
    rows = atlas(columns, focus, places, drawn.measure)
    if not rows:
        return base, focus, None
    shown = [questions[row.place] for row in rows]

    def open_cell() -> None:
        """Explains or asks the question of the clicked cell."""
        cell = picked(key)
        if cell is None:
            return
        row, column = cell
        if explain is not None and column not in columns:
            explain(rows[row].place)
        else:
            ask(rows[row].place, column if column in columns else focus)

    def ask(place: int, column: str) -> None:
        write_question(session, questions[place].index)
        drawn.choose(column)
        st.session_state[keys.PAGE_WANTED] = "ask"

    # Beside the choice, on request: the same questions as dots.
    with choices, st.popover("As dots", key=f"{key}-dots-open", on_change="rerun") as dots:
        if dots.open:
            st.caption(
                "A dot for each question, by the gold turns that B gains or loses. Point at one to "
                "see how B ranks differently from A. Click it to ask the question on Ask."
            )
            pairs = atlas({base: every[base], focus: every[focus]}, focus, places)
            ways = [(f"A: {base}", drawn.side(base)), (f"B: {focus}", drawn.side(focus))]
            draw_dots(session, pairs, ways, key=f"{key}-dots", ask=lambda place: ask(place, focus))
    st.caption(
        f"One mark per gold turn: {MARKS}. *B against A* follows {label}. "
        f"Click a {'mark' if explain else 'cell'} to ask the question on Ask"
        f"{', or a question to explain it below' if explain else ''}."
    )
    # The table: A and B first, then the other columns.
    sentence = sentence_of(atlas_sentence(rows, base, focus, label))
    st.dataframe(
        [
            {
                "question": shorten(question.text, _LETTERS, placeholder=" …"),
                "B against A": won(row.change),
                "category": question.category_label,
                **disputed,
                **dict(zip(columns, map(marks, row.fates), strict=True)),
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
                    width=max(66, 24 + 7 * len(name)),
                    help=sentence_of(drawn.about.get(name, "")) or None,
                )
                for name in columns
            },
        },
        **alt(st.dataframe, sentence),
    )
    st.caption(sentence)
    return base, focus, rows[0].place if rows[0].change else None


_FATES_KEPT = 8


def without_propagation(settings: RetrievalSettings) -> RetrievalSettings:
    """Returns the settings with which the questions of the dots are asked before."""
    return replace(settings, policy="none", alpha=0.0, horizon=0, method="propagate")


def question_fates(session: AppSession, settings: RetrievalSettings) -> list[AtlasRow] | None:
    """Returns an atlas row for each question: before, without propagation, and with ``settings``.

    Rows are sorted by change, the largest first. None if the user has stopped the computation.
    """
    memory, questions = session.memory, session.conversation.questions
    limits = Limits(settings.scored_as(RetrievalSettings()))  # the groups are scored afterwards
    group = partial(batches, memory, questions, limits)
    groups = None
    if at_once(session):
        # Most of the time is spent on what does not depend on the scoring: texts, gold evidence,
        # initial scores. While a control moves only the rest is computed.
        under = fingerprint(session.key, repr(limits))
        groups = computed("question-groups", under, 1, "Ask every question", group)
        if groups is None:
            return None

    def fates() -> dict[str, Outcomes]:
        ways = {"before": without_propagation(settings), "after": settings}
        counts = {name: np.zeros((len(questions), 4), dtype=np.int64) for name in ways}
        for batch in groups or group():
            for name, way in ways.items():
                counts[name][list(batch.places)] = batch.fates(ranked(memory, batch, way))
        return {name: Outcomes((), {}, fates=fates_of(each)) for name, each in counts.items()}

    under = fingerprint(session.key, repr(settings))
    outcomes = computed("question-fates", under, _FATES_KEPT, "Ask every question", fates)
    if outcomes is None:
        return None
    return atlas(outcomes, "after", range(len(questions)))


def draw_dots(
    session: AppSession,
    rows: Sequence[AtlasRow],
    sides: Sequence[tuple[str, Side]],
    *,
    key: str,
    ask: Callable[[int], None],
) -> None:
    """Draws a dot for each question; pointing at one plays how the ranks of its nodes change.

    ``sides`` are a name and what was asked, before and after. ``ask`` is called with the place of a
    question that is clicked.
    """
    questions = session.conversation.questions

    about = fingerprint(*(repr((built, settings)) for _, (built, _, settings) in sides))
    changes = computed(
        "rank-changes",
        about,
        _FATES_KEPT,
        "Compare the ranks",
        lambda: rank_changes(
            *(question_ranks(memory, questions, settings) for _, (_, memory, settings) in sides)
        ),
    )
    if changes is None:
        return

    def asked(place: object) -> None:
        if isinstance(place, int) and 0 <= place < len(questions):
            ask(place)

    both = [memory for _, (_, memory, _) in sides]
    before, after = (node_names(one.structure, labels(one, one.structure)) for one in both)
    dots = [
        (row.place, questions[row.place].text, GROUPS.index(group), row.fates[0][-1])
        for group in GROUPS
        for row in rows
        if group_of(row) == group
    ]
    names = [name for name, _ in sides]
    old, new = (
        [level_name(int(level), level_names(one.system)) for level in one.structure.level]
        for one in both
    )
    payload = atlas_payload(dots, changes, (before, after), (old, new)) | {
        "about": fingerprint(about, names, dots),
        "groups": GROUPS,
        "sides": names,
    }
    part("atlas", key=key, data=payload, ask=asked)


def draw_questions(
    session: AppSession, key: str, opened: Callable[[], None], group: str = ""
) -> None:
    """Draws the questions as dots and as a list, of one ``group`` or of all.

    A click asks the question, then calls ``opened``.
    """
    questions, settings = session.conversation.questions, read_settings(session)
    rows = question_fates(session, settings)
    if rows is None:
        return
    stages = computed(
        "gold-stages",
        fingerprint(session.key, repr(settings)),
        _FATES_KEPT,
        "Follow every gold turn",
        partial(evidence_stages, session.memory, questions, settings),
    )
    if stages is None:
        return
    # The earliest stage at which a gold turn of each question was lost.
    losses: dict[int, str] = {}
    for one in sorted(stages, key=lambda one: STAGES.index(one.stage)):
        rank = f": rank {one.rank}" if one.rank and one.stage != READ else ""
        losses.setdefault(one.question, one.stage + rank)
    listed = [row for row in rows if group in ("", group_of(row))]

    def ask(place: int) -> None:
        write_question(session, questions[place].index)
        opened()

    def pick_row() -> None:
        row = picked(f"{key}-list")
        if row is not None:
            ask(listed[row].place)

    sides: list[tuple[str, Side]] = [
        ("no propagation", (session.key, session.memory, without_propagation(settings))),
        (read_preset(settings), (session.key, session.memory, settings)),
    ]
    draw_dots(session, rows, sides, key=f"{key}-dots", ask=ask)
    st.caption(
        f"{counted(len(rows), 'question')} with gold evidence: {read_preset(settings)} compared "
        f"with no propagation. {MARKS}. The list names the stage at which the first missed gold "
        "turn drops out. Point at a dot to see what changes; click a dot or a row to ask the "
        "question."
    )
    st.dataframe(
        [
            {
                "before": marks(row.fates[0]),
                "after": marks(row.fates[-1]),
                "change": won(row.change),
                "stage": losses[questions[row.place].index],
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
