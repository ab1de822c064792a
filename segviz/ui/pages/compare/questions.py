"""Draws the retrieval of all systems: for one question, and over all questions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from time import perf_counter
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.evaluation import MEASURES, Mean
from segviz.evaluation.aggregate import Row
from segviz.evaluation.compare import (
    COLLAPSED,
    NATIVE,
    RETRIEVED_BY,
    Comparison,
    Standing,
    compare_one,
    joined,
    native_settings,
)
from segviz.evaluation.evaluation import ADVERSARIAL
from segviz.figures.compare import (
    COVERED,
    DIFFERENCE,
    FOUND,
    GOLD,
    MISSED,
    RETURNED,
    TurnMatrix,
    asked_sentence,
    gold_sentence,
    overlap_sentence,
    short_names,
    standing_plot,
    standing_sentence,
    turn_matrix,
    turn_rows,
)
from segviz.figures.significance import number
from segviz.handover import HandoverError
from segviz.memory import Memory
from segviz.retrieval import Result, RetrievalSettings, Retriever
from segviz.systems import SYSTEMS
from segviz.tree import total_cost
from segviz.ui import keys
from segviz.ui.pages.compare.structures import built_key, failed, select_turns, side_by_side
from segviz.ui.pages.compare.why import Asked, why_panel
from segviz.ui.settings import asked_question, write_settings
from segviz.ui.state import AppSession, fingerprint, keep, peek, remember
from segviz.ui.widgets.atlas import Side, draw_atlas
from segviz.ui.widgets.captions import counted, level_label, short, spread, unmarked
from segviz.ui.widgets.charts import QUIET, caption, pair, readable, sentence_of, table
from segviz.ui.widgets.lists import node_list
from segviz.ui.widgets.measures import at_once, disputed_choice, duration, measure_choice
from segviz.ui.widgets.question import question_box
from segviz.waiting import heartbeat, waited_for

RESULTS_KEPT = 4

# Key of the measurement that was stopped.
_STOPPED = "compare-stopped"

# Conversation and index of the question that was clicked in the atlas.
_EXPLAINED = "compare-explained"

# Most turns of a node that counts as an answer.
_NARROW = 4

# Duration of one system in units of a usual sweep: without and with its own retrieval, which
# cannot score questions in batches.
_RETRIEVAL = (0.4, 1.5)

_MEANING = (
    "Means have 95 % bootstrap intervals. Differences are paired by question, to the first system "
    "asked the same way. No significant difference: its interval includes zero. Native: the "
    "retrieval of the system's paper; all others rank all nodes together by segviz's relevance."
)

# Reasons why no turn is gold.
_OWN = "No turn is gold: the question is your own."
_UNKNOWN = "No turn is gold: the file names no evidence that is in the conversation."

# Pixels of a list of retrieved nodes, and of the table of turns; longer ones scroll.
_TALL, _MATRIX = 420, 300


def asked_of_all(
    session: AppSession, ready: Mapping[str, Memory], settings: dict[str, Any], by_paper: bool
) -> dict[str, Result]:
    """Draws the question box shared with Ask; returns the result of each system.

    Args:
        session: the open memory.
        ready: memories by system.
        settings: ``k`` and ``relevance``.
        by_paper: use the own retrieval of a system, if it has one.

    Returns:
        The results by system; empty without a question.
    """
    question = question_box(session)
    if not question.text.strip():
        return {}
    results = {}
    for name, memory in ready.items():
        try:
            results[name] = memory.ask(question, retrieval_of(memory, settings, by_paper))
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
    golds = {
        name: ready[name].gold(question.evidence, result.structure).by_node
        for name, result in results.items()
    }
    held = {
        labels[name]: {t for item in result.evidence for t in golds[name].get(item.node, ())}
        for name, result in results.items()
    }
    returned = {
        labels[name]: {
            turn
            for item in result.evidence
            if item.level == 0 or len(item.turn_ids) <= _NARROW
            for turn in item.turn_ids
        }
        for name, result in results.items()
    }
    gold = [turn for turn in order if turn in question.evidence]
    matrix = turn_matrix(returned, order, gold, held)
    _turns(session, matrix, _OWN if question.index < 0 else _UNKNOWN)

    def evidence(name: str) -> None:
        st.markdown(f"**{sentence_of(labels[name])}**")
        _method(results[name], name)
        _evidence(session, name, ready[name], results[name], golds[name])

    side_by_side({name: ready[name] for name in results}, evidence, "beside-evidence")


def _turns(session: AppSession, matrix: TurnMatrix, without: str) -> None:
    """Draws the table of gold and other returned turns by system.

    The sentence ``without`` says why no turn is gold.
    """
    if not matrix.turns:
        st.caption(without)
        return
    words = {turn.id: f"{turn.speaker}: {turn.content}" for turn in session.conversation.turns}
    table(turn_rows(matrix, words), about="Returned turns by system", height=_MATRIX)
    marks = f"{FOUND} found, {COVERED} covered, {MISSED} missed, " if matrix.gold else ""
    named = f"{GOLD} gold, first. " if matrix.gold else ""
    st.caption(
        sentence_of(
            f"{gold_sentence(matrix) or without} {overlap_sentence(matrix)} {named}{marks}"
            f"{RETURNED} returned. A turn counts as returned if a retrieved leaf, or a node of at "
            f"most {_NARROW} turns, contains it. Wider nodes cover the gold turns that they quote."
        )
    )


def retrieval_of(memory: Memory, settings: Mapping[str, Any], by_paper: bool) -> RetrievalSettings:
    """Returns settings without propagation; with ``by_paper``, of the system's own retrieval."""
    same = RetrievalSettings(k=settings["k"], relevance=settings["relevance"], policy="none")
    return (native_settings(memory, same) if by_paper else None) or same


