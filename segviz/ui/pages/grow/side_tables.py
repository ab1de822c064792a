"""Panel with the side tables of a system: a choice of table, its rows, and their timeline."""

from __future__ import annotations

import streamlit as st

from segviz.construct import Tabulates
from segviz.figures.timeline import timed, timeline_figure
from segviz.ui.state import AppSession
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.charts import QUIET, colours, ink, readable, tall


def side_tables_panel(session: AppSession, step: int) -> None:
    """Draws the side tables of the system after ``step`` steps, if it has any.

    They are computed only while the panel is open.
    """
    system, memory = session.memory.model, session.memory
    if not isinstance(system, Tabulates):
        return
    with st.expander("Tables", key="tables-panel", on_change="rerun") as panel:
        if not panel.open:
            return
        found = system.tables(memory.at(step), memory.steps[:step])
        name = st.segmented_control(
            "Table",
            list(found),
            default=next(iter(found), None),
            required=True,
            key=f"side-table-{memory.system}",
            label_visibility="collapsed",
        )
        rows = found.get(name or "", ())
        if not rows:
            st.caption("This table has no rows at this step.")
            return
        if bars := timed(rows):
            lane = next(iter(bars[0]))
            alt = f"{name}: {counted(len(bars), 'bar')} from start to stop, a lane for each {lane}"
            figure = readable(timeline_figure(bars, neutral=colours()["neutral"], ink=ink()))
            st.plotly_chart(figure, key="side-table-timeline", config=QUIET, alt=alt)
        st.dataframe(rows, height=tall(len(rows), 12), hide_index=True)
