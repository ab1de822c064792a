"""Compares retrieval: one question in each system, and all questions."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.construct import Retriever
from segviz.evaluation import MEASURES, Mean, Outcomes
from segviz.evaluation.aggregate import Row
from segviz.evaluation.compare import (
    OWN,
    Comparison,
    Overlap,
    Standing,
    compare_one,
    joined,
    overlap,
    own_settings,
)
from segviz.evaluation.evaluation import ADVERSARIAL
from segviz.figures.compare import (
    DIFFERENCE,
    gold_sentence,
    overlap_sentence,
    short_names,
    standing_plot,
    standing_sentence,
    turn_matrix,
    turn_rows,
    turn_strip,
)
from segviz.figures.significance import number
from segviz.handover import HandoverError
from segviz.memory import Memory
from segviz.retrieval import Result, RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.tree import total_cost
from segviz.ui import keys
from segviz.ui.pages.compare.structures import built_key, failed, select_turns, side_by_side
from segviz.ui.settings import asked_question, write_settings
from segviz.ui.state import AppSession, fingerprint, keep, peek, remember
from segviz.ui.widgets.atlas import draw_atlas
from segviz.ui.widgets.captions import counted, level_label, short, spread, unmarked
from segviz.ui.widgets.charts import chart, colours, ink, pair, sentence_of, swatch, theme
from segviz.ui.widgets.lists import node_list
from segviz.ui.widgets.measures import at_once, disputed_choice, duration, measure_choice
from segviz.ui.widgets.question import question_box

RESULTS_KEPT = 4

# A node of so many turns still answers by itself; of the other turns so many are shown.
_NARROW, _OTHERS = 4, 12

# How many sweeps measuring one system is as long as, about: without and with retrieval of its own,
# which answers one question after the other.
_RETRIEVAL = (0.4, 1.5)

_HOW_TOLD = (
    "Means with 95 % bootstrap intervals; differences are paired, question by question. Undecided "
    "is what cannot be told from the first: the interval of the difference includes zero. "
    "Collapsed ranks every node for itself, own asks as the system's paper does."
)

# Why no turn is gold.
_OWN = "No turn is gold: the question is your own."
_UNKNOWN = "No turn is gold: the file names no evidence that is in the conversation."

# Pixels of a list of retrieved nodes; longer ones scroll.
_TALL = 420


def asked_of_all(
    session: AppSession, ready: Mapping[str, Memory], settings: dict[str, Any], by_paper: bool
) -> dict[str, Result]:
    """Draws the box of the question, which is that of Ask; returns what each system retrieves for
    it by the same relevance or as its paper does, nothing where none is typed."""
    question = question_box(session)
    if not question.text.strip():
        return {}
    results = {}
    for name, memory in ready.items():
        try:
            results[name] = memory.ask(question, _how(memory, settings, by_paper))
        except HandoverError as error:
            failed(name, error)
    return results


def question_panel(
    session: AppSession, ready: Mapping[str, Memory], results: Mapping[str, Result]
) -> None:
    """Draws what each system returns for one question, and where they overlap."""
    question = asked_question(session)
    if any(result.settings.step is not None for result in results.values()):
        st.caption(unmarked(f"Asked before {question.asked_at}; what came later is not known."))
    labels = {name: SYSTEMS[name].label for name in ready}
    order = [turn.id for turn in session.conversation.turns]
    held = {}
    for name, result in results.items():
        gold_of = ready[name].gold(question.evidence, result.structure).held
        retrieved = (gold_of.get(item.node, ()) for item in result.evidence)
        held[labels[name]] = {turn for turns in retrieved for turn in turns}
    found = overlap(
        {
            labels[name]: {
                turn
                for item in result.evidence
                if item.level == 0 or len(item.turn_ids) <= _NARROW
                for turn in item.turn_ids
            }
            for name, result in results.items()
        },
        order,
    )
    named = [turn for turn in order if turn in question.evidence]
    _turns(found, named, held, _OWN if question.index < 0 else _UNKNOWN)
    gold = set(question.evidence)

    def evidence(name: str) -> None:
        st.markdown(f"**{sentence_of(labels[name])}**")
        _method(results[name], name)
        _evidence(session, name, ready[name], results[name], gold)

    side_by_side({name: ready[name] for name in results}, evidence, "beside-evidence")


def _turns(found: Overlap, gold: list[str], held: Mapping[str, set[str]], without: str) -> None:
    """Draws what became of every gold turn, and which other turns came back; where no turn is gold,
    it says so by the sentence ``without``."""
    matrix = turn_matrix(found, gold, held, _OTHERS)
    if not matrix.turns:
        st.caption(without)
        return
    shown, kind = "", "other turns" if gold else "turns"
    if matrix.hidden:
        others = len(matrix.others) + matrix.hidden
        if st.toggle(f"All {others} {kind}", key="all-turns", bind="query-params"):
            matrix = turn_matrix(found, gold, held)
        else:
            shown = f" Showing {_OTHERS} of {others} {kind}, those that most systems returned."
    empty, tones = {"light": "#f0eeea", "dark": "#2a2825"}[theme()], colours()
    fills = {"gold, returned": tones["accent"]} if gold else {}
    fills |= {"returned": tones["neutral"], "not returned": empty}
    st.caption(
        " ".join(swatch(colour, name) for name, colour in fills.items()), unsafe_allow_html=True
    )
    chart(
        turn_strip(matrix, empty=empty, ink=ink(), **tones),
        f"{gold_sentence(matrix) or without} {overlap_sentence(found)}",
        "overlap",
        f"{'Gold turns stand first. ' if gold else ''}Returned are leaves and nodes of up to "
        f"{_NARROW} turns; wider nodes hold too much to count as an answer"
        f"{', and cover a gold turn whose words they quote' if gold else ''}.{shown}",
        rows=lambda: turn_rows(matrix),
    )


def _how(memory: Memory, settings: dict[str, Any], by_paper: bool) -> RetrievalSettings:
    """Returns the settings of collapsed retrieval or, where it has one, of the paper's own."""
    same = RetrievalSettings(k=settings["k"], relevance=settings["relevance"], policy="none")
    return (own_settings(memory, same) if by_paper else None) or same


