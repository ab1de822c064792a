"""Stages of gold evidence on Compare: written, ranked, read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from segviz.evaluation.compare import own_settings
from segviz.evaluation.stages import STAGE_CHART, STAGES, EvidenceStage, evidence_stages, stage_rows
from segviz.figures.charts import rows_figure
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.ui.state import AppSession, fingerprint, remember
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.charts import chart, ink
from segviz.view.palette import LEVEL_COLOURS

_KEPT = 12
_BY = {"all questions": "", "by category": "category", "by session": "session"}


def stages_panel(
    session: AppSession, ready: Mapping[str, Memory], settings: Mapping[str, Any], by_paper: bool
) -> None:
    """Draws, on request, the stage at which each memory loses gold turns."""
    with st.expander(
        "Where each memory loses gold turns", key="stages", on_change="rerun"
    ) as panel:
        if not panel.open:
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            by = st.segmented_control(
                "Gold turns", list(_BY), default="all questions", required=True, key="stages-by"
            )
            one = None
            if _BY[by]:
                one = st.selectbox(
                    "Memory", list(ready), format_func=lambda name: SYSTEMS[name].label
                )
        with st.spinner("Following every gold turn"):
            found = {
                SYSTEMS[name].label: _stages(session, name, memory, settings, by_paper)
                for name, memory in ready.items()
                if one in (None, name)
            }
        rows = [
            row | ({} if one else {"group": label})
            for label, stages in found.items()
            for row in stage_rows(stages, _BY[by])
        ]
        st.caption(
            f"{STAGES[0].capitalize()}: no node holds the turn. {STAGES[1].capitalize()}: no node "
            f"with the turn is among the {settings['k']} best. {STAGES[3].capitalize()}: such a "
            "node is among them. A node above the leaves holds a turn if it quotes the turn."
        )
        shares = "; ".join(
            f"{row['group']}: {row[STAGES[3]]:.0%} of {counted(row['gold turns'], 'turn')} read"
            for row in rows
        )
        chart(
            rows_figure(rows, STAGE_CHART, colours=LEVEL_COLOURS, neutral=ink()),
            f"Stages of gold turns. {shares}.",
            "stages-chart",
            rows=lambda: rows,
        )


def _stages(
    session: AppSession,
    name: str,
    memory: Memory,
    settings: Mapping[str, Any],
    by_paper: bool,
) -> Sequence[EvidenceStage]:
    same = RetrievalSettings(policy="none", relevance=settings["relevance"], k=settings["k"])
    asked = (own_settings(memory, same) if by_paper else None) or same
    return remember(
        "evidence-stages",
        fingerprint(session.key, name, repr(asked), repr(memory.settings)),
        _KEPT,
        lambda: evidence_stages(memory, session.conversation.questions, asked),
    )
