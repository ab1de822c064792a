"""Explains an answered question: its time, gold evidence, scores and stages of retrieval."""

from __future__ import annotations

from functools import partial

import streamlit as st

from segviz.evaluation.aggregate import Row
from segviz.evaluation.cases import setting_name
from segviz.evaluation.compare import Chart
from segviz.figures.charts import rows_figure
from segviz.memory.answer import is_adversarial
from segviz.retrieval import RetrievalSettings, Stage, ranks
from segviz.retrieval.gold import ABSENT, ANSWERED, FOUND, LATER, MISSED, QUOTED
from segviz.systems import level_name, level_names
from segviz.ui.inspector import changes_of, tree_name
from segviz.ui.settings import (
    CUSTOM,
    AnswerState,
    beside_kind,
    change_settings,
    read_option,
)
from segviz.ui.widgets import captions, charts, lists
from segviz.view.captions import dispute_lines, moment_sentence
from segviz.view.palette import LEVEL_COLOURS

# The ledger lists this many contributions; the rest is summed in one row.
LISTED = 12

# So many rows of it are seen without scrolling.
_LEDGER_SEEN = 6

# So much of the long list of a stage is shown at first.
_STAGE_LISTED = 40
_STAGE_HEIGHT = 260


def moment(state: AnswerState) -> None:
    """Says that an earlier state of the memory is asked, and how many texts are out of date."""
    session, memory = state.session, state.session.memory
    step = state.shown.step
    written = memory.settled(step, session.chat) is not memory.at(step)
    stale = 0 if written else len(memory.pending(step))
    late = f" A chat model is needed to update {captions.counted(stale, 'text')}." * (stale > 0)
    total = len(memory.steps)
    ends = " The axis ends there." * (step < total)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(captions.unmarked(moment_sentence(memory, state.question, step) + ends + late))
        # Without a step a question is asked at its own moment.
        label, to = ("Ask at the end", total) if step < total else ("Ask at its moment", None)
        if to is not None or memory.moment(state.question) is not None:
            st.button(label, key="ask-at", on_click=partial(change_settings, session, step=to))


def no_level(state: AnswerState) -> None:
    """Says that no level may be retrieved."""
    st.warning("No level is admissible, so nothing can be retrieved. Choose levels under Setting.")


def pair_sentence(first: AnswerState, second: AnswerState) -> str:
    """Compares the two trees in Markdown: their gold turns, the nodes both retrieve."""
    names, numbers = [], []
    for which, state, other in (("first", first, second), ("second", second, first)):
        each = state.result
        option = read_option(each.settings)
        name = setting_name(each.settings) if option == CUSTOM else option
        if beside_kind() is not RetrievalSettings:
            name = tree_name(state.shown, other.shown)
        names.append(f"**{captions.unmarked(name)}** ({which})")
        fates = state.gold.fate(each.evidence).values()
        numbers.append(sum(fate in (FOUND, QUOTED, ANSWERED) for fate in fates))
    sentence = " and ".join(names)
    if first.gold.turns:
        turns = captions.counted(len(first.gold.turns), "gold turn")
        has = f"{names[0]} has {numbers[0]} of {turns} in evidence"
        sentence = f"{has}, {names[1]} has {numbers[1]}"
    total, common = len(first.result.after), {*first.result.after}
    if first.session is second.session:
        common &= {*second.result.after}
    else:
        twins = changes_of(first.shown, second.shown).twins
        common = {node for node in common if twins.get(node) in second.result.after}
    return f"{sentence}. In both: {len(common)} of {captions.counted(total, 'retrieved node')}."


def gold_line(state: AnswerState) -> None:
    """Draws what became of each gold turn, the gold answer, and what the audit disputes."""
    question, fates = state.question, state.gold.fate(state.result.evidence)
    lines: list[str] = []
    if not question.evidence:
        lines.append("Gold evidence: none in this conversation.")
    else:
        parts = []
        for fate, meaning in (
            (FOUND, "found"),
            (QUOTED, "quoted by a wider retrieved node"),
            (ANSWERED, "answered by a retrieved node above"),
            (MISSED, "missed"),
            (ABSENT, "in no leaf (dropped by the unit rule, or not stored)"),
            (LATER, "not in the memory yet at this moment"),
        ):
            turns = [turn for turn, its in fates.items() if its == fate]
            if turns:
                parts.append(f"{len(turns)} {meaning} ({', '.join(turns)})")
        lines.append(f"Gold evidence, {captions.counted(len(fates), 'turn')}: " + "; ".join(parts))
        missed = (_why_missed(state, turn) for turn, its in fates.items() if its == MISSED)
        lines += filter(None, missed)
    if question.unresolved:
        unknown = ", ".join(question.unresolved)
        lines.append(f"Unresolved evidence, in no turn of this conversation: {unknown}")
    if question.answer is not None:
        lines.append(f"Gold answer: {question.answer}")
    elif question.adversarial is not None:
        wrong = question.adversarial
        lines.append(f"Gold answer: not mentioned. The tempting wrong answer: {wrong}")
    elif is_adversarial(question):
        lines.append("Gold answer: not mentioned (adversarial).")
    else:
        lines.append("Gold answer: the file gives none.")
    lines += dispute_lines(question.disputed) if question.disputed else []
    st.text("\n".join(lines))