def _method(result: Result, name: str) -> None:
    """How it was retrieved, and what a system of its own way did in each stage."""
    policy, alpha, horizon = result.settings.propagation
    how = "collapsed retrieval" if policy == "none" else f"{policy} {alpha:g}, H {horizon}"
    how = "its own retrieval" if result.own else how
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"{how}, relevance {result.settings.relevance}", width="stretch")
        if not result.stages:
            return
        with st.popover(
            f"in {counted(len(result.stages), 'stage')}", type="tertiary", key=f"twin-how-{name}"
        ):
            for stage in result.stages:
                st.markdown(f"**{stage.name}**")
                st.text(stage.note)


def _evidence(
    session: AppSession, name: str, memory: Memory, result: Result, gold: set[str]
) -> None:
    """Lists what a system returned, best first; a click selects its turns in all structures."""
    if not result.evidence:
        st.caption("Nothing was returned.")
        return
    turns = {item.node: item.turn_ids for item in result.evidence}
    rows = [
        {
            "node": item.node,
            "head": f"{item.rank_after} · {level_label(memory, item.level)} · "
            f"{counted(len(item.turn_ids), 'turn')}",
            "text": short(item.text),
            "note": "gold" if gold & set(item.turn_ids) else "",
        }
        for item in result.evidence
    ]
    node_list(
        [("", rows)],
        key=f"evidence-{name}",
        height=_TALL,
        label=f"Retrieved by {SYSTEMS[name].label}",
        about=result.question,
        on_pick=lambda node: select_turns(session, turns[node]),
    )


