"""Draws the settings of a sweep as heatmaps and retrieved levels; a click on a cell chooses one."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from segviz.figures import sweep as figures
from segviz.figures.judged import Judged, Setting, blind_sentence
from segviz.systems import level_names
from segviz.ui import keys
from segviz.ui.state import Session
from segviz.ui.widgets.charts import QUIET, caption, chart, colours, ink, ramp, readable
from segviz.view.palette import LEVEL_COLOURS


def charts_panel(session: Session, judged: Judged) -> None:
    """Draws a heatmap per policy that the measure can see, and the levels retrieved from, two in a
    row; an odd one at the end has a row of its own."""
    policies = [policy for policy in judged.sweep.policies if policy != "none"]
    seen = [policy for policy in policies if policy not in judged.blind]
    if seen:
        st.caption(
            "Cells say the mean of all questions. **Coloured** ones differ from no propagation, "
            "question by question: blue is better, olive or yellow worse, and the difference "
            "stands below. The others cannot be told from it: the 95 % interval of the "
            "difference includes zero. Framed is the setting shown in full below, dotted the "
            "best of a policy. Each interval is of one cell: of twenty settings that do nothing "
            "one is coloured by chance."
        )
    panels = [partial(_heatmap, judged, policy) for policy in seen]
    if judged.blind:
        st.markdown(blind_sentence(judged.measure, judged.blind))
    if any(h > 0 for h in judged.sweep.horizons):
        panels.append(partial(_levels, session, judged, policies))
    for first in range(0, len(panels), 2):
        row = panels[first : first + 2]
        for column, draw in zip(st.columns(len(row), gap="medium"), row, strict=True):
            with column:
                draw()


def chosen(judged: Judged) -> Setting | None:
    """Returns the clicked setting or, where the measure does not see it, the best."""
    clicked: Setting | None = st.session_state.get(keys.SWEEP_CELL)
    if clicked in judged.verdicts:
        return clicked
    best = judged.best()
    return None if best is None else best.setting


def _heatmap(judged: Judged, policy: str) -> None:
    st.markdown(f"**{policy}**, {judged.label}", help="Click a cell for its setting in full.")
    sentence = figures.heatmap_sentence(judged, policy)
    figure = figures.heatmap(
        judged, policy, ramp=ramp("change"), accent=colours()["accent"], chosen=chosen(judged)
    )
    st.plotly_chart(
        readable(figure),
        key=keys.heatmap(policy),
        on_select=lambda: _take(policy),
        selection_mode="points",
        config=QUIET,
        alt=sentence,
    )
    caption(sentence, keys.heatmap(policy), lambda: figures.cell_rows(judged, [policy]))


def _take(policy: str) -> None:
    """Copies a click before the page is drawn: selections vanish with the next run."""
    event: Any = st.session_state.get(keys.heatmap(policy))
    points = event.selection.points if event else []
    custom = points[0].get("customdata") if points else None
    if not custom:
        return
    values = list(custom.values()) if isinstance(custom, dict) else list(custom)
    st.session_state[keys.SWEEP_CELL] = (str(values[0]), float(values[1]), int(values[2]))


def _levels(session: Session, judged: Judged, policies: list[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Retrieved levels**", width="content")
        policy = st.segmented_control(
            "Retrieved levels under",
            policies,
            default=policies[0],
            required=True,
            key="levels-policy",
            label_visibility="collapsed",
            persist_state="session",
        )
    policy = policy if policy in policies else policies[0]
    horizons = [h for h in judged.sweep.horizons if h > 0]
    horizon = 2 if 2 in horizons else horizons[0]
    names = level_names(session.memory.system)
    figure = figures.level_bars(
        judged, horizon, policy, level_colours=LEVEL_COLOURS, accent=ink(), level_names=names
    )
    chart(
        figure,
        figures.level_bars_sentence(judged, horizon, policy),
        "level-bars",
        rows=lambda: figures.level_rows(judged, horizon, policy, names),
    )
