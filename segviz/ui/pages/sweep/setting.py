"""Draws one setting of a sweep in detail: levels, categories, measures and questions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from segviz.conversation import category_label
from segviz.evaluation import ADVERSARIAL, MEASURES, Outcomes, evaluate, sees
from segviz.figures import compare, significance
from segviz.figures import sweep as figures
from segviz.memory import MissingEmbedder
from segviz.retrieval import PRESETS_HELP, RERANKED, RetrievalSettings
from segviz.systems import level_names
from segviz.ui import keys
from segviz.ui.pages.sweep import Swept
from segviz.ui.settings import read_settings, write_question, write_settings
from segviz.ui.state import fingerprint
from segviz.ui.widgets import atlas, measures, waiting
from segviz.ui.widgets.captions import spread, unmarked
from segviz.ui.widgets.charts import chart, ink, pair, table
from segviz.view.palette import LEVEL_COLOURS

_KEPT = 6  # measurements of settings besides the sweep


def setting_panel(swept: Swept) -> None:
    """Draws the levels and categories of the chosen setting, and its curves over tokens."""
    with st.container(key="beside-setting"):
        left, right = st.columns(2, gap="medium")
    with left:
        _levels(swept)
    with right:
        _categories(swept)
    drawn = {
        significance.spelled(swept.cell): swept.cell.outcomes,
        "no propagation": swept.judged.sweep.baseline.outcomes,
        **{name: outcomes for name, outcomes in _also(swept).items() if name == RERANKED},
    }
    measures.budget_curves(drawn, swept.adversarial, "budgets")
    st.caption(PRESETS_HELP[RERANKED])


def open_in_ask(swept: Swept) -> None:
    """Draws the button that asks the question that changes most, with the chosen setting."""
    session, asked = swept.session, swept.session.conversation.questions
    base = swept.judged.sweep.baseline.outcomes
    outcomes, counted = (
        {"": base, "after": swept.cell.outcomes},
        base.keep(adversarial=swept.adversarial),
    )
    rows = compare.atlas(outcomes, "after", counted, swept.measure)
    most = rows[0].place if rows and rows[0].change else None
    if st.button(
        "Open in Ask",
        icon=":material/open_in_new:",
        key="open-ask",
        help="No question changes under this setting."
        if most is None
        else f"With the question that changes most: {unmarked(asked[most].text)}",
    ):
        if most is not None:
            write_question(session, asked[most].index)
        write_settings(session, swept.asked(swept.cell))
        st.switch_page(st.session_state[keys.PAGES]["ask"], query_params={})


def _levels(swept: Swept) -> None:
    st.markdown("**Retrieved levels** over α")
    judged, names = swept.judged, level_names(swept.session.memory.system)
    policy, horizon = swept.cell.policy, swept.cell.horizon
    chart(
        figures.level_bars(
            judged, horizon, policy, level_colours=LEVEL_COLOURS, accent=ink(), level_names=names
        ),
        figures.level_bars_sentence(judged, horizon, policy),
        "level-bars",
        rows=lambda: figures.level_rows(judged, horizon, policy, names),
    )


def _categories(swept: Swept) -> None:
    judged, setting = swept.judged, swept.cell.setting
    if setting not in judged.verdicts:
        return
    st.markdown("**By category** of question")
    chart(
        figures.category_figure(judged, setting, **pair()),
        figures.category_sentence(judged, setting),
        "categories",
        rows=lambda: figures.category_rows(judged, setting),
    )


def measures_panel(swept: Swept) -> None:
    """Draws a table of the measures that the policy can change.

    It has the mean over all questions, over those without category 5, and over each category.
    """
    base = swept.judged.sweep.baseline.outcomes
    outcomes, policy = swept.cell.outcomes, swept.cell.policy
    known = outcomes.known_categories
    every = "all questions" if outcomes.count_disputed else "undisputed"
    rows = []
    for name, measure in MEASURES.items():
        mean = outcomes.mean(name)
        if not sees(name, policy) or not mean.n:
            continue
        brief = _whole if name == "words" else significance.number
        row: dict[str, str | int] = {
            "measure": measure.label,
            every: brief(mean.value) if name == "words" else spread(mean),
            "n": mean.n,
        }
        # The same mean without category 5, and with the opposite choice for disputed questions.
        if ADVERSARIAL in known:
            without = outcomes.mean(name, adversarial=False)
            row["without 5"] = brief(without.value) if name == "words" else spread(without)
            row["n without 5"] = without.n
        for other, recounted in outcomes.recounted(name).items():
            row[other] = brief(recounted.value) if name == "words" else spread(recounted)
            row[f"n {other}"] = recounted.n
        row["no propagation"] = brief(base.value(name))
        for category in known:
            row[category_label(category)] = brief(outcomes.value(name, category=category))
        rows.append(row)
    table(rows, about="All measures by category of question")
    blind = [name for name in MEASURES if not sees(name, policy)]
    st.caption(
        "Means over questions. Brackets are 95 % bootstrap intervals. Categories are the ids of "
        "LoCoMo, because papers assign the names differently. "
        + significance.blind_sentence([policy], *blind),
        help="\n".join(f"- **{m.label}**: {m.meaning}" for m in MEASURES.values()),
    )


def _whole(value: float) -> str:
    return "" if value != value else f"{value:,.0f}"


def atlas_panel(swept: Swept) -> None:
    """Draws the atlas of questions: no propagation, each α, and each other policy.

    All columns share the horizon of the setting; the other policies share its α, too.
    """
    also, session, sweep = _also(swept), swept.session, swept.judged.sweep
    policy, alpha, horizon = swept.cell.setting
    settings = {f"α {one:g}": (policy, one, horizon) for one in sweep.alphas}
    settings |= {name: (name, alpha, horizon) for name in sweep.policies if name != policy}
    # Columns are the settings that were measured; A and B can be any other of the sweep, too.
    cells = {"no propagation": sweep.baseline}
    for name, one in settings.items():
        if (cell := sweep.cell(*one)) is not None:
            cells[name] = cell
    more = {significance.spelled(cell): cell for cell in sweep.cells if cell.moves}

    def side(name: str) -> atlas.Side:
        cell = more.get(name) or cells.get(name)  # none for the settings besides the sweep
        asked = swept.asked(cell) if cell else _besides(swept)[name]
        return session.key, session.memory, asked

    def choose(name: str) -> None:
        if name != AS_ON_ASK:
            write_settings(session, side(name)[2])

    drawn = atlas.AtlasColumns(
        {name: one.outcomes for name, one in cells.items()},
        f"α {alpha:g}",
        swept.measure,
        swept.adversarial,
        side,
        choose,
        more={**also, **{name: one.outcomes for name, one in more.items()}},
    )
    atlas.draw_atlas(session, drawn, key="sweep-atlas")


AS_ON_ASK = "as on Ask"


def _besides(swept: Swept) -> dict[str, RetrievalSettings]:
    """Returns two settings that are no cell of the sweep, by name.

    They are the current setting of Ask, and the preset of re-ranked leaves with the K of the sweep.
    """
    leaves = swept.sweep.settings.with_preset(RERANKED)
    if isinstance(swept.session.memory.embedder, MissingEmbedder):
        leaves = replace(leaves, relevance="lexical")
    return {AS_ON_ASK: read_settings(swept.session), RERANKED: leaves}


def _also(swept: Swept) -> dict[str, Outcomes]:
    """Measures the settings of :func:`_besides` over all questions.

    Returns the outcomes by name; those that the user has stopped are left out.
    """
    session, questions = swept.session, swept.session.conversation.questions
    measured: dict[str, Outcomes] = {}
    for name, settings in _besides(swept).items():
        outcomes = waiting.computed(
            "besides-sweep",
            fingerprint(session.key, str(settings), [question.index for question in questions]),
            _KEPT,
            f"Measure {name}",
            partial(evaluate, session.memory, questions, settings),
        )
        if outcomes is not None:
            measured[name] = outcomes.outcomes
    return measured
