"""Shows one setting of a sweep: categories, worst questions, all measures, a way to Ask."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from segviz.conversation import CATEGORY_NAMES
from segviz.evaluate import Aggregate, Evaluation, Sweep, evaluate
from segviz.figures.categories import category_bars, category_sentence
from segviz.ui import keys
from segviz.ui.pages.sweep.charts import chosen
from segviz.ui.settings import write_moment, write_settings
from segviz.ui.state import Session
from segviz.ui.view_state import write_question
from segviz.ui.widgets.captions import spread
from segviz.ui.widgets.charts import chart, colours, ink
from segviz.ui.widgets.tables import table, tall

# So many questions are seen without scrolling.
_FAILURES_SEEN = 10


def setting_panel(session: Session, found: Sweep) -> None:
    """Draws the clicked setting, or the best."""
    policy, alpha, horizon = chosen(found)
    measured = evaluate(
        session.memory,
        session.conversation.questions,
        found.settings,
        policy=policy,
        alpha=alpha,
        horizon=horizon,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        what = f"{policy}, α {alpha:g}, H {horizon}, relevance {found.relevance}"
        st.subheader(what, anchor=False, width="stretch")
        open_it = st.button(
            "Open this setting in Ask", icon=":material/open_in_new:", key=keys.OPEN_ASK
        )
    with st.container(key=keys.BESIDE_SETTING):
        left, right = st.columns(2, gap="medium")
        with left:
            _categories(measured)
        with right:
            question = _failures(session, measured)
    _measures(measured)
    if open_it or question is not None:
        _to_ask(session, found, policy, alpha, horizon, question)


def _categories(measured: Evaluation) -> None:
    st.markdown("**By category** of question")
    chart(
        category_bars(measured, ink=ink(), **colours()),
        category_sentence(measured),
        keys.CATEGORIES,
    )


def _measures(measured: Evaluation) -> None:
    st.markdown("**All measures**")
    rows = []
    groups: list[tuple[str | int | None, Aggregate]] = [("all", measured.overall)]
    groups += measured.by_category.items()
    for name, group in groups:
        rows.append(
            {
                "category": name if isinstance(name, str) else _category(name),
                "questions": group.questions,
                "recall": spread(group.recall),
                f"recall in {measured.units} units": spread(group.budget_recall),
                "MRR": spread(group.reciprocal_rank),
                "nDCG": spread(group.ndcg),
                "answer words": spread(group.coverage),
                "words read": f"{group.words.value:.0f}",
            }
        )
    table(rows, about="All measures by category of question")
    st.caption(
        "Means with 95 % bootstrap intervals. Categories go by LoCoMo's ids; papers permute the "
        "names.",
        help=(
            "**Recall**: gold leaves returned / gold leaves, among the K best leaves; **in so "
            "many units**: nodes of any level are read best first as long as they fit into "
            "so many units. **MRR**: 1 / rank of the first gold leaf. **nDCG**: gold leaves "
            "weighed by 1 / log₂(1 + rank), against the best order. **Answer words**: share of "
            "the gold answer's content words found in the retrieved texts of all levels."
        ),
    )


def _category(number: int | None) -> str:
    return "none" if number is None else f"{number} {CATEGORY_NAMES.get(number, 'other')}"


def _failures(session: Session, measured: Evaluation) -> int | None:
    """Lists the worst questions first; returns the index of the one picked."""
    questions = {q.index: q for q in session.conversation.questions}
    worst = measured.worst()
    moments = any(question.asked_at is not None for question in questions.values())
    st.markdown("**Worst questions first**; tick one to open it in Ask")
    event = st.dataframe(
        [
            {
                "recall": row.recall,
                "category": questions[row.index].category_label,
                "question": questions[row.index].text,
                "answer": questions[row.index].answer or "",
                **({"asked before": questions[row.index].asked_at or ""} if moments else {}),
            }
            for row in worst
        ],
        hide_index=True,
        height=tall(len(worst), _FAILURES_SEEN),
        key=keys.FAILURES,
        on_select="rerun",
        selection_mode="single-row",
        column_config={"recall": st.column_config.NumberColumn(format="%.2f", width=60)},
    )
    picked = event.selection.rows if event else []
    return worst[picked[0]].index if picked else None


def _to_ask(
    session: Session,
    found: Sweep,
    policy: str,
    alpha: float,
    horizon: int,
    question: int | None,
) -> None:
    """Goes to Ask with this setting, and with the question where one was picked."""
    wanted = replace(found.settings, policy=policy, alpha=alpha, horizon=horizon)
    write_settings(wanted, session.memory.system)
    if question is not None:
        indices = [q.index for q in session.conversation.questions]
        write_question(session, indices.index(question))
        write_moment(wanted, session)
    st.switch_page(st.session_state[keys.PAGES]["ask"])
