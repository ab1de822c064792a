"""Draws the retrieval of all systems: for one question, and over all questions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import streamlit as st

from segviz.evaluation import (
    ADVERSARIAL,
    COLLAPSED,
    NATIVE,
    ONE_WRITER,
    RETRIEVED_BY,
    Comparison,
    Row,
    Standing,
    compare_one,
    joined,
)
from segviz.figures import compare as figures
from segviz.figures import significance
from segviz.retrieval import PRESETS_HELP, RERANKED, Result, Retriever
from segviz.ui import keys
from segviz.ui.pages.compare import Comparing, has_written_texts
from segviz.ui.pages.compare.structures import select_turns, side_by_side, structures_panel
from segviz.ui.pages.compare.why import Asked, why_panel
from segviz.ui.settings import read_settings, write_settings
from segviz.ui.state import fingerprint, keep, remember
from segviz.ui.widgets import atlas, lists, measures, question, waiting
from segviz.ui.widgets.captions import counted, level_label, short, spread_rows, trouble, unmarked
from segviz.ui.widgets.charts import plot, sentence_of, signs, table

RESULTS_KEPT = 4

# Conversation and index of the question that was clicked in the atlas.
_EXPLAINED = "compare-explained"

# Most turns of a node that counts as an answer.
_NARROW = 4

# Duration of one system in units of a usual sweep: without and with its own retrieval, which
# cannot score questions in batches.
_RETRIEVAL = (0.4, 1.5)

_MEANING = (
    "Means have 95 % bootstrap intervals. Differences are paired by question, to the first system "
    "asked the same way. No significant difference: its interval includes zero. Own "
    "retrieval: that of the system's paper; segviz's relevance ranks all nodes together. "
    + PRESETS_HELP[RERANKED]
)

# Reasons why no turn is gold.
_OWN = "No turn is gold: the question is your own."
_UNKNOWN = "No turn is gold: the file names no evidence that is in the conversation."

# Pixels of a list of retrieved nodes, and of the table of turns; longer ones scroll.
_TALL, _MATRIX = 420, 300


def question_panel(compared: Comparing) -> None:
    """Draws the question box shared with Ask, and all structures with their retrieved nodes."""
    session = compared.session
    question.question_box(session)
    for name, error in compared.errors.items():
        trouble(f"Left out: {sentence_of(compared.label(name))}.", error, st.warning)
    if said := _asked_here(compared):
        st.caption(unmarked(said))
    structures_panel(compared)
    if not compared.results:
        question.nothing_asked(session)


def _asked_here(compared: Comparing) -> str:
    """Returns at which moment, by which relevance and K the question is asked, if not as on Ask."""
    session, results = compared.session, compared.results.values()
    ask = read_settings(session)
    there = ask.relevance_for(session.memory.model), ask.k
    used = dict.fromkeys(str(result.settings.relevance) for result in results)
    if not used:
        return ""
    here = st.session_state[keys.COMPARED_BY] = " or ".join(used), compared.settings.k
    said = ""
    if any(result.settings.step is not None for result in results):
        said = f"Asked before {compared.question.asked_at}; what came later is not known. "
    if here != there:
        said += "Asked by relevance {} with K {}, on Ask by {} with K {}.".format(*here, *there)
    return said


def returned_panel(compared: Comparing) -> None:
    """Draws what each system returns for one question, and where they overlap."""
    asked, results = compared.question, compared.results
    order = [turn.id for turn in compared.session.conversation.turns]
    golds = {
        name: compared.memories[name].gold(asked, result.structure)
        for name, result in results.items()
    }
    # What became of the gold turns, and turns that a narrow retrieved node contains.
    fates = {
        compared.label(name): golds[name].fate(result.evidence) for name, result in results.items()
    }
    returned = {
        compared.label(name): {
            turn
            for item in result.evidence
            if item.level == 0 or len(item.turn_ids) <= _NARROW
            for turn in item.turn_ids
        }
        for name, result in results.items()
    }
    gold = [turn for turn in order if turn in asked.evidence]
    matrix = figures.turn_matrix(returned, order, gold, fates)
    _turns(compared, matrix, _OWN if asked.index < 0 else _UNKNOWN)

    def evidence(name: str) -> None:
        st.markdown(f"**{sentence_of(compared.label(name))}**")
        _method(results[name], name)
        _evidence(compared, name, results[name], golds[name].by_node)

    side_by_side([*results], evidence, "evidence")


def _turns(compared: Comparing, matrix: figures.TurnMatrix, without: str) -> None:
    """Draws the table of gold and other returned turns by system.

    The sentence ``without`` says why no turn is gold.
    """
    if not matrix.turns:
        st.caption(without)
        return
    turns = compared.session.conversation.turns
    words = {turn.id: f"{turn.speaker}: {turn.content}" for turn in turns}
    table(figures.turn_rows(matrix, words), about="Returned turns by system", height=_MATRIX)
    legend = f"{figures.GOLD} gold, first. {figures.MARKS}, " if matrix.gold else ""
    about_gold = figures.gold_sentence(matrix) or without
    st.caption(
        sentence_of(
            f"{about_gold} {figures.overlap_sentence(matrix)} {legend}"
            f"{figures.RETURNED} returned. A turn counts as returned if a retrieved leaf, or a "
            f"node of at most {_NARROW} turns, contains it."
        )
    )


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


def _evidence(compared: Comparing, name: str, result: Result, gold: Collection[int]) -> None:
    """Lists the returned nodes of a system, best first, with the ``gold`` ones marked.

    A click selects the turns of a node in all structures.
    """
    if not result.evidence:
        st.caption("Nothing was returned.")
        return
    turns = {item.node: item.turn_ids for item in result.evidence}
    # The heading of a node has its rank, level and size.
    rows = [
        {
            "node": item.node,
            "head": f"{item.rank_after} · {level_label(compared.memories[name], item.level)} · "
            f"{counted(len(item.turn_ids), 'turn')}",
            "text": short(item.text),
            "note": "gold" if item.node in gold else "",
        }
        for item in result.evidence
    ]
    lists.node_list(
        [("", rows)],
        key=f"evidence-{name}",
        height=_TALL,
        label=f"Retrieved by {compared.label(name)}",
        about=result.question,
        on_pick=lambda node: select_turns(compared.session, turns[node]),
    )


def verdict_panel(compared: Comparing) -> None:
    """Draws the result over all questions, measured immediately or on request.

    The slots at the top of the page have the button, then the result in words and the plot.
    """
    if compared.comparison is None:
        parts = _measured(compared)
        if not parts:
            return
        keep("comparisons", compared.comparison_key, RESULTS_KEPT, joined(parts))
    first, *_ = _groups(compared)
    sentence = sentence_of(figures.standing_sentence(first.rows, compared.measured))
    with compared.verdict.container(gap="xsmall"):
        st.markdown(f"**All questions**: {sentence}", help=_MEANING)
        written = f" {ONE_WRITER}" * has_written_texts(compared.session.memory)
        st.caption(sentence_of(first.asked + written))
    with compared.plot:
        figure = figures.standing_plot(first.rows, compared.measured, **signs())
        plot(figure, sentence, "standing-plot")


@dataclass(frozen=True)
class _Group:
    """Systems that are asked alike: their results, rows of the plot, and how they are asked."""

    standings: tuple[Standing, ...]
    rows: list[Row]
    asked: str


def _groups(compared: Comparing) -> list[_Group]:
    """Returns the measured systems by the way they are asked, the chosen way first."""
    comparison, measure, method = compared.comparison, compared.measure, compared.method
    assert comparison is not None

    def made() -> list[_Group]:
        groups = []
        for group in comparison.ways(method):
            rows = figures.standing_rows(group, measure, adversarial=compared.adversarial)
            asked = figures.asked_sentence(group, [str(row["system"]) for row in rows])
            groups.append(_Group(group, rows, asked))
        return groups

    how = compared.comparison_key, measure, compared.adversarial, compared.disputed, method
    return remember("standings", fingerprint(*how), RESULTS_KEPT, made)


def _measured(compared: Comparing) -> dict[str, Comparison] | None:
    """Measures one system after the other; returns None before the click that starts it.

    Systems that are measured before a stop are kept.
    """
    session, memories, questions = compared.session, compared.memories, compared.questions
    # Short measurements begin at once, longer ones by a click in the slot of the verdict.
    sweeps = sum(_RETRIEVAL[isinstance(one.model, Retriever)] for one in memories.values())
    key = compared.comparison_key

    def part(number: int, name: str) -> waiting.JobPart[Comparison]:
        work = partial(compare_one, memories[name], questions, clock=perf_counter, **compared.how)
        text = f"Measuring {sentence_of(compared.label(name))}: {number} of {len(memories)}"
        return waiting.JobPart(fingerprint(key, name), lambda _: work(), lambda *_: text)

    job = waiting.Job(
        "compared-parts",
        len(memories),
        key,
        f"Measure over all {counted(len(questions), 'question')}",
        "measure",
        waiting.PLAY,
        heading="**All questions**: not measured yet",
        note=lambda: measures.duration(session, sweeps, len(memories)),
        # The page opens with this picture; a bar and Stop are there while it is made.
        automatic=lambda: measures.at_once(session, sweeps, patience=5),
        stop="stop-measuring",
        label_of=lambda name: sentence_of(compared.label(name)),
    )
    parts = {name: part(number, name) for number, name in enumerate(memories, 1)}
    return job.values(parts, compared.verdict)


def numbers_panel(compared: Comparing) -> None:
    """Draws all ways of asking, with words read, time and cost, and the curves over tokens."""
    first, *others = _groups(compared)
    for group in others:
        sentence = figures.standing_sentence(group.rows, compared.measured)
        st.caption(sentence_of(f"{group.asked} {sentence}"))
    # A memory with one retrieval is in several groups, and has one row.
    rows: dict[str, Row] = {}
    for group in (first, *others):
        for one, row in zip(group.standings, group.rows, strict=True):
            rows.setdefault(str(row["system"]), row | _costs(compared, one))
    about = f"{compared.measured} and cost of every system"
    table(spread_rows([*rows.values()]), about=about, height=_TALL)
    st.caption(_MEANING)
    names = figures.short_names([str(row["system"]) for row in first.rows])
    outcomes = (one.outcomes for one in first.standings)
    curves = dict(zip(names, outcomes, strict=True))
    measures.budget_curves(curves, compared.adversarial, "budgets")


def _costs(compared: Comparing, row: Standing) -> Row:
    """Returns n, the other counts of questions, words read, time, calls and storage of a system.

    Seconds are those of this machine. The first system also embeds the leaves; the others reuse
    these embeddings. What was not measured has no column.
    """
    measure, adversarial, outcomes = compared.measure, compared.adversarial, row.outcomes
    cells: Row = {"n": outcomes.mean(measure, adversarial=adversarial).n}
    # The same mean, with the opposite choice for category 5 and for disputed questions.
    if ADVERSARIAL in outcomes.categories:
        other = "without category 5" if adversarial else "with category 5"
        cells[other] = significance.number(outcomes.value(measure, adversarial=not adversarial))
    cells |= outcomes.recounted(measure, adversarial=adversarial)
    memory = compared.memories[row.system]
    cells |= {
        "words read": round(outcomes.value("words", adversarial=adversarial)),
        "short of K": f"{outcomes.value('short', adversarial=adversarial):.0%}",
        "model calls": row.cost.calls,
        "MB of vectors": round(memory.structure.vector.nbytes / 1e6, 2),
    }
    if row.contentless is not None:
        cells["contentless lines"] = f"{row.contentless:.1%}"
    if row.build_seconds is not None:
        cells["build s"] = round(row.build_seconds, 2)
    if row.query_seconds is not None:
        cells["ms per question"] = round(1000 * row.query_seconds, 1)
    return cells


def atlas_panel(compared: Comparing) -> None:
    """Draws the atlas of questions and explains one of them."""
    session, groups = compared.session, _groups(compared)
    alike = len(groups[0].standings)  # systems that compare, the first ones
    rows = {
        str(row["system"]): one
        for group in groups
        for one, row in zip(group.standings, group.rows, strict=True)
    }
    names = figures.short_names(list(rows))
    columns = dict(zip(names, rows.values(), strict=True))

    def side(name: str) -> atlas.Side:
        system = columns[name].system
        settings = compared.asked(system, columns[name].method)
        return compared.key(system), compared.memories[system], settings

    def choose(name: str) -> None:
        system = st.session_state[keys.SYSTEM] = columns[name].system
        write_settings(session, side(name)[2], system)

    def explain(place: int) -> None:
        st.session_state[_EXPLAINED] = (session.source, place)

    def mean(name: str) -> float:
        return columns[name].outcomes.value(compared.measure, adversarial=compared.adversarial)

    # B is the best of the systems that are asked as A is.
    first, *others = names[:alike]
    drawn = atlas.AtlasColumns(
        {name: row.outcomes for name, row in columns.items()},
        max(others, key=mean, default=first),
        compared.measure,
        compared.adversarial,
        side,
        choose,
        about=dict(zip(names, rows, strict=True)),
        explain=explain,
    )
    base, focus, most = atlas.draw_atlas(session, drawn, key="compare-atlas")
    if columns[base].method != columns[focus].method:
        st.caption("A and B are not asked alike, so their difference is not the memories' alone.")
    source, place = st.session_state.get(_EXPLAINED, ("", None))
    place = place if source == session.source else most
    if place is not None and base != focus:
        both = [Asked(name, *side(name)[1:]) for name in (base, focus)]
        why_panel(session, compared.questions[place], both, compared.comparison_key)
