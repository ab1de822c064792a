"""Compare: the same question in each system, all questions, and what the papers report."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import streamlit as st

from segviz.evaluate.compare import COLLAPSED, OWN, Comparison, compare, overlap
from segviz.figures.compare import overlap_sentence, overlap_strip
from segviz.frontend.palette import ACCENT
from segviz.pipeline import Memory
from segviz.protocols import Recalls
from segviz.published import METRICS, SOURCES, reported
from segviz.result import Result
from segviz.systems import SYSTEMS
from segviz.ui.compare_structures import PER_ROW
from segviz.ui.compared import Built, built_key
from segviz.ui.places import level_label
from segviz.ui.state import Session, fingerprint, known, remember

RESULTS_KEPT = 4


def question_panel(session: Session, ready: Mapping[str, Built], settings: dict[str, Any]) -> None:
    """What each system returns for one question, and where they overlap."""
    questions = session.conversation.questions
    index = st.selectbox(
        "Question",
        range(len(questions)),
        format_func=lambda i: f"{questions[i].category_label} · {questions[i].text}",
        key=f"question-{session.source}",
        label_visibility="collapsed",
        persist_state="session",
    )
    question = questions[index]
    results = {name: _asked(found.memory, question.text, settings) for name, found in ready.items()}
    labels = {name: SYSTEMS[name].label for name in ready}
    order = [turn.id for turn in session.conversation.turns]
    found = overlap(
        {
            labels[name]: {t for item in result.evidence for t in item.turn_ids if item.level == 0}
            | {t for item in result.evidence for t in item.turn_ids if len(item.turn_ids) <= 4}
            for name, result in results.items()
        },
        order,
    )
    dark = st.context.theme.type == "dark"
    sentence = overlap_sentence(found)
    st.plotly_chart(
        overlap_strip(
            found,
            question.evidence,
            accent=ACCENT["dark" if dark else "light"],
            neutral="#9a9690" if dark else "#77736d",
            empty="#2a2825" if dark else "#f0eeea",
        ),
        key="overlap",
        config={"displayModeBar": False},
        alt=sentence,
    )
    st.caption(
        f"{sentence} Turns of retrieved leaves and of retrieved nodes of up to four turns; "
        "wider nodes hold too much to count as an answer. Diamonds are gold."
    )
    names = list(ready)
    for row in range(0, len(names), PER_ROW):
        columns = st.columns(min(PER_ROW, len(names)), gap="medium")
        for column, name in zip(columns, names[row : row + PER_ROW], strict=False):
            with column:
                st.markdown(f"**{labels[name]}**, {_method_label(ready[name].memory)}")
                _evidence_table(ready[name].memory, results[name], set(question.evidence))


def _asked(memory: Memory, text: str, settings: dict[str, Any]) -> Result:
    """By the system's own retrieval where it has one, else collapsed."""
    own = isinstance(memory.model, Recalls)
    how = {"method": OWN} if own else {"policy": "none"}
    return memory.ask(text, k=settings["k"], relevance=settings["relevance"], **how)


def _method_label(memory: Memory) -> str:
    return "its own retrieval" if isinstance(memory.model, Recalls) else "collapsed retrieval"


def _evidence_table(memory: Memory, result: Result, gold: set[str]) -> None:
    rows = [
        {
            "gold": "" if not gold & set(item.turn_ids) else "yes",
            "level": level_label(memory, item.level),
            "turns": len(item.turn_ids),
            "text": item.text,
        }
        for item in result.evidence
    ]
    if not rows:
        st.caption("Nothing was returned.")
        return
    st.dataframe(
        rows,
        hide_index=True,
        height=min(38 + 35 * len(rows), 400),
        column_config={
            "gold": st.column_config.TextColumn(width=45),
            "level": st.column_config.TextColumn(width=75),
            "turns": st.column_config.NumberColumn(width=50),
        },
    )
    if result.stages:
        with st.expander(f"How it went, in {len(result.stages)} stages"):
            for stage in result.stages:
                st.markdown(f"**{stage.name}**")
                st.text(stage.note)


