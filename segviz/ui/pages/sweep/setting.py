"""Shows one setting of a sweep: categories, worst questions, all measures, a way to Ask."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from segviz.evaluate import MEASURES, Outcomes, Sweep
from segviz.evaluate.measures import sees
from segviz.evaluate.outcomes import ADVERSARIAL
from segviz.figures.categories import category_bars, category_label, category_sentence
from segviz.figures.judged import Judged, blind_sentence, number
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


def setting_panel(session: Session, judged: Judged) -> None:
    """Draws the clicked setting, or the best."""
    setting = chosen(judged)
    if setting is None:
        return
    policy, alpha, horizon = setting
    outcomes = judged.verdicts[setting].cell.outcomes
    with st.container(horizontal=True, vertical_alignment="center"):
        what = f"{policy}, α {alpha:g}, H {horizon}, relevance {judged.sweep.settings.relevance}"
        st.subheader(what, anchor=False, width="stretch")
        open_it = st.button(
            "Open this setting in Ask", icon=":material/open_in_new:", key=keys.OPEN_ASK
        )
    with st.container(key=keys.BESIDE_SETTING):
        left, right = st.columns(2, gap="medium")
        with left:
            _categories(outcomes, judged)
        with right:
            question = _failures(session, outcomes, judged)
    _measures(outcomes, policy, judged.sweep.baseline.outcomes)
    if open_it or question is not None:
        _to_ask(session, judged.sweep, policy, alpha, horizon, question)


def _categories(outcomes: Outcomes, judged: Judged) -> None:
    st.markdown("**By category** of question")
    bars = category_bars(
        outcomes, judged.measure, adversarial=judged.adversarial, ink=ink(), **colours()
    )
    sentence = category_sentence(outcomes, judged.measure, adversarial=judged.adversarial)
    chart(bars, sentence, keys.CATEGORIES)


def _measures(outcomes: Outcomes, policy: str, base: Outcomes) -> None:
    """Draws every measure that can see the policy: all questions, those without category 5, each
    category."""
    st.markdown("**All measures**")
    known = outcomes.known_categories
    rows = []
    for name, measure in MEASURES.items():
        mean = outcomes.mean(name)
        if not sees(name, policy) or not mean.n:
            continue
        brief = _whole if name == "words" else number
        row: dict[str, str | int] = {
            "measure": measure.label,
            "all questions": brief(mean.value) if name == "words" else spread(mean),
            "n": mean.n,
        }
        if ADVERSARIAL in known:
            without = outcomes.mean(name, adversarial=False)
            row["without 5"] = brief(without.value) if name == "words" else spread(without)
            row["n without 5"] = without.n
        row["no propagation"] = brief(base.value(name))
        for category in known:
            row[category_label(category)] = brief(outcomes.value(name, category=category))
        rows.append(row)
    table(rows, about="All measures by category of question")
    blind = [name for name in MEASURES if not sees(name, policy)]
    st.caption(
        "Means, with 95 % bootstrap intervals where all questions count. Categories go by LoCoMo's "
        f"ids; papers permute the names. {blind_sentence(blind[0], [policy]) if blind else ''}"
        + (f" Nor can {', '.join(MEASURES[n].label for n in blind[1:])}." if blind[1:] else ""),
        help="\n".join(f"- **{m.label}**: {m.meaning}" for m in MEASURES.values()),
    )


def _whole(value: float) -> str:
    return "" if value != value else f"{value:,.0f}"


def _failures(session: Session, outcomes: Outcomes, judged: Judged) -> int | None:
    """Lists the questions with the lowest values first; returns the index of the one picked."""
    questions, values = session.conversation.questions, outcomes.values[judged.measure]
    kept = outcomes.keep(adversarial=judged.adversarial)
    known = [(value, place) for place in kept if (value := values[place]) is not None]
    worst = sorted(pair for pair in known if pair[0] < 1)
    moments = any(question.asked_at is not None for question in questions)
    st.markdown("**Worst questions first**; tick one to open it in Ask")
    event = st.dataframe(
        [
            {
                judged.label: value,
                "category": questions[place].category_label,
                "question": questions[place].text,
                "answer": questions[place].answer or "",
                **({"asked before": questions[place].asked_at or ""} if moments else {}),
            }
            for value, place in worst
        ],
        hide_index=True,
        height=tall(len(worst), _FAILURES_SEEN),
        key=keys.FAILURES,
        on_select="rerun",
        selection_mode="single-row",
        column_config={judged.label: st.column_config.NumberColumn(format="%.2f", width=125)},
    )
    picked = event.selection.rows if event else []
    return worst[picked[0]][1] if picked else None


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
        write_question(session, question)
        write_moment(wanted, session)
    st.switch_page(st.session_state[keys.PAGES]["ask"])
