"""Draws the retrieval of all systems: for one question, and over all questions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import streamlit as st

from segviz.evaluation import (
    ADVERSARIAL,
    COLLAPSED,
    MEASURES,
    NATIVE,
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
from segviz.ui.pages.compare import Comparing
from segviz.ui.pages.compare.structures import select_turns, side_by_side, structures_panel
from segviz.ui.pages.compare.why import Asked, why_panel
from segviz.ui.settings import write_settings
from segviz.ui.state import fingerprint, keep, peek, remember
from segviz.ui.widgets import atlas, lists, measures, question, waiting
from segviz.ui.widgets.captions import counted, level_label, short, spread_rows, trouble, unmarked
from segviz.ui.widgets.charts import caption, pair, plot, readable, sentence_of, table

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
    """Draws the question box shared with Ask, all structures, and what each system returns."""
    question.question_box(compared.session)
    for name, error in compared.errors.items():
        trouble(f"Left out: {sentence_of(compared.label(name))}.", error, st.warning)
    structures_panel(compared)
    if compared.results:
        _returned(compared)
    else:
        question.nothing_asked(compared.session)


def _returned(compared: Comparing) -> None:
    """Draws what each system returns for one question, and where they overlap."""
    asked, results = compared.question, compared.results
    if any(result.settings.step is not None for result in results.values()):
        st.caption(unmarked(f"Asked before {asked.asked_at}; what came later is not known."))
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

    side_by_side(results, evidence, "beside-evidence")


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


@dataclass(frozen=True)
class _Measured:
    """Comparison that is shown by one measure.

    ``key`` is its content key; ``adversarial`` is True if category 5 counts.
    """

    compared: Comparing
    comparison: Comparison
    key: str
    measure: str
    adversarial: bool

    @property
    def label(self) -> str:
        """Name of the measure."""
        return MEASURES[self.measure].label

    def standing(self, row: Standing, first: Standing) -> Row:
        """Returns a row of the plot, with words read, time, calls and storage.

        Its difference is that to the row ``first``. Seconds are those of this machine. The first
        system also embeds the leaves; the others reuse these embeddings.
        """
        measure, adversarial, outcomes = self.measure, self.adversarial, row.outcomes
        value, mean = outcomes.value, outcomes.mean(measure, adversarial=adversarial)
        cells: Row = {
            "system": self.name(row),
            self.label: mean,
            figures.DIFFERENCE: outcomes.gain(first.outcomes, measure, adversarial=adversarial),
            "n": mean.n,
        }
        # The same mean, with the opposite choice for category 5 and for disputed questions.
        if ADVERSARIAL in outcomes.categories:
            other = "without category 5" if adversarial else "with category 5"
            cells[other] = significance.number(value(measure, adversarial=not adversarial))
        cells |= outcomes.recounted(measure, adversarial=adversarial)
        # Costs; those that were not measured have no column.
        memory = self.compared.memories[row.system]
        cells |= {
            "words read": round(value("words", adversarial=adversarial)),
            "short of K": f"{value('short', adversarial=adversarial):.0%}",
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

    def name(self, row: Standing) -> str:
        """Returns system and retrieval of a row."""
        return f"{self.compared.label(row.system)} · {row.how}"


def measure_panel(compared: Comparing) -> None:
    """Draws quality, words read and time over all questions, measured immediately or on request.

    The slot at the top of the page has the button, then the result in words.
    """
    session = compared.session
    choices = st.container(horizontal=True, vertical_alignment="bottom")
    asked = [one.index for one in compared.questions]
    key = fingerprint([compared.key(name) for name in compared.memories], compared.how, asked)
    comparison: Comparison | None = peek("comparisons", key)
    if comparison is None:
        parts = _measured(compared, key)
        if parts is None:
            st.caption("Not measured yet: the button is at the top of the page.")
        if not parts:
            return
        comparison = keep("comparisons", key, RESULTS_KEPT, joined(parts))
    with choices:
        measure, adversarial = measures.measure_choice(session, comparison)
        disputed = measures.disputed_choice(session)
    comparison, key = comparison.counting(disputed=disputed), fingerprint(key, disputed)
    _standings(_Measured(compared, comparison, key, measure, adversarial))


def _measured(compared: Comparing, key: str) -> dict[str, Comparison] | None:
    """Measures one system after the other; returns None before the click that starts it.

    ``key`` is the content key of all. Systems that are measured before a stop are kept.
    """
    session, memories, questions = compared.session, compared.memories, compared.questions
    # Short measurements begin at once, longer ones by a click in the slot of the verdict.
    sweeps = sum(_RETRIEVAL[isinstance(one.model, Retriever)] for one in memories.values())

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
        automatic=lambda: measures.at_once(session, sweeps),
        stop="stop-measuring",
        label_of=lambda name: sentence_of(compared.label(name)),
    )
    parts = {name: part(number, name) for number, name in enumerate(memories, 1)}
    return job.values(parts, compared.verdict)


def _standings(shown: _Measured) -> None:
    """Draws every system by one measure, against the first that is asked alike, and the atlas."""
    compared, method = shown.compared, shown.compared.method
    groups = shown.comparison.ways(method)
    standings: list[list[Row]] = remember(
        "standings",
        fingerprint(shown.key, shown.measure, shown.adversarial, method),
        RESULTS_KEPT,
        lambda: [[shown.standing(row, group[0]) for row in group] for group in groups],
    )
    # The verdict: a sentence for each way of asking, the chosen one first.
    sentences = [
        f"{figures.asked_sentence(group, [shown.name(row) for row in group])} "
        f"{figures.standing_sentence(rows, shown.label)}"
        for group, rows in zip(groups, standings, strict=True)
    ]
    with compared.verdict.container(gap="xsmall"):
        st.markdown(f"**All questions**: {sentence_of(sentences[0])}", help=_MEANING)
        for sentence in sentences[1:]:
            st.caption(sentence_of(sentence))
    # A memory with one retrieval is in both groups, and is drawn once.
    every: dict[str, tuple[Standing, Row]] = {}
    for group, cells in zip(groups, standings, strict=True):
        for row, one in zip(group, cells, strict=True):
            every.setdefault(shown.name(row), (row, one))
    rows = [cells for _, cells in every.values()]
    figure = readable(figures.standing_plot(rows, shown.label, **pair()))
    plot(figure, " ".join(sentences), "standing-plot")
    caption(
        f"{_MEANING} The table also has words read, seconds, model calls and the size of vectors.",
        "standing-plot",
        lambda: spread_rows(rows),
    )
    alike = {name: row for name, (row, _) in every.items() if row in groups[0]}
    curves = dict(
        zip(figures.short_names(list(alike)), (row.outcomes for row in alike.values()), strict=True)
    )
    measures.budget_curves(curves, shown.adversarial, "budgets")
    _atlas(shown, {name: row for name, (row, _) in every.items()}, len(groups[0]))


def _atlas(shown: _Measured, rows: Mapping[str, Standing], alike: int) -> None:
    """Draws the atlas of questions and explains one of them; the first ``alike`` rows compare."""
    compared, session = shown.compared, shown.compared.session
    names = figures.short_names(list(rows))
    columns = dict(zip(names, rows.values(), strict=True))
    st.markdown("**Question atlas**: every question in every system")

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
        return columns[name].outcomes.value(shown.measure, adversarial=shown.adversarial)

    # B is the best of the systems that are asked as A is.
    first, *others = names[:alike]
    drawn = atlas.AtlasColumns(
        {name: row.outcomes for name, row in columns.items()},
        max(others, key=mean, default=first),
        shown.measure,
        shown.adversarial,
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
        why_panel(session, compared.questions[place], both, shown.key)