def measure_panel(session: Session, ready: Mapping[str, Built], settings: dict[str, Any]) -> None:
    """Quality, reading and time over all questions, measured on request."""
    key = fingerprint([built_key(session, name) for name in ready], settings)
    if not known("comparisons", key):
        count = len(session.conversation.questions)
        if not st.button(
            f"Measure over all {count} questions", key="measure", icon=":material/play_arrow:"
        ):
            return
        with st.spinner("Measuring"):
            remember("comparisons", key, RESULTS_KEPT, lambda: _measured(session, ready, settings))
        st.rerun()
    found: Comparison = remember("comparisons", key, RESULTS_KEPT, _no_comparison)
    st.dataframe(
        [
            {
                "system": SYSTEMS[row.system].label,
                "retrieval": row.method,
                f"recall@{found.k}": str(row.recall),
                f"recall in {found.units} units": str(row.budget_recall),
                "answer words found": str(row.coverage),
                "words read": row.words.value,
                "tokens": row.tokens.value,
                "build s": row.build_seconds,
                "ms/question": None if row.query_seconds is None else 1000 * row.query_seconds,
            }
            for row in found.rows
        ],
        hide_index=True,
        column_config={
            "words read": st.column_config.NumberColumn(format="%.0f"),
            "tokens": st.column_config.NumberColumn(format="%.0f"),
            "build s": st.column_config.NumberColumn(format="%.2f"),
            "ms/question": st.column_config.NumberColumn(format="%.1f"),
        },
    )
    st.caption(
        f"Means over {found.questions} questions with 95 % bootstrap intervals. Recall counts "
        "gold leaves among the K best leaves; a system that returns fewer leaves is not "
        "refilled. Seconds are of this machine, with the embeddings of the leaves already "
        "made for all but the first."
    )


def _no_comparison() -> Comparison:
    raise RuntimeError("a comparison that was just there is gone")


def _measured(session: Session, ready: Mapping[str, Built], settings: dict[str, Any]) -> Comparison:
    memories = {name: found.memory for name, found in ready.items()}
    seconds: dict[tuple[str, str], float] = {}
    for name, memory in memories.items():
        methods = {COLLAPSED: {"policy": "none"}}
        if isinstance(memory.model, Recalls):
            methods[OWN] = {"method": OWN}
        sample = session.conversation.questions[:10]
        for method, how in methods.items():
            began = perf_counter()
            for question in sample:
                memory.ask(question.text, k=settings["k"], relevance=settings["relevance"], **how)
            seconds[name, method] = (perf_counter() - began) / len(sample)
    return compare(
        memories,
        session.conversation.questions,
        build_seconds={name: found.seconds for name, found in ready.items()},
        query_seconds=seconds,
        **settings,
    )


def published_panel() -> None:
    """The papers' own numbers, each with what to mind."""
    with st.expander("What the papers report", key="published", on_change="rerun") as panel:
        if not panel.open:
            return
        st.markdown(
            "Numbers as printed, for orientation. None of the answer scores compares with the "
            "recall above, and scores of different papers do not compare with each other: they "
            "count different questions, name LoCoMo's categories differently, and use other "
            "models. Each row says what to mind."
        )
        st.dataframe(
            [
                {
                    "system": SYSTEMS[row.system].label if row.system in SYSTEMS else row.system,
                    "variant": row.variant,
                    "data": row.data,
                    "metric": METRICS[row.metric].label,
                    "value": row.value,
                    "from": row.low,
                    "to": row.high,
                    "source": f"{SOURCES[row.source].where}, {row.table}",
                    "mind": " ".join(row.caveats),
                }
                for row in reported()
            ],
            hide_index=True,
            height=420,
        )
