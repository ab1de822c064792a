"""Stages of gold evidence on Compare: written, ranked, read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from segviz.conversation import STORES, sample_path
from segviz.evaluation.audit import Audit, audit
from segviz.evaluation.stages import STAGE_CHART, STAGES, occurring, stage_rows
from segviz.figures.charts import rows_figure
from segviz.loaders.runs import RunAnswer
from segviz.loaders.stored import read_stored
from segviz.memory import Memory, memory_from
from segviz.retrieval import RetrievalSettings
from segviz.ui.pages.compare import Comparing
from segviz.ui.state import AppSession, fingerprint, remember
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.charts import chart, ink, table
from segviz.ui.widgets.waiting import computed
from segviz.view.palette import session_colours

_KEPT = 12
_TALL = 420  # pixels
_FACTS = "Extracted facts"
_EACH = "turn by turn"
_COLOURS = dict(zip(STAGES, session_colours(len(STAGES)), strict=True))  # as in the report
_BY = {"all questions": "", "by category": "category", "by session": "session", _EACH: ""}


@dataclass(frozen=True)
class Followed:
    """Memory through which gold turns are followed, by ``settings``, with its ``label``.

    ``key`` is the content key of both. ``answers`` are those of ``Audit``.
    """

    label: str
    key: str
    memory: Memory
    settings: RetrievalSettings
    answers: Mapping[int, RunAnswer] = field(default_factory=dict)

    def audit(self) -> Audit | None:
        """Returns the audit of the memory; None if the user has stopped it."""
        found = computed(
            "audits",
            self.key,
            _KEPT,
            "Follow every gold turn",
            lambda: audit(self.memory, self.settings),
        )
        return found and found.graded(self.answers)


def followed(
    compared: Comparing,
    answers: Mapping[str, Mapping[int, RunAnswer]],
    opened: Followed | None,
) -> dict[str, Followed]:
    """Returns the memories whose gold turns are followed, by label.

    They are those of the page, the facts that come with the conversation, and an ``opened`` one.
    ``answers`` maps the label of a system to its graded answers.
    """
    session, memories = compared.session, dict(compared.memories)
    if facts := _facts(session):
        memories[_FACTS] = facts
    compared = replace(compared, memories=memories)
    shown: dict[str, Followed] = {}
    for name, memory in memories.items():
        full, asked = compared.label(name), compared.asked(name)
        key = fingerprint(session.key, name, repr(asked), repr(memory.settings))
        label = full.partition(" (")[0]
        shown[label] = Followed(label, key, memory, asked, answers.get(full, {}))
    return shown if opened is None else {**shown, opened.label: opened}


def stages_panel(compared: Comparing, shown: Mapping[str, Followed]) -> None:
    """Draws the stage at which each memory loses gold turns; on request where that takes long."""
    with st.expander(
        "Where each memory loses gold turns",
        key="stages",
        on_change="rerun",
    ) as panel:
        if not panel.open:
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            by = st.segmented_control(
                "Gold turns", list(_BY), default="all questions", required=True, key="stages-by"
            )
            one = None
            if _BY[by]:
                one = st.selectbox("Memory", list(shown))
        # The stages of every memory, or of the chosen one; the user can stop any of them.
        evidence = {}
        for label, memory in shown.items():
            if one in (None, label):
                found = memory.audit()
                if found is None:
                    return
                if found.stages:
                    evidence[label] = found.stages
        rows: list[dict[str, Any]] = [
            row | ({} if one else {"group": name})
            for name, turns in evidence.items()
            for row in stage_rows(turns, _BY[by])
        ]
        st.caption(
            f"{STAGES[0].capitalize()}: no node holds the turn. {STAGES[1].capitalize()}: no node "
            f"with the turn is among the {compared.settings.k} best. "
            f"{STAGES[-1].capitalize()}: such a node is among them, and the answer below, if there "
            "is one, is right. A node above the leaves holds a turn if it quotes the turn."
            + f" {_FACTS}: texts that a memory rewrote from the turns."
            * (_FACTS in shown)
        )
        if by == _EACH:
            asked = {question.index: question.text for question in compared.questions}
            # A run may lack some questions.
            stages: dict[tuple[int, str], dict[str, str]] = {}
            for name, turns in evidence.items():
                for gold in turns:
                    stages.setdefault((gold.question, gold.turn), {})[name] = gold.stage
            each = [
                {"question": asked[question], "turn": turn}
                | {name: by_name.get(name, "") for name in evidence}
                for (question, turn), by_name in stages.items()
            ]
            table(each, about="Stage of each gold turn", height=_TALL)
            return
        shares = "; ".join(
            f"{row['group']}: {row[STAGES[-1]]:.0%} of {counted(row['gold turns'], 'turn')} read"
            for row in rows
        )
        drawn = replace(STAGE_CHART, y=occurring(rows))
        colours = [_COLOURS[stage] for stage in drawn.y]
        figure = rows_figure(rows, drawn, colours=colours, neutral=ink())
        chart(
            figure.update_xaxes(title=None, tickangle=None, automargin=True),  # long names turn
            f"Stages of gold turns. {shares}.",
            "stages-chart",
            rows=lambda: rows,
        )


def _facts(session: AppSession) -> Memory | None:
    """Returns the memory of the facts that come with the conversation; None without any.

    A conversation that still grows has only the facts of its turns so far.
    """
    conversation = session.conversation

    def made() -> Memory | None:
        store, turns = STORES.get(conversation.id), {turn.id for turn in conversation.turns}
        every = read_stored(sample_path(store)) if store else conversation.observations
        facts = [fact for fact in every if turns.issuperset(fact.sources)]
        model = session.memory.embedder
        return memory_from(facts, conversation=conversation, embedder=model) if facts else None

    return remember("facts", session.key, 1, made)
