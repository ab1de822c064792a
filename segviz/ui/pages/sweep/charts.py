"""Draws the settings of a sweep as heatmaps, curves and levels; a click on a cell chooses one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from segviz.evaluate import Sweep
from segviz.figures import sweep as figures
from segviz.ui import keys
from segviz.ui.state import Session
from segviz.ui.widgets.captions import level_names
from segviz.ui.widgets.charts import QUIET, caption, chart, colours, ink, ramp, readable
from segviz.view.palette import LEVEL_COLOURS


def charts_panel(session: Session, found: Sweep) -> None:
    """Draws a heatmap per policy, the same as curves, and the levels retrieved from, two in a row;
    an odd one at the end has a row of its own."""
    policies = [policy for policy in found.policies if policy != "none"]
    panels: list[Callable[[], None]] = [
        *(lambda policy=policy: _heatmap(found, policy) for policy in policies),
        lambda: _curves(found),
    ]
    if any(h > 0 for h in found.horizons):
        panels.append(lambda: _levels(session, found, policies))
    for first in range(0, len(panels), 2):
        row = panels[first : first + 2]
        for column, draw in zip(st.columns(len(row), gap="medium"), row, strict=True):
            with column:
                draw()


def chosen(found: Sweep) -> tuple[str, float, int]:
    """Returns the clicked setting, or the best."""
    best = found.best()
    clicked = st.session_state.get(keys.SWEEP_CELL)
    if clicked and found.cell(*clicked) is not None:
        policy, alpha, horizon = clicked
        return policy, alpha, horizon
    return best.policy, best.alpha, best.horizon


def _heatmap(found: Sweep, policy: str) -> None:
    st.markdown(f"**{policy}**, recall by α and H", help="Click a cell for its setting in full.")
    sentence = figures.heatmap_sentence(found, policy)
    event = st.plotly_chart(
        readable(figures.heatmap(found, policy, ramp=ramp(), accent=colours()["accent"])),
        key=keys.heatmap(policy),
        on_select="rerun",
        selection_mode="points",
        config=QUIET,
        alt=sentence,
    )
    caption(sentence, keys.heatmap(policy), lambda: figures.cell_rows(found, [policy]))
    _take(event)


def _take(event: Any) -> None:
    """Copies a click at once: selections vanish with the next run."""
    points = event.selection.points if event else []
    custom = points[0].get("customdata") if points else None
    if not custom:
        return
    values = list(custom.values()) if isinstance(custom, dict) else list(custom)
    st.session_state[keys.SWEEP_CELL] = (str(values[0]), float(values[1]), int(values[2]))


def _curves(found: Sweep) -> None:
    st.markdown("**Recall over α**, a line for each policy and H")
    tones = colours()
    figure = figures.curves(
        found, colours=[tones["accent"], tones["neutral"], ink()], neutral=tones["neutral"]
    )
    chart(
        figure,
        figures.curves_sentence(found),
        keys.CURVES,
        rows=lambda: figures.cell_rows(found, found.policies),
    )


def _levels(session: Session, found: Sweep, policies: list[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Retrieved levels**", width="content")
        policy = st.segmented_control(
            "Retrieved levels under",
            policies,
            default=policies[0],
            required=True,
            key=keys.LEVELS_POLICY,
            label_visibility="collapsed",
            persist_state="session",
        )
    policy = policy if policy in policies else policies[0]
    horizons = [h for h in found.horizons if h > 0]
    horizon = 2 if 2 in horizons else horizons[0]
    names = level_names(session.memory)
    figure = figures.level_bars(
        found, horizon, policy, level_colours=LEVEL_COLOURS, accent=ink(), level_names=names
    )
    chart(
        figure,
        figures.level_bars_sentence(found, horizon, policy),
        keys.LEVEL_BARS,
        rows=lambda: figures.level_rows(found, horizon, policy, names),
    )