def _method(result: Result, name: str) -> None:
    """Draws the name of the retrieval and the notes of its stages."""
    policy, alpha, horizon = result.settings.propagation
    how = RETRIEVED_BY[COLLAPSED] if policy == "none" else f"{policy} {alpha:g}, H {horizon}"
    how = RETRIEVED_BY[NATIVE] if result.native else how
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
    session: AppSession, name: str, memory: Memory, result: Result, gold: Collection[int]
) -> None:
    """Lists the returned nodes of a system, best first, with the ``gold`` ones marked.

    A click selects the turns of a node in all structures.
    """
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
            "note": "gold" if item.node in gold else "",
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
    by_paper: bool,
    verdict: DeltaGenerator,
) -> None:
    """Draws quality, words read and time over all questions, measured immediately or on request.

    With ``by_paper`` systems asked by their own retrieval come first, else those asked by segviz's
    relevance. The slot ``verdict``, at the top of the page, has the button, then the result in
    words.
    """
    choices = st.container(horizontal=True, vertical_alignment="bottom")
    questions = session.conversation.questions
    asked = [question.index for question in questions]
    key = fingerprint([built_key(session, name) for name in ready], settings, asked)
    found: Comparison | None = peek("comparisons", key)
    if found is None:
        sweeps = sum(_RETRIEVAL[isinstance(one.model, Retriever)] for one in ready.values())
        stopped = st.session_state.get(_STOPPED) == key
        if stopped or not at_once(session, sweeps):
            with verdict.container(horizontal=True, vertical_alignment="center"):
                st.markdown("**All questions**: not measured yet", width="content")
                pressed = st.button(
                    f"Measure over all {counted(len(questions), 'question')}",
                    key="measure",
                    icon=":material/play_arrow:",
                )
                st.caption(duration(session, sweeps, len(ready)), width="content")
            if not pressed:
                st.caption("Not measured yet: the button is at the top of the page.")
                return
        found = _measured(session, ready, settings, key, verdict)
        if found is None:
            return
        keep("comparisons", key, RESULTS_KEPT, found)
    with choices:
        measure, adversarial = measure_choice(session, found)
        disputed = disputed_choice(session)
    found, key = found.counting(disputed=disputed), fingerprint(key, disputed)
    _standings(session, ready, found, by_paper, measure, adversarial, key, verdict)


def _measured(
    session: AppSession,
    ready: Mapping[str, Memory],
    settings: dict[str, Any],
    key: str,
    place: DeltaGenerator,
) -> Comparison | None:
    """Measures one system after the other, with a progress bar.

    A click ends this run; finished systems are kept.
    """
    parts: dict[str, Comparison] = remember("compared-parts", key, 1, dict)
    failures: dict[str, HandoverError] = {}
    with place.container():
        bar = st.progress(0.0)
        st.button(
            "Stop",
            icon=":material/stop:",
            key="stop-measuring",
            on_click=lambda: st.session_state.update({_STOPPED: key}),
        )
    for done, (name, memory) in enumerate(ready.items()):
        label = sentence_of(SYSTEMS[name].label)

        def beat(
            share: float = done / len(ready), label: str = label, number: int = done + 1
        ) -> None:
            bar.progress(share, f"Measuring {label}: {number} of {len(ready)}")

        beat()
        if name not in parts:
            questions = session.conversation.questions
            try:
                work = partial(compare_one, memory, questions, clock=perf_counter, **settings)
                with heartbeat(beat):
                    parts[name] = waited_for(work)
            except HandoverError as error:
                failures[name] = error
    place.empty()
    for name, failure in failures.items():
        failed(name, failure)
    measured = {name: parts[name] for name in ready if name in parts}
    return joined(measured) if measured else None