def measure_panel(
    session: AppSession,
    ready: Mapping[str, Memory],
    settings: dict[str, Any],
    verdict: DeltaGenerator,
) -> None:
    """Draws quality, reading and time over all questions, measured at once or on request; what
    came of it is the ``verdict``, too."""
    verdict.markdown("**All questions**: not measured yet, see below.")
    choices = st.container(horizontal=True, vertical_alignment="bottom")
    questions = session.conversation.questions
    asked = [question.index for question in questions]
    key = fingerprint([built_key(session, name) for name in ready], settings, asked)
    found: Comparison | None = peek("comparisons", key)
    if found is None:
        sweeps = sum(_RETRIEVAL[isinstance(one.model, Retriever)] for one in ready.values())
        place = st.empty()
        if not at_once(session, sweeps) and not place.button(
            f"Measure over all {counted(len(questions), 'question')}",
            key="measure",
            icon=":material/play_arrow:",
        ):
            st.caption(duration(session, sweeps, len(ready)))
            return
        with place, st.spinner("Measuring"):
            parts: dict[str, Comparison] = {}
            failures: dict[str, HandoverError] = {}
            for name, memory in ready.items():
                try:
                    parts[name] = compare_one(memory, questions, clock=perf_counter, **settings)
                except HandoverError as error:
                    failures[name] = error
        place.empty()
        for name, failure in failures.items():
            failed(name, failure)
        if not parts:
            return
        found = joined(parts)
        keep("comparisons", key, RESULTS_KEPT, found)
    with choices:
        measure, adversarial = measure_choice(session, found)
        disputed = disputed_choice(session)
    found, key = found.counting(disputed=disputed), fingerprint(key, disputed)
    _standings(session, ready, found, measure, adversarial, key, verdict)


def _standings(
    session: AppSession,
    ready: Mapping[str, Memory],
    found: Comparison,
    measure: str,
    adversarial: bool,
    key: str,
    verdict: DeltaGenerator,
) -> None:
    """Draws every system and retrieval by one measure, beside the first of them."""
    first = found.rows[0].outcomes
    label = MEASURES[measure].label
    rows: list[Row] = remember(
        "standings",
        fingerprint(key, measure, adversarial),
        RESULTS_KEPT,
        lambda: [
            _standing(row, ready[row.system], first, measure, adversarial) for row in found.rows
        ],
    )
    sentence = standing_sentence(rows, label)
    verdict.markdown(f"**All questions**: {sentence_of(sentence)}", help=_HOW_TOLD)
    chart(
        standing_plot(rows, label, **pair()),
        sentence,
        "standing-plot",
        f"{_HOW_TOLD} The table has words read, seconds, model calls and the size of vectors, too.",
        rows=lambda: [
            {n: spread(v) if isinstance(v, Mean) else v for n, v in row.items()} for row in rows
        ],
    )
    full = [_row_name(row) for row in found.rows]
    names = short_names(full)
    columns = dict(zip(names, found.rows, strict=True))
    st.markdown("**Question atlas**: every question in every system")

    def choose(name: str) -> None:
        row = columns[name]
        st.session_state[keys.SYSTEM] = row.system
        asked = {"k": found.settings.k, "relevance": found.settings.relevance}
        write_settings(session, _how(ready[row.system], asked, row.method == OWN), row.system)

    draw_atlas(
        session,
        {name: row.outcomes for name, row in columns.items()},
        list(columns)[min(1, len(columns) - 1)],
        key="compare-atlas",
        adversarial=adversarial,
        choose=choose,
        about=dict(zip(names, full, strict=True)),
    )


def _standing(
    row: Standing, memory: Memory, first: Outcomes, measure: str, adversarial: bool
) -> Row:
    """A row of the plot, with reading, time and what is stored; seconds are of this machine, with
    the embeddings of the leaves already made for all but the first."""
    value, outcomes = row.outcomes.value, row.outcomes
    mean = outcomes.mean(measure, adversarial=adversarial)
    cells: Row = {
        "system": _row_name(row),
        MEASURES[measure].label: mean,
        DIFFERENCE: outcomes.gain(first, measure, adversarial=adversarial),
        "n": mean.n,
    }
    if ADVERSARIAL in outcomes.categories:
        other = "without category 5" if adversarial else "with category 5"
        cells[other] = number(value(measure, adversarial=not adversarial))
    cells |= outcomes.recounted(measure, adversarial=adversarial)
    cells |= {
        "words read": round(value("words", adversarial=adversarial)),
        "short of K": f"{value('short', adversarial=adversarial):.0%}",
        "model calls": total_cost(memory.steps).calls,
        "MB of vectors": round(memory.structure.vector.nbytes / 1e6, 2),
    }
    if row.contentless is not None:
        cells["contentless lines"] = f"{row.contentless:.1%}"
    if row.build_seconds is not None:
        cells["build s"] = round(row.build_seconds, 2)
    if row.query_seconds is not None:
        cells["ms per question"] = round(1000 * row.query_seconds, 1)
    return cells


def _row_name(row: Standing) -> str:
    return f"{SYSTEMS[row.system].label} · {row.method}, {row.relevance}"