def _why_missed(state: AnswerState, turn: str) -> str:
    """Says why a gold turn is missed: by its level, others' scores, or the question's words.

    Returns "" where words do not count.
    """
    result = state.result
    leaves = [leaf for leaf in state.gold.leaves if turn in state.gold.by_node.get(leaf, ())]
    for leaf in leaves:
        was, now = (
            ranks([leaf], scores, result.structure, result.settings.levels)[0]
            for scores in (result.initial, result.final)
        )
        if not now:
            return f"{turn} was missed: the level of its leaf is not admitted."
        if leaf in result.left and was < now:
            return (
                f"{turn} was missed: its leaf fell from rank {was} to {now}, because others "
                "received more."
            )
    near = result.matches([*leaves, *result.after])
    if not near:
        return ""
    own = (near.get(leaf, {}) for leaf in leaves)
    same = sorted({word for words in own for word, worth in words.items() if worth >= 1})
    words = "only " + ", ".join(f"“{word}”" for word in same) if same else "none"
    return f"{turn} was missed: of the question's words, its leaf has {words}."


def ledger_panel(state: AnswerState, node: int) -> None:
    """Draws the ledger: own score plus every contribution equals the propagated score, exactly."""
    session, result = state.session, state.result
    ledger = result.explain(node)
    structure = result.structure

    def giver(source: int) -> str:
        if source == node:
            return "itself, there and back"
        text = captions.short(structure.text[source])[:60]
        return f"{captions.place(session, structure, source)}: {text}"

    parts = ledger.ingredients.items() or [("its relevance", ledger.own)]
    entries: list[tuple[int | None, float, str]] = [
        *((0, amount, f"itself: {name}") for name, amount in parts),
        *((entry.hop, entry.amount, giver(entry.source)) for entry in ledger.received[:LISTED]),
    ]
    rest = ledger.received[LISTED:]
    if rest:
        entries.append((None, sum(entry.amount for entry in rest), f"{len(rest):,} more"))
    charts.table(
        [
            {
                "hop": hop,
                "from": source,
                "share": f"{amount / ledger.total if ledger.total else 0:.1%}",
            }
            for hop, amount, source in entries
        ],
        about=f"Contributions to the score of node {node}",
        height=230 if len(entries) > _LEDGER_SEEN else "content",
    )
    count = int(structure.active.sum())
    own, received = ledger.own * count, (ledger.total - ledger.own) * count
    st.caption(
        f"Own {own:.3f} + received {received:.3f} = propagated "
        f"{float(result.final[node]) * count:.3f}, where 1 is the average of {count:,} nodes. "
        "What the question's words, meaning or dates add to an average leaf, "
        "or take from it, is a row each."
    )


def stages_panel(state: AnswerState) -> None:
    """Draws the stages in order, each with the nodes it examined and those it kept."""
    st.markdown("**How the system retrieves, stage by stage**")
    stages, levels = st.columns([11, 10], gap="medium")
    with stages, st.container(border=True, key="stages"):
        for number, stage in enumerate(state.result.stages, start=1):
            st.markdown(f"{number}. **{stage.name}**")
            st.text(stage.note)
            if not stage.nodes:
                continue
            title = f"{len(stage.nodes):,} examined, {len(stage.kept):,} kept"
            if stage.scores:
                title += f" · best score: {stage.scores[0]:.3f} (node {stage.nodes[0]})"
            with st.expander(title, key=f"stage-{number}", on_change="rerun") as opened:
                if opened.open:
                    _stage_list(state, number, stage)
    with levels:
        _levels(state)


def _stage_list(state: AnswerState, number: int, stage: Stage) -> None:
    """Lists the nodes of a stage, kept ones first; a click selects one."""
    session, result = state.session, state.result
    kept = set(stage.kept)
    order = sorted(range(len(stage.nodes)), key=lambda place: stage.nodes[place] not in kept)
    if len(order) > _STAGE_LISTED and not st.toggle(
        f"Show all {len(order):,}", key=f"stage-all-{number}"
    ):
        st.caption(f"Showing {_STAGE_LISTED} of {len(order):,}.")
        order = order[:_STAGE_LISTED]
    rows = [
        captions.node_row(session, result.structure, stage.nodes[place])
        | {"note": f"{stage.scores[place]:.4f}" if stage.scores else ""}
        for place in order
    ]
    lists.node_list(
        [
            ("Kept", [row for row in rows if row["node"] in kept]),
            ("Not kept", [row for row in rows if row["node"] not in kept]),
        ],
        key=f"stage-nodes-{number}",
        height=_STAGE_HEIGHT,
        label=f"Nodes of the stage {stage.name}",
        about=f"{number} {result.question}",
        on_pick=session.select,
    )


def _levels(state: AnswerState) -> None:
    """Draws a stacked column of shares by level for the nodes examined and those returned."""
    session, result = state.session, state.result
    title, names = "Levels of the nodes examined and returned", level_names(session.memory.system)
    st.markdown(f"**{title}**")
    rows: list[Row] = []
    for name, counts in (("examined", result.visited), ("returned", result.levels())):
        total = sum(counts.values())
        shares = {level_name(at, names): round(n / (total or 1), 4) for at, n in counts.items()}
        rows.append({"shares of": f"{total} {name}", **shares})
    levels = tuple(rows[0])[1:]
    numbers = "; ".join(
        f"{row['shares of']}: " + ", ".join(f"{level} {row[level]:.0%}" for level in levels)
        for row in rows
    )
    charts.chart(
        rows_figure(
            rows,
            Chart("shares of", levels, kind="stack"),
            colours=LEVEL_COLOURS,
            neutral=charts.ink(),
        ),
        f"{title}. {numbers}.",
        "visited-chart",
        rows=lambda: rows,
    )