def _standings(
    session: AppSession,
    ready: Mapping[str, Memory],
    found: Comparison,
    by_paper: bool,
    measure: str,
    adversarial: bool,
    key: str,
    verdict: DeltaGenerator,
) -> None:
    """Draws every system by one measure, against the first that is asked alike, and the atlas."""
    groups = found.ways(NATIVE if by_paper else COLLAPSED)
    label = MEASURES[measure].label
    standings: list[list[Row]] = remember(
        "standings",
        fingerprint(key, measure, adversarial, by_paper),
        RESULTS_KEPT,
        lambda: [
            [_standing(row, ready[row.system], group[0], measure, adversarial) for row in group]
            for group in groups
        ],
    )
    sentences = [
        f"{asked_sentence(group, [_row_name(row) for row in group])} "
        f"{standing_sentence(rows, label)}"
        for group, rows in zip(groups, standings, strict=True)
    ]
    with verdict.container(gap="xsmall"):
        st.markdown(f"**All questions**: {sentence_of(sentences[0])}", help=_MEANING)
        for sentence in sentences[1:]:
            st.caption(sentence_of(sentence))
    every: dict[str, tuple[Standing, Row]] = {}
    for group, cells in zip(groups, standings, strict=True):
        for row, one in zip(group, cells, strict=True):
            every.setdefault(_row_name(row), (row, one))
    rows = [cells for _, cells in every.values()]
    figure = readable(standing_plot(rows, label, **pair()))
    st.plotly_chart(figure, key="standing-plot", config=QUIET, alt=" ".join(sentences))
    caption(
        f"{_MEANING} The table also has words read, seconds, model calls and the size of vectors.",
        "standing-plot",
        lambda: [
            {n: spread(v) if isinstance(v, Mean) else v for n, v in row.items()} for row in rows
        ],
    )
    full = list(every)
    columns = {name: every[one][0] for name, one in zip(short_names(full), full, strict=True)}
    st.markdown("**Question atlas**: every question in every system")

    asked = {"k": found.settings.k, "relevance": found.settings.relevance}

    def side(name: str) -> Side:
        row = columns[name]
        memory = ready[row.system]
        settings = retrieval_of(memory, asked, row.method == NATIVE)
        return built_key(session, row.system), memory, settings

    def choose(name: str) -> None:
        system = st.session_state[keys.SYSTEM] = columns[name].system
        write_settings(session, side(name)[2], system)

    def explain(place: int) -> None:
        st.session_state[_EXPLAINED] = (session.source, place)

    first, *others = list(columns)[: len(groups[0])]

    def mean(name: str) -> float:
        return columns[name].outcomes.value(measure, adversarial=adversarial)

    base, focus, most = draw_atlas(
        session,
        {name: row.outcomes for name, row in columns.items()},
        max(others, key=mean, default=first),
        key="compare-atlas",
        measure=measure,
        adversarial=adversarial,
        choose=choose,
        side=side,
        about=dict(zip(columns, full, strict=True)),
        explain=explain,
    )
    if columns[base].method != columns[focus].method:
        st.caption("A and B are not asked alike, so their difference is not the memories' alone.")
    source, place = st.session_state.get(_EXPLAINED, ("", None))
    place = place if source == session.source else most
    if place is not None and base != focus:
        both = [Asked(name, *side(name)[1:]) for name in (base, focus)]
        why_panel(session, session.conversation.questions[place], both, key)


def _standing(
    row: Standing, memory: Memory, first: Standing, measure: str, adversarial: bool
) -> Row:
    """Returns a row of the plot, with words read, time, calls and storage.

    Its difference is that to the row ``first``.

    Seconds are those of this machine. The first system also embeds the leaves; the others reuse
    these embeddings.
    """
    value, outcomes = row.outcomes.value, row.outcomes
    mean = outcomes.mean(measure, adversarial=adversarial)
    cells: Row = {
        "system": _row_name(row),
        MEASURES[measure].label: mean,
        DIFFERENCE: outcomes.gain(first.outcomes, measure, adversarial=adversarial),
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
    return f"{SYSTEMS[row.system].label} · {row.how}"
